//! Copies that come back from the device, and waiting for them without keeping others from it.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::{GpuContext, GpuError};

/// The longest wait in one piece. Whoever waits holds a lock that a window needs to show its next picture.
const SLICE: Duration = Duration::from_millis(1);

/// What becomes of a buffer that is to be read.
pub(super) type Answer = Receiver<Result<(), wgpu::BufferAsyncError>>;

/// Has a buffer made readable once all work submitted so far is done.
pub(super) fn ask(buffer: &wgpu::Buffer) -> Answer {
    let (sender, answer) = channel();
    // Who asks no more needs no answer.
    buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(sender.send(result)));
    answer
}

/// Whether the answer is there. Waits for nothing.
///
/// # Errors
/// [`GpuError::Readback`] if there will be none.
pub(super) fn is_there(answer: &Answer) -> Result<bool, GpuError> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => Ok(false),
        Err(error) => Err(lost(&error)),
        Ok(result) => result.map(|()| true).map_err(|error| lost(&error)),
    }
}

/// Waits until the answer is there.
///
/// # Errors
/// [`GpuError::Readback`] if there will be none.
pub(super) fn wait(gpu: &GpuContext, answer: &Answer) -> Result<(), GpuError> {
    while !is_there(answer)? {
        wait_a_little(gpu)?;
    }
    Ok(())
}

/// Waits until all work submitted so far is done, or a little.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub(super) fn wait_a_little(gpu: &GpuContext) -> Result<(), GpuError> {
    if gpu.is_lost() {
        return Err(GpuError::Readback { reason: "the device was lost".to_owned() });
    }
    match gpu.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(SLICE) }) {
        Ok(_) | Err(wgpu::PollError::Timeout) => Ok(()),
        Err(error) => Err(lost(&error)),
    }
}

pub(super) fn lost(error: &dyn std::error::Error) -> GpuError {
    GpuError::Readback { reason: error.to_string() }
}
