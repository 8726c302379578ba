//! Implicit skinning where a part is inside of another: no surface looks like that, and the part must not be torn for it.

use std::sync::Arc;

use nalgebra::Vector3;
use sinew::math::Quat;
use sinew::methods::{MethodId, Subject};
use sinew::metrics::intersections;
use sinew::progress::Progress;

use crate::counted::counted;

/// An arm that goes through the hip: the hand was spread over the surface of the thigh, with 22 times as many new intersecting pairs as by dual
/// quaternions.
#[test]
fn a_hand_inside_of_a_thigh_is_not_torn() {
    let progress = Progress::new();
    let character = sinew::io::builtin::load_builtin("mannequin").expect("built in");
    let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    let arm = skeleton.find("upper_arm.L").expect("an arm");
    let turn = Quat::from_axis_angle(&Vector3::z_axis(), -70.0_f64.to_radians());
    pose.rotate_about_world_axes(skeleton, arm, &turn);
    let world = skeleton.world_from_joint(&pose);
    let pairs = |method| {
        counted(
            &subject,
            method,
            &world,
            (&intersections::METRIC, "new_pairs"),
        )
    };
    let (ours, dqs) = (pairs(MethodId::IMPLICIT), pairs(MethodId::DQS));
    println!("new pairs: implicit {ours}, dqs {dqs}");
    assert!(dqs > 50, "{dqs}: the hand is not in the thigh");
    assert!(ours <= 3 * dqs, "{ours}, dqs {dqs}");
}
