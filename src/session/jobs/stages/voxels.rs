//! The voxel domain of automatic weights, computed in the background once a view shows it.

use std::sync::Arc;

use super::DerivedStages;
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::session::SimWorker;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;

/// The voxel domains that views request.
#[derive(Default)]
pub(in crate::session) struct VoxelJob {
    /// Whether a view shows them.
    wanted: bool,
    pub(super) running: Option<Job<Result<(), Cancelled>>>,
    /// It was cancelled: it is not restarted before it is requested anew.
    cancelled: bool,
}

impl VoxelJob {
    /// Sets whether a view shows voxel domains.
    pub(in crate::session) fn set_wanted(&mut self, wanted: bool) {
        self.wanted = wanted;
        if !wanted {
            self.start_over();
        }
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

    /// Computes one voxel domain.
    fn start(&mut self, subject: Arc<Subject>, context: &JobContext<'_>) {
        let work = move |progress: &Progress| subject.make_voxels(progress).map(drop);
        let title = "Finding the voxel domain".to_owned();
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.running = Some(job),
            Err(_) => self.cancelled = true,
        }
    }
}

impl DerivedStages {
    /// Computes the voxel domains of the characters that are shown, one after the other. Waits for bindings: their weights may need the
    /// same domain. Returns whether one has just been finished.
    pub(super) fn follow_voxels(&mut self, context: &JobContext<'_>) -> bool {
        if let Some(job) = &self.voxels.running {
            match job.poll() {
                JobState::Running => return false,
                JobState::Done(Ok(())) => {}
                JobState::Done(Err(Cancelled)) | JobState::Lost => self.voxels.cancelled = true,
            }
            self.voxels.running = None;
            return true;
        }
        if !self.voxels.wanted || self.voxels.cancelled || self.binding.is_some() {
            return false;
        }
        let shown = self
            .live_workers()
            .map(|(_, worker)| SimWorker::snapshot(worker).subject.clone());
        let missing = shown
            .into_iter()
            .find(|subject| subject.voxels_if_made().is_none());
        if let Some(subject) = missing {
            self.voxels.start(subject, context);
        }
        false
    }
}
