//! Limbs (arms and legs): two bones with a hinge between them, and their detection.

use super::figure::{across, rotation_of};
use crate::math::{Affine, Vec64, origin_of};
use crate::rig::Skeleton;
use crate::rig::body_axes::BodyAxes;
use crate::rig::retarget::{JointRoles, Role, Side};

/// Two rotating bones: from `upper` to `lower`, and from `lower` to `end`. Joints between them keep
/// their local transforms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limb {
    /// Shoulder or hip.
    pub upper: usize,
    /// Elbow or knee.
    pub lower: usize,
    /// Wrist or ankle.
    pub end: usize,
    /// Hinge axis of the lower bone, in the frame of `upper`; positive rotation bends.
    pub hinge: Vec64,
    /// Whether it ends in a foot, which keeps its rotation while toes are dragged.
    pub is_leg: bool,
}

/// For a smaller bend at rest, radians, the bend direction follows from the body rather than from
/// the joints.
const SIGNIFICANT_BEND: f64 = 0.26;

/// All limbs of a skeleton: by the roles of its joints, otherwise every pair of bones between a
/// branching joint and an end.
pub(in crate::rig) fn limbs_of(skeleton: &Skeleton, roles: &JointRoles) -> Vec<Limb> {
    let world = skeleton.world_from_joint(&skeleton.rest_pose());
    let front = BodyAxes::of(&world, roles).map(|axes| axes.front);
    let mut limbs = Vec::new();
    for side in Side::BOTH {
        let arm = [Role::UpperArm(side), Role::Forearm(side), Role::Hand(side)];
        let leg = [Role::Thigh(side), Role::Shin(side), Role::Foot(side)];
        limbs.extend(by_roles(skeleton, roles, arm, &world, front));
        let leg = by_roles(skeleton, roles, leg, &world, front.map(|front| -front));
        limbs.extend(leg.map(|leg| Limb {
            is_leg: true,
            ..leg
        }));
    }
    if limbs.is_empty() {
        limbs.extend((0..skeleton.len()).filter_map(|end| by_shape(skeleton, end, &world)));
    }
    limbs
}

fn by_roles(
    skeleton: &Skeleton,
    roles: &JointRoles,
    of: [Role; 3],
    world: &[Affine],
    towards: Option<Vec64>,
) -> Option<Limb> {
    let [upper, lower] = [roles.first(of[0])?, roles.first(of[1])?];
    // Without a hand, the forearm's farthest child is the end.
    let far = |joint: &usize| (origin_of(&world[*joint]) - origin_of(&world[lower])).norm();
    let end = roles
        .first(of[2])
        .or_else(|| {
            skeleton
                .children(lower)
                .iter()
                .copied()
                .max_by(|a, b| far(a).total_cmp(&far(b)))
        })
        .filter(|&end| skeleton.is_below(end, lower))?;
    skeleton
        .is_below(lower, upper)
        .then(|| limb([upper, lower, end], world, towards))
        .flatten()
}

/// Two bones that start at a branching joint or a root, and end in a leaf, a branching joint, or a
/// short tip.
fn by_shape(skeleton: &Skeleton, end: usize, world: &[Affine]) -> Option<Limb> {
    let parent = |joint: usize| skeleton.joints()[joint].parent;
    let lower = parent(end)?;
    let upper = parent(lower)?;
    let hangs_free = parent(upper).is_none_or(|above| skeleton.children(above).len() > 1);
    let one_way = skeleton.children(upper).len() == 1 && skeleton.children(lower).len() == 1;
    let length = |joint: usize| {
        parent(joint).map_or(0.0, |above| {
            (origin_of(&world[joint]) - origin_of(&world[above])).norm()
        })
    };
    let ends = match skeleton.children(end) {
        [tip] => {
            skeleton.children(*tip).is_empty()
                && length(*tip) < 0.5 * length(end).min(length(lower))
        }
        _ => true,
    };
    (hangs_free && one_way && ends)
        .then(|| limb([upper, lower, end], world, None))
        .flatten()
}

fn limb([upper, lower, end]: [usize; 3], world: &[Affine], towards: Option<Vec64>) -> Option<Limb> {
    let [shoulder, elbow, wrist] = [upper, lower, end].map(|joint| origin_of(&world[joint]));
    let axis = (wrist - shoulder).try_normalize(1e-12)?;
    let (first, second) = (
        (elbow - shoulder).try_normalize(1e-12)?,
        (wrist - elbow).try_normalize(1e-12)?,
    );
    let bent = first.cross(&second);
    let suggested = towards.and_then(|towards| across(&axis.cross(&towards), &axis));
    let normal = match (bent.norm() > SIGNIFICANT_BEND.sin(), suggested) {
        (false, Some(suggested)) => suggested,
        (false, None) if bent.norm() < 1e-4 => any_across(&axis),
        _ => bent.normalize(),
    };
    Some(Limb {
        upper,
        lower,
        end,
        hinge: rotation_of(&world[upper]).inverse() * normal,
        is_leg: false,
    })
}

/// A unit vector perpendicular to a unit vector.
pub(in crate::rig) fn any_across(axis: &Vec64) -> Vec64 {
    let helper = if axis.z.abs() < 0.7 {
        Vec64::z()
    } else {
        Vec64::y()
    };
    axis.cross(&helper).normalize()
}
