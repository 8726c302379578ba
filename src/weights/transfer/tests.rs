//! Theorems on transferred weights.

use super::*;
use crate::math::{Point, Point64, Vec3};
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::weights::WeightMethod;

fn skeleton(names: &[(&str, Option<usize>, [f64; 3])]) -> Skeleton {
    let joints: Vec<_> = names
        .iter()
        .map(|(name, parent, at)| ((*name).to_owned(), *parent, Point64::from(*at)))
        .collect();
    Skeleton::from_positions(&joints).expect("a skeleton")
}

fn three() -> Skeleton {
    skeleton(&[
        ("a", None, [0.0, -0.5, 0.0]),
        ("b", Some(0), [0.0, 0.5, 0.0]),
        ("c", Some(1), [0.5, 0.5, 0.0]),
    ])
}

/// Smooth weights of three joints on a sphere around the origin.
fn smooth(at: &Point) -> [f64; 3] {
    let at = at.cast::<f64>().coords.normalize();
    let (up, right) = (0.5 + 0.5 * at.y, 0.5 + 0.5 * at.x);
    [1.0 - up, up * (1.0 - right), up * right]
}

fn sphere_source() -> TransferSource {
    let mesh = ball(Point::origin(), 1.0, 40, 60);
    let row = |at: &Point| {
        (0..)
            .zip(smooth(at).map(|weight| weight as f32))
            .collect::<Vec<_>>()
    };
    TransferSource {
        weights: SkinWeights::from_rows(mesh.positions.iter().map(row)).0,
        mesh,
        skeleton: three(),
    }
}

fn moved_onto(source: &TransferSource, target: &TriMesh) -> Transferred {
    let joints = JointMap::between(&source.skeleton, &source.skeleton);
    let found = transfer(source, target, &joints, &Progress::new()).expect("nobody cancels");
    assert_convex(&found.weights, target);
    found
}

fn assert_convex(weights: &SkinWeights, target: &TriMesh) {
    assert_eq!(weights.len(), target.positions.len());
    for vertex in 0..weights.len() {
        let sum: f32 = weights.of(vertex).map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() <= 1e-6, "{vertex}: {sum}");
        assert!(weights.of(vertex).all(|(_, weight)| weight > 0.0));
    }
}

/// The largest difference from the smooth weights.
fn largest_error(weights: &SkinWeights, target: &TriMesh) -> f64 {
    let mut worst = 0.0_f64;
    for (vertex, at) in target.positions.iter().enumerate() {
        let mut row = smooth(at);
        for (joint, weight) in weights.of(vertex) {
            row[joint] -= f64::from(weight);
        }
        worst = row
            .iter()
            .fold(worst, |worst, error| worst.max(error.abs()));
    }
    worst
}

#[test]
fn a_concentric_sphere_has_the_same_weights() {
    let target = ball(Point::origin(), 1.03, 33, 47);
    let found = moved_onto(&sphere_source(), &target);
    assert_eq!(found.report.matched, target.positions.len());
    let error = largest_error(&found.weights, &target);
    println!("largest error on a concentric sphere: {error:.2e}");
    assert!(error <= 1e-2, "{error}");
    // Turned inside out: the same.
    let mut reversed = target.clone();
    reversed
        .triangles
        .iter_mut()
        .for_each(|triangle| triangle.swap(1, 2));
    let found = moved_onto(&sphere_source(), &reversed);
    assert_eq!(
        (found.report.matched, found.report.reversed_parts),
        (target.positions.len(), 1)
    );
    assert!(largest_error(&found.weights, &reversed) <= 1e-2);
}

/// Erases matches and solves for them.
fn with_erased(erased: impl Fn(usize, &Point) -> bool) -> (f64, usize) {
    let (source, target) = (sphere_source(), ball(Point::origin(), 1.03, 33, 47));
    let joints = JointMap::between(&source.skeleton, &source.skeleton);
    let (topology, progress) = (Topology::of(&target), Progress::new());
    let mut matches = Matches::find(&source, &target, &topology, &joints, &progress).unwrap();
    let mut count = 0;
    for (vertex, at) in target.positions.iter().enumerate() {
        if erased(vertex, at) {
            matches.is_matched[vertex] = false;
            // What is there must not be used.
            matches.rows[vertex] = vec![(2, 1.0)];
            count += 1;
        }
    }
    let size = f64::from(target.bounds().size());
    let found = transfer_matched(&target, &topology, size, &joints, &matches, &progress).unwrap();
    assert_convex(&found.weights, &target);
    (largest_error(&found.weights, &target), count)
}

#[test]
fn half_of_the_matches_are_enough() {
    let mut state = 3_u32;
    let coin: Vec<bool> = (0..4000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 31 == 1
        })
        .collect();
    let (scattered, count) = with_erased(|vertex, _| coin[vertex]);
    println!("largest error, {count} matches erased at random: {scattered:.2e}");
    assert!(scattered <= 5e-2 && count > 600, "{scattered}");
    let (stripes, count) = with_erased(|_, at| (4.0 * at.y).rem_euclid(1.0) < 0.5);
    println!("largest error, {count} matches erased in stripes: {stripes:.2e}");
    assert!(stripes <= 5e-2 && count > 600, "{stripes}");
    // A whole octant has to be made up: no theorem, but it stays near.
    let (octant, count) = with_erased(|_, at| at.x > 0.0 && at.y > 0.0 && at.z > 0.0);
    println!("largest error, {count} matches of an octant erased: {octant:.2e}");
    assert!(octant <= 0.1, "{octant}");
}

#[test]
fn orphans_slivers_and_bad_positions_have_weights() {
    let source = sphere_source();
    let body = ball(Point::origin(), 1.03, 12, 16);
    let button = moved(ball(Point::origin(), 0.05, 6, 8), Vec3::new(0.0, 2.0, 0.0));
    let mut target = joined(&[body.clone(), button]);
    let twin = target.positions.len() as u32;
    target.positions.extend([
        target.positions[7],
        Point::new(f32::NAN, 0.0, 0.0),
        Point::new(0.0, -1.5, 0.0),
        Point::new(5.0, 0.0, 0.0),
        Point::new(5.0, 0.0, 0.0),
    ]);
    target.triangles.extend([
        [7, twin, 9],
        [7, 7, 8],
        [7, twin, 7],
        [twin + 1, 3, 4],
        [twin + 3, twin + 4, twin + 3],
    ]);
    let found = moved_onto(&source, &target);
    assert_eq!(found.report.without_position, 1);
    assert!(found.report.parts_without_match >= 2, "{:?}", found.report);
    assert_eq!(found.report.unsolved_parts, 0);
    // The button moves as the pole below it, in one piece.
    for vertex in body.positions.len()..twin as usize {
        let mut row = smooth(&Point::new(0.0, 1.0, 0.0));
        for (joint, weight) in found.weights.of(vertex) {
            row[joint] -= f64::from(weight);
        }
        assert!(
            row.iter().all(|error| error.abs() < 0.03),
            "{vertex}: {row:?}"
        );
    }
}

/// Inner sides of two legs that nearly touch: each matches its own leg.
#[test]
fn the_other_leg_does_not_match() {
    let leg = |x: f32, radius: f32| moved(tube(radius, 6.0, 24, 24, false), Vec3::new(x, 0.0, 0.0));
    let legs = joined(&[leg(-1.05, 1.0), leg(1.05, 1.0)]);
    let half = legs.positions.len() / 2;
    let source = TransferSource {
        weights: SkinWeights::from_rows((0..2 * half).map(|v| [(u32::from(v >= half), 1.0)])).0,
        mesh: legs,
        skeleton: skeleton(&[
            ("hips", None, [-1.05, 6.0, 0.0]),
            ("leg.R", Some(0), [1.05, 6.0, 0.0]),
        ]),
    };
    // Trousers wider than the gap: their inner sides are inside of the other leg.
    let trousers = joined(&[leg(-1.05, 1.12), leg(1.05, 1.12)]);
    let found = moved_onto(&source, &trousers);
    for vertex in 0..trousers.positions.len() {
        let own = usize::from(vertex >= trousers.positions.len() / 2);
        assert_eq!(found.weights.strongest(vertex), Some(own), "{vertex}");
    }
    assert!(found.report.matched < trousers.positions.len());
}

#[test]
fn joints_are_matched_by_name_role_and_position() {
    use JointMatch::{Ancestor, Name, Position, Role};
    let source = skeleton(&[
        ("Hips", None, [0.0, 1.0, 0.0]),
        ("mixamorig:LeftUpLeg", Some(0), [0.1, 0.9, 0.0]),
        ("mixamorig:LeftLeg", Some(1), [0.1, 0.5, 0.0]),
        ("mixamorig:LeftFoot", Some(2), [0.1, 0.1, 0.0]),
        ("tail", Some(0), [0.0, 0.9, -0.2]),
        ("tail.tip", Some(4), [0.0, 0.8, -0.6]),
    ]);
    let target = skeleton(&[
        ("Hips", None, [0.0, 1.0, 0.0]),
        ("thigh.L", Some(0), [0.1, 0.9, 0.0]),
        ("shin.L", Some(1), [0.1, 0.5, 0.0]),
        ("foot.L", Some(2), [0.1, 0.1, 0.0]),
        ("bone7", Some(0), [0.0, 0.905, -0.2]),
    ]);
    let map = JointMap::between(&source, &target);
    assert_eq!(map.target_of, [0, 1, 2, 3, 4, 4].map(Some));
    assert_eq!(map.how, [Name, Role, Role, Role, Position, Ancestor]);
    assert_eq!(map.unmatched().collect::<Vec<_>>(), [5]);
    let none = JointMap::between(&source, &Skeleton::default());
    assert!(none.target_of.iter().all(Option::is_none) && none.unmatched().count() == 6);
    assert_eq!(JointMap::between(&Skeleton::default(), &target).how, []);
}

#[test]
fn unusable_sources_and_targets_are_no_failure() {
    let source = sphere_source();
    assert!(source.is_usable());
    for mesh in [
        TriMesh::default(),
        TriMesh {
            positions: vec![Point::origin()],
            triangles: Vec::new(),
        },
        TriMesh {
            positions: vec![Point::origin(); 3],
            triangles: vec![[0, 1, 2]],
        },
    ] {
        moved_onto(&source, &mesh);
    }
    let empty = TransferSource {
        mesh: TriMesh::default(),
        weights: SkinWeights::default(),
        skeleton: three(),
    };
    let bare = TransferSource {
        weights: SkinWeights::from_rows(vec![Vec::new(); source.mesh.positions.len()]).0,
        ..source.clone()
    };
    let short = TransferSource {
        weights: SkinWeights::default(),
        ..source.clone()
    };
    let (target, skeleton) = (ball(Point::origin(), 1.0, 6, 8), three());
    let input = WeightInput {
        mesh: &target,
        skeleton: &skeleton,
        values: &crate::param::ParamValues::default(),
        memo: &crate::weights::Memo::default(),
    };
    for source in [empty, bare, short] {
        assert!(!source.is_usable());
        let found = transferred(&source, &input, &Progress::new()).unwrap();
        assert_convex(&found.weights, &target);
    }
    let cancelled = Progress::new();
    cancelled.cancel();
    let joints = JointMap::between(&skeleton, &skeleton);
    assert!(transfer(&source, &target, &joints, &cancelled).is_err());
}

#[test]
fn many_parts_without_match_are_quick() {
    let source = sphere_source();
    let mut target = TriMesh::default();
    for part in 0..10_000_u32 {
        let x = 3.0 + part as f32 * 1e-4;
        let first = target.positions.len() as u32;
        let corners = [[x, 0.0, 0.0], [x, 0.005, 0.0], [x, 0.0, 0.005]];
        target.positions.extend(corners.map(Point::from));
        target.triangles.push([first, first + 1, first + 2]);
    }
    let found = moved_onto(&source, &target);
    assert_eq!(found.report.parts_without_match, 10_000);
}

/// Equal input gives equal bits, whatever the number of threads.
#[test]
fn the_number_of_threads_does_not_matter() {
    let target = joined(&[
        ball(Point::origin(), 1.03, 20, 30),
        ball(Point::new(0.0, 2.0, 0.0), 0.7, 10, 12),
    ]);
    let source = sphere_source();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| moved_onto(&source, &target))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn a_transfer_is_a_method() {
    let (source, target, skeleton) = (
        sphere_source(),
        ball(Point::origin(), 1.02, 12, 16),
        three(),
    );
    let method = WeightMethod::transfer("folder/test-ball.glb", source.clone());
    assert_eq!(method.id(), "transfer:folder/test-ball.glb");
    assert_eq!(method.label(), "Transfer from test-ball.glb");
    assert_eq!(WeightMethod::from_id(method.id()), Ok(method));
    assert_eq!(
        WeightMethod::transfer_file(method.id()),
        Some("folder/test-ball.glb")
    );
    assert_eq!(
        WeightMethod::transfer("folder/test-ball.glb", source.clone()),
        method
    );
    assert!(method.is_computed());
    let computed = method.compute(
        &target,
        &skeleton,
        &crate::weights::Memo::default(),
        &Progress::new(),
    );
    let weights = computed.unwrap().unwrap().weights;
    assert_convex(&weights, &target);
    assert!(largest_error(&weights, &target) < 0.05);
    // The file was edited: another method of the same id, which is the one found from then on.
    let mut edited = source.clone();
    edited.weights = SkinWeights::from_rows(vec![[(0, 1.0)]; source.mesh.positions.len()]).0;
    let newer = WeightMethod::transfer("folder/test-ball.glb", edited);
    assert!(newer != method && WeightMethod::from_id(method.id()) == Ok(newer));
    let listed = crate::weights::registry();
    assert_eq!(
        listed
            .iter()
            .filter(|listed| listed.id() == method.id())
            .count(),
        1
    );
    assert_eq!(
        WeightMethod::transfer("folder/test-ball.glb", source),
        method
    );
    assert_eq!(WeightMethod::from_id(method.id()), Ok(method));
}
