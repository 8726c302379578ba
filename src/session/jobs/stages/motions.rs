//! Motions: transferred again in the background when other joints are chosen for them.

use std::sync::Arc;

use super::DerivedStages;
use super::making::{Rebuilt, map_and_bind};
use crate::character::MotionChoices;
use crate::methods::Subject;
use crate::progress::Progress;
use crate::session::job::{Job, JobState, JobView};
use crate::session::jobs::JobContext;
use crate::session::{Level, SourceError};

/// The job that transfers motions, and the choices that could not be followed.
#[derive(Default)]
pub(super) struct MotionsJob {
    running: Option<(MotionChoices, Job<Result<Rebuilt, SourceError>>)>,
    /// Not retried automatically.
    refused: Option<MotionChoices>,
}

impl MotionsJob {
    pub(super) fn view(&self) -> Option<JobView> {
        self.running.as_ref().map(|(_, job)| job.view())
    }

    pub(super) fn cancel(&mut self) {
        if let Some((choices, _)) = self.running.take() {
            self.refused = Some(choices);
        }
    }

    pub(super) fn allow_retry(&mut self) {
        self.refused = None;
    }
}

impl DerivedStages {
    /// Transfers motions again for changed choices of the document. Returns the character with the new clips once it is ready.
    pub(in crate::session) fn follow_motions(
        &mut self,
        subject: &Arc<Subject>,
        context: &mut JobContext<'_>,
    ) -> Option<Rebuilt> {
        let wanted = &context.document.motions;
        // New flesh has its own job, which starts from this subject.
        if self.rebuilding.is_some() || subject.character.follows_choices(wanted) {
            self.motions.running = None;
            return None;
        }
        let running = self.motions.running.as_ref();
        if running.is_none_or(|(made_for, _)| made_for != wanted) {
            if self.motions.refused.as_ref() != Some(wanted) {
                self.start_mapping(subject, context);
            }
            return None;
        }
        let refused = match running.map(|(_, job)| job.poll()) {
            None | Some(JobState::Running) => return None,
            Some(JobState::Done(Ok(rebuilt))) => return Some(rebuilt),
            Some(JobState::Done(Err(SourceError::Cancelled(_)))) => "it was cancelled".to_owned(),
            Some(JobState::Done(Err(error))) => error.to_string(),
            Some(JobState::Lost) => "the work stopped unexpectedly".to_owned(),
        };
        self.motions.cancel();
        context.add_message(
            Level::Warning,
            format!("The motion could not be transferred with these joints: {refused}."),
        );
        None
    }

    fn start_mapping(&mut self, subject: &Arc<Subject>, context: &mut JobContext<'_>) {
        let (subject, choices) = (subject.clone(), context.document.motions.clone());
        let (method, params) = (context.views.active().method, context.document.params);
        let made_for = choices.clone();
        let work =
            move |progress: &Progress| map_and_bind(&subject, &choices, method, &params, progress);
        let title = "Transferring the motion".to_owned();
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.motions.running = Some((made_for, job)),
            Err(error) => {
                self.motions.refused = Some(made_for);
                context.add_message(
                    Level::Error,
                    format!("No thread could be started to transfer the motion: {error}."),
                );
            }
        }
    }

    /// Whether a motion is being transferred again.
    pub(in crate::session) fn is_mapping(&self) -> bool {
        self.motions.running.is_some()
    }
}
