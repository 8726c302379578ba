//! Presents frames of a crowd, and waits for them.

use super::GpuCrowd;
use super::error::CrowdError;
use super::submit::{submit_passes, submit_steps};
use crate::gpu::actor::profile::Profile;
use crate::gpu::compute::{fetch, storage};
use crate::gpu::waiting::wait_for_all;
use crate::methods::DeviceTimes;

impl GpuCrowd {
    /// Submits the frame in one submission.
    ///
    /// # Errors
    /// As [`GpuCrowd::submitted`].
    pub fn present(&mut self) -> Result<(), CrowdError> {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("crowd"),
            });
        self.encode(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        self.submitted()
    }

    /// Computes the frame while another thread draws with the same device: steps and surface are separate submissions. Each
    /// is awaited without blocking the device, so that pictures are drawn in between. One submission writes the surface of
    /// all instances, and a queue runs its submissions in order: a picture shows either all of this frame or all of the
    /// last.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn present_aside(&mut self) -> Result<(), CrowdError> {
        let Self { gpu, flesh, .. } = self;
        if let Some(flesh) = flesh.as_mut().filter(|flesh| flesh.queued > 0) {
            if gpu.is_software() {
                submit_passes(gpu, flesh)?;
            } else {
                submit_steps(gpu, flesh);
                wait_for_all(gpu)?;
            }
        }
        // At most one submission is in flight, so that nothing waits inside the driver.
        self.present()?;
        self.under_way.clear();
        Ok(wait_for_all(&self.gpu)?)
    }

    /// Like [`GpuCrowd::present`], but measures each pass with the device's clock, and waits for the result. Passes then
    /// cannot overlap. The times are empty on devices without such a clock.
    ///
    /// # Errors
    /// As [`GpuCrowd::submitted`].
    pub fn present_measured(&mut self) -> Result<Option<DeviceTimes>, CrowdError> {
        let Some(mut profile) = Profile::new(&self.gpu) else {
            self.present()?;
            return Ok(None);
        };
        let stamps = storage::<u8>(&self.gpu, "times of passes", Profile::BYTES as usize);
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("crowd, measured"),
            });
        self.encode_with(&mut encoder, Some(&mut profile));
        let marks = profile.resolve(&mut encoder, &stamps, 0);
        self.gpu.queue.submit([encoder.finish()]);
        self.submitted()?;
        let ticks: Vec<u8> = fetch(&self.gpu, &stamps, Profile::BYTES as usize)?;
        Ok(Some(profile.times(&ticks, &marks)))
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// [`CrowdError::Gpu`] if the device was lost.
    pub fn wait(&mut self) -> Result<(), CrowdError> {
        self.under_way.clear();
        Ok(wait_for_all(&self.gpu)?)
    }
}
