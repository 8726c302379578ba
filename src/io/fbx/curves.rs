//! Curves of a node with the file's own values: keys at the file's keys, and between them only what its interpolation needs.
//!
//! FBX interpolates each Euler angle and each coordinate by itself, in layers, around pivots. The library evaluates that exactly at any
//! time. A channel gets keys at the file's key times and is, between them,
//!
//! - a step curve, if it holds every key until the next;
//! - a linear one (spherical for rotations), if lines pass the exact values;
//! - else a cubic one, with the exact slopes at both ends of every interval. An interval whose cubic misses the exact values is
//!   halved until it doesn't.
//!
//! Where a value jumps there are two keys, one a rounding of `f32` beside the other.

use nalgebra::SVector;

use crate::rig::{Curve, Interpolation};

/// Largest deviation from the file's values, relative to the largest of them.
const TOLERANCE: f64 = 2e-6;
/// An interval is halved at most so often …
const DEEPEST: u32 = 8;
/// … and not below this length, seconds.
const SHORTEST_SECS: f64 = 1.0 / 2000.0;
/// Distance from a key at which a jump shows, relative to the interval.
const BESIDE: f64 = 1e-6;
/// Distance for slopes, relative to the interval.
const STEP: f64 = 1e-3;
/// Where an interval is compared. The difference of two cubics with equal ends has one zero between them at most, so two places see it.
const COMPARED: [f64; 3] = [0.211, 0.6, 0.819];
/// Intervals shorter than this are compared at two places only, seconds: their exporter has sampled already.
const DENSE_SECS: f64 = 1.0 / 19.5;

/// What is interpolated.
pub(super) struct Channel<'a, const N: usize> {
    /// The exact value at a time of the clip.
    pub(super) at: &'a dyn Fn(f64) -> SVector<f64, N>,
    /// Whether values are unit quaternions, of which q and −q are the same.
    pub(super) is_rotation: bool,
    /// Whether any key of the animation holds its value.
    pub(super) may_jump: bool,
}

/// A piece of a curve without jumps.
#[derive(Debug, Clone, Copy)]
struct Piece<const N: usize> {
    times: [f64; 2],
    values: [SVector<f64, N>; 2],
    slopes: [SVector<f64, N>; 2],
}

/// An interval between two keys of the file.
struct Interval<const N: usize> {
    /// Ends of what is interpolated: beside the keys where the value jumps.
    times: [f64; 2],
    values: [SVector<f64, N>; 2],
}

impl<const N: usize> Channel<'_, N> {
    /// The curve; `times` are those of the file's keys, ascending.
    pub(super) fn curve(&self, times: &[f64]) -> Option<Curve<SVector<f64, N>>> {
        let mut times = times.to_vec();
        times.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        let first = *times.first()?;
        let mut keys = vec![(self.at)(first)];
        for &time in &times[1..] {
            keys.push(self.near((self.at)(time), keys.last().unwrap_or(&SVector::zeros())));
        }
        let largest = keys.iter().map(SVector::amax).fold(0.0, f64::max);
        let tolerance = TOLERANCE * largest.max(1e-9);
        let intervals: Vec<Interval<N>> = (1..times.len())
            .map(|index| self.interval([index - 1, index].map(|k| (times[k], keys[k])), tolerance))
            .collect();
        let holds = |(interval, key): (&Interval<N>, &SVector<f64, N>)| {
            let [from, to] = interval.values;
            (from - key).amax() <= tolerance
                && (to - key).amax() <= tolerance
                && self.passes(interval, tolerance, |_| from)
        };
        let jumps = |(interval, key): (&Interval<N>, &SVector<f64, N>)| {
            (interval.values[1] - key).amax() > tolerance
        };
        if intervals.iter().zip(&keys[1..]).any(jumps) && intervals.iter().zip(&keys).all(holds) {
            return Some(Curve {
                times_secs: times,
                values: keys,
                interpolation: Interpolation::Step,
            });
        }
        let is_linear = |interval: &Interval<N>| {
            self.passes(interval, tolerance, |part| self.line(interval, part))
        };
        if intervals.iter().all(is_linear) {
            return Some(linear(&times, &keys, &intervals));
        }
        let mut pieces = Vec::new();
        for interval in &intervals {
            self.split(interval, tolerance, 0, &mut pieces);
        }
        Some(cubic(&times, &keys, &pieces))
    }

    /// The value, of two quaternions the one nearer to another value.
    fn near(&self, value: SVector<f64, N>, to: &SVector<f64, N>) -> SVector<f64, N> {
        if self.is_rotation && value.dot(to) < 0.0 {
            return -value;
        }
        value
    }

    fn interval(&self, ends: [(f64, SVector<f64, N>); 2], tolerance: f64) -> Interval<N> {
        let [(from, first), (to, last)] = ends;
        let mut interval = Interval {
            times: [from, to],
            values: [first, last],
        };
        if !self.may_jump {
            return interval;
        }
        let beside = (to - from) * BESIDE;
        let after = self.near((self.at)(from + beside), &first);
        if (after - first).amax() > 20.0 * tolerance {
            interval.times[0] =
                f64::from((from as f32).next_up()).clamp(from, f64::midpoint(from, to));
            interval.values[0] = after;
        }
        let before = self.near((self.at)(to - beside), &interval.values[0]);
        if (before - last).amax() > 20.0 * tolerance {
            interval.times[1] =
                f64::from((to as f32).next_down()).clamp(f64::midpoint(from, to), to);
            interval.values[1] = before;
        }
        interval
    }

    /// The line of an interval.
    fn line(&self, interval: &Interval<N>, part: f64) -> SVector<f64, N> {
        let [from, to] = &interval.values;
        if !self.is_rotation {
            return from * (1.0 - part) + to * part;
        }
        let cosine = from.dot(to).clamp(-1.0, 1.0);
        let angle = cosine.acos();
        if angle < 1e-6 {
            return (from * (1.0 - part) + to * part).normalize();
        }
        (from * ((1.0 - part) * angle).sin() + to * (part * angle).sin()) / angle.sin()
    }

    /// Whether a form of the interval passes the exact values.
    fn passes(
        &self,
        interval: &Interval<N>,
        tolerance: f64,
        form: impl Fn(f64) -> SVector<f64, N>,
    ) -> bool {
        let [from, to] = interval.times;
        let count = if to - from < DENSE_SECS {
            2
        } else {
            COMPARED.len()
        };
        COMPARED[..count].iter().all(|&part| {
            let expected = (self.at)(from + (to - from) * part);
            let value = form(part);
            (self.near(expected, &value) - value).amax() <= tolerance
        })
    }

    /// Appends the cubic pieces of an interval.
    fn split(
        &self,
        interval: &Interval<N>,
        tolerance: f64,
        depth: u32,
        pieces: &mut Vec<Piece<N>>,
    ) {
        let [from, to] = interval.times;
        let length = to - from;
        let first = pieces.last().map_or(interval.values[0], |piece| {
            self.near(interval.values[0], &piece.values[1])
        });
        let last = self.near(interval.values[1], &first);
        let inside =
            |part: f64, by: &SVector<f64, N>| self.near((self.at)(from + length * part), by);
        // Second-order differences to one side.
        let slope = |end: &SVector<f64, N>, [one, two]: [SVector<f64, N>; 2]| {
            (one * 4.0 - two - end * 3.0) / (2.0 * STEP * length)
        };
        let slopes = [
            slope(&first, [inside(STEP, &first), inside(2.0 * STEP, &first)]),
            -slope(
                &last,
                [inside(1.0 - STEP, &last), inside(1.0 - 2.0 * STEP, &last)],
            ),
        ];
        let piece = Piece {
            times: [from, to],
            values: [first, last],
            slopes,
        };
        let is_last = depth >= DEEPEST || length <= 2.0 * SHORTEST_SECS;
        if is_last || self.passes(interval, tolerance, |part| self.hermite(&piece, part)) {
            pieces.push(piece);
            return;
        }
        let middle = f64::midpoint(from, to);
        let value = (self.at)(middle);
        for (times, values) in [
            ([from, middle], [first, self.near(value, &first)]),
            ([middle, to], [value, last]),
        ] {
            let values = [values[0], self.near(values[1], &values[0])];
            self.split(&Interval { times, values }, tolerance, depth + 1, pieces);
        }
    }

    fn hermite(&self, piece: &Piece<N>, t: f64) -> SVector<f64, N> {
        let length = piece.times[1] - piece.times[0];
        let (t2, t3) = (t * t, t * t * t);
        let value = piece.values[0] * (2.0 * t3 - 3.0 * t2 + 1.0)
            + piece.slopes[0] * (length * (t3 - 2.0 * t2 + t))
            + piece.values[1] * (3.0 * t2 - 2.0 * t3)
            + piece.slopes[1] * (length * (t3 - t2));
        if self.is_rotation {
            value.try_normalize(1e-12).unwrap_or(value)
        } else {
            value
        }
    }
}

/// The keys, with those beside them where the value jumps.
fn linear<const N: usize>(
    times: &[f64],
    keys: &[SVector<f64, N>],
    intervals: &[Interval<N>],
) -> Curve<SVector<f64, N>> {
    let (mut all, mut values) = (vec![times[0]], vec![keys[0]]);
    for (index, interval) in intervals.iter().enumerate() {
        for (end, time) in [(0, times[index]), (1, times[index + 1])] {
            if interval.times[end] != time {
                all.push(interval.times[end]);
                values.push(interval.values[end]);
            }
        }
        all.push(times[index + 1]);
        values.push(keys[index + 1]);
    }
    Curve::linear(all, values)
}

/// The ends of all pieces, and the keys beside them where the value jumps.
fn cubic<const N: usize>(
    times: &[f64],
    keys: &[SVector<f64, N>],
    pieces: &[Piece<N>],
) -> Curve<SVector<f64, N>> {
    let (mut all, mut values) = (Vec::new(), Vec::new());
    let flat = SVector::zeros();
    let mut push = |time: f64, triple: [SVector<f64, N>; 3]| {
        all.push(time);
        values.extend(triple);
    };
    let mut next_key = 0;
    let mut before: Option<&Piece<N>> = None;
    for piece in pieces {
        // The end of the piece before.
        if let Some(before) = before {
            let joined = before.times[1] == piece.times[0];
            let out = if joined { piece.slopes[0] } else { flat };
            push(before.times[1], [before.slopes[1], before.values[1], out]);
            while next_key < times.len() && times[next_key] <= before.times[1] {
                next_key += 1;
            }
        }
        // Keys between two pieces that don't meet.
        while next_key < times.len() && times[next_key] < piece.times[0] {
            push(times[next_key], [flat, keys[next_key], flat]);
            next_key += 1;
        }
        if before.is_none_or(|before| before.times[1] != piece.times[0]) {
            push(piece.times[0], [flat, piece.values[0], piece.slopes[0]]);
        }
        before = Some(piece);
    }
    if let Some(before) = before {
        push(before.times[1], [before.slopes[1], before.values[1], flat]);
        while next_key < times.len() {
            if times[next_key] > before.times[1] {
                push(times[next_key], [flat, keys[next_key], flat]);
            }
            next_key += 1;
        }
    }
    Curve {
        times_secs: all,
        values,
        interpolation: Interpolation::Cubic,
    }
}
