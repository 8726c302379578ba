//! Movements of a body: arms, legs, spine, neck and feet.

use super::{Builder, MovementName, Turns, spread, turn};
use crate::math::{Quat, Vec64};
use crate::rig::Trs;
use crate::rig::ik::{IkRig, Limb};
use crate::rig::retarget::{JointRoles, Role, Side};

/// Axes of the body at rest, unit vectors perpendicular to each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyAxes {
    pub(super) left: Vec64,
    pub(super) up: Vec64,
    pub(super) front: Vec64,
}

impl BodyAxes {
    /// From the legs, and what is above them.
    pub(super) fn of(builder: &Builder<'_>, roles: &JointRoles) -> Option<Self> {
        let front = crate::rig::ik::limb::front_of(&builder.world, roles)?;
        let [left, right] = Side::BOTH.map(|side| {
            roles
                .first(Role::Thigh(side))
                .map(|joint| builder.place(joint))
        });
        let left = builder.unit(left? - right?)?;
        let up = builder.unit(front.cross(&left))?;
        Some(Self { left, up, front })
    }
}

/// The side that moves: the left one, or the right one if there is no left one.
pub(super) fn side_of(roles: &JointRoles, role: fn(Side) -> Role) -> Option<Side> {
    Side::BOTH
        .into_iter()
        .find(|&side| roles.first(role(side)).is_some())
}

/// Ends of ids and labels of a side.
pub(super) fn side_names(side: Side) -> [&'static str; 2] {
    match side {
        Side::Left => [".l", ", left"],
        Side::Right => [".r", ", right"],
    }
}

/// Adds all movements of the body.
pub(super) fn add(builder: &mut Builder<'_>, roles: &JointRoles) {
    let rig = IkRig::of(builder.skeleton);
    let axes = BodyAxes::of(builder, roles);
    limb(builder, roles, &rig, (Role::Forearm, "elbow", "Elbow"));
    arm_ends(builder, roles, &rig);
    if let Some(axes) = axes {
        shoulder(builder, roles, &axes);
    }
    limb(builder, roles, &rig, (Role::Shin, "knee", "Knee"));
    let Some(axes) = axes else { return };
    hip(builder, roles, &axes);
    both_legs(builder, roles, &rig, &axes);
    foot(builder, roles, &axes);
    column(builder, roles, &axes);
}

fn limb_of<'a>(roles: &JointRoles, rig: &'a IkRig, lower: Role) -> Option<&'a Limb> {
    let lower = roles.first(lower)?;
    rig.limbs().iter().find(|limb| limb.lower == lower)
}

/// World axis of a limb's hinge at rest.
fn hinge(builder: &Builder<'_>, limb: &Limb) -> Vec64 {
    Trs::from_affine(&builder.world[limb.upper]).rotation * limb.hinge
}

/// Bend of a limb at rest, radians.
fn rest_bend(builder: &Builder<'_>, limb: &Limb) -> Option<f64> {
    let upper = builder.direction(limb.upper, limb.lower)?;
    let lower = builder.direction(limb.lower, limb.end)?;
    let hinge = hinge(builder, limb);
    Some(upper.cross(&lower).dot(&hinge).atan2(upper.dot(&lower)))
}

/// Elbow and knee: angles are those between the bones.
fn limb(
    builder: &mut Builder<'_>,
    roles: &JointRoles,
    rig: &IkRig,
    (role, id, label): (fn(Side) -> Role, &str, &str),
) {
    let Some(side) = side_of(roles, role) else {
        return;
    };
    let Some(limb) = limb_of(roles, rig, role(side)) else {
        return;
    };
    let (axis, bent) = (hinge(builder, limb), rest_bend(builder, limb));
    let [id_end, label_end] = side_names(side);
    let name = MovementName {
        id: &format!("{id}{id_end}"),
        label: &format!("{label}{label_end}"),
        joint: limb.lower,
    };
    // Less than a degree beyond rest is no movement.
    builder.add(&name, &[30.0, 60.0, 90.0, 120.0, 150.0], |angle| {
        let more = angle - bent?;
        (more > 1_f64.to_radians()).then(|| vec![(limb.lower, turn(&axis, more))])
    });
}

/// Twist of the forearm, and bend of the wrist.
fn arm_ends(builder: &mut Builder<'_>, roles: &JointRoles, rig: &IkRig) {
    let Some(side) = side_of(roles, Role::Hand) else {
        return;
    };
    let Some(limb) = limb_of(roles, rig, Role::Forearm(side)) else {
        return;
    };
    let hand = limb.end;
    let Some(along) = builder.direction(limb.lower, hand) else {
        return;
    };
    let bend = hinge(builder, limb);
    let [id_end, label_end] = side_names(side);
    let name = MovementName {
        id: &format!("forearm-twist{id_end}"),
        label: &format!("Forearm twist{label_end}"),
        joint: hand,
    };
    builder.add(&name, &[-180.0, -90.0, 90.0, 180.0], |angle| {
        Some(vec![(hand, turn(&along, angle))])
    });
    let name = MovementName {
        id: &format!("wrist{id_end}"),
        label: &format!("Wrist{label_end}"),
        joint: hand,
    };
    builder.add(&name, &[-60.0, 60.0], |angle| {
        Some(vec![(hand, turn(&bend, angle))])
    });
}

/// The arm at elevations above the horizontal plane, to the side and to the front.
fn shoulder(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::UpperArm) else {
        return;
    };
    let (Some(arm), Some(elbow)) = (
        roles.first(Role::UpperArm(side)),
        roles.first(Role::Forearm(side)),
    ) else {
        return;
    };
    let Some(along) = builder.direction(arm, elbow) else {
        return;
    };
    let outward = match side {
        Side::Left => axes.left,
        Side::Right => -axes.left,
    };
    let to = move |from: Vec64, target: Vec64| Quat::rotation_between(&from, &target);
    let horizontal = to(along, outward);
    let raise = move |angle: f64| turn(&outward.cross(&axes.up), angle);
    let [id_end, label_end] = side_names(side);
    let name = |id: &str, label: &str| (format!("{id}{id_end}"), format!("{label}{label_end}"));
    let (id, label) = name("arm-side", "Arm to the side");
    let movement = MovementName {
        id: &id,
        label: &label,
        joint: arm,
    };
    builder.add(&movement, &[-80.0, -40.0, 0.0, 40.0, 80.0], |angle| {
        Some(vec![(arm, raise(angle) * horizontal?)])
    });
    let (id, label) = name("arm-front", "Arm to the front");
    let movement = MovementName {
        id: &id,
        label: &label,
        joint: arm,
    };
    builder.add(&movement, &[-45.0, 0.0, 45.0], |angle| {
        let forward = turn(&outward.cross(&axes.front), std::f64::consts::FRAC_PI_2);
        let raise = turn(&axes.front.cross(&axes.up), angle);
        Some(vec![(arm, raise * forward * horizontal?)])
    });
    let Some(clavicle) = roles.first(Role::Clavicle(side)) else {
        return;
    };
    let (id, label) = name("reach", "Raised arm with clavicle");
    let movement = MovementName {
        id: &id,
        label: &label,
        joint: arm,
    };
    builder.add(&movement, &[80.0], |angle| {
        let of_clavicle = 25_f64.to_radians();
        let arm_turn = raise(angle - of_clavicle) * horizontal?;
        Some(vec![(arm, arm_turn), (clavicle, raise(of_clavicle))])
    });
}

/// The thigh forwards, backwards and to the side.
fn hip(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::Thigh) else {
        return;
    };
    let (Some(thigh), Some(knee)) = (
        roles.first(Role::Thigh(side)),
        roles.first(Role::Shin(side)),
    ) else {
        return;
    };
    let Some(along) = builder.direction(thigh, knee) else {
        return;
    };
    let outward = match side {
        Side::Left => axes.left,
        Side::Right => -axes.left,
    };
    let [id_end, label_end] = side_names(side);
    let ways = [
        (
            "hip",
            "Hip forward",
            axes.front,
            &[-20.0, 30.0, 60.0, 90.0, 120.0][..],
        ),
        ("hip-side", "Hip to the side", outward, &[20.0, 40.0][..]),
    ];
    for (id, label, way, angles) in ways {
        let Some(axis) = builder.unit(along.cross(&way)) else {
            continue;
        };
        let name = MovementName {
            id: &format!("{id}{id_end}"),
            label: &format!("{label}{label_end}"),
            joint: thigh,
        };
        builder.add(&name, angles, |angle| {
            Some(vec![(thigh, turn(&axis, angle))])
        });
    }
}

/// Crouch and sit: hips and knees of both legs turn by the same angle.
fn both_legs(builder: &mut Builder<'_>, roles: &JointRoles, rig: &IkRig, axes: &BodyAxes) {
    let legs: Vec<&Limb> = Side::BOTH
        .iter()
        .filter_map(|&side| limb_of(roles, rig, Role::Shin(side)))
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

fn foot(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::Foot) else {
        return;
    };
    let Some(foot) = roles.first(Role::Foot(side)) else {
        return;
    };
    let toe = roles.first(Role::Toe(side));
    let along = toe
        .and_then(|toe| builder.direction(foot, toe))
        .unwrap_or(axes.front);
    let Some(axis) = builder.unit(along.cross(&-axes.up)) else {
        return;
    };
    let [id_end, label_end] = side_names(side);
    let name = MovementName {
        id: &format!("foot{id_end}"),
        label: &format!("Foot{label_end}"),
        joint: foot,
    };
    builder.add(&name, &[-30.0, 40.0], |angle| {
        Some(vec![(foot, turn(&axis, angle))])
    });
}

/// Spine, and neck with head.
fn column(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let spine = roles.joints(Role::Spine);
    let neck = [roles.joints(Role::Neck), roles.joints(Role::Head)].concat();
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
            axes.front,
            &[30.0, 60.0],
        ),
        ("spine-twist", "Spine twist", spine, axes.up, &[30.0, 60.0]),
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
