//! Reading numbers back from the device.

use crate::gpu::waiting::{lost_error, request_map, wait};
use crate::gpu::{GpuContext, GpuError};

/// Copies the first elements of a buffer. Waits for all work submitted before.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub fn fetch<T: bytemuck::Pod>(
    gpu: &GpuContext,
    buffer: &wgpu::Buffer,
    count: usize,
) -> Result<Vec<T>, GpuError> {
    fetch_from(gpu, buffer, 0, count)
}

/// Copies elements of a buffer from the one with number `first` on; their size must be a multiple of 4 bytes. Waits for all work
/// submitted before.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub fn fetch_from<T: bytemuck::Pod>(
    gpu: &GpuContext,
    buffer: &wgpu::Buffer,
    first: usize,
    count: usize,
) -> Result<Vec<T>, GpuError> {
    let offset = ((first * size_of::<T>()) as u64).min(buffer.size());
    let size = ((count * size_of::<T>()).next_multiple_of(4) as u64).min(buffer.size() - offset);
    if size == 0 {
        return Ok(Vec::new());
    }
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("numbers read back"),
        size,
        usage,
        mapped_at_creation: false,
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("read back"),
        });
    encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
    gpu.queue.submit([encoder.finish()]);
    wait(gpu, &request_map(&staging))?;
    let mapped = staging
        .get_mapped_range(..)
        .map_err(|error| lost_error(&error))?;
    let whole = mapped.len() / size_of::<T>();
    Ok(mapped
        .chunks_exact(size_of::<T>())
        .take(whole.min(count))
        .map(bytemuck::pod_read_unaligned)
        .collect())
}
