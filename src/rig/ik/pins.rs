//! Pins for rotations that are not drags: limbs adapt when their ancestors are rotated.

use std::collections::BTreeSet;

use super::IkRig;
use super::figure::{Figure, rotation_of};
use super::limb::Limb;
use super::two_bone::TwoBone;
use crate::rig::{Pose, Skeleton};

/// Restores the positions of pinned hands and feet after ancestors of their limbs were rotated.
///
/// A limb that was rotated directly is left unchanged: the latest input has priority.
pub fn keep_pins(
    skeleton: &Skeleton,
    rig: &IkRig,
    start: &Pose,
    pose: &mut Pose,
    pins: &BTreeSet<usize>,
    turned: &BTreeSet<usize>,
) {
    let carried = |joint: usize| turned.iter().any(|&above| skeleton.is_below(joint, above));
    let held = |end: usize| pins.contains(&end);
    let limbs = rig.limbs().iter().filter(|limb| {
        held(limb.end)
            && carried(limb.upper)
            && !turned
                .iter()
                .any(|&joint| touches(skeleton, limb.upper, joint))
    });
    let limbs: Vec<_> = limbs.copied().collect();
    if limbs.is_empty()
        || start.locals.len() != skeleton.len()
        || pose.locals.len() != skeleton.len()
    {
        return;
    }
    let before = Figure::new(skeleton, start.clone());
    let mut figure = Figure::new(skeleton, pose.clone());
    for limb in limbs {
        put_back(&before, &mut figure, limb);
    }
    if figure.is_finite() {
        *pose = figure.pose;
    }
}

/// Puts the end of a limb back to the place and rotation that it had at the start, or as near as the limb can.
pub(in crate::rig) fn put_back(start: &Figure<'_>, figure: &mut Figure<'_>, limb: Limb) {
    let place = start.place(limb.end);
    let Some(mut bones) = TwoBone::begin(start, limb, &place) else {
        return;
    };
    bones.solve(figure, &place);
    figure.refresh_all();
    let turn = rotation_of(&start.world[limb.end]);
    figure.pose.locals[limb.end].rotation = figure.base_turn(limb.end).inverse() * turn;
    figure.refresh_all();
}

/// Whether a joint is the limb's first joint or its descendant.
pub(super) fn touches(skeleton: &Skeleton, upper: usize, joint: usize) -> bool {
    joint == upper || skeleton.is_below(joint, upper)
}
