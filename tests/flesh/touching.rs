//! What tests of contact begin with.

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use sinew::dynamics::{Collisions, Params, Preset};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::methods::{Actor, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::Pose;

/// A built-in character, simulated as fine as its skin is.
pub fn builtin(name: &str) -> Arc<Subject> {
    let mut character = sinew::io::builtin::load_builtin(name).expect("built in");
    character.flesh.sim_vertices = sinew::character::SimVertices::All;
    subject(character)
}

pub fn subject(character: sinew::character::Character) -> Arc<Subject> {
    Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"))
}

pub fn actor(subject: &Arc<Subject>, collisions: Collisions) -> Actor {
    let params = Params {
        collisions,
        ..Preset::Natural.params()
    };
    Actor::bind(subject, MethodId::PD, &params, &Progress::new()).expect("binds")
}

/// The rest pose with joints turned about world axes, degrees.
pub fn turned(subject: &Subject, turns: &[(&str, [f64; 3], f64)]) -> Pose {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (name, axis, degrees) in turns {
        let joint = skeleton.find_or_suggest(name).expect("a joint");
        let axis = nalgebra::Unit::new_normalize(Vec64::from(*axis));
        pose.rotate_about_world_axes(
            skeleton,
            joint,
            &Quat::from_axis_angle(&axis, degrees.to_radians()),
        );
    }
    pose
}

pub fn world(subject: &Subject, pose: &Pose) -> Vec<Affine> {
    subject.character.skeleton.world_from_joint(pose)
}

pub fn worst(a: &[Point], b: &[Point]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max)
}
