//! A rig for game engines, fitted to simulated clips in the background, shown, and written.

use std::path::PathBuf;
use std::sync::Arc;

use crate::io::{IoError, refuse_input};
use crate::methods::{MethodId, Subject};
use crate::progress::Progress;
use crate::session::distill::Made;
use crate::session::job::{Job, JobState, JobView};
use crate::session::jobs::JobContext;
use crate::session::jobs::basis::bind_with_factors;
use crate::session::message::Messages;
use crate::session::{
    DistillSettings, Distilled, Document, Level, MATERIALS_LOST, Waker, distill, with_takes,
};
use crate::weights::WeightMethod;

mod restoring;

use restoring::Restoring;

/// Binding takes this part of the time.
const BINDING: f32 = 0.05;

/// What to fit to what.
#[derive(Debug, Clone, PartialEq)]
pub struct DistillRequest {
    /// The method that is simulated.
    pub method: MethodId,
    /// Clips, helpers and influences. Clips are those of [`Document::clips`].
    pub settings: DistillSettings,
}

/// The fit that was asked for last.
#[derive(Default)]
pub struct Distilling {
    running: Option<Running>,
    /// The last result, with the method that was simulated and the character.
    made: Option<Made>,
    failure: Option<String>,
    saving: Option<Saving>,
    /// The rig of a project that has just been opened.
    restoring: Option<Restoring>,
}

/// A fit, with the method that is simulated and the character.
struct Running {
    job: Job<Result<Distilled, String>>,
    method: MethodId,
    subject: Arc<Subject>,
}

struct Saving {
    job: Job<Result<(), IoError>>,
    path: PathBuf,
    /// A sentence about what is not in the file.
    lost: Option<&'static str>,
}

/// What a job has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// Nothing.
    Nothing,
    /// A failure, or the end of a file.
    Word,
    /// A new rig.
    Rig,
}

impl Distilling {
    /// The rig that was fitted last to this character, with the method that was simulated. None on another skeleton.
    #[must_use]
    pub fn made_for(&self, subject: &Subject) -> Option<(&Distilled, MethodId)> {
        let made = self.made.as_ref()?;
        let rig = subject.helper_rig()?;
        Arc::ptr_eq(&rig, &made.distilled.rig).then_some((&*made.distilled, made.method))
    }

    /// A sentence why the last fit failed.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The running fit.
    #[must_use]
    pub fn progress(&self) -> Option<JobView> {
        self.running.as_ref().map(|running| running.job.view())
    }

    /// Whether the rig is being written.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.saving.is_some()
    }

    /// Ends a running fit; the result of an earlier one stays.
    pub fn stop(&mut self) {
        self.running = None;
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        let restores = self.restoring.as_ref().is_some_and(Restoring::is_busy);
        self.running.is_some() || self.saving.is_some() || restores
    }

    pub(in crate::session) fn list(&self) -> impl Iterator<Item = JobView> {
        let saving = self.saving.iter().map(|saving| saving.job.view());
        self.progress().into_iter().chain(saving)
    }

    /// Forgets everything but a file that is being written.
    pub(in crate::session) fn forget_character(&mut self) {
        *self = Self {
            saving: self.saving.take(),
            ..Self::default()
        };
    }

    /// Starts a fit in place of a running one.
    pub(in crate::session) fn start(
        &mut self,
        request: DistillRequest,
        document: &Document,
        weights: WeightMethod,
        waker: Option<Waker>,
    ) {
        (self.running, self.failure) = (None, None);
        let Some(subject) = document.subject.clone() else {
            return;
        };
        let DistillRequest { method, settings } = request;
        let with_clips = with_takes(&subject, &document.takes).weighted(weights);
        let (params, values) = (document.params, document.method_values.of(method));
        let factors = document.flesh.factors();
        let work = move |progress: &Progress| {
            let physics = (&params, &values, &factors);
            let binding = progress.part(0.0, BINDING);
            let mut actor = bind_with_factors(&with_clips, method, physics, &binding)
                .map_err(|error| error.to_string())?;
            distill(&mut actor, &settings, &progress.part(BINDING, 1.0))
                .map_err(|error| error.to_string())
        };
        match Job::start("Distilling a rig".to_owned(), waker, work) {
            Ok(job) => {
                self.running = Some(Running {
                    job,
                    method,
                    subject,
                });
            }
            Err(error) => self.failure = Some(format!("No thread could be started: {error}.")),
        }
    }

    /// Starts to write the rig. What cannot be done is said in a message.
    pub(in crate::session) fn save(
        &mut self,
        path: PathBuf,
        document: &Document,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        let refused = refuse_input(&path, document.inputs());
        let refused = refused.err().map(|error| error.to_string());
        let refused = refused.or_else(|| {
            let busy = self.saving.is_some();
            busy.then(|| "another rig is being written; wait for it".to_owned())
        });
        let made = self.made.as_ref().filter(|_| refused.is_none());
        let Some(distilled) = made.map(|made| made.distilled.clone()) else {
            let why = refused.unwrap_or_else(|| "fit a rig first".to_owned());
            return messages.push(Level::Error, format!("No rig was written: {why}."));
        };
        let lost = distilled.loses_materials().then_some(MATERIALS_LOST);
        let to = path.clone();
        let work = move |_: &Progress| distilled.write(&to, false);
        match Job::start("Writing the rig".to_owned(), waker.cloned(), work) {
            Ok(job) => self.saving = Some(Saving { job, path, lost }),
            Err(error) => messages.push(
                Level::Error,
                format!("No thread could be started to write the rig: {error}."),
            ),
        }
    }

    /// Takes over what was fitted, restored or written.
    pub(super) fn follow(&mut self, context: &mut JobContext<'_>) -> News {
        self.follow_saving(context.messages)
            .max_with(self.follow_fit(context.messages))
            .max_with(self.follow_restoring(context))
    }

    fn follow_fit(&mut self, messages: &mut Messages) -> News {
        let state = match self.running.as_ref().map(|running| running.job.poll()) {
            None | Some(JobState::Running) => return News::Nothing,
            Some(state) => state,
        };
        let Some(Running {
            method, subject, ..
        }) = self.running.take()
        else {
            return News::Nothing;
        };
        let why = match state {
            JobState::Done(Ok(distilled)) => {
                subject.set_helper_rig(distilled.rig.clone());
                let distilled = Arc::new(distilled);
                self.made = Some(Made { distilled, method });
                return News::Rig;
            }
            JobState::Done(Err(why)) => why,
            JobState::Lost | JobState::Running => "the fit stopped unexpectedly".to_owned(),
        };
        messages.push(Level::Error, format!("No rig was distilled: {why}."));
        self.failure = Some(why);
        News::Word
    }

    fn follow_saving(&mut self, messages: &mut Messages) -> News {
        let state = match self.saving.as_ref().map(|saving| saving.job.poll()) {
            None | Some(JobState::Running) => return News::Nothing,
            Some(state) => state,
        };
        let Some(Saving { path, lost, .. }) = self.saving.take() else {
            return News::Nothing;
        };
        let (level, text) = match (state, lost) {
            (JobState::Done(Ok(())), Some(lost)) => {
                (Level::Warning, format!("Wrote {}. {lost}", path.display()))
            }
            (JobState::Done(Ok(())), None) => (Level::Info, format!("Wrote {}.", path.display())),
            (JobState::Done(Err(error)), _) => {
                (Level::Error, format!("No rig was written: {error}."))
            }
            (JobState::Lost | JobState::Running, _) => (
                Level::Error,
                "Writing the rig stopped unexpectedly.".to_owned(),
            ),
        };
        messages.push(level, text);
        News::Word
    }
}

impl News {
    /// The one that concerns more.
    fn max_with(self, other: Self) -> Self {
        if self == Self::Nothing || other == Self::Rig {
            other
        } else {
            self
        }
    }
}
