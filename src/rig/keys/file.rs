//! Keyed clips and named poses as JSON: joints by name, quaternions x, y, z, w, transforms local to the parent as in glTF.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Ease, Key, KeyedClip, LONGEST_SECS, Slope};
use crate::math::{Quat, Vec64};
use crate::rig::{FeetRules, Plant, Pose, PoseError, Skeleton, Trs};

/// A [`KeyedClip`] as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyedClipFile {
    /// Its name.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// Seconds.
    pub duration: f64,
    /// Keys by joint name.
    pub joints: BTreeMap<String, Vec<KeyFile>>,
    /// Planted hands and feet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plants: Vec<PlantFile>,
    /// Whether soles stay above the ground.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub above_ground: bool,
    /// Keys of morphs by name, written and read by whoever knows the names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub morphs: BTreeMap<String, MorphKeysFile>,
}

/// A [`Plant`] as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantFile {
    /// The last joint of the limb.
    pub joint: String,
    /// Start, seconds from the clip's start.
    pub from: f64,
    /// End, seconds.
    pub to: f64,
}

/// Keys of a morph as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MorphKeysFile {
    /// Seconds from the clip's start, ascending.
    pub times: Vec<f64>,
    /// A weight per key; for `cubic` in-tangent, weight and out-tangent.
    pub values: Vec<f64>,
    /// `step`, `linear` or `cubic`.
    pub interpolation: String,
}

/// A local transform as stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointValue {
    /// In the parent's units.
    pub translation: [f64; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Along the local axes.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    pub scale: [f64; 3],
}

fn unscaled() -> [f64; 3] {
    [1.0; 3]
}

fn is_unscaled(scale: &[f64; 3]) -> bool {
    *scale == [1.0; 3]
}

/// A [`Key`] as stored in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Seconds from the clip's start.
    pub time: f64,
    /// The joint's transform.
    pub value: JointValue,
    /// `step`, `linear`, `smooth`, or `free` with slopes.
    pub ease: EaseName,
    /// For `free`: slopes at this key and at the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slopes: Option<[SlopeValue; 2]>,
}

/// An [`Ease`] as stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EaseName {
    /// [`Ease::Step`].
    Step,
    /// [`Ease::Linear`].
    Linear,
    /// [`Ease::Smooth`].
    Smooth,
    /// [`Ease::Free`].
    Free,
}

/// A [`Slope`] as stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlopeValue {
    /// Of the translation, per second.
    pub translation: [f64; 3],
    /// Of the quaternion x, y, z, w, per second.
    pub rotation: [f64; 4],
    /// Of the scale, per second.
    pub scale: [f64; 3],
}

/// Why stored keys or poses are invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// They belong to another skeleton.
    #[error("in \"{name}\" {source}")]
    Joint {
        /// The clip or pose.
        name: String,
        /// Which joint.
        source: PoseError,
    },
    /// A non-finite number, or a time outside the clip.
    #[error("in \"{name}\" the key {index} of joint \"{joint}\" has {what}")]
    Number {
        /// The clip or pose.
        name: String,
        /// The joint.
        joint: String,
        /// Index of the key.
        index: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Duration or frame rate is out of range.
    #[error(
        "the clip \"{name}\" needs a duration from 0 to {LONGEST_SECS} seconds and 1 to 1000 frames per second"
    )]
    Length {
        /// The clip.
        name: String,
    },
}

impl From<&Trs> for JointValue {
    fn from(value: &Trs) -> Self {
        let q = value.rotation.coords;
        Self {
            translation: value.translation.into(),
            rotation: [q.x, q.y, q.z, q.w],
            scale: value.scale.into(),
        }
    }
}

impl JointValue {
    /// The transform, if all numbers are finite and the rotation is valid.
    fn to_trs(self) -> Result<Trs, &'static str> {
        let [x, y, z, w] = self.rotation;
        let raw = nalgebra::Quaternion::new(w, x, y, z);
        let finite = self
            .translation
            .iter()
            .chain(&self.rotation)
            .chain(&self.scale)
            .all(|number| number.is_finite());
        if !finite {
            return Err("a number that is not finite");
        }
        let norm = raw.norm();
        if norm < 1e-9 {
            return Err("a rotation of length 0; it must be a unit quaternion x, y, z, w");
        }
        // A unit quaternion is kept bit-exactly.
        let rotation = if (norm - 1.0).abs() < 1e-9 {
            Quat::new_unchecked(raw)
        } else {
            Quat::new_normalize(raw)
        };
        Ok(Trs {
            translation: Vec64::from(self.translation),
            rotation,
            scale: Vec64::from(self.scale),
        })
    }
}

impl From<&Slope> for SlopeValue {
    fn from(slope: &Slope) -> Self {
        let q = slope.rotation.coords;
        Self {
            translation: slope.translation.into(),
            rotation: [q.x, q.y, q.z, q.w],
            scale: slope.scale.into(),
        }
    }
}

impl SlopeValue {
    fn to_slope(self) -> Slope {
        let [x, y, z, w] = self.rotation;
        let rotation = nalgebra::Quaternion::new(w, x, y, z);
        Slope {
            translation: Vec64::from(self.translation),
            rotation,
            scale: Vec64::from(self.scale),
        }
    }
}

impl From<&Key> for KeyFile {
    fn from(key: &Key) -> Self {
        let (ease, slopes) = match &key.ease {
            Ease::Step => (EaseName::Step, None),
            Ease::Linear => (EaseName::Linear, None),
            Ease::Smooth => (EaseName::Smooth, None),
            Ease::Free(slopes) => (
                EaseName::Free,
                Some([(&slopes[0]).into(), (&slopes[1]).into()]),
            ),
        };
        Self {
            time: key.time_secs,
            value: (&key.value).into(),
            ease,
            slopes,
        }
    }
}

impl KeyFile {
    fn to_key(&self) -> Result<Key, &'static str> {
        if !(0.0..=LONGEST_SECS).contains(&self.time) {
            return Err("a time before the start or after the longest clip");
        }
        let finite = |slope: &SlopeValue| {
            let mut numbers = slope
                .translation
                .iter()
                .chain(&slope.rotation)
                .chain(&slope.scale);
            numbers.all(|number| number.is_finite())
        };
        let ease = match (self.ease, &self.slopes) {
            (EaseName::Step, _) => Ease::Step,
            (EaseName::Linear, _) => Ease::Linear,
            (EaseName::Free, Some(slopes)) if slopes.iter().all(finite) => {
                Ease::Free(Box::new(slopes.map(SlopeValue::to_slope)))
            }
            (EaseName::Free, Some(_)) => return Err("a slope that is not finite"),
            (EaseName::Smooth | EaseName::Free, _) => Ease::Smooth,
        };
        Ok(Key {
            time_secs: self.time,
            value: self.value.to_trs()?,
            ease,
        })
    }
}

impl KeyedClip {
    /// The stored form, without morphs.
    #[must_use]
    pub fn to_file(&self, skeleton: &Skeleton) -> KeyedClipFile {
        let joints = self.tracks().filter_map(|(joint, keys)| {
            let known = skeleton.joints().get(joint)?;
            Some((known.name.clone(), keys.iter().map(KeyFile::from).collect()))
        });
        KeyedClipFile {
            name: self.name.clone(),
            fps: self.fps,
            duration: self.duration_secs,
            joints: joints.collect(),
            plants: self.plants_to_file(skeleton),
            above_ground: self.feet.above_ground,
            morphs: BTreeMap::new(),
        }
    }

    fn plants_to_file(&self, skeleton: &Skeleton) -> Vec<PlantFile> {
        let named = self.feet.plants().iter().filter_map(|plant| {
            let known = skeleton.joints().get(plant.joint)?;
            Some(PlantFile {
                joint: known.name.clone(),
                from: plant.from_secs,
                to: plant.to_secs,
            })
        });
        named.collect()
    }

    /// Reads the stored form. Planted feet have an effect once [`Self::set_feet`] has named the body.
    ///
    /// # Errors
    /// [`KeysError`].
    pub fn from_file(file: &KeyedClipFile, skeleton: &Skeleton) -> Result<Self, KeysError> {
        let name = || file.name.clone();
        if !(0.0..=LONGEST_SECS).contains(&file.duration) || !(1.0..=1000.0).contains(&file.fps) {
            return Err(KeysError::Length { name: name() });
        }
        let mut clip = Self::new(name(), file.fps, file.duration);
        for (joint_name, keys) in &file.joints {
            let joint =
                skeleton
                    .find_or_suggest(joint_name)
                    .map_err(|source| KeysError::Joint {
                        name: name(),
                        source,
                    })?;
            for (index, key) in keys.iter().enumerate() {
                let wrong = |what| KeysError::Number {
                    name: name(),
                    joint: joint_name.clone(),
                    index,
                    what,
                };
                clip.put(joint, key.to_key().map_err(wrong)?);
            }
        }
        let plants = file.plants.iter().map(|plant| {
            let joint = skeleton.find_or_suggest(&plant.joint);
            let joint = joint.map_err(|source| KeysError::Joint {
                name: name(),
                source,
            })?;
            Ok(Plant {
                joint,
                from_secs: plant.from,
                to_secs: plant.to,
            })
        });
        let plants = plants.collect::<Result<Vec<Plant>, KeysError>>()?;
        clip.set_feet(FeetRules::new(plants, file.above_ground), None);
        Ok(clip)
    }
}

/// A pose with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPose {
    /// Its name.
    pub name: String,
    /// The pose.
    pub pose: Pose,
}

/// A [`NamedPose`] as stored in a file; joints at rest are omitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedPoseFile {
    /// Its name.
    pub name: String,
    /// Transforms by joint name.
    pub joints: BTreeMap<String, JointValue>,
    /// Weights of morphs by name, written and read by whoever knows the names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub morphs: BTreeMap<String, f64>,
}

impl NamedPose {
    /// The stored form, without morphs.
    #[must_use]
    pub fn to_file(&self, skeleton: &Skeleton) -> NamedPoseFile {
        let posed = skeleton
            .joints()
            .iter()
            .zip(&self.pose.locals)
            .filter(|(joint, local)| joint.rest != **local);
        NamedPoseFile {
            name: self.name.clone(),
            joints: posed
                .map(|(joint, local)| (joint.name.clone(), local.into()))
                .collect(),
            morphs: BTreeMap::new(),
        }
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// [`KeysError`].
    pub fn from_file(file: &NamedPoseFile, skeleton: &Skeleton) -> Result<Self, KeysError> {
        let mut pose = skeleton.rest_pose();
        for (name, value) in &file.joints {
            let joint = skeleton
                .find_or_suggest(name)
                .map_err(|source| KeysError::Joint {
                    name: file.name.clone(),
                    source,
                })?;
            let wrong = |what| KeysError::Number {
                name: file.name.clone(),
                joint: name.clone(),
                index: 0,
                what,
            };
            pose.locals[joint] = value.to_trs().map_err(wrong)?;
        }
        Ok(Self {
            name: file.name.clone(),
            pose,
        })
    }
}
