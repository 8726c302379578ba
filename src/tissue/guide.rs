//! Guide: dual quaternion skinning of the skin vertices by the skin's weights, with a position and a rotation per
//! vertex.
//!
//! The base follows it, and elements and bending of the skin prefer its rotations (`dynamics::guidance`).
//!
//! A bone that spreads twist (FPS figure 3.20) has [`TWIST_SECTIONS`] further transforms: the k-th is that of its joint, turned about the
//! bone's axis by k / [`TWIST_SECTIONS`] of the angle by which the joint at its end turns. The weight of the joint is distributed to the two
//! transforms that are next to the point along the bone, so that skinning stays one weighted sum.

use nalgebra::{Matrix3, UnitQuaternion};
use rayon::prelude::*;

use super::graph::BoneGraph;
use super::stretching_bone::twist_angle;
use crate::math::{Affine, Point, Point64, RigidMotion, SplitTransform, Vec64, affine};
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

/// Transforms `posed_from_bind` of one pose, one per point: a rigid motion after a stretch.
#[derive(Debug, Clone, Default)]
pub struct GuideFrame {
    /// The pose; empty at rest.
    world_from_joint: Vec<Affine>,
    joints: Vec<SplitTransform>,
    motions: Vec<RigidMotion>,
    /// Empty if no joint stretches.
    stretches: Vec<Matrix3<f32>>,
}

impl GuideFrame {
    /// The image of a point under one of the transforms.
    ///
    /// # Panics
    /// If there is no such transform.
    #[expect(
        clippy::inline_always,
        reason = "short, and called for every vertex several times a frame; the compiler does not inline it otherwise"
    )]
    #[inline(always)]
    #[must_use]
    pub fn apply_one(&self, index: usize, point: &Point) -> Point {
        match self.stretches.get(index) {
            None => self.motions[index].apply(point),
            Some(stretch) => self.motions[index].apply(&Point::from(stretch * point.coords)),
        }
    }

    /// The rotation of one of the transforms.
    ///
    /// # Panics
    /// If there is no such transform.
    #[inline]
    #[must_use]
    pub fn rotation(&self, index: usize) -> UnitQuaternion<f32> {
        self.motions[index].rotation
    }

    /// By which factor one of the transforms changes volumes; exactly 1 without stretch.
    #[inline]
    #[must_use]
    pub fn volume_factor(&self, index: usize) -> f32 {
        match self.stretches.get(index) {
            Some(stretch) if *stretch != Matrix3::identity() => stretch.determinant().max(0.0),
            _ => 1.0,
        }
    }

    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.world_from_joint)
            + size_of_val(&*self.joints)
            + size_of_val(&*self.motions)
            + size_of_val(&*self.stretches)
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
            motions: vec![RigidMotion::identity(); self.len()],
            stretches: Vec::new(),
        }
    }

    /// Computes the transforms in a pose. Allocates nothing after the first call.
    pub fn pose(&self, world_from_joint: &[Affine], frame: &mut GuideFrame) {
        let GuideFrame {
            world_from_joint: of_frame,
            joints,
            motions,
            stretches,
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
        motions.resize(self.len(), RigidMotion::identity());
        let joints = &*joints;
        let weighted = |point: usize| {
            let weights = self.weights.of(point);
            weights.map(|(joint, weight)| (&joints[joint], weight))
        };
        let motions = motions.par_iter_mut().with_min_len(MIN_TASK).enumerate();
        if joints.iter().all(SplitTransform::is_rigid) {
            stretches.clear();
            motions.for_each(|(point, motion)| {
                *motion = SplitTransform::blend_rigid(weighted(point))
                    .map_or_else(RigidMotion::identity, |blend| blend.motion());
            });
        } else {
            stretches.resize(self.len(), Matrix3::identity());
            motions
                .zip(stretches)
                .for_each(|((point, motion), stretch)| {
                    let blend = SplitTransform::blend(weighted(point));
                    let blend = blend.unwrap_or_else(SplitTransform::identity);
                    (*motion, *stretch) = (blend.motion(), blend.stretch);
                });
        }
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

    /// The point whose image under one of the transforms is `posed`; `posed` itself where the transform has no inverse.
    #[inline]
    fn apply_inverse_one(&self, index: usize, posed: &Point) -> Point {
        let unturned = self.motions[index].apply_inverse(posed);
        match self.stretches.get(index) {
            None => unturned,
            Some(stretch) => stretch
                .try_inverse()
                .map_or(*posed, |inverse| inverse * unturned),
        }
    }

    /// Maps posed positions back to rest.
    ///
    /// # Panics
    /// If there are fewer points than transforms.
    pub fn apply_inverse(&self, posed: &[Point], out: &mut [Point]) {
        out.par_iter_mut()
            .zip(posed)
            .enumerate()
            .with_min_len(MIN_TASK)
            .for_each(|(index, (out, posed))| *out = self.apply_inverse_one(index, posed));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use crate::rig::{Joint, Trs};

    const POINTS: [[f32; 3]; 4] = [
        [0.3, -0.8, 1.7],
        [1.1, 0.4, -0.6],
        [0.0, 2.0, 0.5],
        [4.0, 5.0, 6.0],
    ];

    /// The transforms of points of one joint, of both, of the other, and of none. The second joint turns and moves, and stretches by these
    /// factors.
    fn posed(scale: [f64; 3]) -> GuideFrame {
        let joint = |name: &str| Joint {
            name: name.into(),
            parent: None,
            parent_from_base: Affine::identity(),
            rest: Trs::IDENTITY,
            world_from_bind: Affine::identity(),
            deforms: true,
            tail: None,
        };
        let skeleton = Skeleton::new(vec![joint("a"), joint("b")]).expect("two roots");
        let rows = [
            vec![(0, 1.0)],
            vec![(0, 0.4), (1, 0.6)],
            vec![(1, 1.0)],
            vec![],
        ];
        let guide = Guide::new(SkinWeights::from_rows(rows).0, &skeleton);
        let turn = Quat::from_scaled_axis(Vec64::new(0.3, 1.0, -0.2));
        let linear = turn.to_rotation_matrix().into_inner()
            * nalgebra::Matrix3::from_diagonal(&Vec64::from(scale));
        let moved = affine(&linear, &Vec64::new(1.0, 2.0, 3.0));
        let mut frame = guide.at_rest();
        guide.pose(&[Affine::identity(), moved], &mut frame);
        let (image, expected) = (
            frame.apply_one(2, &POINTS[2].into()),
            moved * Point64::from(POINTS[2].map(f64::from)),
        );
        assert!((image.cast::<f64>() - expected).norm() < 1e-5, "{image}");
        frame
    }

    #[test]
    fn the_inverse_takes_points_back() {
        for scale in [[1.0; 3], [1.2, 0.9, 1.1]] {
            let frame = posed(scale);
            let rest = POINTS.map(Point::from);
            let (mut moved, mut back) = (rest, rest);
            frame.apply(&rest, &mut moved);
            frame.apply_inverse(&moved, &mut back);
            for (rest, back) in rest.iter().zip(&back) {
                assert!((back - rest).norm() < 1e-5, "{back} {rest}");
            }
            assert_eq!(moved[0], rest[0]);
            assert_eq!(moved[3], rest[3], "nothing moves a point without weights");
        }
    }

    #[test]
    fn volume_changes_by_the_stretch_alone() {
        let rigid = posed([1.0; 3]);
        assert!((0..4).all(|point| rigid.volume_factor(point) == 1.0));
        let stretched = posed([1.2, 0.9, 1.1]);
        let factors = [0, 1, 2, 3].map(|point| stretched.volume_factor(point));
        assert!((factors[2] - 1.2 * 0.9 * 1.1).abs() < 1e-5, "{factors:?}");
        assert!(factors[1] > 1.0 && factors[1] < factors[2], "{factors:?}");
        assert_eq!([factors[0], factors[3]], [1.0; 2]);
    }

    /// Buffers are used again.
    #[test]
    fn a_pose_does_not_depend_on_the_one_before() {
        let mut frame = posed([1.2, 0.9, 1.1]);
        let nothing: [Vec<(u32, f32)>; 4] = std::array::from_fn(|_| Vec::new());
        let guide = Guide::new(SkinWeights::from_rows(nothing).0, &Skeleton::default());
        guide.pose(&[], &mut frame);
        for (point, rest) in POINTS.map(Point::from).iter().enumerate() {
            assert_eq!(frame.apply_one(point, rest), *rest);
            assert_eq!(frame.volume_factor(point), 1.0);
        }
    }
}
