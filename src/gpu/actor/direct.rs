//! Device form of methods without simulation: one submission per frame with the passes of the surface.

use std::sync::Arc;
use std::time::Instant;

use super::skins::Skins;
use super::{recipe_of, unfit_error};
use crate::gpu::GpuContext;
use crate::gpu::surface::SurfaceModel;
use crate::math::Affine;
use crate::methods::{Actor, DeviceError, DeviceFrameReport, SurfaceDevice, SurfaceMut};

/// The skin of one actor whose method does not simulate.
#[derive(Debug)]
pub struct GpuSkin {
    gpu: GpuContext,
    pub(super) skins: Skins,
}

impl GpuSkin {
    /// Prepares the surface of an actor.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the actor simulates, or the device is too small for it.
    pub fn new(gpu: &GpuContext, actor: &Actor) -> Result<Self, DeviceError> {
        gpu.check_compute().map_err(|error| unfit_error(&error))?;
        let build = || -> Result<Self, DeviceError> {
            let model = SurfaceModel::new(gpu, Arc::new(recipe_of(actor)?), &[])
                .map_err(|error| unfit_error(&error))?;
            Ok(Self::of(gpu, &Arc::new(model)))
        };
        gpu.attempt(build).map_err(|error| unfit_error(&error))?
    }

    /// A second one for the same character that shares all constants.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::of(&self.gpu, self.skins.model())
    }

    fn of(gpu: &GpuContext, model: &Arc<SurfaceModel>) -> Self {
        Self {
            gpu: gpu.clone(),
            skins: Skins::new(gpu, model, None),
        }
    }
}

impl SurfaceDevice for GpuSkin {
    fn present(&mut self, world_from_joint: &[Affine], ahead_secs: f32) -> Result<(), DeviceError> {
        let skin = self.skins.begin(world_from_joint, ahead_secs, None)?;
        let start = Instant::now();
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("skin"),
            });
        self.skins
            .encode(&mut encoder, std::iter::empty(), Some(&skin));
        self.skins.encode_readback(&mut encoder, None);
        self.gpu.queue.submit([encoder.finish()]);
        self.skins.add_host_time(start.elapsed());
        self.skins.submitted(0, false);
        self.skins.end(skin)
    }

    fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.skins.watched()
    }

    fn fetch(&mut self, mut surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        self.skins.fetch(&mut surface)
    }
}
