use std::sync::Arc;

use super::*;
use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Point, Point64, Vec3, Vec64, affine};
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::mesh::{Bounds, TriMesh};
use crate::methods::{Frame, Skinner, Subject};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Turns of the upper joint of [`bar`], rad.
pub(in crate::methods) const BEND: Vec64 = Vec64::new(0.0, 0.0, std::f64::consts::FRAC_PI_2);
pub(in crate::methods) const TWIST: Vec64 = Vec64::new(0.0, std::f64::consts::FRAC_PI_2, 0.0);

/// Changes of volume and girth of a [`bar`], percent.
pub(in crate::methods) fn percents(
    subject: &Arc<Subject>,
    sectors: u32,
    skinner: &mut dyn Skinner,
    turn: Vec64,
) -> [f64; 2] {
    let now = posed(skinner, subject, &turned(subject, turn));
    changes(subject, sectors, &now).map(|change| 100.0 * change)
}

/// A character that is a hundred times as large or as small moves alike.
pub(in crate::methods) fn moves_alike_at_any_scale(
    bound: impl Fn(&Arc<Subject>) -> Box<dyn Skinner>,
) {
    let mesh = moved(tube(1.0, 10.0, 30, 16, true), Vec3::y() * -5.0);
    let heights = [-5.0, -1.0, 1.0, 4.0];
    let bent = |scale: f64| {
        let mut scaled = mesh.clone();
        for position in &mut scaled.positions {
            *position = (position.cast::<f64>() * scale).cast();
        }
        let weights = |p: &Point| mixed(4)(&(p.cast::<f64>() / scale).cast());
        let subject = skinned(&scaled, chain(&heights.map(|y| y * scale)), weights);
        let now = posed(&mut *bound(&subject), &subject, &turned(&subject, BEND));
        let unscaled = now.iter().map(|p| (p.cast::<f64>() / scale).cast());
        unscaled.collect::<Vec<Point>>()
    };
    let expected = bent(1.0);
    for scale in [0.01, 100.0] {
        let error = worst(&bent(scale), &expected, 10.0);
        assert!(error < 2e-5, "{scale}: {error}");
    }
}

/// One affine map of all joints moves the skin by it, up to a part of its size.
pub(in crate::methods) fn moves_by_one_map(
    subject: &Subject,
    skinner: &mut dyn Skinner,
    linear: &nalgebra::Matrix3<f64>,
    tolerance: f32,
) {
    let map = affine(linear, &Vec64::new(3.0, -2.0, 1.0));
    let joints = subject.character.skeleton.bind_transforms();
    let moved: Vec<Affine> = joints.iter().map(|world| map * world).collect();
    let now = posed(skinner, subject, &moved);
    let expected: Vec<Point> = subject
        .bind_positions
        .iter()
        .map(|p| (map * p.cast::<f64>()).cast())
        .collect();
    let error = worst(&now, &expected, subject.size);
    assert!(error < tolerance, "{linear}: {error}");
}

/// Least time of a frame, ms, on one thread and on two.
pub(in crate::methods) fn print_least_times(subject: &Subject, skinner: &mut dyn Skinner) {
    let joints = turned(subject, BEND);
    let mut out = subject.bind_positions.to_vec();
    let frame = Frame {
        world_from_joint: &joints,
        dt_secs: 0.0,
    };
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        let mut best = f64::INFINITY;
        for _ in 0..60 {
            pool.install(|| {
                let start = std::time::Instant::now();
                skinner.skin(&frame, &mut out).expect("moves");
                best = best.min(start.elapsed().as_secs_f64() * 1e3);
            });
        }
        println!(
            "{} vertices: frame {best:.3} ms on {threads} threads",
            out.len()
        );
    }
}

/// A skeleton of joints along y, each the parent of the next.
pub(in crate::methods) fn chain(heights: &[f64]) -> Skeleton {
    let joints: Vec<_> = heights
        .iter()
        .enumerate()
        .map(|(k, &y)| (format!("j{k}"), k.checked_sub(1), Point64::new(0.0, y, 0.0)))
        .collect();
    Skeleton::from_positions(&joints).expect("a chain")
}

/// A mesh with weights given by position on a skeleton.
pub(in crate::methods) fn skinned(
    mesh: &TriMesh,
    skeleton: Skeleton,
    weights: impl Fn(&Point) -> Vec<(u32, f32)>,
) -> Arc<Subject> {
    let mut source = SourceMesh::bare("m", mesh.positions.clone(), mesh.triangles.clone());
    let inverse = |joint: &crate::rig::Joint| joint.world_from_bind.try_inverse().unwrap();
    source.attachment = Attachment::Skinned {
        weights: SkinWeights::from_rows(mesh.positions.iter().map(weights)).0,
        joint_from_mesh: skeleton.joints().iter().map(inverse).collect(),
    };
    let mut character = Character {
        skeleton,
        ..Character::default()
    };
    character.meshes.push(source);
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

/// A closed cylinder of radius 1 from y = −5 to 5, moved by two bones that meet at the origin. Vertices at y = 0 belong to both.
pub(in crate::methods) fn bar(sectors: u32, rings: u32) -> Arc<Subject> {
    let mesh = moved(tube(1.0, 10.0, rings - 1, sectors, true), Vec3::y() * -5.0);
    skinned(&mesh, chain(&[-5.0, 0.0, 5.0]), |p| {
        if p.y.abs() < 1e-4 {
            vec![(0, 0.5), (1, 0.5)]
        } else {
            vec![(u32::from(p.y > 0.0), 1.0)]
        }
    })
}

/// The joints of [`bar`] with the upper one turned by rotation vector `turn`, rad.
pub(in crate::methods) fn turned(subject: &Subject, turn: Vec64) -> Vec<Affine> {
    let mut joints = subject.character.skeleton.bind_transforms();
    let rotation: Affine = nalgebra::convert(nalgebra::Rotation3::new(turn));
    for joint in &mut joints[1..] {
        *joint = rotation * *joint;
    }
    joints
}

/// The positions of a frame.
pub(in crate::methods) fn posed(
    skinner: &mut dyn Skinner,
    subject: &Subject,
    joints: &[Affine],
) -> Vec<Point> {
    let mut out = subject.bind_positions.to_vec();
    let frame = Frame {
        world_from_joint: joints,
        dt_secs: 0.0,
    };
    skinner.skin(&frame, &mut out).expect("moves");
    out
}

pub(in crate::methods) fn volume(positions: &[Point], triangles: &[[u32; 3]]) -> f64 {
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize].cast::<f64>().coords);
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum()
}

/// Changes of volume and of the girth of the middle ring of [`bar`], as parts of those at rest.
pub(in crate::methods) fn changes(subject: &Subject, sectors: u32, now: &[Point]) -> [f64; 2] {
    let rest = &subject.bind_positions;
    let ring: Vec<usize> = (0..rest.len() - 2)
        .filter(|&v| rest[v].y.abs() < 1e-4)
        .collect();
    assert_eq!(ring.len(), sectors as usize);
    let girth = |at: &[Point]| -> f64 {
        (0..ring.len())
            .map(|k| f64::from((at[ring[k]] - at[ring[(k + 1) % ring.len()]]).norm()))
            .sum()
    };
    let triangles = &subject.character.meshes[0].triangles;
    [
        volume(now, triangles) / volume(rest, triangles) - 1.0,
        girth(now) / girth(rest) - 1.0,
    ]
}

/// Largest distance, as a part of the size; NaN counts as largest.
pub(in crate::methods) fn worst(a: &[Point], b: &[Point], size: f32) -> f32 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).norm() / size);
    distances.max_by(f32::total_cmp).unwrap_or(0.0)
}

/// A turn and a shift, as large as a character.
pub(in crate::methods) fn motion(size: f64) -> Affine {
    nalgebra::convert(nalgebra::Isometry3::new(
        Vec64::new(0.4, -3.0, 0.7) * size,
        Vec64::new(0.5, 1.1, -0.6),
    ))
}

/// Meshes that a method must survive, without NaN and exact at rest where positions are finite.
pub(in crate::methods) fn bad_meshes() -> Vec<(&'static str, TriMesh)> {
    let tube = tube(1.0, 3.0, 6, 8, true);
    let triangle = TriMesh {
        positions: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
            .map(Point::from)
            .to_vec(),
        triangles: vec![[0, 1, 2]],
    };
    let mut broken = tube.clone();
    broken.positions[7].x = f32::NAN;
    broken.positions[9].y = f32::INFINITY;
    let mut flat = tube.clone();
    for position in &mut flat.positions {
        position.z = 0.0;
    }
    let mut line = tube.clone();
    for position in &mut line.positions {
        (position.x, position.z) = (0.0, 0.0);
    }
    let point = TriMesh {
        positions: vec![Point::new(1.0, 2.0, 3.0); 3],
        triangles: vec![[0, 1, 2]],
    };
    let mut bow = tube.clone();
    bow.triangles.extend([[0, 0, 1], [3, 3, 3], [2, 40, 11]]);
    let confetti: Vec<TriMesh> = (0..10_000)
        .map(|k| {
            let at = Vec3::new((k % 100) as f32, (k / 100) as f32, 0.0) * 3.0;
            moved(triangle.clone(), at)
        })
        .collect();
    let mut loose = tube.clone();
    loose.positions.push(Point::new(5.0, 5.0, 5.0));
    vec![
        ("triangle", triangle),
        ("broken", broken),
        ("flat", flat),
        ("line", line),
        ("point", point),
        ("bow", bow),
        ("confetti", joined(&confetti)),
        ("loose", loose),
    ]
}

/// Rigs that a method must survive: one joint, many at one place, joints far away.
pub(in crate::methods) fn bad_rigs() -> Vec<Skeleton> {
    vec![
        chain(&[0.0]),
        chain(&[1.0, 1.0, 1.0, 1.0]),
        chain(&[0.0, 1e4, -1e5, 2.0]),
    ]
}

/// Weights that change from joint to joint.
pub(in crate::methods) fn mixed(joints: usize) -> impl Fn(&Point) -> Vec<(u32, f32)> {
    move |p| {
        let y = if p.y.is_finite() { p.y.abs() } else { 0.0 };
        let first = y as u32 % joints as u32;
        let part = y.fract();
        vec![(first, 1.0 - part), ((first + 1) % joints as u32, part)]
    }
}

/// Rest, rigid motion and finite output of a method on all bad meshes and rigs.
pub(in crate::methods) fn survives(bind: impl Fn(&Arc<Subject>) -> Box<dyn Skinner>) {
    for (name, mesh) in bad_meshes() {
        for skeleton in bad_rigs() {
            let joints = skeleton.len();
            let subject = skinned(&mesh, skeleton, mixed(joints));
            let mut skinner = bind(&subject);
            let rest = subject.character.skeleton.bind_transforms();
            let finite: Vec<usize> = (0..mesh.positions.len())
                .filter(|&v| mesh.positions[v].iter().all(|c| c.is_finite()))
                .collect();
            let of = |at: &[Point]| finite.iter().map(|&v| at[v]).collect::<Vec<_>>();
            let size = Bounds::of(&mesh.positions).size().max(1e-3);
            let now = posed(skinner.as_mut(), &subject, &rest);
            let error = worst(&of(&now), &of(&mesh.positions), size);
            assert!(error < 2e-6, "{name}, {joints} joints, rest: {error}");
            let by = motion(f64::from(size));
            let moved: Vec<Affine> = rest.iter().map(|world| by * world).collect();
            let now = posed(skinner.as_mut(), &subject, &moved);
            let expected: Vec<Point> = mesh
                .positions
                .iter()
                .map(|p| (by * p.cast::<f64>()).cast())
                .collect();
            let error = worst(&of(&now), &of(&expected), size);
            // Joints at 1e5 are rounded by 1e-2 times the rotation in f32 matrices of blended vertices.
            assert!(error < 2e-2, "{name}, {joints} joints, rigid: {error}");
            let mut hostile = rest;
            for (k, joint) in hostile.iter_mut().enumerate() {
                let turn = Vec64::new(std::f64::consts::PI, 0.0, 0.0) * (k % 2) as f64;
                let flat = nalgebra::Matrix3::from_diagonal(&Vec64::new(1.0, 0.0, -2.0));
                *joint = affine(&flat, &Vec64::new(1e3, 0.0, 0.0))
                    * Affine::from_matrix_unchecked(
                        nalgebra::Rotation3::new(turn).to_homogeneous(),
                    )
                    * *joint;
            }
            let now = posed(skinner.as_mut(), &subject, &hostile);
            for &v in &finite {
                assert!(now[v].iter().all(|c| c.is_finite()), "{name}, vertex {v}");
            }
        }
    }
}

#[test]
fn a_cylinder_is_as_thick_as_its_radius() {
    let subject = bar(24, 41);
    let surface = Surface::of(&subject.skin.mesh);
    let radii = limb_radii(
        &surface,
        &subject.character.skeleton,
        subject.skin_weights(),
    );
    for (radius, at) in radii.expect("solves").iter().zip(&surface.positions) {
        if at.y.abs() < 3.5 {
            assert!((radius - 1.0).abs() < 0.02, "{at}: {radius}");
        } else {
            assert!(*radius > 0.0 && *radius < 1.02, "{at}: {radius}");
        }
    }
}

#[test]
fn areas_and_conductances_are_positive_on_any_mesh() {
    for (name, mesh) in bad_meshes() {
        let surface = Surface::of(&mesh);
        assert!(surface.areas.iter().all(|&a| a > 0.0), "{name}");
        let fine = |edge: &Edge| edge.conductance > 0.0 && edge.conductance.is_finite();
        assert!(surface.edges.iter().all(fine), "{name}");
    }
}

#[test]
fn shells_are_joined_to_the_nearest_within_reach() {
    let of = |gap: f32| {
        let shells = [
            ball(Point::origin(), 1.0, 12, 16),
            ball(Point::new(0.0, 2.0 + gap, 0.0), 1.0, 12, 16),
            ball(Point::new(9.0, 0.0, 0.0), 1.0, 12, 16),
        ];
        let mesh = joined(&shells);
        let first = shells[0].positions.len() as u32;
        let edges = bridges(&Surface::of(&mesh), &mesh, &Progress::new()).expect("not cancelled");
        (edges, first)
    };
    let (near, first) = of(0.05);
    assert!(!near.is_empty());
    for edge in near {
        assert!(edge.ends[0] < first && (first..2 * first).contains(&edge.ends[1]));
    }
    assert!(of(0.5).0.is_empty());
}

#[test]
fn joining_shells_can_be_cancelled() {
    let mesh = joined(&[
        ball(Point::origin(), 1.0, 12, 16),
        ball(Point::new(0.0, 2.0, 0.0), 1.0, 12, 16),
    ]);
    let progress = Progress::new();
    progress.cancel();
    assert!(bridges(&Surface::of(&mesh), &mesh, &progress).is_err());
}

#[test]
fn a_batch_keeps_rotations_and_repairs_the_rest() {
    let mut batch = RotationBatch::new();
    let turn = nalgebra::Rotation3::<f32>::from_euler_angles(0.3, -1.2, 2.0);
    let columns = |m: &nalgebra::Matrix3<f32>| [0, 1, 2].map(|c| [0, 1, 2].map(|r| m[(r, c)]));
    batch.set(5, &columns(&(turn.matrix() * 1e-3)));
    batch.set(6, &[[0.0; 3]; 3]);
    batch.rotate();
    let found = batch.get(5);
    let expected = columns(turn.matrix());
    for (a, b) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((a - b).abs() < 1e-5);
    }
    let repaired = nalgebra::Matrix3::from_fn(|r, c| batch.get(6)[c][r]);
    assert!((repaired.determinant() - 1.0).abs() < 1e-5);
}
