//! The studio's painter on the window: its pictures become textures of egui.

use egui::TextureId;

pub use crate::studio::painter::{
    Comparison, GpuPainter, NoPainter, NoTextures, Painted, PainterOn, Picture, PicturesWaker,
    Textures, ThreadPainter, ViewportPainter,
};

use crate::app::surface::WindowSurface;
use crate::render::Renderer;

/// egui's id of a picture's texture.
#[must_use]
pub fn texture_of(painted: &Painted) -> TextureId {
    TextureId::User(painted.texture)
}

/// What draws the pictures of a window.
pub enum WindowPainter {
    /// The window's device.
    Device(Box<GpuPainter>),
    /// A device on a thread: for software renderers, which would hold up the window.
    Thread(Box<ThreadPainter>),
}

impl WindowPainter {
    /// A painter with the shaders compiled. `waker` is called when pictures of a thread are finished.
    #[must_use]
    pub fn of(surface: &WindowSurface, waker: PicturesWaker) -> Self {
        if surface.gpu().is_software() {
            match ThreadPainter::start(surface.gpu(), waker) {
                Ok(painter) => return Self::Thread(Box::new(painter)),
                Err(error) => log::warn!("pictures are drawn with the window: {error}"),
            }
        }
        Self::Device(Box::new(GpuPainter::with(Renderer::new(surface.gpu()))))
    }

    /// Starts a pass. Returns the painter with its texture registry.
    pub fn begin_pass<'a>(
        &'a mut self,
        surface: &'a mut WindowSurface,
    ) -> Box<dyn ViewportPainter + 'a> {
        match self {
            Self::Device(painter) => Box::new(painter.on(surface)),
            Self::Thread(painter) => {
                painter.begin_pass(surface);
                Box::new(painter.on(surface))
            }
        }
    }

    /// Ends a pass. Returns whether pictures of it are still to be drawn.
    pub fn end_pass(&mut self) -> bool {
        match self {
            Self::Device(_) => false,
            Self::Thread(painter) => painter.end_pass(),
        }
    }
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
