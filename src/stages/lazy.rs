//! A value that is computed on the first request and shared by all callers.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::progress::{Cancelled, Progress};

/// Interval at which a waiting thread checks for cancellation, and copies the progress of the computing thread.
const POLL: Duration = Duration::from_millis(10);

type ComputeFn<T> = dyn Fn(&Progress) -> Result<Timed<T>, Cancelled> + Send + Sync;

/// A memoised computation of one stage, including its inputs.
///
/// The first thread that requests the value computes it; others wait for it and report its progress as theirs. After a
/// cancelled computation the next request computes. A computed value never changes.
pub struct Lazy<T> {
    value: OnceLock<Timed<T>>,
    computing: Mutex<Option<Computing>>,
    ended: Condvar,
    compute: Box<ComputeFn<T>>,
}

/// A value and its computation time in milliseconds.
pub(super) struct Timed<T> {
    value: T,
    ms: f64,
}

impl<T> Timed<T> {
    /// A value computed since `start`, which must be taken after the inputs were requested.
    pub(super) fn since(start: Instant, value: T) -> Self {
        Self {
            value,
            ms: start.elapsed().as_secs_f64() * 1e3,
        }
    }
}

/// The computation in progress.
struct Computing {
    thread: ThreadId,
    progress: Progress,
}

impl<T> Lazy<T> {
    pub(super) fn new(
        compute: impl Fn(&Progress) -> Result<Timed<T>, Cancelled> + Send + Sync + 'static,
    ) -> Self {
        Self {
            value: OnceLock::new(),
            computing: Mutex::new(None),
            ended: Condvar::new(),
            compute: Box::new(compute),
        }
    }

    /// The value, if it has been computed.
    #[must_use]
    pub fn made(&self) -> Option<&T> {
        self.value.get().map(|timed| &timed.value)
    }

    /// Computation time in milliseconds, without that of the stages before it; 0 if it has not run.
    #[must_use]
    pub fn ms(&self) -> f64 {
        self.value.get().map_or(0.0, |timed| timed.ms)
    }

    /// The value, computed now if it is missing.
    ///
    /// # Errors
    /// [`Cancelled`] if `progress` was cancelled before the value was ready; a later call computes it.
    pub fn get(&self, progress: &Progress) -> Result<&T, Cancelled> {
        loop {
            if let Some(made) = self.made() {
                return Ok(made);
            }
            progress.check()?;
            let mut computing = self.lock();
            match &*computing {
                None => {
                    // It may have been computed since the first check.
                    if self.value.get().is_none() {
                        *computing = Some(Computing {
                            thread: std::thread::current().id(),
                            progress: progress.clone(),
                        });
                        drop(computing);
                        let _clear = ClearOnDrop(self);
                        let timed = (self.compute)(progress)?;
                        let _ = self.value.set(timed);
                    }
                }
                // A worker thread that waits inside a parallel computation may execute another caller's job. If that
                // job needs the same value, the worker would wait for itself; it computes the value a second time
                // instead. Both values are equal.
                Some(other) if other.thread == std::thread::current().id() => {
                    drop(computing);
                    let timed = (self.compute)(progress)?;
                    let _ = self.value.set(timed);
                }
                Some(other) => {
                    progress.report(other.progress.fraction(), &other.progress.stage());
                    self.wait(computing);
                }
            }
        }
    }

    /// The value, computed now if it is missing; cannot be cancelled.
    #[must_use]
    pub fn wait_for(&self) -> &T {
        loop {
            // A progress is only allocated if there is something to compute.
            if let Some(value) = self.made() {
                return value;
            }
            let _ = self.get(&Progress::new());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Computing>> {
        self.computing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a short time, or until the computation in progress has ended. A worker of the thread pool executes other
    /// jobs meanwhile, because the computation may depend on them.
    fn wait(&self, computing: MutexGuard<'_, Option<Computing>>) {
        if rayon::current_thread_index().is_some() {
            drop(computing);
            if !matches!(rayon::yield_now(), Some(rayon::Yield::Executed)) {
                std::thread::sleep(Duration::from_millis(1));
            }
            return;
        }
        drop(
            self.ended
                .wait_timeout(computing, POLL)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

/// Clears the computation in progress, whether it succeeded, was cancelled or panicked.
struct ClearOnDrop<'a, T>(&'a Lazy<T>);

impl<T> Drop for ClearOnDrop<'_, T> {
    fn drop(&mut self) {
        *self.0.lock() = None;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn counting(slow: Duration) -> (Arc<AtomicU32>, Arc<Lazy<u32>>) {
        let count = Arc::new(AtomicU32::new(0));
        let inside = count.clone();
        let lazy = Lazy::new(move |progress| {
            let start = Instant::now();
            let number = inside.fetch_add(1, Ordering::SeqCst);
            while start.elapsed() < slow {
                progress.check()?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(Timed::since(start, number))
        });
        (count, Arc::new(lazy))
    }

    #[test]
    fn many_threads_compute_once() {
        let (count, lazy) = counting(Duration::from_millis(50));
        assert!(lazy.made().is_none());
        assert_eq!(count.load(Ordering::SeqCst), 0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(lazy.get(&Progress::new()), Ok(&0)));
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(lazy.made(), Some(&0));
        assert!(lazy.ms() >= 50.0);
    }

    #[test]
    fn a_cancelled_computation_can_be_repeated() {
        let (count, lazy) = counting(Duration::from_millis(20));
        let cancelled = Progress::new();
        cancelled.cancel();
        assert_eq!(lazy.get(&cancelled), Err(Cancelled));
        assert_eq!(count.load(Ordering::SeqCst), 0);
        let progress = Progress::new();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| lazy.get(&progress).copied());
            while count.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            let second = scope.spawn(|| lazy.get(&Progress::new()).copied());
            progress.cancel();
            assert_eq!(first.join().expect("no panic"), Err(Cancelled));
            // The one who waits computes instead.
            assert_eq!(second.join().expect("no panic"), Ok(1));
        });
        assert_eq!(lazy.made(), Some(&1));
    }

    #[test]
    fn waiting_can_be_cancelled() {
        let (count, lazy) = counting(Duration::from_millis(100));
        let waiting = Progress::new();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| lazy.get(&Progress::new()).copied());
            while count.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            waiting.cancel();
            assert_eq!(lazy.get(&waiting), Err(Cancelled));
            assert_eq!(first.join().expect("no panic"), Ok(0));
        });
    }

    #[test]
    fn workers_of_one_pool_do_not_wait_for_each_other() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .expect("two threads");
        let lazy = Arc::new(Lazy::new(|_| {
            use rayon::prelude::*;
            let start = Instant::now();
            let sum: u64 = (0..10_000_u64).into_par_iter().map(|k| k % 7).sum();
            Ok(Timed::since(start, sum))
        }));
        let expected = (0..10_000_u64).map(|k| k % 7).sum::<u64>();
        pool.install(|| {
            use rayon::prelude::*;
            (0..64)
                .into_par_iter()
                .for_each(|_| assert_eq!(*lazy.wait_for(), expected));
        });
    }
}
