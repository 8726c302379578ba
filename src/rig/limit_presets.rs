//! Joint limits of a human body, by joint role.
//!
//! Ranges are those of an adult as measured in ergonomics and physiotherapy (rounded from the
//! American Academy of Orthopaedic Surgeons' "Joint Motion", 1965), relative to a stance with
//! hanging arms and straight legs. The rest pose may differ (T-pose); shoulders therefore get the
//! union of both.

use super::body_axes::BodyAxes;
use super::ik::IkRig;
use super::limits::{Limit, LimitMap};
use super::palm::Palm;
use super::rest_shape::{RestShape, across};
use super::retarget::{Digit, JointRoles, Role, Side};
use super::{Skeleton, Trs};
use crate::math::{Affine, Quat, Vec64, origin_of};

/// Degrees: flexion, sideways, twist.
type AngleRanges = ([f64; 2], [f64; 2], [f64; 2]);

/// Limits for all joints with a human role; none if neither arms nor legs are recognised, or if the body stands on four legs.
#[must_use]
pub fn human_limits(skeleton: &Skeleton) -> LimitMap {
    let roles = JointRoles::of(skeleton);
    let rig = IkRig::of(skeleton);
    let rest = RestShape::new(skeleton);
    let axes = BodyAxes::of(&rest.world, &roles);
    let mut limits = LimitMap::new();
    if axes.is_some_and(|axes| axes.four_legged) {
        return limits;
    }
    if !Side::BOTH.iter().any(|&side| {
        roles.first(Role::Thigh(side)).is_some() || roles.first(Role::UpperArm(side)).is_some()
    }) {
        return limits;
    }
    let palms = Side::BOTH.map(|side| (side, Palm::of(&rest, &roles, side)));
    for (role, joints) in roles.iter() {
        // A chain shares the range of its body part.
        let share = match role {
            Role::Spine | Role::Neck => 1.0 / joints.len() as f64,
            _ => 1.0,
        };
        for (place, &joint) in joints.iter().enumerate() {
            let Some(ranges) = ranges_of(role, place) else {
                continue;
            };
            let flex = flex_of_hand(&palms, role, joint)
                .or_else(|| flex_axis(&rest, &rig, joint, axes.as_ref()));
            limits.insert(joint, limit(&rest, joint, flex, ranges, share));
        }
    }
    for limb in rig.limbs() {
        let lower = limb.lower;
        if let Some(limit) = limits.get_mut(&lower) {
            let bent = rest_bend(&rest.world, [limb.upper, limb.lower, limb.end]);
            // The range starts where the limb is straight.
            limit.swing_y = [limit.swing_y[0] - bent, limit.swing_y[1] - bent];
        }
    }
    limits
        .into_iter()
        .map(|(joint, limit)| (joint, limit.sanitized()))
        .collect()
}

fn ranges_of(role: Role, place: usize) -> Option<AngleRanges> {
    let same = |most: f64| [-most, most];
    Some(match role {
        Role::Hips => return None,
        Role::Spine => ([-35.0, 80.0], same(40.0), same(45.0)),
        Role::Neck => ([-40.0, 40.0], same(35.0), same(45.0)),
        Role::Head => ([-30.0, 30.0], same(20.0), same(45.0)),
        Role::Clavicle(_) => (same(25.0), same(25.0), same(15.0)),
        Role::UpperArm(_) => (same(130.0), same(110.0), same(95.0)),
        // Without a twist bone, forearm twist is applied at the hand.
        Role::Forearm(_) => ([-3.0, 150.0], [0.0, 0.0], same(85.0)),
        Role::Hand(_) => (same(75.0), same(30.0), same(85.0)),
        Role::Finger(_, Digit::Thumb) => (same(50.0), same(35.0), same(25.0)),
        Role::Finger(..) if place == 0 => (same(92.0), same(20.0), same(8.0)),
        Role::Finger(..) => (same(105.0), same(3.0), same(3.0)),
        Role::Thigh(_) => ([-35.0, 125.0], same(50.0), same(50.0)),
        Role::Shin(_) => ([-2.0, 150.0], [0.0, 0.0], same(12.0)),
        Role::Foot(_) => ([-50.0, 35.0], same(25.0), same(20.0)),
        Role::Toe(_) => ([-60.0, 40.0], same(8.0), same(5.0)),
    })
}

/// The axis about which a hand or a finger bends towards the palm, world space at rest.
pub(super) fn flex_of_hand(
    palms: &[(Side, Option<Palm>); 2],
    role: Role,
    joint: usize,
) -> Option<Vec64> {
    let (Role::Hand(side) | Role::Finger(side, _)) = role else {
        return None;
    };
    let (_, palm) = palms.iter().find(|(of, _)| *of == side)?;
    let palm = palm.as_ref()?;
    let finger = palm.fingers.iter().find(|f| f.joints.contains(&joint));
    Some(finger.map_or(palm.axis, |finger| finger.axis))
}

/// The flexion axis of a joint, world space at rest: a limb's hinge, or the axis across the bone
/// that moves its end to the front, or up where the bone points to the front, as a foot does.
pub(super) fn flex_axis(
    rest: &RestShape<'_>,
    rig: &IkRig,
    joint: usize,
    axes: Option<&BodyAxes>,
) -> Option<Vec64> {
    if let Some(limb) = rig.limbs().iter().find(|limb| limb.lower == joint) {
        return Some(Trs::from_affine(&rest.world[limb.upper]).rotation * limb.hinge);
    }
    let (along, axes) = (rest.along(joint)?, axes?);
    Some(match across(&axes.front, &along) {
        Some(front) => along.cross(&front),
        None => -axes.left,
    })
}

fn limit(
    rest: &RestShape<'_>,
    joint: usize,
    flex: Option<Vec64>,
    (flexion, side, twist): AngleRanges,
    share: f64,
) -> Limit {
    let own = &rest.skeleton.joints()[joint];
    let base = own.parent.map_or(own.parent_from_base, |parent| {
        rest.world[parent] * own.parent_from_base
    });
    let base_from_world: Quat = Trs::from_affine(&base).rotation.inverse();
    let radians = |range: [f64; 2]| range.map(|angle: f64| (angle * share).to_radians());
    Limit {
        base_from_limit: Limit::axes_for(
            rest.skeleton,
            joint,
            flex.map(|flex| base_from_world * flex),
        ),
        twist: radians(twist),
        swing_y: radians(flexion),
        swing_z: radians(side),
    }
}

/// Bend angle of two bones at rest.
fn rest_bend(world: &[Affine], [upper, lower, end]: [usize; 3]) -> f64 {
    let [a, b, c] = [upper, lower, end].map(|joint| origin_of(&world[joint]));
    let (first, second) = (b - a, c - b);
    first.cross(&second).norm().atan2(first.dot(&second))
}
