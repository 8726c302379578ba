//! Scores of what is shown, measured on a separate thread, at most a few times per second.
//!
//! The caller that draws a view calls [`Session::score_of`] with every frame; it returns the latest score at once.
//! [`Session::measure_scores`], after all views, passes their snapshots to the thread if that is free: scores of views that
//! present the same frame are of the same frame. Otherwise the snapshots are dropped; when the thread is free again it calls the waker,
//! so that the last state of a movement is measured too.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::methods::{MethodId, Subject};
use crate::metrics::{Score, Scorer};
use crate::progress::Progress;
use crate::session::{Snapshot, Waker};

/// Minimum time between two rounds of measuring.
const ROUND: Duration = Duration::from_millis(250);

/// A score and what it was measured on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ViewScore {
    /// The score.
    pub score: Score,
    /// The snapshot's number.
    pub sequence: u64,
    /// The snapshot's method.
    pub method: MethodId,
    /// The snapshot's time in the clip, seconds.
    pub time_secs: Option<f64>,
    /// Computation time of its frame, milliseconds.
    pub frame_ms: f64,
}

/// The thread and its results, by the caller's key.
#[derive(Default)]
pub(in crate::session) struct Scores {
    shared: Arc<ScoreShared>,
}

#[derive(Default)]
struct ScoreShared {
    state: Mutex<ScoreState>,
    wake: Condvar,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about the thread, all under one lock"
)]
struct ScoreState {
    /// Snapshots of the present pass.
    gathered: BTreeMap<u64, Arc<Snapshot>>,
    /// Whether one of the present pass was not taken.
    refused: bool,
    wanted: BTreeMap<u64, Arc<Snapshot>>,
    found: BTreeMap<u64, (Weak<Subject>, ViewScore)>,
    /// Incremented when the results so far no longer describe what is shown.
    epoch: u64,
    progress: Progress,
    /// Whether starting a thread was attempted.
    started: bool,
    /// Whether the thread is measuring or pausing: it accepts nothing.
    busy: bool,
    /// Whether a newer snapshot was dropped meanwhile.
    missed: bool,
    stop: bool,
}

impl ScoreShared {
    fn lock(&self) -> MutexGuard<'_, ScoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scores {
    /// The latest score; see [`crate::session::Session::score_of`].
    pub(in crate::session) fn of(&self, key: u64, snapshot: &Arc<Snapshot>) -> Option<ViewScore> {
        let mut state = self.shared.lock();
        let known = state
            .found
            .get(&key)
            .filter(|(subject, _)| std::ptr::eq(subject.as_ptr(), Arc::as_ptr(&snapshot.subject)));
        let known = known
            .map(|(_, score)| *score)
            .filter(|score| score.method == snapshot.method);
        if known.is_some_and(|score| score.sequence == snapshot.sequence) {
            return known;
        }
        if state.busy {
            (state.missed, state.refused) = (true, true);
            return known;
        }
        state.gathered.insert(key, snapshot.clone());
        known
    }

    /// Measures what was gathered since the last call; see [`crate::session::Session::measure_scores`].
    pub(in crate::session) fn measure(&self, waker: Option<&Waker>) {
        let mut state = self.shared.lock();
        let gathered = std::mem::take(&mut state.gathered);
        let refused = std::mem::take(&mut state.refused);
        if gathered.is_empty() || state.busy {
            return;
        }
        if refused {
            // The thread became free meanwhile: the next pass gathers all of them.
            drop(state);
            if let Some(waker) = waker {
                waker();
            }
            return;
        }
        state.wanted = gathered;
        state.busy = true;
        if !state.started {
            state.started = true;
            let (shared, waker) = (self.shared.clone(), waker.cloned());
            let thread = std::thread::Builder::new()
                .name("scores".into())
                .spawn(move || run(&shared, waker.as_ref()));
            if let Err(error) = thread {
                log::warn!("no thread could be started to measure scores: {error}");
            }
        }
        drop(state);
        self.shared.wake.notify_one();
    }
}

impl Scores {
    /// Drops all results, also those that are being measured: another clip is shown.
    pub(in crate::session) fn forget(&self) {
        let mut state = self.shared.lock();
        state.epoch += 1;
        state.found.clear();
    }
}

impl Drop for Scores {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stop = true;
        state.progress.cancel();
        self.shared.wake.notify_one();
    }
}

/// The thread's loop: wait, measure all requested scores, pause.
fn run(shared: &ScoreShared, waker: Option<&Waker>) {
    // The simulation uses the other cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let mut scorer: Option<(Weak<Subject>, Scorer)> = None;
    loop {
        let (wanted, progress, epoch) = {
            let mut state = shared.lock();
            while state.wanted.is_empty() && !state.stop {
                state = shared
                    .wake
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if state.stop {
                return;
            }
            state.missed = false;
            let wanted = std::mem::take(&mut state.wanted);
            (wanted, state.progress.clone(), state.epoch)
        };
        let start = Instant::now();
        let mut measured = Vec::new();
        for (key, snapshot) in wanted {
            let mut work = || measure(&mut scorer, &snapshot, &progress);
            let found = match &pool {
                Ok(pool) => pool.install(&mut work),
                Err(_) => work(),
            };
            let Some(score) = found else { return };
            let entry = (Arc::downgrade(&snapshot.subject), of(&snapshot, score));
            measured.push((key, entry));
        }
        // Together, so that no view shows the score of another frame.
        {
            let mut state = shared.lock();
            if state.epoch == epoch {
                state.found.extend(measured);
            } else {
                state.missed = true;
            }
        }
        if let Some(waker) = waker {
            waker();
        }
        if !rest(shared, start) {
            return;
        }
        if let Some(waker) = waker.filter(|_| shared.lock().missed) {
            waker();
        }
    }
}

fn of(snapshot: &Snapshot, score: Score) -> ViewScore {
    ViewScore {
        score,
        sequence: snapshot.sequence,
        method: snapshot.method,
        time_secs: snapshot.time_secs,
        frame_ms: snapshot.times.total_ms,
    }
}

/// Measures one snapshot; `None` if the owner was dropped.
fn measure(
    scorer: &mut Option<(Weak<Subject>, Scorer)>,
    snapshot: &Snapshot,
    progress: &Progress,
) -> Option<Score> {
    let subject = &snapshot.subject;
    if scorer
        .as_ref()
        .is_none_or(|(of, _)| !std::ptr::eq(of.as_ptr(), Arc::as_ptr(subject)))
    {
        *scorer = Some((
            Arc::downgrade(subject),
            Scorer::new(subject, progress).ok()?,
        ));
    }
    scorer
        .as_mut()?
        .1
        .score(snapshot.positions(), progress)
        .ok()
}

/// Waits for the end of the round. Returns whether the owner still exists.
fn rest(shared: &ScoreShared, start: Instant) -> bool {
    let mut state = shared.lock();
    loop {
        let left = ROUND.saturating_sub(start.elapsed());
        if state.stop {
            return false;
        }
        if left.is_zero() {
            state.busy = false;
            return true;
        }
        state = shared
            .wake
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::session::{Command, Session, Source};

    /// Ticks until the session's flesh is ready.
    fn open(session: &mut Session, wake: &std::sync::mpsc::Receiver<()>) -> Arc<Snapshot> {
        session.apply_once(Command::SetMethod(MethodId::LBS));
        session.apply_once(Command::Open(Source::builtin("arm")));
        loop {
            session.tick(0.01);
            if let Some(snapshot) = session.snapshot() {
                return snapshot;
            }
            wake.recv().expect("the session wakes whoever waits");
        }
    }

    #[test]
    fn the_latest_state_is_measured_without_waiting() {
        let (sender, wake) = channel();
        let mut session = Session::new();
        session.set_waker(Arc::new(move || {
            let _ = sender.send(());
        }));
        let first = open(&mut session, &wake);
        assert_eq!(
            session.score_of(1, &first),
            None,
            "the first answer is that there is none yet"
        );
        session.apply_once(Command::SetJointAngles {
            joint: 1,
            degrees: [0.0, 0.0, 70.0],
        });
        let score = loop {
            session.tick(0.01);
            let snapshot = session.snapshot().expect("a snapshot");
            let moved = snapshot.world_from_joint == session.channels().active().world_from_joint();
            let score = session.score_of(1, &snapshot);
            session.measure_scores();
            match score {
                Some(score) if moved && score.sequence == snapshot.sequence => break score,
                _ => wake.recv().expect("whoever measures wakes whoever waits"),
            }
        };
        assert!(score.score.stretch_p99 > 1.05, "{score:?}");
        assert_eq!(score.method, MethodId::LBS);
        let again = session
            .snapshot()
            .map(|snapshot| session.score_of(1, &snapshot));
        assert_eq!(again, Some(Some(score)));
        session.apply_once(Command::SelectClip(Some(0)));
        let other = session
            .snapshot()
            .map(|snapshot| session.score_of(1, &snapshot));
        assert_eq!(other, Some(None), "that of another clip is not shown");
    }
}
