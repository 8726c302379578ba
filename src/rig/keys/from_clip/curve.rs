//! Keys of one curve of a clip: values, holds, lines and slopes.

use nalgebra::SVector;

use crate::math::Quat;
use crate::rig::SAME_SECS;
use crate::rig::keys::spline::{ChannelKeys, SplinePiece, hold_time};
use crate::rig::trs::slerp;
use crate::rig::{Curve, Interpolation};

/// The keys of a curve, without those that only represent a step.
pub(super) fn keys_of<T, const D: usize>(
    curve: &Curve<T>,
    raw: impl Fn(&T) -> SVector<f64, D>,
) -> Option<ChannelKeys<D>> {
    let (times, cubic) = (
        &curve.times_secs,
        curve.interpolation == Interpolation::Cubic,
    );
    let at = |key: usize, part: usize| {
        curve
            .values
            .get(if cubic { 3 * key + part } else { key })
            .map(&raw)
    };
    let mut keys = ChannelKeys {
        times: Vec::new(),
        values: Vec::new(),
        pieces: Vec::new(),
    };
    let mut slopes = Vec::new();
    for (key, &time) in times.iter().enumerate() {
        let (value, arriving, leaving) = (at(key, 1)?, at(key, 0)?, at(key, 2)?);
        let sound = [value, arriving, leaving]
            .iter()
            .all(|v| v.iter().all(|c| c.is_finite()));
        if !sound
            || !time.is_finite()
            || time < 0.0
            || keys
                .times
                .last()
                .is_some_and(|last| time - last < SAME_SECS && !cubic)
        {
            continue;
        }
        keys.times.push(time);
        keys.values.push(value);
        slopes.push([arriving, leaving]);
    }
    let holds: Vec<bool> = (0..keys.times.len())
        .map(|key| cubic && is_hold(&keys, &slopes, key))
        .collect();
    let kept: Vec<usize> = (0..keys.times.len()).filter(|&key| !holds[key]).collect();
    let stripped = ChannelKeys {
        times: kept.iter().map(|&key| keys.times[key]).collect(),
        values: kept.iter().map(|&key| keys.values[key]).collect(),
        pieces: kept
            .windows(2)
            .map(|pair| piece_of(curve.interpolation, &slopes, pair[0], pair[1]))
            .collect(),
    };
    (!stripped.times.is_empty()).then(|| recognised(stripped))
}

/// Whether a key only represents a step in a cubic curve.
fn is_hold<const D: usize>(
    keys: &ChannelKeys<D>,
    slopes: &[[SVector<f64, D>; 2]],
    key: usize,
) -> bool {
    let zero = SVector::<f64, D>::zeros();
    let inside = key > 0 && key + 1 < keys.times.len();
    inside
        && keys.times[key] == hold_time(keys.times[key - 1], keys.times[key + 1])
        && keys.values[key] == keys.values[key - 1]
        && slopes[key] == [zero; 2]
        && slopes[key - 1][1] == zero
}

fn piece_of<const D: usize>(
    interpolation: Interpolation,
    slopes: &[[SVector<f64, D>; 2]],
    from: usize,
    to: usize,
) -> SplinePiece<D> {
    match interpolation {
        Interpolation::Step => SplinePiece::Step,
        Interpolation::Linear => SplinePiece::Linear,
        Interpolation::Cubic if to > from + 1 => SplinePiece::Step,
        Interpolation::Cubic => SplinePiece::Free([slopes[from][1], slopes[to][0]]),
    }
}

/// Classifies free pieces that equal this crate's smooth or linear ones.
fn recognised<const D: usize>(mut keys: ChannelKeys<D>) -> ChannelKeys<D> {
    for piece in 0..keys.pieces.len() {
        if let SplinePiece::Free(slopes) = keys.pieces[piece] {
            if slopes == [keys.auto_slope(piece), keys.auto_slope(piece + 1)] {
                keys.pieces[piece] = SplinePiece::Smooth;
            } else if slopes == [keys.chord(piece); 2] {
                keys.pieces[piece] = SplinePiece::Linear;
            }
        }
    }
    keys
}

/// Chooses the sign of each quaternion nearest to the previous one; slopes follow.
pub(super) fn short_way(mut keys: ChannelKeys<4>) -> ChannelKeys<4> {
    let mut signs = vec![1.0; keys.values.len()];
    let mut before: Option<SVector<f64, 4>> = None;
    for (value, sign) in keys.values.iter_mut().zip(&mut signs) {
        if before.is_some_and(|before| before.dot(value) < 0.0) {
            *sign = -1.0;
            *value *= -1.0;
        }
        before = Some(*value);
    }
    for (index, piece) in keys.pieces.iter_mut().enumerate() {
        if let SplinePiece::Free([leaving, arriving]) = piece {
            *leaving *= signs[index];
            *arriving *= signs[index + 1];
        }
    }
    keys
}

/// Interpolates between two values: along the arc for quaternions, which have four components.
pub(super) fn straight<const D: usize>(
    from: &SVector<f64, D>,
    to: &SVector<f64, D>,
    t: f64,
) -> SVector<f64, D> {
    if D != 4 {
        return from.lerp(to, t);
    }
    let unit = |v: &SVector<f64, D>| {
        Quat::new_normalize(nalgebra::Quaternion::new(v[3], v[0], v[1], v[2]))
    };
    let between = slerp(&unit(from), &unit(to), t);
    SVector::from_fn(|component, _| between.coords[component])
}
