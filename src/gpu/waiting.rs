//! Buffer readback, and waiting for it without blocking other users of the device.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::{GpuContext, GpuError};

/// Interval between two polls. Waiting inside the driver would hold a lock that a window needs to draw; and a wait with
/// timeout fails an assertion of wgpu 30 while other threads poll (the queue is empty, the wait was not for it).
const PAUSE: Duration = Duration::from_micros(50);

/// Result of mapping a buffer.
pub(super) type PendingMap = Receiver<Result<(), wgpu::BufferAsyncError>>;

/// Maps a buffer for reading once all work submitted so far is done.
pub(super) fn request_map(buffer: &wgpu::Buffer) -> PendingMap {
    let (sender, answer) = channel();
    // The receiver may have been dropped.
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        drop(sender.send(result));
    });
    answer
}

/// Whether the buffer is mapped. Does not wait.
///
/// # Errors
/// [`GpuError::Readback`] if mapping failed.
pub(super) fn is_there(answer: &PendingMap) -> Result<bool, GpuError> {
    match answer.try_recv() {
        Err(TryRecvError::Empty) => Ok(false),
        Err(error) => Err(lost_error(&error)),
        Ok(result) => result.map(|()| true).map_err(|error| lost_error(&error)),
    }
}

/// Waits until the buffer is mapped.
///
/// # Errors
/// [`GpuError::Readback`] if mapping failed.
pub(super) fn wait(gpu: &GpuContext, answer: &PendingMap) -> Result<(), GpuError> {
    while !is_there(answer)? {
        wait_a_little(gpu)?;
    }
    Ok(())
}

/// Receives a message when work is done.
pub(super) type DoneSignal = Receiver<()>;

/// A signal for the completion of all work submitted so far.
pub(super) fn done(gpu: &GpuContext) -> DoneSignal {
    let (sender, done) = channel();
    gpu.queue.on_submitted_work_done(move || {
        // The receiver may have been dropped.
        let _ = sender.send(());
    });
    done
}

/// Waits until work is done.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub(super) fn wait_until(gpu: &GpuContext, done: &DoneSignal) -> Result<(), GpuError> {
    loop {
        match done.try_recv() {
            Ok(()) => {
                return if gpu.is_lost() {
                    Err(lost_error(&"it does not answer any more"))
                } else {
                    Ok(())
                };
            }
            Err(TryRecvError::Empty) => wait_a_little(gpu)?,
            Err(error) => return Err(lost_error(&error)),
        }
    }
}

/// Waits until all submitted work is done.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub(super) fn wait_for_all(gpu: &GpuContext) -> Result<(), GpuError> {
    wait_until(gpu, &done(gpu))
}

/// Polls the device, then yields to other threads.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub(super) fn wait_a_little(gpu: &GpuContext) -> Result<(), GpuError> {
    if gpu.is_lost() {
        return Err(GpuError::Readback {
            reason: "the device was lost".to_owned(),
        });
    }
    let status = gpu
        .device
        .poll(wgpu::PollType::Poll)
        .map_err(|error| lost_error(&error))?;
    if !status.is_queue_empty() {
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

pub(super) fn lost_error(error: &dyn std::fmt::Display) -> GpuError {
    GpuError::Readback {
        reason: error.to_string(),
    }
}
