//! Fingers: the fist, and single fingers of a hand without a body.

use super::{Builder, MovementName, Turns, turn};
use crate::rig::palm::{Finger, Palm};
use crate::rig::retarget::{Digit, JointRoles, Role, Side};

/// A thumb turns by this part of what fingers turn.
const THUMB: f64 = 0.4;
/// Bend of each joint, degrees.
const ANGLES: [f64; 3] = [30.0, 60.0, 80.0];

/// Adds the movements of one hand.
pub(super) fn add(builder: &mut Builder<'_>, roles: &JointRoles) {
    let found = Side::BOTH
        .into_iter()
        .find_map(|side| Some((side, Palm::of(&builder.rest, roles, side)?)));
    let Some((side, Palm { fingers, .. })) = found else {
        return;
    };
    let Some(&joint) = fingers.first().and_then(|finger| finger.joints.first()) else {
        return;
    };
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("fist{id_end}"),
        label: &format!("Fist{label_end}"),
        joint,
    };
    builder.add(&name, &ANGLES, |angle| {
        Some(
            fingers
                .iter()
                .flat_map(|finger| curl(finger, angle))
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
        builder.add(&name, &ANGLES, |angle| Some(curl(finger, angle)));
    }
}

fn curl(finger: &Finger, angle: f64) -> Turns {
    let part = if finger.digit == Digit::Thumb {
        THUMB
    } else {
        1.0
    };
    let joints = finger.joints.iter().rev();
    joints
        .map(|&joint| (joint, turn(&finger.axis, angle * part)))
        .collect()
}
