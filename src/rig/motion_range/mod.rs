//! The range of motion: a set of poses for any body, hand or chain of joints, to compare skinning methods on.
//!
//! Movements are found by the roles of joints ([`JointRoles`]) and made by the axes of the body (left, up, front at rest), never by
//! those of the file: the same body gives the same poses with other names, local axes, or another up axis. Of paired limbs the left
//! one moves, and the right one if there is no left one; most characters are symmetric.
//!
//! | movement                                | degrees                     | 0 is                                        |
//! |-----------------------------------------|-----------------------------|---------------------------------------------|
//! | elbow, knee                             | 30 to 150                   | the straight limb                           |
//! | forearm twist, applied at the hand      | −180, −90, 90, 180          | rest                                        |
//! | wrist bend                              | −60, 60                     | rest                                        |
//! | arm to the side, arm to the front       | −80 to 80, −45 to 45        | the horizontal arm                          |
//! | raised arm with clavicle                | 80                          | the horizontal arm                          |
//! | hip forward, hip to the side            | −20 to 120, 20 to 40        | rest                                        |
//! | crouch, sit (both legs)                 | 60 and 110, 90              | rest                                        |
//! | spine forward, to the side, twist       | −30 to 60, 30 and 60        | rest; spread evenly over its joints          |
//! | neck forward, to the side, turn         | −40 to 50, 35, 40 and 80    | rest; spread evenly over neck and head       |
//! | foot                                    | −30, 40                     | rest; positive points the toes               |
//! | fist, each finger of a lone hand        | 30 to 80 at each joint      | rest; the thumb turns less                   |
//! | chains without a role, such as tails    | −90 to 90 in two directions | rest                                        |
//! | joints, where hardly a role is found    | −60 to 60                   | rest                                        |
//!
//! Angles are those of ergonomics where there are any (see [`human_limits`](super::human_limits)); the set follows what papers on
//! skinning show.

mod body;
mod generic;
mod hand;
#[cfg(test)]
mod tests;

use super::retarget::JointRoles;
use super::{Pose, Skeleton};
use crate::math::{Affine, Quat, Vec64, origin_of};

/// Rotations of joints about the world's axes through them, children before their parents, so that a parent's rotation carries its
/// children.
type Turns = Vec<(usize, Quat)>;

/// Shortest vector with a direction, as a part of the skeleton's extent.
const NO_LENGTH: f64 = 1e-9;

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
    let mut builder = Builder::new(skeleton);
    let roles = JointRoles::of(skeleton);
    body::add(&mut builder, &roles);
    hand::add(&mut builder, &roles);
    generic::add(&mut builder, &roles);
    builder.poses
}

/// Collects poses.
struct Builder<'a> {
    skeleton: &'a Skeleton,
    /// Global transforms at rest.
    world: Vec<Affine>,
    /// Vectors shorter than this have no direction.
    least: f64,
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

impl<'a> Builder<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let world = skeleton.world_from_joint(&skeleton.rest_pose());
        let extent = world
            .iter()
            .flat_map(|a| {
                world
                    .iter()
                    .take(1)
                    .map(move |b| (origin_of(a) - origin_of(b)).norm())
            })
            .fold(0.0, f64::max);
        Self {
            skeleton,
            world,
            least: extent * NO_LENGTH,
            poses: Vec::new(),
        }
    }

    /// Position of a joint at rest.
    fn place(&self, joint: usize) -> Vec64 {
        origin_of(&self.world[joint]).coords
    }

    /// Unit vector from one joint to another at rest.
    fn direction(&self, from: usize, to: usize) -> Option<Vec64> {
        self.unit(self.place(to) - self.place(from))
    }

    /// A unit vector; `None` for one without a direction.
    fn unit(&self, vector: Vec64) -> Option<Vec64> {
        vector
            .try_normalize(self.least.max(f64::MIN_POSITIVE))
            .filter(|unit| unit.iter().all(|c| c.is_finite()))
    }

    /// Unit vector from a joint along its bone: to the farthest child, or on from its parent.
    fn along(&self, joint: usize) -> Option<Vec64> {
        let from = self.place(joint);
        let children = self.skeleton.children(joint).iter();
        let far = children
            .map(|&child| self.place(child) - from)
            .max_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
        far.and_then(|far| self.unit(far)).or_else(|| {
            let parent = self.skeleton.joints()[joint].parent?;
            self.direction(parent, joint)
        })
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
            let mut pose = self.skeleton.rest_pose();
            for (joint, turn) in turns {
                pose.rotate_about_world_axes(self.skeleton, joint, &turn);
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

/// The rotation about an axis of unit length.
fn turn(axis: &Vec64, radians: f64) -> Quat {
    Quat::new(axis * radians)
}

/// The same rotation of every joint, together by `radians`.
fn spread(joints: &[usize], axis: &Vec64, radians: f64) -> Turns {
    let each = turn(axis, radians / joints.len().max(1) as f64);
    joints.iter().rev().map(|&joint| (joint, each)).collect()
}
