//! Keys → curves.
//!
//! Smooth pieces are cubic Hermite curves with the slopes of F. N. Fritsch and J. Butland, "A
//! method for constructing local monotone piecewise cubic interpolants", SIAM J. Sci. Stat. Comput.
//! 5 (1984): the weighted harmonic mean of the slopes of the two chords, and zero at local extrema
//! and at the ends. No component leaves the range between its two keys.
//!
//! Rotations are curves of quaternions, each with the sign nearer to the previous one (the shorter
//! arc), normalised when sampled. If all pieces of a joint are linear they are spherical; beside
//! smooth pieces a linear one is linear in the quaternion components, with the same path and a
//! speed that differs by a few percent.

use nalgebra::SVector;

use super::{Ease, Key, KeyedClip, Slope};
use crate::rig::{Channel, Clip, Curve, Interpolation, Track};

/// A piece of one channel's curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SplinePiece<const D: usize> {
    Step,
    Linear,
    Smooth,
    /// Slopes at its two ends.
    Free([SVector<f64, D>; 2]),
}

/// The keys of one channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChannelKeys<const D: usize> {
    pub times: Vec<f64>,
    pub values: Vec<SVector<f64, D>>,
    /// One less than keys.
    pub pieces: Vec<SplinePiece<D>>,
}

/// The slope at a key with smooth pieces on both sides.
pub(super) fn auto_slope<const D: usize>(
    times: &[f64],
    values: &[SVector<f64, D>],
    key: usize,
) -> SVector<f64, D> {
    if key == 0 || key + 1 >= times.len() {
        return SVector::zeros();
    }
    let (h0, h1) = (times[key] - times[key - 1], times[key + 1] - times[key]);
    let (before, after) = (
        (values[key] - values[key - 1]) / h0,
        (values[key + 1] - values[key]) / h1,
    );
    let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
    before.zip_map(&after, |d0, d1| {
        if d0 * d1 > 0.0 {
            (w0 + w1) / (w0 / d0 + w1 / d1)
        } else {
            0.0
        }
    })
}

/// The time until which a step holds its value: the last time before the key that a file can
/// distinguish from it.
pub(super) fn hold_time(from: f64, to: f64) -> f64 {
    f64::from((to as f32).next_down())
        .max(f64::midpoint(from, to))
        .min(to)
}

impl<const D: usize> ChannelKeys<D> {
    pub(super) fn chord(&self, piece: usize) -> SVector<f64, D> {
        (self.values[piece + 1] - self.values[piece]) / (self.times[piece + 1] - self.times[piece])
    }

    pub(super) fn auto_slope(&self, key: usize) -> SVector<f64, D> {
        auto_slope(&self.times, &self.values, key)
    }

    /// Slopes at the two ends of a piece.
    pub(super) fn slopes(&self, piece: usize) -> [SVector<f64, D>; 2] {
        match self.pieces[piece] {
            SplinePiece::Step => [SVector::zeros(); 2],
            SplinePiece::Linear => [self.chord(piece); 2],
            SplinePiece::Smooth => [self.auto_slope(piece), self.auto_slope(piece + 1)],
            SplinePiece::Free(slopes) => slopes,
        }
    }

    fn is_constant(&self) -> bool {
        let free = |piece: &SplinePiece<D>| matches!(piece, SplinePiece::Free(slopes) if slopes.iter().any(|slope| *slope != SVector::<f64, D>::zeros()));
        self.values.windows(2).all(|pair| pair[0] == pair[1]) && !self.pieces.iter().any(free)
    }

    /// The curve in the representation of file formats.
    fn curve(&self) -> Curve<SVector<f64, D>> {
        let all = |wanted: SplinePiece<D>| self.pieces.iter().all(|piece| *piece == wanted);
        let plain = if all(SplinePiece::Linear) {
            Some(Interpolation::Linear)
        } else if all(SplinePiece::Step) {
            Some(Interpolation::Step)
        } else {
            None
        };
        if let Some(interpolation) = plain {
            return Curve {
                times_secs: self.times.clone(),
                values: self.values.clone(),
                interpolation,
            };
        }
        let (mut times_secs, mut values) = (Vec::new(), Vec::new());
        let mut arriving = SVector::zeros();
        for (key, (&time, &value)) in self.times.iter().zip(&self.values).enumerate() {
            let [leaving, next] = self
                .pieces
                .get(key)
                .map_or([SVector::zeros(); 2], |_| self.slopes(key));
            times_secs.push(time);
            values.extend([arriving, value, leaving]);
            arriving = next;
            if self.pieces.get(key) == Some(&SplinePiece::Step) {
                times_secs.push(hold_time(time, self.times[key + 1]));
                values.extend([SVector::zeros(), value, SVector::zeros()]);
            }
        }
        Curve {
            times_secs,
            values,
            interpolation: Interpolation::Cubic,
        }
    }
}

/// The clip of a keyed clip: a constant translation or scale has one key.
pub(super) fn played(keyed: &KeyedClip) -> Clip {
    let mut tracks = Vec::new();
    for (joint, keys) in keyed.tracks() {
        let channels = JointChannels::of(keys).channels();
        tracks.extend(channels.map(|channel| Track { joint, channel }));
    }
    Clip {
        name: keyed.name().to_owned(),
        duration_secs: keyed.duration_secs(),
        tracks,
        morphs: keyed.morphs().to_vec(),
    }
}

/// The channels of one joint.
pub(super) struct JointChannels {
    translation: ChannelKeys<3>,
    rotation: ChannelKeys<4>,
    scale: ChannelKeys<3>,
    /// The sign by which each key's quaternion is multiplied in the curve.
    signs: Vec<f64>,
}

impl JointChannels {
    pub(super) fn of(keys: &[Key]) -> Self {
        let signs = short_way(keys);
        let mut index = 0;
        let rotation = channel(
            keys,
            |key| {
                index += 1;
                key.value.rotation.coords * signs[index - 1]
            },
            |slope, key| slope.rotation.coords * signs[key],
        );
        Self {
            translation: channel(
                keys,
                |key| key.value.translation,
                |slope, _| slope.translation,
            ),
            rotation,
            scale: channel(keys, |key| key.value.scale, |slope, _| slope.scale),
            signs,
        }
    }

    /// The slopes at the two ends of the piece after a key, in the signs of the keys' own quaternions.
    pub(super) fn slopes(&self, piece: usize) -> [Slope; 2] {
        let translation = self.translation.slopes(piece);
        let rotation = self.rotation.slopes(piece);
        let scale = self.scale.slopes(piece);
        std::array::from_fn(|end| Slope {
            translation: translation[end],
            rotation: (rotation[end] * self.signs[piece + end]).into(),
            scale: scale[end],
        })
    }

    /// The curves in the representation of file formats.
    pub(super) fn channels(&self) -> [Channel; 3] {
        let Curve {
            times_secs,
            values,
            interpolation,
        } = self.rotation.curve();
        let values = values.into_iter().map(nalgebra::Quaternion::from).collect();
        [
            Channel::Translation(without_repetition(&self.translation)),
            Channel::Rotation(Curve {
                times_secs,
                values,
                interpolation,
            }),
            Channel::Scale(without_repetition(&self.scale)),
        ]
    }
}

fn without_repetition<const D: usize>(keys: &ChannelKeys<D>) -> Curve<SVector<f64, D>> {
    if keys.is_constant() {
        return Curve::linear(vec![keys.times[0]], vec![keys.values[0]]);
    }
    keys.curve()
}

fn channel<const D: usize>(
    keys: &[Key],
    mut value: impl FnMut(&Key) -> SVector<f64, D>,
    slope: impl Fn(&Slope, usize) -> SVector<f64, D>,
) -> ChannelKeys<D> {
    let piece = |(index, key): (usize, &Key)| match &key.ease {
        Ease::Step => SplinePiece::Step,
        Ease::Linear => SplinePiece::Linear,
        Ease::Smooth => SplinePiece::Smooth,
        Ease::Free(slopes) => {
            SplinePiece::Free([slope(&slopes[0], index), slope(&slopes[1], index + 1)])
        }
    };
    ChannelKeys {
        times: keys.iter().map(|key| key.time_secs).collect(),
        values: keys.iter().map(&mut value).collect(),
        pieces: keys
            .iter()
            .enumerate()
            .take(keys.len().saturating_sub(1))
            .map(piece)
            .collect(),
    }
}

/// The sign of each quaternion that makes it nearest to the previous one.
fn short_way(keys: &[Key]) -> Vec<f64> {
    let mut sign = 1.0;
    let mut signs = Vec::with_capacity(keys.len());
    let mut before = None;
    for key in keys {
        let now = key.value.rotation.coords;
        if before.is_some_and(|before: nalgebra::Vector4<f64>| before.dot(&now) < 0.0) {
            sign = -sign;
        }
        signs.push(sign);
        before = Some(now);
    }
    signs
}
