//! Reading a picture back from the device.

use super::waiting::{lost_error, request_map, wait};
use super::{GpuContext, GpuError};

/// Copies an 8-bit RGBA texture into an image. Waits for all work submitted before.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub fn read_rgba(gpu: &GpuContext, texture: &wgpu::Texture) -> Result<image::RgbaImage, GpuError> {
    let (width, height) = (texture.width(), texture.height());
    let row = width * 4;
    let padded_row = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("readback"),
        size: u64::from(padded_row) * u64::from(height),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("readback"),
        });
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(padded_row),
        rows_per_image: None,
    };
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout,
        },
        wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
    );
    gpu.queue.submit([encoder.finish()]);

    wait(gpu, &request_map(&buffer))?;
    let mapped = buffer
        .get_mapped_range(..)
        .map_err(|error| lost_error(&error))?;
    let mut pixels = Vec::with_capacity((row * height) as usize);
    for line in mapped.chunks_exact(padded_row as usize) {
        pixels.extend_from_slice(&line[..row as usize]);
    }
    image::RgbaImage::from_raw(width, height, pixels).ok_or_else(|| GpuError::Readback {
        reason: "the picture is incomplete".into(),
    })
}
