//! Rig files: joints by name.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{JointId, Rig, RigJoint};
use crate::math::Point64;
use crate::rig::Skeleton;

/// A rig as stored in files. Joints may be in any order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RigFile {
    /// The joints.
    pub joints: Vec<RigFileJoint>,
}

/// A joint as stored in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RigFileJoint {
    /// Unique name.
    pub name: String,
    /// Name of the parent; a root has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// World position in the bind pose.
    pub position: [f64; 3],
    /// World position of the end of its bone, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<[f64; 3]>,
    /// Whether it carries no skin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub helper: bool,
    /// Name of the corresponding joint of the character's file; a new joint has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Why a rig file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RigFileError {
    /// A joint name is repeated.
    #[error("the skeleton has two joints \"{name}\"")]
    Twice {
        /// The name.
        name: String,
    },
    /// The parent does not exist or is a descendant.
    #[error(
        "joint \"{name}\" has the parent \"{parent}\", which does not exist or is its descendant"
    )]
    Parent {
        /// The joint.
        name: String,
        /// The parent.
        parent: String,
    },
    /// A non-finite position.
    #[error("joint \"{name}\" needs a finite position")]
    NotFinite {
        /// The joint.
        name: String,
    },
}

impl Rig {
    /// The rig as stored in a file; `base` is the skeleton of the character's own file.
    #[must_use]
    pub fn to_file(&self, base: &Skeleton) -> RigFile {
        let joint = |joint: &RigJoint| RigFileJoint {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| self.joints[parent].name.clone()),
            position: joint.position.coords.into(),
            tail: joint.tail.map(|tail| tail.coords.into()),
            helper: !joint.deforms,
            from: joint
                .origin
                .and_then(|origin| base.joints().get(origin))
                .map(|origin| origin.name.clone()),
        };
        RigFile {
            joints: self.joints.iter().map(joint).collect(),
        }
    }

    /// The rig described by a file; a joint that is not in `base` counts as new.
    ///
    /// # Errors
    /// [`RigFileError`]: which joint, and what is wrong with it.
    pub fn from_file(file: &RigFile, base: &Skeleton) -> Result<Self, RigFileError> {
        let mut index: HashMap<&str, usize> = HashMap::new();
        for (at, joint) in file.joints.iter().enumerate() {
            if index.insert(&joint.name, at).is_some() {
                return Err(RigFileError::Twice {
                    name: joint.name.clone(),
                });
            }
            if joint
                .position
                .iter()
                .chain(joint.tail.iter().flatten())
                .any(|c| !c.is_finite())
            {
                return Err(RigFileError::NotFinite {
                    name: joint.name.clone(),
                });
            }
        }
        let mut next_id = base.len() as u32;
        let mut taken = vec![false; base.len()];
        let mut joints = Vec::with_capacity(file.joints.len());
        for joint in &file.joints {
            let unknown = |parent: &String| RigFileError::Parent {
                name: joint.name.clone(),
                parent: parent.clone(),
            };
            let parent = joint
                .parent
                .as_ref()
                .map(|parent| {
                    index
                        .get(parent.as_str())
                        .copied()
                        .ok_or_else(|| unknown(parent))
                })
                .transpose()?;
            let origin = joint
                .from
                .as_ref()
                .and_then(|from| base.find(from))
                .filter(|&origin| !std::mem::replace(&mut taken[origin], true));
            let id = origin.map_or(next_id, |origin| origin as u32);
            next_id += u32::from(origin.is_none());
            let tail = joint.tail.map(Point64::from);
            let (name, position) = (joint.name.clone(), Point64::from(joint.position));
            joints.push(RigJoint {
                id: JointId(id),
                name,
                parent,
                position,
                tail,
                deforms: !joint.helper,
                origin,
            });
        }
        let mut rig = Self { joints, next_id };
        if let Some(at) = rig.on_a_ring() {
            let parent = rig.joints[at]
                .parent
                .map(|parent| rig.joints[parent].name.clone())
                .unwrap_or_default();
            return Err(RigFileError::Parent {
                name: rig.joints[at].name.clone(),
                parent,
            });
        }
        rig.sort();
        Ok(rig)
    }

    /// A joint that is its own ancestor.
    fn on_a_ring(&self) -> Option<usize> {
        // 1: on the current path to the root; 2: known to end at a root.
        let mut state = vec![0_u32; self.joints.len()];
        for start in 0..self.joints.len() {
            let (mut at, mut way) = (Some(start), Vec::new());
            while let Some(joint) = at.filter(|&joint| state[joint] != 2) {
                if state[joint] == 1 {
                    return Some(joint);
                }
                state[joint] = 1;
                way.push(joint);
                at = self.joints[joint].parent;
            }
            for joint in way {
                state[joint] = 2;
            }
        }
        None
    }
}
