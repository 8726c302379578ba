//! The search for the poses in which a shown method is worst, in the background.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use crate::methods::MethodId;
use crate::progress::Progress;
use crate::report::{WorstError, WorstPose, WorstSettings, worst_poses};
use crate::session::job::{Job, JobState, JobView, on_few_threads};
use crate::session::jobs::basis::bind_with_factors;
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
    /// Set when a search ended by itself.
    ended: bool,
    running: Option<Running>,
}

/// A search with what it finds, each time that this changes.
struct Running {
    job: Job<Result<(), WorstError>>,
    found: Receiver<Vec<Arc<WorstPose>>>,
}

impl WorstSearch {
    /// The method, and the id of the quantity, of the last search.
    #[must_use]
    pub fn searched(&self) -> Option<(MethodId, &str)> {
        let (method, quantity) = self.searched.as_ref()?;
        Some((*method, quantity))
    }

    /// The found poses, the worst first; while the search runs those of the poses that it has tried.
    #[must_use]
    pub fn found(&self) -> &[Arc<WorstPose>] {
        &self.found
    }

    /// Whether the search tried all that it was to try.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// A sentence why nothing was found.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The running search.
    #[must_use]
    pub fn progress(&self) -> Option<JobView> {
        self.running.as_ref().map(|running| running.job.view())
    }

    /// Ends a running search; what it has found stays.
    pub fn stop(&mut self) {
        self.running = None;
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.running.is_some()
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
        let params = *document.params_of(need.variant);
        let values = document.method_values_of(need.variant).of(need.method);
        let factors = document.flesh.factors();
        let bind = move |progress: &Progress| {
            let subject = subject.weighted(need.weights);
            bind_with_factors(
                &subject,
                need.method,
                (&params, &values, &factors),
                progress,
            )
        };
        let title = format!("Searching the worst poses of {}", need.method.label());
        let (sender, found) = channel();
        let wake = waker.clone();
        let mut show = move |poses: &[Arc<WorstPose>]| {
            // Sending fails only if the search was stopped.
            let _ = sender.send(poses.to_vec());
            if let Some(wake) = &wake {
                wake();
            }
        };
        let job = Job::start(title, waker, move |progress| {
            on_few_threads(|| worst_poses(bind, &settings, &mut show, progress).map(drop))
        });
        match job {
            Ok(job) => self.running = Some(Running { job, found }),
            Err(error) => self.failure = Some(format!("No thread could be started: {error}.")),
        }
    }

    /// Takes over what was found. Returns whether there was something new.
    pub(in crate::session) fn follow(&mut self) -> bool {
        let Some(running) = &self.running else {
            return false;
        };
        // The state first: a search that is done finds no more.
        let state = running.job.poll();
        let newest = running.found.try_iter().last();
        let is_new = newest.is_some();
        if let Some(found) = newest {
            self.found = found;
        }
        match state {
            JobState::Running => return is_new,
            JobState::Done(Ok(())) => self.ended = true,
            JobState::Done(Err(error)) => self.failure = Some(format!("{error}.")),
            JobState::Lost => self.failure = Some("The search stopped unexpectedly.".to_owned()),
        }
        self.running = None;
        true
    }
}
