//! The range of motion: a set of poses for any body, hand or chain of joints, to compare skinning methods on.
//!
//! Movements are found by the roles of joints ([`JointRoles`]) and made by the axes of the body (left, up, front at rest), never by
//! those of the file: the same body gives the same poses with other names, local axes, or another up axis. Of paired limbs the left
//! one moves, and the right one if there is no left one; most characters are symmetric. Bodies on four legs have movements of their own.
//!
//! | movement                                | degrees                     | 0 is                                        |
//! |-----------------------------------------|-----------------------------|---------------------------------------------|
//! | elbow, knee                             | 30 to 150                   | the straight limb                           |
//! | forearm twist, applied at the hand      | −170, −90, 90, 170          | rest                                        |
//! | wrist bend                              | −60, 60                     | rest; positive bends towards the palm        |
//! | arm to the side, arm to the front       | −80 to 80, −45 to 45        | the horizontal arm                          |
//! | raised arm with clavicle                | 80                          | the horizontal arm                          |
//! | hip forward, hip to the side            | −20 to 120, 20 to 40        | rest                                        |
//! | crouch, sit (both legs)                 | 60 and 110, 90              | rest                                        |
//! | spine forward, to the side, twist       | −30 to 60, 30 and 60        | rest; spread evenly over its joints          |
//! | neck forward, to the side, turn         | −40 to 50, 35, 40 and 80    | rest; spread evenly over neck and head       |
//! | foot                                    | −30, 40                     | rest; positive points the toes               |
//! | front and hind leg of four-legged bodies, forward, and to the side or raised | −30 to 60, −30 to 40 | rest            |
//! | fist, each finger of a lone hand        | 30 to 80 at each joint      | rest; the thumb turns less                   |
//! | chains without a role, such as tails    | −90 to 90 in two directions | rest                                        |
//! | joints, where hardly a role is found    | −60 to 60                   | rest                                        |
//!
//! Angles are those of ergonomics where there are any (see [`human_limits`](super::human_limits)); the set follows what papers on
//! skinning show.

mod arm;
mod body;
mod generic;
mod hand;
mod leg;
#[cfg(test)]
mod tests;

use super::body_axes::BodyAxes;
use super::ik::Limb;
use super::rest_shape::RestShape;
use super::retarget::{JointRoles, Role, Side};
use super::{Pose, Skeleton};
use crate::math::{Quat, Vec64};

/// Rotations of joints about the world's axes through them, children before their parents, so that a parent's rotation carries its
/// children.
type Turns = Vec<(usize, Quat)>;

/// A pose of the range of motion.
#[derive(Debug, Clone, PartialEq)]
pub struct RangePose {
    /// Unique in the set, of lower-case letters, digits, dots and hyphens, as in `elbow.l-120`.
    pub id: String,
    /// For people, as in "Elbow, left, 120°".
    pub label: String,
    /// The movement, for people; its poses follow each other by increasing angle.
    pub movement: String,
    /// Angle of the movement, degrees.
    pub angle_deg: f64,
    /// The pose.
    pub pose: Pose,
    /// The joint that the movement bends, or the first of several.
    pub joint: usize,
}

/// The poses of a skeleton; none if no joint bends.
#[must_use]
pub fn motion_range(skeleton: &Skeleton) -> Vec<RangePose> {
    let mut roles = JointRoles::of(skeleton);
    // A lone arm or leg needs no side in its names.
    let is_lone = |roles: &JointRoles| roles.iter().all(|(role, _)| role.side().is_none());
    let lone = is_lone(&roles);
    if lone {
        let limb = JointRoles::of_lone_limb(skeleton);
        if !is_lone(&limb) {
            roles = limb;
        }
    }
    let rest = RestShape::new(skeleton);
    let mut builder = Builder {
        axes: BodyAxes::of(&rest.world, &roles),
        rest,
        names_sides: !lone,
        poses: Vec::new(),
    };
    body::add(&mut builder, &roles);
    hand::add(&mut builder, &roles);
    generic::add(&mut builder, &roles);
    builder.poses
}

/// Collects poses.
struct Builder<'a> {
    rest: RestShape<'a>,
    axes: Option<BodyAxes>,
    /// Whether ids and labels name the side: not for a limb without a side in its names.
    names_sides: bool,
    poses: Vec<RangePose>,
}

/// A movement: its name and its angles.
struct MovementName<'a> {
    /// As in `elbow.l`.
    id: &'a str,
    /// As in "Elbow, left".
    label: &'a str,
    /// The joint that bends.
    joint: usize,
}

impl Builder<'_> {
    /// Ends of ids and labels of a side.
    fn side_names(&self, side: Side) -> [&'static str; 2] {
        match side {
            _ if !self.names_sides => ["", ""],
            Side::Left => [".l", ", left"],
            Side::Right => [".r", ", right"],
        }
    }

    /// Adds one pose for each angle.
    fn add(
        &mut self,
        name: &MovementName<'_>,
        angles_deg: &[f64],
        turns: impl Fn(f64) -> Option<Turns>,
    ) {
        for &angle_deg in angles_deg {
            let Some(turns) = turns(angle_deg.to_radians()) else {
                continue;
            };
            let mut pose = self.rest.skeleton.rest_pose();
            for (joint, turn) in turns {
                pose.rotate_about_world_axes(self.rest.skeleton, joint, &turn);
            }
            let finite = |local: &super::Trs| local.rotation.coords.iter().all(|c| c.is_finite());
            if !pose.locals.iter().all(finite) {
                continue;
            }
            self.poses.push(RangePose {
                id: format!("{}-{angle_deg}", name.id),
                label: format!("{}, {angle_deg}°", name.label),
                movement: name.label.to_owned(),
                angle_deg,
                pose,
                joint: name.joint,
            });
        }
    }
}

/// The side that moves: the left one, or the right one if there is no left one.
fn side_of(roles: &JointRoles, role: fn(Side) -> Role) -> Option<Side> {
    Side::BOTH
        .into_iter()
        .find(|&side| roles.first(role(side)).is_some())
}

/// The limb whose lower bone has a role.
fn limb_of<'a>(roles: &JointRoles, limbs: &'a [Limb], lower: Role) -> Option<&'a Limb> {
    let lower = roles.first(lower)?;
    limbs.iter().find(|limb| limb.lower == lower)
}

/// The rotation about an axis of unit length.
fn turn(axis: &Vec64, radians: f64) -> Quat {
    Quat::new(axis * radians)
}

/// The same rotation of every joint, together by `radians`.
fn spread(joints: &[usize], axis: &Vec64, radians: f64) -> Turns {
    let each = turn(axis, radians / joints.len().max(1) as f64);
    joints.iter().rev().map(|&joint| (joint, each)).collect()
}
