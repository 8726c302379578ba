//! Which device simulates what is shown: decided in the background, for every character anew.
//!
//! A worker begins on the processor. Once a device is ready for its character and parameters, it takes over where the flesh is; when
//! either changes, the processor goes on until the device is ready again, so that a slider never waits. A device that is lost hands
//! over, too, and is tried again when there is a new one, or when the user says so.

use std::sync::Arc;

use super::jobs::{Job, Outcome};
use super::stages::Need;
use super::{Level, Session};
use crate::character::BoneMap;
use crate::dynamics::{Collisions, Params};
use crate::gpu::GpuContext;
use crate::gpu::actor::{DeviceChoice, GpuFlesh, Measured, Verdict, verdict, without_measuring};
use crate::progress::Progress;
use crate::skin::{Actor, BindError, Method, Subject};

/// What is decided on: what is equal needs no other decision.
#[derive(Clone)]
struct Key {
    subject: Arc<Subject>,
    params: Params,
    bones: BoneMap,
    choice: DeviceChoice,
    /// Counts devices and retries.
    round: u64,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let of = |key: &Self| (Arc::as_ptr(&key.subject), key.choice, key.round);
        of(self) == of(other) && self.params == other.params && self.bones == other.bones
    }
}

/// What simulates what the active view shows.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    /// Whether the graphics device makes the steps.
    pub on_gpu: bool,
    /// Why: one sentence.
    pub why: String,
    /// What was measured to decide.
    pub measured: Option<Measured>,
    /// It was lost, and may be tried again.
    pub lost: bool,
}

struct Decided {
    need: Need,
    key: Key,
    status: DeviceStatus,
}

/// For what a device is being prepared.
type Deciding = (Need, Key, Job<Result<Verdict, BindError>>);

/// The devices there are, and what was decided.
#[derive(Default)]
pub(super) struct Devices {
    choice: DeviceChoice,
    gpu: Option<GpuContext>,
    round: u64,
    job: Option<Deciding>,
    decided: Vec<Decided>,
}

impl Devices {
    /// The device that draws.
    pub(super) fn gpu(&self) -> Option<&GpuContext> {
        self.gpu.as_ref()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }
}

impl Session {
    /// Where to simulate. No part of the document.
    #[must_use]
    pub fn device(&self) -> DeviceChoice {
        self.devices.choice
    }

    /// Has everything simulated there from now on.
    pub fn set_device(&mut self, choice: DeviceChoice) {
        self.devices.choice = choice;
    }

    /// Tells which graphics device there is: the one that whoever draws uses. Cheap to call with every frame.
    pub fn set_gpu(&mut self, gpu: Option<&GpuContext>) {
        let same = match (&self.devices.gpu, gpu) {
            (Some(mine), Some(gpu)) => mine.is_same(gpu),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.devices.gpu = gpu.cloned();
            self.devices.round += 1;
            // What slept on a device that is gone would not notice, and have nothing to show.
            self.stages.wake();
        }
    }

    /// Tries a device again that was lost, and measures again.
    pub fn retry_device(&mut self) {
        self.devices.round += 1;
    }

    /// What simulates what the active view shows; nothing until that is decided, and for methods that don't simulate.
    #[must_use]
    pub fn device_status(&self) -> Option<&DeviceStatus> {
        let need = self.views.active().need();
        self.devices.decided.iter().find(|decided| decided.need == need).map(|decided| &decided.status)
    }

    /// Decides for every simulation that is shown, one after the other. Not while the user drags.
    pub(super) fn follow_devices(&mut self) {
        self.hear_of_losses();
        self.take_verdict();
        let Some(subject) = self.document.subject.clone() else { return };
        let Devices { choice, round, .. } = self.devices;
        let params = Params { budget_ms: None, ..self.document.params };
        let key = Key { subject, params, bones: self.document.flesh.bones.clone(), choice, round };
        if self.history.is_dragging() {
            return;
        }
        let needs: Vec<Need> = self.stages.live_needs().filter(|need| need.method.is_simulated()).collect();
        self.devices.decided.retain(|decided| needs.contains(&decided.need));
        let known = |need: &Need| self.devices.decided.iter().any(|decided| decided.need == *need && decided.key == key);
        let Some(need) = needs.iter().find(|need| !known(need)).copied() else { return };
        if self.devices.job.as_ref().is_some_and(|(pending, of, _)| *pending == need && *of == key) {
            return;
        }
        self.devices.job = None;
        let collides = key.params.collisions != Collisions::Off;
        match without_measuring(choice, self.devices.gpu.as_ref().ok_or("there is no graphics device"), collides) {
            Some(why) => self.decide(need, key, None, None, why),
            None => self.start_deciding(need, key),
        }
    }

    fn start_deciding(&mut self, need: Need, key: Key) {
        let Some(gpu) = self.devices.gpu.clone() else { return };
        let wanted = key.clone();
        let work = move |progress: &Progress| {
            let mut actor = Actor::bind(&wanted.subject, Method::Pd, &wanted.params, progress)?;
            actor.set_bones(&wanted.bones)?;
            progress.check()?;
            Ok(verdict(wanted.choice, Ok(&gpu), &mut actor))
        };
        match Job::start("Preparing the graphics device".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.devices.job = Some((need, key, job)),
            Err(error) => self.decide(need, key, None, None, format!("The CPU simulates: no thread could be started ({error}).")),
        }
    }

    fn take_verdict(&mut self) {
        let Some((_, _, job)) = &self.devices.job else { return };
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            return;
        }
        let Some((need, key, _)) = self.devices.job.take() else { return };
        // What was prepared for other parameters would simulate by those.
        let document = &self.document;
        let same_subject = document.subject.as_ref().is_some_and(|subject| Arc::ptr_eq(subject, &key.subject));
        if !same_subject || (Params { budget_ms: None, ..document.params }) != key.params || document.flesh.bones != key.bones {
            return;
        }
        match outcome {
            Outcome::Done(Ok(Verdict { device, measured, why })) => self.decide(need, key, device, measured, why),
            Outcome::Done(Err(error)) => self.decide(need, key, None, None, format!("The CPU simulates: {error}.")),
            Outcome::Running => {}
            Outcome::Lost => {
                let why = "The CPU simulates: the graphics device could not be prepared.".to_owned();
                self.decide(need, key, None, None, why);
            }
        }
    }

    fn decide(&mut self, need: Need, key: Key, device: Option<Box<GpuFlesh>>, measured: Option<Measured>, why: String) {
        log::info!("{why}");
        let Some(worker) = self.stages.bound_worker(need) else { return };
        let on_gpu = device.is_some();
        worker.set_device(device);
        self.devices.decided.retain(|decided| decided.need != need);
        let status = DeviceStatus { on_gpu, why, measured, lost: false };
        self.devices.decided.push(Decided { need, key, status });
    }

    fn hear_of_losses(&mut self) {
        let faults: Vec<(Need, String)> = self.stages.faulty_devices();
        for (need, fault) in faults {
            self.tell(Level::Warning, format!("The CPU goes on with the simulation: {fault}."));
            if let Some(decided) = self.devices.decided.iter_mut().find(|decided| decided.need == need) {
                let why = format!("The CPU simulates: {fault}.");
                decided.status = DeviceStatus { on_gpu: false, why, measured: decided.status.measured, lost: true };
            }
        }
    }
}
