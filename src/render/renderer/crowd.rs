//! Crowds in a picture.

use super::Renderer;
use crate::gpu::actor::{CrowdError, GpuCrowd};
use crate::render::camera::Camera;
use crate::render::scene::Scene;
use crate::render::target::Target;

impl Renderer {
    /// Computes the frame of a crowd and draws a scene that may show it: one submission.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn render_crowd(
        &self,
        crowd: &mut GpuCrowd,
        target: &mut Target,
        camera: &Camera,
        scene: &Scene<'_>,
    ) -> Result<(), CrowdError> {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("crowd and scene"),
            });
        crowd.encode(&mut encoder);
        self.encode(&mut encoder, target, camera, scene);
        self.gpu.queue.submit([encoder.finish()]);
        crowd.submitted()
    }
}
