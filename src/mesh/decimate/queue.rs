//! The edges that wait, cheapest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An edge that may collapse. Ordered by cost, then by its ends, so that the order of events never depends on anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Bits of a cost ≥ 0, which order like the cost.
    cost: u32,
    /// Its ends, the smaller first.
    pub ends: [u32; 2],
    /// What [`super::collapse`] stamped the ends with when the cost was found; another now means that it is out of date.
    pub stamp: u32,
    /// How often it was put back.
    pub tries: u8,
}

impl Candidate {
    /// A new one; `None` for a cost that is no number.
    pub(super) fn new(cost: f64, ends: [u32; 2], stamp: u32) -> Option<Self> {
        let cost = cost as f32;
        (cost.is_finite() && cost >= 0.0).then(|| Self { cost: (cost + 0.0).to_bits(), ends, stamp, tries: 0 })
    }

    /// The same, later.
    fn dearer(self, factor: f32) -> Self {
        let cost = (f32::from_bits(self.cost).max(f32::MIN_POSITIVE) * factor).min(f32::MAX);
        Self { cost: cost.to_bits(), tries: self.tries + 1, ..self }
    }
}

/// Candidates, cheapest first; those that are out of date stay in until they come up.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Queue {
    /// Replaces what waits.
    pub(super) fn fill(&mut self, candidates: Vec<Candidate>) {
        self.heap = candidates.into_iter().map(Reverse).collect();
    }

    /// Adds one.
    pub(super) fn push(&mut self, candidate: Candidate) {
        self.heap.push(Reverse(candidate));
    }

    /// Puts one back that should wait until others have become `factor` times dearer than it.
    pub(super) fn put_back(&mut self, candidate: Candidate, factor: f32) {
        self.push(candidate.dearer(factor));
    }

    /// Takes the cheapest.
    pub(super) fn pop(&mut self) -> Option<Candidate> {
        self.heap.pop().map(|Reverse(candidate)| candidate)
    }
}
