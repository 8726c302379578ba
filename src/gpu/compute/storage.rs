//! Buffers for compute passes.

use wgpu::util::DeviceExt;

use crate::gpu::GpuContext;

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// A storage buffer of zeros with room for `count` elements, at least one.
#[must_use]
pub fn storage<T>(gpu: &GpuContext, label: &'static str, count: usize) -> wgpu::Buffer {
    let size = (count.max(1) * size_of::<T>()).next_multiple_of(16) as u64;
    gpu.device.create_buffer(&wgpu::BufferDescriptor { label: Some(label), size, usage: STORAGE, mapped_at_creation: false })
}

/// A storage buffer with these elements; with one of zeros where there are none.
#[must_use]
pub fn storage_of<T: bytemuck::NoUninit>(gpu: &GpuContext, label: &'static str, data: &[T]) -> wgpu::Buffer {
    filled(gpu, label, bytemuck::cast_slice(data), STORAGE)
}

/// A uniform buffer with this value.
#[must_use]
pub fn uniform_of<T: bytemuck::NoUninit>(gpu: &GpuContext, label: &'static str, data: &T) -> wgpu::Buffer {
    filled(gpu, label, bytemuck::bytes_of(data), wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)
}

fn filled(gpu: &GpuContext, label: &'static str, bytes: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    // A buffer of no bytes can't be bound.
    let contents = if bytes.is_empty() { &[0; 16] } else { bytes };
    gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: Some(label), contents, usage })
}
