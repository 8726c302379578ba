//! Parameters and state of a sequence of local/global iterations.

use std::time::Instant;

use super::system::System;
use crate::numerics::anderson::Anderson;
use crate::numerics::lanes::Padded;
use crate::numerics::tiles::TiledFactor;

/// Parameters of the iterations.
pub(super) struct IterationParams<'a> {
    pub(super) system: &'a System,
    pub(super) factor: &'a TiledFactor,
    pub(super) iterations: usize,
    /// Pause after this many of them.
    pub(super) pause_after: usize,
    /// Number of differences of Anderson acceleration; 0 for plain iterations.
    pub(super) memory: usize,
    /// For a solve without inertia: h² times gravity, the force per unit of M/h².
    pub(super) static_gravity: Option<Padded>,
    /// Stop when no vertex moves farther than this in an iteration, world units.
    pub(super) tolerance: f32,
    /// Stop when this many iterations did not decrease the largest change.
    pub(super) patience: usize,
    /// Stop at this time, after at least one iteration.
    pub(super) deadline: Option<Instant>,
}

/// What an iteration depends on besides positions and contacts.
pub(super) struct IterationState {
    pub(super) anderson: Anderson,
    /// Energy of the last iterate.
    pub(super) energy: f64,
    /// Smallest of the largest changes so far, world units, and the number of iterations since it decreased.
    best: f32,
    stalled: usize,
    /// Whether the last iteration would have ended a solve without contacts.
    pub(super) was_still: bool,
    /// Iterations made.
    pub(super) iterations: usize,
    pub(super) finished: bool,
}

impl IterationState {
    /// The state before the first iteration.
    pub(super) fn new(memory: usize) -> Self {
        Self {
            anderson: Anderson::new(memory),
            energy: f64::INFINITY,
            best: f32::INFINITY,
            stalled: 0,
            was_still: false,
            iterations: 0,
            finished: false,
        }
    }

    /// Forgets everything but the number of iterations: the equations have changed.
    pub(super) fn restart(&mut self, memory: usize) {
        *self = Self {
            iterations: self.iterations,
            ..Self::new(memory)
        };
    }

    /// Notes the largest change of an iteration. Returns whether the iterations should end. If contacts are detected between
    /// iterations, they are detected once more before that.
    pub(super) fn is_settled(
        &mut self,
        plan: &IterationParams<'_>,
        change: f32,
        redetects: bool,
    ) -> bool {
        self.stalled = if change < 0.9 * self.best {
            0
        } else {
            self.stalled + 1
        };
        self.best = self.best.min(change);
        let is_still = change <= plan.tolerance || self.stalled > plan.patience;
        let was_still = std::mem::replace(&mut self.was_still, is_still);
        is_still && (was_still || !redetects)
    }
}

/// Counts and times of the iterations of a call; `iterations` counts from the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct IterationStats {
    pub(super) iterations: usize,
    pub(super) rejected: usize,
    pub(super) last_change: f32,
    pub(super) local_secs: f64,
    pub(super) global_secs: f64,
}
