//! Submissions of steps without a frame.

use super::flesh::CrowdFlesh;
use crate::gpu::waiting::wait_for_all;
use crate::gpu::{GpuContext, GpuError};

/// Submits steps that do not fit into the frame's submission.
pub(super) fn submit_steps(gpu: &GpuContext, flesh: &mut CrowdFlesh) {
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("steps of a crowd"),
        });
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("steps of a crowd"),
            timestamp_writes: None,
        });
        for dispatch in flesh.dispatches(gpu) {
            dispatch.encode(&mut pass);
        }
    }
    flesh.encode_readback(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    flesh.submitted();
}

/// Submits the passes of steps one by one and waits for each, so that a window can draw in between when a step takes
/// seconds.
pub(super) fn submit_passes(gpu: &GpuContext, flesh: &mut CrowdFlesh) -> Result<(), GpuError> {
    let descriptor = wgpu::CommandEncoderDescriptor {
        label: Some("a pass of a crowd"),
    };
    for dispatch in flesh.dispatches(gpu) {
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        dispatch.encode(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
        gpu.queue.submit([encoder.finish()]);
        wait_for_all(gpu)?;
    }
    let mut encoder = gpu.device.create_command_encoder(&descriptor);
    flesh.encode_readback(&mut encoder);
    gpu.queue.submit([encoder.finish()]);
    flesh.submitted();
    Ok(())
}
