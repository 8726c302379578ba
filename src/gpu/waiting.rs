//! Copies that come back from the device, and waiting for them without keeping others from it.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::{GpuContext, GpuError};

/// Between two looks. A wait inside of the driver would hold a lock that a window needs to show its next picture; and one that ends
/// early trips over others that look at the same time (an assertion in wgpu 30: the queue is empty, the wait was not for it).
const PAUSE: Duration = Duration::from_micros(50);

/// What becomes of a buffer that is to be read.
pub(super) type PendingMap = Receiver<Result<(), wgpu::BufferAsyncError>>;

/// Has a buffer made readable once all work submitted so far is done.
pub(super) fn ask(buffer: &wgpu::Buffer) -> PendingMap {
    let (sender, answer) = channel();
    // Who asks no more needs no answer.
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        drop(sender.send(result));
    });
    answer
}

/// Whether the answer is there. Waits for nothing.
///
/// # Errors
/// [`GpuError::Readback`] if there will be none.
pub(super) fn is_there(answer: &PendingMap) -> Result<bool, GpuError> {
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
pub(super) fn wait(gpu: &GpuContext, answer: &PendingMap) -> Result<(), GpuError> {
    while !is_there(answer)? {
        wait_a_little(gpu)?;
    }
    Ok(())
}

/// Tells when work is done.
pub(super) type DoneSignal = Receiver<()>;

/// Has it told when all work submitted so far is done.
pub(super) fn done(gpu: &GpuContext) -> DoneSignal {
    let (sender, done) = channel();
    gpu.queue.on_submitted_work_done(move || {
        // Who asks no more needs no answer.
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
                    Err(lost(&"it does not answer any more"))
                } else {
                    Ok(())
                };
            }
            Err(TryRecvError::Empty) => wait_a_little(gpu)?,
            Err(error) => return Err(lost(&error)),
        }
    }
}

/// Waits until all that was submitted so far is done.
///
/// # Errors
/// [`GpuError::Readback`] if the device was lost.
pub(super) fn wait_for_all(gpu: &GpuContext) -> Result<(), GpuError> {
    wait_until(gpu, &done(gpu))
}

/// Looks what has been done, and lets others work.
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
        .map_err(|error| lost(&error))?;
    if !status.is_queue_empty() {
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

pub(super) fn lost(error: &dyn std::fmt::Display) -> GpuError {
    GpuError::Readback {
        reason: error.to_string(),
    }
}
