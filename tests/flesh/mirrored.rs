//! Mirrored poses of a symmetric character give mirrored skins.

use std::collections::HashMap;
use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::math::{Point, Quat};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::Pose;
use sinew::rig::symmetry::{MirrorHow, Symmetry};

/// The vertex at the mirrored position of each, across x = 0.
fn partners(points: &[Point]) -> Vec<usize> {
    let cell = |[x, y, z]: [f32; 3]| [x, y, z].map(|c| (c * 1e5).round() as i64);
    let mut known: HashMap<[i64; 3], usize> = HashMap::new();
    for (vertex, p) in points.iter().enumerate() {
        known.entry(cell([p.x, p.y, p.z])).or_insert(vertex);
    }
    let partner = |p: &Point| {
        let [x, y, z] = cell([-p.x, p.y, p.z]);
        let near = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        near.filter_map(|cell| known.get(&cell)).copied().next()
    };
    let found = points.iter().map(|p| partner(p).expect("symmetric"));
    found.collect()
}

/// Largest and 99th percentile distance between a pose's skin and the mirror image of the mirrored pose's, as fractions of the size.
fn asymmetry(subject: &Arc<Subject>, turns: &[(&str, [f64; 3])]) -> [f32; 2] {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, [x, y, z]) in turns {
        let joint = skeleton.find_or_suggest(joint).expect("a joint");
        pose.locals[joint].rotation *= Quat::from_euler_angles(*x, *y, *z);
    }
    let mirrored = Symmetry::of(skeleton).mirrored(skeleton, &pose, None, MirrorHow::Flip);
    let skin = |pose: &Pose| -> Vec<Point> {
        let mut actor = Actor::bind(subject, MethodId::PD, &Params::default(), &Progress::new())
            .expect("binds");
        let frame = Frame {
            world_from_joint: &skeleton.world_from_joint(pose),
            dt_secs: 0.0,
        };
        actor.advance(&frame).expect("moves");
        actor.positions().to_vec()
    };
    let (one, other) = (skin(&pose), skin(&mirrored));
    let partner = partners(&subject.bind_positions);
    let mut apart: Vec<f32> = (0..one.len())
        .map(|vertex| {
            let image = other[partner[vertex]];
            (one[vertex] - Point::new(-image.x, image.y, image.z)).norm() / subject.size
        })
        .collect();
    apart.sort_unstable_by(f32::total_cmp);
    [apart[apart.len() - 1], apart[apart.len() * 99 / 100]]
}

#[test]
fn mirrored_poses_give_mirrored_skins() {
    let character = sinew::io::builtin::load_builtin("mannequin").expect("built in");
    let subject = Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"));
    let degrees = |angles: [f64; 3]| angles.map(f64::to_radians);
    let arm = [("upper_arm.L", degrees([0.0, 0.0, 50.0]))];
    let [worst, _] = asymmetry(&subject, &arm);
    assert!(worst <= 1e-4, "raised arm: {worst:.1e}");
    // Triangles that cross the plane are cut on one side: at the groin a few vertices differ by up to 1e-3.
    let knee = [
        ("thigh.L", degrees([-90.0, 0.0, 0.0])),
        ("shin.L", degrees([90.0, 0.0, 0.0])),
    ];
    let [worst, most] = asymmetry(&subject, &knee);
    assert!(
        worst <= 1e-3 && most <= 2e-4,
        "raised knee: {worst:.1e}, 99 %: {most:.1e}"
    );
}
