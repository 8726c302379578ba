//! Movements of a person's arm: twist of the forearm, wrist, shoulder.

use super::{Builder, MovementName, side_of, turn};
use crate::math::{Quat, Vec64};
use crate::rig::body_axes::BodyAxes;
use crate::rig::palm::Palm;
use crate::rig::rest_shape::across;
use crate::rig::retarget::{JointRoles, Role, Side};

/// Twist of the forearm. Half a turn to both sides would be one rotation, so it stays a little below.
pub(super) fn forearm_twist(builder: &mut Builder<'_>, roles: &JointRoles) {
    let Some(side) = side_of(roles, Role::Hand) else {
        return;
    };
    let (Some(forearm), Some(hand)) = (
        roles.first(Role::Forearm(side)),
        roles.first(Role::Hand(side)),
    ) else {
        return;
    };
    let Some(along) = builder.rest.direction(forearm, hand) else {
        return;
    };
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("forearm-twist{id_end}"),
        label: &format!("Forearm twist{label_end}"),
        joint: hand,
    };
    builder.add(&name, &[-170.0, -90.0, 90.0, 170.0], |angle| {
        Some(vec![(hand, turn(&along, angle))])
    });
}

/// Bend of the wrist about the axis of the fingers; without fingers, towards the palm of someone whose arms hang or reach to the sides.
pub(super) fn wrist(builder: &mut Builder<'_>, roles: &JointRoles) {
    let Some(side) = side_of(roles, Role::Hand) else {
        return;
    };
    let (Some(forearm), Some(hand)) = (
        roles.first(Role::Forearm(side)),
        roles.first(Role::Hand(side)),
    ) else {
        return;
    };
    let palm = Palm::of(&builder.rest, roles, side).map(|palm| palm.axis);
    let palm = palm.or_else(|| {
        let front = builder.axes?.front;
        Some(if side == Side::Left { -front } else { front })
    });
    let along = builder.rest.direction(forearm, hand);
    let Some(axis) = palm
        .zip(along)
        .and_then(|(palm, along)| across(&palm, &along))
    else {
        return;
    };
    let [id_end, label_end] = builder.side_names(side);
    let name = MovementName {
        id: &format!("wrist{id_end}"),
        label: &format!("Wrist{label_end}"),
        joint: hand,
    };
    builder.add(&name, &[-60.0, 60.0], |angle| {
        Some(vec![(hand, turn(&axis, angle))])
    });
}

/// The arm at elevations above the horizontal plane, to the side and to the front.
pub(super) fn shoulder(builder: &mut Builder<'_>, roles: &JointRoles, axes: &BodyAxes) {
    let Some(side) = side_of(roles, Role::UpperArm) else {
        return;
    };
    let (Some(arm), Some(elbow)) = (
        roles.first(Role::UpperArm(side)),
        roles.first(Role::Forearm(side)),
    ) else {
        return;
    };
    let Some(along) = builder.rest.direction(arm, elbow) else {
        return;
    };
    let outward = axes.outward(side);
    let to = move |from: Vec64, target: Vec64| Quat::rotation_between(&from, &target);
    let horizontal = to(along, outward);
    let raise = move |angle: f64| turn(&outward.cross(&axes.up), angle);
    let [id_end, label_end] = builder.side_names(side);
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
