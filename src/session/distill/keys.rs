//! Keys of helpers and correctives in clips.

use super::simulate::Skin;
use super::springs::Swinging;
use crate::character::{Character, Corrective};
use crate::rig::{Channel, Clip, Curve, MorphTrack, Track, Trs};
use crate::studio::{Motion, Take};
use crate::weights::decomposition::{Decomposition, DecompositionError, SimulatedFrame, Spring};

/// How helpers and correctives move in a clip that was fitted, in every frame of the whole clip.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FittedKeys {
    /// Index of the clip.
    pub clip: usize,
    /// Of each frame, the local transforms of the helpers.
    pub helpers: Vec<Vec<Trs>>,
    /// Of each frame, the weights of the driven morphs.
    pub weights: Vec<Vec<f64>>,
}

impl FittedKeys {
    /// Of the clips with these takes, whose frames were simulated first.
    pub fn of(
        (found, swinging): (&Decomposition, &Swinging),
        skin: &Skin,
        simulated: &[SimulatedFrame],
        clips: &[usize],
        takes: &[Take],
    ) -> Vec<Self> {
        let mut first = 0;
        let of_clip = |(&clip, take): (&usize, &Take)| {
            let frames = first..first + take.frame_count();
            first = frames.end;
            let weights = frames.clone().map(|frame| {
                let SimulatedFrame { pose, positions } = &simulated[frame];
                let helped = found.fitted_pose(frame, pose);
                let shown = swinging.fitted(found, &helped, frame);
                found.fitted_weights(&skin.bind, &shown, positions)
            });
            Self {
                clip,
                weights: weights.collect(),
                helpers: found.fitted[frames].to_vec(),
            }
        };
        clips.iter().zip(takes).map(of_clip).collect()
    }
}

/// What keys are made of.
pub(super) struct Keyed<'a> {
    pub character: &'a Character,
    pub skin: &'a Skin,
    pub found: &'a Decomposition,
    pub springs: &'a [Spring],
    /// Of the clips that were fitted.
    pub fitted: &'a [FittedKeys],
    /// Frames per second.
    pub fps: f64,
}

/// Weights of the correctives in a clip.
struct WeightKeys {
    times_secs: Vec<f64>,
    /// Of each key, of each driven morph.
    weights: Vec<Vec<f64>>,
}

impl Keyed<'_> {
    /// The character with helpers, springs, weights, correctives, and keys in its clips; and the correctives.
    pub fn helped(&self) -> Result<(Character, Vec<Corrective>), DecompositionError> {
        let (clips, weights) = self.clips();
        let (skeleton, sprung) = self.found.sprung(self.springs)?;
        let split = self.skin.split(&sprung);
        let mut helped = self.character.with_helpers(&skeleton, &split, clips);
        let correctives = helped.add_correctives(self.found, &self.skin.parts());
        add_morph_tracks(&mut helped.clips, &correctives, weights);
        Ok((helped, correctives))
    }

    /// All clips of the character, with keys of the helpers: those fitted to the simulation, or where there are none those of the
    /// drivers. And the weights of the correctives, alike.
    fn clips(&self) -> (Vec<Clip>, Vec<WeightKeys>) {
        let (character, found) = (self.character, self.found);
        let mut clips = character.clips.clone();
        let first_helper = character.skeleton.len();
        let mut all_weights = Vec::with_capacity(clips.len());
        for (index, clip) in clips.iter_mut().enumerate() {
            let take = Take::whole(Motion::Clip(index), character, self.fps);
            let times_secs: Vec<f64> = take.frames().map(|frame| take.time_of(frame)).collect();
            let is_of_clip =
                |keys: &&FittedKeys| keys.clip == index && keys.helpers.len() == times_secs.len();
            let (helpers, weights) = if let Some(keys) = self.fitted.iter().find(is_of_clip) {
                (keys.helpers.clone(), keys.weights.clone())
            } else {
                let driven = |&time: &f64| {
                    let pose = clip.sample(&character.skeleton, time);
                    let helped = found.driven(&pose);
                    (
                        helped.locals[first_helper..].to_vec(),
                        found.driven_weights(&pose),
                    )
                };
                times_secs.iter().map(driven).unzip()
            };
            for helper in 0..found.drivers.len() {
                let joint = first_helper + helper;
                let locals = helpers.iter().map(|locals| &locals[helper]);
                clip.tracks.extend(tracks(joint, &times_secs, locals));
            }
            all_weights.push(WeightKeys {
                times_secs,
                weights,
            });
        }
        (clips, all_weights)
    }
}

/// Adds the keys of the correctives to the clips, in order.
fn add_morph_tracks(clips: &mut [Clip], correctives: &[Corrective], weights: Vec<WeightKeys>) {
    for (clip, keys) in clips.iter_mut().zip(weights) {
        for corrective in correctives {
            let values = keys
                .weights
                .iter()
                .map(|weights| weights[corrective.driven]);
            clip.morphs.push(MorphTrack {
                control: corrective.morph,
                curve: Curve::linear(keys.times_secs.clone(), values.collect()),
            });
        }
    }
}

/// Translation and rotation of a joint from its local transforms.
fn tracks<'a>(
    joint: usize,
    times_secs: &[f64],
    locals: impl Iterator<Item = &'a Trs> + Clone,
) -> [Track; 2] {
    let mut rotations: Vec<nalgebra::Quaternion<f64>> = Vec::with_capacity(times_secs.len());
    for local in locals.clone() {
        let rotation = *local.rotation.quaternion();
        // On the side of the key before, so that interpolation takes the short way.
        let is_far = rotations
            .last()
            .is_some_and(|last| last.dot(&rotation) < 0.0);
        rotations.push(if is_far { -rotation } else { rotation });
    }
    let translations = locals.map(|local| local.translation).collect();
    let times = times_secs.to_vec();
    [
        Channel::Translation(Curve::linear(times.clone(), translations)),
        Channel::Rotation(Curve::linear(times, rotations)),
    ]
    .map(|channel| Track { joint, channel })
}
