//! Muscles of implicit skinning on a body with two sides.

use std::sync::Arc;

use sinew::character::{FleshFactors, MuscleText};
use sinew::dynamics::Params;
use sinew::math::{Point, Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::symmetry::{MirrorHow, Symmetry};

/// Both elbows bend to the front: the biceps swells where an anatomist expects it, and alike on both sides.
#[test]
fn biceps_swell_on_the_front_of_both_arms_alike() {
    let progress = Progress::new();
    let character = sinew::io::builtin::load_builtin("mannequin").expect("built in");
    let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
    let skeleton = &subject.character.skeleton;
    let joint = |name: &str| skeleton.find(name).expect("a joint");
    let symmetry = Symmetry::of(skeleton);
    let mut pose = skeleton.rest_pose();
    let [shoulder, elbow] = ["upper_arm.L", "forearm.L"].map(|name| {
        let world = &skeleton.joints()[joint(name)].world_from_bind;
        Vec64::new(world[(0, 3)], world[(1, 3)], world[(2, 3)])
    });
    let along = (elbow - shoulder).normalize();
    let hinge = nalgebra::Unit::new_normalize(along.cross(&Vec64::z()));
    let bend = Quat::from_axis_angle(&hinge, 100_f64.to_radians());
    pose.rotate_about_world_axes(skeleton, joint("forearm.L"), &bend);
    let pose = symmetry.mirrored(
        skeleton,
        &pose,
        Some(&[joint("forearm.L")]),
        MirrorHow::Copy,
    );
    let mut actor =
        Actor::bind(&subject, MethodId::IMPLICIT, &Params::default(), &progress).expect("binds");
    let world = skeleton.world_from_joint(&pose);
    let mut skin = |texts: &[&str]| -> Vec<Point> {
        let muscle = |text: &&str| MuscleText::parse(text).and_then(|text| text.on(skeleton));
        let muscles = texts.iter().map(muscle).collect::<Result<Vec<_>, _>>();
        let factors = FleshFactors {
            muscles: muscles.expect("are muscles"),
            ..FleshFactors::default()
        };
        actor.set_factors(&factors).expect("has muscles");
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        actor.advance(&frame).expect("moves");
        actor.positions().to_vec()
    };
    let plain = skin(&[]);
    let both = skin(&[
        "biceps.L=bone:upper_arm.L,angle:10,bulge:0.8",
        "biceps.R=bone:upper_arm.R,angle:-10,bulge:0.8",
    ]);
    let left = skin(&["biceps.L=bone:upper_arm.L,angle:10,bulge:0.8"]);
    let size = subject.size as f32;
    let moved = |skin: &[Point], vertex: usize| skin[vertex] - plain[vertex];
    let rest = &subject.bind_positions;
    let vertices = 0..rest.len();
    let largest = |skin: &[Point], sign: f32| {
        let side = vertices.clone().filter(|&v| sign * rest[v].x > 0.0);
        side.max_by(|&a, &b| moved(skin, a).norm().total_cmp(&moved(skin, b).norm()))
            .expect("has vertices")
    };
    let (belly, partner) = (largest(&both, 1.0), largest(&both, -1.0));
    let by = moved(&both, belly);
    assert!(by.norm() > 0.004 * size, "{by}");
    assert!(by.z > 0.7 * by.norm(), "to the front: {by}");
    let share =
        (rest[belly].coords.cast::<f64>() - shoulder).dot(&along) / (elbow - shoulder).norm();
    assert!((0.2..0.9).contains(&share), "{share}");
    let other = moved(&both, partner);
    assert!(
        (other.norm() - by.norm()).abs() < 0.1 * by.norm(),
        "{other} {by}"
    );
    // The other side does not move for one muscle, but in creases: steps that are halved for the muscle change the way of all skin. Nothing
    // moves that is far from both muscles.
    let other_side = vertices.clone().filter(|&v| rest[v].x < -0.05 * size);
    let moves: Vec<f32> = other_side.map(|v| moved(&left, v).norm() / size).collect();
    let mean = moves.iter().sum::<f32>() / moves.len() as f32;
    let most = moves.iter().copied().fold(0.0, f32::max);
    println!("the other side moves by {mean:e} of the size, at most {most:e}");
    assert!(mean < 1e-4 && most < 4e-3, "{mean:e} {most:e}");
    for vertex in vertices {
        let is_arm = f64::from(rest[vertex].x.abs()) > shoulder.x - 0.06;
        if !is_arm {
            let moved = moved(&both, vertex).norm();
            assert!(moved < 2e-3 * size, "{vertex}: {moved}");
        }
    }
}
