//! Edits of a rig.

mod mirrored;

use super::mirror::Mirror;
use super::{Remap, Rig};
use crate::math::Point64;

/// A bone of a rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RigBone {
    /// From the joint's parent to the joint.
    To(usize),
    /// From this leaf to its tail.
    Tail(usize),
}

impl RigBone {
    /// The joint that names the bone.
    #[must_use]
    pub fn joint(self) -> usize {
        match self {
            Self::To(joint) | Self::Tail(joint) => joint,
        }
    }

    fn with_joint(self, joint: usize) -> Self {
        match self {
            Self::To(_) => Self::To(joint),
            Self::Tail(_) => Self::Tail(joint),
        }
    }
}

/// One edit of a rig.
#[derive(Debug, Clone, PartialEq)]
pub enum RigEdit {
    /// Adds a joint: a root, or a child of another joint.
    Add {
        /// The parent.
        parent: Option<usize>,
        /// World position.
        position: Point64,
        /// Its name; generated if absent.
        name: Option<String>,
    },
    /// Moves a joint.
    Move {
        /// The joint.
        joint: usize,
        /// World position.
        position: Point64,
        /// Whether its descendants move with it.
        with_children: bool,
    },
    /// Inserts a joint on a bone.
    Insert {
        /// The bone.
        bone: RigBone,
        /// Position along it, 0..=1 from its start.
        at: f64,
    },
    /// Inserts joints that split a bone into pieces of equal length.
    Split {
        /// The bone.
        bone: RigBone,
        /// Number of pieces.
        parts: usize,
    },
    /// Merges a joint into its parent; if it was a leaf, the parent's bone then ends at the leaf's
    /// position.
    Merge(usize),
    /// Deletes a joint; its children become children of its parent.
    Delete(usize),
    /// Changes the parent of a joint.
    Reparent {
        /// The joint.
        joint: usize,
        /// The new parent; none makes it a root.
        parent: Option<usize>,
    },
    /// Renames a joint.
    Rename {
        /// The joint.
        joint: usize,
        /// The name.
        name: String,
    },
    /// Sets the end of a leaf's bone; `None`: it is computed from the flesh.
    SetTail {
        /// The joint.
        joint: usize,
        /// World position.
        tail: Option<Point64>,
    },
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// The new rig.
    pub rig: Rig,
    /// Origin of each joint in the old rig.
    pub remap: Remap,
    /// The edited joint's index in the new rig, to be selected.
    pub focus: Option<usize>,
}

/// Why an edit was rejected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The joint does not exist.
    #[error("there is no joint {joint}; the skeleton has {joints} joints")]
    NoJoint {
        /// The requested index.
        joint: usize,
        /// Number of joints.
        joints: usize,
    },
    /// A non-finite position.
    #[error("the position of a joint must be finite")]
    NotFinite,
    /// A root has no bone to a parent.
    #[error("there is no bone to \"{joint}\", which has no parent; choose a joint with a parent")]
    NoBone {
        /// The joint.
        joint: String,
    },
    /// A joint cannot become its own descendant.
    #[error(
        "\"{joint}\" cannot become a child of its descendant \"{parent}\"; choose a joint outside its branch"
    )]
    Cycle {
        /// The joint.
        joint: String,
        /// The requested parent.
        parent: String,
    },
    /// Names must be unique.
    #[error("the joint name \"{name}\" is in use; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// An empty name.
    #[error("a joint needs a name")]
    NoName,
    /// Only a leaf has a tail.
    #[error(
        "\"{joint}\" has children, where its bones end; only a joint without children has a tail"
    )]
    NoLeaf {
        /// The joint.
        joint: String,
    },
    /// Fewer than two pieces, or more than the maximum.
    #[error("a bone can be split into 2 to {most} pieces, not {parts}")]
    Parts {
        /// The requested number.
        parts: usize,
        /// The maximum.
        most: usize,
    },
    /// The maximum number of joints is exceeded.
    #[error("a skeleton can have {most} joints at most")]
    TooMany {
        /// The limit.
        most: usize,
    },
}

impl Rig {
    /// Applies one edit, on both sides of `mirror` if given.
    ///
    /// # Errors
    /// [`EditError`].
    pub fn edited(&self, edit: &RigEdit, mirror: Option<&Mirror>) -> Result<Edited, EditError> {
        let mut rig = self.clone();
        let focus = match mirror {
            None => rig.apply(edit)?,
            Some(mirror) => rig.apply_mirrored(edit, mirror)?,
        };
        let remap = Remap::between(self, &rig);
        let focus = focus.and_then(|id| rig.index_of(id));
        Ok(Edited { rig, remap, focus })
    }
}

impl RigEdit {
    /// The joint at which the edit starts; 0 for a new root.
    pub(super) fn joint(&self) -> usize {
        match self {
            Self::Add { parent, .. } => parent.unwrap_or_default(),
            Self::Insert { bone, .. } | Self::Split { bone, .. } => bone.joint(),
            Self::Merge(joint)
            | Self::Delete(joint)
            | Self::Move { joint, .. }
            | Self::Reparent { joint, .. }
            | Self::Rename { joint, .. }
            | Self::SetTail { joint, .. } => *joint,
        }
    }
}
