//! The rig that a project keeps, shown again after it was opened.

use std::sync::Arc;

use super::{Distilling, News};
use crate::character::HelperRig;
use crate::methods::Subject;
use crate::progress::Progress;
use crate::session::distill::{KeptFit, Made, RigToKeep};
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::session::{Distilled, Document, Level, RestoreError, with_takes};

/// A kept rig on its way back to the character.
pub(super) struct Restoring {
    kept: Arc<KeptFit>,
    /// None until the character has the project's skeleton.
    job: Option<RestoreJob>,
    is_done: bool,
}

struct RestoreJob {
    job: Job<Result<Distilled, RestoreError>>,
    subject: Arc<Subject>,
}

impl Restoring {
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }
}

/// Whether the character has the skeleton that the document asks for.
fn is_rigged(document: &Document, subject: &Subject) -> bool {
    let asked = document.rig.as_ref();
    asked.is_none_or(|rig| **rig == *subject.rig)
}

impl Distilling {
    /// Restores the rig of a project as soon as its character is ready.
    pub(in crate::session) fn restore(&mut self, kept: KeptFit) {
        self.restoring = Some(Restoring {
            kept: Arc::new(kept),
            job: None,
            is_done: false,
        });
    }

    /// The rig that a project of this document is to keep.
    pub(in crate::session) fn to_keep(&self, document: &Document) -> Option<RigToKeep> {
        if let Some(waiting) = self.restoring.as_ref().filter(|r| !r.is_done) {
            return Some(RigToKeep::Read(waiting.kept.clone()));
        }
        let subject = document.subject.as_ref()?;
        self.made_for(subject)?;
        let made = self.made.clone().filter(|_| is_rigged(document, subject));
        made.map(RigToKeep::Made)
    }

    /// What was restored since the last call: the rig, and what was read.
    pub(in crate::session) fn take_restored(&mut self) -> Option<(Arc<HelperRig>, Arc<KeptFit>)> {
        let done = self.restoring.take_if(|restoring| restoring.is_done)?;
        let made = self.made.as_ref()?;
        Some((made.distilled.rig.clone(), done.kept))
    }

    pub(super) fn follow_restoring(&mut self, context: &mut JobContext<'_>) -> News {
        let Some(restoring) = self.restoring.as_mut().filter(|r| !r.is_done) else {
            return News::Nothing;
        };
        let Some(RestoreJob { job, subject }) = &restoring.job else {
            restoring.start(context);
            return News::Nothing;
        };
        let why = match job.poll() {
            JobState::Running => return News::Nothing,
            JobState::Done(Ok(distilled)) => {
                subject.set_helper_rig(distilled.rig.clone());
                self.made = Some(Made {
                    distilled: Arc::new(distilled),
                    method: restoring.kept.method,
                });
                (restoring.is_done, restoring.job) = (true, None);
                return News::Rig;
            }
            JobState::Done(Err(why)) => why.to_string(),
            JobState::Lost => "it stopped unexpectedly".to_owned(),
        };
        self.restoring = None;
        let text = format!("The distilled rig of the project was left out: {why}. Fit it again.");
        context.add_message(Level::Warning, text);
        News::Word
    }
}

impl Restoring {
    /// Starts once the character has the project's skeleton.
    fn start(&mut self, context: &JobContext<'_>) {
        let document = context.document;
        let ready = document.subject.as_ref();
        let Some(subject) = ready.filter(|subject| is_rigged(document, subject)) else {
            return;
        };
        let (kept, with_clips) = (self.kept.clone(), with_takes(subject, &document.takes));
        let work = move |_: &Progress| kept.rig.restore(&with_clips);
        let title = "Restoring the distilled rig".to_owned();
        // Tried again at the next tick if there is no thread.
        let job = Job::start(title, context.waker.cloned(), work);
        let subject = subject.clone();
        self.job = job.ok().map(|job| RestoreJob { job, subject });
    }
}
