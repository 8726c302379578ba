//! Long work in the background: one thread a job, progress and cancel, the latest wins.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

use super::Waker;
use crate::progress::Progress;

/// A job as the user sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct JobView {
    /// What it is for: "Opening fox.glb".
    pub title: String,
    /// What it does now.
    pub stage: String,
    /// How much is done, 0..=1.
    pub fraction: f32,
}

/// A thread that will deliver one result. Dropping it cancels the work.
pub(super) struct Job<T> {
    title: String,
    progress: Progress,
    receiver: Receiver<T>,
}

/// What has come of a job.
pub(super) enum Outcome<T> {
    Running,
    Done(T),
    /// The thread ended without a result.
    Lost,
}

impl<T: Send + 'static> Job<T> {
    /// Starts the work on a thread of its own.
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
                // Nobody waits any more if sending fails.
                let _ = sender.send(work(&shared));
                drop(sender);
                if let Some(waker) = waker {
                    waker();
                }
            })?;
        Ok(Self {
            title,
            progress,
            receiver,
        })
    }

    pub(super) fn poll(&self) -> Outcome<T> {
        match self.receiver.try_recv() {
            Ok(result) => Outcome::Done(result),
            Err(TryRecvError::Empty) => Outcome::Running,
            Err(TryRecvError::Disconnected) => Outcome::Lost,
        }
    }

    /// Asks the work to stop; it says itself when it has.
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
