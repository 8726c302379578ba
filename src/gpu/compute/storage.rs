//! Buffers for compute passes.

use crate::gpu::GpuContext;

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// A zeroed storage buffer of `count` elements, at least one.
#[must_use]
pub fn storage<T>(gpu: &GpuContext, label: &'static str, count: usize) -> wgpu::Buffer {
    let size = (count.max(1) * size_of::<T>()).next_multiple_of(16) as u64;
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage: STORAGE,
        mapped_at_creation: false,
    })
}

/// A storage buffer with these elements, or with one zeroed element if there are none.
#[must_use]
pub fn storage_of<T: bytemuck::NoUninit>(
    gpu: &GpuContext,
    label: &'static str,
    data: &[T],
) -> wgpu::Buffer {
    if data.is_empty() {
        storage::<T>(gpu, label, 1)
    } else {
        filled(gpu, label, bytemuck::cast_slice(data), STORAGE)
    }
}

/// A uniform buffer with this value.
#[must_use]
pub fn uniform_of<T: bytemuck::NoUninit>(
    gpu: &GpuContext,
    label: &'static str,
    data: &T,
) -> wgpu::Buffer {
    filled(
        gpu,
        label,
        bytemuck::bytes_of(data),
        wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
    )
}

/// A buffer with these bytes, padded with zeros to a multiple of four. It is not mapped at creation: if memory runs out,
/// mapping would fail instead of reporting the error.
pub(in crate::gpu) fn filled(
    gpu: &GpuContext,
    label: &'static str,
    bytes: &[u8],
    usage: wgpu::BufferUsages,
) -> wgpu::Buffer {
    let size = (bytes.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
    let usage = usage | wgpu::BufferUsages::COPY_DST;
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    });
    let (whole, rest) =
        bytes.split_at(bytes.len() - bytes.len() % wgpu::COPY_BUFFER_ALIGNMENT as usize);
    gpu.queue.write_buffer(&buffer, 0, whole);
    if !rest.is_empty() {
        let mut last = [0; wgpu::COPY_BUFFER_ALIGNMENT as usize];
        last[..rest.len()].copy_from_slice(rest);
        gpu.queue.write_buffer(&buffer, whole.len() as u64, &last);
    }
    buffer
}
