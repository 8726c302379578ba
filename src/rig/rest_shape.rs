//! Places and directions of a skeleton at rest, tolerant of bones without a length.

use super::Skeleton;
use crate::math::{Affine, Vec64, origin_of};

/// Shortest vector with a direction, as a part of the skeleton's extent.
const NO_LENGTH: f64 = 1e-9;

/// A skeleton at rest, in world space.
#[derive(Debug, Clone)]
pub(super) struct RestShape<'a> {
    pub skeleton: &'a Skeleton,
    /// Global transforms of the joints.
    pub world: Vec<Affine>,
    /// Vectors shorter than this have no direction.
    least: f64,
}

impl<'a> RestShape<'a> {
    pub fn new(skeleton: &'a Skeleton) -> Self {
        let world = skeleton.world_from_joint(&skeleton.rest_pose());
        let from_first = |joint: &Affine| (origin_of(joint) - origin_of(&world[0])).norm();
        let extent = world.iter().map(from_first).fold(0.0, f64::max);
        Self {
            skeleton,
            world,
            least: extent * NO_LENGTH,
        }
    }

    /// Whether a length is more than rounding.
    pub fn is_length(&self, length: f64) -> bool {
        length > self.least
    }

    /// Position of a joint.
    pub fn place(&self, joint: usize) -> Vec64 {
        origin_of(&self.world[joint]).coords
    }

    /// Unit vector from one joint to another.
    pub fn direction(&self, from: usize, to: usize) -> Option<Vec64> {
        self.unit(self.place(to) - self.place(from))
    }

    /// A unit vector; `None` for one without a direction.
    pub fn unit(&self, vector: Vec64) -> Option<Vec64> {
        vector
            .try_normalize(self.least.max(f64::MIN_POSITIVE))
            .filter(|unit| unit.iter().all(|c| c.is_finite()))
    }

    /// Unit vector from a joint along its bone: to the farthest child, or on from its parent.
    pub fn along(&self, joint: usize) -> Option<Vec64> {
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
}

/// The part of a unit vector across another one, of unit length; `None` if they are nearly parallel.
pub(super) fn across(vector: &Vec64, along: &Vec64) -> Option<Vec64> {
    /// Sine of the smallest angle at which two directions count as different.
    const DIFFERENT: f64 = 0.1;
    (vector - along * along.dot(vector)).try_normalize(DIFFERENT)
}
