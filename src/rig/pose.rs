//! Poses, and their JSON form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MorphWeights, Skeleton, Trs};
use crate::math::{Quat, Vec64};

/// The local transform of every joint of one skeleton, and the weights of morphs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// One per joint; absolute (not relative to rest), in the frame `parent_from_base` of the
    /// joint.
    pub locals: Vec<Trs>,
    /// Weights of morph controls, relative to rest.
    pub morphs: MorphWeights,
}

/// A pose file's entry for one joint: a change of the rest pose, in the frame of the joint's
/// parent.
///
/// With rest translation `t₀` and rotation `q₀` the joint gets translation `t₀ + translation` and rotation `rotation · q₀`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JointDelta {
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Displacement in the parent's units.
    pub translation: [f64; 3],
}

impl Default for JointDelta {
    fn default() -> Self {
        Self {
            rotation: [0.0, 0.0, 0.0, 1.0],
            translation: [0.0; 3],
        }
    }
}

/// A pose as JSON: `{"joints": {"name": {"rotation": [x,y,z,w], "translation": [x,y,z]}}, "morphs": {"name": weight}}`, local
/// to the parent, relative to rest. Unlisted joints and morphs stay at rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoseFile {
    /// Changes by joint name.
    pub joints: BTreeMap<String, JointDelta>,
    /// Weights of morphs and expressions by name. Read and written by the character, which knows the names
    /// ([`crate::character::Character::pose_from_file`]).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub morphs: BTreeMap<String, f64>,
}

/// Why a pose cannot be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// No joint of that name.
    #[error("there is no joint \"{name}\"{}", nearest.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default())]
    UnknownJoint {
        /// The requested name.
        name: String,
        /// The most similar joint name, if any.
        nearest: Option<String>,
    },
    /// An invalid rotation.
    #[error(
        "the rotation of joint \"{name}\" must be four finite numbers x, y, z, w, not all zero"
    )]
    BadRotation {
        /// The joint.
        name: String,
    },
    /// A non-finite translation.
    #[error("the translation of joint \"{name}\" must be three finite numbers")]
    BadTranslation {
        /// The joint.
        name: String,
    },
    /// No morph or expression of that name.
    #[error("there is no morph or expression \"{name}\"{}", nearest.as_ref().map(|n| format!("; did you mean \"{n}\"?")).unwrap_or_default())]
    UnknownMorph {
        /// The requested name.
        name: String,
        /// The most similar name, if any.
        nearest: Option<String>,
    },
    /// A weight that is not finite.
    #[error("the weight of morph \"{name}\" must be a finite number")]
    BadMorph {
        /// The morph.
        name: String,
    },
}

impl Pose {
    /// Interpolates between two poses of one skeleton.
    #[must_use]
    pub fn lerp(&self, other: &Self, t: f64) -> Self {
        Self {
            locals: self
                .locals
                .iter()
                .zip(&other.locals)
                .map(|(a, b)| a.lerp(b, t))
                .collect(),
            morphs: self.morphs.lerp(&other.morphs, t),
        }
    }

    /// Rotates a joint about the world's axes through the joint, on top of this pose: `rotation`
    /// applies to the joint and its descendants, whose local transforms are unchanged. Exact where the joint's base frame is a rotation
    /// with one scale, mirrored or not.
    pub fn rotate_about_world_axes(&mut self, skeleton: &Skeleton, joint: usize, rotation: &Quat) {
        let world = skeleton.world_from_joint(self);
        let base = match skeleton.joints()[joint].parent {
            Some(parent) => world[parent] * skeleton.joints()[joint].parent_from_base,
            None => skeleton.joints()[joint].parent_from_base,
        };
        let base = Trs::from_affine(&base);
        let turn = base.rotation.inverse() * rotation * base.rotation;
        // In a mirrored frame (its x scale is negative) the axis is mirrored and the angle reversed: together y and z change their signs.
        let turn = if base.scale.x < 0.0 {
            let [x, y, z, w] = turn.coords.into();
            Quat::new_unchecked(nalgebra::Quaternion::new(w, x, -y, -z))
        } else {
            turn
        };
        let local = &mut self.locals[joint].rotation;
        *local = turn * *local;
    }

    /// Applies the joints of a pose file to the rest pose of a skeleton.
    ///
    /// # Errors
    /// [`PoseError`] for an unknown joint, or invalid numbers.
    pub fn from_file(file: &PoseFile, skeleton: &Skeleton) -> Result<Self, PoseError> {
        let mut pose = skeleton.rest_pose();
        for (name, delta) in &file.joints {
            let joint = skeleton.find_or_suggest(name)?;
            let [x, y, z, w] = delta.rotation;
            let rotation = nalgebra::Quaternion::new(w, x, y, z);
            let translation = Vec64::from(delta.translation);
            if !rotation.coords.iter().all(|c| c.is_finite()) || rotation.norm() < 1e-12 {
                return Err(PoseError::BadRotation { name: name.clone() });
            }
            if !translation.iter().all(|c| c.is_finite()) {
                return Err(PoseError::BadTranslation { name: name.clone() });
            }
            let local = &mut pose.locals[joint];
            local.rotation = Quat::new_normalize(rotation) * local.rotation;
            local.translation += translation;
        }
        Ok(pose)
    }

    /// The joints of the pose as changes of the rest pose; joints at rest are omitted. Scale is not part of a
    /// pose file.
    #[must_use]
    pub fn to_file(&self, skeleton: &Skeleton) -> PoseFile {
        let mut joints = BTreeMap::new();
        for (joint, local) in skeleton.joints().iter().zip(&self.locals) {
            let rotation = local.rotation * joint.rest.rotation.inverse();
            let translation = local.translation - joint.rest.translation;
            if rotation.angle() > 1e-9 || translation.norm() > 1e-12 {
                let q = rotation.coords;
                let delta = JointDelta {
                    rotation: [q.x, q.y, q.z, q.w],
                    translation: translation.into(),
                };
                joints.insert(joint.name.clone(), delta);
            }
        }
        PoseFile {
            joints,
            morphs: BTreeMap::new(),
        }
    }
}

/// The most similar of the known names, if one is similar.
pub(crate) fn most_similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    known
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name), known))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

impl Skeleton {
    /// The joint of that name.
    ///
    /// # Errors
    /// [`PoseError::UnknownJoint`] with the most similar name.
    pub fn find_or_suggest(&self, name: &str) -> Result<usize, PoseError> {
        self.find(name).ok_or_else(|| {
            let nearest = most_similar(name, self.joints().iter().map(|joint| &*joint.name));
            PoseError::UnknownJoint {
                name: name.to_owned(),
                nearest,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Affine, Point64, linear_part};

    #[test]
    fn world_rotations_turn_by_the_same_in_a_mirrored_frame() {
        let joints = [
            ("root".to_owned(), None, Point64::new(0.0, 1.0, 0.0)),
            ("bone".to_owned(), Some(0), Point64::new(0.3, 1.1, -0.2)),
        ];
        let plain = Skeleton::from_positions(&joints).unwrap();
        let turn = Quat::from_euler_angles(0.4, -0.9, 1.3);
        for scale in [
            Vec64::new(1.0, 1.0, 1.0),
            Vec64::new(-1.0, 1.0, 1.0),
            Vec64::new(2.0, -2.0, 2.0),
        ] {
            let mut root = plain.joints()[0].clone();
            root.rest.scale = scale;
            root.rest.rotation = Quat::from_euler_angles(0.2, 0.7, -0.3);
            let skeleton = Skeleton::new(vec![root, plain.joints()[1].clone()]).unwrap();
            let before = skeleton.world_from_joint(&skeleton.rest_pose());
            let mut pose = skeleton.rest_pose();
            pose.rotate_about_world_axes(&skeleton, 1, &turn);
            let after: Vec<Affine> = skeleton.world_from_joint(&pose);
            let expected = turn.to_rotation_matrix().into_inner() * linear_part(&before[1]);
            let apart = (linear_part(&after[1]) - expected).norm();
            assert!(apart < 1e-10, "{scale:?}: {apart}");
        }
    }
}
