//! Real characters that jump into a pose in one frame and back in one frame, with default settings: their flesh is whole again.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::io::load;
use sinew::math::Affine;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::{RangePose, motion_range};

use crate::common::moved::worst;
use crate::common::skip;

const CHARACTERS: [&str; 3] = [
    "A_rigged/m2m_bunny/human-bunny.glb",
    "A_rigged/mh_female_cmu/mh_female_cmu.glb",
    "A_rigged/CesiumMan/CesiumMan.glb",
];
const STEP_SECS: f64 = 1.0 / 60.0;
/// Frames in the pose, and after it.
const HELD: usize = 20;
const BACK: usize = 60;

/// The last pose of each movement; of movements of both sides one.
fn ends(poses: &[RangePose]) -> Vec<&RangePose> {
    let is_last = |index: usize| {
        let next = poses.get(index + 1);
        next.is_none_or(|next| next.movement != poses[index].movement)
    };
    let last = (0..poses.len()).filter(|&index| is_last(index));
    let last = last.map(|index| &poses[index]);
    last.filter(|pose| !pose.id.contains(".r")).collect()
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine], frames: usize) {
    let frame = Frame {
        world_from_joint,
        dt_secs: STEP_SECS,
    };
    for _ in 0..frames {
        actor.advance(&frame).expect("moves");
    }
}

#[test]
fn real_characters_are_whole_again_after_a_jump() {
    let Some(data) = skip::data() else {
        return;
    };
    let mut broken = Vec::new();
    for (index, name) in CHARACTERS.iter().enumerate() {
        let progress = Progress::new();
        let character = load(&[data.join(name)], &progress).expect("loads");
        let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
        let skeleton = &subject.character.skeleton;
        let rest = skeleton.world_from_joint(&skeleton.rest_pose());
        let params = Params::default();
        let mut actor = Actor::bind(&subject, MethodId::PD, &params, &progress).expect("binds");
        let poses = motion_range(skeleton);
        let ends = ends(&poses);
        assert!(ends.len() >= 8, "{name}: {} poses", ends.len());
        // Every other movement: the odd ones of one character, the even ones of the next.
        for pose in ends.into_iter().skip(index % 2).step_by(2) {
            actor.reset();
            advance(&mut actor, &rest, 1);
            let whole = actor.positions().to_vec();
            advance(&mut actor, &skeleton.world_from_joint(&pose.pose), HELD);
            advance(&mut actor, &rest, BACK);
            let left = worst(actor.positions(), &whole) / subject.size;
            if left.is_nan() || left > 1e-3 {
                broken.push(format!("{name}, {}: {left:.1e} of the size", pose.id));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
