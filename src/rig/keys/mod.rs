//! Editable clips: whole-joint keys over time.
//!
//! A key stores a joint's complete local transform, and the interpolation to the next key
//! ([`Ease`]). A [`KeyedClip`] is converted to a [`Clip`] ([`KeyedClip::clip`]) for playing, baking
//! and writing, which do not depend on keys.
//!
//! | part          | what                                                                            |
//! |---------------|---------------------------------------------------------------------------------|
//! | [`edit`]      | keys are set, moved, scaled and removed                                           |
//! | [`spline`]    | keys → curves; slopes that do not overshoot                                        |
//! | [`joint_axes`] | a transform as angles and offsets from rest                                      |
//! | [`graph`]     | one joint's curves as angles and offsets; keys and slopes changed by them         |
//! | [`smooth`]    | jitter is taken off keys                                                            |
//! | [`cycle`]     | a clip that repeats without a seam, in place or walking on                        |
//! | [`from_clip`] | curves → keys, with the file's own keys                                           |
//! | [`morphs`], [`morph_edit`] | curves of morphs; edits of their keys                                       |
//! | [`reduce`]    | many samples (motion capture, a recorded take) → few keys within a tolerance      |
//! | [`file`]      | as JSON, joints by name                                                           |

mod cycle;
mod edit;
mod file;
mod from_clip;
mod graph;
mod joint_axes;
mod key_ref;
mod morph_edit;
mod morphs;
mod reduce;
mod smooth;
mod spline;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{Clip, FeetRules, MorphTrack, Pose, SAME_SECS, Skeleton, Stance, Trs};
use crate::math::{Quat, Vec64};

pub use cycle::Travel;
pub use file::{
    EaseName, JointValue, KeyFile, KeyedClipFile, KeysError, MorphKeysFile, NamedPose,
    NamedPoseFile, PlantFile, SlopeValue,
};
pub use graph::{JointCurve, Side};
pub use joint_axes::{JointAxes, JointNumber};
pub use key_ref::{KeyRef, Keyed};
pub use reduce::KeyTolerance;

/// Maximum duration of a clip, seconds.
pub const LONGEST_SECS: f64 = 36_000.0;
/// Frame rate of a new clip.
pub const NEW_FPS: f64 = 30.0;

/// Interpolation from a key to the next one.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ease {
    /// Constant until the next key.
    Step,
    /// Linear.
    Linear,
    /// A smooth curve that does not overshoot the two keys.
    #[default]
    Smooth,
    /// Explicit slopes at this key and at the next one, as in the file.
    Free(Box<[Slope; 2]>),
}

impl Ease {
    /// Display name.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Step => "Step",
            Self::Linear => "Linear",
            Self::Smooth => "Smooth",
            Self::Free(_) => "As in the file",
        }
    }

    /// The same interpolation over another duration.
    fn stretched(&self, factor: f64) -> Self {
        let stretched = |slope: &Slope| Slope {
            translation: slope.translation / factor,
            rotation: slope.rotation / factor,
            scale: slope.scale / factor,
        };
        match self {
            Self::Free(slopes) => {
                Self::Free(Box::new([stretched(&slopes[0]), stretched(&slopes[1])]))
            }
            other => other.clone(),
        }
    }

    /// The interpolation of a piece when a key is inserted.
    fn split(&self) -> Self {
        match self {
            Self::Free(_) => Self::Smooth,
            other => other.clone(),
        }
    }
}

/// Change per second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Slope {
    /// Of the translation.
    pub translation: Vec64,
    /// Of the quaternion's components.
    pub rotation: nalgebra::Quaternion<f64>,
    /// Of the scale.
    pub scale: Vec64,
}

/// One joint at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Seconds from the clip's start.
    pub time_secs: f64,
    /// The joint's local transform, as in a [`Pose`]; its quaternion has w ≥ 0.
    pub value: Trs,
    /// Interpolation to the next key.
    pub ease: Ease,
}

/// A clip made of keys. Joints and morphs without a key stay at rest.
#[derive(Debug, Clone, Default)]
pub struct KeyedClip {
    name: String,
    fps: f64,
    duration_secs: f64,
    /// By joint; times ascending, no list empty.
    tracks: BTreeMap<usize, Vec<Key>>,
    /// At most one for each control.
    morphs: Vec<MorphTrack>,
    /// What holds for the feet, beside the keys; and the body that stands on them.
    feet: FeetRules,
    stance: Option<Arc<Stance>>,
    /// The clip for playback; computed on first use.
    played: OnceLock<Clip>,
}

impl PartialEq for KeyedClip {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.fps == other.fps
            && self.duration_secs == other.duration_secs
            && self.tracks == other.tracks
            && self.morphs == other.morphs
            && self.feet == other.feet
    }
}

fn same_time(a: f64, b: f64) -> bool {
    (a - b).abs() < SAME_SECS
}

/// The index of the key at a time, or its insertion position.
fn found(keys: &[Key], time_secs: f64) -> Result<usize, usize> {
    let index = keys.partition_point(|key| key.time_secs <= time_secs - SAME_SECS);
    match keys.get(index) {
        Some(key) if same_time(key.time_secs, time_secs) => Ok(index),
        _ => Err(index),
    }
}

/// Updates the piece that ends at a key whose value changed.
fn split_before(keys: &mut [Key], index: usize) {
    if let Some(before) = index.checked_sub(1).and_then(|before| keys.get_mut(before)) {
        before.ease = before.ease.split();
    }
}

/// Of the two quaternions of a rotation the one with w ≥ 0, so that equal rotations give equal
/// keys.
fn canonical(rotation: &Quat) -> Quat {
    let c = rotation.coords;
    let first = [c.w, c.x, c.y, c.z]
        .into_iter()
        .find(|component| *component != 0.0);
    if first.is_some_and(|component| component < 0.0) {
        Quat::new_unchecked(-rotation.into_inner())
    } else {
        *rotation
    }
}

fn is_sound(value: &Trs) -> bool {
    let numbers = value
        .translation
        .iter()
        .chain(value.rotation.coords.iter())
        .chain(value.scale.iter());
    numbers.into_iter().all(|number| number.is_finite())
}

impl KeyedClip {
    /// A clip without keys.
    #[must_use]
    pub fn new(name: impl Into<String>, fps: f64, duration_secs: f64) -> Self {
        let mut clip = Self {
            name: name.into(),
            ..Self::default()
        };
        clip.fps = if fps.is_finite() {
            fps.clamp(1.0, 1000.0)
        } else {
            NEW_FPS
        };
        clip.set_duration(duration_secs);
        clip
    }

    /// One key per frame and joint or morph with linear interpolation; those that stay at rest have none.
    #[must_use]
    pub fn of_poses(
        name: impl Into<String>,
        fps: f64,
        poses: &[Pose],
        skeleton: &Skeleton,
    ) -> Self {
        let mut clip = Self::new(name, fps, 0.0);
        for (joint, known) in skeleton.joints().iter().enumerate() {
            let locals = || {
                poses
                    .iter()
                    .filter_map(|pose| pose.locals.get(joint))
                    .filter(|local| is_sound(local))
            };
            if locals().any(|local| *local != known.rest) {
                let key = |(frame, local): (usize, &Trs)| Key {
                    time_secs: frame as f64 / clip.fps,
                    value: Trs {
                        rotation: canonical(&local.rotation),
                        ..*local
                    },
                    ease: Ease::Linear,
                };
                clip.tracks
                    .insert(joint, locals().enumerate().map(key).collect());
            }
        }
        clip.morphs_of_poses(poses);
        clip.set_duration(poses.len().saturating_sub(1) as f64 / clip.fps);
        clip
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Frames per second: the snapping grid of times, and the rate of baking.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Its duration.
    #[must_use]
    pub fn duration_secs(&self) -> f64 {
        self.duration_secs
    }

    /// The keys of a joint, times ascending.
    #[must_use]
    pub fn keys(&self, joint: usize) -> &[Key] {
        self.tracks.get(&joint).map_or(&[], Vec::as_slice)
    }

    /// All joints with keys, ascending, and their keys.
    pub fn tracks(&self) -> impl Iterator<Item = (usize, &[Key])> {
        self.tracks
            .iter()
            .map(|(joint, keys)| (*joint, keys.as_slice()))
    }

    /// Number of keys.
    #[cfg(test)]
    pub(crate) fn key_count(&self) -> usize {
        self.tracks.values().map(Vec::len).sum()
    }

    /// The times at which any joint or morph has a key, ascending.
    #[must_use]
    pub fn key_times(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self
            .tracks
            .values()
            .flatten()
            .map(|key| key.time_secs)
            .chain(
                self.morphs
                    .iter()
                    .flat_map(|track| track.curve.times_secs.iter().copied()),
            )
            .collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|a, b| same_time(*a, *b));
        times
    }

    /// The times of the keys of a joint or a morph, ascending.
    #[must_use]
    pub fn times_of(&self, of: Keyed) -> Vec<f64> {
        match of {
            Keyed::Joint(joint) => self.keys(joint).iter().map(|key| key.time_secs).collect(),
            Keyed::Morph(control) => {
                let track = self.morphs.iter().find(|track| track.control == control);
                track.map_or_else(Vec::new, |track| track.curve.times_secs.clone())
            }
        }
    }

    /// Everything that has keys: joints, then morphs, ascending.
    pub fn keyed(&self) -> impl Iterator<Item = Keyed> {
        let joints = self.tracks.keys().map(|&joint| Keyed::Joint(joint));
        let mut controls: Vec<usize> = self.morphs.iter().map(|track| track.control).collect();
        controls.sort_unstable();
        joints.chain(controls.into_iter().map(Keyed::Morph))
    }

    /// The identifier of the key there, with its exact time; none if there is no key.
    #[must_use]
    pub fn find_key(&self, at: KeyRef) -> Option<KeyRef> {
        let times = self.times_of(at.of);
        let found = times
            .into_iter()
            .find(|time| same_time(*time, at.time_secs));
        found.map(|time_secs| KeyRef { time_secs, ..at })
    }

    /// The key of a joint with that identifier.
    #[must_use]
    pub fn key(&self, key: KeyRef) -> Option<&Key> {
        let keys = self.keys(key.joint()?);
        found(keys, key.time_secs).ok().map(|index| &keys[index])
    }

    /// What holds for the feet.
    #[must_use]
    pub fn feet(&self) -> &FeetRules {
        &self.feet
    }

    /// The clip for playback, which keeps the rules of its feet.
    #[must_use]
    pub fn clip(&self) -> &Clip {
        self.played.get_or_init(|| {
            let clip = spline::played(self);
            match &self.stance {
                Some(stance) => stance.hold(clip, &self.feet, &self.key_times()),
                None => clip,
            }
        })
    }

    /// The pose at a time; constant before the first and after the last key of each joint.
    #[must_use]
    pub fn sample(&self, skeleton: &Skeleton, time_secs: f64) -> Pose {
        self.clip().sample(skeleton, time_secs)
    }
}
