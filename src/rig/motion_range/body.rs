//! Movements of a body: which there are, elbow and knee, spine and neck.

use super::arm::{forearm_twist, shoulder, wrist};
use super::leg::{both_legs, foot, four_legs, hip};
use super::{Builder, MovementName, limb_of, side_of, spread, turn};
use crate::math::Vec64;
use crate::rig::Trs;
use crate::rig::body_axes::BodyAxes;
use crate::rig::ik::Limb;
use crate::rig::ik::limb::limbs_of;
use crate::rig::retarget::{JointRoles, Role, Side};

/// Bends of elbow and knee, degrees, of someone who stands on two legs.
const OF_TWO: [f64; 5] = [30.0, 60.0, 90.0, 120.0, 150.0];
/// The same of a body on four legs, whose limbs are bent at rest.
const OF_FOUR: [f64; 4] = [30.0, 60.0, 90.0, 120.0];
/// Adds all movements of the body.
pub(super) fn add(builder: &mut Builder<'_>, roles: &JointRoles) {
    let limbs = limbs_of(builder.rest.skeleton, roles);
    match builder.axes {
        Some(axes) if axes.four_legged => {
            limb(
                builder,
                roles,
                &limbs,
                (Role::Forearm, "elbow", "Elbow"),
                &OF_FOUR,
            );
            limb(
                builder,
                roles,
                &limbs,
                (Role::Shin, "knee", "Knee"),
                &OF_FOUR,
            );
            four_legs(builder, roles, &axes);
            foot(builder, roles, &axes);
            column(builder, roles, &axes);
        }
        axes => {
            limb(
                builder,
                roles,
                &limbs,
                (Role::Forearm, "elbow", "Elbow"),
                &OF_TWO,
            );
            forearm_twist(builder, roles);
            wrist(builder, roles);
            if let Some(axes) = axes {
                shoulder(builder, roles, &axes);
            }
            limb(
                builder,
                roles,
                &limbs,
                (Role::Shin, "knee", "Knee"),
                &OF_TWO,
            );
            let Some(axes) = axes else { return };
            hip(builder, roles, &axes);
            both_legs(builder, roles, &limbs, &axes);
            foot(builder, roles, &axes);
            column(builder, roles, &axes);
        }
    }
}

/// World axis of a limb's hinge at rest.
fn hinge(builder: &Builder<'_>, limb: &Limb) -> Vec64 {
    Trs::from_affine(&builder.rest.world[limb.upper]).rotation * limb.hinge
}

/// Bend of a limb at rest, radians.
fn rest_bend(builder: &Builder<'_>, limb: &Limb) -> Option<f64> {
    let upper = builder.rest.direction(limb.upper, limb.lower)?;
    let lower = builder.rest.direction(limb.lower, limb.end)?;
    let hinge = hinge(builder, limb);
    Some(upper.cross(&lower).dot(&hinge).atan2(upper.dot(&lower)))
}

/// Elbow and knee: angles are those between the bones.
fn limb(
    builder: &mut Builder<'_>,
    roles: &JointRoles,
    limbs: &[Limb],
    (role, id, label): (fn(Side) -> Role, &str, &str),
    angles_deg: &[f64],
) {
    let Some(side) = side_of(roles, role) else {
        return;
    };
    let Some(limb) = limb_of(roles, limbs, role(side)) else {
        return;
    };
    let (axis, bent) = (hinge(builder, limb), rest_bend(builder, limb));
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("{id}{id_end}"),
        label: &format!("{label}{label_end}"),
        joint: limb.lower,
    };
    // Less than a degree beyond rest is no movement.
    builder.add(&name, angles_deg, |angle| {
        let more = angle - bent?;
        (more > 1_f64.to_radians()).then(|| vec![(limb.lower, turn(&axis, more))])
    });
}

/// Spine, and neck with head.
fn column(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let spine = roles.joints(Role::Spine);
    let neck = [roles.joints(Role::Neck), roles.joints(Role::Head)].concat();
    // A spine that points to the front bends to the side about the vertical and twists about itself.
    let [aside, about] = if axes.four_legged {
        [axes.up, axes.front]
    } else {
        [axes.front, axes.up]
    };
    let ways = [
        (
            "spine",
            "Spine forward",
            spine,
            axes.left,
            &[-30.0, 30.0, 60.0][..],
        ),
        (
            "spine-side",
            "Spine to the side",
            spine,
            aside,
            &[30.0, 60.0],
        ),
        ("spine-twist", "Spine twist", spine, about, &[30.0, 60.0]),
        ("neck", "Neck forward", &neck, axes.left, &[-40.0, 50.0]),
        ("neck-side", "Neck to the side", &neck, axes.front, &[35.0]),
        ("neck-turn", "Neck turn", &neck, axes.up, &[40.0, 80.0]),
    ];
    for (id, label, joints, axis, angles) in ways {
        let Some(&joint) = joints.first() else {
            continue;
        };
        let name = MovementName { id, label, joint };
        builder.add(&name, angles, |angle| Some(spread(joints, &axis, angle)));
    }
}
