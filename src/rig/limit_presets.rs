//! Joint limits of a human body, by joint role.
//!
//! Ranges are those of an adult as measured in ergonomics and physiotherapy (rounded from the
//! American Academy of Orthopaedic Surgeons' "Joint Motion", 1965), relative to a stance with
//! hanging arms and straight legs. The rest pose may differ (T-pose); shoulders therefore get the
//! union of both.

use super::ik::IkRig;
use super::ik::limb::front_of;
use super::limits::{Limit, LimitMap};
use super::retarget::{Digit, JointRoles, Role, Side};
use super::{Skeleton, Trs};
use crate::math::{Affine, Quat, Vec64, origin_of};

/// Degrees: flexion, sideways, twist.
type AngleRanges = ([f64; 2], [f64; 2], [f64; 2]);

/// Limits for all joints with a human role; none if neither arms nor legs are recognised.
#[must_use]
pub fn human_limits(skeleton: &Skeleton) -> LimitMap {
    let roles = JointRoles::of(skeleton);
    let rig = IkRig::of(skeleton);
    let world = skeleton.world_from_joint(&skeleton.rest_pose());
    let front = front_of(&world, &roles);
    let mut limits = LimitMap::new();
    if !Side::BOTH.iter().any(|&side| {
        roles.first(Role::Thigh(side)).is_some() || roles.first(Role::UpperArm(side)).is_some()
    }) {
        return limits;
    }
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
            let flex = flex_axis(skeleton, &rig, &world, joint, front);
            limits.insert(joint, limit(skeleton, &world, joint, flex, ranges, share));
        }
    }
    for limb in rig.limbs() {
        let lower = limb.lower;
        if let Some(limit) = limits.get_mut(&lower) {
            let bent = rest_bend(&world, [limb.upper, limb.lower, limb.end]);
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

/// The flexion axis of a joint, world space at rest: a limb's hinge, or the axis across the bone
/// that moves its end to the front.
fn flex_axis(
    skeleton: &Skeleton,
    rig: &IkRig,
    world: &[Affine],
    joint: usize,
    front: Option<Vec64>,
) -> Option<Vec64> {
    if let Some(limb) = rig.limbs().iter().find(|limb| limb.lower == joint) {
        return Some(Trs::from_affine(&world[limb.upper]).rotation * limb.hinge);
    }
    let place = |joint: usize| origin_of(&world[joint]);
    let far = |child: &&usize| (place(**child) - place(joint)).norm();
    let along = match skeleton
        .children(joint)
        .iter()
        .max_by(|a, b| far(a).total_cmp(&far(b)))
    {
        Some(&child) => place(child) - place(joint),
        None => {
            place(joint)
                - skeleton.joints()[joint]
                    .parent
                    .map_or_else(crate::math::Point64::origin, place)
        }
    };
    front.map(|front| along.cross(&front))
}

fn limit(
    skeleton: &Skeleton,
    world: &[Affine],
    joint: usize,
    flex: Option<Vec64>,
    (flexion, side, twist): AngleRanges,
    share: f64,
) -> Limit {
    let own = &skeleton.joints()[joint];
    let base = own.parent.map_or(own.parent_from_base, |parent| {
        world[parent] * own.parent_from_base
    });
    let base_from_world: Quat = Trs::from_affine(&base).rotation.inverse();
    let radians = |range: [f64; 2]| range.map(|angle: f64| (angle * share).to_radians());
    Limit {
        base_from_limit: Limit::axes_for(skeleton, joint, flex.map(|flex| base_from_world * flex)),
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
