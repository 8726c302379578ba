//! A bound method on a thread of its own, so that whoever draws never waits for the flesh.
//!
//! ```text
//! owner ─post(pose, seconds)→ inbox (latest pose wins, seconds add up) → thread: Actor::advance → snapshot cell → owner
//! ```
//! The cell holds an `Arc`; the thread writes into one of a few buffers that nobody else holds any more, so that a running
//! simulation allocates nothing and readers keep what they have for as long as they like.
//!
//! When the pose stands still and the flesh has come to rest, the thread sleeps until something changes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::snapshot::{Shape, Snapshot, Wants};
use crate::character::BoneMap;
use crate::dynamics::{ContactReport, Contacts, Params};
use crate::gpu::actor::{GpuFlesh, Shown};
use crate::math::{Affine, Point};
use crate::skin::{Actor, Frame, Projective};

/// Called from other threads when there is something new to show.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Time that a worker may be behind before the clock waits for it: a slow machine slows time.
const MAX_PENDING_SECS: f64 = 0.1;
/// Time that is simulated between two looks at the inbox.
const SLICE_SECS: f64 = 1.0 / 30.0;
/// Flesh that moved less than this part of the size in a frame is calm …
const CALM_MOVEMENT: f32 = 2e-6;
/// … and asleep after so long.
const CALM_SECS: f64 = 0.5;
/// Buffers in turn: one in the cell, one with the reader, one being written.
const BUFFERS: usize = 3;

/// What makes the steps from now on: a device, or the processor.
struct Successor(Option<Box<GpuFlesh>>);

/// What the owner asked for since the thread last looked.
#[derive(Default)]
struct Inbox {
    world_from_joint: Vec<Affine>,
    pending_secs: f64,
    posted: bool,
    reset: bool,
    params: Option<Params>,
    bones: Option<BoneMap>,
    wants: Option<Wants>,
    device: Option<Successor>,
    stop: bool,
}

struct Shared {
    inbox: Mutex<Inbox>,
    wake: Condvar,
    latest: Mutex<Arc<Snapshot>>,
    fault: Mutex<Option<String>>,
    device_fault: Mutex<Option<String>>,
    asleep: AtomicBool,
    waker: Option<Waker>,
}

/// Owns the thread; dropping it stops the thread after the frame it is at.
pub struct SimWorker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SimWorker {
    /// Starts the thread; its snapshots are numbered by the counter.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(actor: Actor, world_from_joint: Vec<Affine>, sequences: Arc<AtomicU64>, waker: Option<Waker>) -> std::io::Result<Self> {
        let first = Snapshot {
            sequence: next_of(&sequences),
            subject: actor.subject().clone(),
            method: actor.method(),
            shape: Shape::new(actor.positions().to_vec(), actor.normals().to_vec(), actor.simulated().to_vec()),
            world_from_joint,
            times: actor.times(),
            contact: contact_of(&actor),
            contacts: Vec::new(),
            velocities: Vec::new(),
        };
        let first = Arc::new(first);
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            wake: Condvar::new(),
            latest: Mutex::new(first.clone()),
            fault: Mutex::default(),
            device_fault: Mutex::default(),
            asleep: AtomicBool::new(false),
            waker,
        });
        let mut running = Running {
            buffers: vec![first],
            actor,
            shared: shared.clone(),
            calm_secs: 0.0,
            world: Vec::new(),
            sequences,
            wants: Wants::default(),
            shown: None,
        };
        let thread = std::thread::Builder::new().name("simulation".into()).spawn(move || running.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// How much of `dt_secs` the clock may let pass now: less than all of it when the thread is behind.
    #[must_use]
    pub fn accept(&self, dt_secs: f64) -> f64 {
        let pending = lock(&self.shared.inbox).pending_secs;
        dt_secs.min((MAX_PENDING_SECS - pending).max(0.0))
    }

    /// The joints are here now and so many seconds have passed. Does nothing while asleep in that same pose.
    pub fn post(&self, world_from_joint: &[Affine], dt_secs: f64) {
        let mut inbox = lock(&self.shared.inbox);
        let moved = inbox.world_from_joint != world_from_joint;
        if !moved && self.is_asleep() {
            return;
        }
        if moved {
            inbox.world_from_joint.clear();
            inbox.world_from_joint.extend_from_slice(world_from_joint);
            self.shared.asleep.store(false, Ordering::Relaxed);
        }
        inbox.pending_secs += dt_secs;
        inbox.posted = true;
        self.shared.wake.notify_one();
    }

    /// Forgets velocities and settles in the pose at once, without passing through what lies between.
    pub fn settle(&self, world_from_joint: &[Affine]) {
        let mut inbox = lock(&self.shared.inbox);
        inbox.world_from_joint.clear();
        inbox.world_from_joint.extend_from_slice(world_from_joint);
        (inbox.reset, inbox.posted, inbox.pending_secs) = (true, true, 0.0);
        self.shared.asleep.store(false, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Changes physical parameters from the next frame on.
    pub fn set_params(&self, params: Params) {
        lock(&self.shared.inbox).params = Some(params);
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Changes the factors in the settings of bones from the next frame on.
    pub fn set_bones(&self, bones: BoneMap) {
        lock(&self.shared.inbox).bones = Some(bones);
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Changes what snapshots hold; a sleeping worker gives one that has it.
    pub fn set_wants(&self, wants: Wants) {
        let mut inbox = lock(&self.shared.inbox);
        (inbox.wants, inbox.posted) = (Some(wants), true);
        self.shared.wake.notify_one();
    }

    /// Has a device make the steps from the next frame on, or the processor again. The state goes along.
    pub fn set_device(&self, device: Option<Box<GpuFlesh>>) {
        let mut inbox = lock(&self.shared.inbox);
        (inbox.device, inbox.posted) = (Some(Successor(device)), true);
        self.shared.asleep.store(false, Ordering::Relaxed);
        self.shared.wake.notify_one();
    }

    /// Ends its sleep: the next time that passes is simulated, even if nothing moves.
    pub fn wake(&self) {
        self.shared.asleep.store(false, Ordering::Relaxed);
    }

    /// Why its device was lost since the last call; the processor has gone on.
    #[must_use]
    pub fn take_device_fault(&self) -> Option<String> {
        lock(&self.shared.device_fault).take()
    }

    /// The latest state.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        lock(&self.shared.latest).clone()
    }

    /// What went wrong since the last call, as a sentence for the user.
    #[must_use]
    pub fn take_fault(&self) -> Option<String> {
        lock(&self.shared.fault).take()
    }

    /// Whether nothing moves until something is posted.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.shared.asleep.load(Ordering::Relaxed)
    }

    /// Whether the thread ended by itself, which it never should.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for SimWorker {
    fn drop(&mut self) {
        lock(&self.shared.inbox).stop = true;
        self.shared.wake.notify_one();
        // Not joined: the owner must not wait for a frame in progress; the thread ends by itself after it.
        drop(self.thread.take());
    }
}

/// The thread's side.
struct Running {
    actor: Actor,
    shared: Arc<Shared>,
    buffers: Vec<Arc<Snapshot>>,
    world: Vec<Affine>,
    calm_secs: f64,
    sequences: Arc<AtomicU64>,
    wants: Wants,
    /// Where a device that makes the steps shows them.
    shown: Option<Arc<Shown>>,
}

fn next_of(sequences: &AtomicU64) -> u64 {
    sequences.fetch_add(1, Ordering::Relaxed) + 1
}

fn contacts_of(actor: &Actor) -> Option<&Contacts> {
    actor.projective()?.simulation().contacts()
}

fn contact_of(actor: &Actor) -> Option<ContactReport> {
    Some(contacts_of(actor)?.report())
}

/// One frame to do.
struct Task {
    dt_secs: f64,
    moved: bool,
    reset: bool,
    params: Option<Params>,
    bones: Option<BoneMap>,
    wants: Option<Wants>,
    device: Option<Successor>,
}

impl Task {
    fn changes_physics(&self) -> bool {
        self.params.is_some() || self.bones.is_some()
    }
}

impl Running {
    fn run(&mut self) {
        while let Some(mut task) = self.next_task() {
            self.take_device(task.device.take());
            self.step(&task);
            self.watch_device();
            if let Some(waker) = &self.shared.waker {
                waker();
            }
        }
    }

    /// Waits for something to do; `None` to end.
    fn next_task(&mut self) -> Option<Task> {
        let mut inbox = lock(&self.shared.inbox);
        while !inbox.posted && !inbox.stop {
            inbox = self.shared.wake.wait(inbox).unwrap_or_else(PoisonError::into_inner);
        }
        if inbox.stop {
            return None;
        }
        let moved = self.world != inbox.world_from_joint;
        self.world.clone_from(&inbox.world_from_joint);
        // A slice at a time, so that each is shown and the next already follows the latest pose.
        let dt_secs = inbox.pending_secs.min(SLICE_SECS);
        inbox.pending_secs -= dt_secs;
        inbox.posted = inbox.pending_secs > 1e-6;
        let reset = std::mem::take(&mut inbox.reset);
        let (params, bones, wants) = (inbox.params.take(), inbox.bones.take(), inbox.wants.take());
        Some(Task { dt_secs, moved, reset, params, bones, wants, device: inbox.device.take() })
    }

    /// Another device, or none.
    fn take_device(&mut self, device: Option<Successor>) {
        let Some(Successor(device)) = device else { return };
        self.shown = device.as_ref().map(|device| device.shown());
        self.actor.set_device(device.map(|device| -> Box<dyn crate::skin::Device> { device }));
    }

    /// Notes that the device is gone.
    fn watch_device(&mut self) {
        if let Some(fault) = self.actor.take_fault() {
            *lock(&self.shared.device_fault) = Some(fault.to_string());
        }
        if !self.actor.projective().is_some_and(Projective::has_device) {
            self.shown = None;
        }
    }

    fn step(&mut self, task: &Task) {
        if let Some(params) = &task.params
            && let Err(error) = self.actor.set_params(params)
        {
            *lock(&self.shared.fault) = Some(format!("The new dynamics can't be used, the old ones stay: {error}."));
        }
        if let Some(bones) = &task.bones
            && let Err(error) = self.actor.set_bones(bones)
        {
            *lock(&self.shared.fault) = Some(format!("The new settings of bones can't be used, the old ones stay: {error}."));
        }
        if task.reset {
            self.actor.reset();
        }
        let other_wants = task.wants.is_some_and(|wants| wants != self.wants);
        self.wants = task.wants.unwrap_or(self.wants);
        self.actor.set_reads_back(self.wants.numbers || self.wants.velocities);
        if other_wants && self.wants.numbers {
            self.actor.read_back();
        }
        let simulated = self.actor.method().is_simulated();
        if simulated && !task.reset && task.dt_secs <= 0.0 {
            // No time has passed; a frame of 0 s would mean "settle".
            if other_wants {
                self.publish(0.0);
            }
            return;
        }
        let dt_secs = if task.reset { 0.0 } else { task.dt_secs };
        let result = self.actor.advance(&Frame { world_from_joint: &self.world, dt_secs });
        if let Err(fault) = result {
            *lock(&self.shared.fault) = Some(format!("A frame was left out: {fault}."));
        }
        let movement = self.publish(dt_secs);
        let calm = !task.moved && !task.changes_physics() && movement <= CALM_MOVEMENT * self.actor.subject().size;
        self.calm_secs = if calm { self.calm_secs + task.dt_secs } else { 0.0 };
        let asleep = calm && (!simulated || self.calm_secs >= CALM_SECS);
        // Under the inbox's lock, so that a pose that was posted meanwhile is not slept over.
        let inbox = lock(&self.shared.inbox);
        if asleep && !inbox.reset && inbox.params.is_none() && inbox.bones.is_none() && inbox.world_from_joint == self.world {
            self.shared.asleep.store(true, Ordering::Relaxed);
        }
    }

    /// Largest movement of a vertex since a state. What only a device knows counts as moving until it sleeps.
    fn movement_since(&self, latest: &Snapshot) -> f32 {
        if self.actor.is_on_device() {
            return if self.actor.projective().is_some_and(Projective::is_asleep) { 0.0 } else { f32::INFINITY };
        }
        let distance = |(a, b): (&Point, &Point)| (a - b).norm_squared();
        latest.positions().iter().zip(self.actor.positions()).map(distance).fold(0.0_f32, f32::max).sqrt()
    }

    /// Puts the actor's state into the cell; returns the largest movement of a vertex since the last one, which is so long ago.
    fn publish(&mut self, dt_secs: f64) -> f32 {
        let latest = lock(&self.shared.latest).clone();
        let movement = self.movement_since(&latest);
        let free = self.buffers.iter().position(|buffer| !Arc::ptr_eq(buffer, &latest) && Arc::strong_count(buffer) == 1);
        let slot = free.unwrap_or_else(|| {
            if self.buffers.len() >= BUFFERS {
                self.buffers.remove(0); // Somebody keeps it: theirs now.
            }
            self.buffers.push(Arc::new(Snapshot::clone(&latest)));
            self.buffers.len() - 1
        });
        let wants = self.wants;
        if let Some(snapshot) = Arc::get_mut(&mut self.buffers[slot]) {
            snapshot.sequence = next_of(&self.sequences);
            // A device may be gone with what it showed.
            let skin = self.shown.as_ref().filter(|_| self.actor.is_on_device()).and_then(|shown| shown.latest());
            match skin {
                Some(skin) if !self.actor.is_here() => snapshot.shape.put_on_device(skin),
                skin => {
                    snapshot.shape.write(self.actor.positions(), self.actor.normals(), self.actor.simulated());
                    snapshot.shape.also_on_device(skin);
                }
            }
            snapshot.world_from_joint.clone_from(&self.world);
            snapshot.times = self.actor.times();
            snapshot.contact = contact_of(&self.actor);
            snapshot.contacts.clear();
            if let (true, Some(contacts)) = (wants.contacts, contacts_of(&self.actor)) {
                snapshot.contacts.extend_from_slice(contacts.contacts());
            }
            snapshot.velocities.clear();
            if wants.velocities {
                let per_sec = if dt_secs > 0.0 { (1.0 / dt_secs) as f32 } else { 0.0 };
                let ways = latest.positions().iter().zip(self.actor.positions()).map(|(before, now)| (now - before) * per_sec);
                snapshot.velocities.extend(ways);
            }
        }
        *lock(&self.shared.latest) = self.buffers[slot].clone();
        movement
    }
}
