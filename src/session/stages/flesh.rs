//! Flesh: made in the background once something is shown, and made again when the document's settings change.

use std::sync::Arc;

use super::making::{Rebuilt, rebuild_and_bind};
use crate::methods::{Actor, BindError, Subject};
use crate::progress::{Cancelled, Progress};
use crate::session::jobs::{Job, Outcome};
use crate::session::views::Need;
use crate::session::{Level, Session};

impl Session {
    /// Makes the flesh follow the document's settings. Returns whether there is a new subject.
    pub(super) fn follow_settings(&mut self, subject: &Arc<Subject>) -> bool {
        let wanted = &self.document.flesh;
        if subject.settings.same_structure(wanted) {
            self.stages.rebuilding = None;
            return false;
        }
        if self
            .stages
            .rebuilding
            .as_ref()
            .is_none_or(|(made_for, _)| !made_for.same_structure(wanted))
        {
            if self
                .stages
                .refused_flesh
                .as_ref()
                .is_none_or(|refused| !refused.same_structure(wanted))
            {
                self.start_rebuilding(subject);
            }
            return false;
        }
        let outcome = self.stages.rebuilding.as_ref().map(|(_, job)| job.poll());
        let refused = match outcome {
            None | Some(Outcome::Running) => return false,
            Some(Outcome::Done(Ok(rebuilt))) => {
                self.take_rebuilt(rebuilt);
                return true;
            }
            Some(Outcome::Done(Err(BindError::Cancelled(_)))) => "it was cancelled".to_owned(),
            Some(Outcome::Done(Err(error))) => error.to_string(),
            Some(Outcome::Lost) => "the work stopped unexpectedly".to_owned(),
        };
        self.stages.refused_flesh = self.stages.rebuilding.take().map(|(flesh, _)| flesh);
        self.tell(
            Level::Warning,
            format!("The flesh could not be rebuilt: {refused}."),
        );
        false
    }

    /// Computes the flesh of the subject in the background, once a method is shown and none is being bound. Returns whether it was
    /// finished now.
    pub(super) fn follow_flesh(&mut self, subject: &Arc<Subject>) -> bool {
        let Some(job) = &self.stages.growing else {
            let idle = !self.stages.bound.is_empty() && self.stages.binding.is_none();
            if idle && !self.stages.growing_cancelled && !subject.is_flesh_made() {
                self.start_growing(subject.clone());
            }
            return false;
        };
        match job.poll() {
            Outcome::Running => return false,
            Outcome::Done(Ok(())) => {}
            Outcome::Done(Err(Cancelled)) | Outcome::Lost => self.stages.growing_cancelled = true,
        }
        self.stages.growing = None;
        true
    }

    fn start_growing(&mut self, subject: Arc<Subject>) {
        let work = move |progress: &Progress| subject.make_flesh(progress);
        match Job::start("Making the flesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.stages.growing = Some(job),
            // A method that needs the flesh tries again, and says what is wrong.
            Err(_) => self.stages.growing_cancelled = true,
        }
    }

    fn start_rebuilding(&mut self, subject: &Arc<Subject>) {
        let (subject, flesh) = (subject.clone(), self.document.flesh.clone());
        let (method, params) = (self.views.active().method, self.document.params);
        let made_for = flesh.clone();
        let work = move |progress: &Progress| {
            rebuild_and_bind(&subject, &flesh, method, &params, progress)
        };
        match Job::start("Rebuilding the flesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.stages.rebuilding = Some((made_for, job)),
            Err(error) => {
                self.stages.refused_flesh = Some(made_for);
                self.tell(
                    Level::Error,
                    format!("No thread could be started to rebuild the flesh: {error}."),
                );
            }
        }
    }

    /// New flesh is ready. No undo step of its own: it belongs to the change of the bone.
    fn take_rebuilt(&mut self, rebuilt: Rebuilt) {
        let active = self.views.active().need();
        let method = rebuilt
            .binding
            .wanted
            .as_ref()
            .map_or(active.method, Actor::method);
        self.document.subject = Some(rebuilt.subject.clone());
        self.enter_subject(&rebuilt.subject);
        self.take_binding(Need { method, ..active }, rebuilt.binding);
    }
}
