//! Edits of one side.

use super::change::{EditError, RigBone, RigEdit};
use super::names::{other_side, split_side};
use super::{JointId, Rig, RigJoint};
use crate::math::Point64;
use crate::rig::MOST_JOINTS;

/// Maximum number of pieces of a bone.
const MOST_PARTS: usize = 64;

impl Rig {
    /// Validates an edit before anything is changed.
    pub(super) fn check(&self, edit: &RigEdit) -> Result<(), EditError> {
        let finite = |point: &Point64| point.iter().all(|c| c.is_finite());
        let there = |joint: usize| {
            if joint < self.len() {
                Ok(())
            } else {
                Err(EditError::NoJoint {
                    joint,
                    joints: self.len(),
                })
            }
        };
        let name_of = |joint: usize| self.joints[joint].name.clone();
        if !matches!(edit, RigEdit::Add { parent: None, .. }) {
            there(edit.joint())?;
        }
        match edit {
            RigEdit::Add { position, .. } | RigEdit::Move { position, .. } if !finite(position) => {
                Err(EditError::NotFinite)
            }
            RigEdit::SetTail {
                tail: Some(tail), ..
            } if !finite(tail) => Err(EditError::NotFinite),
            RigEdit::SetTail { joint, .. } if !self.is_leaf(*joint) => Err(EditError::NoLeaf {
                joint: name_of(*joint),
            }),
            RigEdit::Add { .. } if self.len() >= MOST_JOINTS => {
                Err(EditError::TooMany { most: MOST_JOINTS })
            }
            RigEdit::Insert { at, .. } if !at.is_finite() => Err(EditError::NotFinite),
            RigEdit::Split { parts, .. } if !(2..=MOST_PARTS).contains(parts) => {
                Err(EditError::Parts {
                    parts: *parts,
                    most: MOST_PARTS,
                })
            }
            RigEdit::Insert { bone, .. } | RigEdit::Split { bone, .. } => {
                let there = match bone {
                    RigBone::To(joint) => self.joints[*joint].parent.is_some(),
                    RigBone::Tail(joint) => self.tail(*joint).is_some(),
                };
                if self.len() + MOST_PARTS > MOST_JOINTS {
                    return Err(EditError::TooMany { most: MOST_JOINTS });
                }
                if there {
                    Ok(())
                } else {
                    Err(EditError::NoBone {
                        joint: name_of(bone.joint()),
                    })
                }
            }
            RigEdit::Merge(joint) if self.joints[*joint].parent.is_none() => {
                Err(EditError::NoBone {
                    joint: name_of(*joint),
                })
            }
            RigEdit::Reparent {
                joint,
                parent: Some(parent),
            } => {
                there(*parent)?;
                if self.is_below(*parent, *joint) {
                    return Err(EditError::Cycle {
                        joint: name_of(*joint),
                        parent: name_of(*parent),
                    });
                }
                Ok(())
            }
            RigEdit::Rename { joint, name } => match self.find(name.trim()) {
                _ if name.trim().is_empty() => Err(EditError::NoName),
                Some(other) if other != *joint => Err(EditError::NameTaken {
                    name: name.trim().to_owned(),
                }),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Applies one edit; returns the edited joint.
    pub(super) fn apply(&mut self, edit: &RigEdit) -> Result<Option<JointId>, EditError> {
        self.check(edit)?;
        Ok(match edit {
            RigEdit::Add {
                parent,
                position,
                name,
            } => Some(self.add(*parent, position, name.as_deref())),
            RigEdit::Move {
                joint,
                position,
                with_children,
            } => Some(self.move_to(*joint, position, *with_children)),
            RigEdit::Insert { bone, at } => Some(self.insert(*bone, &[at.clamp(0.0, 1.0)])),
            RigEdit::Split { bone, parts } => {
                let places: Vec<f64> = (1..*parts)
                    .map(|part| part as f64 / *parts as f64)
                    .collect();
                Some(self.insert(*bone, &places))
            }
            RigEdit::Merge(joint) => self.merge(*joint),
            RigEdit::Delete(joint) => self.delete(*joint),
            RigEdit::Reparent { joint, parent } => {
                let id = self.joints[*joint].id;
                self.joints[*joint].parent = *parent;
                self.sort();
                Some(id)
            }
            RigEdit::Rename { joint, name } => {
                name.trim().clone_into(&mut self.joints[*joint].name);
                Some(self.joints[*joint].id)
            }
            RigEdit::SetTail { joint, tail } => {
                self.joints[*joint].tail = *tail;
                Some(self.joints[*joint].id)
            }
        })
    }

    fn make(&mut self, name: String, parent: Option<usize>, position: Point64) -> RigJoint {
        let id = JointId(self.next_id);
        self.next_id += 1;
        RigJoint {
            id,
            name,
            parent,
            position,
            tail: None,
            deforms: true,
            origin: None,
        }
    }

    fn add(&mut self, parent: Option<usize>, position: &Point64, name: Option<&str>) -> JointId {
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let name = name.map_or_else(|| self.child_name(parent), |name| self.free_name(name));
        let joint = self.make(name, parent, *position);
        let id = joint.id;
        self.joints.push(joint);
        id
    }

    fn move_to(&mut self, joint: usize, position: &Point64, with_children: bool) -> JointId {
        let by = position - self.joints[joint].position;
        let moved = if with_children {
            self.subtree(joint)
        } else {
            vec![joint]
        };
        for index in moved {
            let at = &mut self.joints[index];
            at.position += by;
            at.tail = at
                .tail
                .map(|tail| if with_children { tail + by } else { tail });
        }
        self.joints[joint].position = *position;
        self.joints[joint].id
    }

    /// Inserts joints at ascending positions, 0..=1, of a bone; returns the first.
    fn insert(&mut self, bone: RigBone, places: &[f64]) -> JointId {
        let first = JointId(self.next_id);
        match bone {
            RigBone::To(child) => {
                let Some(parent) = self.joints[child].parent else {
                    return self.joints[child].id;
                };
                let (from, to) = (self.joints[parent].position, self.joints[child].position);
                let child_id = self.joints[child].id;
                // The bone is named after the parent (the forearm leads to the hand), unless it
                // starts at the middle of the body.
                let [above, below] = [parent, child].map(|joint| &self.joints[joint].name);
                let wanted = if split_side(above).1 == split_side(below).1 {
                    above.clone()
                } else {
                    below.clone()
                };
                let mut above = parent;
                for (step, place) in places.iter().enumerate() {
                    let name = self.free_name(&wanted);
                    let joint = self.make(name, Some(above), from + (to - from) * *place);
                    let at = child + step;
                    self.joints.insert(at, joint);
                    for other in &mut self.joints[at + 1..] {
                        other.parent = other
                            .parent
                            .map(|parent| if parent >= at { parent + 1 } else { parent });
                    }
                    above = at;
                }
                if let Some(child) = self.index_of(child_id) {
                    self.joints[child].parent = Some(above);
                }
            }
            RigBone::Tail(leaf) => {
                let (from, Some(to)) = (self.joints[leaf].position, self.joints[leaf].tail) else {
                    return self.joints[leaf].id;
                };
                let mut above = leaf;
                for place in places {
                    let name = self.free_name(&self.joints[leaf].name.clone());
                    let joint = self.make(name, Some(above), from + (to - from) * *place);
                    self.joints.push(joint);
                    above = self.joints.len() - 1;
                }
                self.joints[above].tail = Some(to);
            }
        }
        first
    }

    fn merge(&mut self, joint: usize) -> Option<JointId> {
        let parent = self.joints[joint].parent?;
        let only = self.children(parent).count() == 1;
        if self.is_leaf(joint) && only {
            self.joints[parent].tail = Some(
                self.joints[joint]
                    .tail
                    .unwrap_or(self.joints[joint].position),
            );
        }
        self.delete(joint)
    }

    fn delete(&mut self, joint: usize) -> Option<JointId> {
        let parent = self.joints[joint].parent;
        let focus = parent.map(|parent| self.joints[parent].id);
        self.joints.remove(joint);
        for other in &mut self.joints {
            other.parent = match other.parent {
                Some(index) if index == joint => parent,
                Some(index) if index > joint => Some(index - 1),
                same => same,
            };
        }
        focus
    }

    /// Sorts parents before children, otherwise preserving the order.
    pub(super) fn sort(&mut self) {
        let mut order: Vec<usize> = Vec::with_capacity(self.joints.len());
        let mut place: Vec<Option<usize>> = vec![None; self.joints.len()];
        let mut waiting = Vec::new();
        for joint in 0..self.joints.len() {
            let mut at = Some(joint);
            while let Some(index) = at.filter(|&index| place[index].is_none()) {
                waiting.push(index);
                at = self.joints[index].parent;
            }
            while let Some(index) = waiting.pop() {
                place[index] = Some(order.len());
                order.push(index);
            }
        }
        let mut sorted: Vec<RigJoint> = order
            .iter()
            .map(|&index| self.joints[index].clone())
            .collect();
        for joint in &mut sorted {
            joint.parent = joint.parent.and_then(|parent| place[parent]);
        }
        self.joints = sorted;
    }

    /// Whether the name indicates a joint of a side.
    #[must_use]
    pub fn has_side(&self, joint: usize) -> bool {
        self.joints
            .get(joint)
            .is_some_and(|joint| other_side(&joint.name).is_some())
    }
}
