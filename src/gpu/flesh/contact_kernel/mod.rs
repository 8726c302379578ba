//! Contact forces on the device: one workgroup per instance solves for its contact loads.
//!
//! The contacts come from the device itself ([`crate::gpu::collision`]), or are detected on the CPU from the state at the start of
//! the step and uploaded with the matrix of the complementarity problem (a few hundred rows). One iteration is then: solve,
//! *press*, and the solve again with the contact forces, or a product of these with the inverse.
//!
//! | lifetime      | what                                                                      |
//! |---------------|---------------------------------------------------------------------------|
//! | per character | [`ContactKernel`]: the kernel                                                      |
//! | per state     | [`ContactKernelBuffers`]: contacts, matrix, loads; grow on demand                  |
//! | per step      | the arguments of [`ContactKernelBuffers::write`]                                   |
//!
//! # Departures
//! - The thesis adds contacts as a second matrix to the constant one (3.2.3) and solves the sum by conjugate gradients. The
//!   low-rank correction here works with both of our global solvers, keeps contacts one-sided within a solve, and leaves the
//!   matrix constant while pairs change.

use super::kernels::binding;
use super::state::FleshState;
use crate::dynamics::ContactEquations;
use crate::gpu::compute::{Dispatch, Kernel, storage, uniform_of};
use crate::gpu::{GpuContext, shader};

/// Maximum number of contacts of an instance; equal to the constant in `shaders/flesh/contacts.wgsl`.
pub const MOST_CONTACTS: usize = 2048;
/// Words in front of an instance's list of touched rows.
const HEADER: usize = 4;

/// `ContactKernelDims` of the shader.
#[expect(clippy::struct_field_names, reason = "they are strides")]
#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct ContactKernelDims {
    pub(crate) row_stride: u32,
    pub(crate) contact_stride: u32,
    pub(crate) matrix_stride: u32,
    pub(crate) spread_stride: u32,
}

/// `Contact` of the shader.
#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct KernelContact {
    pub(crate) rows: [u32; 4],
    pub(crate) weights: [f32; 4],
    pub(crate) normal_target: [f32; 4],
    pub(crate) stiffness: f32,
    /// Number of contacts of the instance; set in its first contact only.
    pub(crate) count: u32,
    /// Where the device keeps the contact between steps, if it found it.
    pub(crate) slot: u32,
    pub(crate) unused: u32,
}

/// The compiled kernel.
#[derive(Debug, Clone)]
pub struct ContactKernel {
    kernel: Kernel,
}

/// Contacts of all instances on the device.
#[derive(Debug)]
pub struct ContactKernelBuffers {
    dims: ContactKernelDims,
    instances: usize,
    uniform: wgpu::Buffer,
    contacts: wgpu::Buffer,
    matrix: wgpu::Buffer,
    spread: wgpu::Buffer,
    loads: wgpu::Buffer,
    /// Upload buffers, reused so that a step allocates nothing.
    staging: Staging,
}

#[derive(Debug, Default)]
struct Staging {
    contacts: Vec<KernelContact>,
    loads: Vec<f32>,
    spread: Vec<u32>,
    /// Row and direction, sorted.
    pushes: Vec<(u32, u32)>,
}

impl ContactKernel {
    /// Compiles the kernel unless the device's cache has it.
    #[must_use]
    pub fn new(gpu: &GpuContext) -> Self {
        Self {
            kernel: Kernel::new(gpu, &shader::FLESH_CONTACT_KERNEL, "press", &[]),
        }
    }

    /// Adds contact forces to a state's right-hand side, given the increment that was solved without them; also stores the
    /// contacts' energy.
    #[must_use]
    pub fn on(
        &self,
        gpu: &GpuContext,
        buffers: &ContactKernelBuffers,
        state: &FleshState,
    ) -> Dispatch {
        self.bind(
            gpu,
            buffers,
            [
                state.positions(),
                state.increment(),
                state.right_hand_side(),
                state.energies(),
            ],
        )
    }

    fn bind(
        &self,
        gpu: &GpuContext,
        buffers: &ContactKernelBuffers,
        [x, increment, b, energies]: [&wgpu::Buffer; 4],
    ) -> Dispatch {
        let ContactKernelBuffers {
            uniform,
            contacts,
            matrix,
            spread,
            loads,
            instances,
            ..
        } = buffers;
        let constants = [(0, uniform), (1, contacts), (2, matrix), (3, spread)];
        let bound = [(4, x), (5, increment), (6, loads), (7, b), (8, energies)];
        self.kernel.on(
            gpu,
            &[&constants[..], &bound].concat(),
            [1, *instances as u32, 1],
        )
    }
}

impl ContactKernelBuffers {
    /// Buffers without contacts for this number of instances and this row stride.
    #[must_use]
    pub fn new(gpu: &GpuContext, row_stride: u32, instances: usize) -> Self {
        let dims = ContactKernelDims {
            row_stride,
            contact_stride: 0,
            matrix_stride: 0,
            spread_stride: HEADER as u32,
        };
        Self::with(gpu, dims, instances, Staging::default())
    }

    fn with(gpu: &GpuContext, dims: ContactKernelDims, instances: usize, staging: Staging) -> Self {
        let room = |stride: u32| stride as usize * instances;
        Self {
            dims,
            instances,
            uniform: uniform_of(gpu, "contacts", &dims),
            contacts: storage::<KernelContact>(gpu, "contacts", room(dims.contact_stride)),
            matrix: storage::<f32>(gpu, "contact matrix", room(dims.matrix_stride)),
            spread: storage::<u32>(gpu, "touched rows", room(dims.spread_stride)),
            loads: storage::<f32>(gpu, "contact loads", room(dims.contact_stride)),
            staging,
        }
    }

    /// Buffers with room for this number of contacts of one instance, which the device finds itself.
    #[must_use]
    pub(in crate::gpu) fn with_room(gpu: &GpuContext, row_stride: u32, contacts: usize) -> Self {
        let dims = ContactKernelDims {
            row_stride,
            contact_stride: contacts as u32,
            matrix_stride: (contacts * contacts) as u32,
            spread_stride: HEADER as u32,
        };
        Self::with(gpu, dims, 1, Staging::default())
    }

    /// The contacts, the header in front of the touched rows, and the matrix.
    pub(in crate::gpu) fn found(&self) -> [&wgpu::Buffer; 3] {
        [&self.contacts, &self.spread, &self.matrix]
    }

    /// Contact loads after a step, [`ContactKernelBuffers::contact_stride`] per instance.
    #[must_use]
    pub fn loads(&self) -> &wgpu::Buffer {
        &self.loads
    }

    /// Capacity for contacts per instance.
    #[must_use]
    pub fn contact_stride(&self) -> usize {
        self.dims.contact_stride as usize
    }

    /// Whether the contacts fit into these buffers.
    #[must_use]
    pub fn fits(gpu: &GpuContext, contacts: usize, instances: usize) -> bool {
        let room = room_for(contacts);
        let bytes = (room * room * instances * size_of::<f32>()) as u64;
        let limits = gpu.device.limits();
        contacts <= MOST_CONTACTS
            && bytes
                <= limits
                    .max_storage_buffer_binding_size
                    .min(limits.max_buffer_size)
    }

    /// Writes the contacts of an instance; rows are found by vertex. Returns whether buffers were reallocated. If so, bind
    /// groups must be recreated and the contacts of all instances written again.
    pub fn write(
        &mut self,
        gpu: &GpuContext,
        instance: usize,
        problem: &ContactEquations<'_>,
        row_of_vertex: &[u32],
    ) -> bool {
        self.stage(problem, row_of_vertex);
        let grows = self.make_room(gpu, problem.contacts.len());
        let ContactKernelDims {
            contact_stride,
            matrix_stride,
            spread_stride,
            ..
        } = self.dims;
        let at = |stride: u32, size: usize| instance as u64 * u64::from(stride) * size as u64;
        let Staging {
            contacts,
            loads,
            spread,
            ..
        } = &self.staging;
        let queue = &gpu.queue;
        queue.write_buffer(
            &self.contacts,
            at(contact_stride, size_of::<KernelContact>()),
            bytemuck::cast_slice(contacts),
        );
        queue.write_buffer(
            &self.loads,
            at(contact_stride, size_of::<f32>()),
            bytemuck::cast_slice(loads),
        );
        queue.write_buffer(
            &self.matrix,
            at(matrix_stride, size_of::<f32>()),
            bytemuck::cast_slice(problem.matrix),
        );
        queue.write_buffer(
            &self.spread,
            at(spread_stride, size_of::<u32>()),
            bytemuck::cast_slice(spread),
        );
        grows
    }

    /// Clears the contacts of an instance.
    #[cfg(test)]
    pub(crate) fn clear(&mut self, gpu: &GpuContext, instance: usize) {
        let at = |stride: u32, size: usize| instance as u64 * u64::from(stride) * size as u64;
        let ContactKernelDims {
            contact_stride,
            spread_stride,
            ..
        } = self.dims;
        gpu.queue.write_buffer(
            &self.spread,
            at(spread_stride, size_of::<u32>()),
            bytemuck::cast_slice(&[0_u32; HEADER]),
        );
        let none = KernelContact::default();
        gpu.queue.write_buffer(
            &self.contacts,
            at(contact_stride, size_of::<KernelContact>()),
            bytemuck::bytes_of(&none),
        );
    }

    pub(super) fn buffer(&self, number: u32) -> Option<&wgpu::Buffer> {
        match number {
            binding::PRESS_DIMS => Some(&self.uniform),
            binding::CONTACTS => Some(&self.contacts),
            _ => None,
        }
    }

    fn stage(&mut self, problem: &ContactEquations<'_>, row_of_vertex: &[u32]) {
        let Staging {
            contacts,
            loads,
            spread,
            pushes,
        } = &mut self.staging;
        let row = |vertex: u32| row_of_vertex[vertex as usize];
        contacts.clear();
        contacts.extend(problem.contacts.iter().enumerate().map(|(k, contact)| {
            let [a, b, c] = contact.corners;
            let n = contact.normal;
            KernelContact {
                rows: [contact.vertex, a, b, c].map(row),
                weights: problem.weights[k],
                normal_target: [n.x, n.y, n.z, problem.target_gaps[k]],
                stiffness: 1.0 / problem.softness[k].max(f32::MIN_POSITIVE),
                ..KernelContact::default()
            }
        }));
        if let Some(first) = contacts.first_mut() {
            first.count = problem.contacts.len() as u32;
        }
        loads.clear();
        loads.extend(problem.contacts.iter().map(|contact| contact.load));
        pushes.clear();
        pushes.extend(
            contacts.iter().zip(0..).flat_map(|(contact, c)| {
                (0..4).map(move |k| (contact.rows[k as usize], 4 * c + k))
            }),
        );
        pushes.sort_unstable();
        let touched = pushes.chunk_by(|a, b| a.0 == b.0).count();
        spread.clear();
        spread.extend([
            contacts.len() as u32,
            touched as u32,
            problem.tolerance.to_bits(),
            0,
        ]);
        let mut next = (HEADER + 3 * touched) as u32;
        for of_row in pushes.chunk_by(|a, b| a.0 == b.0) {
            spread.extend([of_row[0].0, next, next + of_row.len() as u32]);
            next += of_row.len() as u32;
        }
        spread.extend(pushes.iter().map(|&(_, push)| push));
    }

    /// Reallocates buffers that are too small, with spare capacity, because contacts appear in groups.
    fn make_room(&mut self, gpu: &GpuContext, contacts: usize) -> bool {
        if contacts <= self.contact_stride() {
            return false;
        }
        let room = room_for(contacts);
        let dims = ContactKernelDims {
            contact_stride: room as u32,
            matrix_stride: (room * room) as u32,
            // At most four rows a contact.
            spread_stride: (HEADER + 4 * room * 4) as u32,
            ..self.dims
        };
        let staging = std::mem::take(&mut self.staging);
        *self = Self::with(gpu, dims, self.instances, staging);
        true
    }
}

/// Spare capacity, because contacts appear in groups.
fn room_for(contacts: usize) -> usize {
    contacts.next_power_of_two().clamp(64, MOST_CONTACTS)
}

#[cfg(test)]
mod tests;
