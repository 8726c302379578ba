//! A bound method on its own thread, so that drawing never waits for the simulation. `running` has the thread's side.
//!
//! ```text
//! owner ─post(pose, seconds)→ inbox (latest pose wins, seconds add up) → thread: Actor::advance → snapshot cell → owner
//! ```
//! The cell holds an `Arc`; the thread writes into one of a few buffers that have no other owner, so that a running
//! simulation allocates nothing and readers may keep their snapshots.
//!
//! When pose and flesh are at rest, the thread sleeps until something changes.

mod publishing;
mod running;
mod task;
mod trace;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub(super) use self::running::SLICE_SECS;
use self::running::WorkerThread;
pub(super) use self::trace::Trace;
use super::moment::Moment;
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::gpu::actor::GpuDevice;
use crate::math::Affine;
use crate::methods::Actor;
use crate::param::ParamValues;
use crate::rig::MorphWeights;
use crate::studio::{Snapshot, SnapshotContent};

/// Called from other threads when there is something new to show.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Time that a worker may lag behind before the clock waits for it: simulated time slows down on a slow machine.
const MAX_PENDING_SECS: f64 = 0.1;

/// Where to simulate or skin from now on: a device, or the CPU.
struct Successor(Option<GpuDevice>);

/// Less time than this, seconds, is none.
const NO_SECS: f64 = 1e-6;

/// Requests since the thread last looked.
#[derive(Default)]
struct WorkerInbox {
    world_from_joint: Vec<Affine>,
    morphs: MorphWeights,
    pending_secs: f64,
    /// The clip's time of these joints.
    time_secs: Option<f64>,
    /// Number of the last frame that was posted.
    frame: u64,
    posted: bool,
    reset: bool,
    /// Key under which the state is kept before the next frame.
    keep: Option<u64>,
    /// A kept state to go back to, instead of simulating the way there.
    recall: Option<u64>,
    /// A recorded frame to go back to, by number and content.
    replay: Option<(u64, u64)>,
    /// The clock's moment of these joints, if the frame is to be recorded.
    moment: Option<Moment>,
    /// The part of `pending_secs` that passes until the moment; what is posted after it belongs to no frame of the clock.
    moment_secs: f64,
    params: Option<Params>,
    values: Option<ParamValues>,
    factors: Option<FleshFactors>,
    wants: Option<SnapshotContent>,
    device: Option<Successor>,
    stop: bool,
}

/// Time to simulate in one frame, and the clock's moment that it belongs to.
struct TimeSlice {
    dt_secs: f64,
    moment: Option<Moment>,
}

impl WorkerInbox {
    /// Takes a slice of the pending time, at most this long; `posted` says afterwards whether there is more. A moment is taken for good with the
    /// last slice before it, even if there always is more.
    fn take_slice(&mut self, longest_secs: f64) -> TimeSlice {
        let mut dt_secs = self.pending_secs.min(longest_secs);
        if self.moment.is_some() && self.moment_secs > NO_SECS {
            dt_secs = dt_secs.min(self.moment_secs);
        }
        self.pending_secs -= dt_secs;
        self.moment_secs -= dt_secs;
        self.posted = self.pending_secs > NO_SECS;
        let moment = if self.posted && self.moment_secs > NO_SECS {
            self.moment.clone()
        } else {
            self.moment.take()
        };
        TimeSlice { dt_secs, moment }
    }
}

struct WorkerShared {
    inbox: Mutex<WorkerInbox>,
    wake: Condvar,
    latest: Mutex<Arc<Snapshot>>,
    fault: Mutex<Option<String>>,
    device_fault: Mutex<Option<String>>,
    /// The recorded frames.
    trace: Mutex<Trace>,
    asleep: AtomicBool,
    /// Number of the last frame that was finished.
    finished: AtomicU64,
    waker: Option<Waker>,
}

/// Owns the thread; dropping it stops the thread after its current frame.
pub struct SimWorker {
    shared: Arc<WorkerShared>,
    thread: Option<JoinHandle<()>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SimWorker {
    /// Starts the thread; its snapshots are numbered by the counter.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(
        actor: Actor,
        world_from_joint: Vec<Affine>,
        sequences: Arc<AtomicU64>,
        waker: Option<Waker>,
    ) -> std::io::Result<Self> {
        let first = Arc::new(running::first_snapshot(
            &actor,
            world_from_joint,
            &sequences,
        ));
        let shared = Arc::new(WorkerShared {
            inbox: Mutex::default(),
            wake: Condvar::new(),
            latest: Mutex::new(first.clone()),
            fault: Mutex::default(),
            device_fault: Mutex::default(),
            trace: Mutex::default(),
            asleep: AtomicBool::new(false),
            finished: AtomicU64::new(0),
            waker,
        });
        let mut running = WorkerThread::new(actor, first, shared.clone(), sequences);
        let thread = std::thread::Builder::new()
            .name("simulation".into())
            .spawn(move || running.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// How much of `dt_secs` the clock may advance now: less than all of it when the thread lags behind.
    #[must_use]
    pub fn accept(&self, dt_secs: f64) -> f64 {
        let pending = lock(&self.shared.inbox).pending_secs;
        dt_secs.min((MAX_PENDING_SECS - pending).max(0.0))
    }

    /// Posts the joints, the weights of morphs, the seconds passed and the clip's time. Does nothing while asleep in that same pose
    /// at that same time. A frame with a moment is recorded.
    pub(super) fn post(
        &self,
        world_from_joint: &[Affine],
        morphs: &MorphWeights,
        dt_secs: f64,
        time_secs: Option<f64>,
        moment: Option<&Moment>,
    ) {
        let mut inbox = lock(&self.shared.inbox);
        let moved = inbox.world_from_joint != world_from_joint || inbox.morphs != *morphs;
        // A state also tells the time, which passes while a clip stands still.
        if !moved && self.is_idle() && inbox.time_secs == time_secs {
            return;
        }
        if moved {
            inbox.world_from_joint.clear();
            inbox.world_from_joint.extend_from_slice(world_from_joint);
            inbox.morphs.clone_from(morphs);
            self.shared.asleep.store(false, Ordering::Relaxed);
        }
        if let Some(moment) = moment {
            let mut moment = moment.clone();
            if let Some(before) = inbox.moment.take().filter(|_| !moment.starts) {
                // That frame is left out: this one replaces what it would have.
                (moment.from_secs, moment.starts) = (before.from_secs, before.starts);
            }
            inbox.moment = Some(moment);
            inbox.moment_secs = inbox.pending_secs + dt_secs;
            self.shared.asleep.store(false, Ordering::Relaxed);
        }
        inbox.pending_secs += dt_secs;
        inbox.time_secs = time_secs;
        inbox.frame += 1;
        inbox.posted = true;
        self.shared.wake.notify_one();
    }

    /// Resets velocities and settles in the pose at once, without simulating the motion to it.
    pub fn settle(&self, world_from_joint: &[Affine], morphs: &MorphWeights) {
        self.reset_to(world_from_joint, morphs, |_| {});
    }

    /// Asks for a settled state, or for what `instead` sets.
    fn reset_to(
        &self,
        world_from_joint: &[Affine],
        morphs: &MorphWeights,
        instead: impl FnOnce(&mut WorkerInbox),
    ) {
        let mut inbox = lock(&self.shared.inbox);
        inbox.world_from_joint.clear();
        inbox.world_from_joint.extend_from_slice(world_from_joint);
        inbox.morphs.clone_from(morphs);
        (inbox.reset, inbox.posted, inbox.pending_secs) = (true, true, 0.0);
        (inbox.recall, inbox.replay, inbox.moment) = (None, None, None);
        instead(&mut inbox);
        inbox.frame += 1;
        self.shared.asleep.store(false, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Keeps the present state under a key; the oldest ones are dropped.
    pub fn keep(&self, key: u64) {
        let mut inbox = lock(&self.shared.inbox);
        (inbox.keep, inbox.posted) = (Some(key), true);
        self.shared.wake.notify_one();
    }

    /// Goes back to a kept state exactly, or settles in the pose if there is none.
    pub fn recall(&self, key: Option<u64>, world_from_joint: &[Affine], morphs: &MorphWeights) {
        self.reset_to(world_from_joint, morphs, |inbox| inbox.recall = key);
    }

    /// Goes back to a recorded frame exactly, by number and content, and stands still there until the clock goes on. If it is not recorded, it
    /// settles in the pose.
    pub(super) fn replay(
        &self,
        frame: (u64, u64),
        (world_from_joint, morphs): (&[Affine], &MorphWeights),
        time_secs: f64,
    ) {
        self.reset_to(world_from_joint, morphs, |inbox| {
            (inbox.replay, inbox.time_secs) = (Some(frame), Some(time_secs));
        });
    }

    /// The recorded frames.
    pub(super) fn trace(&self) -> MutexGuard<'_, Trace> {
        lock(&self.shared.trace)
    }

    /// Changes physical parameters from the next frame on.
    pub fn set_params(&self, params: Params) {
        lock(&self.shared.inbox).params = Some(params);
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Changes the method's own parameters from the next frame on.
    pub fn set_values(&self, values: ParamValues) {
        lock(&self.shared.inbox).values = Some(values);
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Changes the factors in the settings of bones, and what is painted, from the next frame on.
    pub fn set_factors(&self, factors: FleshFactors) {
        lock(&self.shared.inbox).factors = Some(factors);
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Changes the content of snapshots; a sleeping worker makes one with it.
    pub fn set_wants(&self, wants: SnapshotContent) {
        let mut inbox = lock(&self.shared.inbox);
        (inbox.wants, inbox.posted) = (Some(wants), true);
        self.shared.wake.notify_one();
    }

    /// Moves the simulation or skinning to a device, or back to the CPU, from the next frame on. The state is transferred.
    pub fn set_device(&self, device: Option<GpuDevice>) {
        let mut inbox = lock(&self.shared.inbox);
        if device.is_some() {
            // The loss of a replaced device is not reported.
            *lock(&self.shared.device_fault) = None;
        }
        (inbox.device, inbox.posted) = (Some(Successor(device)), true);
        self.shared.asleep.store(false, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Wakes it: the next time step is simulated, even if nothing moves.
    pub fn wake(&self) {
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Takes the reason for the device loss since the last call; the CPU has taken over.
    #[must_use]
    pub fn take_device_fault(&self) -> Option<String> {
        lock(&self.shared.device_fault).take()
    }

    /// The latest state.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        lock(&self.shared.latest).clone()
    }

    /// Takes the error since the last call, a sentence for the user.
    #[must_use]
    pub fn take_fault(&self) -> Option<String> {
        lock(&self.shared.fault).take()
    }

    /// Whether nothing moves until the next post.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared.asleep.load(Ordering::Relaxed)
    }

    /// Whether all that was posted is computed, and in the latest state.
    #[must_use]
    pub fn has_finished(&self) -> bool {
        let posted = lock(&self.shared.inbox).frame;
        self.shared.finished.load(Ordering::Acquire) == posted || self.has_stopped()
    }

    /// Whether the thread ended by itself, which is an error.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for SimWorker {
    fn drop(&mut self) {
        lock(&self.shared.inbox).stop = true;
        self.shared.wake.notify_one();
        // Not joined: the owner must not wait for a frame in progress; the thread ends after it.
        drop(self.thread.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that always lags behind: before each slice more time is posted than it takes.
    #[test]
    fn a_moment_ends_with_its_time_even_if_more_is_always_pending() {
        let moment = Moment {
            number: 1,
            time_secs: 0.05,
            from_secs: 0.0,
            starts: false,
            content: 1,
            fading: None,
        };
        let mut inbox = WorkerInbox {
            pending_secs: 0.05,
            moment_secs: 0.05,
            moment: Some(moment),
            ..WorkerInbox::default()
        };
        let mut recorded_secs = 0.0;
        for _ in 0..3 {
            inbox.pending_secs += SLICE_SECS;
            let slice = inbox.take_slice(SLICE_SECS);
            assert!(inbox.posted);
            if slice.moment.is_some() {
                recorded_secs += slice.dt_secs;
            }
        }
        assert!((recorded_secs - 0.05).abs() < 1e-12, "{recorded_secs}");
        assert!(inbox.moment.is_none());
        // Without limit all that is pending is one slice.
        let pending_secs = inbox.pending_secs;
        assert_eq!(inbox.take_slice(f64::INFINITY).dt_secs, pending_secs);
        assert!(!inbox.posted);
    }
}
