//! The worker's thread: computes frame by frame from the inbox to the cell.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use super::task::FrameTask;
use super::{Successor, TimeSlice, WorkerShared, lock};
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::gpu::actor::{GpuDevice, LatestSkin};
use crate::math::Affine;
use crate::methods::{Actor, ActorState, Capability, Frame};
use crate::param::ParamValues;
use crate::rig::MorphWeights;
use crate::session::moment::Moment;
use crate::studio::{Snapshot, SnapshotContent};

/// Largest time step between two checks of the inbox.
pub(in crate::session) const SLICE_SECS: f64 = 1.0 / 30.0;
/// Flesh that moved less than this fraction of the size in a frame counts as still …
const STILL_MOVEMENT: f32 = 2e-6;
/// … and suspends after this time.
const STILL_SECS: f64 = 0.5;
/// States kept for undo; each takes about as much as the simulation's own.
const MOST_KEPT: usize = 8;
/// On a device, whose states have to be read back, every n-th frame is kept with its state.
const DEVICE_STRIDE: usize = 4;

/// Numbers that a simulation depends on beside its state, as they were set last.
#[derive(Default)]
struct Numbers {
    params: Option<Params>,
    values: Option<ParamValues>,
    factors: Option<FleshFactors>,
}

/// Sets a number. Returns whether it was another one.
fn is_other<T: Clone + PartialEq>(known: &mut Option<T>, set: Option<&T>) -> bool {
    let other = set.is_some() && known.as_ref() != set;
    if other {
        *known = set.cloned();
    }
    other
}

/// The thread's side.
pub(super) struct WorkerThread {
    pub(super) actor: Actor,
    pub(super) shared: Arc<WorkerShared>,
    pub(super) buffers: Vec<Arc<Snapshot>>,
    pub(super) world: Vec<Affine>,
    morphs: MorphWeights,
    pub(super) time_secs: Option<f64>,
    numbers: Numbers,
    /// States to go back to, by key, the latest last.
    kept: VecDeque<(u64, ActorState)>,
    still_secs: f64,
    pub(super) sequences: Arc<AtomicU64>,
    pub(super) wants: SnapshotContent,
    /// Device buffers that receive the result.
    pub(super) shown: Option<Arc<LatestSkin>>,
    /// Whether the present state was restored: the device's buffers have another.
    pub(super) restored: bool,
}

pub(super) fn next_of(sequences: &AtomicU64) -> u64 {
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
            numbers: Numbers::default(),
            kept: VecDeque::new(),
            still_secs: 0.0,
            sequences,
            wants,
            shown: None,
            restored: false,
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
        let simulates = self.actor.method().has(Capability::State);
        let longest_secs = if simulates { SLICE_SECS } else { f64::INFINITY };
        let TimeSlice { dt_secs, moment } = inbox.take_slice(longest_secs);
        let reset = std::mem::take(&mut inbox.reset);
        Some(FrameTask {
            dt_secs,
            finishes: (!inbox.posted).then_some(inbox.frame),
            moved,
            reset,
            keep: inbox.keep.take(),
            recall: inbox.recall.take(),
            replay: inbox.replay.take(),
            moment,
            params: inbox.params.take(),
            values: inbox.values.take(),
            factors: inbox.factors.take(),
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
        lock(&self.shared.trace).change_device();
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
            lock(&self.shared.trace).change_device();
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

    /// Goes back to a recorded frame, by number and content, exactly. Returns whether it is there.
    fn replay(&mut self, (number, content): (u64, u64)) -> bool {
        let path = lock(&self.shared.trace).path_to(number, content);
        let Some(path) = path else {
            return false;
        };
        if self.actor.restore(&path.state).is_err() {
            return false;
        }
        path.steps.iter().all(|(joints, morphs, dt_secs)| {
            self.actor.set_morphs(morphs);
            let frame = Frame {
                world_from_joint: joints,
                dt_secs: *dt_secs,
            };
            self.actor.advance(&frame).is_ok()
        })
    }

    /// Records the frame that was just simulated.
    fn record(&mut self, moment: &Moment, dt_secs: f64) {
        let stride = if self.actor.is_on_device() {
            DEVICE_STRIDE
        } else {
            1
        };
        let needs_state = {
            let trace = lock(&self.shared.trace);
            if !trace.is_on() {
                return;
            }
            trace.needs_state(stride)
        };
        let state = needs_state.then(|| self.actor.save());
        let inputs = (self.world.as_slice(), &self.morphs);
        lock(&self.shared.trace).push(moment.clone(), inputs, dt_secs, state);
    }

    /// Sets parameters. Recorded frames of others are dropped.
    fn set_numbers(&mut self, task: &FrameTask) {
        if let Some(params) = &task.params
            && let Err(error) = self.actor.set_params(params)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new dynamics settings are invalid and were not applied: {error}."
            ));
        }
        if let Some(factors) = &task.factors
            && let Err(error) = self.actor.set_factors(factors)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new settings of the flesh are invalid and were not applied: {error}."
            ));
        }
        if let Some(values) = &task.values
            && let Err(error) = self.actor.set_values(values)
        {
            *lock(&self.shared.fault) = Some(format!(
                "The new method settings are invalid and were not applied: {error}."
            ));
        }
        let known = &mut self.numbers;
        let others = is_other(&mut known.params, task.params.as_ref())
            | is_other(&mut known.values, task.values.as_ref())
            | is_other(&mut known.factors, task.factors.as_ref());
        if others {
            lock(&self.shared.trace).clear();
        }
    }

    fn step(&mut self, task: &FrameTask) {
        if let Some(key) = task.keep {
            self.keep(key);
        }
        self.set_numbers(task);
        let replayed = task.replay.is_some_and(|frame| self.replay(frame));
        let recalled = replayed || task.recall.is_some_and(|key| self.recall(key));
        if task.reset && !recalled {
            self.actor.reset();
        }
        let other_wants = task.wants.is_some_and(|wants| wants != self.wants);
        self.wants = task.wants.unwrap_or(self.wants);
        self.actor
            .set_reads_back(self.wants.numbers || self.wants.velocities || self.wants.contacts);
        if other_wants && (self.wants.numbers || self.wants.contacts) {
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
        self.restored = recalled;
        if recalled || task.reset {
            lock(&self.shared.trace).interrupt();
        }
        if let (true, Some(moment)) = (simulated && !recalled, &task.moment) {
            self.record(moment, dt_secs);
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
        // A frame that was simulated before stands still until the clock goes on.
        let asleep = replayed || still && (!simulated || self.still_secs >= STILL_SECS);
        // Under the inbox's lock, so that a pose or a device posted meanwhile is not missed.
        let inbox = lock(&self.shared.inbox);
        if asleep
            && !inbox.reset
            && inbox.moment.is_none()
            && inbox.params.is_none()
            && inbox.values.is_none()
            && inbox.factors.is_none()
            && inbox.device.is_none()
            && inbox.world_from_joint == self.world
            && inbox.morphs == self.morphs
        {
            self.shared.asleep.store(true, Ordering::Relaxed);
        }
    }
}
