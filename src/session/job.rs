//! Background jobs: one thread per job, with progress and cancellation; a new job replaces the old one.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::Waker;
use crate::progress::Progress;

/// Work beside what is shown takes this part of the processor's threads, at least one: views and simulations need the others.
const THREADS_PART: usize = 4;

/// A job as shown to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// Its title: "Opening fox.glb".
    pub title: String,
    /// Its current step.
    pub stage: String,
    /// Progress, 0..=1.
    pub fraction: f32,
}

/// A thread that delivers one result. Dropping it cancels the work.
pub(super) struct Job<T> {
    title: String,
    progress: Progress,
    receiver: Receiver<T>,
}

/// State of a job.
pub(super) enum JobState<T> {
    Running,
    Done(T),
    /// The thread ended without a result.
    Lost,
}

/// Wakes the owner of a job when its thread ends, however it ends.
struct WakeOnDrop(Option<Waker>);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        if let Some(waker) = &self.0 {
            waker();
        }
    }
}

impl<T: Send + 'static> Job<T> {
    /// Starts the work on its own thread.
    pub(super) fn start(
        title: String,
        waker: Option<Waker>,
        work: impl FnOnce(&Progress) -> T + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let progress = Progress::new();
        let shared = progress.clone();
        std::thread::Builder::new()
            .name("job".into())
            .spawn(move || {
                // Dropped in reverse order, also by a panic: the sender before the waker.
                let _wake = WakeOnDrop(waker);
                let sender = sender;
                // Sending fails only if the receiver was dropped.
                let _ = sender.send(work(&shared));
            })?;
        Ok(Self {
            title,
            progress,
            receiver,
        })
    }

    pub(super) fn poll(&self) -> JobState<T> {
        match self.receiver.try_recv() {
            Ok(result) => JobState::Done(result),
            Err(TryRecvError::Empty) => JobState::Running,
            Err(TryRecvError::Disconnected) => JobState::Lost,
        }
    }

    /// Requests cancellation; the job ends when it notices.
    pub(super) fn cancel(&self) {
        self.progress.cancel();
    }

    pub(super) fn view(&self) -> JobView {
        JobView {
            title: self.title.clone(),
            stage: self.progress.stage(),
            fraction: self.progress.fraction(),
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

/// Calls `work` where parallel parts of it use few threads.
pub(super) fn on_few_threads<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads((all / THREADS_PART).max(1))
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_job_that_panics_is_lost_and_wakes_its_owner() {
        let (sender, woken) = channel();
        let waker: Waker = Arc::new(move || sender.send(()).unwrap());
        let work = |_: &Progress| -> u32 { panic!("on purpose") };
        let job = Job::start("x".to_owned(), Some(waker), work).unwrap();
        woken.recv().unwrap();
        assert!(matches!(job.poll(), JobState::Lost));
    }
}
