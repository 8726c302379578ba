//! The measured values, kept while they are of use: the cache of the scoreboard.

use crate::metrics::{Measurements, Metric, Place};
use crate::session::jobs::basis::FrameBasis;

/// Memory limit of all values together.
const MOST_BYTES: usize = 48 << 20;

/// What a metric measured of one frame: a value and a place for each of its quantities.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading(Box<[(Option<f64>, Option<Place>)]>);

impl Reading {
    /// The metric's part of what was measured.
    pub(super) fn of(measured: &Measurements, metric: &Metric) -> Self {
        let of = |id: &str| (measured.get(id), measured.place(id));
        Self(
            metric
                .quantities
                .iter()
                .map(|quantity| of(quantity.id))
                .collect(),
        )
    }

    /// Value and place of a quantity of the metric.
    pub(super) fn get(&self, metric: &Metric, quantity: &str) -> (Option<f64>, Option<Place>) {
        let index = metric.quantities.iter().position(|q| q.id == quantity);
        let found = index.and_then(|index| self.0.get(index));
        found.copied().unwrap_or_default()
    }
}

/// All that the values of a curve depend on.
#[derive(Debug, Clone)]
pub(super) struct CurveKey {
    pub(super) basis: FrameBasis,
    pub(super) metric: &'static Metric,
    /// What the frames are compared with, for metrics that need it.
    pub(super) against: Option<FrameBasis>,
}

impl PartialEq for CurveKey {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.metric, other.metric)
            && self.basis == other.basis
            && self.against == other.against
    }
}

/// The values of one metric over the frames of a clip, as far as they are known.
#[derive(Debug)]
pub(super) struct Curve {
    key: CurveKey,
    /// By index of the measured frame.
    readings: Vec<Option<Reading>>,
    /// Frames that could not be computed; they are not tried again.
    failed: Vec<bool>,
    /// When it was wanted last, in rounds of [`Curves::keep`].
    wanted_at: u64,
}

impl Curve {
    fn bytes(&self) -> usize {
        let of_place = size_of::<(Option<f64>, Option<Place>)>();
        let of_frame = size_of::<Option<Reading>>() + self.key.metric.quantities.len() * of_place;
        self.readings.len() * (of_frame + 1)
    }

    /// Indices of the frames that are not known yet.
    pub(super) fn missing(&self) -> impl Iterator<Item = usize> + '_ {
        let known = self.readings.iter().zip(&self.failed);
        known
            .enumerate()
            .filter(|(_, (reading, failed))| reading.is_none() && !**failed)
            .map(|(index, _)| index)
    }

    /// The known frames, ascending by index.
    pub(super) fn known(&self) -> impl Iterator<Item = (usize, &Reading)> {
        let readings = self.readings.iter().enumerate();
        readings.filter_map(|(index, reading)| Some((index, reading.as_ref()?)))
    }

    pub(super) fn reading(&self, index: usize) -> Option<&Reading> {
        self.readings.get(index)?.as_ref()
    }

    /// Number of frames that are done, and of all.
    pub(super) fn done(&self) -> [usize; 2] {
        let all = self.readings.len();
        [all - self.missing().count(), all]
    }

    pub(super) fn set(&mut self, index: usize, reading: Reading) {
        if let Some(place) = self.readings.get_mut(index) {
            *place = Some(reading);
        }
    }

    pub(super) fn set_failed(&mut self, index: usize) {
        if let Some(failed) = self.failed.get_mut(index) {
            *failed = true;
        }
    }
}

/// All curves that are kept.
#[derive(Debug, Default)]
pub(super) struct Curves {
    list: Vec<Curve>,
    round: u64,
}

impl Curves {
    pub(super) fn get(&self, key: &CurveKey) -> Option<&Curve> {
        self.list.iter().find(|curve| curve.key == *key)
    }

    pub(super) fn get_mut(&mut self, key: &CurveKey) -> Option<&mut Curve> {
        self.list.iter_mut().find(|curve| curve.key == *key)
    }

    /// Keeps these curves, each of a number of frames, new ones empty; and those that were wanted most recently as far as memory allows.
    /// Those of other characters are dropped.
    pub(super) fn keep(&mut self, wanted: &[CurveKey], frames: usize) {
        self.round += 1;
        for key in wanted {
            if let Some(curve) = self.get_mut(key) {
                curve.key = key.clone();
            } else {
                self.list.push(Curve {
                    key: key.clone(),
                    readings: vec![None; frames],
                    failed: vec![false; frames],
                    wanted_at: 0,
                });
            }
        }
        let round = self.round;
        for key in wanted {
            if let Some(curve) = self.get_mut(key) {
                curve.wanted_at = round;
            }
        }
        if let Some(first) = wanted.first() {
            let subject = std::sync::Arc::as_ptr(&first.basis.subject);
            self.list.retain(|curve| {
                std::ptr::eq(std::sync::Arc::as_ptr(&curve.key.basis.subject), subject)
            });
        }
        self.list
            .sort_by_key(|curve| std::cmp::Reverse(curve.wanted_at));
        let mut bytes = 0;
        self.list.retain(|curve| {
            bytes += curve.bytes();
            curve.wanted_at == round || bytes <= MOST_BYTES
        });
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// Number of curves.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}
