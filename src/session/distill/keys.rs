//! Keys of helpers and correctives in clips.

use super::DistillSettings;
use super::simulate::Skin;
use super::springs::Swinging;
use crate::character::{Character, Corrective};
use crate::rig::{Channel, Clip, Curve, MorphTrack, Pose, Track};
use crate::studio::{Motion, Take};
use crate::weights::decomposition::{Decomposition, DecompositionError, SimulatedFrame};

/// What keys are made of.
pub(super) struct Keyed<'a> {
    pub character: &'a Character,
    pub skin: &'a Skin,
    pub found: &'a Decomposition,
    pub simulated: &'a [SimulatedFrame],
    pub swinging: &'a Swinging,
}

/// Weights of the correctives in a clip.
struct WeightKeys {
    times_secs: Vec<f64>,
    /// Of each key, of each driven morph.
    weights: Vec<Vec<f64>>,
}

impl Keyed<'_> {
    /// The character with helpers, springs, weights, correctives, and keys in its clips; and the correctives.
    pub fn helped(
        &self,
        settings: &DistillSettings,
        fitted: &[Take],
    ) -> Result<(Character, Vec<Corrective>), DecompositionError> {
        let (clips, weights) = self.clips(settings, fitted);
        let (skeleton, sprung) = self.found.sprung(&self.swinging.springs)?;
        let split = self.skin.split(&sprung);
        let mut helped = self.character.with_helpers(&skeleton, &split, clips);
        let correctives = helped.add_correctives(self.found, &self.skin.parts());
        add_morph_tracks(&mut helped.clips, &correctives, weights);
        Ok((helped, correctives))
    }

    /// All clips of the character, with keys of the helpers: those fitted to the simulation, or where there are none those of the
    /// drivers. And the weights of the correctives, alike.
    fn clips(&self, settings: &DistillSettings, fitted: &[Take]) -> (Vec<Clip>, Vec<WeightKeys>) {
        let (character, found) = (self.character, self.found);
        let mut clips = character.clips.clone();
        let first_helper = character.skeleton.len();
        let mut simulated = vec![None; clips.len()];
        let mut first = 0;
        for (&clip, take) in settings.fitted.iter().zip(fitted) {
            simulated[clip] = Some(first);
            first += take.frame_count();
        }
        let mut all_weights = Vec::with_capacity(clips.len());
        for (index, clip) in clips.iter_mut().enumerate() {
            let take = Take::whole(Motion::Clip(index), character, settings.fps);
            let times_secs: Vec<f64> = take.frames().map(|frame| take.time_of(frame)).collect();
            let mut weights = Vec::with_capacity(times_secs.len());
            let poses: Vec<Pose> = (times_secs.iter().enumerate())
                .map(|(frame, &time)| {
                    let pose = clip.sample(&character.skeleton, time);
                    let Some(first) = simulated[index] else {
                        weights.push(found.driven_weights(&pose));
                        return found.driven(&pose);
                    };
                    let helped = found.fitted_pose(first + frame, &pose);
                    let positions = &self.simulated[first + frame].positions;
                    let shown = self.swinging.fitted(found, &helped, first + frame);
                    weights.push(found.fitted_weights(&self.skin.bind, &shown, positions));
                    helped
                })
                .collect();
            for joint in first_helper..found.skeleton.len() {
                clip.tracks.extend(tracks(joint, &times_secs, &poses));
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

/// Translation and rotation of a joint in each pose.
fn tracks(joint: usize, times_secs: &[f64], poses: &[Pose]) -> [Track; 2] {
    let locals = || poses.iter().map(|pose| &pose.locals[joint]);
    let mut rotations: Vec<nalgebra::Quaternion<f64>> = Vec::with_capacity(poses.len());
    for local in locals() {
        let rotation = *local.rotation.quaternion();
        // On the side of the key before, so that interpolation takes the short way.
        let is_far = rotations
            .last()
            .is_some_and(|last| last.dot(&rotation) < 0.0);
        rotations.push(if is_far { -rotation } else { rotation });
    }
    let translations = locals().map(|local| local.translation).collect();
    let times = times_secs.to_vec();
    [
        Channel::Translation(Curve::linear(times.clone(), translations)),
        Channel::Rotation(Curve::linear(times, rotations)),
    ]
    .map(|channel| Track { joint, channel })
}
