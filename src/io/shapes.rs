//! Shapes of morphs as targets of their own, for files without in-between shapes, and their weights in clips.

use crate::character::Character;
use crate::rig::{Interpolation, MorphTrack};

/// Samples per second of curves that are not written key by key …
const SAMPLES_PER_SEC: f64 = 60.0;
/// … and the most of them.
const MOST_SAMPLES: usize = 20_000;

/// A shape of a morph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShapeRef {
    /// Index into [`Character::morphs`].
    pub(super) morph: usize,
    /// Index among its shapes.
    pub(super) shape: usize,
}

impl ShapeRef {
    /// All shapes of all morphs.
    pub(super) fn all(character: &Character) -> impl Iterator<Item = Self> + '_ {
        let morphs = character.morphs.iter().enumerate();
        morphs.flat_map(|(morph, known)| {
            (0..known.shapes.len()).map(move |shape| Self { morph, shape })
        })
    }

    /// Name of its target.
    pub(super) fn name(self, character: &Character) -> String {
        let morph = &character.morphs[self.morph];
        match morph.shapes.len() {
            1 => morph.name.clone(),
            _ => format!(
                "{} {:.0} %",
                morph.name,
                morph.shapes[self.shape].at * 100.0
            ),
        }
    }

    /// Its weight at rest.
    pub(super) fn rest_weight(self, character: &Character) -> f64 {
        let morph = &character.morphs[self.morph];
        morph.share(self.shape, morph.rest_weight)
    }
}

/// The weights of shapes, whose morphs have these tracks, on straight lines: at all keys, and between those of curves that are not
/// lines. Times, and at each the weight of every shape; `None` without keys.
pub(super) fn sampled(
    character: &Character,
    shapes: &[ShapeRef],
    tracks: &[Option<&MorphTrack>],
) -> Option<(Vec<f64>, Vec<f32>)> {
    let curves = || tracks.iter().flatten().map(|track| &track.curve);
    let mut times: Vec<f64> = curves()
        .flat_map(|c| c.times_secs.iter().copied())
        .collect();
    times.sort_by(f64::total_cmp);
    let (begin, end) = (*times.first()?, *times.last()?);
    let is_linear = curves().all(|c| c.interpolation == Interpolation::Linear)
        && shapes
            .iter()
            .all(|t| character.morphs[t.morph].shapes.len() == 1);
    if !is_linear {
        let between = (((end - begin) * SAMPLES_PER_SEC).ceil() as usize).min(MOST_SAMPLES);
        let step = (end - begin) / between.max(1) as f64;
        times.extend((1..between).map(|k| begin + k as f64 * step));
        times.sort_by(f64::total_cmp);
    }
    times.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
    let mut values = Vec::with_capacity(times.len() * shapes.len());
    for &time in &times {
        for (target, track) in shapes.iter().zip(tracks) {
            let morph = &character.morphs[target.morph];
            let own = track.map_or(0.0, |track| track.sample(time));
            values.push(morph.share(target.shape, morph.rest_weight + own) as f32);
        }
    }
    Some((times, values))
}

/// Of each shape, the track of its morph.
pub(super) fn tracks_of<'a>(
    shapes: &[ShapeRef],
    tracks: &'a [MorphTrack],
) -> Vec<Option<&'a MorphTrack>> {
    let of = |shape: &ShapeRef| tracks.iter().find(|track| track.control == shape.morph);
    shapes.iter().map(of).collect()
}
