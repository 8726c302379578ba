//! Which device simulates what is shown, or moves its skin: decided in the background, for every character and method anew.
//!
//! A worker begins on the processor. Once a device is ready for its character and parameters, it takes over where the flesh is; when
//! either changes, the processor goes on until the device is ready again, so that a slider never waits. (Methods that don't simulate have
//! no parameters.) A device that is lost hands
//! over, too, and is tried again when there is a new one, or when the user says so.

use std::sync::Arc;

use super::jobs::{Job, Outcome};
use super::views::Need;
use super::{Level, Session};
use crate::character::BoneMap;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::gpu::actor::{
    DeviceChoice, GpuDevice, Measured, Verdict, because, verdict, without_measuring,
};
use crate::methods::{Actor, BindError, Capability, Subject};
use crate::progress::Progress;

/// What is decided on: what is equal needs no other decision.
#[derive(Clone)]
struct Key {
    need: Need,
    made: Made,
    choice: DeviceChoice,
    /// Counts devices and retries.
    round: u64,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let of = |key: &Self| (key.need, key.choice, key.round);
        of(self) == of(other) && self.made == other.made
    }
}

/// What a device is made for; it would not do for anything else.
#[derive(Clone)]
struct Made {
    subject: Arc<Subject>,
    /// Parameters and bones, for methods that simulate.
    physics: Option<(Params, BoneMap)>,
}

impl PartialEq for Made {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.subject, &other.subject) && self.physics == other.physics
    }
}

/// What simulates what the active view shows, or moves its skin.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    /// Whether it is the graphics device.
    pub on_gpu: bool,
    /// Why: one sentence.
    pub why: String,
    /// What was measured to decide.
    pub measured: Option<Measured>,
    /// It was lost, and may be tried again.
    pub lost: bool,
}

struct Decided {
    key: Key,
    status: DeviceStatus,
}

/// For what a device is being prepared.
type Deciding = (Key, Job<Result<Verdict, BindError>>);

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
    /// Where to simulate and to move skins. No part of the document.
    #[must_use]
    pub fn device(&self) -> DeviceChoice {
        self.devices.choice
    }

    /// Has everything done there from now on.
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

    /// What simulates what the active view shows, or moves its skin; nothing until that is decided.
    #[must_use]
    pub fn device_status(&self) -> Option<&DeviceStatus> {
        let need = self.views.active().need();
        self.devices
            .decided
            .iter()
            .find(|decided| decided.key.need == need)
            .map(|decided| &decided.status)
    }

    /// What a device for this has to be made for, as the document is now.
    fn made_for(&self, need: Need) -> Option<Made> {
        let physics = || {
            (
                Params {
                    budget_ms: None,
                    ..self.document.params
                },
                self.document.flesh.bones.clone(),
            )
        };
        Some(Made {
            subject: self.document.subject.as_ref()?.weighted(need.weights),
            physics: need.method.has(Capability::Physics).then(physics),
        })
    }

    /// Decides for everything that is shown, one after the other. Not while the user drags.
    pub(super) fn follow_devices(&mut self) {
        self.hear_of_losses();
        self.take_verdict();
        if self.history.is_dragging() {
            return;
        }
        // What only stands in until something else is bound is not worth a device.
        let mut needs = self.views.needs();
        needs.retain(|need| self.stages.live_needs().any(|live| live == *need));
        self.devices
            .decided
            .retain(|decided| needs.contains(&decided.key.need));
        let Devices { choice, round, .. } = self.devices;
        let mut keys = needs.iter().filter_map(|&need| {
            Some(Key {
                need,
                made: self.made_for(need)?,
                choice,
                round,
            })
        });
        let Some(key) = keys.find(|key| {
            self.devices
                .decided
                .iter()
                .all(|decided| decided.key != *key)
        }) else {
            return;
        };
        if self
            .devices
            .job
            .as_ref()
            .is_some_and(|(pending, _)| *pending == key)
        {
            return;
        }
        self.devices.job = None;
        let gpu = self
            .devices
            .gpu
            .as_ref()
            .ok_or("there is no graphics device");
        match without_measuring(choice, gpu, key.need.method) {
            Some(why) => self.decide(key, None, None, why),
            None => self.start_deciding(key),
        }
    }

    fn start_deciding(&mut self, key: Key) {
        let Some(gpu) = self.devices.gpu.clone() else {
            return;
        };
        let Key {
            need,
            choice,
            made: Made { subject, physics },
            ..
        } = key.clone();
        let work = move |progress: &Progress| {
            let (params, bones) = physics.unwrap_or_default();
            let mut actor = Actor::bind(&subject, need.method, &params, progress)?;
            actor.set_bones(&bones)?;
            progress.check()?;
            Ok(verdict(choice, Ok(&gpu), &mut actor))
        };
        match Job::start(
            "Preparing the graphics device".to_owned(),
            self.waker.clone(),
            work,
        ) {
            Ok(job) => self.devices.job = Some((key, job)),
            Err(error) => {
                self.decide_for_cpu(key, &format_args!("no thread could be started ({error})"));
            }
        }
    }

    fn take_verdict(&mut self) {
        let Some((_, job)) = &self.devices.job else {
            return;
        };
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            return;
        }
        let Some((key, _)) = self.devices.job.take() else {
            return;
        };
        if self.made_for(key.need).is_none_or(|made| made != key.made) {
            return;
        }
        match outcome {
            Outcome::Done(Ok(Verdict {
                device,
                measured,
                why,
            })) => self.decide(key, device, measured, why),
            Outcome::Done(Err(error)) => self.decide_for_cpu(key, &error),
            Outcome::Running => {}
            Outcome::Lost => self.decide_for_cpu(key, &"the graphics device could not be prepared"),
        }
    }

    fn decide_for_cpu(&mut self, key: Key, why: &dyn std::fmt::Display) {
        let why = because("CPU", key.need.method, why);
        self.decide(key, None, None, why);
    }

    fn decide(
        &mut self,
        key: Key,
        device: Option<GpuDevice>,
        measured: Option<Measured>,
        why: String,
    ) {
        log::info!("{why}");
        let Some(worker) = self.stages.bound_worker(key.need) else {
            return;
        };
        let on_gpu = device.is_some();
        worker.set_device(device);
        self.devices
            .decided
            .retain(|decided| decided.key.need != key.need);
        let status = DeviceStatus {
            on_gpu,
            why,
            measured,
            lost: false,
        };
        self.devices.decided.push(Decided { key, status });
    }

    fn hear_of_losses(&mut self) {
        let faults: Vec<(Need, String)> = self.stages.faulty_devices();
        for (need, fault) in faults {
            let work = if need.method.has(Capability::Physics) {
                "with the simulation"
            } else {
                "moving the skin"
            };
            self.tell(Level::Warning, format!("The CPU goes on {work}: {fault}."));
            if let Some(decided) = self
                .devices
                .decided
                .iter_mut()
                .find(|decided| decided.key.need == need)
            {
                let why = because("CPU", need.method, &fault);
                decided.status = DeviceStatus {
                    on_gpu: false,
                    why,
                    measured: decided.status.measured,
                    lost: true,
                };
            }
        }
    }
}
