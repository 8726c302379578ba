//! The skeleton as it is edited: places and parents only, and every edit as a pure function.
//!
//! A [`Rig`] is made from a [`Skeleton`] or from nothing, changed by [`RigEdit`]s, and turned into a skeleton again by
//! [`Rig::to_skeleton`]. Joints keep an identity through all edits, so that what is said of joints elsewhere (poses, settings, clips)
//! can be carried from any rig to any other that came from it: [`Remap::between`].
//!
//! With a [`Mirror`] an edit of one side is done on the other side, too; names of sides end in `.L` and `.R`.
//!
//! - [`RigEdit`]: add, move, insert, split, merge, delete, reparent, rename, tails.
//! - [`Placer`]: where the middle of the flesh is.
//! - [`template`]: whole skeletons that are fitted to a mesh by a few landmarks.

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

/// What stays the same about a joint whatever is done to the rig around it.
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
    /// World position of the end of its bone while it is a leaf; without one the flesh says where the bone ends.
    pub tail: Option<Point64>,
    /// False for helpers that carry no skin.
    pub deforms: bool,
    /// The joint of the file's skeleton that it is; `None` for a new one.
    pub origin: Option<usize>,
}

/// A skeleton as it is edited: joints, parents before children.
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
        Self { joints: skeleton.joints().iter().enumerate().map(joint).collect(), next_id: skeleton.len() as u32 }
    }

    /// The rig with origins among the joints of another rig that it came from, instead of the file's.
    #[must_use]
    pub fn relative_to(&self, old: &Self) -> Self {
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

    /// How many joints there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// Whether there is no joint at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joint of that exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|joint| joint.name == name)
    }

    /// The joint of that identity.
    #[must_use]
    pub fn index_of(&self, id: JointId) -> Option<usize> {
        self.joints.iter().position(|joint| joint.id == id)
    }

    /// The child joints of a joint, ascending.
    pub fn children(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        (joint + 1..self.joints.len()).filter(move |&child| self.joints[child].parent == Some(joint))
    }

    /// Whether nothing hangs on the joint.
    #[must_use]
    pub fn is_leaf(&self, joint: usize) -> bool {
        self.children(joint).next().is_none()
    }

    /// Where the bone of a leaf ends, if that was said.
    #[must_use]
    pub fn tail(&self, joint: usize) -> Option<Point64> {
        self.joints.get(joint)?.tail.filter(|_| self.is_leaf(joint))
    }

    /// Whether `joint` is `ancestor` or hangs on it.
    #[must_use]
    pub fn is_below(&self, joint: usize, ancestor: usize) -> bool {
        let mut at = Some(joint);
        while let Some(index) = at {
            if index == ancestor {
                return true;
            }
            at = self.joints[index].parent;
        }
        false
    }

    /// The joint and all that hang on it, ascending.
    #[must_use]
    pub fn subtree(&self, joint: usize) -> Vec<usize> {
        let mut inside = vec![false; self.joints.len()];
        for index in joint..self.joints.len() {
            inside[index] = index == joint || self.joints[index].parent.is_some_and(|parent| inside[parent]);
        }
        (joint..self.joints.len()).filter(|&index| inside[index]).collect()
    }

    /// All bones: from every joint to each child, and the tails that were set.
    pub fn bones(&self) -> impl Iterator<Item = (RigBone, [Point64; 2])> + '_ {
        self.joints.iter().enumerate().flat_map(move |(index, joint)| {
            let to = joint.parent.map(|parent| (RigBone::To(index), [self.joints[parent].position, joint.position]));
            let tail = self.tail(index).map(|tail| (RigBone::Tail(index), [joint.position, tail]));
            to.into_iter().chain(tail)
        })
    }
}

/// Which joint of an old rig each joint of a new one was: a partial injection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remap {
    /// For every joint of the new rig its index in the old one; `None` for one that is new.
    pub old_from_new: Vec<Option<usize>>,
}

impl Remap {
    /// How the joints of one rig went over into another that came from it, or that it came from.
    #[must_use]
    pub fn between(old: &Rig, new: &Rig) -> Self {
        let index: std::collections::HashMap<JointId, usize> = old.joints.iter().enumerate().map(|(at, joint)| (joint.id, at)).collect();
        Self { old_from_new: new.joints.iter().map(|joint| index.get(&joint.id).copied()).collect() }
    }

    /// Where a joint of the old rig is in the new one; `None` if it was deleted.
    #[must_use]
    pub fn new_from_old(&self, old: usize) -> Option<usize> {
        self.old_from_new.iter().position(|&from| from == Some(old))
    }

    /// Whether every joint stays what it was.
    #[must_use]
    pub fn is_identity(&self, old_len: usize) -> bool {
        self.old_from_new.len() == old_len && self.old_from_new.iter().enumerate().all(|(new, old)| *old == Some(new))
    }

    /// Carries a map by joint over; what is said of deleted joints is dropped.
    #[must_use]
    pub fn carry<T: Clone>(&self, by_joint: &std::collections::BTreeMap<usize, T>) -> std::collections::BTreeMap<usize, T> {
        let carried = self.old_from_new.iter().enumerate().filter_map(|(new, old)| Some((new, by_joint.get(&(*old)?)?.clone())));
        carried.collect()
    }
}

#[cfg(test)]
mod tests;
