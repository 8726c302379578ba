//! Chooses the device that simulates or skins each view, in the background, for every character and method.
//!
//! A worker starts on the CPU. Once a device is ready for its character and parameters, it continues there from the present state. When
//! character or parameters change, the CPU takes over until the device is ready again, so that a slider never waits. (Methods that do not
//! simulate have no parameters.) After a device loss the CPU takes over too; the device is tried again when there is a new one, or on
//! the user's request.

use std::sync::Arc;

use super::JobContext;
use super::stages::DerivedStages;
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::gpu::actor::{
    DeviceChoice, DeviceDecision, GpuDevice, Measured, because, decide_device, without_measuring,
};
use crate::methods::{Actor, BindError, Capability, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::session::job::{Job, JobState};
use crate::session::views::Need;
use crate::session::{Document, Level, View};

/// Inputs of a decision: while they are equal, it stays valid.
#[derive(Clone)]
struct DecisionKey {
    need: Need,
    made: DeviceBasis,
    choice: DeviceChoice,
    /// Counter of devices and retries.
    round: u64,
}

impl PartialEq for DecisionKey {
    fn eq(&self, other: &Self) -> bool {
        let of = |key: &Self| (key.need, key.choice, key.round);
        of(self) == of(other) && self.made == other.made
    }
}

/// What a device's data is made for; it is valid for nothing else.
#[derive(Clone)]
struct DeviceBasis {
    subject: Arc<Subject>,
    /// Parameters and factors, for methods that simulate.
    physics: Option<(Params, FleshFactors)>,
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

/// The device that simulates or skins a view.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    /// Whether it is the graphics device.
    pub on_gpu: bool,
    /// Reason, one sentence.
    pub why: String,
    /// The measurements behind the decision.
    pub measured: Option<Measured>,
    /// The device was lost and can be tried again.
    pub lost: bool,
}

struct Decided {
    key: DecisionKey,
    status: DeviceStatus,
}

/// What a device is being prepared for.
type Deciding = (DecisionKey, Job<Result<DeviceDecision, BindError>>);

/// The available devices and the decisions.
#[derive(Default)]
pub struct Devices {
    choice: DeviceChoice,
    gpu: Option<GpuContext>,
    round: u64,
    job: Option<Deciding>,
    decided: Vec<Decided>,
}

/// What device data has to be made for, from the present document.
fn made_for(document: &Document, need: Need) -> Option<DeviceBasis> {
    let physics = || {
        (
            Params {
                budget_ms: None,
                ..*document.params_of(need.variant)
            },
            document.flesh.factors(),
        )
    };
    Some(DeviceBasis {
        subject: document.subject.as_ref()?.weighted(need.weights),
        physics: need.method.has(Capability::Physics).then(physics),
        values: document.method_values_of(need.variant).of(need.method),
    })
}

impl Devices {
    /// Where to simulate and skin. Not part of the document.
    #[must_use]
    pub fn choice(&self) -> DeviceChoice {
        self.choice
    }

    /// Sets where to simulate and skin from now on.
    pub fn choose(&mut self, choice: DeviceChoice) {
        self.choice = choice;
    }

    /// Retries a lost device, and measures again.
    pub fn retry(&mut self) {
        self.round += 1;
    }

    /// The device that simulates or skins a view; `None` until that is decided.
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

    /// Sets the device that draws. Returns whether it changed.
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

    /// Decides for all that is shown, one after the other; not during a drag.
    pub(in crate::session) fn follow(
        &mut self,
        stages: &DerivedStages,
        context: &mut JobContext<'_>,
    ) {
        self.note_losses(stages, context);
        self.take_decision(stages, context.document);
        if context.passing {
            return;
        }
        // A temporary stand-in gets no device.
        let mut needs = context.views.needs();
        needs.retain(|need| stages.live_needs().any(|live| live == *need));
        self.decided
            .retain(|decided| needs.contains(&decided.key.need));
        let (choice, round) = (self.choice, self.round);
        let mut keys = needs.iter().filter_map(|&need| {
            Some(DecisionKey {
                need,
                made: made_for(context.document, need)?,
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
            None => self.start_deciding(stages, key, context),
        }
    }

    fn start_deciding(
        &mut self,
        stages: &DerivedStages,
        key: DecisionKey,
        context: &JobContext<'_>,
    ) {
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
            let (params, factors) = physics.unwrap_or_default();
            let mut actor = Actor::bind_with(&subject, need.method, &params, &values, progress)?;
            actor.set_factors(&factors)?;
            progress.check()?;
            Ok(decide_device(choice, Ok(&gpu), &mut actor))
        };
        match Job::start(
            "Preparing the graphics device".to_owned(),
            context.waker.cloned(),
            work,
        ) {
            Ok(job) => self.job = Some((key, job)),
            Err(error) => {
                let why = format_args!("no thread could be started ({error})");
                self.decide_for_cpu(stages, key, &why);
            }
        }
    }

    fn take_decision(&mut self, stages: &DerivedStages, document: &Document) {
        let Some((_, job)) = &self.job else {
            return;
        };
        let outcome = job.poll();
        if matches!(outcome, JobState::Running) {
            return;
        }
        let Some((key, _)) = self.job.take() else {
            return;
        };
        if made_for(document, key.need).is_none_or(|made| made != key.made) {
            return;
        }
        match outcome {
            JobState::Done(Ok(DeviceDecision {
                device,
                measured,
                why,
            })) => self.decide(stages, key, device, measured, why),
            JobState::Done(Err(error)) => self.decide_for_cpu(stages, key, &error),
            JobState::Running => {}
            JobState::Lost => {
                self.decide_for_cpu(stages, key, &"the graphics device could not be prepared");
            }
        }
    }

    fn decide_for_cpu(
        &mut self,
        stages: &DerivedStages,
        key: DecisionKey,
        why: &dyn std::fmt::Display,
    ) {
        let why = because("CPU", key.need.method, why);
        self.decide(stages, key, None, None, why);
    }

    fn decide(
        &mut self,
        stages: &DerivedStages,
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

    fn note_losses(&mut self, stages: &DerivedStages, context: &mut JobContext<'_>) {
        for (need, fault) in stages.faulty_devices() {
            let work = if need.method.has(Capability::Physics) {
                "with the simulation"
            } else {
                "moving the skin"
            };
            context.add_message(
                Level::Warning,
                format!("The CPU continues {work}: {fault}."),
            );
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
