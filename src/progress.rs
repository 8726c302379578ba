//! Progress and cancellation of long work, the lowest layer of all.
//!
//! A long function takes a [`Progress`]; it reports fractions and asks [`Progress::check`] between chunks of work. Clones share
//! one state, so that the one who waits can watch and cancel while another thread works.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The caller asked to stop; nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// A shared progress cell with a cancel flag.
#[derive(Debug, Clone)]
pub struct Progress {
    state: Arc<ProgressState>,
    /// What part of the whole this work is; only the whole is reported.
    span: Option<[f32; 2]>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            span: Some([0.0, 1.0]),
        }
    }
}

#[derive(Debug, Default)]
struct ProgressState {
    cancelled: AtomicBool,
    /// Done work in millionths.
    millionths: AtomicU32,
    stage: Mutex<String>,
}

impl Progress {
    /// A fresh cell at 0, not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For work that is a part of this: its 0..=1 is `from..=to` here.
    #[must_use]
    pub fn part(&self, from: f32, to: f32) -> Self {
        let within = |[low, high]: [f32; 2]| [low + (high - low) * from, low + (high - low) * to];
        Self {
            state: self.state.clone(),
            span: self.span.map(within),
        }
    }

    /// For work that runs beside other work which reports progress: it can only be cancelled.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self {
            state: self.state.clone(),
            span: None,
        }
    }

    /// Names the stage that runs now ("Shrinking the skin") and says how much of the whole is done, 0..=1.
    pub fn report(&self, fraction: f32, stage: &str) {
        if self.span.is_none() {
            return;
        }
        self.set_fraction(fraction);
        let mut current = self
            .state
            .stage
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *current != stage {
            stage.clone_into(&mut current);
        }
    }

    /// Says how much of the whole is done, 0..=1, within the same stage.
    pub fn set_fraction(&self, fraction: f32) {
        let Some([low, high]) = self.span else { return };
        let millionths = ((low + (high - low) * fraction.clamp(0.0, 1.0)) * 1e6) as u32;
        self.state.millionths.store(millionths, Ordering::Relaxed);
    }

    /// The fraction of the whole last reported, 0..=1.
    #[must_use]
    pub fn fraction(&self) -> f32 {
        let millionths = self.state.millionths.load(Ordering::Relaxed) as f32;
        millionths / 1e6
    }

    /// The stage last reported.
    #[must_use]
    pub fn stage(&self) -> String {
        self.state
            .stage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Asks the worker to stop at its next check.
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::Relaxed)
    }

    /// `Err(Cancelled)` once the work was cancelled.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}
