//! Materials on the device: colour, texture with mip maps.

use std::collections::HashMap;
use std::sync::Arc;

use wgpu::util::DeviceExt;

use super::frame::MaterialUniform;
use super::scene::linear_from_srgb;
use crate::character::{Image, Material};
use crate::gpu::GpuContext;

/// A material ready to draw with.
#[derive(Debug, Clone)]
pub(super) struct GpuMaterial {
    pub bind_group: wgpu::BindGroup,
    /// Has holes: must be sampled even where only depth is drawn.
    pub cutout: bool,
    /// See-through: drawn after all solid parts.
    pub blended: bool,
}

/// Uploads materials of a character; the last entry of the result is the one for meshes without any.
pub(super) fn upload(gpu: &GpuContext, layout: &wgpu::BindGroupLayout, materials: &[Material]) -> Vec<GpuMaterial> {
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
    let white = Arc::new(Image { width: 1, height: 1, rgba: vec![255; 4] });
    let mut views: HashMap<*const Image, wgpu::TextureView> = HashMap::new();
    let mut view_of = |image: &Arc<Image>| views.entry(Arc::as_ptr(image)).or_insert_with(|| texture(gpu, image)).clone();
    let mut make = |material: Option<&Material>| {
        let image = material.and_then(|m| m.base_color_image.as_ref()).filter(|image| is_sound(image));
        let uniform = MaterialUniform {
            base_color: material.map_or([1.0; 4], |m| m.base_color),
            params: [
                material.and_then(|m| m.alpha_cutoff).unwrap_or(-1.0),
                f32::from(u8::from(image.is_some())),
                f32::from(u8::from(material.is_some_and(|m| shows_colour(m, image.is_some())))),
                0.0,
            ],
        };
        let buffer = gpu.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("material"),
            contents: bytemuck::bytes_of(&uniform),
            usage: wgpu::BufferUsages::UNIFORM,
        });
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("material"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: buffer.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&view_of(image.unwrap_or(&white))) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(&sampler) },
            ],
        });
        let cutout = material.is_some_and(|m| m.alpha_cutoff.is_some());
        GpuMaterial { bind_group, cutout, blended: !cutout && material.is_some_and(|m| m.base_color[3] < 1.0) }
    };
    let mut all: Vec<_> = materials.iter().map(|material| make(Some(material))).collect();
    all.push(make(None));
    all
}

/// A material that says nothing (plain white, no texture) is drawn as clay.
fn shows_colour(material: &Material, textured: bool) -> bool {
    textured || material.base_color.iter().any(|c| (c - 1.0).abs() > 1e-3)
}

fn is_sound(image: &Image) -> bool {
    image.width > 0 && image.height > 0 && image.rgba.len() as u64 == u64::from(image.width) * u64::from(image.height) * 4
}

fn texture(gpu: &GpuContext, image: &Image) -> wgpu::TextureView {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let mut levels = mip_levels(image);
    let skip = levels.iter().position(|level| level.width.max(level.height) <= limit).unwrap_or(levels.len() - 1);
    levels.drain(..skip);
    let data: Vec<u8> = levels.iter().flat_map(|level| level.rgba.iter().copied()).collect();
    let descriptor = wgpu::TextureDescriptor {
        label: Some("base colour"),
        size: wgpu::Extent3d { width: levels[0].width, height: levels[0].height, depth_or_array_layers: 1 },
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    let texture = gpu.device.create_texture_with_data(&gpu.queue, &descriptor, wgpu::util::TextureDataOrder::MipMajor, &data);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// The picture and its halvings down to one pixel; colours are averaged as light, weighted by opacity so that what is hidden in
/// transparent pixels does not bleed.
fn mip_levels(image: &Image) -> Vec<Image> {
    let linear: Vec<f32> = (0..=255_u8).map(|v| linear_from_srgb([v; 3])[0]).collect();
    let mut levels = vec![image.clone()];
    while let Some(last) = levels.last().filter(|last| last.width > 1 || last.height > 1) {
        levels.push(halved(last, &linear));
    }
    levels
}

fn halved(image: &Image, linear: &[f32]) -> Image {
    let (width, height) = ((image.width / 2).max(1), (image.height / 2).max(1));
    let mut rgba = Vec::with_capacity((width * height * 4) as usize);
    for y in 0..height {
        for x in 0..width {
            let mut sum = [0.0_f32; 4];
            for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                let (sx, sy) = ((2 * x + dx).min(image.width - 1), (2 * y + dy).min(image.height - 1));
                let at = ((sy * image.width + sx) * 4) as usize;
                let alpha = f32::from(image.rgba[at + 3]) + 0.01;
                for c in 0..3 {
                    sum[c] += linear[image.rgba[at + c] as usize] * alpha;
                }
                sum[3] += alpha;
            }
            rgba.extend((0..3).map(|c| srgb_from_linear(sum[c] / sum[3])));
            rgba.push((sum[3] / 4.0).min(255.0) as u8);
        }
    }
    Image { width, height, rgba }
}

fn srgb_from_linear(v: f32) -> u8 {
    let srgb = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (srgb * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mip_of_one_colour_has_that_colour() {
        let image = Image { width: 5, height: 3, rgba: [200, 30, 90, 255].repeat(15) };
        let levels = mip_levels(&image);
        assert_eq!(levels.iter().map(|l| (l.width, l.height)).collect::<Vec<_>>(), [(5, 3), (2, 1), (1, 1)]);
        for level in levels {
            assert!(level.rgba.chunks(4).all(|p| p == [200, 30, 90, 255]), "{level:?}");
        }
    }
}
