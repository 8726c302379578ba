//! Frames as the fit uses them.

use nalgebra::Matrix3x4;

use super::SimulatedFrame;
use crate::math::{Affine, Point, Vec64};
use crate::rig::{Pose, Skeleton};

/// Takes a point of the bind pose to a frame, in the world: `world_from_joint` · `world_from_bind`⁻¹.
pub(super) type Delta = Matrix3x4<f64>;

/// Frames and the transforms of all bones in them.
pub(super) struct Frames<'a> {
    pub poses: Vec<&'a Pose>,
    /// Simulated positions of each frame.
    pub positions: Vec<&'a [Point]>,
    /// Of each frame, of each joint.
    pub world_from_joint: Vec<Vec<Affine>>,
    /// Of each frame, of each joint and then each helper.
    pub deltas: Vec<Vec<Delta>>,
}

impl<'a> Frames<'a> {
    /// Without helpers.
    pub fn new(skeleton: &Skeleton, frames: impl Iterator<Item = &'a SimulatedFrame>) -> Self {
        let mut made = Self {
            poses: Vec::new(),
            positions: Vec::new(),
            world_from_joint: Vec::new(),
            deltas: Vec::new(),
        };
        for frame in frames {
            let world = skeleton.world_from_joint(&frame.pose);
            made.deltas.push(deltas_of(skeleton, &world));
            made.world_from_joint.push(world);
            made.poses.push(&frame.pose);
            made.positions.push(&frame.positions);
        }
        made
    }

    pub fn len(&self) -> usize {
        self.poses.len()
    }

    pub fn joint_from_world(&self, frame: usize, joint: usize) -> Affine {
        inverse(&self.world_from_joint[frame][joint])
    }
}

/// The transforms of all joints in a pose.
pub(super) fn deltas_of(skeleton: &Skeleton, world_from_joint: &[Affine]) -> Vec<Delta> {
    let pairs = world_from_joint.iter().zip(skeleton.joints());
    pairs
        .map(|(world, joint)| delta_of(world, &joint.world_from_bind))
        .collect()
}

pub(super) fn delta_of(world_from_joint: &Affine, world_from_bind: &Affine) -> Delta {
    let matrix = (world_from_joint * inverse(world_from_bind)).into_inner();
    matrix.fixed_rows::<3>(0).into_owned()
}

pub(super) fn affine_of(delta: &Delta) -> Affine {
    let linear = delta.fixed_columns::<3>(0).into_owned();
    crate::math::affine(&linear, &delta.column(3).into_owned())
}

/// The identity for a transform without an inverse.
fn inverse(transform: &Affine) -> Affine {
    transform.try_inverse().unwrap_or_else(Affine::identity)
}

/// The place of a point of the bind pose.
#[inline]
pub(super) fn moved(delta: &Delta, point: &Vec64) -> Vec64 {
    delta * point.push(1.0)
}
