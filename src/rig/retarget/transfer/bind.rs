//! What a transfer computes once, before the frames.

use super::super::align::Alignment;
use super::super::mapping::{Link, Mapping, SignedAxis, align_finger, spread_over};
use super::super::role::Role;
use super::super::source::SourceMotion;
use super::super::stance::{Landmarks, Stance};
use super::middle_of_hips;
use crate::math::{Quat, Vec64};
use crate::rig::Skeleton;

/// The source of a character joint's rotation.
pub(super) struct Driver {
    /// The joint's world rotation when the motion is in its stance.
    pub(super) ready: Quat,
    /// The joints of the motion that it follows; `None` keeps the stance.
    pub(super) between: [Option<usize>; 2],
    /// 0 follows the first, 1 the second.
    pub(super) fraction: f64,
}

/// Translation of the hips.
pub(super) struct Root {
    /// The joint of the character that is translated.
    pub(super) joint: usize,
    /// The joint of the motion that drives it, if the hips are not determined.
    pub(super) partner: usize,
    pub(super) scale: f64,
    /// Up, for the character.
    pub(super) up: Vec64,
    /// The centre of the hips in the character's stance, world.
    pub(super) start: Vec64,
    /// The centre of the hips relative to the joint, in the joint's frame.
    pub(super) middle: Vec64,
    /// The same of the motion at its first frame.
    pub(super) source_start: Vec64,
}

impl Root {
    pub(super) fn of(
        alignment: &Alignment<'_>,
        motion: &SourceMotion<'_>,
        mapping: &Mapping,
        drivers: &[Option<Driver>],
    ) -> Self {
        let (marks, stance) = (alignment.target_marks, alignment.target_stance);
        let up = alignment.own_up;
        let scale = mapping.scale.unwrap_or_else(|| {
            let own = SourceMotion::lengths(marks, stance, &up);
            let theirs = SourceMotion::lengths(&motion.marks, alignment.source_stance, &up);
            let both = own
                .into_iter()
                .zip(theirs)
                .find_map(|(own, theirs)| Some(own? / theirs?));
            both.filter(|scale| scale.is_finite()).unwrap_or(1.0)
        });
        let joint = marks
            .joints(Role::Hips)
            .first()
            .copied()
            .or_else(|| drivers.iter().position(Option::is_some))
            .unwrap_or(0);
        let start = marks
            .middle(stance, Role::Thigh)
            .unwrap_or(stance.places[joint]);
        let partner = drivers
            .get(joint)
            .and_then(Option::as_ref)
            .and_then(|driver| driver.between[1])
            .unwrap_or(0);
        Self {
            joint,
            partner,
            scale,
            up,
            start,
            middle: stance.turns[joint].inverse() * (start - stance.places[joint]),
            source_start: middle_of_hips(motion, &motion.at(motion.times_secs[0]), partner),
        }
    }
}

/// The bind pose, in which the skin was modelled, if it resembles a person at least as much as the
/// rest pose does.
pub(super) fn stance_of_character(target: &Skeleton, marks: &Landmarks) -> Stance {
    let rest = Stance::of_pose(target, &target.rest_pose());
    let bind = Stance::of_world(&target.bind_transforms());
    let score = |stance: &Stance| {
        let up = marks
            .up(stance)
            .map_or(SignedAxis::Y, |up| SignedAxis::nearest(&up));
        marks.portrait(stance, &up.vector()).0
    };
    if bind.is_finite() && score(&bind) > score(&rest) + 0.02 {
        bind
    } else {
        rest
    }
}

/// From the character's body frame to the motion's, both in their stances.
pub(super) fn body_turn(
    motion: &SourceMotion<'_>,
    source_stance: &Stance,
    axes: &Quat,
    marks: &Landmarks,
    stance: &Stance,
    up: SignedAxis,
) -> Quat {
    let upright = motion
        .marks
        .up(&motion.stance)
        .map_or(motion.up, |up| SignedAxis::nearest(&up));
    let theirs = motion
        .marks
        .frame(source_stance, &(axes * upright.vector()));
    let own = marks.frame(stance, &up.vector());
    match (own, theirs) {
        (Some(own), Some(theirs)) => theirs * own.inverse(),
        _ => *axes,
    }
}

pub(super) fn drivers(alignment: &Alignment<'_>, links: &[Link]) -> Vec<Option<Driver>> {
    let mut drivers: Vec<Option<Driver>> = (0..alignment.target.len()).map(|_| None).collect();
    let aligned = alignment.turns();
    for link in links {
        let turns = link.role.and_then(|role| aligned.get(&role));
        let before = link
            .source
            .first()
            .and_then(|&first| alignment.source.joints()[first].parent);
        let joint = |at: Option<usize>| at.map_or(before, |at| Some(link.source[at]));
        let steps: Vec<(usize, [Option<usize>; 2], f64)> =
            if let Some(Role::Finger(..) | Role::Toe(_)) = link.role {
                let pairs = align_finger(link.target.len(), link.source.len()).into_iter();
                pairs
                    .map(|(own, partner)| (own, [Some(link.source[partner]); 2], 0.0))
                    .collect()
            } else {
                let spread = spread_over(link.target.len(), link.source.len())
                    .into_iter()
                    .enumerate();
                spread
                    .map(|(own, (below, above, fraction))| {
                        (own, [joint(below), joint(above)], fraction)
                    })
                    .collect()
            };
        for (own, between, fraction) in steps {
            let joint = link.target[own];
            let turn = turns
                .and_then(|turns| turns.get(own).or(turns.last()))
                .copied()
                .unwrap_or(alignment.body);
            drivers[joint] = Some(Driver {
                ready: turn * alignment.target_stance.turns[joint],
                between,
                fraction,
            });
        }
    }
    drivers
}
