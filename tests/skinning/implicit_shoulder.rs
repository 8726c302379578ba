//! Implicit skinning where a limb leaves the body: parts must not stick out of it as the joint turns.

use std::sync::Arc;

use nalgebra::{UnitVector3, Vector3};
use sinew::math::Quat;
use sinew::methods::{MethodId, Subject};
use sinew::metrics::roughness;
use sinew::progress::Progress;
use sinew::rig::Pose;

use crate::counted::counted;

/// Arms that hang, turned about the world's X, then Z: the collar bones and the upper arms lay creases over the chest when their fields
/// ended in a single point (53 edges).
#[test]
fn hanging_arms_leave_the_chest_smooth() {
    let progress = Progress::new();
    let character = sinew::io::builtin::load_builtin("mannequin").expect("built in");
    let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
    let skeleton = &subject.character.skeleton;
    let mut pose: Pose = skeleton.rest_pose();
    for (side, sign) in [("L", 1.0_f64), ("R", -1.0)] {
        let joint = skeleton.find(&format!("upper_arm.{side}")).expect("an arm");
        let about = |axis: &UnitVector3<f64>, degrees: f64| {
            Quat::from_axis_angle(axis, degrees.to_radians())
        };
        let turn = about(&Vector3::z_axis(), -35.0 * sign) * about(&Vector3::x_axis(), -25.0);
        pose.rotate_about_world_axes(skeleton, joint, &turn);
    }
    let world = skeleton.world_from_joint(&pose);
    let creases = |method| {
        counted(
            &subject,
            method,
            &world,
            (&roughness::METRIC, "new_creases"),
        )
    };
    let (ours, lbs) = (creases(MethodId::IMPLICIT), creases(MethodId::LBS));
    println!("new creases: implicit {ours}, lbs {lbs}");
    assert!(ours <= 24, "{ours}");
}
