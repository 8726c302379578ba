//! The worker's thread: computes frame by frame from the inbox to the cell.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::{Successor, WorkerShared, lock};
use crate::character::BoneMap;
use crate::dynamics::{ContactReport, Contacts, Params};
use crate::gpu::actor::{GpuDevice, LatestSkin};
use crate::math::{Affine, Point};
use crate::methods::{Actor, ActorState, Capability, Frame};
use crate::param::ParamValues;
use crate::rig::MorphWeights;
use crate::studio::{Snapshot, SnapshotContent};

/// Largest time step between two checks of the inbox.
pub(in crate::session) const SLICE_SECS: f64 = 1.0 / 30.0;
/// Flesh that moved less than this fraction of the size in a frame counts as still …
const STILL_MOVEMENT: f32 = 2e-6;
/// … and suspends after this time.
const STILL_SECS: f64 = 0.5;
/// States kept for undo; each takes about as much as the simulation's own.
const MOST_KEPT: usize = 8;
/// Number of buffers: one in the cell, one presented, one with the reader, one being written.
const BUFFERS: usize = 4;

/// The thread's side.
pub(super) struct WorkerThread {
    actor: Actor,
    shared: Arc<WorkerShared>,
    buffers: Vec<Arc<Snapshot>>,
    world: Vec<Affine>,
    morphs: MorphWeights,
    time_secs: Option<f64>,
    /// States to go back to, by key, the latest last.
    kept: VecDeque<(u64, ActorState)>,
    still_secs: f64,
    sequences: Arc<AtomicU64>,
    wants: SnapshotContent,
    /// Device buffers that receive the result.
    shown: Option<Arc<LatestSkin>>,
}

fn next_of(sequences: &AtomicU64) -> u64 {
    sequences.fetch_add(1, Ordering::Relaxed) + 1
}

/// The snapshot before the first frame.
pub(super) fn first_snapshot(
    actor: &Actor,
    world_from_joint: Vec<Affine>,
    sequences: &AtomicU64,
) -> Snapshot {
    Snapshot {
        sequence: next_of(sequences),
        contacts: Vec::new(),
        ..Snapshot::of_actor(actor, world_from_joint)
    }
}

fn contacts_of(actor: &Actor) -> Option<&Contacts> {
    actor.projective()?.simulation().contacts()
}

fn contact_of(actor: &Actor) -> Option<ContactReport> {
    Some(contacts_of(actor)?.report())
}

/// Work for one frame.
struct FrameTask {
    dt_secs: f64,
    /// The frame that it finishes.
    finishes: Option<u64>,
    moved: bool,
    reset: bool,
    keep: Option<u64>,
    recall: Option<u64>,
    params: Option<Params>,
    values: Option<ParamValues>,
    bones: Option<BoneMap>,
    wants: Option<SnapshotContent>,
    device: Option<Successor>,
}

impl FrameTask {
    fn changes_numbers(&self) -> bool {
        self.params.is_some() || self.values.is_some() || self.bones.is_some()
    }
}

impl WorkerThread {
    pub fn new(
        actor: Actor,
        first: Arc<Snapshot>,
        shared: Arc<WorkerShared>,
        sequences: Arc<AtomicU64>,
    ) -> Self {
        let (buffers, wants) = (vec![first], SnapshotContent::default());
        Self {
            actor,
            shared,
            buffers,
            world: Vec::new(),
            morphs: MorphWeights::default(),
            time_secs: None,
            kept: VecDeque::new(),
            still_secs: 0.0,
            sequences,
            wants,
            shown: None,
        }
    }

    pub fn run(&mut self) {
        while let Some(mut task) = self.next_task() {
            self.take_device(task.device.take());
            self.step(&task);
            if let Some(frame) = task.finishes {
                self.shared.finished.store(frame, Ordering::Release);
            }
            self.note_device_loss();
            if let Some(waker) = &self.shared.waker {
                waker();
            }
        }
    }

    /// Waits for work; `None` ends the thread.
    fn next_task(&mut self) -> Option<FrameTask> {
        let mut inbox = lock(&self.shared.inbox);
        while !inbox.posted && !inbox.stop {
            inbox = self
                .shared
                .wake
                .wait(inbox)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if inbox.stop {
            return None;
        }
        let moved = self.world != inbox.world_from_joint || self.morphs != inbox.morphs;
        self.world.clone_from(&inbox.world_from_joint);
        self.morphs.clone_from(&inbox.morphs);
        self.time_secs = inbox.time_secs;
        // In slices: each is shown, and the next already uses the latest pose.
        let dt_secs = inbox.pending_secs.min(SLICE_SECS);
        inbox.pending_secs -= dt_secs;
        inbox.posted = inbox.pending_secs > 1e-6;
        let reset = std::mem::take(&mut inbox.reset);
        Some(FrameTask {
            dt_secs,
            finishes: (!inbox.posted).then_some(inbox.frame),
            moved,
            reset,
            keep: inbox.keep.take(),
            recall: inbox.recall.take(),
            params: inbox.params.take(),
            values: inbox.values.take(),
            bones: inbox.bones.take(),
            wants: inbox.wants.take(),
            device: inbox.device.take(),
        })
    }

    /// Changes the device.
    fn take_device(&mut self, device: Option<Successor>) {
        let Some(Successor(device)) = device else {
            return;
        };
        self.shown = device.as_ref().map(GpuDevice::shown);
        match device {
            Some(device) => {
                device.give_to(&mut self.actor);
                // The previous device's loss does not concern this one.
                let _ = self.actor.take_fault();
            }
            None => self.actor.set_device(None),
        }
    }

    /// Records the loss of the device.
    fn note_device_loss(&mut self) {
        if let Some(fault) = self.actor.take_fault() {
            let inbox = lock(&self.shared.inbox);
            let is_replaced = inbox
                .device
                .as_ref()
                .is_some_and(|Successor(device)| device.is_some());
            *lock(&self.shared.device_fault) = (!is_replaced).then(|| fault.to_string());
        }
        if !self.actor.has_device() {
            self.shown = None;
        }
    }

    /// Keeps the present state.
    fn keep(&mut self, key: u64) {
        if self.kept.len() >= MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((key, self.actor.save()));
    }

    /// Goes back to a kept state. Returns whether it is there.
    fn recall(&mut self, key: u64) -> bool {
        let kept = self.kept.iter().find(|(of, _)| *of == key);
        kept.is_some_and(|(_, state)| self.actor.restore(state).is_ok())
    }

    fn step(&mut self, task: &FrameTask) {
        if let Some(key) = task.keep {
            self.keep(key);
        }
        if let Some(params) = &task.params
            && let Err(error) = self.actor.set_params(params)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new dynamics settings are invalid and were not applied: {error}."
            ));
        }
        if let Some(bones) = &task.bones
            && let Err(error) = self.actor.set_bones(bones)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new bone settings are invalid and were not applied: {error}."
            ));
        }
        if let Some(values) = &task.values
            && let Err(error) = self.actor.set_values(values)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new method settings are invalid and were not applied: {error}."
            ));
        }
        let recalled = task.recall.is_some_and(|key| self.recall(key));
        if task.reset && !recalled {
            self.actor.reset();
        }
        let other_wants = task.wants.is_some_and(|wants| wants != self.wants);
        self.wants = task.wants.unwrap_or(self.wants);
        self.actor
            .set_reads_back(self.wants.numbers || self.wants.velocities);
        if other_wants && self.wants.numbers {
            self.actor.read_back();
        }
        let simulated = self.actor.method().has(Capability::State);
        if simulated && !task.reset && task.dt_secs <= 0.0 {
            // No time has passed; a frame of 0 s would settle.
            if other_wants {
                self.publish(0.0);
            }
            return;
        }
        let dt_secs = if task.reset { 0.0 } else { task.dt_secs };
        self.actor.set_morphs(&self.morphs);
        if !recalled {
            let result = self.actor.advance(&Frame {
                world_from_joint: &self.world,
                dt_secs,
            });
            if let Err(fault) = result {
                *lock(&self.shared.fault) = Some(format!("A frame was skipped: {fault}."));
            }
        }
        let movement = self.publish(dt_secs);
        let still = !task.moved
            && !task.changes_numbers()
            && movement <= STILL_MOVEMENT * self.actor.subject().size;
        self.still_secs = if still {
            self.still_secs + task.dt_secs
        } else {
            0.0
        };
        let asleep = still && (!simulated || self.still_secs >= STILL_SECS);
        // Under the inbox's lock, so that a pose or a device posted meanwhile is not missed.
        let inbox = lock(&self.shared.inbox);
        if asleep
            && !inbox.reset
            && inbox.params.is_none()
            && inbox.values.is_none()
            && inbox.bones.is_none()
            && inbox.device.is_none()
            && inbox.world_from_joint == self.world
            && inbox.morphs == self.morphs
        {
            self.shared.asleep.store(true, Ordering::Relaxed);
        }
    }

    /// Largest movement of a vertex since a state. Results only on a device count as moving until the thread sleeps; a method without
    /// simulation moves only with its joints.
    fn movement_since(&self, latest: &Snapshot) -> f32 {
        if self.actor.is_on_device() {
            return if self.actor.is_at_rest() {
                0.0
            } else {
                f32::INFINITY
            };
        }
        let distance = |(a, b): (&Point, &Point)| (a - b).norm_squared();
        latest
            .positions()
            .iter()
            .zip(self.actor.positions())
            .map(distance)
            .fold(0.0_f32, f32::max)
            .sqrt()
    }

    /// Puts the actor's state into the cell; returns the largest movement of a vertex since the last one, `dt` earlier.
    fn publish(&mut self, dt_secs: f64) -> f32 {
        let latest = lock(&self.shared.latest).clone();
        let movement = self.movement_since(&latest);
        let free = self
            .buffers
            .iter()
            .position(|buffer| !Arc::ptr_eq(buffer, &latest) && Arc::strong_count(buffer) == 1);
        let slot = free.unwrap_or_else(|| {
            if self.buffers.len() >= BUFFERS {
                self.buffers.remove(0); // A reader keeps this buffer.
            }
            self.buffers.push(Arc::new(Snapshot::clone(&latest)));
            self.buffers.len() - 1
        });
        let wants = self.wants;
        if let Some(snapshot) = Arc::get_mut(&mut self.buffers[slot]) {
            snapshot.sequence = next_of(&self.sequences);
            // The buffers of a lost device may not exist any more.
            let skin = self
                .shown
                .as_ref()
                .filter(|_| self.actor.is_on_device() && !self.actor.is_morphed())
                .and_then(|shown| shown.latest());
            match skin {
                Some(skin) if !self.actor.is_here() => snapshot.shape.put_on_device(skin),
                skin => {
                    snapshot.shape.write(
                        self.actor.positions(),
                        self.actor.normals(),
                        self.actor.simulated(),
                    );
                    snapshot.shape.also_on_device(skin);
                }
            }
            snapshot.world_from_joint.clone_from(&self.world);
            snapshot.time_secs = self.time_secs;
            snapshot.times = self.actor.times();
            snapshot.contact = contact_of(&self.actor);
            snapshot.contacts.clear();
            if let (true, Some(contacts)) = (wants.contacts, contacts_of(&self.actor)) {
                snapshot.contacts.extend_from_slice(contacts.contacts());
            }
            let vertices = self.actor.positions().len();
            snapshot.explained = wants
                .explains
                .filter(|&vertex| (vertex as usize) < vertices && self.actor.is_here())
                .map(|vertex| (vertex, self.actor.method_terms(vertex as usize)));
            snapshot.velocities.clear();
            if wants.velocities {
                let per_sec = if dt_secs > 0.0 {
                    (1.0 / dt_secs) as f32
                } else {
                    0.0
                };
                let ways = latest
                    .positions()
                    .iter()
                    .zip(self.actor.positions())
                    .map(|(before, now)| (now - before) * per_sec);
                snapshot.velocities.extend(ways);
            }
        }
        *lock(&self.shared.latest) = self.buffers[slot].clone();
        movement
    }
}
