//! Editing of skeletons: positions and parents only; every edit is a pure function.
//!
//! A [`Rig`] is made from a [`Skeleton`] or empty, changed by [`RigEdit`]s, and converted to a
//! skeleton by [`Rig::to_skeleton`]. Joints keep an identity through all edits, so that data by
//! joint (poses, settings, clips) can be transferred between rigs of the same origin:
//! [`Remap::between`].
//!
//! With a [`Mirror`] an edit of one side is applied to the other side too; side names end in `.L`
//! and `.R`.
//!
//! - [`RigEdit`]: add, move, insert, split, merge, delete, reparent, rename, tails.
//! - [`Placer`]: finds the centre of the flesh.
//! - [`template`]: complete skeletons, fitted to a mesh by landmarks.

mod change;
mod clips;
mod convert;
mod file;
mod flesh_ray;
mod mirror;
mod names;
mod ops;
mod placer;
mod symmetry;
pub mod template;

pub use change::{EditError, Edited, RigBone, RigEdit};
pub use clips::clip_on;
pub use convert::pose_on;
pub use file::{RigFile, RigFileError, RigFileJoint};
pub use mirror::{Mirror, Partner};
pub use placer::{Placed, Placer};

use super::Skeleton;
use crate::math::Point64;

/// Identity of a joint, unchanged by edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(u32);

/// A joint of a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct RigJoint {
    /// Its identity.
    pub id: JointId,
    /// Unique name.
    pub name: String,
    /// Index of the parent, always smaller than the joint's own.
    pub parent: Option<usize>,
    /// World position in the bind pose.
    pub position: Point64,
    /// World position of the end of its bone while it is a leaf; if absent it is computed from the
    /// flesh.
    pub tail: Option<Point64>,
    /// False for helpers that carry no skin.
    pub deforms: bool,
    /// The corresponding joint of the file's skeleton; `None` for a new joint.
    pub origin: Option<usize>,
}

/// An editable skeleton: joints, parents before children.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rig {
    joints: Vec<RigJoint>,
    next_id: u32,
}

impl Rig {
    /// The rig of a skeleton as read from a file.
    #[must_use]
    pub fn of(skeleton: &Skeleton) -> Self {
        let joint = |(index, joint): (usize, &super::Joint)| RigJoint {
            id: JointId(index as u32),
            name: joint.name.clone(),
            parent: joint.parent,
            position: skeleton.bind_position(index),
            tail: joint.tail,
            deforms: joint.deforms,
            origin: Some(index),
        };
        Self {
            joints: skeleton.joints().iter().enumerate().map(joint).collect(),
            next_id: skeleton.len() as u32,
        }
    }

    /// The rig with origins relative to another rig from which it derives, instead of the file's.
    #[must_use]
    pub(crate) fn relative_to(&self, old: &Self) -> Self {
        let remap = Remap::between(old, self);
        let mut rig = self.clone();
        for (joint, origin) in rig.joints.iter_mut().zip(remap.old_from_new) {
            joint.origin = origin;
        }
        rig
    }

    /// All joints.
    #[must_use]
    pub fn joints(&self) -> &[RigJoint] {
        &self.joints
    }

    /// Number of joints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there are no joints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joint with exactly that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// The joint with that identity.
    #[must_use]
    pub(crate) fn index_of(&self, id: JointId) -> Option<usize> {
        self.joints.iter().position(|joint| joint.id == id)
    }

    /// The child joints of a joint, ascending.
    pub fn children(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        (joint + 1..self.joints.len())
            .filter(move |&child| self.joints[child].parent == Some(joint))
    }

    /// Whether the joint has no children.
    #[must_use]
    pub(crate) fn is_leaf(&self, joint: usize) -> bool {
        self.children(joint).next().is_none()
    }

    /// The end of a leaf's bone, if set.
    #[must_use]
    pub fn tail(&self, joint: usize) -> Option<Point64> {
        self.joints.get(joint)?.tail.filter(|_| self.is_leaf(joint))
    }

    /// Whether `joint` is `ancestor` or its descendant.
    #[must_use]
    pub(crate) fn is_below(&self, joint: usize, ancestor: usize) -> bool {
        let mut at = Some(joint);
        while let Some(index) = at {
            if index == ancestor {
                return true;
            }
            at = self.joints[index].parent;
        }
        false
    }

    /// The joint and its descendants, ascending.
    #[must_use]
    pub(crate) fn subtree(&self, joint: usize) -> Vec<usize> {
        let mut inside = vec![false; self.joints.len()];
        for index in joint..self.joints.len() {
            inside[index] = index == joint
                || self.joints[index]
                    .parent
                    .is_some_and(|parent| inside[parent]);
        }
        (joint..self.joints.len())
            .filter(|&index| inside[index])
            .collect()
    }

    /// All bones: from every joint to each child, and the tails that are set.
    pub fn bones(&self) -> impl Iterator<Item = (RigBone, [Point64; 2])> + '_ {
        self.joints
            .iter()
            .enumerate()
            .flat_map(move |(index, joint)| {
                let to = joint.parent.map(|parent| {
                    (
                        RigBone::To(index),
                        [self.joints[parent].position, joint.position],
                    )
                });
                let tail = self
                    .tail(index)
                    .map(|tail| (RigBone::Tail(index), [joint.position, tail]));
                to.into_iter().chain(tail)
            })
    }
}

/// Maps the joints of a new rig to those of an old one: a partial injection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remap {
    /// For every joint of the new rig its index in the old one; `None` if it is new.
    pub old_from_new: Vec<Option<usize>>,
}

impl Remap {
    /// The mapping between two rigs of the same origin, by identity.
    #[must_use]
    pub fn between(old: &Rig, new: &Rig) -> Self {
        let index: std::collections::HashMap<JointId, usize> = old
            .joints
            .iter()
            .enumerate()
            .map(|(at, joint)| (joint.id, at))
            .collect();
        Self {
            old_from_new: new
                .joints
                .iter()
                .map(|joint| index.get(&joint.id).copied())
                .collect(),
        }
    }

    /// The index of an old joint in the new rig; `None` if it was deleted.
    #[must_use]
    pub(crate) fn new_from_old(&self, old: usize) -> Option<usize> {
        self.old_from_new.iter().position(|&from| from == Some(old))
    }

    /// Transfers a map by joint; entries of deleted joints are dropped.
    #[must_use]
    pub fn carry<T: Clone>(
        &self,
        by_joint: &std::collections::BTreeMap<usize, T>,
    ) -> std::collections::BTreeMap<usize, T> {
        let carried = self
            .old_from_new
            .iter()
            .enumerate()
            .filter_map(|(new, old)| Some((new, by_joint.get(&(*old)?)?.clone())));
        carried.collect()
    }
}

#[cfg(test)]
mod tests;
