//! Contacts that the CPU finds for flesh on the device: where the device has no room for the tables of its own detection
//! ([`crate::gpu::collision`]), or where only precomputed pairs around the joints may touch.
//!
//! Contacts are detected on the CPU, as in the thesis (3.2.5): the state of the last step is read back (64 bytes per
//! vertex), the CPU predicts the start of this step, detects contacts there, and uploads them with their matrix. Between two
//! frames of a display this costs no time; when frames are requested without pause, each waits for one readback.

use std::time::{Duration, Instant};

use super::{GpuModel, lost_error};
use crate::dynamics::{State, StepContacts};
use crate::gpu::GpuContext;
use crate::gpu::compute::Dispatch;
use crate::gpu::flesh::{ContactKernel, ContactKernelBuffers, FleshState, FleshStep};
use crate::gpu::waiting::{PendingMap, request_map, wait};
use crate::math::Point;
use crate::methods::{Colliding, DeviceError};

/// Resources of steps with contacts.
pub(super) struct ContactSteps {
    press: ContactKernel,
    buffers: ContactKernelBuffers,
    /// A step with contacts; created at the first contact.
    step: Option<FleshStep>,
    /// Number of contacts of the step that is prepared or in flight.
    contacts: usize,
    /// Predicted start of the next step, if known; kept so that nothing is allocated.
    known: State,
    is_known: bool,
    /// Contact loads of the last step.
    loads: Vec<f32>,
    under_way: Option<(wgpu::Buffer, PendingMap)>,
    encoded: Option<wgpu::Buffer>,
    free: Vec<wgpu::Buffer>,
    predicted: Vec<Point>,
}

impl ContactSteps {
    pub(super) fn new(gpu: &GpuContext, state: &FleshState) -> Self {
        Self {
            press: ContactKernel::new(gpu),
            buffers: ContactKernelBuffers::new(gpu, state.dims().row_stride, 1),
            step: None,
            contacts: 0,
            known: State::default(),
            is_known: false,
            loads: Vec::new(),
            under_way: None,
            encoded: None,
            free: Vec::new(),
            predicted: Vec::new(),
        }
    }

    /// Another state was set: the readback in flight is obsolete.
    pub(super) fn set_state(&mut self, state: Option<&State>) {
        self.is_known = state.is_some();
        if let Some(state) = state {
            self.known.clone_from(state);
        }
        (self.under_way, self.encoded, self.contacts) = (None, None, 0);
    }

    /// Detects the contacts of the next step over this base. Waits for the state after the last step. Returns the time that
    /// the uploads took.
    pub(super) fn prepare(
        &mut self,
        model: &GpuModel,
        state: &FleshState,
        solve: &[Dispatch],
        colliding: Colliding<'_>,
    ) -> Result<Duration, DeviceError> {
        let Colliding { base, finder } = colliding;
        let gpu = &model.gpu;
        if self.decode_next(model, state)? {
            finder.end_contacts(&self.known.position, &self.loads);
        }
        if !self.is_known {
            self.known = state.download(gpu, 0).map_err(|error| lost_error(&error))?;
            self.is_known = true;
        }
        self.known
            .predict_into(model.flesh.equations(), base, &mut self.predicted);
        // A state that is not finite has no contacts here; the frame report shows it.
        let is_sound = self.predicted.iter().all(|p| (p.x + p.y + p.z).is_finite());
        let step_contacts = if is_sound {
            finder.begin_contacts(&self.predicted)
        } else {
            StepContacts::Empty
        };
        let start = Instant::now();
        self.contacts = match step_contacts {
            StepContacts::Empty => 0,
            StepContacts::Contacts(problem)
                if ContactKernelBuffers::fits(gpu, problem.contacts.len(), 1) =>
            {
                let buffers = &mut self.buffers;
                let write = || buffers.write(gpu, 0, &problem, model.flesh.row_of_vertex());
                if gpu.attempt(write).map_err(|error| lost_error(&error))? {
                    self.step = None;
                }
                problem.contacts.len()
            }
            // The finder's own state is never stepped.
            StepContacts::Contacts(_) | StepContacts::TooMany => return Err(DeviceError::Crowded),
        };
        self.is_known = false;
        state
            .move_base(gpu, 0, base)
            .map_err(|error| lost_error(&error))?;
        if self.contacts > 0 && self.step.is_none() {
            let Self { press, buffers, .. } = self;
            self.step = Some(FleshStep::with_contacts(
                gpu,
                &model.flesh,
                state,
                solve,
                press,
                buffers,
            ));
        }
        Ok(start.elapsed())
    }

    /// The dispatches of the prepared step; `plain` are those without contacts.
    pub(super) fn dispatches<'a>(&'a self, plain: &'a FleshStep) -> &'a [Dispatch] {
        self.step
            .as_ref()
            .filter(|_| self.contacts > 0)
            .unwrap_or(plain)
            .dispatches()
    }

    /// Encodes the readback for the next step.
    pub(super) fn copy(
        &mut self,
        gpu: &GpuContext,
        encoder: &mut wgpu::CommandEncoder,
        state: &FleshState,
    ) {
        let (kept, loads) = (
            state.kept_bytes(),
            (self.contacts * size_of::<f32>()) as u64,
        );
        let fits = |buffer: &wgpu::Buffer| buffer.size() >= kept + loads;
        let buffer = self.free.pop().filter(fits).unwrap_or_else(|| {
            let size = kept + (loads.next_power_of_two().max(1024));
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("state for contacts"),
                size,
                usage,
                mapped_at_creation: false,
            })
        });
        state.keep(encoder, &buffer, 0);
        if loads > 0 {
            encoder.copy_buffer_to_buffer(self.buffers.loads(), 0, &buffer, kept, loads);
        }
        self.encoded = Some(buffer);
    }

    /// Must be called after the encoded commands were submitted.
    pub(super) fn submitted(&mut self) {
        if let Some(buffer) = self.encoded.take() {
            let answer = request_map(&buffer);
            self.under_way = Some((buffer, answer));
        }
    }

    /// Decodes the state in flight and the loads of its contacts. Returns whether there was one.
    fn decode_next(&mut self, model: &GpuModel, state: &FleshState) -> Result<bool, DeviceError> {
        let Some((buffer, answer)) = self.under_way.take() else {
            return Ok(false);
        };
        wait(&model.gpu, &answer).map_err(|error| lost_error(&error))?;
        let mapped = buffer
            .get_mapped_range(..)
            .map_err(|error| lost_error(&error))?;
        let (kept, loads) = mapped.split_at(state.kept_bytes() as usize);
        state.decode(kept, &mut self.known);
        self.is_known = true;
        self.loads.clear();
        let loads = loads.chunks_exact(size_of::<f32>()).take(self.contacts);
        self.loads
            .extend(loads.map(bytemuck::pod_read_unaligned::<f32>));
        drop(mapped);
        buffer.unmap();
        self.free.push(buffer);
        Ok(true)
    }
}
