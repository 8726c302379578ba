//! Where curves are: values ↔ points, and what is under the pointer.

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use super::GraphState;
use crate::app::timeline::{TimeAxis, TimelineState, TimelineView};
use crate::rig::{JointCurve, JointNumber, KeyRef, Side};

/// Smallest range of values shown: degrees, and part of the largest offset.
const LEAST_DEGREES: f64 = 10.0;
const LEAST_PART: f64 = 0.02;
/// Part of the height that stays free above and below the curves.
const MARGIN: f64 = 0.12;
/// Length of a handle, points.
const HANDLE: f32 = 34.0;
/// Distance within which a key or a handle is caught, points.
const REACH: f32 = 7.0;
/// Samples of all that is seen, from which the range of values follows.
const SAMPLES: usize = 128;

/// The graph and the range of its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct GraphLayout {
    pub rect: Rect,
    pub axis: TimeAxis,
    /// Values at the lower and the upper edge.
    pub range: [f64; 2],
}

/// A key of a curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurveKey {
    pub key: KeyRef,
    pub number: JointNumber,
    pub value: f64,
    /// The slopes before and after it, where the curve goes on.
    pub rates: [Option<f64>; 2],
}

/// The keys of a curve.
pub(super) fn keys_of(
    joint: usize,
    curve: &JointCurve,
    number: JointNumber,
) -> impl Iterator<Item = CurveKey> + '_ {
    let times = curve.times_secs().iter().enumerate();
    times.map(move |(index, &time_secs)| CurveKey {
        key: KeyRef::of_joint(joint, time_secs),
        number,
        value: curve.at_key(index, number),
        rates: [Side::Before, Side::After].map(|side| curve.rate(index, side, number)),
    })
}

impl GraphState {
    /// The keys of all curves shown.
    pub(super) fn keys(&self) -> impl Iterator<Item = CurveKey> + '_ {
        let curves = self.curves.curves.iter();
        curves.flat_map(|(joint, curve)| {
            self.numbers()
                .flat_map(|number| keys_of(*joint, curve, number))
        })
    }
}

impl GraphLayout {
    pub(super) fn of(rect: Rect, view: &TimelineView<'_>, state: &TimelineState) -> Self {
        let axis = state.axis;
        let fitted = || fitted(rect, &axis, view, &state.graph);
        Self {
            rect,
            axis,
            range: state.graph.kept_range.unwrap_or_else(fitted),
        }
    }

    /// Points of one unit of value.
    pub(super) fn points_per_value(&self) -> f64 {
        f64::from(self.rect.height()) / (self.range[1] - self.range[0])
    }

    pub(super) fn y(&self, value: f64) -> f32 {
        self.rect.bottom() - ((value - self.range[0]) * self.points_per_value()) as f32
    }

    pub(super) fn value(&self, y: f32) -> f64 {
        self.range[0] + f64::from(self.rect.bottom() - y) / self.points_per_value()
    }

    pub(super) fn at(&self, key: &CurveKey) -> Pos2 {
        pos2(self.axis.x(key.key.time_secs), self.y(key.value))
    }

    /// The end of a handle, if the curve goes on at that side.
    pub(super) fn handle(&self, key: &CurveKey, side: Side) -> Option<Pos2> {
        let (rate, along) = match side {
            Side::Before => (key.rates[0]?, -1.0),
            Side::After => (key.rates[1]?, 1.0),
        };
        let rise = rate * self.points_per_value() / f64::from(self.axis.points_per_sec());
        let direction: Vec2 = vec2(1.0, -rise.clamp(-1e4, 1e4) as f32).normalized();
        Some(self.at(key) + direction * (along * HANDLE))
    }

    /// The slope of a handle that ends at a position; its end stays on its side of the key.
    pub(super) fn rate(&self, key: &CurveKey, side: Side, end: Pos2) -> f64 {
        let from = self.at(key);
        let along = match side {
            Side::Before => (from.x - end.x).max(1.0),
            Side::After => (end.x - from.x).max(1.0),
        };
        let up = match side {
            Side::Before => end.y - from.y,
            Side::After => from.y - end.y,
        };
        f64::from(up / along) * f64::from(self.axis.points_per_sec()) / self.points_per_value()
    }

    /// The key nearest to a position, within reach; selected ones go first.
    pub(super) fn key_at(&self, pointer: Pos2, state: &TimelineState) -> Option<CurveKey> {
        let near = state.graph.keys().map(|key| {
            let bonus = if state.selected.contains(&key.key) {
                2.0
            } else {
                0.0
            };
            (self.at(&key).distance(pointer) - bonus, key)
        });
        let caught = near.filter(|(distance, _)| *distance <= REACH);
        caught
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, key)| key)
    }

    /// The handle at a position: of selected keys only.
    pub(super) fn handle_at(
        &self,
        pointer: Pos2,
        state: &TimelineState,
    ) -> Option<(CurveKey, Side)> {
        let keys = state
            .graph
            .keys()
            .filter(|key| state.selected.contains(&key.key));
        let handles = keys.flat_map(|key| [(key, Side::Before), (key, Side::After)]);
        let near = handles.filter_map(|(key, side)| {
            let end = self.handle(&key, side)?;
            Some((end.distance(pointer), (key, side)))
        });
        let caught = near.filter(|(distance, _)| *distance <= REACH);
        caught
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, handle)| handle)
    }

    /// The selection of all keys in a rectangle.
    pub(super) fn keys_in(&self, area: Rect, state: &TimelineState) -> Vec<KeyRef> {
        let mut keys: Vec<KeyRef> = Vec::new();
        for key in state.graph.keys().filter(|key| area.contains(self.at(key))) {
            if !keys.contains(&key.key) {
                keys.push(key.key);
            }
        }
        keys
    }
}

/// The range of the values that are seen.
fn fitted(rect: Rect, axis: &TimeAxis, view: &TimelineView<'_>, graph: &GraphState) -> [f64; 2] {
    let (from, to) = (axis.secs(rect.left()), axis.secs(rect.right()));
    let to = to.min(view.duration_secs()).max(from);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut cover = |value: f64| (low, high) = (low.min(value), high.max(value));
    for (joint, curve) in &graph.curves.curves {
        let times = (0..=SAMPLES).map(|i| from + (to - from) * i as f64 / SAMPLES as f64);
        for numbers in curve.numbers(times) {
            graph
                .numbers()
                .for_each(|number| cover(numbers[number.index()]));
        }
        let keys = graph
            .numbers()
            .flat_map(|number| keys_of(*joint, curve, number));
        keys.filter(|key| (from..=to).contains(&key.key.time_secs))
            .for_each(|key| cover(key.value));
    }
    if low > high {
        return [-1.0, 1.0];
    }
    let least = if graph.moves {
        (LEAST_PART * low.abs().max(high.abs())).max(1e-6)
    } else {
        LEAST_DEGREES
    };
    let (middle, span) = (f64::midpoint(low, high), (high - low).max(least));
    let half = span * (0.5 + MARGIN);
    [middle - half, middle + half]
}
