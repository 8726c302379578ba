//! Fingers: the fist, and single fingers of a hand without a body.

use super::body::{BodyAxes, side_names};
use super::{Builder, MovementName, Turns, turn};
use crate::math::Vec64;
use crate::rig::retarget::{Digit, JointRoles, Role, Side};

/// A thumb turns by this part of what fingers turn.
const THUMB: f64 = 0.4;
/// Fingers that are bent by more than this at rest, radians for each joint, show the side of the palm.
const BENT_AT_REST: f64 = 0.1;

/// Adds the movements of one hand.
pub(super) fn add(builder: &mut Builder<'_>, roles: &JointRoles) {
    let found = Side::BOTH
        .into_iter()
        .find_map(|side| Some((side, hand(builder, roles, side)?)));
    let Some((side, fingers)) = found else { return };
    let [id_end, label_end] = side_names(side);
    let Some(&joint) = fingers.first().and_then(|finger| finger.joints.first()) else {
        return;
    };
    let name = MovementName {
        id: &format!("fist{id_end}"),
        label: &format!("Fist{label_end}"),
        joint,
    };
    builder.add(&name, &[30.0, 60.0, 80.0], |angle| {
        Some(
            fingers
                .iter()
                .flat_map(|finger| finger.curl(angle))
                .collect(),
        )
    });
    // Of a body, the fist stands for its fingers.
    if roles.first(Role::Forearm(side)).is_some() {
        return;
    }
    for finger in &fingers {
        let digit = Role::Finger(side, finger.digit).id();
        let digit = digit.split_once('_').map_or("finger", |(_, digit)| digit);
        let name = MovementName {
            id: &format!("{digit}{id_end}"),
            label: &format!("Curl of the {digit}{label_end}"),
            joint: finger.joints[0],
        };
        builder.add(&name, &[30.0, 60.0, 80.0], |angle| Some(finger.curl(angle)));
    }
}

/// A finger with its axis of flexion.
struct Finger {
    digit: Digit,
    /// From the palm to the tip, without a joint at the very tip.
    joints: Vec<usize>,
    axis: Vec64,
    part: f64,
}

impl Finger {
    fn curl(&self, angle: f64) -> Turns {
        let joints = self.joints.iter().rev();
        joints
            .map(|&joint| (joint, turn(&self.axis, angle * self.part)))
            .collect()
    }
}

fn hand(builder: &Builder<'_>, roles: &JointRoles, side: Side) -> Option<Vec<Finger>> {
    let chains: Vec<(Digit, Vec<usize>)> = Digit::ALL
        .into_iter()
        .filter_map(|digit| {
            let mut joints = roles.joints(Role::Finger(side, digit)).to_vec();
            // A joint at the tip turns nothing; a joint inside the palm is no phalanx.
            if joints.len() > 3 {
                let leaf = joints
                    .last()
                    .is_some_and(|&j| builder.skeleton.children(j).is_empty());
                if leaf {
                    joints.pop();
                }
                joints.drain(..joints.len().saturating_sub(3));
            }
            (!joints.is_empty()).then_some((digit, joints))
        })
        .collect();
    let across = across(builder, roles, side, &chains)?;
    let sign = palm_sign(builder, roles, side, &chains, &across);
    let fingers = chains.into_iter().filter_map(|(digit, joints)| {
        let along = builder.along(joints[0])?;
        let axis = builder.unit(across - along * along.dot(&across))? * sign;
        Some(Finger {
            digit,
            joints,
            axis,
            part: if digit == Digit::Thumb { THUMB } else { 1.0 },
        })
    });
    Some(fingers.collect::<Vec<_>>()).filter(|fingers| !fingers.is_empty())
}

/// Unit vector across the palm, from the index finger to the little one. With one finger only: the hinge of the elbow's plane is not
/// known either, so any direction across the finger.
fn across(
    builder: &Builder<'_>,
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
        .and_then(|last| builder.direction(first, last))
    {
        return Some(row);
    }
    let along = builder.along(first)?;
    let thumb = chains
        .iter()
        .find(|(digit, joints)| *digit == Digit::Thumb && joints[0] != first);
    if let Some((_, thumb)) = thumb {
        // The thumb is beside the index finger, opposite to the little one.
        return builder.unit(builder.place(first) - builder.place(thumb[0]));
    }
    let front = BodyAxes::of(builder, roles).map(|axes| axes.front);
    let helper = front.map(|front| if side == Side::Left { front } else { -front });
    helper
        .and_then(|helper| builder.unit(helper - along * along.dot(&helper)))
        .or_else(|| Some(crate::rig::ik::limb::any_across(&along)))
}

/// The sign of the rotation about `across` that curls fingers towards the palm.
///
/// Three signs tell, the first clear one counts: fingers that are bent at rest are bent towards the palm; the palm of a person who
/// stands with arms down or to the sides faces down, or the body; the thumb's tip is on the palm's side.
fn palm_sign(
    builder: &Builder<'_>,
    roles: &JointRoles,
    side: Side,
    chains: &[(Digit, Vec<usize>)],
    across: &Vec64,
) -> f64 {
    let (mut bend, mut count) = (0.0, 0.0);
    for (_, joints) in chains.iter().filter(|(digit, _)| *digit != Digit::Thumb) {
        for pair in joints.windows(2) {
            if let (Some(a), Some(b)) = (builder.along(pair[0]), builder.along(pair[1])) {
                bend += a.cross(&b).dot(across);
                count += 1.0;
            }
        }
    }
    if count > 0.0 && bend.abs() / count > BENT_AT_REST {
        return bend.signum();
    }
    let finger = chains.iter().find(|(digit, _)| *digit != Digit::Thumb);
    let along = finger.and_then(|(_, joints)| builder.along(joints[0]));
    let Some(along) = along else { return 1.0 };
    // Where fingertips move to, for a positive rotation.
    let palm = across.cross(&along);
    if let Some(axes) = BodyAxes::of(builder, roles) {
        let inward = match side {
            Side::Left => -axes.left,
            Side::Right => axes.left,
        };
        let facing = palm.dot(&(inward - axes.up));
        if facing.abs() > 0.3 {
            return facing.signum();
        }
    }
    let thumb = chains.iter().find(|(digit, _)| *digit == Digit::Thumb);
    let tip = thumb.and_then(|(_, joints)| builder.direction(*joints.first()?, *joints.last()?));
    match tip.map(|tip| tip.dot(&palm)) {
        Some(towards) if towards < 0.0 => -1.0,
        _ => 1.0,
    }
}
