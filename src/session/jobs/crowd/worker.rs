//! A crowd on its own thread, which makes it, settles it, and advances it frame by frame.
//!
//! ```text
//! owner ─post(input, seconds)→ inbox (the latest input wins, seconds add up) → thread: GpuCrowd → frame in a cell → owner
//! ```
//! The caller that draws never waits for it: the thread submits its own work and waits for each submission
//! ([`crate::gpu::actor::GpuCrowd::present_aside`]). A frame is put into the cell when the device has finished it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use super::input::CrowdInput;
use super::running::{EndReason, Running};
use super::shared::{LongTask, Order, Shared};
use crate::progress::Progress;
use crate::session::worker::lock;
use crate::session::{JobView, Waker};
use crate::studio::CrowdFrame;

/// Time that a crowd may lag behind before the clock waits for it.
const MAX_PENDING_SECS: f64 = 0.1;

/// Owns the thread; dropping it stops the thread after its current work.
pub(super) struct CrowdWorker {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl CrowdWorker {
    /// Starts the thread; its frames are numbered by the counter.
    pub(super) fn start(
        order: Order,
        sequences: Arc<AtomicU64>,
        waker: Option<Waker>,
    ) -> std::io::Result<Self> {
        let title = format!("Making a crowd of {}", order.count);
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            wake: Condvar::new(),
            latest: Mutex::default(),
            fault: Mutex::default(),
            long: Mutex::new(Some(LongTask {
                title: title.clone(),
                progress: Progress::new(),
                settles: false,
            })),
            asleep: AtomicBool::new(false),
            waker,
        });
        let theirs = shared.clone();
        let run = move || {
            let ended = Running::make(order, &theirs, sequences, title)
                .and_then(|mut running| running.run());
            if let Err(EndReason::Fault(fault)) = ended {
                *lock(&theirs.fault) = Some(fault);
            }
            *lock(&theirs.long) = None;
            theirs.wake_owner();
        };
        let thread = std::thread::Builder::new()
            .name("crowd".into())
            .spawn(run)?;
        Ok(Self { shared, thread })
    }

    /// How much of `dt_secs` the clock may advance now.
    pub(super) fn accept(&self, dt_secs: f64) -> f64 {
        dt_secs.min((MAX_PENDING_SECS - lock(&self.shared.inbox).pending_secs).max(0.0))
    }

    /// Posts what to play and the seconds passed; `anew` resets all instances to rest there.
    pub(super) fn post(&self, input: CrowdInput, anew: bool, dt_secs: f64) {
        let mut inbox = lock(&self.shared.inbox);
        let changed = anew || inbox.input.as_ref() != Some(&input);
        if !changed && self.is_idle() {
            return;
        }
        inbox.input = Some(input);
        if anew {
            (inbox.anew, inbox.pending_secs) = (true, 0.0);
            if let Some(long) = lock(&self.shared.long).as_ref().filter(|long| long.settles) {
                long.progress.cancel();
            }
        } else if !inbox.anew {
            inbox.pending_secs += dt_secs;
        }
        if changed {
            self.shared.asleep.store(false, Ordering::Relaxed);
        }
        inbox.posted = true;
        self.shared.wake.notify_one();
    }

    /// The latest frame; `None` before the first one.
    pub(super) fn latest(&self) -> Option<Arc<CrowdFrame>> {
        lock(&self.shared.latest).clone()
    }

    /// The present work that takes longer than a frame.
    pub(super) fn job(&self) -> Option<JobView> {
        let long = lock(&self.shared.long);
        let long = long.as_ref()?;
        Some(JobView {
            title: long.title.clone(),
            stage: long.progress.stage(),
            fraction: long.progress.fraction(),
        })
    }

    /// Why the thread has ended, as a clause.
    pub(super) fn fault(&self) -> Option<String> {
        let fault = lock(&self.shared.fault).take();
        fault.or_else(|| {
            self.thread
                .is_finished()
                .then(|| "its thread stopped unexpectedly".to_owned())
        })
    }

    /// Whether nothing moves until the next post.
    pub(super) fn is_idle(&self) -> bool {
        self.shared.asleep.load(Ordering::Relaxed)
    }
}

impl Drop for CrowdWorker {
    fn drop(&mut self) {
        lock(&self.shared.inbox).stop = true;
        if let Some(long) = lock(&self.shared.long).as_ref() {
            long.progress.cancel();
        }
        self.shared.wake.notify_one();
    }
}

impl Shared {
    pub(super) fn wake_owner(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    pub(super) fn progress(&self) -> Progress {
        lock(&self.long)
            .as_ref()
            .map(|long| long.progress.clone())
            .unwrap_or_default()
    }
}
