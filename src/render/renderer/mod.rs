//! Draws scenes.
//!
//! A picture consists of: shadow map (depth from the key light), depth from the eye at half size,
//! ambient occlusion and its blur, and one multisampled pass with everything visible. Unneeded
//! passes are skipped.

mod draw;
mod passes;
mod skins;

use std::sync::OnceLock;

use crate::gpu::{GpuContext, GpuError, GrowBuffer};
use crate::mesh::Bounds;
use crate::render::camera::Camera;
use crate::render::frame::{FrameUniform, SHADOW_SIZE, StyleUniform};
use crate::render::overlay::{Overlay, OverlayLayer};
use crate::render::pipelines::{CrowdPipelines, Layouts, Pipelines};
use crate::render::scene::{MeshDraw, MeshStyle, Scene};
use crate::render::target::{
    AttachmentViews, DEPTH_FORMAT, MAX_MESHES, OCCLUSION_FORMAT, RenderTarget, straighten_alpha,
    style_stride, texture,
};

use passes::depth_pass;
use skins::DepthViewpoint;

/// Depths below this are reserved for the front layers; the same constant is in
/// `shaders/common/frame.wgsl`.
const FRONT_RANGE: f32 = 0.1;

/// Side of the floor's shadow map, pixels.
const FLOOR_SHADOW_SIZE: u32 = 384;

/// Pipelines and the shadow map, shared by all pictures of a device.
#[derive(Debug)]
pub struct Renderer {
    gpu: GpuContext,
    layouts: Layouts,
    pipelines: Pipelines,
    /// Created when the first crowd is drawn; contains `None` if unsupported.
    crowd: OnceLock<Option<CrowdPipelines>>,
    shadow_map: wgpu::TextureView,
    shadow_sampler: wgpu::Sampler,
    shadow_group: wgpu::BindGroup,
    floor_shadow: wgpu::TextureView,
    floor_sampler: wgpu::Sampler,
}

/// The columns of pixels into which a scene is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PixelColumns {
    range: std::ops::Range<u32>,
    /// First draw into the picture.
    first: bool,
    /// Last draw into the picture.
    last: bool,
}

/// Start of each overlay in the shared buffers, by layer.
struct OverlayRanges {
    lines: [std::ops::Range<u32>; 4],
    triangles: [std::ops::Range<u32>; 4],
}

impl Renderer {
    /// Compiles all shaders.
    #[must_use]
    pub fn new(gpu: &GpuContext) -> Self {
        let layouts = Layouts::new(gpu);
        let pipelines = Pipelines::new(&gpu.device, &layouts);
        let usage = wgpu::TextureUsages::TEXTURE_BINDING;
        let shadow_map = texture(gpu, "shadow map", [SHADOW_SIZE; 2], DEPTH_FORMAT, 1, usage);
        let shadow_sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow map"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let shadow_map = shadow_map.create_view(&wgpu::TextureViewDescriptor::default());
        let shadow_group = group(
            gpu,
            "shadow map",
            &layouts.occlusion,
            [wgpu::BindingResource::TextureView(&shadow_map)],
        );
        let floor_shadow = texture(
            gpu,
            "floor shadow",
            [FLOOR_SHADOW_SIZE; 2],
            OCCLUSION_FORMAT,
            1,
            usage,
        );
        let floor_shadow = floor_shadow.create_view(&wgpu::TextureViewDescriptor::default());
        let floor_sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("floor shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        let crowd = OnceLock::new();
        Self {
            gpu: gpu.clone(),
            layouts,
            pipelines,
            crowd,
            shadow_map,
            shadow_sampler,
            shadow_group,
            floor_shadow,
            floor_sampler,
        }
    }

    /// Its device.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    pub(super) fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Draws a scene and submits it: a one-line wrapper around `Renderer::draw`.
    pub fn render(&self, target: &mut RenderTarget, camera: &Camera, scene: &Scene<'_>) {
        let columns = PixelColumns {
            range: 0..target.size()[0],
            first: true,
            last: true,
        };
        self.render_columns(target, camera, scene, &columns);
    }

    /// Encodes a scene, so that it can be submitted together with the passes that compute its
    /// shapes. One scene per target and submission.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &mut RenderTarget,
        camera: &Camera,
        scene: &Scene<'_>,
    ) {
        let columns = PixelColumns {
            range: 0..target.size()[0],
            first: true,
            last: true,
        };
        self.draw(encoder, target, camera, scene, &columns);
    }

    /// Draws two scenes side by side (wipe): `left` in the columns of pixels before `column`,
    /// `right` from there on.
    pub fn render_wiped(
        &self,
        target: &mut RenderTarget,
        camera: &Camera,
        left: &Scene<'_>,
        right: &Scene<'_>,
        column: u32,
    ) {
        let width = target.size()[0];
        let column = column.min(width);
        let parts = [(left, 0..column), (right, column..width)];
        let drawn: Vec<_> = parts
            .into_iter()
            .filter(|(_, range)| !range.is_empty())
            .collect();
        for (index, (scene, range)) in drawn.iter().enumerate() {
            let columns = PixelColumns {
                range: range.clone(),
                first: index == 0,
                last: index + 1 == drawn.len(),
            };
            self.render_columns(target, camera, scene, &columns);
        }
    }

    /// One submission per scene, because they share the target's buffers.
    fn render_columns(
        &self,
        target: &mut RenderTarget,
        camera: &Camera,
        scene: &Scene<'_>,
        columns: &PixelColumns,
    ) {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("scene"),
            });
        self.draw(&mut encoder, target, camera, scene, columns);
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// Draws a scene into an image, with straight alpha.
    ///
    /// # Errors
    /// [`GpuError::Size`] for a size beyond the device's limit, [`GpuError::Readback`] if the
    /// device was lost.
    pub fn render_to_image(
        &self,
        camera: &Camera,
        scene: &Scene<'_>,
        width: u32,
        height: u32,
    ) -> Result<image::RgbaImage, GpuError> {
        self.gpu.check_size(width, height)?;
        let mut target = RenderTarget::new(self, width, height);
        self.render(&mut target, camera, scene);
        let mut image = target.read(&self.gpu)?;
        if !scene.background.visible {
            straighten_alpha(&mut image);
        }
        Ok(image)
    }

    /// Encodes a scene. Meshes beyond the first 64 are omitted.
    fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &mut RenderTarget,
        camera: &Camera,
        scene: &Scene<'_>,
        columns: &PixelColumns,
    ) {
        let meshes: Vec<_> = scene
            .meshes
            .iter()
            .filter(|draw| draw.mesh.is_drawn())
            .take(MAX_MESHES)
            .collect();
        let casting: Vec<_> = meshes
            .iter()
            .copied()
            .filter(|draw| draw.style.casts)
            .collect();
        let seen = if casting.is_empty() {
            &meshes
        } else {
            &casting
        };
        let bounds = union(seen.iter().map(|draw| draw.mesh.bounds()));
        let frame = FrameUniform::new(camera, scene, &bounds, target.size());
        target
            .frame
            .write(&self.gpu.device, &self.gpu.queue, &[frame]);
        self.write_styles(target, &meshes);
        let ranges = self.write_overlays(target, &scene.overlays);
        if scene.shadows && !meshes.is_empty() {
            let mut pass = depth_pass(encoder, "shadows", &self.shadow_map);
            self.draw_depth(&mut pass, target, DepthViewpoint::FromLight, &casting);
            drop(pass);
            if scene.ground.is_some() {
                self.draw_coarse(
                    encoder,
                    target,
                    "floor shadow",
                    &self.floor_shadow,
                    (&self.pipelines.floor_shadow, &self.shadow_group),
                );
            }
        }
        if scene.occlusion && !meshes.is_empty() {
            self.draw_occlusion(encoder, target, &casting, camera, scene);
        }
        self.draw_picture(encoder, target, scene, (&meshes, &ranges), columns);
    }

    fn write_styles(&self, target: &RenderTarget, meshes: &[&MeshDraw<'_>]) {
        let stride = style_stride(&self.gpu) as usize;
        let mut bytes = vec![0; stride * meshes.len().max(1)];
        let plain = MeshStyle::default();
        let styles = meshes
            .iter()
            .map(|draw| &draw.style)
            .chain(meshes.is_empty().then_some(&plain));
        for (slot, style) in bytes.chunks_mut(stride).zip(styles) {
            slot[..size_of::<StyleUniform>()]
                .copy_from_slice(bytemuck::bytes_of(&StyleUniform::from(style)));
        }
        self.gpu.queue.write_buffer(&target.styles, 0, &bytes);
    }

    fn write_overlays(&self, target: &mut RenderTarget, overlays: &[&Overlay]) -> OverlayRanges {
        let of_layer = |layer: OverlayLayer| {
            overlays
                .iter()
                .filter(move |overlay| overlay.layer == layer)
        };
        let sorted = OverlayLayer::DRAW_ORDER.into_iter().flat_map(of_layer);
        let mut ranges = OverlayRanges {
            lines: Default::default(),
            triangles: Default::default(),
        };
        let (mut lines, mut triangles) = (0, 0);
        for (index, layer) in OverlayLayer::DRAW_ORDER.into_iter().enumerate() {
            let start = (lines, triangles);
            for overlay in of_layer(layer) {
                lines += overlay.lines().len() as u32;
                triangles += overlay.triangles().len() as u32;
            }
            ranges.lines[index] = start.0..lines;
            ranges.triangles[index] = start.1..triangles;
        }
        let (device, queue) = (&self.gpu.device, &self.gpu.queue);
        target
            .lines
            .write_parts(device, queue, sorted.clone().map(|overlay| overlay.lines()));
        target
            .triangles
            .write_parts(device, queue, sorted.map(|overlay| overlay.triangles()));
        ranges
    }

    pub(super) fn frame_group(
        &self,
        frame: &GrowBuffer<FrameUniform>,
        styles: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let style = wgpu::BufferBinding {
            buffer: styles,
            offset: 0,
            size: std::num::NonZeroU64::new(size_of::<StyleUniform>() as u64),
        };
        self.group(
            "frame",
            &self.layouts.frame,
            [
                frame.buffer().as_entire_binding(),
                wgpu::BindingResource::Buffer(style),
            ],
        )
    }

    pub(super) fn light_group(&self, views: &AttachmentViews) -> wgpu::BindGroup {
        let texture = wgpu::BindingResource::TextureView;
        let sampler = wgpu::BindingResource::Sampler(&self.shadow_sampler);
        let floor = wgpu::BindingResource::Sampler(&self.floor_sampler);
        let resources = [
            texture(&self.shadow_map),
            sampler,
            texture(&views.smooth),
            texture(&views.eye_depth),
            texture(&self.floor_shadow),
            floor,
        ];
        self.group("light", &self.layouts.light, resources)
    }

    pub(super) fn occlusion_group(&self, views: &AttachmentViews) -> wgpu::BindGroup {
        self.group(
            "occlusion",
            &self.layouts.occlusion,
            [wgpu::BindingResource::TextureView(&views.eye_depth)],
        )
    }

    pub(super) fn blur_group(&self, views: &AttachmentViews) -> wgpu::BindGroup {
        let texture = wgpu::BindingResource::TextureView;
        self.group(
            "occlusion blur",
            &self.layouts.blur,
            [texture(&views.eye_depth), texture(&views.rough)],
        )
    }

    fn group<const N: usize>(
        &self,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        resources: [wgpu::BindingResource<'_>; N],
    ) -> wgpu::BindGroup {
        group(&self.gpu, label, layout, resources)
    }
}

fn group<const N: usize>(
    gpu: &GpuContext,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}

fn union(all: impl Iterator<Item = Bounds>) -> Bounds {
    all.fold(Bounds::of([]), |a, b| Bounds {
        min: a.min.inf(&b.min),
        max: a.max.sup(&b.max),
    })
}
