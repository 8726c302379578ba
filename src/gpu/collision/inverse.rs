//! The dense inverse of a system's matrix, computed by the device's own solver.

use super::layout::{ColumnDims, ROWS};
use crate::gpu::compute::{Kernel, storage, uniform_of, workgroups};
use crate::gpu::flesh::solve::{GlobalSolver, row_stride};
use crate::gpu::{GpuContext, shader};

/// Upper bound for the inverse on any device.
const MOST_BYTES: u64 = 2 << 30;
/// Instances of the solver in a batch; each solves for three columns.
const BATCH: usize = 128;

/// Whether the inverse for this number of rows fits on the device.
pub(super) fn fits(gpu: &GpuContext, rows: usize) -> bool {
    let limits = gpu.device.limits();
    let bytes = (rows * rows * size_of::<f32>()) as u64;
    bytes
        <= limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            .min(MOST_BYTES)
}

/// P⁻¹ row by row. Submits the work, and does not wait for it.
pub(super) fn inverse(gpu: &GpuContext, solver: &GlobalSolver, rows: usize) -> wgpu::Buffer {
    let instances = BATCH
        .min(solver.most_instances(gpu))
        .min(rows.div_ceil(3))
        .max(1);
    let stride = row_stride(rows);
    let vectors = || storage::<[f32; 4]>(gpu, "columns of an inverse", instances * stride);
    let (units, solved) = (vectors(), vectors());
    let inverse = storage::<f32>(gpu, "inverse", rows * rows);
    let bound = solver.on(gpu, instances, &units, &solved);
    let kernel = |entry| Kernel::new(gpu, &shader::COLLISION_INVERSE, entry, &[]);
    let (write, take) = (kernel("write_units"), kernel("take_columns"));
    let groups = [workgroups(stride, ROWS), instances as u32, 1];
    for first in (0..rows).step_by(3 * instances) {
        let dims = ColumnDims {
            rows: rows as u32,
            row_stride: stride as u32,
            first: first as u32,
            instances: instances as u32,
        };
        let dims = uniform_of(gpu, "columns", &dims);
        let begin = write.on(gpu, &[(0, &dims), (1, &units)], groups);
        let end = take.on(gpu, &[(0, &dims), (2, &solved), (3, &inverse)], groups);
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("inverse"),
            });
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("inverse"),
                timestamp_writes: None,
            });
            for dispatch in [&begin].into_iter().chain(bound.dispatches()).chain([&end]) {
                dispatch.encode(&mut pass);
            }
        }
        gpu.queue.submit([encoder.finish()]);
    }
    inverse
}
