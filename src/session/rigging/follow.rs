//! Rebuilds the subject when the rig changes.

use std::sync::Arc;

use super::{Rigging, carry_selection};
use crate::character::FleshSettings;
use crate::dynamics::Params;
use crate::methods::{BindError, Subject};
use crate::progress::Progress;
use crate::rig::edit::{Remap, Rig};
use crate::session::editing::Editor;
use crate::session::job::{Job, JobState, JobView};
use crate::session::jobs::stages::making::{Rebuilt, makes_flesh, rerig_and_bind};
use crate::session::message::Messages;
use crate::session::views::Need;
use crate::session::{Channels, Level, Waker, clips};

/// The job that makes the character on the latest rig.
#[derive(Default)]
pub(super) struct Following {
    job: Option<FleshJob>,
    /// A rig that was cancelled or failed: not retried automatically.
    refused: Option<Arc<Rig>>,
    /// The subject has the simulation mesh of an older rig, because it was made during a drag.
    passing: bool,
}

struct FleshJob {
    rig: Arc<Rig>,
    /// Whether the simulation mesh is made again.
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

    pub(super) fn allow_retry(&mut self) {
        self.refused = None;
    }
}

impl Rigging {
    /// Rebuilds the subject for a changed rig. Returns the character on it once the document has it.
    pub(in crate::session) fn follow_rig(
        &mut self,
        subject: &Arc<Subject>,
        editor: &mut Editor,
        shown: Need,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) -> Option<Rebuilt> {
        let wanted = editor.document.rig()?.clone();
        let dragging = editor.history.is_dragging();
        let finished = self.following.job.as_ref().map(|making| making.job.poll());
        match finished {
            Some(JobState::Done(outcome)) => {
                let making = self.following.job.take();
                // After an undo the result may be obsolete.
                if let Some(making) = making.filter(|making| dragging || making.rig == wanted) {
                    return self.take_rerigged(making, outcome, editor, messages);
                }
            }
            Some(JobState::Lost) => {
                self.note_failure("the work stopped unexpectedly", messages);
                return None;
            }
            Some(JobState::Running) | None => {}
        }
        let following = &mut self.following;
        let is_there = subject.rig == wanted && (dragging || !following.passing);
        if is_there {
            following.job = None;
            return None;
        }
        if let Some(making) = &following.job {
            // During a drag a running job is finished; the latest rig is made after the drag.
            let is_wanted = making.rig == wanted && (making.anew || dragging);
            if is_wanted || dragging {
                return None;
            }
        }
        if following.refused.as_ref() != Some(&wanted) {
            let flesh = &editor.document.flesh;
            let work = Rerigging {
                settings: flesh.on(&Remap::between(&subject.rig, &wanted)),
                subject: subject.clone(),
                rig: wanted,
                anew: !dragging,
                shown,
                params: editor.document.params,
            };
            self.start_rerigging(work, messages, waker);
        }
        None
    }

    fn start_rerigging(&mut self, work: Rerigging, messages: &mut Messages, waker: Option<&Waker>) {
        let (made_for, anew) = (work.rig.clone(), work.anew);
        let title = if makes_flesh(work.shown, anew) {
            "Rebuilding the flesh"
        } else {
            "Computing the weights"
        };
        let started = Job::start(
            title.to_owned(),
            waker.cloned(),
            move |progress: &Progress| work.run(progress),
        );
        match started {
            Ok(job) => {
                self.following.job = Some(FleshJob {
                    rig: made_for,
                    anew,
                    job,
                });
            }
            Err(error) => {
                self.following.refused = Some(made_for);
                messages.push(
                    Level::Error,
                    format!("No thread could be started to rebuild the flesh: {error}."),
                );
            }
        }
    }

    fn note_failure(&mut self, why: &str, messages: &mut Messages) {
        self.following.cancel();
        messages.push(
            Level::Warning,
            format!("The flesh could not be rebuilt: {why}."),
        );
    }

    /// Shows the character on another rig. Not an undo step: it belongs to the edit.
    fn take_rerigged(
        &mut self,
        making: FleshJob,
        outcome: Result<Rebuilt, BindError>,
        editor: &mut Editor,
        messages: &mut Messages,
    ) -> Option<Rebuilt> {
        let old = editor.document.subject.clone()?;
        let rebuilt = match outcome {
            Ok(rebuilt) => rebuilt,
            Err(BindError::Cancelled(_)) => return None,
            Err(error) => {
                self.following.job = Some(making);
                self.note_failure(&error.to_string(), messages);
                return None;
            }
        };
        self.following.passing = !making.anew;
        let new = &rebuilt.subject;
        editor.document.carry(
            &Remap::between(&old.rig, &new.rig),
            &old.character.skeleton,
            &new.character.skeleton,
        );
        clips::stand(&mut editor.document.takes, &new.character);
        editor.document.subject = Some(new.clone());
        Some(rebuilt)
    }

    /// Resets it for an unrelated character.
    pub(in crate::session) fn forget(&mut self) {
        (self.selected, self.following) = (None, Following::default());
        (self.selection_history, self.sides) =
            (super::SelectionHistory::default(), super::Sides::default());
    }
}

/// The job's work: makes the character on another rig.
struct Rerigging {
    subject: Arc<Subject>,
    rig: Arc<Rig>,
    settings: FleshSettings,
    anew: bool,
    shown: Need,
    params: Params,
}

impl Rerigging {
    fn run(self, progress: &Progress) -> Result<Rebuilt, BindError> {
        let Self {
            subject,
            rig,
            settings,
            anew,
            shown,
            params,
        } = self;
        rerig_and_bind(&subject, &rig, &settings, anew, shown, &params, progress)
    }
}

/// After undo, an edit or opening, the same character has another rig: updates the selection and what is shown.
pub(in crate::session) fn enter_rig(
    before: &Subject,
    now: &Subject,
    editor: &mut Editor,
    channels: &mut Channels,
) {
    if before.rig == now.rig {
        return;
    }
    carry_selection(
        &mut editor.selection,
        &Remap::between(&before.rig, &now.rig),
    );
    for channel in channels.iter_mut() {
        channel.playback.fading = None;
        channel.refresh(&editor.document);
    }
}
