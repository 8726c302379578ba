use super::*;
use crate::math::{Point64, Quat};

const PI: f64 = std::f64::consts::PI;

/// A tube of length 2 along x, and two joints: a root at its end, and one in the middle.
fn tube() -> (Skeleton, Vec<Point>) {
    let at = |x: f64| Point64::new(x, 0.0, 0.0);
    let joints = [
        ("upper".to_owned(), None, at(-1.0)),
        ("lower".to_owned(), Some(0), at(0.0)),
    ];
    let ring = |x: usize| {
        (0..12).map(move |a| {
            let angle = a as f64 * PI / 6.0;
            let x = x as f64 / 20.0 - 1.0;
            Point64::new(x, 0.2 * angle.cos(), 0.2 * angle.sin()).cast()
        })
    };
    let skeleton = Skeleton::from_positions(&joints).unwrap();
    (skeleton, (0..=40).flat_map(ring).collect())
}

fn smooth(x: f32, low: f32, high: f32) -> f32 {
    crate::math::smoothstep([low, high], x)
}

/// Weights on the two joints that change smoothly along the tube.
fn blend(bind: &[Point]) -> Vec<Vec<(u32, f32)>> {
    let row = |p: &Point| {
        let lower = smooth(p.x, -0.3, 0.3);
        vec![(0, 1.0 - lower), (1, lower)]
    };
    bind.iter().map(row).collect()
}

fn bent(skeleton: &Skeleton, angle: f64) -> Pose {
    let mut pose = skeleton.rest_pose();
    pose.locals[1].rotation = Quat::from_euler_angles(0.2 * angle, 0.0, angle);
    pose.locals[0].rotation = Quat::from_euler_angles(0.0, 0.3 * angle, 0.1);
    pose
}

fn angles(count: usize, phase: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| 0.7 + 0.7 * (phase + i as f64 * 0.37).sin())
}

/// The tube with a third joint, which the fit does not know: a child of the lower one that bulges as it bends.
fn hidden(skeleton: &Skeleton) -> Skeleton {
    let mut joints = skeleton.joints().to_vec();
    joints.push(Joint {
        name: "muscle".to_owned(),
        parent: Some(1),
        rest: Trs::at(Vec64::new(0.4, 0.0, 0.0)),
        world_from_bind: Trs::at(Vec64::new(0.4, 0.0, 0.0)).to_affine(),
        ..joints[1].clone()
    });
    Skeleton::new(joints).unwrap()
}

fn hidden_weights(bind: &[Point]) -> SkinWeights {
    let rows = blend(bind).into_iter().zip(bind).map(|(row, p)| {
        let share = 0.8 * smooth(0.3 - (p.x - 0.4).abs(), 0.0, 0.25) * smooth(p.y, -0.1, 0.2);
        let rest = row
            .into_iter()
            .map(move |(joint, w)| (joint, w * (1.0 - share)));
        rest.chain([(2, share)]).collect::<Vec<_>>()
    });
    SkinWeights::from_rows(rows).0
}

fn bulged(skeleton: &Skeleton, angle: f64) -> Pose {
    let mut pose = bent(skeleton, angle);
    let local = &mut pose.locals[2];
    local.translation += Vec64::new(-0.05 * angle.sin(), 0.12 * angle.sin(), 0.0);
    local.rotation = Quat::from_euler_angles(0.0, 0.0, 0.3 * angle.sin());
    pose
}

fn skinned(skeleton: &Skeleton, weights: &SkinWeights, bind: &[Point], pose: &Pose) -> Vec<Point> {
    let deltas = frames::deltas_of(skeleton, &skeleton.world_from_joint(pose));
    let place = |(vertex, p): (usize, &Point)| {
        let row: Row = weights
            .of(vertex)
            .map(|(b, w)| (b as u32, w.into()))
            .collect();
        Point::from(transforms::blended(&row, &deltas, &p.coords.cast()).cast::<f32>())
    };
    bind.iter().enumerate().map(place).collect()
}

/// Frames of the tube with the hidden joint; the poses are of the two known ones.
fn bulging(phase: f64) -> (Skeleton, Vec<Point>, SkinWeights, Vec<SimulatedFrame>) {
    let (skeleton, bind) = tube();
    let (full, weights) = (hidden(&skeleton), hidden_weights(&bind));
    let frame = |angle: f64| SimulatedFrame {
        pose: bent(&skeleton, angle),
        positions: skinned(&full, &weights, &bind, &bulged(&full, angle)),
    };
    let frames = angles(30, phase).map(frame).collect();
    let initial = SkinWeights::from_rows(blend(&bind)).0;
    (skeleton, bind, initial, frames)
}

fn fitted(helpers: usize, influences: usize) -> (Decomposition, Vec<Point>, Vec<SimulatedFrame>) {
    let (skeleton, bind, initial, frames) = bulging(0.0);
    let settings = DecompositionSettings {
        helpers,
        influences,
    };
    let found = decompose(
        &skeleton,
        &bind,
        &initial,
        &frames,
        &settings,
        &Progress::new(),
    );
    (found.unwrap(), bind, frames)
}

fn residual(
    skeleton: &Skeleton,
    weights: &SkinWeights,
    bind: &[Point],
    frames: &[SimulatedFrame],
    pose: impl Fn(usize) -> Pose,
) -> f64 {
    let each = frames.iter().enumerate().map(|(index, frame)| {
        Residual::of_frame(skeleton, weights, bind, &pose(index), &frame.positions)
    });
    each.fold(Residual::default(), |sum, one| sum.with(&one))
        .rms
}

#[test]
fn weights_of_known_joints_are_recovered_exactly() {
    let (skeleton, bind) = tube();
    let truth = SkinWeights::from_rows(blend(&bind)).0;
    let frame = |angle: f64| SimulatedFrame {
        pose: bent(&skeleton, angle),
        positions: skinned(&skeleton, &truth, &bind, &bent(&skeleton, angle)),
    };
    let frames: Vec<SimulatedFrame> = angles(20, 0.0).map(frame).collect();
    // Each vertex starts with one joint alone.
    let hard = bind.iter().map(|p| [(u32::from(p.x > 0.0), 1.0)]);
    let initial = SkinWeights::from_rows(hard).0;
    let settings = DecompositionSettings {
        helpers: 3,
        influences: 4,
    };
    let found = decompose(
        &skeleton,
        &bind,
        &initial,
        &frames,
        &settings,
        &Progress::new(),
    )
    .unwrap();
    let before = residual(&skeleton, &initial, &bind, &frames, |f| {
        frames[f].pose.clone()
    });
    let after = residual(&found.skeleton, &found.weights, &bind, &frames, |f| {
        found.fitted_pose(f, &frames[f].pose)
    });
    assert!(before > 1e-2 && after < 1e-6, "{before} {after}");
    for vertex in 0..bind.len() {
        for (joint, weight) in truth.of(vertex) {
            let of_joint = found
                .weights
                .of(vertex)
                .filter(|&(other, _)| other == joint);
            let own: f32 = of_joint.map(|(_, w)| w).sum();
            assert!(
                (own - weight).abs() < 1e-3,
                "{vertex}: {own} instead of {weight}"
            );
        }
    }
}

#[test]
fn a_hidden_joint_is_found_and_driven_in_poses_never_seen() {
    let (found, bind, frames) = fitted(2, 4);
    let (given, _, initial, other) = bulging(0.2);
    let before = residual(&given, &initial, &bind, &frames, |f| frames[f].pose.clone());
    let (skeleton, weights) = (&found.skeleton, &found.weights);
    let keyed = residual(skeleton, weights, &bind, &frames, |f| {
        found.fitted_pose(f, &frames[f].pose)
    });
    let driven = residual(skeleton, weights, &bind, &other, |f| {
        found.driven(&other[f].pose)
    });
    assert!(before > 5e-3, "{before}");
    assert!(
        keyed < 0.05 * before && driven < 0.1 * before,
        "{before} {keyed} {driven}"
    );
    for (helper, joint) in skeleton.joints().iter().enumerate().skip(2) {
        assert!(
            joint.parent.is_some_and(|parent| parent < 2),
            "{helper}: {joint:?}"
        );
    }
}

#[test]
fn weights_are_few_not_negative_and_sum_to_one() {
    for influences in [1, 2, 3] {
        let (found, bind, _) = fitted(4, influences);
        assert_eq!(found.weights.len(), bind.len());
        for vertex in 0..bind.len() {
            let row = found.weights.row(vertex);
            let sum: f32 = row.iter().map(|(_, w)| w).sum();
            assert!(
                row.len() <= influences && (sum - 1.0).abs() < 1e-5,
                "{row:?}"
            );
            assert!(row.iter().all(|&(_, weight)| weight > 0.0), "{row:?}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| fitted(3, 4).0)
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.weights, three.weights);
    assert_eq!(one.fitted, three.fitted);
    assert_eq!(one.drivers, three.drivers);
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let (skeleton, bind, initial, mut frames) = bulging(0.0);
    let settings = DecompositionSettings {
        helpers: 1,
        influences: 4,
    };
    let fit = |frames: &[SimulatedFrame], progress: &Progress| {
        decompose(&skeleton, &bind, &initial, frames, &settings, progress)
            .map(|found| found.weights)
    };
    assert_eq!(
        fit(&[], &Progress::new()),
        Err(DecompositionError::NoFrames)
    );
    let cancelled = Progress::new();
    cancelled.cancel();
    let stopped = Err(DecompositionError::Cancelled(Cancelled));
    assert_eq!(fit(&frames, &cancelled), stopped);
    frames[3].positions.pop();
    let expected = bind.len();
    let other = DecompositionError::Vertices {
        frame: 3,
        found: expected - 1,
        expected,
    };
    assert_eq!(fit(&frames, &Progress::new()), Err(other));
}

#[test]
fn without_motion_the_weights_at_the_start_are_kept() {
    let (skeleton, bind) = tube();
    let initial = SkinWeights::from_rows(blend(&bind)).0;
    let frame = SimulatedFrame {
        pose: skeleton.rest_pose(),
        positions: bind.clone(),
    };
    let settings = DecompositionSettings {
        helpers: 2,
        influences: 4,
    };
    let found = decompose(
        &skeleton,
        &bind,
        &initial,
        &[frame],
        &settings,
        &Progress::new(),
    );
    let found = found.unwrap();
    assert_eq!(found.skeleton, skeleton);
    for vertex in 0..bind.len() {
        for (joint, weight) in initial.of(vertex) {
            let own = found.weights.of(vertex).find(|&(other, _)| other == joint);
            let own = own.map_or(0.0, |(_, w)| w);
            assert!((own - weight).abs() < 2e-3, "{vertex}: {own} {weight}");
        }
    }
}

#[test]
fn sparse_weights_are_recovered_from_their_products() {
    let wave = |a: usize, b: usize| ((a * 31 + a * b * 5 + b * 17) as f64 * 0.37).sin();
    let truth = [0.0, 0.5, 0.0, 0.2, 0.3, 0.0, 0.0];
    let bones = nalgebra::DMatrix::from_fn(truth.len(), 40, wave);
    let target = bones.tr_mul(&nalgebra::DVector::from_row_slice(&truth));
    let offsets = nalgebra::DMatrix::from_fn(truth.len(), 40, |i, f| bones[(i, f)] - target[f]);
    let products = &offsets * offsets.transpose();
    let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let found = least_squares::sparse_weights(&products, &start, 3);
    for (found, truth) in found.iter().zip(truth) {
        assert!((found - truth).abs() < 1e-3, "{found} {truth}");
    }
    let found = least_squares::sparse_weights(&products, &start, 2);
    assert_eq!(found.iter().filter(|weight| **weight > 0.0).count(), 2);
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
}

/// Morphs alone take most of what blending leaves over, in frames that were not fitted, too.
#[test]
fn morphs_follow_the_pose() {
    let (mut found, bind, frames) = fitted(0, 4);
    found
        .add_morphs(&bind, &frames, 4, &Progress::new())
        .unwrap();
    assert!((1..=4).contains(&found.morphs.len()));
    let at_rest = found.driven_weights(&found.skeleton.rest_pose());
    assert!(at_rest.iter().all(|w| w.abs() < 1e-12), "{at_rest:?}");
    let (.., unseen) = bulging(1.1);
    let rms = |frames: &[SimulatedFrame], weights: &dyn Fn(&SimulatedFrame) -> Vec<f64>| {
        let of_frame = |frame: &SimulatedFrame| {
            let displaced = found.displaced(&bind, &weights(frame));
            let (skeleton, blend) = (&found.skeleton, &found.weights);
            Residual::of_frame(skeleton, blend, &displaced, &frame.pose, &frame.positions)
        };
        let sum = |sum: Residual, frame| sum.with(&of_frame(frame));
        frames.iter().fold(Residual::default(), sum).rms
    };
    let driven = |frame: &SimulatedFrame| found.driven_weights(&frame.pose);
    let keyed = |frame: &SimulatedFrame| found.fitted_weights(&bind, &frame.pose, &frame.positions);
    for frames in [&frames, &unseen] {
        let (with, keyed) = (rms(frames, &driven), rms(frames, &keyed));
        let without = rms(frames, &|_| Vec::new());
        assert!(with < 0.3 * without, "{with} {without}");
        assert!(keyed < 1.01 * with, "{keyed} {with}");
    }
}
