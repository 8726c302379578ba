//! The guide: where dual quaternion skinning by the skin's weights puts every skin vertex, and how it turns there.
//!
//! The base follows it, and elements and bending of the skin prefer its rotations (`dynamics::guidance`).

use rayon::prelude::*;

use crate::math::{Affine, Point, SplitTransform};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Vertices that one task handles at least.
const MIN_TASK: usize = 512;

/// The weights of points in the bind pose, with the joints that move them.
#[derive(Debug, Clone)]
pub struct Guide {
    weights: SkinWeights,
    joint_from_bind: Vec<Affine>,
}

/// The transforms of one pose; `posed_from_bind`.
#[derive(Debug, Clone, Default)]
pub struct GuideFrame {
    joints: Vec<SplitTransform>,
    /// One per point.
    pub points: Vec<SplitTransform>,
}

impl Guide {
    /// One row of weights per point; a point without any stays at rest.
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

    /// How many points there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The transforms of all points at rest.
    #[must_use]
    pub fn at_rest(&self) -> GuideFrame {
        GuideFrame {
            joints: Vec::new(),
            points: vec![SplitTransform::identity(); self.len()],
        }
    }

    /// Computes the transforms in a pose. Allocates nothing after the first call.
    pub fn pose(&self, world_from_joint: &[Affine], frame: &mut GuideFrame) {
        let GuideFrame { joints, points } = frame;
        joints.clear();
        joints.extend(
            world_from_joint
                .iter()
                .zip(&self.joint_from_bind)
                .map(|(world, bind)| SplitTransform::of(&(world * bind))),
        );
        points.resize(self.len(), SplitTransform::identity());
        let joints = &*joints;
        points
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(point, out)| {
                let weighted = self.weights.of(point);
                *out =
                    SplitTransform::blend(weighted.map(|(joint, weight)| (&joints[joint], weight)))
                        .unwrap_or_else(SplitTransform::identity);
            });
    }
}

impl GuideFrame {
    /// The images of points at rest.
    ///
    /// # Panics
    /// If there are fewer points than transforms.
    pub fn apply(&self, rest: &[Point], out: &mut [Point]) {
        for ((out, rest), transform) in out.iter_mut().zip(rest).zip(&self.points) {
            *out = transform.apply(rest);
        }
    }
}
