//! Flesh: another subject is made in the background when the document's settings ask for one.

use std::sync::Arc;

use super::Need;
use crate::progress::Progress;
use crate::session::jobs::{Job, Outcome, Rebuilt, rebuild_and_bind};
use crate::session::{Level, Session};
use crate::skin::{Actor, BindError, Subject};

impl Session {
    /// Makes the flesh follow the document's settings. Returns whether there is a new subject.
    pub(super) fn follow_settings(&mut self, subject: &Arc<Subject>) -> bool {
        let wanted = &self.document.flesh;
        if subject.settings.same_structure(wanted) {
            self.stages.rebuilding = None;
            return false;
        }
        if self.stages.rebuilding.as_ref().is_none_or(|(made_for, _)| !made_for.same_structure(wanted)) {
            if self.stages.refused_flesh.as_ref().is_none_or(|refused| !refused.same_structure(wanted)) {
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
        self.tell(Level::Warning, format!("The flesh could not be rebuilt: {refused}."));
        false
    }

    fn start_rebuilding(&mut self, subject: &Arc<Subject>) {
        let (subject, flesh) = (subject.clone(), self.document.flesh.clone());
        let (method, params) = (self.views.active().method, self.document.params);
        let made_for = flesh.clone();
        let work = move |progress: &Progress| rebuild_and_bind(&subject, &flesh, method, &params, progress);
        match Job::start("Rebuilding the flesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.stages.rebuilding = Some((made_for, job)),
            Err(error) => {
                self.stages.refused_flesh = Some(made_for);
                self.tell(Level::Error, format!("No thread could be started to rebuild the flesh: {error}."));
            }
        }
    }

    /// New flesh is ready. No undo step of its own: it belongs to the change of the bone.
    fn take_rebuilt(&mut self, rebuilt: Rebuilt) {
        let active = self.views.active().need();
        let method = rebuilt.binding.wanted.as_ref().map_or(active.method, Actor::method);
        self.document.subject = Some(rebuilt.subject.clone());
        self.enter_subject(&rebuilt.subject);
        self.take_binding(Need { method, ..active }, rebuilt.binding);
    }
}
