//! Which device simulates what is shown, or moves its skin: decided in the background, for every character and method anew.
//!
//! A worker begins on the processor. Once a device is ready for its character and parameters, it takes over where the flesh is; when
//! either changes, the processor goes on until the device is ready again, so that a slider never waits. (Methods that don't simulate have
//! no parameters.) A device that is lost hands
//! over, too, and is tried again when there is a new one, or when the user says so.

use std::sync::Arc;

use super::Around;
use super::stages::Stages;
use crate::character::BoneMap;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::gpu::actor::{
    DeviceChoice, GpuDevice, Measured, Verdict, because, verdict, without_measuring,
};
use crate::methods::{Actor, BindError, Capability, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::session::job::{Job, Outcome};
use crate::session::views::Need;
use crate::session::{Document, Level, View};

/// What is decided on: what is equal needs no other decision.
#[derive(Clone)]
struct DecisionKey {
    need: Need,
    made: DeviceBasis,
    choice: DeviceChoice,
    /// Counts devices and retries.
    round: u64,
}

impl PartialEq for DecisionKey {
    fn eq(&self, other: &Self) -> bool {
        let of = |key: &Self| (key.need, key.choice, key.round);
        of(self) == of(other) && self.made == other.made
    }
}

/// What a device is made for; it would not do for anything else.
#[derive(Clone)]
struct DeviceBasis {
    subject: Arc<Subject>,
    /// Parameters and bones, for methods that simulate.
    physics: Option<(Params, BoneMap)>,
    /// The method's own parameters.
    values: ParamValues,
}

impl PartialEq for DeviceBasis {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.subject, &other.subject)
            && self.physics == other.physics
            && self.values == other.values
    }
}

/// What simulates what a view shows, or moves its skin.
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
    key: DecisionKey,
    status: DeviceStatus,
}

/// For what a device is being prepared.
type Deciding = (DecisionKey, Job<Result<Verdict, BindError>>);

/// The devices there are, and what was decided.
#[derive(Default)]
pub struct Devices {
    choice: DeviceChoice,
    gpu: Option<GpuContext>,
    round: u64,
    job: Option<Deciding>,
    decided: Vec<Decided>,
}

/// What a device for this has to be made for, as the document is now.
fn made_for(document: &Document, need: Need) -> Option<DeviceBasis> {
    let physics = || {
        (
            Params {
                budget_ms: None,
                ..document.params
            },
            document.flesh.bones.clone(),
        )
    };
    Some(DeviceBasis {
        subject: document.subject.as_ref()?.weighted(need.weights),
        physics: need.method.has(Capability::Physics).then(physics),
        values: document.method_values.of(need.method),
    })
}

impl Devices {
    /// Where to simulate and to move skins. No part of the document.
    #[must_use]
    pub fn choice(&self) -> DeviceChoice {
        self.choice
    }

    /// Has everything done there from now on.
    pub fn choose(&mut self, choice: DeviceChoice) {
        self.choice = choice;
    }

    /// Tries a device again that was lost, and measures again.
    pub fn retry(&mut self) {
        self.round += 1;
    }

    /// What simulates what a view shows, or moves its skin; nothing until that is decided.
    #[must_use]
    pub fn status_of(&self, view: &View) -> Option<&DeviceStatus> {
        let need = view.need();
        self.decided
            .iter()
            .find(|decided| decided.key.need == need)
            .map(|decided| &decided.status)
    }

    /// The device that draws.
    pub(in crate::session) fn gpu(&self) -> Option<&GpuContext> {
        self.gpu.as_ref()
    }

    /// Another device draws. Returns whether it is another one than before.
    pub(in crate::session) fn set_gpu(&mut self, gpu: Option<&GpuContext>) -> bool {
        let same = match (&self.gpu, gpu) {
            (Some(mine), Some(gpu)) => mine.is_same(gpu),
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.gpu = gpu.cloned();
            self.round += 1;
        }
        !same
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Decides for everything that is shown, one after the other. Not while the user drags.
    pub(in crate::session) fn follow(&mut self, stages: &Stages, around: &mut Around<'_>) {
        self.note_losses(stages, around);
        self.take_verdict(stages, around.document);
        if around.dragging {
            return;
        }
        // What only stands in until something else is bound is not worth a device.
        let mut needs = around.views.needs();
        needs.retain(|need| stages.live_needs().any(|live| live == *need));
        self.decided
            .retain(|decided| needs.contains(&decided.key.need));
        let (choice, round) = (self.choice, self.round);
        let mut keys = needs.iter().filter_map(|&need| {
            Some(DecisionKey {
                need,
                made: made_for(around.document, need)?,
                choice,
                round,
            })
        });
        let Some(key) = keys.find(|key| self.decided.iter().all(|decided| decided.key != *key))
        else {
            return;
        };
        if self
            .job
            .as_ref()
            .is_some_and(|(pending, _)| *pending == key)
        {
            return;
        }
        self.job = None;
        let gpu = self.gpu.as_ref().ok_or("there is no graphics device");
        match without_measuring(choice, gpu, key.need.method) {
            Some(why) => self.decide(stages, key, None, None, why),
            None => self.start_deciding(stages, key, around),
        }
    }

    fn start_deciding(&mut self, stages: &Stages, key: DecisionKey, around: &Around<'_>) {
        let Some(gpu) = self.gpu.clone() else {
            return;
        };
        let DecisionKey {
            need,
            choice,
            made:
                DeviceBasis {
                    subject,
                    physics,
                    values,
                },
            ..
        } = key.clone();
        let work = move |progress: &Progress| {
            let (params, bones) = physics.unwrap_or_default();
            let mut actor = Actor::bind_with(&subject, need.method, &params, &values, progress)?;
            actor.set_bones(&bones)?;
            progress.check()?;
            Ok(verdict(choice, Ok(&gpu), &mut actor))
        };
        match Job::start(
            "Preparing the graphics device".to_owned(),
            around.waker.cloned(),
            work,
        ) {
            Ok(job) => self.job = Some((key, job)),
            Err(error) => {
                let why = format_args!("no thread could be started ({error})");
                self.decide_for_cpu(stages, key, &why);
            }
        }
    }

    fn take_verdict(&mut self, stages: &Stages, document: &Document) {
        let Some((_, job)) = &self.job else {
            return;
        };
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            return;
        }
        let Some((key, _)) = self.job.take() else {
            return;
        };
        if made_for(document, key.need).is_none_or(|made| made != key.made) {
            return;
        }
        match outcome {
            Outcome::Done(Ok(Verdict {
                device,
                measured,
                why,
            })) => self.decide(stages, key, device, measured, why),
            Outcome::Done(Err(error)) => self.decide_for_cpu(stages, key, &error),
            Outcome::Running => {}
            Outcome::Lost => {
                self.decide_for_cpu(stages, key, &"the graphics device could not be prepared");
            }
        }
    }

    fn decide_for_cpu(&mut self, stages: &Stages, key: DecisionKey, why: &dyn std::fmt::Display) {
        let why = because("CPU", key.need.method, why);
        self.decide(stages, key, None, None, why);
    }

    fn decide(
        &mut self,
        stages: &Stages,
        key: DecisionKey,
        device: Option<GpuDevice>,
        measured: Option<Measured>,
        why: String,
    ) {
        log::info!("{why}");
        let Some(worker) = stages.bound_worker(key.need) else {
            return;
        };
        let on_gpu = device.is_some();
        worker.set_device(device);
        self.decided.retain(|decided| decided.key.need != key.need);
        let status = DeviceStatus {
            on_gpu,
            why,
            measured,
            lost: false,
        };
        self.decided.push(Decided { key, status });
    }

    fn note_losses(&mut self, stages: &Stages, around: &mut Around<'_>) {
        for (need, fault) in stages.faulty_devices() {
            let work = if need.method.has(Capability::Physics) {
                "with the simulation"
            } else {
                "moving the skin"
            };
            around.tell(Level::Warning, format!("The CPU goes on {work}: {fault}."));
            if let Some(decided) = self
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
