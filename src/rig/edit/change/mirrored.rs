//! Edits on both sides of the mirror plane.

use super::{EditError, RigEdit};
use crate::math::Point64;
use crate::rig::edit::mirror::{Mirror, Partner};
use crate::rig::edit::names::{on_side, other_side};
use crate::rig::edit::{JointId, Rig};

impl Rig {
    /// Applies the edit on its side, and the mirrored edit on the other.
    pub(super) fn apply_mirrored(
        &mut self,
        edit: &RigEdit,
        mirror: &Mirror,
    ) -> Result<Option<JointId>, EditError> {
        self.check(edit)?;
        if let RigEdit::Add {
            parent,
            position,
            name,
        } = edit
        {
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
        // Indices change with the first edit; identities do not.
        let before: Vec<_> = self.joints.iter().map(|joint| joint.id).collect();
        let focus = self.apply(edit)?;
        if let Some(reflected) =
            reflected.and_then(|edit| edit.renumbered(&|old| self.index_of(before[old])))
        {
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
    ) -> Result<Option<JointId>, EditError> {
        let add = |parent, position, name| RigEdit::Add {
            parent,
            position,
            name: Some(name),
        };
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
        let Some(other_parent) = other_parent else {
            return self.apply(&add(parent, *position, name));
        };
        let pair_of = |name: String| match other_side(&name) {
            // The parent's name determines the side more reliably than the position.
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

    /// Gives the new joints from `first` on side-specific names, pair by pair in order of creation.
    fn name_new_pairs(&mut self, known: usize, mirror: &Mirror) {
        let first = self.next_id - (self.joints.len() - known) as u32;
        let count = (self.joints.len() - known) / 2;
        for pair in 0..count as u32 {
            let [a, b] =
                [first + pair, first + count as u32 + pair].map(|id| self.index_of(JointId(id)));
            let (Some(a), Some(b)) = (a, b) else { continue };
            let left = mirror.side(&self.joints[a].position) >= 0.0;
            let (own, stem) = (
                self.joints[a].name.clone(),
                on_side(&self.joints[a].name, None),
            );
            if other_side(&own).is_none() {
                self.joints[a].name.clear();
                self.joints[b].name.clear();
                let free = self.free_name(&on_side(&stem, Some(left)));
                self.joints[a].name = free;
            }
            let Some(other) = other_side(&self.joints[a].name) else {
                continue;
            };
            self.joints[b].name.clear();
            self.joints[b].name = self.free_name(&other);
        }
    }
}

impl RigEdit {
    /// The edit of a joint on the plane, restricted to the plane.
    fn onto_plane(&self, mirror: &Mirror) -> Self {
        match self.clone() {
            Self::Move {
                joint,
                position,
                with_children,
            } => Self::Move {
                joint,
                position: mirror.onto_plane(&position),
                with_children,
            },
            Self::SetTail {
                joint,
                tail: Some(tail),
            } if mirror.is_on_plane(&tail) => Self::SetTail {
                joint,
                tail: Some(mirror.onto_plane(&tail)),
            },
            edit => edit,
        }
    }

    /// The edit with the name of its side.
    fn on_own_side(&self, left: bool) -> Self {
        match self {
            Self::Rename { joint, name }
                if other_side(name.trim()).is_none() && !name.trim().is_empty() =>
            {
                Self::Rename {
                    joint: *joint,
                    name: on_side(name.trim(), Some(left)),
                }
            }
            edit => edit.clone(),
        }
    }

    /// The corresponding edit of the mirrored joint; `None` if there is none.
    fn reflected(&self, rig: &Rig, other: usize, mirror: &Mirror) -> Option<Self> {
        Some(match self {
            Self::Add { .. } => return None,
            Self::Move {
                position,
                with_children,
                ..
            } => Self::Move {
                joint: other,
                position: mirror.reflect(position),
                with_children: *with_children,
            },
            Self::Insert { bone, at } => Self::Insert {
                bone: bone.with_joint(other),
                at: *at,
            },
            Self::Split { bone, parts } => Self::Split {
                bone: bone.with_joint(other),
                parts: *parts,
            },
            Self::Merge(_) => Self::Merge(other),
            Self::Delete(_) => Self::Delete(other),
            Self::Reparent { parent: None, .. } => Self::Reparent {
                joint: other,
                parent: None,
            },
            Self::Reparent {
                parent: Some(parent),
                ..
            } => {
                let parent = mirror.partner(rig, *parent).joint(*parent)?;
                Self::Reparent {
                    joint: other,
                    parent: Some(parent),
                }
            }
            Self::Rename { name, .. } => Self::Rename {
                joint: other,
                name: other_side(name)?,
            },
            Self::SetTail { tail, .. } => Self::SetTail {
                joint: other,
                tail: tail.map(|tail| mirror.reflect(&tail)),
            },
        })
    }

    /// The edit with remapped indices; `None` if one of its joints was deleted.
    fn renumbered(self, index: &impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let joint = index(self.joint())?;
        Some(match self {
            Self::Add {
                position,
                name,
                parent,
            } => Self::Add {
                parent: parent.and(Some(joint)),
                position,
                name,
            },
            Self::Move {
                position,
                with_children,
                ..
            } => Self::Move {
                joint,
                position,
                with_children,
            },
            Self::Insert { bone, at } => Self::Insert {
                bone: bone.with_joint(joint),
                at,
            },
            Self::Split { bone, parts } => Self::Split {
                bone: bone.with_joint(joint),
                parts,
            },
            Self::Merge(_) => Self::Merge(joint),
            Self::Delete(_) => Self::Delete(joint),
            Self::Reparent { parent, .. } => Self::Reparent {
                joint,
                parent: parent.map(index).map_or(Some(None), |p| p.map(Some))?,
            },
            Self::Rename { name, .. } => Self::Rename { joint, name },
            Self::SetTail { tail, .. } => Self::SetTail { joint, tail },
        })
    }
}
