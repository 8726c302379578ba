//! Makes the subject follow the rig.

use std::sync::Arc;

use crate::methods::{BindError, Subject};
use crate::progress::Progress;
use crate::rig::edit::{Remap, Rig};
use crate::session::jobs::{Job, Outcome};
use crate::session::stages::making::{Rebuilt, rerig_and_bind};
use crate::session::views::Need;
use crate::session::{JobView, Level, Session};

/// The character on the latest rig, in the making.
#[derive(Default)]
pub(super) struct Following {
    job: Option<Making>,
    /// A rig that the user gave up, or that could not be used: not tried again by itself.
    refused: Option<Arc<Rig>>,
    /// The subject has the simulation mesh of an older rig, because it was made during a drag.
    passing: bool,
}

struct Making {
    rig: Arc<Rig>,
    /// The simulation mesh is made anew.
    anew: bool,
    job: Job<Result<Rebuilt, BindError>>,
}

impl Following {
    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    pub(super) fn view(&self) -> Option<JobView> {
        self.job.as_ref().map(|making| making.job.view())
    }

    pub(super) fn cancel(&mut self) {
        if let Some(making) = self.job.take() {
            self.refused = Some(making.rig);
        }
    }

    pub(super) fn forgive(&mut self) {
        self.refused = None;
    }
}

impl Session {
    /// Makes the subject follow the rig. Returns whether there is a new subject.
    pub(in crate::session) fn follow_rig(&mut self, subject: &Arc<Subject>) -> bool {
        let Some(wanted) = self.document.rig().cloned() else {
            return false;
        };
        let dragging = self.history.is_dragging();
        let finished = self
            .rigging
            .following
            .job
            .as_ref()
            .map(|making| making.job.poll());
        match finished {
            Some(Outcome::Done(outcome)) => {
                let making = self.rigging.following.job.take();
                // Undo may have come first: then it is of no use.
                if let Some(making) = making.filter(|making| dragging || making.rig == wanted) {
                    return self.take_rerigged(making, outcome);
                }
            }
            Some(Outcome::Lost) => {
                self.refuse_rig("the work stopped unexpectedly");
                return false;
            }
            Some(Outcome::Running) | None => {}
        }
        let following = &mut self.rigging.following;
        let is_there = subject.rig == wanted && (dragging || !following.passing);
        if is_there {
            following.job = None;
            return false;
        }
        if let Some(making) = &following.job {
            // What is under way is of use while dragging; what comes after a drag is better.
            let is_wanted = making.rig == wanted && (making.anew || dragging);
            if is_wanted || dragging {
                return false;
            }
        }
        if following.refused.as_ref() != Some(&wanted) {
            self.start_rerigging(subject, wanted, !dragging);
        }
        false
    }

    fn start_rerigging(&mut self, subject: &Arc<Subject>, rig: Arc<Rig>, anew: bool) {
        let settings = self.document.flesh.on(&Remap::between(&subject.rig, &rig));
        let (method, params) = (self.views.active().method, self.document.params);
        let (subject, made_for) = (subject.clone(), rig.clone());
        let work = move |progress: &Progress| {
            rerig_and_bind(&subject, &rig, &settings, anew, method, &params, progress)
        };
        match Job::start("Rebuilding the flesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => {
                self.rigging.following.job = Some(Making {
                    rig: made_for,
                    anew,
                    job,
                });
            }
            Err(error) => {
                self.rigging.following.refused = Some(made_for);
                self.tell(
                    Level::Error,
                    format!("No thread could be started to rebuild the flesh: {error}."),
                );
            }
        }
    }

    fn refuse_rig(&mut self, why: &str) {
        self.rigging.following.cancel();
        self.tell(
            Level::Warning,
            format!("The flesh could not be rebuilt: {why}."),
        );
    }

    /// The character on another rig is ready. No undo step of its own: it belongs to the edit.
    fn take_rerigged(&mut self, making: Making, outcome: Result<Rebuilt, BindError>) -> bool {
        let Some(old) = self.document.subject.clone() else {
            return false;
        };
        let rebuilt = match outcome {
            Ok(rebuilt) => rebuilt,
            Err(BindError::Cancelled(_)) => return false,
            Err(error) => {
                self.rigging.following.job = Some(making);
                self.refuse_rig(&error.to_string());
                return false;
            }
        };
        self.rigging.following.passing = !making.anew;
        let new = &rebuilt.subject;
        self.document.carry(
            &Remap::between(&old.rig, &new.rig),
            &old.character.skeleton,
            &new.character.skeleton,
        );
        self.document.subject = Some(new.clone());
        self.enter_subject(new);
        let need = self.views.active().need();
        let method = rebuilt
            .binding
            .wanted
            .as_ref()
            .map_or(need.method, crate::methods::Actor::method);
        self.take_binding(Need { method, ..need }, rebuilt.binding);
        true
    }

    /// Another subject has come by undo, or by opening.
    pub(in crate::session) fn enter_rig(&mut self, before: &Subject, now: &Arc<Subject>) {
        if before.rig == now.rig {
            return;
        }
        self.carry_selection(&Remap::between(&before.rig, &now.rig));
        for channel in self.channels.iter_mut() {
            channel.playback.fading = None;
            channel.refresh(&self.document);
        }
    }

    /// A character that has nothing to do with the last one.
    pub(in crate::session) fn forget_rig(&mut self) {
        (self.rigging.selected, self.rigging.following) = (None, Following::default());
        (self.rigging.recall, self.rigging.sides) =
            (super::Recall::default(), super::Sides::default());
    }
}
