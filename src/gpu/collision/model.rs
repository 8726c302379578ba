//! What detection needs of a character.

use std::sync::Arc;

use super::inverse;
use super::layout::{CollisionDims, PUSHED_ROWS, WEDGES};
use super::pack;
use crate::collision::CollisionBody;
use crate::dynamics::Contacts;
use crate::gpu::GpuContext;
use crate::gpu::compute::{Kernel, storage_of, uniform_of, workgroups};
use crate::gpu::flesh::solve::GlobalSolver;
use crate::gpu::flesh::{ContactKernel, FleshModel};
use crate::gpu::shader::{self, ShaderSource};

/// Tables, kernels and the inverse of a character.
#[derive(Debug)]
pub struct CollisionModel {
    pub(super) body: Arc<CollisionBody>,
    pub(super) row_of_vertex: Vec<u32>,
    pub(super) dims: CollisionDims,
    pub(super) uniform: wgpu::Buffer,
    pub(super) tables: wgpu::Buffer,
    table_words: usize,
    pub(super) planes: usize,
    pub(super) inverse: wgpu::Buffer,
    pub(super) kernels: Kernels,
}

#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) separate: Kernel,
    pub(super) pose: Kernel,
    pub(super) boxes: Kernel,
    pub(super) hits: Kernel,
    pub(super) refresh: Kernel,
    pub(super) list: Kernel,
    pub(super) matrix: Kernel,
    pub(super) push: Kernel,
    pub(super) end: Kernel,
    pub(super) press: ContactKernel,
}

impl CollisionModel {
    /// Packs the tables, uploads them, and computes the inverse. `None` if the device has no room for that.
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        contacts: &Contacts,
        flesh: &FleshModel,
        solver: &GlobalSolver,
    ) -> Option<Self> {
        let row_of_vertex = flesh.row_of_vertex();
        let rows = row_of_vertex.len();
        if !inverse::fits(gpu, rows) || contacts.body().vertices() != rows {
            return None;
        }
        let (dims, words) = pack::pack(contacts, row_of_vertex);
        let limits = gpu.device.limits();
        let bytes = size_of_val(&words[..]) as u64;
        let groups = [
            workgroups(dims.triangles as usize, WEDGES),
            workgroups(rows, PUSHED_ROWS),
        ];
        if bytes
            > limits
                .max_storage_buffer_binding_size
                .min(limits.max_buffer_size)
            || groups
                .iter()
                .any(|&groups| groups > limits.max_compute_workgroups_per_dimension)
        {
            return None;
        }
        Some(Self {
            body: contacts.body().clone(),
            row_of_vertex: row_of_vertex.to_vec(),
            uniform: uniform_of(gpu, "dims of contacts", &dims),
            tables: storage_of(gpu, "tables of contacts", &words),
            table_words: words.len(),
            planes: contacts.body().posed_planes(&[]).count(),
            inverse: inverse::inverse(gpu, solver, rows),
            kernels: Kernels::new(gpu),
            dims,
        })
    }

    /// Bytes of tables and inverse.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.inverse.size() + (self.table_words * size_of::<u32>()) as u64
    }
}

impl Kernels {
    fn new(gpu: &GpuContext) -> Self {
        let kernel = |source: &ShaderSource, entry| Kernel::new(gpu, source, entry, &[]);
        Self {
            separate: kernel(&shader::COLLISION_SEPARATE, "separate"),
            pose: kernel(&shader::COLLISION_POSE, "pose"),
            boxes: kernel(&shader::COLLISION_BOXES, "boxes_of_patches"),
            hits: kernel(&shader::COLLISION_HITS, "find_hits"),
            refresh: kernel(&shader::COLLISION_REFRESH, "refresh"),
            list: kernel(&shader::COLLISION_LIST, "list_contacts"),
            matrix: kernel(&shader::COLLISION_MATRIX, "assemble"),
            push: kernel(&shader::COLLISION_PUSH, "push"),
            end: kernel(&shader::COLLISION_END, "end_contacts"),
            press: ContactKernel::new(gpu),
        }
    }
}
