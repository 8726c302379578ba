//! Cuts through the composed field that views show, computed in the background one after the other. A view shows its last one until the
//! next is there.

use std::sync::Arc;

use crate::methods::FieldSlice;
use crate::progress::{Cancelled, Progress};
use crate::session::ViewId;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::studio::FieldCutting;

/// What is computed: the view, what it shows, and the result.
type Cut = (ViewId, FieldCutting, FieldSlice);

/// The slices of all views.
#[derive(Default)]
pub(in crate::session) struct FieldJob {
    /// What views show now.
    wanted: Vec<(ViewId, FieldCutting)>,
    done: Vec<(ViewId, FieldCutting, Arc<FieldSlice>)>,
    running: Option<Job<Result<Cut, Cancelled>>>,
    /// The view that the last job was for: the next one is another's turn.
    last: Option<ViewId>,
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
        if let Some(job) = &self.running {
            match job.poll() {
                JobState::Running => return false,
                JobState::Done(Ok((view, cutting, slice))) => {
                    self.done.retain(|(of, ..)| *of != view);
                    if self.wanted.iter().any(|(of, _)| *of == view) {
                        self.done.push((view, cutting, Arc::new(slice)));
                        changed = true;
                    }
                }
                JobState::Done(Err(Cancelled)) | JobState::Lost => {}
            }
            self.running = None;
        }
        let others_turn = self.missing().find(|(view, _)| Some(*view) != self.last);
        let next = others_turn.or_else(|| self.missing().next());
        let Some((view, cutting)) = next.cloned() else {
            return changed;
        };
        self.last = Some(view);
        let work = move |progress: &Progress| {
            let slice = cutting.slice(progress)?;
            Ok((view, cutting, slice))
        };
        let title = "Cutting the field".to_owned();
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.running = Some(job),
            Err(error) => log::warn!("the field of a view is not shown: {error}"),
        }
        changed
    }
}
