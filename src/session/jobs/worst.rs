//! The search for the poses in which a shown method is worst, in the background.

use std::sync::Arc;

use crate::methods::MethodId;
use crate::progress::Progress;
use crate::report::{WorstError, WorstPose, WorstSettings, worst_poses};
use crate::session::job::{Job, JobState, JobView, on_few_threads};
use crate::session::jobs::basis::bind_with_bones;
use crate::session::views::Need;
use crate::session::{Document, Waker};

/// Quasi-random poses, further ones around each of the worst, and poses to find.
const SAMPLES: usize = 40;
const REFINEMENTS: usize = 6;
const COUNT: usize = 9;

/// The search that was asked for last.
#[derive(Default)]
pub struct WorstSearch {
    searched: Option<(MethodId, String)>,
    found: Vec<Arc<WorstPose>>,
    failure: Option<String>,
    job: Option<Job<Result<Vec<WorstPose>, WorstError>>>,
}

impl WorstSearch {
    /// The method, and the id of the quantity, of the last search.
    #[must_use]
    pub fn searched(&self) -> Option<(MethodId, &str)> {
        let (method, quantity) = self.searched.as_ref()?;
        Some((*method, quantity))
    }

    /// The found poses, the worst first; empty while the search runs.
    #[must_use]
    pub fn found(&self) -> &[Arc<WorstPose>] {
        &self.found
    }

    /// A sentence why nothing was found.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The running search.
    #[must_use]
    pub fn progress(&self) -> Option<JobView> {
        self.job.as_ref().map(Job::view)
    }

    /// Ends a running search; what was found before is gone.
    pub fn cancel(&mut self) {
        self.job = None;
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Forgets everything: poses of another skeleton mean nothing.
    pub(in crate::session) fn forget_character(&mut self) {
        *self = Self::default();
    }

    /// Starts a search in place of a running one.
    pub(in crate::session) fn start(
        &mut self,
        document: &Document,
        need: Need,
        quantity: &str,
        waker: Option<Waker>,
    ) {
        self.forget_character();
        let Some(subject) = document.subject.clone() else {
            return;
        };
        self.searched = Some((need.method, quantity.to_owned()));
        let settings = WorstSettings {
            quantity: quantity.to_owned(),
            samples: SAMPLES,
            refinements: REFINEMENTS,
            count: COUNT,
        };
        let (params, values) = (document.params, document.method_values.of(need.method));
        let bones = document.flesh.bones.clone();
        let bind = move |progress: &Progress| {
            let subject = subject.weighted(need.weights);
            bind_with_bones(&subject, need.method, (&params, &values, &bones), progress)
        };
        let title = format!("Searching the worst poses of {}", need.method.label());
        let job = Job::start(title, waker, move |progress| {
            on_few_threads(|| worst_poses(bind, &settings, progress))
        });
        match job {
            Ok(job) => self.job = Some(job),
            Err(error) => self.failure = Some(format!("No thread could be started: {error}.")),
        }
    }

    /// Takes over the result. Returns whether there was one.
    pub(in crate::session) fn follow(&mut self) -> bool {
        let outcome = match self.job.as_ref().map(Job::poll) {
            None | Some(JobState::Running) => return false,
            Some(outcome) => outcome,
        };
        self.job = None;
        match outcome {
            JobState::Done(Ok(found)) => self.found = found.into_iter().map(Arc::new).collect(),
            JobState::Done(Err(error)) => self.failure = Some(format!("{error}.")),
            JobState::Lost | JobState::Running => {
                self.failure = Some("The search stopped unexpectedly.".to_owned());
            }
        }
        true
    }
}
