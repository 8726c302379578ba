//! Where parallel loops begin.

/// Runs `work` on a thread of the thread pool. Each parallel loop that another thread begins wakes a worker and waits for it; inside the
/// pool it begins where it is.
///
/// `work` must not wait for something that another job of the pool computes: a worker could take `work` in the middle of that job, and
/// would then wait for itself.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() {
        work()
    } else {
        rayon::scope(|_| work())
    }
}
