//! The curves of one joint as people edit them: angles and offsets ([`JointAxes`]) over time, with their slopes at the keys.
//!
//! A key keeps a whole transform, and the curve between two keys is one of transforms ([`super::spline`]). Numbers are read off that
//! curve, and edits of a number are put back into keys and slopes, so that the curve drawn is the motion played, whatever the rotation.

use super::spline::JointChannels;
use super::{Ease, Key, KeyRef, KeyedClip, Slope, canonical, found, is_sound};
use crate::rig::{Channel, JointAxes, JointNumber, Trs};

/// Samples of a piece along which angles are followed from key to key.
const FOLLOWED: usize = 12;

/// A side of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The curve that arrives.
    Before,
    /// The curve that leaves.
    After,
}

/// The motion of one joint as its keys give it, without what the rules of feet change.
#[derive(Debug, Clone)]
pub struct JointCurve {
    axes: JointAxes,
    channels: [Channel; 3],
    start: Trs,
    times_secs: Vec<f64>,
    numbers: Vec<[f64; 6]>,
    rates: Vec<[Option<[f64; 6]>; 2]>,
}

impl JointCurve {
    /// The curves of a joint; `None` if it has no keys.
    #[must_use]
    pub fn of(clip: &KeyedClip, joint: usize, axes: JointAxes) -> Option<Self> {
        let keys = clip.keys(joint);
        let start = keys.first()?.value;
        let channels = JointChannels::of(keys);
        let mut curve = Self {
            axes,
            channels: channels.channels(),
            start,
            times_secs: keys.iter().map(|key| key.time_secs).collect(),
            numbers: Vec::with_capacity(keys.len()),
            rates: Vec::with_capacity(keys.len()),
        };
        let mut near = axes.numbers(&start);
        for (index, key) in keys.iter().enumerate() {
            if let Some(before) = index.checked_sub(1) {
                let (from, to) = (keys[before].time_secs, key.time_secs);
                for step in 1..FOLLOWED {
                    let at = from + (to - from) * step as f64 / FOLLOWED as f64;
                    near = axes.numbers_near(&curve.value(at), &near);
                }
            }
            near = axes.numbers_near(&key.value, &near);
            curve.numbers.push(near);
            let rates = |slope: &Slope| axes.rates(&near, &key.value, slope);
            curve.rates.push([
                index
                    .checked_sub(1)
                    .map(|before| rates(&channels.slopes(before)[1])),
                (index + 1 < keys.len()).then(|| rates(&channels.slopes(index)[0])),
            ]);
        }
        Some(curve)
    }

    /// Times of the keys, ascending, seconds.
    #[must_use]
    pub fn times_secs(&self) -> &[f64] {
        &self.times_secs
    }

    /// A number at a key: degrees, or the file's units. Angles go on past half a turn.
    #[must_use]
    pub fn at_key(&self, key: usize, which: JointNumber) -> f64 {
        self.numbers[key][which.index()]
    }

    /// The change per second on a side of a key; `None` where the curve ends.
    #[must_use]
    pub fn rate(&self, key: usize, side: Side, which: JointNumber) -> Option<f64> {
        let of_side = match side {
            Side::Before => self.rates[key][0],
            Side::After => self.rates[key][1],
        };
        of_side.map(|rates| rates[which.index()])
    }

    /// The six numbers ([`JointNumber::index`]) at ascending times; constant before the first and after the last key.
    #[must_use]
    pub fn numbers(&self, times_secs: impl IntoIterator<Item = f64>) -> Vec<[f64; 6]> {
        let mut last = None;
        let at = |time_secs: f64| {
            let after = self.times_secs.partition_point(|time| *time <= time_secs);
            let piece = after.saturating_sub(1);
            // Angles follow the sample before in the same piece.
            let near = match last {
                Some((known, numbers)) if known == piece => numbers,
                _ => self.numbers[piece],
            };
            let numbers = self.axes.numbers_near(&self.value(time_secs), &near);
            last = Some((piece, numbers));
            numbers
        };
        times_secs.into_iter().map(at).collect()
    }

    fn value(&self, time_secs: f64) -> Trs {
        let mut value = self.start;
        for channel in &self.channels {
            channel.sample_into(&mut value, time_secs);
        }
        value
    }
}

impl KeyedClip {
    /// Adds an amount to one number of keys: degrees, or the file's units. Explicit slopes keep the rates of all numbers.
    ///
    /// Non-finite amounts are ignored.
    pub fn shift_number(
        &mut self,
        which: &[KeyRef],
        axes_of: impl Fn(usize) -> JointAxes,
        number: JointNumber,
        by: f64,
    ) {
        let mut joints: Vec<usize> = which.iter().filter_map(KeyRef::joint).collect();
        joints.sort_unstable();
        joints.dedup();
        for joint in joints {
            let axes = axes_of(joint);
            let Some(curve) = JointCurve::of(self, joint, axes) else {
                continue;
            };
            let Some(keys) = self.tracks.get_mut(&joint) else {
                continue;
            };
            for at in which.iter().filter(|key| key.joint() == Some(joint)) {
                if let Ok(index) = found(keys, at.time_secs) {
                    let mut numbers = curve.numbers[index];
                    numbers[number.index()] += by;
                    set_numbers(keys, index, &curve, &numbers);
                }
            }
        }
        self.played.take();
    }

    /// Sets the change per second of one number on one side of a key, or on both. The pieces there get explicit slopes ([`Ease::Free`])
    /// that are otherwise those they had. Non-finite rates and missing keys are ignored.
    pub fn set_rate(
        &mut self,
        at: KeyRef,
        axes: JointAxes,
        number: JointNumber,
        side: Option<Side>,
        rate: f64,
    ) {
        let Some(joint) = at.joint() else { return };
        let known = self.tracks.get(&joint);
        let Some(Ok(index)) = known.map(|keys| found(keys, at.time_secs)) else {
            return;
        };
        let sides = [Side::Before, Side::After]
            .into_iter()
            .filter(|known| side.is_none_or(|side| side == *known));
        for side in sides {
            let Some(curve) = JointCurve::of(self, joint, axes) else {
                return;
            };
            let (Some(now), true) = (curve.rate(index, side, number), rate.is_finite()) else {
                continue;
            };
            self.free_piece(joint, index, side);
            let Some(keys) = self.tracks.get_mut(&joint) else {
                return;
            };
            let value = keys[index].value;
            if let Some(slope) = slope_mut(keys, index, side) {
                *slope = axes.with_rate_changed(
                    &curve.numbers[index],
                    &value,
                    slope,
                    number,
                    rate - now,
                );
            }
        }
        self.played.take();
    }

    /// Makes the curves level at keys: motion eases out of them and into them.
    pub fn flatten(&mut self, which: &[KeyRef]) {
        for at in which {
            let Some(joint) = at.joint() else { continue };
            let known = self.tracks.get(&joint);
            let Some(Ok(index)) = known.map(|keys| found(keys, at.time_secs)) else {
                continue;
            };
            for side in [Side::Before, Side::After] {
                self.free_piece(joint, index, side);
                if let Some(slope) =
                    (self.tracks.get_mut(&joint)).and_then(|keys| slope_mut(keys, index, side))
                {
                    *slope = Slope::default();
                }
            }
        }
        self.played.take();
    }

    /// Gives the piece on a side of a key explicit slopes, those that it has.
    pub(super) fn free_piece(&mut self, joint: usize, index: usize, side: Side) {
        let Some(keys) = self.tracks.get_mut(&joint) else {
            return;
        };
        let piece = match side {
            Side::Before => index.checked_sub(1),
            Side::After => Some(index).filter(|index| index + 1 < keys.len()),
        };
        let Some(piece) = piece.filter(|piece| !matches!(keys[*piece].ease, Ease::Free(_))) else {
            return;
        };
        keys[piece].ease = Ease::Free(Box::new(JointChannels::of(keys).slopes(piece)));
        self.played.take();
    }
}

/// The explicit slope on a side of a key, if there is one.
pub(super) fn slope_mut(keys: &mut [Key], index: usize, side: Side) -> Option<&mut Slope> {
    let (piece, end) = match side {
        Side::Before => (index.checked_sub(1)?, 1),
        Side::After => (index, 0),
    };
    // The last key has no piece after it.
    if piece + 1 >= keys.len() {
        return None;
    }
    match &mut keys.get_mut(piece)?.ease {
        Ease::Free(slopes) => Some(&mut slopes[end]),
        _ => None,
    }
}

/// Gives a key other numbers; its explicit slopes keep the rates that they have.
fn set_numbers(keys: &mut [Key], index: usize, curve: &JointCurve, numbers: &[f64; 6]) {
    let axes = &curve.axes;
    let mut value = axes.value(numbers, keys[index].value.scale);
    value.rotation = canonical(&value.rotation);
    if !is_sound(&value) {
        return;
    }
    keys[index].value = value;
    for side in [Side::Before, Side::After] {
        let Some(slope) = slope_mut(keys, index, side) else {
            continue;
        };
        let mut kept = Slope {
            scale: slope.scale,
            ..Slope::default()
        };
        let all = (0..3).flat_map(|axis| [JointNumber::Turn(axis), JointNumber::Move(axis)]);
        for number in all {
            let rate = curve.rate(index, side, number).unwrap_or(0.0);
            kept = axes.with_rate_changed(numbers, &value, &kept, number, rate);
        }
        *slope = kept;
    }
}
