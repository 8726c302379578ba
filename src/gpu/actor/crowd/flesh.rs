//! The simulated flesh of a crowd.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::error::{CrowdError, unfit_error};
use crate::dynamics::State;
use crate::gpu::GpuContext;
use crate::gpu::actor::GpuModel;
use crate::gpu::compute::Dispatch;
use crate::gpu::flesh::solve::BoundSolver;
use crate::gpu::flesh::{FleshState, FleshStep, StatisticsReader};
use crate::gpu::surface::{Base, Simulated};
use crate::math::{Affine, Vec3};
use crate::methods::{Actor, PoseStepper, SettledState, SkinError};
use crate::progress::Progress;

/// Steps per submission; a frame with more makes more submissions.
pub(super) const STEPS: usize = 4;

/// State of all instances and the passes over it.
pub(super) struct CrowdFlesh {
    model: Arc<GpuModel>,
    pub state: FleshState,
    /// Owns the vectors that the dispatches in `step` use.
    _solver: BoundSolver,
    step: FleshStep,
    base: Base,
    /// Settles instances that start again.
    prototype: Actor,
    /// The last pose that one instance was settled in: if all instances take another pose at once, all are in the same.
    settled: Option<(Vec<u64>, SettledState)>,
    /// Empty until the first frame.
    steppers: Vec<PoseStepper>,
    statistics_reader: StatisticsReader,
    /// Steps that are prepared but not submitted.
    pub queued: usize,
    /// Time that is not simulated yet, s.
    pending_secs: f64,
    /// The submission after which each instance's state was set; statistics of earlier submissions are ignored.
    placed: Vec<u64>,
    /// Number of instances that were settled again since the crowd was created, because they diverged or jumped.
    pub recovered: usize,
}

impl CrowdFlesh {
    pub fn new(
        gpu: &GpuContext,
        model: Arc<GpuModel>,
        prototype: Actor,
        instances: usize,
    ) -> Result<Self, CrowdError> {
        let state = FleshState::new(gpu, &model.flesh, instances as u32)
            .map_err(|error| unfit_error(&error))?;
        let solver = model
            .solver
            .on(gpu, instances, state.right_hand_side(), state.increment());
        let step = FleshStep::new(gpu, &model.flesh, &state, solver.dispatches());
        let base = model
            .base
            .on(gpu, state.base(), instances, STEPS)
            .map_err(|error| unfit_error(&error))?;
        let statistics_reader = StatisticsReader::new(gpu, &state);
        Ok(Self {
            model,
            state,
            _solver: solver,
            step,
            base,
            prototype,
            settled: None,
            steppers: Vec::new(),
            statistics_reader,
            queued: 0,
            pending_secs: 0.0,
            placed: vec![0; instances],
            recovered: 0,
        })
    }

    pub fn simulated(&self) -> Simulated<'_> {
        let stride = self.state.dims().row_stride as usize;
        Simulated {
            positions: self.state.positions(),
            velocities: Some(self.state.velocities()),
            stride,
        }
    }

    /// Passes of a step, including the base.
    pub fn passes(&self) -> usize {
        1 + self.step.dispatches().len()
    }

    /// Bytes uploaded per step.
    pub(crate) fn bytes_per_step(&self) -> usize {
        self.base.bytes_per_step()
    }

    /// Whether the next frame starts at rest.
    pub fn begins(&self) -> bool {
        self.steppers.is_empty()
    }

    /// Puts all instances at rest in these poses. Each distinct pose is settled once.
    pub fn begin(
        &mut self,
        gpu: &GpuContext,
        (poses, places): (&[Vec<Affine>], &[Vec3]),
        progress: &Progress,
    ) -> Result<(), CrowdError> {
        let keys: Vec<Vec<u64>> = poses.iter().map(|pose| bits(pose)).collect();
        let different = keys.iter().collect::<HashSet<_>>().len();
        let mut known: HashMap<&[u64], SettledState> = HashMap::new();
        let mut steppers = Vec::with_capacity(poses.len());
        for (instance, (pose, key)) in poses.iter().zip(&keys).enumerate() {
            if !known.contains_key(&key[..]) {
                progress.check()?;
                progress.report(
                    known.len() as f32 / different as f32,
                    &format!("Settling {} of {different}", known.len() + 1),
                );
                known.insert(key, settle(&mut self.prototype, pose, instance)?);
            }
            let Some(settled) = known.get(&key[..]) else {
                continue;
            };
            self.place(gpu, instance, &settled.state, &places[instance])?;
            steppers.push(settled.stepper.clone());
        }
        self.steppers = steppers;
        (self.pending_secs, self.queued) = (0.0, 0);
        Ok(())
    }

    /// Sets the state of one instance; `state` is that of the prototype at the origin.
    pub fn place(
        &mut self,
        gpu: &GpuContext,
        instance: usize,
        state: &State,
        offset: &Vec3,
    ) -> Result<(), CrowdError> {
        let moved = State {
            position: state.position.iter().map(|p| p + offset).collect(),
            base: state.base.iter().map(|p| p + offset).collect(),
            ..state.clone()
        };
        self.state
            .upload(gpu, instance as u32, &moved)
            .map_err(|error| unfit_error(&error))?;
        if let Some(placed) = self.placed.get_mut(instance) {
            *placed = self.statistics_reader.submissions();
        }
        Ok(())
    }

    /// Settles one instance again in its pose; the others are not affected.
    fn recover(
        &mut self,
        gpu: &GpuContext,
        instance: usize,
        pose: &[Affine],
        offset: &Vec3,
    ) -> Result<(), CrowdError> {
        log::debug!("character {instance} of the crowd begins anew");
        let key = bits(pose);
        let settled = match self.settled.take().filter(|(known, _)| *known == key) {
            Some((_, settled)) => settled,
            None => settle(&mut self.prototype, pose, instance)?,
        };
        self.place(gpu, instance, &settled.state, offset)?;
        let stepper = settled.stepper.clone();
        self.settled = Some((key, settled));
        // Pending steps use the instance's current pose, so that it does not move in them.
        for step in 0..self.queued {
            self.base.set_moved(step, instance, stepper.frame(), offset);
        }
        self.steppers[instance] = stepper;
        self.recovered += 1;
        Ok(())
    }

    /// Prepares the steps of a frame; `submit` is called when there are too many for one submission. Returns the simulated
    /// time between the last step and the frame, s.
    pub fn advance(
        &mut self,
        gpu: &GpuContext,
        (poses, places): (&[Vec<Affine>], &[Vec3]),
        dt_secs: f64,
        mut submit: impl FnMut(&mut Self),
    ) -> Result<f32, CrowdError> {
        let set: Vec<_> = self
            .steppers
            .par_iter_mut()
            .zip(poses)
            .map(|(stepper, pose)| stepper.set_target(pose))
            .collect();
        for (instance, set) in set.into_iter().enumerate() {
            set.map_err(|source| CrowdError::Pose { instance, source })?;
        }
        for instance in self.broken(gpu)? {
            self.recover(gpu, instance, &poses[instance], &places[instance])?;
        }
        let params = self
            .prototype
            .projective()
            .map(|flesh| *flesh.simulation().params())
            .unwrap_or_default();
        let step_secs = params.time_step_secs;
        let earlier = self.pending_secs;
        self.pending_secs += dt_secs;
        let steps = ((self.pending_secs + 1e-9) / step_secs).floor() as u32;
        for k in 1..=steps {
            if self.queued == STEPS {
                submit(self);
            }
            let t = ((f64::from(k) * step_secs - earlier) / dt_secs).clamp(0.0, 1.0);
            let stepped: Vec<bool> = self
                .steppers
                .par_iter_mut()
                .map(|stepper| stepper.step_to(t))
                .collect();
            for (instance, stepped) in stepped.into_iter().enumerate() {
                if !stepped {
                    self.recover(gpu, instance, &poses[instance], &places[instance])?;
                }
            }
            let Self { base, steppers, .. } = self;
            base.set_all(self.queued, |instance| {
                (steppers[instance].frame(), places[instance])
            });
            self.queued += 1;
        }
        self.pending_secs -= f64::from(steps) * step_secs;
        Ok((self.pending_secs * params.simulated_step_secs() / step_secs) as f32)
    }

    /// Instances whose state is reported as not finite.
    fn broken(&mut self, gpu: &GpuContext) -> Result<Vec<usize>, CrowdError> {
        let watched = self.statistics_reader.poll(gpu)?;
        let broken: Vec<usize> = (0..watched.len())
            .filter(|&instance| watched[instance].broken != 0)
            .collect();
        let last_received = self.statistics_reader.last_received();
        Ok(broken
            .into_iter()
            .filter(|&instance| last_received > self.placed[instance])
            .collect())
    }

    /// The passes of the prepared steps, after uploading their inputs.
    pub fn dispatches(&self, gpu: &GpuContext) -> impl Iterator<Item = &Dispatch> {
        self.base.upload(gpu, self.queued);
        (0..self.queued).flat_map(|step| {
            self.base
                .step(step)
                .into_iter()
                .chain(self.step.dispatches())
        })
    }

    /// Encodes the readback of statistics.
    pub(crate) fn encode_readback(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.statistics_reader.copy(encoder, &self.state);
    }

    pub fn submitted(&mut self) {
        self.statistics_reader.submitted();
        self.queued = 0;
    }

    /// The model with the constants.
    pub fn model(&self) -> &GpuModel {
        &self.model
    }
}

fn settle(
    prototype: &mut Actor,
    pose: &[Affine],
    instance: usize,
) -> Result<SettledState, CrowdError> {
    let settled = prototype
        .settled_in(pose)
        .map_err(|source| CrowdError::Pose { instance, source })?;
    settled.ok_or(CrowdError::Pose {
        instance,
        source: SkinError::Diverged,
    })
}

/// Bits that are equal for equal poses.
fn bits(pose: &[Affine]) -> Vec<u64> {
    pose.iter()
        .flat_map(|joint| joint.matrix().iter().map(|number| number.to_bits()))
        .collect()
}
