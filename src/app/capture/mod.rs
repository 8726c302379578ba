//! Captures: pictures of a view or of the window, turntables and clips, written to files or the clipboard.
//!
//! ```text
//! Action::Capture ─carry_out→ Shot (what a view shows, frozen) ─thread: Studio→ images ─AnimationWriter→ file
//!                                                                                    └→ clipboard
//! ```
//! Drawing and encoding happen on a thread with a separate device, so that the window is not blocked.

mod dialog;
mod figure;
pub mod guide;
mod job;
mod studio;

use crate::app::actions::CaptureAction;
use crate::app::settings::capture::CaptureKind;
use crate::app::settings::capture::CaptureSettings;
use std::path::PathBuf;

use egui::{ColorImage, Context};

pub use studio::{ClipShot, Shot};

use self::job::{CaptureJob, CaptureResult, CaptureTarget};
use crate::gpu::GpuContext;
use crate::session::{JobView, Level, Session};

/// Why a capture failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The device could not draw or read back a picture.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// A picture could not be encoded.
    #[error(transparent)]
    Encode(image::ImageError),
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] crate::io::IoError),
    /// The method could not be prepared for the clip.
    #[error(transparent)]
    Bind(#[from] crate::methods::BindError),
    /// A frame of the clip could not be computed.
    #[error("frame {frame} of the clip could not be computed: {source}")]
    Skin {
        /// Index of the frame, from 0.
        frame: usize,
        /// The cause.
        source: crate::methods::SkinError,
    },
    /// The user cancelled.
    #[error(transparent)]
    Cancelled(#[from] crate::progress::Cancelled),
}

/// The dialog and the running capture.
#[derive(Default)]
pub struct Capture {
    settings: CaptureSettings,
    open: bool,
    job: Option<CaptureJob>,
    /// Number of passes until a picture of the window is taken: the menu that requested it must be closed first.
    window: Option<(u32, CaptureTarget)>,
}

impl Capture {
    /// Applies an action; `shot` is the state of the active view, `views` that of all views, and the number of them in a row of
    /// the window.
    pub fn carry_out(
        &mut self,
        ctx: &Context,
        action: CaptureAction,
        shot: Option<Shot>,
        (views, in_row): (Vec<Shot>, usize),
        session: &mut Session,
    ) {
        match action {
            CaptureAction::ToggleDialog => {
                self.open = !self.open;
                if let (true, Some(shot)) = (self.open, &shot) {
                    self.settings.set_defaults(&shot.name, shot.clip.is_some());
                }
            }
            CaptureAction::Set(settings) => self.settings = settings.sanitized(),
            // The workbench opens the dialogs.
            CaptureAction::Browse => {}
            CaptureAction::Export if self.settings.what == CaptureKind::Figure => {
                if !views.is_empty() {
                    let target = CaptureTarget::File(self.settings.path());
                    let settings = self.settings.clone();
                    let columns = settings.figure.columns_of(views.len(), in_row);
                    self.start(ctx, settings.title(), session, move |progress| {
                        figure::export(&views, columns, &settings, &target, progress)
                    });
                }
            }
            CaptureAction::Export => {
                if let Some(shot) = shot {
                    let (work, settings) = (
                        CaptureTarget::File(self.settings.path()),
                        self.settings.clone(),
                    );
                    self.start(ctx, settings.title(), session, move |progress| {
                        studio::export(&shot, &settings, &work, progress)
                    });
                }
            }
            CaptureAction::CopyView => {
                if let Some(shot) = shot {
                    let settings = CaptureSettings {
                        what: CaptureKind::Picture,
                        size: shot.view_size,
                        ..self.settings.clone()
                    };
                    self.start(
                        ctx,
                        "Copying the view".to_owned(),
                        session,
                        move |progress| {
                            studio::export(&shot, &settings, &CaptureTarget::Clipboard, progress)
                        },
                    );
                }
            }
            CaptureAction::CopyWindow => self.window = Some((2, CaptureTarget::Clipboard)),
            CaptureAction::Cancel => self.cancel(),
        }
        ctx.request_repaint();
    }

    fn start(
        &mut self,
        ctx: &Context,
        title: String,
        session: &mut Session,
        work: impl FnOnce(&crate::progress::Progress) -> Result<CaptureResult, CaptureError>
        + Send
        + 'static,
    ) {
        if self.job.is_some() {
            session.add_message(
                Level::Warning,
                "A picture is being made already; wait for it, or cancel it first.",
            );
            return;
        }
        match CaptureJob::start(ctx, title, work) {
            Ok(job) => self.job = Some(job),
            Err(error) => session.add_message(
                Level::Error,
                format!("No thread could be started to make the picture: {error}."),
            ),
        }
    }

    /// Collects finished captures. To be called in every pass.
    pub fn poll(&mut self, ctx: &Context, session: &mut Session) {
        if let Some((passes, _)) = &mut self.window {
            *passes = passes.saturating_sub(1);
            ctx.request_repaint();
        }
        let Some(done) = self.job.as_ref().and_then(CaptureJob::poll) else {
            return;
        };
        self.job = None;
        match done {
            Ok(CaptureResult::Files(files)) => session.add_message(Level::Info, written(&files)),
            Ok(CaptureResult::Image(image)) => {
                ctx.copy_image(image);
                session.add_message(Level::Info, "The picture is on the clipboard.");
            }
            Err(CaptureError::Cancelled(_)) => {}
            Err(error) => {
                session.add_message(Level::Error, format!("There is no picture: {error}."));
            }
        }
    }

    /// The running capture, for the list of jobs.
    #[must_use]
    pub fn job(&self) -> Option<JobView> {
        self.job.as_ref().map(CaptureJob::view)
    }

    /// Cancels the running capture.
    pub fn cancel(&mut self) {
        if let Some(job) = &self.job {
            job.cancel();
        }
    }

    /// Whether the window is to be drawn into a texture in this pass, for [`Capture::receive_window`].
    #[must_use]
    pub fn wants_window(&self) -> bool {
        matches!(self.window, Some((0, _))) && self.job.is_none()
    }

    /// Takes the texture of the window's picture, whose drawing may still be in progress on the window's device.
    pub fn receive_window(
        &mut self,
        ctx: &Context,
        gpu: &GpuContext,
        texture: wgpu::Texture,
        session: &mut Session,
    ) {
        let Some((_, work)) = self.window.take() else {
            return;
        };
        let gpu = gpu.clone();
        self.start(
            ctx,
            "Taking a picture of the window".to_owned(),
            session,
            move |_| studio::keep_texture(&gpu, &texture, &work),
        );
    }

    /// Sets the output file to what was chosen in a file dialog.
    pub fn set_path(&mut self, path: &std::path::Path) {
        self.settings.set_path(path);
    }

    /// Settings of the dialog.
    #[must_use]
    pub fn settings(&self) -> &CaptureSettings {
        &self.settings
    }

    /// Closes the dialog; a running capture continues. Returns whether the dialog was open.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    /// Whether the dialog is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }
}

fn written(files: &[PathBuf]) -> String {
    match files {
        [] => "Nothing was written.".to_owned(),
        [one] => format!("The picture was written to {}.", one.display()),
        [first, .., last] => format!(
            "{} pictures were written, {} to {}.",
            files.len(),
            first.display(),
            last.display()
        ),
    }
}

/// Converts to egui's image type.
fn color_image(image: &image::RgbaImage) -> ColorImage {
    ColorImage::from_rgba_unmultiplied(
        [image.width() as usize, image.height() as usize],
        image.as_raw(),
    )
}
