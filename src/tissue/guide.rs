//! Guide: dual quaternion skinning of the skin vertices by the skin's weights, with a position and a rotation per
//! vertex.
//!
//! The base follows it, and elements and bending of the skin prefer its rotations (`dynamics::guidance`).

use rayon::prelude::*;

use crate::math::{Affine, Point, SplitTransform};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

/// Skinning weights of points in the bind pose, and the inverse bind transforms of the joints.
#[derive(Debug, Clone)]
pub struct Guide {
    weights: SkinWeights,
    joint_from_bind: Vec<Affine>,
}

/// Transforms `posed_from_bind` of one pose.
#[derive(Debug, Clone, Default)]
pub struct GuideFrame {
    /// The pose; empty at rest.
    world_from_joint: Vec<Affine>,
    joints: Vec<SplitTransform>,
    /// One transform per point.
    pub points: Vec<SplitTransform>,
}

impl Guide {
    /// One row of weights per point; a point without weights stays at its rest position.
    ///
    /// # Panics
    /// If a joint of the weights is not in the skeleton.
    #[must_use]
    pub fn new(weights: SkinWeights, skeleton: &Skeleton) -> Self {
        assert!(
            weights
                .joints
                .iter()
                .all(|&joint| (joint as usize) < skeleton.len()),
            "the weights name a joint that is not there"
        );
        let joint_from_bind = skeleton
            .joints()
            .iter()
            .map(|joint| {
                joint
                    .world_from_bind
                    .try_inverse()
                    .unwrap_or_else(Affine::identity)
            })
            .collect();
        Self {
            weights,
            joint_from_bind,
        }
    }

    /// The weights of all points.
    #[must_use]
    pub fn weights(&self) -> &SkinWeights {
        &self.weights
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The transforms at rest: the identity for every point.
    #[must_use]
    pub fn at_rest(&self) -> GuideFrame {
        GuideFrame {
            world_from_joint: Vec::new(),
            joints: Vec::new(),
            points: vec![SplitTransform::identity(); self.len()],
        }
    }

    /// Computes the transforms in a pose. Allocates nothing after the first call.
    pub fn pose(&self, world_from_joint: &[Affine], frame: &mut GuideFrame) {
        let GuideFrame {
            world_from_joint: of_frame,
            joints,
            points,
        } = frame;
        of_frame.clear();
        of_frame.extend_from_slice(world_from_joint);
        joints.clear();
        joints.extend(
            world_from_joint
                .iter()
                .zip(&self.joint_from_bind)
                .map(|(world, bind)| SplitTransform::of(&(world * bind))),
        );
        points.resize(self.len(), SplitTransform::identity());
        let joints = &*joints;
        let rigid = joints.iter().all(SplitTransform::is_rigid);
        points
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(point, out)| {
                let weighted = self.weights.of(point);
                let weighted = weighted.map(|(joint, weight)| (&joints[joint], weight));
                let blend = if rigid {
                    SplitTransform::blend_rigid(weighted)
                } else {
                    SplitTransform::blend(weighted)
                };
                *out = blend.unwrap_or_else(SplitTransform::identity);
            });
    }
}

impl GuideFrame {
    /// Whether these are the transforms of this pose.
    #[must_use]
    pub fn is_of(&self, world_from_joint: &[Affine]) -> bool {
        self.world_from_joint == world_from_joint
    }

    /// Maps rest positions to the pose.
    ///
    /// # Panics
    /// If there are fewer points than transforms.
    pub fn apply(&self, rest: &[Point], out: &mut [Point]) {
        out.par_iter_mut()
            .zip(rest)
            .zip(&self.points)
            .with_min_len(MIN_TASK)
            .for_each(|((out, rest), transform)| *out = transform.apply(rest));
    }

    /// Maps posed positions back to rest.
    ///
    /// # Panics
    /// If there are fewer points than transforms.
    pub fn apply_inverse(&self, posed: &[Point], out: &mut [Point]) {
        out.par_iter_mut()
            .zip(posed)
            .zip(&self.points)
            .with_min_len(MIN_TASK)
            .for_each(|((out, posed), transform)| *out = transform.apply_inverse(posed));
    }

    /// Maps rest positions to the pose in place.
    pub fn apply_in_place(&self, points: &mut [Point]) {
        points
            .par_iter_mut()
            .zip(&self.points)
            .with_min_len(MIN_TASK)
            .for_each(|(point, transform)| *point = transform.apply(point));
    }
}
