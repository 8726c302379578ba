//! The fingers of a hand and the axis about which they, and the wrist, bend towards the palm.

use super::body_axes::BodyAxes;
use super::ik::limb::any_across;
use super::rest_shape::{RestShape, across};
use super::retarget::{Digit, JointRoles, Role, Side};
use crate::math::Vec64;

/// Fingers that are bent by more than this at rest, radians for each joint, show the side of the palm.
const BENT_AT_REST: f64 = 0.1;

/// A hand at rest.
#[derive(Debug, Clone)]
pub(super) struct Palm {
    /// Unit axis of flexion, world space: a positive rotation of the fingers moves their tips towards the palm.
    pub axis: Vec64,
    /// At least one.
    pub fingers: Vec<Finger>,
}

/// A finger at rest.
#[derive(Debug, Clone)]
pub(super) struct Finger {
    pub digit: Digit,
    /// From the palm to the tip, without a joint at the very tip.
    pub joints: Vec<usize>,
    /// Unit axis of flexion, world space, across the finger.
    pub axis: Vec64,
}

impl Palm {
    /// The hand of one side; `None` without fingers. A single finger without a joint for the hand is no hand.
    pub fn of(rest: &RestShape<'_>, roles: &JointRoles, side: Side) -> Option<Self> {
        let chains: Vec<(Digit, Vec<usize>)> = Digit::ALL
            .into_iter()
            .filter_map(|digit| {
                let mut joints = roles.joints(Role::Finger(side, digit)).to_vec();
                // A joint at the tip turns nothing; a joint inside the palm is no phalanx.
                if joints.len() > 3 {
                    let leaf = joints
                        .last()
                        .is_some_and(|&j| rest.skeleton.children(j).is_empty());
                    if leaf {
                        joints.pop();
                    }
                    joints.drain(..joints.len().saturating_sub(3));
                }
                (!joints.is_empty()).then_some((digit, joints))
            })
            .collect();
        if chains.len() < 2 && roles.first(Role::Hand(side)).is_none() {
            return None;
        }
        let row = knuckles(rest, roles, side, &chains)?;
        let axis = row * palm_sign(rest, roles, side, &chains, &row);
        let fingers = chains.into_iter().filter_map(|(digit, joints)| {
            let along = rest.along(joints[0])?;
            Some(Finger {
                digit,
                joints,
                axis: across(&axis, &along)?,
            })
        });
        let fingers: Vec<Finger> = fingers.collect();
        (!fingers.is_empty()).then_some(Self { axis, fingers })
    }
}

/// Unit vector across the palm, from the index finger to the little one. With one finger only: the hinge of the elbow's plane is not
/// known either, so any direction across the finger.
fn knuckles(
    rest: &RestShape<'_>,
    roles: &JointRoles,
    side: Side,
    chains: &[(Digit, Vec<usize>)],
) -> Option<Vec64> {
    let mut bases = chains
        .iter()
        .filter(|(digit, _)| *digit != Digit::Thumb)
        .map(|(_, joints)| joints[0]);
    let first = bases
        .next()
        .or_else(|| chains.first().map(|(_, joints)| joints[0]))?;
    if let Some(row) = bases
        .next_back()
        .and_then(|last| rest.direction(first, last))
    {
        return Some(row);
    }
    let along = rest.along(first)?;
    let thumb = chains
        .iter()
        .find(|(digit, joints)| *digit == Digit::Thumb && joints[0] != first);
    if let Some((_, thumb)) = thumb {
        // The thumb is beside the index finger, opposite to the little one.
        return rest.unit(rest.place(first) - rest.place(thumb[0]));
    }
    let front = BodyAxes::of(&rest.world, roles).map(|axes| axes.front);
    let helper = front.map(|front| if side == Side::Left { front } else { -front });
    helper
        .and_then(|helper| across(&helper, &along))
        .or_else(|| Some(any_across(&along)))
}

/// The sign of the rotation about `row` that curls fingers towards the palm.
///
/// Three signs tell, the first clear one counts: fingers that are bent at rest are bent towards the palm; the palm of a person who
/// stands with arms down or to the sides faces down, or the body; the thumb's tip is on the palm's side.
fn palm_sign(
    rest: &RestShape<'_>,
    roles: &JointRoles,
    side: Side,
    chains: &[(Digit, Vec<usize>)],
    row: &Vec64,
) -> f64 {
    let (mut bend, mut count) = (0.0, 0.0);
    for (_, joints) in chains.iter().filter(|(digit, _)| *digit != Digit::Thumb) {
        for pair in joints.windows(2) {
            if let (Some(a), Some(b)) = (rest.along(pair[0]), rest.along(pair[1])) {
                bend += a.cross(&b).dot(row);
                count += 1.0;
            }
        }
    }
    if count > 0.0 && bend.abs() / count > BENT_AT_REST {
        return bend.signum();
    }
    let finger = chains.iter().find(|(digit, _)| *digit != Digit::Thumb);
    let along = finger.and_then(|(_, joints)| rest.along(joints[0]));
    let Some(along) = along else { return 1.0 };
    // Where fingertips move to, for a positive rotation.
    let palm = row.cross(&along);
    if let Some(axes) = BodyAxes::of(&rest.world, roles) {
        let facing = palm.dot(&(-axes.outward(side) - axes.up));
        if facing.abs() > 0.3 {
            return facing.signum();
        }
    }
    let thumb = chains.iter().find(|(digit, _)| *digit == Digit::Thumb);
    let tip = thumb.and_then(|(_, joints)| rest.direction(*joints.first()?, *joints.last()?));
    match tip.map(|tip| tip.dot(&palm)) {
        Some(towards) if towards < 0.0 => -1.0,
        _ => 1.0,
    }
}
