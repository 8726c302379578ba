//! Cuts through the composed field that views show, computed in the background one after the other. A view shows its last one until the
//! next is there.

use std::sync::Arc;

use crate::methods::FieldSlice;
use crate::progress::{Cancelled, Progress};
use crate::session::ViewId;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::studio::FieldCutting;

/// The slices of all views.
#[derive(Default)]
pub(in crate::session) struct FieldJob {
    /// What views show now.
    wanted: Vec<(ViewId, FieldCutting)>,
    done: Vec<(ViewId, FieldCutting, Arc<FieldSlice>)>,
    running: Option<Running>,
    /// The view that the last job was for: the next one is another's turn.
    last: Option<ViewId>,
}

/// What is being computed.
struct Running {
    view: ViewId,
    cutting: FieldCutting,
    job: Job<Result<FieldSlice, Cancelled>>,
}

impl FieldJob {
    /// Sets what views show; slices of other views are dropped. Returns whether one is missing that nothing computes yet.
    pub(in crate::session) fn set_wanted(&mut self, wanted: Vec<(ViewId, FieldCutting)>) -> bool {
        let is_shown = |view: ViewId| wanted.iter().any(|(shown, _)| *shown == view);
        self.done.retain(|(view, ..)| is_shown(*view));
        self.wanted = wanted;
        self.running.is_none() && self.missing().next().is_some()
    }

    /// The last slice of a view.
    pub(in crate::session) fn of(&self, view: ViewId) -> Option<&Arc<FieldSlice>> {
        let done = self.done.iter().find(|(of, ..)| *of == view);
        done.map(|(.., slice)| slice)
    }

    /// What is shown and not computed.
    fn missing(&self) -> impl Iterator<Item = &(ViewId, FieldCutting)> {
        let is_done = |(view, cutting): &(ViewId, FieldCutting)| {
            let done = self.done.iter().find(|(of, ..)| of == view);
            done.is_some_and(|(_, of, _)| of == cutting)
        };
        self.wanted.iter().filter(move |wanted| !is_done(wanted))
    }

    /// Takes over a slice that has been computed and starts the next. Returns whether there is a new one.
    pub(super) fn follow(&mut self, context: &JobContext<'_>) -> bool {
        let mut changed = false;
        if let Some(running) = &self.running {
            let slice = match running.job.poll() {
                JobState::Running => return false,
                JobState::Done(slice) => slice.unwrap_or_default(),
                // It would be lost again.
                JobState::Lost => FieldSlice::default(),
            };
            changed = self.finish(slice);
        }
        let others_turn = self.missing().find(|(view, _)| Some(*view) != self.last);
        let next = others_turn.or_else(|| self.missing().next());
        let Some((view, cutting)) = next.cloned() else {
            return changed;
        };
        self.last = Some(view);
        let asked = cutting.clone();
        let work = move |progress: &Progress| asked.slice(progress);
        match Job::start("Cutting the field".to_owned(), context.waker.cloned(), work) {
            Ok(job) => self.running = Some(Running { view, cutting, job }),
            Err(error) => {
                log::warn!("the field of a view is not shown: {error}");
                self.done.retain(|(of, ..)| *of != view);
                self.done.push((view, cutting, Arc::default()));
            }
        }
        changed
    }

    /// Keeps a slice that has been computed. Returns whether a view shows it.
    fn finish(&mut self, slice: FieldSlice) -> bool {
        let Some(Running { view, cutting, .. }) = self.running.take() else {
            return false;
        };
        self.done.retain(|(of, ..)| *of != view);
        let is_shown = self.wanted.iter().any(|(of, _)| *of == view);
        if is_shown {
            self.done.push((view, cutting, Arc::new(slice)));
        }
        is_shown
    }
}
