//! Priority queue of candidate edges, cheapest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A candidate edge. Ordered by cost, then by its ends, so that the order is deterministic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// Bits of a cost ≥ 0, which order like the cost.
    cost: u32,
    /// Its ends, the smaller first.
    pub ends: [u32; 2],
    /// Stamps that [`super::collapse`] had given the ends when the cost was computed; a different
    /// stamp now means that the cost is outdated.
    pub stamp: u32,
    /// How often it was requeued.
    pub tries: u8,
}

impl Candidate {
    /// A new candidate; `None` for a NaN cost.
    pub(super) fn new(cost: f64, ends: [u32; 2], stamp: u32) -> Option<Self> {
        let cost = cost as f32;
        (cost.is_finite() && cost >= 0.0).then(|| Self {
            cost: (cost + 0.0).to_bits(),
            ends,
            stamp,
            tries: 0,
        })
    }

    /// The same candidate with a higher cost.
    fn with_higher_cost(self, factor: f32) -> Self {
        let cost = (f32::from_bits(self.cost).max(f32::MIN_POSITIVE) * factor).min(f32::MAX);
        Self {
            cost: cost.to_bits(),
            tries: self.tries + 1,
            ..self
        }
    }
}

/// Low bits of a cost, which order candidates within a bucket; the high bits are the bucket's
/// number.
const FINE_BITS: u32 = 16;

/// Candidates, cheapest first; outdated ones remain until they are popped.
///
/// Only the cheapest bucket is a heap, which fits the cache; the others are unordered. The
/// resulting order equals that of a single heap.
#[derive(Debug, Default)]
pub(super) struct CandidateQueue {
    /// All candidates of buckets before `next`.
    near: BinaryHeap<Reverse<Candidate>>,
    buckets: Vec<Vec<Candidate>>,
    next: usize,
}

impl CandidateQueue {
    /// Replaces the content.
    pub(super) fn fill(&mut self, candidates: impl Iterator<Item = Candidate>) {
        // Costs are not negative: their sign bit is 0.
        *self = Self {
            near: BinaryHeap::new(),
            buckets: vec![Vec::new(); 1 << (31 - FINE_BITS)],
            next: 0,
        };
        candidates.for_each(|candidate| self.push(candidate));
    }

    /// Adds a candidate.
    pub(super) fn push(&mut self, candidate: Candidate) {
        let bucket = (candidate.cost >> FINE_BITS) as usize;
        match self.buckets.get_mut(bucket).filter(|_| bucket >= self.next) {
            Some(far) => far.push(candidate),
            None => self.near.push(Reverse(candidate)),
        }
    }

    /// Requeues a candidate at `factor` times its cost.
    pub(super) fn put_back(&mut self, candidate: Candidate, factor: f32) {
        self.push(candidate.with_higher_cost(factor));
    }

    /// Removes and returns the cheapest candidate.
    pub(super) fn pop(&mut self) -> Option<Candidate> {
        while self.near.is_empty() {
            let bucket = self.buckets.get_mut(self.next)?;
            self.next += 1;
            self.near = std::mem::take(bucket).into_iter().map(Reverse).collect();
        }
        self.near.pop().map(|Reverse(candidate)| candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_ordered_by_cost_then_by_ends() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        let mut make = |index: u32| {
            Candidate::new(
                (random() * 8.0).exp2() * f64::from(index % 3),
                [index % 7, index],
                0,
            )
            .unwrap()
        };
        let mut queue = CandidateQueue::default();
        let mut waiting: Vec<Candidate> = (0..500).map(&mut make).collect();
        queue.fill(waiting.clone().into_iter());
        for index in 500..1500 {
            waiting.sort_unstable();
            assert_eq!(queue.pop(), Some(waiting.remove(0)));
            let candidate = make(index);
            queue.push(candidate);
            waiting.push(candidate);
        }
        assert_eq!(Candidate::new(f64::NAN, [0, 1], 0), None);
    }
}
