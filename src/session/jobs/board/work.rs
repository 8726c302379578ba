//! The background work: computes and measures the frames of one method.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::curves::Reading;
use super::order::coarse_first;
use crate::math::Affine;
use crate::methods::{Actor, BindError};
use crate::metrics::{Meter, Metric, RestSkin};
use crate::progress::{Cancelled, Progress};
use crate::report::{Columns, Failures, compute_columns, measure_frame};
use crate::rig::KeyedClip;
use crate::session::job::{Job, JobState, on_few_threads};
use crate::session::jobs::basis::FrameBasis;
use crate::session::{Motion, Take, Waker};

/// New values wake the window at most this often.
const WAKE: Duration = Duration::from_millis(100);

/// What a run computes.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) basis: FrameBasis,
    /// The method that distances are measured to, if some metric needs one.
    pub(super) against: Option<FrameBasis>,
    pub(super) metrics: Vec<&'static Metric>,
    /// Frames of the clip, of which every `every`-th is measured.
    pub(super) every: usize,
    /// Measured frames, by index, that some metric misses.
    pub(super) missing: Vec<usize>,
}

/// A measured frame, by index, with a reading for each metric of the target.
type Measured = (usize, Vec<Reading>);

/// A run in progress. Dropping it cancels the work.
pub(super) struct Run {
    pub(super) target: Target,
    job: Job<Result<Failures, String>>,
    incoming: Receiver<Measured>,
}

/// The end of a run.
pub(super) enum Outcome {
    /// All frames are measured that can be computed.
    Done,
    /// A sentence why the method cannot be used.
    Failed(String),
}

impl Run {
    pub(super) fn start(
        target: Target,
        takes: &[Arc<KeyedClip>],
        waker: Option<Waker>,
    ) -> std::io::Result<Self> {
        let (sender, incoming) = channel();
        let (work, takes, wake) = (target.clone(), takes.to_vec(), waker.clone());
        let job = Job::start("Measuring".to_owned(), waker, move |progress| {
            on_few_threads(|| fill(&work, &takes, progress, &sender, wake.as_ref()))
        })?;
        Ok(Self {
            target,
            job,
            incoming,
        })
    }

    /// The frames that were measured since the last call, and the end, once.
    pub(super) fn poll(&self) -> (Vec<Measured>, Option<Outcome>) {
        // In this order: a run that has ended has sent everything.
        let state = self.job.poll();
        let measured = self.incoming.try_iter().collect();
        let outcome = match state {
            JobState::Running => None,
            JobState::Done(Ok(failures)) => {
                if let Some((column, sentence)) = failures.first() {
                    log::warn!("frame {column} of the scoreboard: {sentence}");
                }
                Some(Outcome::Done)
            }
            JobState::Done(Err(sentence)) => Some(Outcome::Failed(sentence)),
            JobState::Lost => Some(Outcome::Failed("the work stopped unexpectedly".to_owned())),
        };
        (measured, outcome)
    }
}

/// Binds the method and measures the missing frames. The error is a sentence.
fn fill(
    target: &Target,
    takes: &[Arc<KeyedClip>],
    progress: &Progress,
    sender: &Sender<Measured>,
    waker: Option<&Waker>,
) -> Result<Failures, String> {
    let mut actors = Vec::new();
    for basis in std::iter::once(&target.basis).chain(&target.against) {
        match basis.bind(takes, &progress.silent()) {
            Ok(actor) => actors.push(actor),
            Err(BindError::Cancelled(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.to_string()),
        }
    }
    // Nobody waits for a run that was cancelled.
    measure(target, &mut actors, progress, sender, waker).or_else(|Cancelled| Ok(Vec::new()))
}

fn measure(
    target: &Target,
    actors: &mut [Actor],
    progress: &Progress,
    sender: &Sender<Measured>,
    waker: Option<&Waker>,
) -> Result<Failures, Cancelled> {
    let subject = actors[0].subject().clone();
    let mut meter = Meter::new(
        RestSkin::of(&subject),
        target.metrics.iter().copied(),
        &progress.silent(),
    )?;
    let motion = Motion::Clip(target.basis.clip);
    let take = Take::whole(motion, &subject.character, target.basis.fps());
    let count = take.frame_count().div_ceil(target.every);
    let order: Vec<usize> = coarse_first(count)
        .into_iter()
        .filter(|index| target.missing.binary_search(index).is_ok())
        .map(|index| index * target.every)
        .collect();
    let columns = Columns::of_take(take, "");
    let mut woken = Instant::now();
    let receive = |column: usize, world: &[Affine], actors: &[Actor]| {
        if !column.is_multiple_of(target.every) {
            return Ok(());
        }
        let other = actors.get(1).map(Actor::positions);
        let measured = measure_frame(&mut meter, &actors[0], world, other, progress)?;
        let readings = target.metrics.iter();
        let readings = readings
            .map(|metric| Reading::of(&measured, metric))
            .collect();
        // Sending fails only if the receiver was dropped; the progress is then cancelled too.
        let _ = sender.send((column / target.every, readings));
        if woken.elapsed() >= WAKE {
            woken = Instant::now();
            if let Some(waker) = waker {
                waker();
            }
        }
        Ok(())
    };
    compute_columns(actors, &columns, Some(&order), progress, receive)
}
