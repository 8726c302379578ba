//! Flesh: computed in the background once something is shown, and again when the document's settings change.

use std::sync::Arc;

use super::DerivedStages;
use super::making::{Rebuilt, rebuild_and_bind};
use crate::methods::{BindError, Subject};
use crate::progress::{Cancelled, Progress};
use crate::session::Level;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;

impl DerivedStages {
    /// Rebuilds the flesh for changed settings of the document. Returns the character with new flesh once it is ready.
    pub(in crate::session) fn follow_settings(
        &mut self,
        subject: &Arc<Subject>,
        context: &mut JobContext<'_>,
    ) -> Option<Rebuilt> {
        let wanted = &context.document.flesh;
        if subject.settings.same_structure(wanted) {
            self.rebuilding = None;
            return None;
        }
        if context.passing && subject.settings.same_structure_but_paint(wanted) {
            // The flesh follows a stroke at its end.
            return None;
        }
        if self
            .rebuilding
            .as_ref()
            .is_none_or(|(made_for, _)| !made_for.same_structure(wanted))
        {
            if self
                .refused_flesh
                .as_ref()
                .is_none_or(|refused| !refused.same_structure(wanted))
            {
                self.start_rebuilding(subject, context);
            }
            return None;
        }
        let outcome = self.rebuilding.as_ref().map(|(_, job)| job.poll());
        let refused = match outcome {
            None | Some(JobState::Running) => return None,
            Some(JobState::Done(Ok(rebuilt))) => return Some(rebuilt),
            Some(JobState::Done(Err(BindError::Cancelled(_)))) => "it was cancelled".to_owned(),
            Some(JobState::Done(Err(error))) => error.to_string(),
            Some(JobState::Lost) => "the work stopped unexpectedly".to_owned(),
        };
        self.refused_flesh = self.rebuilding.take().map(|(flesh, _)| flesh);
        context.add_message(
            Level::Warning,
            format!("The flesh could not be rebuilt: {refused}."),
        );
        None
    }

    /// Computes the flesh of the subject in the background, once a method is shown, none is being bound and the subject is no
    /// passing one. Returns whether it has just finished.
    pub(super) fn follow_flesh(
        &mut self,
        subject: &Arc<Subject>,
        context: &JobContext<'_>,
    ) -> bool {
        let Some(job) = &self.flesh_job else {
            let idle = !self.bound.is_empty() && self.binding.is_none() && !context.passing;
            if idle && !self.flesh_cancelled && !subject.is_flesh_made() {
                self.start_flesh_job(subject.clone(), context);
            }
            return false;
        };
        match job.poll() {
            JobState::Running => return false,
            JobState::Done(Ok(())) => {}
            JobState::Done(Err(Cancelled)) | JobState::Lost => self.flesh_cancelled = true,
        }
        self.flesh_job = None;
        true
    }

    fn start_flesh_job(&mut self, subject: Arc<Subject>, context: &JobContext<'_>) {
        let work = move |progress: &Progress| subject.make_flesh(progress);
        match Job::start("Making the flesh".to_owned(), context.waker.cloned(), work) {
            Ok(job) => self.flesh_job = Some(job),
            // A method that needs the flesh is bound again and reports the error.
            Err(_) => self.flesh_cancelled = true,
        }
    }

    fn start_rebuilding(&mut self, subject: &Arc<Subject>, context: &mut JobContext<'_>) {
        let (subject, flesh) = (subject.clone(), context.document.flesh.clone());
        let (method, params) = (context.views.active().method, context.document.params);
        let made_for = flesh.clone();
        let work = move |progress: &Progress| {
            rebuild_and_bind(&subject, &flesh, method, &params, progress)
        };
        match Job::start(
            "Rebuilding the flesh".to_owned(),
            context.waker.cloned(),
            work,
        ) {
            Ok(job) => self.rebuilding = Some((made_for, job)),
            Err(error) => {
                self.refused_flesh = Some(made_for);
                context.add_message(
                    Level::Error,
                    format!("No thread could be started to rebuild the flesh: {error}."),
                );
            }
        }
    }
}
