//! Materials on the device: colour, texture with mip maps.

use std::collections::HashMap;
use std::sync::Arc;

use wgpu::util::DeviceExt;

use super::frame::MaterialUniform;
use crate::character::{Image, Material};
use crate::gpu::GpuContext;

/// A material ready for drawing.
#[derive(Debug, Clone)]
pub(super) struct GpuMaterial {
    pub bind_group: wgpu::BindGroup,
    /// Has alpha cutout: must be sampled in depth-only passes too.
    pub cutout: bool,
    /// Transparent: drawn after all opaque parts.
    pub blended: bool,
}

/// Uploads materials of a character; the last entry of the result is for meshes without a material.
pub(super) fn upload(
    gpu: &GpuContext,
    layout: &wgpu::BindGroupLayout,
    materials: &[Material],
) -> Vec<GpuMaterial> {
    let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("base colour"),
        address_mode_u: wgpu::AddressMode::Repeat,
        address_mode_v: wgpu::AddressMode::Repeat,
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        anisotropy_clamp: 8,
        ..Default::default()
    });
    let white = Arc::new(Image::new(1, 1, vec![255; 4]));
    let mut views: HashMap<(*const Image, bool), wgpu::TextureView> = HashMap::new();
    let mut view_of = |image: &Arc<Image>, is_data: bool| {
        views
            .entry((Arc::as_ptr(image), is_data))
            .or_insert_with(|| texture(gpu, image, is_data))
            .clone()
    };
    let mut make = |material: Option<&Material>| {
        let image = material
            .and_then(|m| m.base_color_image.as_ref())
            .filter(|image| image.is_sound());
        let normals = material
            .and_then(|m| m.normal_map.as_ref())
            .filter(|map| map.image.is_sound());
        let uniform = MaterialUniform {
            base_color: material.map_or([1.0; 4], |m| m.base_color),
            params: [
                material.and_then(|m| m.alpha_cutoff).unwrap_or(-1.0),
                f32::from(u8::from(image.is_some())),
                f32::from(u8::from(material.is_some_and(|m| {
                    shows_colour(m, image.is_some() || normals.is_some())
                }))),
                normals.map_or(0.0, |map| map.scale),
            ],
        };
        let buffer = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("material"),
                contents: bytemuck::bytes_of(&uniform),
                usage: wgpu::BufferUsages::UNIFORM,
            });
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("material"),
            layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: buffer.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::TextureView(&view_of(
                        image.unwrap_or(&white),
                        false,
                    )),
                },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(&sampler),
                },
                wgpu::BindGroupEntry {
                    binding: 3,
                    resource: wgpu::BindingResource::TextureView(&view_of(
                        normals.map_or(&white, |map| &map.image),
                        true,
                    )),
                },
            ],
        });
        let cutout = material.is_some_and(|m| m.alpha_cutoff.is_some());
        GpuMaterial {
            bind_group,
            cutout,
            blended: !cutout && material.is_some_and(|m| m.base_color[3] < 1.0),
        }
    };
    let mut all: Vec<_> = materials
        .iter()
        .map(|material| make(Some(material)))
        .collect();
    all.push(make(None));
    all
}

/// A default material (plain white, no texture) is drawn as clay.
fn shows_colour(material: &Material, textured: bool) -> bool {
    textured || material.base_color.iter().any(|c| (c - 1.0).abs() > 1e-3)
}

fn texture(gpu: &GpuContext, image: &Image, is_data: bool) -> wgpu::TextureView {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    // The first mip level within the device's limit, and all smaller ones.
    let levels: Vec<&Image> = std::iter::once(image)
        .chain(&image.halvings)
        .skip_while(|level| level.width.max(level.height) > limit)
        .collect();
    let (width, height) = levels
        .first()
        .map_or((1, 1), |level| (level.width, level.height));
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("texture"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: levels.len().max(1) as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: if is_data {
            wgpu::TextureFormat::Rgba8Unorm
        } else {
            wgpu::TextureFormat::Rgba8UnormSrgb
        },
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, level) in (0..).zip(levels) {
        let to = wgpu::TexelCopyTextureInfo {
            texture: &texture,
            mip_level,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        };
        let rows = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(level.width * 4),
            rows_per_image: Some(level.height),
        };
        let size = wgpu::Extent3d {
            width: level.width,
            height: level.height,
            depth_or_array_layers: 1,
        };
        gpu.queue.write_texture(to, &level.rgba, rows, size);
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
