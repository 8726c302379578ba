//! A time step as a list of dispatches.

use super::contact_kernel::{ContactKernel, ContactKernelBuffers};
use super::kernels::{Kernels, Pass, PassBuffers};
use super::layout::IterationUniform;
use super::model::FleshModel;
use super::state::FleshState;
use crate::gpu::GpuContext;
use crate::gpu::compute::{Dispatch, uniform_of};

/// Passes of a step that handle its contacts.
pub(in crate::gpu) struct ContactPasses<'a> {
    /// The contacts, for the energy of accelerated iterations.
    pub(in crate::gpu) buffers: &'a ContactKernelBuffers,
    /// Before the prediction: they change the base.
    pub(in crate::gpu) place: Vec<Dispatch>,
    /// After it: they find the contacts.
    pub(in crate::gpu) find: Vec<Dispatch>,
    /// After every global step: they add the contact forces.
    pub(in crate::gpu) correct: Vec<Dispatch>,
    /// At the end of the step.
    pub(in crate::gpu) end: Vec<Dispatch>,
}

/// A time step of all instances of a state: created once, encoded every step.
#[derive(Debug)]
pub struct FleshStep {
    dispatches: Vec<Dispatch>,
}

impl FleshStep {
    /// A step with these dispatches as its global solve: they solve P Δ = b for b in [`FleshState::right_hand_side`] and Δ
    /// in [`FleshState::increment`].
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        model: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
    ) -> Self {
        Self::build(gpu, model, state, solve, None)
    }

    /// A step with contacts from the CPU: every global step is solved without contact forces, then again with them.
    #[must_use]
    pub fn with_contacts(
        gpu: &GpuContext,
        model: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
        press: &ContactKernel,
        contacts: &ContactKernelBuffers,
    ) -> Self {
        let pressing = press.on(gpu, contacts, state);
        let passes = ContactPasses {
            buffers: contacts,
            place: Vec::new(),
            find: Vec::new(),
            correct: [&[pressing], solve].concat(),
            end: Vec::new(),
        };
        Self::build(gpu, model, state, solve, Some(passes))
    }

    /// A step with these passes for its contacts.
    #[must_use]
    pub(in crate::gpu) fn with_passes(
        gpu: &GpuContext,
        model: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
        contacts: ContactPasses<'_>,
    ) -> Self {
        Self::build(gpu, model, state, solve, Some(contacts))
    }

    fn build(
        gpu: &GpuContext,
        model: &FleshModel,
        state: &FleshState,
        solve: &[Dispatch],
        contacts: Option<ContactPasses<'_>>,
    ) -> Self {
        let Kernels {
            predict,
            local,
            gather,
            finish,
            accelerated,
        } = &model.kernels;
        let iterations = model.equations().iterations.max(1);
        let turn = |iteration| {
            uniform_of(
                gpu,
                "flesh turn",
                &IterationUniform {
                    iteration,
                    unused_a: 0,
                    unused_b: 0,
                    unused_c: 0,
                },
            )
        };
        let of_contacts = contacts.as_ref().map(|contacts| contacts.buffers);
        let on = |passes: &[&Pass], turn: &wgpu::Buffer| -> Vec<Dispatch> {
            passes
                .iter()
                .map(|pass| {
                    pass.on(
                        gpu,
                        PassBuffers {
                            model,
                            state,
                            contacts: of_contacts,
                            turn,
                        },
                    )
                })
                .collect()
        };
        let is_touching = contacts.is_some();
        let (place, find, correct, end) = contacts.map_or_else(Default::default, |contacts| {
            (
                contacts.place,
                contacts.find,
                contacts.correct,
                contacts.end,
            )
        });
        let global = [solve, &correct].concat();
        let mut dispatches = place;
        dispatches.extend(on(&[predict], &turn(0)));
        dispatches.extend(find);
        for iteration in 0..iterations {
            let turn = turn(iteration);
            dispatches.extend(match accelerated {
                Some(kernels) if iteration > 0 => {
                    let local = if is_touching {
                        &kernels.touching
                    } else {
                        &kernels.local
                    };
                    on(&[&kernels.mix, local, &kernels.gather], &turn)
                }
                _ => on(&[local, gather], &turn),
            });
            dispatches.extend_from_slice(&global);
            if iteration + 1 == iterations {
                dispatches.extend(on(&[finish], &turn));
            } else if let Some(kernels) = accelerated {
                dispatches.extend(on(&[&kernels.record], &turn));
            }
        }
        dispatches.extend(end);
        Self { dispatches }
    }

    /// All dispatches, in order.
    #[must_use]
    pub fn dispatches(&self) -> &[Dispatch] {
        &self.dispatches
    }

    /// Encodes the step into an open compute pass.
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        for dispatch in &self.dispatches {
            dispatch.encode(pass);
        }
    }

    /// Runs the step in its own pass and submission. Does not wait.
    pub fn run(&self, gpu: &GpuContext) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("flesh step"),
            });
        self.encode(
            &mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("flesh step"),
                timestamp_writes: None,
            }),
        );
        gpu.queue.submit([encoder.finish()]);
    }
}
