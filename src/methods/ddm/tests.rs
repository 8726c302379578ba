use nalgebra::Matrix3;

use super::fields::{Fields, Hoods, Smoothers, by_joint};
use super::options::Form;
use super::*;
use crate::math::{Affine, Vec3, Vec64, affine};
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::methods::smoothing;
use crate::methods::smoothing::tests::{
    BEND, TWIST, bar, chain, mixed, motion, moves_alike_at_any_scale, moves_by_one_map, posed,
    print_least_times, skinned, survives, turned, worst,
};

fn defaults() -> Options {
    Options::of(&ParamValues::default())
}

/// As the paper and its published implementation have it.
fn classic() -> Options {
    Options {
        form: Form::Edges {
            lambda: 3.0,
            kappa: 1.0,
            steps: 20,
        },
        translation: 0.8,
    }
}

fn bound(subject: &Arc<Subject>, options: Options) -> DirectDeltaMush {
    DirectDeltaMush::bind(subject, options, &Progress::new()).expect("binds")
}

/// Largest errors in `f64`, before anything is pruned or rounded.
struct Checked {
    /// Of the sums of the rows of B.
    row_sums: f64,
    /// Of Ω of all joints against that of the vertex, relative.
    totals: f64,
    /// Of the rotations at rest.
    rotations: f64,
}

impl Checked {
    fn of(subject: &Subject, options: &Options) -> Self {
        let (mesh, weights) = (&subject.skin.mesh, subject.skin_weights());
        let mut surface = Surface::of(mesh);
        let radii = limb_radii(&surface, &subject.character.skeleton, weights).expect("solves");
        surface
            .edges
            .extend(bridges(&surface, mesh, &Progress::new()).expect("not cancelled"));
        let smoothers = Smoothers::of(&surface, &radii, &options.form).expect("factors");
        let scaled = |p: &crate::math::Point64| [p.x, p.y, p.z].map(|c| c / surface.size);
        let positions: Vec<[f64; 3]> = surface.positions.iter().map(scaled).collect();
        let progress = Progress::new();
        let mut ones = vec![1.0; positions.len()];
        smoothers
            .of_rotations
            .smooth(&mut ones, &progress)
            .expect("not cancelled");
        let hoods = Hoods::of(&smoothers, &positions, &progress).expect("not cancelled");
        let joints = by_joint(weights);
        let fields = Fields::of(&smoothers, &positions, &joints, &progress).expect("not cancelled");
        let mut checked = Self {
            row_sums: ones.iter().map(|one| (one - 1.0).abs()).fold(0.0, f64::max),
            totals: 0.0,
            rotations: 0.0,
        };
        for vertex in 0..positions.len() {
            let mut sum = [0.0; 10];
            for place in 0..joints.len() {
                let omega = fields.omega(vertex, place, &hoods, &positions, options);
                for (sum, entry) in sum.iter_mut().zip(omega) {
                    *sum += entry;
                }
            }
            // Weights are f32: their sums are 1 up to 1e-7.
            let total = hoods.total(vertex, options.translation);
            for (sum, total) in sum.iter().zip(total) {
                checked.totals = checked.totals.max((sum - total).abs());
            }
            let [xx, xy, xz, yy, yz, zz, x, y, z, _] = total;
            let p = Vec64::new(x, y, z);
            let f = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) - p * p.transpose();
            let off = crate::math::closest_rotation(&f) - Matrix3::identity();
            checked.rotations = checked.rotations.max(off.amax());
        }
        checked
    }
}

/// Changes of volume and girth of a bar, percent.
fn percents(subject: &Arc<Subject>, sectors: u32, options: Options, turn: Vec64) -> [f64; 2] {
    smoothing::tests::percents(subject, sectors, &mut bound(subject, options), turn)
}

/// The published numbers of smoothing by edges: a rigid binding, bent and twisted by 90°.
#[test]
fn counted_edges_give_the_published_changes() {
    let subject = bar(48, 81);
    let [volume, girth] = percents(&subject, 48, classic(), BEND);
    assert!(
        (volume + 3.0).abs() < 0.5 && (girth + 10.9).abs() < 0.8,
        "{volume} {girth}"
    );
    let [_, girth] = percents(&subject, 48, classic(), TWIST);
    assert!((girth + 22.6).abs() < 1.5, "{girth}");
}

/// The same reach in limb radii gives the same shape on meshes of any resolution.
#[test]
fn the_shape_does_not_depend_on_the_resolution() {
    let sizes = [(24, 41), (48, 81)];
    for turn in [BEND, TWIST] {
        let [coarse, fine] =
            sizes.map(|(sectors, rings)| percents(&bar(sectors, rings), sectors, defaults(), turn));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!((coarse - fine).abs() < 0.6, "{coarse} {fine}");
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn print_changes_of_the_bar() {
    for (sectors, rings) in [(24, 41), (48, 81), (96, 161)] {
        let subject = bar(sectors, rings);
        for (name, turn) in [
            ("bend", BEND),
            ("twist", TWIST),
            ("twist 170", TWIST * 17.0 / 9.0),
        ] {
            for (reach, weights) in [(0.5, 0.29), (0.8, 0.4), (1.0, 0.5), (1.5, 0.7)] {
                let options = Options {
                    form: Form::Lengths {
                        rotations: reach,
                        translations: weights,
                    },
                    translation: 0.8,
                };
                let [volume, girth] = percents(&subject, sectors, options, turn);
                println!("{sectors}x{rings} {name} {reach}/{weights}: {volume:.2} {girth:.2} %");
            }
            let [volume, girth] = percents(&subject, sectors, classic(), turn);
            println!("{sectors}x{rings} {name} by edges: {volume:.2} {girth:.2} %");
        }
    }
}

#[test]
fn rest_and_rigid_motion_are_exact_on_any_mesh() {
    survives(|subject| Box::new(bound(subject, defaults())));
}

/// In f64, without pruning: Ω of all joints together is that of the vertex, and its closest rotation is the identity.
#[test]
fn joints_together_are_the_identity_in_f64() {
    let tubes = joined(&[
        moved(tube(1.0, 10.0, 30, 12, true), Vec3::y() * -5.0),
        ball(nalgebra::Point3::new(0.0, 0.0, 3.0), 1.0, 9, 12),
    ]);
    for options in [defaults(), classic()] {
        let subject = skinned(&tubes, chain(&[-5.0, -1.0, 1.0, 4.0]), mixed(4));
        let checked = Checked::of(&subject, &options);
        assert!(checked.row_sums < 1e-12, "{}", checked.row_sums);
        assert!(checked.totals < 2e-6, "{}", checked.totals);
        assert!(checked.rotations < 1e-12, "{}", checked.rotations);
    }
}

#[test]
fn the_unit_of_length_does_not_matter() {
    moves_alike_at_any_scale(|subject| Box::new(bound(subject, defaults())));
}

/// One affine map of all joints is that map: scale, shear and mirror.
#[test]
fn one_affine_map_of_all_joints_moves_the_skin_by_it() {
    let subject = bar(24, 41);
    let mut skinner = bound(&subject, defaults());
    for linear in [
        Matrix3::from_diagonal_element(2.0),
        Matrix3::from_diagonal(&Vec64::new(1.5, 0.7, 1.1)),
        Matrix3::new(1.2, 0.3, 0.0, 0.1, 0.9, -0.2, 0.0, 0.2, 1.1),
        Matrix3::from_diagonal(&Vec64::new(-1.0, 1.0, 1.0)),
    ] {
        moves_by_one_map(&subject, &mut skinner, &linear, 1e-5);
    }
}

#[test]
fn a_mirrored_pose_gives_the_mirror_image() {
    let subject = bar(24, 41);
    let mut skinner = bound(&subject, defaults());
    let mirror = affine(
        &Matrix3::from_diagonal(&Vec64::new(-1.0, 1.0, 1.0)),
        &Vec64::zeros(),
    );
    let bent = turned(&subject, BEND + TWIST * 0.5);
    let mirrored: Vec<Affine> = bent.iter().map(|world| mirror * world).collect();
    let straight = posed(&mut skinner, &subject, &bent);
    let image = posed(&mut skinner, &subject, &mirrored);
    let expected: Vec<Point> = straight
        .iter()
        .map(|p| Point::new(-p.x, p.y, p.z))
        .collect();
    let error = worst(&image, &expected, subject.size);
    assert!(error < 1e-5, "{error}");
}

/// A character far from the origin of the world moves as one at the origin, up to the rounding of its positions.
#[test]
fn distance_from_the_origin_only_rounds_positions() {
    let subject = bar(24, 41);
    let mut skinner = bound(&subject, defaults());
    let bent = turned(&subject, BEND);
    let away: Affine = nalgebra::convert(nalgebra::Translation3::new(4096.0, 0.0, 0.0));
    let near = posed(&mut skinner, &subject, &bent);
    let moved: Vec<Affine> = bent.iter().map(|world| away * world).collect();
    let far = posed(&mut skinner, &subject, &moved);
    for (near, far) in near.iter().zip(&far) {
        let expected = near.x + 4096.0;
        assert!((far.x - expected).abs() <= 5e-4 && (far.y - near.y).abs() < 1e-5);
    }
}

/// A sleeve close to an arm, bound to one joint, follows the bend because the arm is joined to it.
#[test]
fn near_shells_share_their_weights() {
    let moves = |gap: f32| {
        let arm = moved(tube(1.0, 10.0, 40, 24, true), Vec3::y() * -5.0);
        let sleeve = moved(tube(1.0 + gap, 2.0, 8, 24, false), Vec3::y() * 0.5);
        let first = arm.positions.len();
        let mesh = joined(&[arm, sleeve]);
        let subject = skinned(&mesh, chain(&[-5.0, 0.0, 5.0]), |p| {
            let on_sleeve = p.x.hypot(p.z) > 1.0 + 0.5 * gap;
            vec![(u32::from(p.y > 0.0 && !on_sleeve), 1.0)]
        });
        let now = posed(
            &mut bound(&subject, defaults()),
            &subject,
            &turned(&subject, BEND),
        );
        let rest = &subject.bind_positions;
        (first..rest.len())
            .map(|v| (now[v] - rest[v]).norm())
            .fold(0.0, f32::max)
    };
    assert!(moves(0.05) > 0.5, "joined: {}", moves(0.05));
    assert!(moves(0.6) < 1e-4, "alone: {}", moves(0.6));
}

#[test]
fn the_set_up_can_be_cancelled() {
    let subject = bar(24, 41);
    let progress = Progress::new();
    progress.cancel();
    let refused = DirectDeltaMush::bind(&subject, defaults(), &progress);
    assert!(matches!(refused.err(), Some(BindError::Cancelled(_))));
}

#[test]
fn influences_are_few_and_sum_to_what_they_were() {
    let mesh = moved(tube(1.0, 10.0, 60, 16, true), Vec3::y() * -5.0);
    let heights: Vec<f64> = (0..21).map(|k| 0.5 * f64::from(k) - 5.0).collect();
    let subject = skinned(&mesh, chain(&heights), |p| {
        let at = (2.0 * (p.y + 5.0)).clamp(0.0, 19.99);
        let first = at as u32;
        vec![(first, 1.0 - at.fract()), (first + 1, at.fract())]
    });
    let skinner = bound(&subject, defaults());
    let omegas = &skinner.omegas;
    for range in omegas.starts.windows(2) {
        assert!((1..=8).contains(&(range[1] - range[0])));
        let own = &omegas.matrices[range[0] as usize..range[1] as usize];
        let sum: f32 = own.iter().map(|omega| omega[9]).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
    let mut skinner = skinner;
    let rest = subject.character.skeleton.bind_transforms();
    let now = posed(&mut skinner, &subject, &rest);
    assert!(worst(&now, &subject.bind_positions, subject.size) < 1e-6);
    let by = motion(10.0);
    let moved: Vec<Affine> = rest.iter().map(|world| by * world).collect();
    let now = posed(&mut skinner, &subject, &moved);
    let expected: Vec<Point> = subject
        .bind_positions
        .iter()
        .map(|p| (by * p.cast::<f64>()).cast())
        .collect();
    assert!(worst(&now, &expected, subject.size) < 2e-6);
}

/// A body-like skin of 20 000 vertices with 60 joints.
#[test]
#[ignore = "a measurement"]
fn print_times_of_a_frame() {
    for (sectors, rings) in [(100, 141), (100, 201)] {
        let mesh = moved(tube(1.0, 30.0, rings - 1, sectors, true), Vec3::y() * -15.0);
        let heights: Vec<f64> = (0..60).map(|k| 0.5 * f64::from(k) - 15.0).collect();
        let subject = skinned(&mesh, chain(&heights), |p| {
            let at = (2.0 * (p.y + 15.0)).clamp(0.0, 58.99);
            vec![(at as u32, 1.0 - at.fract()), (at as u32 + 1, at.fract())]
        });
        let start = std::time::Instant::now();
        let mut skinner = bound(&subject, defaults());
        println!(
            "{:.1} influences: bind {:.0} ms",
            skinner.omegas.joints.len() as f64 / skinner.skin.len() as f64,
            start.elapsed().as_secs_f64() * 1e3
        );
        print_least_times(&subject, &mut skinner);
    }
}
