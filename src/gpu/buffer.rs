//! Buffers that are written every frame.

use std::marker::PhantomData;

/// A typed buffer that is written as a whole and reallocated only when the data outgrow it.
#[derive(Debug)]
pub struct GrowBuffer<T> {
    label: &'static str,
    usage: wgpu::BufferUsages,
    buffer: wgpu::Buffer,
    len: usize,
    element: PhantomData<T>,
}

impl<T: bytemuck::Pod> GrowBuffer<T> {
    /// A buffer with a capacity of `capacity` elements (at least one).
    #[must_use]
    pub fn new(
        device: &wgpu::Device,
        label: &'static str,
        usage: wgpu::BufferUsages,
        capacity: usize,
    ) -> Self {
        let usage = usage | wgpu::BufferUsages::COPY_DST;
        Self {
            label,
            usage,
            buffer: create::<T>(device, label, usage, capacity),
            len: 0,
            element: PhantomData,
        }
    }

    /// Writes `data` from the start. Returns whether the buffer was reallocated and bind groups must be recreated.
    pub fn write(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, data: &[T]) -> bool {
        self.write_parts(device, queue, [data])
    }

    /// Writes consecutive parts without gathering them first; otherwise like [`GrowBuffer::write`]. The size of an element
    /// must be a multiple of 4 bytes.
    pub(crate) fn write_parts<'a>(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        parts: impl IntoIterator<Item = &'a [T], IntoIter: Clone>,
    ) -> bool
    where
        T: 'a,
    {
        let parts = parts.into_iter();
        let len: usize = parts.clone().map(<[T]>::len).sum();
        let grows = (len * size_of::<T>()) as u64 > self.buffer.size();
        if grows {
            self.buffer = create::<T>(device, self.label, self.usage, len.next_power_of_two());
        }
        let mut offset = 0;
        for bytes in parts
            .filter(|part| !part.is_empty())
            .map(bytemuck::cast_slice::<T, u8>)
        {
            queue.write_buffer(&self.buffer, offset, bytes);
            offset += bytes.len() as u64;
        }
        self.len = len;
        grows
    }

    /// Whether the last write was empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer itself.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

fn create<T>(
    device: &wgpu::Device,
    label: &'static str,
    usage: wgpu::BufferUsages,
    capacity: usize,
) -> wgpu::Buffer {
    let size = (capacity.max(1) * size_of::<T>()).next_multiple_of(4) as u64;
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size,
        usage,
        mapped_at_creation: false,
    })
}
