//! The window: views of a character, and panels around them.
//!
//! ```text
//! winit ─shell→ egui input ─panels, viewport→ actions ─workbench→ session commands ─session→ snapshot ─painter→ picture ─egui→ window
//! ```
//! - `shell` owns the event loop and the window, [`surface`] the swap chain and egui's painter.
//! - [`workbench`] owns the [`Session`](crate::session::Session) and is the only module that
//!   applies actions.
//! - [`layout`] gives each of the session's views a [`pane`], whose [`viewport`] reads the pointer (posing, or building a skeleton) and whose
//!   picture the painter draws by its [`look`].
//! - [`panels`], [`timeline`], [`board`], [`worst`], [`distill`], `mapping`, [`viewport`] read borrowed views and push [`actions`]. They run without a window or a GPU, as
//!   the tests do.
//! - [`shortcuts`] is the single table of commands: keyboard, menus, tooltips and palette are made from it. [`tool_windows`] has settings,
//!   palette, log and notices; [`project`] asks before work is lost; `capture` exports pictures and films.
//!
//! Nothing here computes, reads files or blocks: the session does that on other threads and wakes
//! the window.

pub mod actions;
pub mod board;
pub(crate) mod capture;
mod checkup;
pub(crate) mod clearing;
pub(crate) mod dialogs;
pub mod distill;
pub mod faults;
pub mod gestures;
pub mod ghosts;
mod graphics;
pub(crate) mod icon;
pub(crate) mod icons;
pub mod keymap;
pub mod layout;
pub mod look;
mod mapping;
pub mod navigation;
pub mod notices;
pub(crate) mod numpad;
pub mod pane;
pub mod panels;
mod pass_timer;
mod popup;
pub mod probe;
pub mod project;
pub(crate) mod score_line;
mod sections;
pub mod settings;
mod shell;
pub mod shortcuts;
mod signals;
pub mod spotlight;
pub mod status;
pub mod surface;
pub mod theme;
pub mod timeline;
pub mod tool_windows;
pub mod viewport;
pub(crate) mod widgets;
pub mod workbench;
pub mod worst;

/// Why the window could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The system has no display, or the connection to it was lost.
    #[error(
        "no window can be opened: {reason}; start sinew from a desktop, or use its verbs (sinew --help), which need no display"
    )]
    NoDisplay {
        /// The windowing system's message.
        reason: String,
    },
    /// There is no graphics device.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// No graphics adapter can draw on the window.
    #[error("no graphics adapter can draw the window: {reason}")]
    NoGpu {
        /// The driver's message.
        reason: String,
    },
}

impl AppError {
    /// winit's message, without the source location that precedes it.
    pub(crate) fn no_display(error: &impl std::fmt::Display) -> Self {
        let text = error.to_string();
        let words = text
            .split_once(".rs:")
            .and_then(|(_, rest)| rest.split_once(": "))
            .map_or(text.as_str(), |(_, words)| words);
        Self::NoDisplay {
            reason: words.trim_end_matches('.').to_owned(),
        }
    }

    pub(crate) fn no_gpu(reason: impl std::fmt::Display) -> Self {
        Self::NoGpu {
            reason: reason.to_string(),
        }
    }
}

/// Opens the workbench on a character with these physical parameters, this cache of derived data, and this device (if `None`, that of
/// the settings); returns when its window is closed.
///
/// # Errors
/// [`AppError`] if there is no display or no graphics adapter.
pub fn run(
    source: crate::session::Source,
    params: &crate::dynamics::Params,
    cache: crate::cache::Cache,
    device: Option<crate::session::DeviceChoice>,
) -> Result<(), AppError> {
    shell::run(source, params, cache, device)
}

#[cfg(test)]
mod tests {
    use super::AppError;

    #[test]
    fn the_message_has_no_source_location() {
        let error = AppError::no_display(&"os error at /a/b/mod.rs:765: no DISPLAY is set.");
        assert!(
            error
                .to_string()
                .starts_with("no window can be opened: no DISPLAY is set; start"),
            "{error}"
        );
    }
}
