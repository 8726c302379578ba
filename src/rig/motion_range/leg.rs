//! Movements of legs: of a person, and of a body on four legs.

use super::{Builder, MovementName, Turns, limb_of, side_of, spread, turn};
use crate::math::Vec64;
use crate::rig::body_axes::BodyAxes;
use crate::rig::ik::Limb;
use crate::rig::rest_shape::across;
use crate::rig::retarget::{JointRoles, Role, Side};

/// A leg whose direction has at least this part to the outside sprawls, as a lizard's does: it is raised instead of moved to the side.
const SPRAWLS: f64 = 0.7;

/// The thigh forwards, backwards and to the side.
pub(super) fn hip(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::Thigh) else {
        return;
    };
    let bone = [Role::Thigh(side), Role::Shin(side)];
    let forward = ("hip", "Hip forward", axes.front);
    swing(
        builder,
        roles,
        bone,
        forward,
        &[-20.0, 30.0, 60.0, 90.0, 120.0],
    );
    let sideways = ("hip-side", "Hip to the side", axes.outward(side));
    swing(builder, roles, bone, sideways, &[20.0, 40.0]);
}

/// Front and hind legs of a body on four legs: towards the head and back, and to the side, or up where they sprawl.
pub(super) fn four_legs(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    type Bone = [fn(Side) -> Role; 2];
    const LEGS: [(Bone, [[&str; 2]; 3]); 2] = [
        (
            [Role::UpperArm, Role::Forearm],
            [
                ["front-leg", "Front leg forward"],
                ["front-leg-side", "Front leg to the side"],
                ["front-leg-raised", "Front leg raised"],
            ],
        ),
        (
            [Role::Thigh, Role::Shin],
            [
                ["hind-leg", "Hind leg forward"],
                ["hind-leg-side", "Hind leg to the side"],
                ["hind-leg-raised", "Hind leg raised"],
            ],
        ),
    ];
    for (bone, [forward, sideways, raised]) in LEGS {
        let Some(side) = side_of(roles, bone[0]) else {
            continue;
        };
        let bone = bone.map(|role| role(side));
        let [Some(upper), Some(lower)] = bone.map(|role| roles.first(role)) else {
            continue;
        };
        let outward = axes.outward(side);
        let along = builder.rest.direction(upper, lower);
        let sprawls = along.is_some_and(|along| along.dot(&outward) > SPRAWLS);
        let way = |[id, label]: [&'static str; 2], way: Vec64| (id, label, way);
        swing(
            builder,
            roles,
            bone,
            way(forward, axes.front),
            &[-30.0, 30.0, 60.0],
        );
        if sprawls {
            let raised = way(raised, axes.up);
            swing(builder, roles, bone, raised, &[-30.0, 30.0]);
        } else {
            let sideways = way(sideways, outward);
            swing(builder, roles, bone, sideways, &[20.0, 40.0]);
        }
    }
}

/// The bone from one joint to another, swung towards a direction.
fn swing(
    builder: &mut Builder<'_>,
    roles: &JointRoles,
    [upper, lower]: [Role; 2],
    (id, label, way): (&str, &str, Vec64),
    angles_deg: &[f64],
) {
    let (Some(joint), Some(lower), Some(side)) =
        (roles.first(upper), roles.first(lower), upper.side())
    else {
        return;
    };
    let along = builder.rest.direction(joint, lower);
    let Some(axis) = along.and_then(|along| Some(along.cross(&across(&way, &along)?))) else {
        return;
    };
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("{id}{id_end}"),
        label: &format!("{label}{label_end}"),
        joint,
    };
    builder.add(&name, angles_deg, |angle| {
        Some(vec![(joint, turn(&axis, angle))])
    });
}

/// Crouch and sit: hips and knees of both legs turn by the same angle.
pub(super) fn both_legs(
    builder: &mut Builder<'_>,
    roles: &JointRoles,
    limbs: &[Limb],
    axes: &BodyAxes,
) {
    let legs: Vec<&Limb> = Side::BOTH
        .iter()
        .filter_map(|&side| limb_of(roles, limbs, Role::Shin(side)))
        .collect();
    let [a, b] = legs.as_slice() else { return };
    // Right-handed about the body's left, a thigh that hangs down turns backwards.
    let turns = |angle: f64| -> Turns {
        [a, b]
            .into_iter()
            .flat_map(|leg| {
                [
                    (leg.lower, turn(&axes.left, angle)),
                    (leg.upper, turn(&axes.left, -angle)),
                ]
            })
            .collect()
    };
    for (id, label, angles) in [
        ("crouch", "Crouch", &[60.0, 110.0][..]),
        ("sit", "Sit", &[90.0][..]),
    ] {
        let name = MovementName {
            id,
            label,
            joint: a.upper,
        };
        // Sitting, the shins hang down; crouching, knees bend as far as hips, too, and the spine bends forward.
        let spine = roles.joints(Role::Spine);
        builder.add(&name, angles, |angle| {
            let mut turns = turns(angle);
            if id == "crouch" && !spine.is_empty() {
                turns.extend(spread(spine, &axes.left, angle / 4.0));
            }
            Some(turns)
        });
    }
}

pub(super) fn foot(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::Foot) else {
        return;
    };
    let Some(foot) = roles.first(Role::Foot(side)) else {
        return;
    };
    let toe = roles.first(Role::Toe(side));
    let along = toe
        .and_then(|toe| builder.rest.direction(foot, toe))
        .unwrap_or(axes.front);
    let Some(down) = across(&-axes.up, &along) else {
        return;
    };
    let axis = along.cross(&down);
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("foot{id_end}"),
        label: &format!("Foot{label_end}"),
        joint: foot,
    };
    builder.add(&name, &[-30.0, 40.0], |angle| {
        Some(vec![(foot, turn(&axis, angle))])
    });
}
