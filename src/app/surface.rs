//! The window's surface: device, swap chain, and egui's painter.

use std::collections::HashMap;
use std::sync::Arc;

use egui::epaint::ImageDelta;
use egui::{ClippedPrimitive, Color32, TextureId, TexturesDelta};
use winit::window::Window;

use super::AppError;
use crate::gpu::GpuContext;

/// Everything that draws on one window.
pub struct WindowSurface {
    gpu: GpuContext,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    painter: egui_wgpu::Renderer,
}

/// egui's textures in their present state, for a new device: egui reports each change only once.
#[derive(Default)]
pub struct KeptTextures {
    /// For each the latest whole image and the changes since.
    deltas: HashMap<TextureId, Vec<ImageDelta>>,
}

impl KeptTextures {
    /// Records a change.
    pub fn note(&mut self, delta: &TexturesDelta) {
        for (id, deltas) in &delta.set {
            for delta in deltas {
                let kept = self.deltas.entry(*id).or_default();
                if delta.is_whole() {
                    kept.clear();
                }
                kept.push(delta.clone());
            }
        }
        for id in &delta.free {
            self.deltas.remove(id);
        }
    }
}

/// Result of presenting a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presented {
    /// The frame was presented.
    Shown,
    /// The surface was reconfigured: draw again.
    TryAgain,
    /// Nothing can be shown (minimised, covered).
    Hidden,
}

impl WindowSurface {
    /// A device for the window.
    ///
    /// # Errors
    /// [`AppError`], with the driver's message.
    pub fn new(
        display: winit::event_loop::OwnedDisplayHandle,
        window: Arc<Window>,
    ) -> Result<Self, AppError> {
        let descriptor =
            wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(display));
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance
            .create_surface(window.clone())
            .map_err(AppError::no_gpu)?;
        let gpu = GpuContext::for_surface(instance, &surface)?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
            .ok_or_else(|| AppError::no_gpu("the graphics adapter can't draw on this window"))?;
        config.format = egui_wgpu::preferred_framebuffer_format(
            &surface.get_capabilities(&gpu.adapter).formats,
        )
        .map_err(AppError::no_gpu)?;
        config.present_mode = wgpu::PresentMode::Fifo;
        surface.configure(&gpu.device, &config);
        let painter = egui_wgpu::Renderer::new(
            &gpu.device,
            config.format,
            egui_wgpu::RendererOptions::default(),
        );
        Ok(Self {
            gpu,
            window,
            surface,
            config,
            painter,
        })
    }

    /// Whether the device is lost: unplugged, reset by its driver, or out of memory. It cannot draw
    /// any more.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.gpu.is_lost()
    }

    /// Simulates a device loss, for tests.
    pub fn simulate_loss(&self) {
        self.gpu.simulate_loss();
    }

    /// Uploads the textures that egui uses to a new device.
    pub fn restore(&mut self, kept: &KeptTextures) {
        for (id, deltas) in &kept.deltas {
            for delta in deltas {
                self.painter
                    .update_texture(&self.gpu.device, &self.gpu.queue, *id, delta);
            }
        }
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &GpuContext {
        &self.gpu
    }

    /// egui's painter, to register textures with.
    pub fn painter_mut(&mut self) -> &mut egui_wgpu::Renderer {
        &mut self.painter
    }

    /// Maximum texture side, pixels.
    #[must_use]
    pub fn max_texture_side(&self) -> usize {
        self.gpu.device.limits().max_texture_dimension_2d as usize
    }

    /// Sets the window's size in pixels; a size of zero is applied later.
    pub fn resize(&mut self, width: u32, height: u32) {
        let limit = self.gpu.device.limits().max_texture_dimension_2d;
        let (width, height) = (width.min(limit), height.min(limit));
        if width > 0 && height > 0 && (width, height) != (self.config.width, self.config.height) {
            self.config.width = width;
            self.config.height = height;
            self.surface.configure(&self.gpu.device, &self.config);
        }
    }

    /// Draws one pass of egui over the colour `behind` and presents it.
    pub fn present(
        &mut self,
        primitives: &[ClippedPrimitive],
        mut textures: TexturesDelta,
        pixels_per_point: f32,
        behind: Color32,
    ) -> Presented {
        for (id, deltas) in textures.set.drain() {
            for delta in deltas {
                self.painter
                    .update_texture(&self.gpu.device, &self.gpu.queue, id, &delta);
            }
        }
        let presented = self.paint(primitives, pixels_per_point, behind);
        let freed: Vec<TextureId> = textures.free.drain().collect();
        for id in freed {
            self.painter.free_texture(&id);
        }
        presented
    }

    fn paint(
        &mut self,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
        behind: Color32,
    ) -> Presented {
        let size = self.window.inner_size();
        if size.width == 0 || size.height == 0 {
            return Presented::Hidden;
        }
        let (frame, suboptimal) = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) => (frame, false),
            wgpu::CurrentSurfaceTexture::Suboptimal(frame) => (frame, true),
            wgpu::CurrentSurfaceTexture::Outdated => {
                self.surface.configure(&self.gpu.device, &self.config);
                return Presented::TryAgain;
            }
            wgpu::CurrentSurfaceTexture::Lost => return self.recreate(),
            _ => return Presented::Hidden,
        };
        self.draw(&frame.texture, primitives, pixels_per_point, behind);
        self.window.pre_present_notify();
        self.gpu.queue.present(frame);
        if suboptimal {
            self.surface.configure(&self.gpu.device, &self.config);
        }
        Presented::Shown
    }

    /// Draws one pass of egui into a texture of the surface's size and format, and submits it.
    fn draw(
        &mut self,
        texture: &wgpu::Texture,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
        behind: Color32,
    ) {
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [self.config.width, self.config.height],
            pixels_per_point,
        };
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("window"),
            });
        let mut commands = self.painter.update_buffers(
            &self.gpu.device,
            &self.gpu.queue,
            &mut encoder,
            primitives,
            &screen,
        );
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let [r, g, b, _] = behind.to_normalized_gamma_f32().map(f64::from);
        let attachment = wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                store: wgpu::StoreOp::Store,
            },
        };
        let descriptor = wgpu::RenderPassDescriptor {
            label: Some("panels"),
            color_attachments: &[Some(attachment)],
            ..Default::default()
        };
        let mut pass = encoder.begin_render_pass(&descriptor).forget_lifetime();
        self.painter.render(&mut pass, primitives, &screen);
        drop(pass);
        commands.push(encoder.finish());
        self.gpu.queue.submit(commands);
    }

    /// Draws the last pass again, into a texture that can be read back. Does not wait.
    pub fn picture(
        &mut self,
        primitives: &[ClippedPrimitive],
        pixels_per_point: f32,
        behind: Color32,
    ) -> wgpu::Texture {
        let texture = self.gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture of the window"),
            size: wgpu::Extent3d {
                width: self.config.width,
                height: self.config.height,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: self.config.format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        self.draw(&texture, primitives, pixels_per_point, behind);
        texture
    }

    fn recreate(&mut self) -> Presented {
        match self.gpu.instance.create_surface(self.window.clone()) {
            Ok(surface) => {
                self.surface = surface;
                self.surface.configure(&self.gpu.device, &self.config);
                Presented::TryAgain
            }
            Err(error) => {
                log::error!("the window's surface is lost: {error}");
                Presented::Hidden
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::{ColorImage, ImageData, TextureOptions};

    use super::*;

    #[test]
    fn texture_updates_are_kept_since_the_last_full_one() {
        let image = |side: usize| ImageData::from(ColorImage::filled([side, side], Color32::WHITE));
        let whole = |side: usize| ImageDelta::full(image(side), TextureOptions::LINEAR);
        let part = || ImageDelta::partial([1, 1], image(1), TextureOptions::LINEAR);
        let id = TextureId::default();
        let mut kept = KeptTextures::default();
        let mut tell = |deltas: Vec<ImageDelta>, free: bool| {
            let mut told = TexturesDelta::default();
            for delta in deltas {
                told.set.entry(id).or_default().push(delta);
            }
            if free {
                told.free.insert(id);
            }
            kept.note(&told);
            kept.deltas.get(&id).map_or(0, Vec::len)
        };
        assert_eq!(tell(vec![whole(4)], false), 1);
        assert_eq!(tell(vec![part(), part()], false), 3);
        assert_eq!(tell(vec![whole(8), part()], false), 2);
        assert_eq!(tell(Vec::new(), true), 0);
    }
}
