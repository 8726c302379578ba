//! Flesh: made in the background once something is shown, and made again when the document's settings change.

use std::sync::Arc;

use super::Stages;
use super::making::{Rebuilt, rebuild_and_bind};
use crate::methods::{BindError, Subject};
use crate::progress::{Cancelled, Progress};
use crate::session::Level;
use crate::session::job::{Job, Outcome};
use crate::session::jobs::Around;

impl Stages {
    /// Makes the flesh follow the document's settings. Returns the character with new flesh once it is ready.
    pub(in crate::session) fn follow_settings(
        &mut self,
        subject: &Arc<Subject>,
        around: &mut Around<'_>,
    ) -> Option<Rebuilt> {
        let wanted = &around.document.flesh;
        if subject.settings.same_structure(wanted) {
            self.rebuilding = None;
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
                self.start_rebuilding(subject, around);
            }
            return None;
        }
        let outcome = self.rebuilding.as_ref().map(|(_, job)| job.poll());
        let refused = match outcome {
            None | Some(Outcome::Running) => return None,
            Some(Outcome::Done(Ok(rebuilt))) => return Some(rebuilt),
            Some(Outcome::Done(Err(BindError::Cancelled(_)))) => "it was cancelled".to_owned(),
            Some(Outcome::Done(Err(error))) => error.to_string(),
            Some(Outcome::Lost) => "the work stopped unexpectedly".to_owned(),
        };
        self.refused_flesh = self.rebuilding.take().map(|(flesh, _)| flesh);
        around.tell(
            Level::Warning,
            format!("The flesh could not be rebuilt: {refused}."),
        );
        None
    }

    /// Computes the flesh of the subject in the background, once a method is shown and none is being bound. Returns whether it was
    /// finished now.
    pub(super) fn follow_flesh(&mut self, subject: &Arc<Subject>, around: &Around<'_>) -> bool {
        let Some(job) = &self.growing else {
            let idle = !self.bound.is_empty() && self.binding.is_none();
            if idle && !self.growing_cancelled && !subject.is_flesh_made() {
                self.start_growing(subject.clone(), around);
            }
            return false;
        };
        match job.poll() {
            Outcome::Running => return false,
            Outcome::Done(Ok(())) => {}
            Outcome::Done(Err(Cancelled)) | Outcome::Lost => self.growing_cancelled = true,
        }
        self.growing = None;
        true
    }

    fn start_growing(&mut self, subject: Arc<Subject>, around: &Around<'_>) {
        let work = move |progress: &Progress| subject.make_flesh(progress);
        match Job::start("Making the flesh".to_owned(), around.waker.cloned(), work) {
            Ok(job) => self.growing = Some(job),
            // A method that needs the flesh tries again, and says what is wrong.
            Err(_) => self.growing_cancelled = true,
        }
    }

    fn start_rebuilding(&mut self, subject: &Arc<Subject>, around: &mut Around<'_>) {
        let (subject, flesh) = (subject.clone(), around.document.flesh.clone());
        let (method, params) = (around.views.active().method, around.document.params);
        let made_for = flesh.clone();
        let work = move |progress: &Progress| {
            rebuild_and_bind(&subject, &flesh, method, &params, progress)
        };
        match Job::start(
            "Rebuilding the flesh".to_owned(),
            around.waker.cloned(),
            work,
        ) {
            Ok(job) => self.rebuilding = Some((made_for, job)),
            Err(error) => {
                self.refused_flesh = Some(made_for);
                around.tell(
                    Level::Error,
                    format!("No thread could be started to rebuild the flesh: {error}."),
                );
            }
        }
    }
}
