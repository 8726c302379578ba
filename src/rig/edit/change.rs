//! What can be done to a rig.

use super::mirror::{Mirror, Partner};
use super::names::{on_side, other_side};
use super::{Remap, Rig};
use crate::math::Point64;

/// A bone of a rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RigBone {
    /// From the parent of this joint to it.
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

/// One change of a rig.
#[derive(Debug, Clone, PartialEq)]
pub enum RigEdit {
    /// A new joint: a root, or one that hangs on another.
    Add {
        /// What it hangs on.
        parent: Option<usize>,
        /// World position.
        position: Point64,
        /// Its name; made up if there is none.
        name: Option<String>,
    },
    /// A joint to another place.
    Move {
        /// Which.
        joint: usize,
        /// World position.
        position: Point64,
        /// All that hangs on it goes along.
        with_children: bool,
    },
    /// A new joint on a bone.
    Insert {
        /// Which bone.
        bone: RigBone,
        /// Where on it, 0..=1 from its start.
        at: f64,
    },
    /// New joints that cut a bone into pieces of one length.
    Split {
        /// Which bone.
        bone: RigBone,
        /// How many pieces.
        parts: usize,
    },
    /// A joint vanishes into its parent; the bone of a leaf's parent then ends where the leaf's did.
    Merge(usize),
    /// A joint vanishes; its children hang on its parent.
    Delete(usize),
    /// A joint hangs on another one, or on nothing.
    Reparent {
        /// Which.
        joint: usize,
        /// What it is to hang on.
        parent: Option<usize>,
    },
    /// Another name.
    Rename {
        /// Which joint.
        joint: usize,
        /// The name.
        name: String,
    },
    /// Where the bone of a leaf ends; `None` leaves it to the flesh.
    SetTail {
        /// Which joint.
        joint: usize,
        /// World position.
        tail: Option<Point64>,
    },
}

/// A rig after an edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// The new rig.
    pub rig: Rig,
    /// Where its joints come from.
    pub remap: Remap,
    /// The joint that the edit was about, in the new rig: what should be selected now.
    pub focus: Option<usize>,
}

/// Why an edit can't be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such joint.
    #[error("there is no joint {joint} in a skeleton of {joints} joints")]
    NoJoint {
        /// What was asked for.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// A place that is none.
    #[error("a joint needs a place with finite coordinates")]
    NotFinite,
    /// A root has no bone that leads to it.
    #[error("no bone leads to \"{joint}\", which has no parent; choose a joint with a parent")]
    NoBone {
        /// The joint.
        joint: String,
    },
    /// A joint can't hang on itself.
    #[error("\"{joint}\" can't hang on \"{parent}\", which hangs on it; choose a joint outside its branch")]
    Cycle {
        /// The joint.
        joint: String,
        /// What it was to hang on.
        parent: String,
    },
    /// Names are unique.
    #[error("there is a joint \"{name}\" already; choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name without a letter.
    #[error("a joint needs a name")]
    NoName,
    /// A tail is the end of a leaf's bone.
    #[error("\"{joint}\" has children, and its bones end there; only a joint without children has a tail")]
    NoLeaf {
        /// The joint.
        joint: String,
    },
    /// Fewer than two pieces or more than anybody needs.
    #[error("a bone can be split into 2 to {most} pieces, not {parts}")]
    Parts {
        /// What was asked for.
        parts: usize,
        /// What can be done.
        most: usize,
    },
    /// More joints than a file can hold.
    #[error("a skeleton can have {most} joints at most")]
    TooMany {
        /// The limit.
        most: usize,
    },
}

impl Rig {
    /// The rig with one change, on both sides of `mirror` if there is one.
    ///
    /// # Errors
    /// [`EditError`]: one sentence on what is wrong.
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

    /// Does the edit on its side, and the like on the other.
    fn apply_mirrored(&mut self, edit: &RigEdit, mirror: &Mirror) -> Result<Option<super::JointId>, EditError> {
        self.check(edit)?;
        if let RigEdit::Add { parent, position, name } = edit {
            return self.add_mirrored(*parent, position, name.as_deref(), mirror);
        }
        let joint = edit.joint();
        let partner = mirror.partner(self, joint);
        let other = match partner {
            Partner::Itself => {
                let id = self.apply(&edit.onto_plane(mirror))?;
                return Ok(id);
            }
            Partner::Missing => return self.apply(edit),
            Partner::Joint(other) => other,
        };
        let edit = &edit.on_own_side(mirror.side(&self.joints[joint].position) >= 0.0);
        let reflected = edit.reflected(self, other, mirror);
        // Indices move with the first edit; identities don't.
        let before: Vec<_> = self.joints.iter().map(|joint| joint.id).collect();
        let focus = self.apply(edit)?;
        if let Some(reflected) = reflected.and_then(|edit| edit.renumbered(&|old| self.index_of(before[old]))) {
            self.apply(&reflected)?;
            if let (RigEdit::Insert { .. } | RigEdit::Split { .. }, Some(focus)) = (edit, focus) {
                self.name_new_pairs(before.len(), mirror);
                return Ok(Some(focus));
            }
        }
        Ok(focus)
    }

    fn add_mirrored(
        &mut self,
        parent: Option<usize>,
        position: &Point64,
        name: Option<&str>,
        mirror: &Mirror,
    ) -> Result<Option<super::JointId>, EditError> {
        let add = |parent, position, name| RigEdit::Add { parent, position, name: Some(name) };
        let name = name.map_or_else(|| self.child_name(parent), str::to_owned);
        let other_parent = match parent {
            None => Some(None),
            Some(parent) => mirror.partner(self, parent).joint(parent).map(Some),
        };
        let on_plane = mirror.is_on_plane(position);
        if on_plane && other_parent == Some(parent) {
            let name = self.free_name(&on_side(&name, None));
            return self.apply(&add(parent, mirror.onto_plane(position), name));
        }
        let Some(other_parent) = other_parent else { return self.apply(&add(parent, *position, name)) };
        let pair_of = |name: String| match other_side(&name) {
            // The parent's name knows better than the place.
            Some(other) if parent != other_parent => [name, other],
            _ => {
                let left = mirror.side(position) >= 0.0;
                [on_side(&name, Some(left)), on_side(&name, Some(!left))]
            }
        };
        let mut names = pair_of(name);
        if names.iter().any(|name| self.find(name).is_some()) {
            let free = self.free_name(&names[0]);
            names = pair_of(free);
        }
        let [this, that] = names;
        let focus = self.apply(&add(parent, *position, this))?;
        self.apply(&add(other_parent, mirror.reflect(position), that))?;
        Ok(focus)
    }

    /// Gives the joints from `first` in the order of their making names of their sides, pair by pair.
    fn name_new_pairs(&mut self, known: usize, mirror: &Mirror) {
        let first = self.next_id - (self.joints.len() - known) as u32;
        let count = (self.joints.len() - known) / 2;
        for pair in 0..count as u32 {
            let [a, b] = [first + pair, first + count as u32 + pair].map(|id| self.index_of(super::JointId(id)));
            let (Some(a), Some(b)) = (a, b) else { continue };
            let left = mirror.side(&self.joints[a].position) >= 0.0;
            let (own, stem) = (self.joints[a].name.clone(), on_side(&self.joints[a].name, None));
            if other_side(&own).is_none() {
                self.joints[a].name.clear();
                self.joints[b].name.clear();
                let free = self.free_name(&on_side(&stem, Some(left)));
                self.joints[a].name = free;
            }
            let Some(other) = other_side(&self.joints[a].name) else { continue };
            self.joints[b].name.clear();
            self.joints[b].name = self.free_name(&other);
        }
    }
}

impl RigEdit {
    /// The joint that the edit starts from; 0 for a new root.
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

    /// The edit of a joint in the middle, which stays there.
    fn onto_plane(&self, mirror: &Mirror) -> Self {
        match self.clone() {
            Self::Move { joint, position, with_children } => Self::Move { joint, position: mirror.onto_plane(&position), with_children },
            Self::SetTail { joint, tail: Some(tail) } if mirror.is_on_plane(&tail) => {
                Self::SetTail { joint, tail: Some(mirror.onto_plane(&tail)) }
            }
            edit => edit,
        }
    }

    /// The edit with a name that says which side it is on.
    fn on_own_side(&self, left: bool) -> Self {
        match self {
            Self::Rename { joint, name } if other_side(name.trim()).is_none() && !name.trim().is_empty() => {
                Self::Rename { joint: *joint, name: on_side(name.trim(), Some(left)) }
            }
            edit => edit.clone(),
        }
    }

    /// The like edit of the joint on the other side; `None` where there is nothing like it.
    fn reflected(&self, rig: &Rig, other: usize, mirror: &Mirror) -> Option<Self> {
        Some(match self {
            Self::Add { .. } => return None,
            Self::Move { position, with_children, .. } => {
                Self::Move { joint: other, position: mirror.reflect(position), with_children: *with_children }
            }
            Self::Insert { bone, at } => Self::Insert { bone: bone.with_joint(other), at: *at },
            Self::Split { bone, parts } => Self::Split { bone: bone.with_joint(other), parts: *parts },
            Self::Merge(_) => Self::Merge(other),
            Self::Delete(_) => Self::Delete(other),
            Self::Reparent { parent: None, .. } => Self::Reparent { joint: other, parent: None },
            Self::Reparent { parent: Some(parent), .. } => {
                let parent = mirror.partner(rig, *parent).joint(*parent)?;
                Self::Reparent { joint: other, parent: Some(parent) }
            }
            Self::Rename { name, .. } => Self::Rename { joint: other, name: other_side(name)? },
            Self::SetTail { tail, .. } => Self::SetTail { joint: other, tail: tail.map(|tail| mirror.reflect(&tail)) },
        })
    }

    /// The edit with other indices; `None` if one of its joints is gone.
    fn renumbered(self, index: &impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let joint = index(self.joint())?;
        Some(match self {
            Self::Add { position, name, parent } => Self::Add { parent: parent.and(Some(joint)), position, name },
            Self::Move { position, with_children, .. } => Self::Move { joint, position, with_children },
            Self::Insert { bone, at } => Self::Insert { bone: bone.with_joint(joint), at },
            Self::Split { bone, parts } => Self::Split { bone: bone.with_joint(joint), parts },
            Self::Merge(_) => Self::Merge(joint),
            Self::Delete(_) => Self::Delete(joint),
            Self::Reparent { parent, .. } => Self::Reparent { joint, parent: parent.map(index).map_or(Some(None), |p| p.map(Some))? },
            Self::Rename { name, .. } => Self::Rename { joint, name },
            Self::SetTail { tail, .. } => Self::SetTail { joint, tail },
        })
    }
}
