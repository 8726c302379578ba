//! The thread that draws and encodes pictures.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use egui::{ColorImage, Context};

use super::CaptureError;
use crate::progress::{Cancelled, Progress};
use crate::session::JobView;

/// Destination of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CaptureTarget {
    /// A file.
    File(PathBuf),
    /// The clipboard.
    Clipboard,
}

/// The result of a job.
#[derive(Debug)]
pub(super) enum CaptureResult {
    /// Files, in order.
    Files(Vec<PathBuf>),
    /// A picture for the clipboard.
    Image(ColorImage),
}

/// A job on a thread. Dropping it cancels the job.
pub(super) struct CaptureJob {
    title: String,
    progress: Progress,
    receiver: Receiver<Result<CaptureResult, CaptureError>>,
}

impl CaptureJob {
    /// Starts the job.
    pub(super) fn start(
        ctx: &Context,
        title: String,
        work: impl FnOnce(&Progress) -> Result<CaptureResult, CaptureError> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let (progress, ctx) = (Progress::new(), ctx.clone());
        let shared = progress.clone();
        std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || {
                // Sending fails only if the receiver was dropped.
                let _ = sender.send(work(&shared));
                ctx.request_repaint();
            })?;
        Ok(Self {
            title,
            progress,
            receiver,
        })
    }

    /// The result, once the job has ended.
    pub(super) fn poll(&self) -> Option<Result<CaptureResult, CaptureError>> {
        match self.receiver.try_recv() {
            Ok(done) => Some(done),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(CaptureError::Cancelled(Cancelled))),
        }
    }

    pub(super) fn view(&self) -> JobView {
        JobView {
            title: self.title.clone(),
            stage: self.progress.stage(),
            fraction: self.progress.fraction(),
        }
    }

    pub(super) fn cancel(&self) {
        self.progress.cancel();
    }
}

impl Drop for CaptureJob {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}
