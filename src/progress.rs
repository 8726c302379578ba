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
#[derive(Debug, Clone, Default)]
pub struct Progress {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
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

    /// Names the stage that runs now ("Shrinking the skin") and says how much of the whole is done, 0..=1.
    pub fn report(&self, fraction: f32, stage: &str) {
        self.set_fraction(fraction);
        let mut current = self.state.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != stage {
            stage.clone_into(&mut current);
        }
    }

    /// Says how much of the whole is done, 0..=1, within the same stage.
    pub fn set_fraction(&self, fraction: f32) {
        let millionths = (fraction.clamp(0.0, 1.0) * 1e6) as u32;
        self.state.millionths.store(millionths, Ordering::Relaxed);
    }

    /// The fraction last reported, 0..=1.
    #[must_use]
    pub fn fraction(&self) -> f32 {
        let millionths = self.state.millionths.load(Ordering::Relaxed) as f32;
        millionths / 1e6
    }

    /// The stage last reported.
    #[must_use]
    pub fn stage(&self) -> String {
        self.state.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the worker to stop at its next check.
    pub fn cancel(&self) {
        self.state.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::Relaxed)
    }

    /// `Err(Cancelled)` once somebody asked to stop.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}
