//! Converts rigs to skeletons, and poses between skeletons.
//!
//! Every joint keeps its axes of the file; a new joint takes those of its parent. Joint motion in
//! the file is relative to the parent. A joint that is moved in the bind pose gets the same
//! displacement, in its parent's frame, in the rest pose and in every key: with `x` its position in
//! the frame of its parent joint `e` in the bind pose and `x₀` that of the file,
//!
//! ```text
//!     x = lin(e)⁻¹ (p_joint − p_e)          translation' = translation + lin(base)⁻¹ (x − x₀ − c)
//! ```
//!
//! with `c` the offset from `e` to the joint's present parent if new joints were inserted between,
//! and `base` the file's constant `parent_from_base`. If the file's parent was deleted or changed,
//! motion is converted to the new parent.

use super::{Remap, Rig};
use crate::math::{Affine, Point64, Vec64, affine, linear_part, origin_of};
use crate::rig::{Joint, Pose, Skeleton, SkeletonError, Trs};

/// Maps local transforms of a joint of the file to the rig.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointTransfer {
    /// The joint in the file.
    pub origin: usize,
    /// Its nearest ancestor that is in the file, by the file's index.
    pub above: Option<usize>,
    /// Whether that is its parent in the file, so that local transforms only change by the shift.
    pub keeps_parent: bool,
    /// Added to translations.
    pub shift: Vec64,
}

impl Rig {
    /// The skeleton, with the `base` skeleton's data for joints that come from it. Indices are
    /// unchanged.
    ///
    /// # Errors
    /// As [`Skeleton::new`]; does not occur for a rig made by edits of finite skeletons.
    pub fn to_skeleton(&self, base: &Skeleton) -> Result<Skeleton, SkeletonError> {
        let rest = base.world_from_joint(&base.rest_pose());
        let linear = self.linear_parts(base);
        let joint = |index: usize| {
            let this = &self.joints[index];
            let (parent_from_base, rest) = if let Some(carry) = self.carry(index, base) {
                let own = &base.joints()[carry.origin];
                if carry.keeps_parent {
                    (own.parent_from_base, shifted(&own.rest, &carry.shift))
                } else {
                    (
                        Affine::identity(),
                        shifted(&Trs::from_affine(&relative(&rest, &carry)), &carry.shift),
                    )
                }
            } else {
                let from = this
                    .parent
                    .map_or_else(Point64::origin, |parent| self.joints[parent].position);
                let frame = this
                    .parent
                    .map_or_else(nalgebra::Matrix3::identity, |parent| linear[parent]);
                (
                    Affine::identity(),
                    Trs::at(solve(&frame, &(this.position - from))),
                )
            };
            let unmoved = this
                .origin
                .map(|origin| base.joints()[origin].world_from_bind)
                .filter(|bind| origin_of(bind) == this.position);
            Joint {
                name: this.name.clone(),
                parent: this.parent,
                parent_from_base,
                rest,
                world_from_bind: unmoved
                    .unwrap_or_else(|| affine(&linear[index], &this.position.coords)),
                deforms: this.deforms,
                tail: self.tail(index),
            }
        };
        Skeleton::new((0..self.len()).map(joint).collect())
    }

    /// The axes of every joint in the bind pose.
    fn linear_parts(&self, base: &Skeleton) -> Vec<nalgebra::Matrix3<f64>> {
        let mut linear: Vec<nalgebra::Matrix3<f64>> = Vec::with_capacity(self.len());
        for joint in &self.joints {
            linear.push(
                match (
                    joint.origin.and_then(|origin| base.joints().get(origin)),
                    joint.parent,
                ) {
                    (Some(own), _) => linear_part(&own.world_from_bind),
                    (None, Some(parent)) => linear[parent],
                    (None, None) => nalgebra::Matrix3::identity(),
                },
            );
        }
        linear
    }

    /// How motion is transferred for a joint of the file; `None` for a new joint.
    pub(super) fn carry(&self, index: usize, base: &Skeleton) -> Option<JointTransfer> {
        let this = &self.joints[index];
        let origin = this.origin.filter(|&origin| origin < base.len())?;
        let mut at = this.parent;
        while let Some(joint) = at.filter(|&joint| self.joints[joint].origin.is_none()) {
            at = self.joints[joint].parent;
        }
        let above = at.and_then(|joint| self.joints[joint].origin);
        let place = |joint: Option<usize>| {
            joint.map_or_else(Point64::origin, |joint| self.joints[joint].position)
        };
        let frame = above.map_or_else(nalgebra::Matrix3::identity, |joint| {
            linear_part(&base.joints()[joint].world_from_bind)
        });
        // x − c is the offset from the present parent; x₀ that from the ancestor in the file.
        let before = base.bind_position(origin)
            - above.map_or_else(Point64::origin, |joint| base.bind_position(joint));
        let moved = solve(&frame, &(this.position - place(this.parent) - before));
        let keeps_parent = above == base.joints()[origin].parent;
        let shift = if keeps_parent {
            solve(
                &linear_part(&base.joints()[origin].parent_from_base),
                &moved,
            )
        } else {
            moved
        };
        Some(JointTransfer {
            origin,
            above,
            keeps_parent,
            shift,
        })
    }
}

/// A joint relative to its ancestor, computed from the file's joints in some pose.
pub(super) fn relative(world: &[Affine], carry: &JointTransfer) -> Affine {
    let above = carry
        .above
        .and_then(|joint| world[joint].try_inverse())
        .unwrap_or_else(Affine::identity);
    above * world[carry.origin]
}

/// The transform, displaced.
pub(super) fn shifted(local: &Trs, by: &Vec64) -> Trs {
    Trs {
        translation: local.translation + by,
        ..*local
    }
}

/// `frame⁻¹ · vector`; the vector itself if the frame is singular.
fn solve(frame: &nalgebra::Matrix3<f64>, vector: &Vec64) -> Vec64 {
    frame
        .try_inverse()
        .map_or(*vector, |inverse| inverse * vector)
}

/// A pose of `old` for the skeleton `new` whose joints derive from it: every joint keeps its
/// rotation and displacement from rest; new joints are at rest.
///
/// # Panics
/// If the pose or the remap belongs to other skeletons.
#[must_use]
pub fn pose_on(old: &Skeleton, pose: &Pose, remap: &Remap, new: &Skeleton) -> Pose {
    let mut carried = new.rest_pose();
    carried.morphs.clone_from(&pose.morphs);
    let (old_base, new_base) = (rest_bases(old), rest_bases(new));
    for (joint, from) in remap.old_from_new.iter().enumerate() {
        let Some(from) = *from else { continue };
        let (before, rest) = (&pose.locals[from], &old.joints()[from].rest);
        if before == rest {
            continue;
        }
        let local = &mut carried.locals[joint];
        let turn = before.rotation * rest.rotation.inverse();
        let old_from_new = old_base[from].rotation.inverse() * new_base[joint].rotation;
        local.rotation = old_from_new.inverse() * turn * old_from_new * local.rotation;
        local.translation += old_from_new.inverse() * (before.translation - rest.translation);
        local.scale = local
            .scale
            .zip_zip_map(&before.scale, &rest.scale, |to, from, rest| {
                if rest == 0.0 { to } else { to * from / rest }
            });
    }
    carried
}

/// The frames in which local transforms are given, at rest.
fn rest_bases(skeleton: &Skeleton) -> Vec<Trs> {
    let world = skeleton.world_from_joint(&skeleton.rest_pose());
    let base = |joint: &Joint| {
        joint.parent.map_or(joint.parent_from_base, |parent| {
            world[parent] * joint.parent_from_base
        })
    };
    skeleton
        .joints()
        .iter()
        .map(|joint| Trs::from_affine(&base(joint)))
        .collect()
}
