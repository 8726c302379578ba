//! Guide: dual quaternion skinning of the skin vertices by the skin's weights, with a position and a rotation per
//! vertex.
//!
//! The base follows it, and elements and bending of the skin prefer its rotations (`dynamics::guidance`).
//!
//! A bone that spreads twist (FPS figure 3.20) has [`TWIST_SECTIONS`] further transforms: the k-th is that of its joint, turned about the
//! bone's axis by k / [`TWIST_SECTIONS`] of the angle by which the joint at its end turns. The weight of the joint is distributed to the two
//! transforms that are next to the point along the bone, so that skinning stays one weighted sum.

use rayon::prelude::*;

use super::graph::BoneGraph;
use super::stretching_bone::twist_angle;
use crate::math::{Affine, Point, Point64, SplitTransform, Vec64, affine};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;
/// Transforms along a bone that spreads twist, without that of its start. Neighbours differ by at most 23°, which dual quaternions
/// interpolate to a hundredth of a degree.
const TWIST_SECTIONS: usize = 8;

/// Skinning weights of points in the bind pose, and the inverse bind transforms of the joints.
#[derive(Debug, Clone)]
pub struct Guide {
    /// Over the transforms of joints, then those of `twists`.
    weights: SkinWeights,
    joint_from_bind: Vec<Affine>,
    twists: Vec<TwistingBone>,
}

/// A bone that spreads the twist of the joint at its end; in the bind pose.
#[derive(Debug, Clone)]
struct TwistingBone {
    joint: usize,
    end_joint: usize,
    start: Point64,
    /// From start to end.
    axis: Vec64,
}

impl TwistingBone {
    /// Where a point is along the bone, in sections from its start.
    fn section(&self, point: &Point) -> f64 {
        let along = (point.cast::<f64>() - self.start).dot(&self.axis) / self.axis.norm_squared();
        along.clamp(0.0, 1.0) * TWIST_SECTIONS as f64
    }

    /// The transforms of all sections but the first, which is the joint's own.
    fn transforms(
        &self,
        posed_from_bind: impl Fn(usize) -> Affine,
    ) -> impl Iterator<Item = Affine> + '_ {
        let own = posed_from_bind(self.joint);
        let angle = twist_angle(&own, &posed_from_bind(self.end_joint), &self.axis);
        let axis = nalgebra::Unit::new_normalize(self.axis);
        let start = self.start;
        (1..=TWIST_SECTIONS).map(move |section| {
            let part = angle * section as f64 / TWIST_SECTIONS as f64;
            let turn = nalgebra::Rotation3::from_axis_angle(&axis, part);
            own * affine(turn.matrix(), &(start - turn * start))
        })
    }
}

/// Transforms `posed_from_bind` of one pose.
#[derive(Debug, Clone, Default)]
pub struct GuideFrame {
    /// The pose; empty at rest.
    world_from_joint: Vec<Affine>,
    joints: Vec<SplitTransform>,
    /// One transform per point.
    pub points: Vec<SplitTransform>,
    /// Whether no joint stretches, so that all transforms are rigid motions.
    rigid: bool,
}

impl GuideFrame {
    /// The image of a point under one of the transforms.
    ///
    /// # Panics
    /// If there is no such transform.
    #[inline]
    #[must_use]
    pub fn apply_one(&self, index: usize, point: &Point) -> Point {
        if self.rigid {
            self.points[index].apply_rigid(point)
        } else {
            self.points[index].apply(point)
        }
    }

    /// By which factor one of the transforms changes volumes.
    ///
    /// # Panics
    /// If there is no such transform.
    #[inline]
    #[must_use]
    pub fn volume_factor(&self, index: usize) -> f32 {
        if self.rigid {
            1.0
        } else {
            self.points[index].volume_factor()
        }
    }

    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.world_from_joint)
            + size_of_val(&*self.joints)
            + size_of_val(&*self.points)
    }
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
            twists: Vec::new(),
        }
    }

    /// Spreads twist along the bones of the graph that are set to do so. `points` are those of the weights in the bind pose.
    ///
    /// # Panics
    /// If there are fewer points than weights.
    #[must_use]
    pub fn with_twists(mut self, graph: &BoneGraph, points: &[Point]) -> Self {
        let joints = self.joint_from_bind.len();
        for index in (0..graph.bones.len()).filter(|&bone| graph.bones[bone].twists) {
            let [start, end] = graph.segment(index);
            let bone = &graph.bones[index];
            let is_known = self.twists.iter().any(|other| other.joint == bone.joint);
            if let Some(end_joint) = bone.end_joint
                && (end - start).norm_squared() > 0.0
                && !is_known
            {
                self.twists.push(TwistingBone {
                    joint: bone.joint,
                    end_joint,
                    start,
                    axis: end - start,
                });
            }
        }
        if self.twists.is_empty() {
            return self;
        }
        let spread = |(joint, weight): (u32, f32), point: &Point| {
            let twist = self
                .twists
                .iter()
                .position(|bone| bone.joint as u32 == joint);
            let Some(twist) = twist else {
                return [(joint, weight), (joint, 0.0)];
            };
            let along = self.twists[twist].section(point);
            let before = (along.floor() as usize).min(TWIST_SECTIONS - 1);
            let part = (along - before as f64) as f32;
            let transform = |section: usize| match section {
                0 => joint,
                _ => (joints + twist * TWIST_SECTIONS + section - 1) as u32,
            };
            [
                (transform(before), weight * (1.0 - part)),
                (transform(before + 1), weight * part),
            ]
        };
        let rows = (0..self.weights.len()).map(|row| {
            let influences = self.weights.row(row).into_iter();
            let spread = influences.flat_map(|influence| spread(influence, &points[row]));
            spread.collect::<Vec<_>>()
        });
        self.weights = SkinWeights::from_rows(rows).0;
        self
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
            rigid: true,
        }
    }

    /// Computes the transforms in a pose. Allocates nothing after the first call.
    pub fn pose(&self, world_from_joint: &[Affine], frame: &mut GuideFrame) {
        let GuideFrame {
            world_from_joint: of_frame,
            joints,
            points,
            rigid: all_rigid,
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
        for bone in &self.twists {
            let posed_from_bind = |joint| world_from_joint[joint] * self.joint_from_bind[joint];
            let sections = bone.transforms(posed_from_bind);
            joints.extend(sections.map(|section| SplitTransform::of(&section)));
        }
        points.resize(self.len(), SplitTransform::identity());
        let joints = &*joints;
        let rigid = joints.iter().all(SplitTransform::is_rigid);
        *all_rigid = rigid;
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
            .enumerate()
            .with_min_len(MIN_TASK)
            .for_each(|(index, (out, rest))| *out = self.apply_one(index, rest));
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
            .enumerate()
            .with_min_len(MIN_TASK)
            .for_each(|(index, point)| *point = self.apply_one(index, point));
    }
}
