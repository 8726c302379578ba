//! A render target with all buffers of one picture, so that several can be drawn in one submission.

use super::colormap::encoded;
use super::frame::{FrameUniform, StyleUniform};
use super::overlay::{ColorVertex, OverlayLine};
use super::renderer::Renderer;
use super::scene::linear_from_srgb;
use crate::gpu::{GpuContext, GpuError, GrowBuffer, read_rgba};

/// Format of the finished picture.
pub const COLOR_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// The same bytes without sRGB decoding, as egui requires.
pub const GAMMA_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
pub(super) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
pub(super) const OCCLUSION_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::R8Unorm;
pub(super) const SAMPLES: u32 = 4;

/// An offscreen picture with its depth, multisampling and ambient occlusion.
#[derive(Debug)]
pub struct RenderTarget {
    size: [u32; 2],
    color: wgpu::Texture,
    gamma_view: wgpu::TextureView,
    pub(super) views: AttachmentViews,
    pub(super) frame: GrowBuffer<FrameUniform>,
    pub(super) styles: wgpu::Buffer,
    pub(super) frame_group: wgpu::BindGroup,
    pub(super) light_group: wgpu::BindGroup,
    pub(super) occlusion_group: wgpu::BindGroup,
    pub(super) blur_group: wgpu::BindGroup,
    pub(super) lines: GrowBuffer<OverlayLine>,
    pub(super) triangles: GrowBuffer<ColorVertex>,
}

/// Attachments of the passes.
#[derive(Debug)]
pub(super) struct AttachmentViews {
    pub resolved: wgpu::TextureView,
    pub multisampled: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    pub eye_depth: wgpu::TextureView,
    pub rough: wgpu::TextureView,
    pub smooth: wgpu::TextureView,
}

/// Maximum number of meshes in one picture: each needs one slot of the style buffer.
pub(super) const MAX_MESHES: usize = 64;

impl RenderTarget {
    /// A picture of this size, clamped to the device's limits and at least 1 pixel.
    #[must_use]
    pub fn new(renderer: &Renderer, width: u32, height: u32) -> Self {
        let gpu = renderer.gpu();
        let limit = gpu.device.limits().max_texture_dimension_2d;
        let size = [width.clamp(1, limit), height.clamp(1, limit)];
        let half = size.map(|s| s.div_ceil(2));
        let color = texture(
            gpu,
            "picture",
            size,
            COLOR_FORMAT,
            1,
            wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::TEXTURE_BINDING,
        );
        let plain = |label, size, format, samples| {
            let usage = if samples == 1 {
                wgpu::TextureUsages::TEXTURE_BINDING
            } else {
                wgpu::TextureUsages::empty()
            };
            texture(gpu, label, size, format, samples, usage)
                .create_view(&wgpu::TextureViewDescriptor::default())
        };
        let views = AttachmentViews {
            resolved: color.create_view(&wgpu::TextureViewDescriptor::default()),
            multisampled: plain("multisampled", size, COLOR_FORMAT, SAMPLES),
            depth: plain("depth", size, DEPTH_FORMAT, SAMPLES),
            eye_depth: plain("eye depth", half, DEPTH_FORMAT, 1),
            rough: plain("occlusion", half, OCCLUSION_FORMAT, 1),
            smooth: plain("smooth occlusion", half, OCCLUSION_FORMAT, 1),
        };
        // If a texture supports only one format, colours are slightly pale.
        let gamma = wgpu::TextureViewDescriptor {
            format: has_two_formats(gpu).then_some(GAMMA_FORMAT),
            ..Default::default()
        };
        let styles = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("styles"),
            size: u64::from(style_stride(gpu)) * MAX_MESHES as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let frame = GrowBuffer::new(&gpu.device, "frame", wgpu::BufferUsages::UNIFORM, 1);
        Self {
            size,
            gamma_view: color.create_view(&gamma),
            frame_group: renderer.frame_group(&frame, &styles),
            light_group: renderer.light_group(&views),
            occlusion_group: renderer.occlusion_group(&views),
            blur_group: renderer.blur_group(&views),
            lines: GrowBuffer::new(&gpu.device, "lines", wgpu::BufferUsages::VERTEX, 256),
            triangles: GrowBuffer::new(&gpu.device, "triangles", wgpu::BufferUsages::VERTEX, 256),
            color,
            views,
            frame,
            styles,
        }
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The finished picture as sRGB bytes, not decoded on sampling: for `egui_wgpu`'s `register_native_texture`.
    #[must_use]
    pub(crate) fn gamma_view(&self) -> &wgpu::TextureView {
        &self.gamma_view
    }

    /// Reads the finished picture back, with premultiplied alpha where the background is
    /// transparent. Waits for all earlier submissions.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn read(&self, gpu: &GpuContext) -> Result<image::RgbaImage, GpuError> {
        read_rgba(gpu, &self.color)
    }
}

/// Converts premultiplied alpha to straight alpha, for files: light was accumulated premultiplied,
/// then encoded as sRGB.
pub fn straighten_alpha(image: &mut image::RgbaImage) {
    for pixel in image.pixels_mut().filter(|pixel| pixel[3] < 255) {
        let alpha = f32::from(pixel[3]) / 255.0;
        if alpha <= 0.0 {
            pixel.0 = [0; 4];
            continue;
        }
        let [r, g, b] =
            linear_from_srgb([pixel[0], pixel[1], pixel[2]]).map(|light| encoded(light / alpha));
        pixel.0 = [r, g, b, pixel[3]];
    }
}

/// Stride of styles in their buffer.
pub(super) fn style_stride(gpu: &GpuContext) -> u32 {
    (size_of::<StyleUniform>() as u32)
        .next_multiple_of(gpu.device.limits().min_uniform_buffer_offset_alignment)
}

fn has_two_formats(gpu: &GpuContext) -> bool {
    gpu.adapter
        .get_downlevel_capabilities()
        .flags
        .contains(wgpu::DownlevelFlags::VIEW_FORMATS)
}

pub(super) fn texture(
    gpu: &GpuContext,
    label: &str,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
    sample_count: u32,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: if format == COLOR_FORMAT && sample_count == 1 && has_two_formats(gpu) {
            &[GAMMA_FORMAT]
        } else {
            &[]
        },
    })
}
