//! What views show of weights beside those that move the skin, computed in the background: the voxel domain of automatic weights, and the
//! weights that colours compare with.

use std::sync::Arc;

use super::DerivedStages;
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::session::SimWorker;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::weights::WeightMethod;

/// The voxel domains and compared weights that views request.
#[derive(Default)]
pub(in crate::session) struct OverlayJob {
    /// Whether a view shows voxel domains.
    voxels: bool,
    /// The weight methods that views compare with.
    compared: Vec<WeightMethod>,
    pub(super) running: Option<Job<Result<(), Cancelled>>>,
    /// It was cancelled: it is not restarted before it is requested anew.
    cancelled: bool,
}

/// What is computed of a character.
#[derive(Debug, Clone, Copy)]
enum Part {
    Voxels,
    Weights(WeightMethod),
}

impl OverlayJob {
    /// Sets whether a view shows voxel domains, and which weights views compare with.
    pub(in crate::session) fn set_wanted(&mut self, voxels: bool, compared: &[WeightMethod]) {
        let drops_some =
            self.voxels && !voxels || self.compared.iter().any(|m| !compared.contains(m));
        self.voxels = voxels;
        if self.compared != compared {
            self.compared = compared.to_vec();
        }
        if drops_some {
            self.start_over();
        }
    }

    /// What is missing of a character.
    fn missing_of(&self, subject: &Arc<Subject>) -> Option<Part> {
        if self.voxels && subject.voxels_if_made().is_none() {
            return Some(Part::Voxels);
        }
        let own = subject.weight_method();
        let mut needed = self.compared.iter().copied();
        // The own ones may not be known, either, where the method has no need of weights.
        needed
            .find(|&method| subject.weighted_if_made(method).is_none())
            .or_else(|| {
                let is_missing = !self.compared.is_empty() && subject.weight_report().is_none();
                is_missing.then_some(own)
            })
            .map(Part::Weights)
    }

    pub(in crate::session) fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    pub(super) fn cancel(&mut self) {
        self.cancelled |= self.running.take().is_some();
    }

    /// Allows a cancelled one to be computed.
    pub(super) fn allow_retry(&mut self) {
        self.cancelled = false;
    }

    /// Another character is shown.
    pub(super) fn start_over(&mut self) {
        (self.running, self.cancelled) = (None, false);
    }

    /// Computes one of them.
    fn start(&mut self, subject: Arc<Subject>, part: Part, context: &JobContext<'_>) {
        let title = match part {
            Part::Voxels => "Finding the voxel domain".to_owned(),
            Part::Weights(method) => {
                format!("Computing weights to compare with: {}", method.label())
            }
        };
        let work = move |progress: &Progress| match part {
            Part::Voxels => subject.make_voxels(progress).map(drop),
            Part::Weights(method) => subject.weighted(method).make_weights(progress),
        };
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.running = Some(job),
            Err(_) => self.cancelled = true,
        }
    }
}

impl DerivedStages {
    /// Computes voxel domains and compared weights of the characters that are shown, one after the other. Waits for bindings: their
    /// weights may need the same domain. Returns whether one has just been finished.
    pub(super) fn follow_overlays(&mut self, context: &JobContext<'_>) -> bool {
        if let Some(job) = &self.overlays.running {
            match job.poll() {
                JobState::Running => return false,
                JobState::Done(Ok(())) => {}
                JobState::Done(Err(Cancelled)) | JobState::Lost => self.overlays.cancelled = true,
            }
            self.overlays.running = None;
            return true;
        }
        if self.overlays.cancelled || self.binding.is_some() {
            return false;
        }
        let shown = self
            .live_workers()
            .map(|(_, worker)| SimWorker::snapshot(worker).subject.clone());
        let missing = shown
            .into_iter()
            .find_map(|subject| Some((self.overlays.missing_of(&subject)?, subject)));
        if let Some((part, subject)) = missing {
            self.overlays.start(subject, part, context);
        }
        false
    }
}
