//! The studio's painter on the window: its pictures become textures of egui.

use egui::TextureId;

pub use crate::studio::painter::{
    Comparison, GpuPainter, NoPainter, NoTextures, Painted, PainterOn, Picture, Textures,
    ViewportPainter,
};

use crate::app::surface::WindowSurface;
use crate::render::Renderer;

/// egui's id of a picture's texture.
#[must_use]
pub fn texture_of(painted: &Painted) -> TextureId {
    TextureId::User(painted.texture)
}

/// A painter with the shaders compiled for the window's device.
#[must_use]
pub fn painter_of(surface: &WindowSurface) -> GpuPainter {
    GpuPainter::with(Renderer::new(surface.gpu()))
}

impl Textures for WindowSurface {
    fn register(&mut self, view: &wgpu::TextureView) -> u64 {
        let device = self.gpu().device.clone();
        let texture =
            self.painter_mut()
                .register_native_texture(&device, view, wgpu::FilterMode::Linear);
        // Textures from outside egui are numbered as the user's.
        let (TextureId::User(number) | TextureId::Managed(number)) = texture;
        number
    }

    fn replace(&mut self, texture: u64, view: &wgpu::TextureView) {
        let device = self.gpu().device.clone();
        self.painter_mut().update_egui_texture_from_wgpu_texture(
            &device,
            view,
            wgpu::FilterMode::Linear,
            TextureId::User(texture),
        );
    }

    fn free(&mut self, texture: u64) {
        self.painter_mut().free_texture(&TextureId::User(texture));
    }
}
