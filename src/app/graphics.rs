//! The window's graphics device. If it is lost it is replaced; the rest of the program continues.

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use super::AppError;
use super::surface::{KeptTextures, WindowSurface};
use super::viewport::painter::{PicturesWaker, WindowPainter};
use crate::gpu::GpuContext;

/// Delay before another attempt to get a device.
const PAUSE: Duration = Duration::from_secs(1);
/// For tests of device loss: the device is lost after this many frames.
const LOSE: &str = "SINEW_LOSE_GPU_AFTER_FRAMES";

/// The surface with its painter, if there is a device.
pub(super) struct Graphics {
    window: Arc<Window>,
    waker: PicturesWaker,
    device: Option<(WindowSurface, WindowPainter)>,
    kept: KeptTextures,
    failed: Option<Instant>,
    /// Frames until the simulated device loss.
    lose_after: Option<u32>,
}

impl Graphics {
    /// Creates a device for the window. `waker` is called when pictures are finished on another thread.
    ///
    /// # Errors
    /// [`AppError`], with the driver's message.
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        window: Arc<Window>,
        waker: PicturesWaker,
    ) -> Result<Self, AppError> {
        let device = open(event_loop, &window, &waker)?;
        log::info!("drawing with {}", device.0.gpu().description());
        let lose_after = std::env::var(LOSE)
            .ok()
            .and_then(|frames| frames.parse().ok());
        Ok(Self {
            window,
            waker,
            device: Some(device),
            kept: KeptTextures::default(),
            failed: None,
            lose_after,
        })
    }

    /// Replaces a lost device. Must be called before each frame.
    pub(super) fn replace_lost_device(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(frames) = &mut self.lose_after {
            *frames = frames.saturating_sub(1);
            if *frames == 0 {
                self.lose_after = None;
                self.device
                    .iter()
                    .for_each(|(surface, _)| surface.simulate_loss());
            }
        }
        if self
            .device
            .as_ref()
            .is_some_and(|(surface, _)| !surface.is_lost())
        {
            return;
        }
        // The old surface must be dropped before a new one can use the window.
        self.device = None;
        if self.failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        match open(event_loop, &self.window, &self.waker) {
            Ok((mut surface, painter)) => {
                log::warn!("drawing goes on with {}", surface.gpu().description());
                surface.restore(&self.kept);
                (self.device, self.failed) = (Some((surface, painter)), None);
            }
            Err(error) => {
                log::error!("the graphics device could not be replaced: {error}");
                self.failed = Some(Instant::now());
            }
        }
    }

    /// The surface, unless there is currently no device.
    pub(super) fn gpu(&self) -> Option<&GpuContext> {
        self.device
            .as_ref()
            .map(|(surface, _)| surface.gpu())
            .filter(|gpu| !gpu.is_lost())
    }

    /// Description of the adapter.
    pub(super) fn description(&self) -> String {
        self.device.as_ref().map_or_else(
            || "nothing".to_owned(),
            |(surface, _)| surface.gpu().description(),
        )
    }

    /// The adapter, unless there is currently no device.
    pub(super) fn device(&mut self) -> Option<&mut (WindowSurface, WindowPainter)> {
        self.device.as_mut()
    }

    /// Records egui's texture changes, whether or not there is a device.
    pub(super) fn keep(&mut self, textures: &egui::TexturesDelta) {
        self.kept.note(textures);
    }

    /// Sets the window's size in pixels.
    pub(super) fn resize(&mut self, width: u32, height: u32) {
        self.device
            .iter_mut()
            .for_each(|(surface, _)| surface.resize(width, height));
    }

    /// Maximum texture side, pixels.
    pub(super) fn max_texture_side(&self) -> usize {
        self.device
            .as_ref()
            .map_or(2048, |(surface, _)| surface.max_texture_side())
    }
}

fn open(
    event_loop: &ActiveEventLoop,
    window: &Arc<Window>,
    waker: &PicturesWaker,
) -> Result<(WindowSurface, WindowPainter), AppError> {
    let surface = WindowSurface::new(event_loop.owned_display_handle(), window.clone())?;
    let painter = WindowPainter::of(&surface, waker.clone());
    Ok((surface, painter))
}
