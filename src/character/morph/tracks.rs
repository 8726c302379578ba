//! Clips without expressions, for files that know only morphs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::character::Character;
use crate::rig::{Clip, Curve, Interpolation, MorphTrack};

/// Samples per second of curves that are not linear …
const SAMPLES_PER_SEC: f64 = 60.0;
/// … and the most of them.
const MOST_SAMPLES: usize = 20_000;

impl Character {
    /// The morphs' tracks of a clip, in which expressions move the morphs that they bind: the sum of linear curves at all their keys;
    /// of other curves, samples.
    #[must_use]
    pub fn tracks_of_morphs<'a>(&self, clip: &'a Clip) -> Cow<'a, [MorphTrack]> {
        let first = self.morphs.len();
        if clip.morphs.iter().all(|track| track.control < first) {
            return Cow::Borrowed(&clip.morphs);
        }
        let track_of = |control: usize| clip.morphs.iter().find(|t| t.control == control);
        let expressed: Vec<_> = (self.expressions.iter().enumerate())
            .filter_map(|(index, expression)| Some((expression, track_of(first + index)?)))
            .collect();
        let bound = expressed
            .iter()
            .flat_map(|(expression, _)| &expression.binds);
        let bound: BTreeSet<usize> = bound.map(|&(morph, _)| morph).collect();
        let kept = clip.morphs.iter().filter(|track| {
            let control = track.control;
            control < first && !bound.contains(&control)
        });
        let mut tracks: Vec<MorphTrack> = kept.cloned().collect();
        for &control in &bound {
            let own = track_of(control);
            let parts: Vec<_> = (expressed.iter())
                .flat_map(|(expression, track)| {
                    let binds = expression
                        .binds
                        .iter()
                        .filter(|(morph, _)| *morph == control);
                    binds.map(move |&(_, weight)| (expression, track, weight))
                })
                .collect();
            let curves = || {
                own.into_iter()
                    .chain(parts.iter().map(|(_, track, _)| **track))
            };
            let is_linear = parts.iter().all(|(expression, ..)| !expression.is_binary)
                && curves().all(|track| track.curve.interpolation == Interpolation::Linear);
            let times = times_of(curves(), is_linear);
            let value = |&time: &f64| {
                let expressed = parts.iter().map(|(expression, track, weight)| {
                    expression.factor(track.sample(time)) * weight
                });
                own.map_or(0.0, |own| own.sample(time)) + expressed.sum::<f64>()
            };
            let values = times.iter().map(value).collect();
            tracks.push(MorphTrack {
                control,
                curve: Curve::linear(times, values),
            });
        }
        tracks.into()
    }
}

/// The keys of all tracks, and samples between them if straight lines are not enough.
fn times_of<'a>(tracks: impl Iterator<Item = &'a MorphTrack>, is_linear: bool) -> Vec<f64> {
    let mut times: Vec<f64> = tracks
        .flat_map(|track| track.curve.times_secs.clone())
        .collect();
    times.sort_by(f64::total_cmp);
    if let (Some(&begin), Some(&end), false) = (times.first(), times.last(), is_linear) {
        let between = (((end - begin) * SAMPLES_PER_SEC).ceil() as usize).min(MOST_SAMPLES);
        let step = (end - begin) / between.max(1) as f64;
        times.extend((1..between).map(|k| begin + k as f64 * step));
        times.sort_by(f64::total_cmp);
    }
    times.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Expression, Morph};
    use crate::rig::Pose;

    #[test]
    fn morphs_move_as_expressions_move_them() {
        let morph = |name: &str| Morph {
            name: name.into(),
            mesh: "head".into(),
            rest_weight: 0.25,
            shapes: Vec::new(),
        };
        let expression = |is_binary, binds: &[(usize, f64)]| Expression {
            name: "happy".into(),
            is_binary,
            binds: binds.to_vec(),
        };
        let character = Character {
            morphs: vec![morph("a"), morph("b"), morph("c")].into(),
            expressions: vec![
                expression(false, &[(0, 0.5), (1, 1.0)]),
                expression(true, &[(1, -2.0)]),
            ]
            .into(),
            ..Character::default()
        };
        let track = |control, times: &[f64], values: &[f64]| MorphTrack {
            control,
            curve: Curve::linear(times.to_vec(), values.to_vec()),
        };
        let plain = Clip {
            morphs: vec![track(2, &[0.0, 1.0], &[0.0, 1.0])],
            ..Clip::default()
        };
        assert!(matches!(
            character.tracks_of_morphs(&plain),
            Cow::Borrowed(_)
        ));

        let mut clip = plain;
        clip.morphs.extend([
            track(0, &[0.0, 0.5, 1.0], &[0.0, 0.2, 0.1]),
            track(3, &[0.25, 0.75], &[0.0, 1.0]),
            track(4, &[0.0, 1.0], &[0.0, 1.0]),
        ]);
        let tracks = character.tracks_of_morphs(&clip);
        assert_eq!(tracks.len(), 3);
        let (mut expected, mut weights) = (Vec::new(), Vec::new());
        for step in 0..=40 {
            let time = f64::from(step) / 40.0;
            let mut pose = Pose::default();
            for track in &clip.morphs {
                pose.morphs.set(track.control, track.sample(time));
            }
            character.morph_weights_into(&pose.morphs, &mut expected);
            weights.clear();
            weights.resize(3, 0.25);
            for track in &*tracks {
                weights[track.control] += track.sample(time);
            }
            for (morph, (told, wanted)) in weights.iter().zip(&expected).enumerate() {
                // The switch of the second expression takes a sample of 1/60 s.
                let is_switching = morph == 1 && (time - 0.5).abs() < 0.02;
                assert!(
                    is_switching || (told - wanted).abs() < 1e-9,
                    "morph {morph} at {time}: {told} for {wanted}"
                );
            }
        }
    }
}
