//! The window: views of a living character, and panels around them.
//!
//! ```text
//! winit ─shell→ egui input ─panels, viewport→ actions ─workbench→ session commands ─session→ snapshot ─painter→ picture ─egui→ window
//! ```
//! - `shell` owns the event loop and the window, [`surface`] the swap chain and egui's painter.
//! - [`workbench`] owns the [`Session`](crate::session::Session) and is the only place that applies what panels ask for.
//! - [`layout`] gives each of the session's views a [`pane`], whose [`viewport`] reads the pointer (posing, or building a skeleton) and whose
//!   picture the painter draws by its [`look`].
//! - [`panels`], [`timeline`], [`viewport`] read borrowed views and push [`actions`]. They run without a window or a GPU, as the tests do.
//! - [`shortcuts`] is the one table of what can be asked for: keyboard, menus, tooltips and palette come from it. [`comfort`] has settings,
//!   palette, log and notices; [`project`] asks before work is lost; [`capture`] makes pictures to keep.
//!
//! Nothing here computes flesh, reads files or waits: the session does that on threads of its own and wakes the window.

pub mod actions;
pub mod capture;
mod checkup;
pub mod clearing;
pub mod comfort;
pub mod dialogs;
pub mod ghosts;
mod graphics;
pub mod icon;
pub mod icons;
pub mod layout;
pub mod look;
pub mod notices;
pub mod numpad;
pub mod pane;
pub mod panels;
pub mod project;
pub mod score_line;
mod sections;
pub mod settings;
mod shell;
pub mod shortcuts;
pub mod status;
pub mod surface;
pub mod theme;
pub mod timeline;
pub mod viewport;
pub mod workbench;

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The system can't show windows, or the connection to it broke.
    #[error("no window can be opened: {reason}; start sinew from a desktop, or use its verbs (sinew --help), which need no display")]
    NoDisplay {
        /// What the windowing system reported.
        reason: String,
    },
    /// There is no graphics device.
    #[error(transparent)]
    Gpu(#[from] crate::gpu::GpuError),
    /// No graphics adapter can draw on the window.
    #[error("no graphics adapter can draw the window: {reason}")]
    NoGpu {
        /// What the driver reported.
        reason: String,
    },
}

impl AppError {
    /// From winit's words, without the place in its source that it puts before them.
    pub(crate) fn no_display(error: &impl std::fmt::Display) -> Self {
        let text = error.to_string();
        let words = text.split_once(".rs:").and_then(|(_, rest)| rest.split_once(": ")).map_or(text.as_str(), |(_, words)| words);
        Self::NoDisplay { reason: words.trim_end_matches('.').to_owned() }
    }

    pub(crate) fn no_gpu(reason: impl std::fmt::Display) -> Self {
        Self::NoGpu { reason: reason.to_string() }
    }
}

/// Opens the workbench on a character with these physical parameters and this cache of derived data, simulating on this device or, if
/// none is said, as the settings have it; returns when its window is closed.
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
    fn the_reason_has_no_place_in_somebody_elses_source() {
        let error = AppError::no_display(&"os error at /a/b/mod.rs:765: no DISPLAY is set.");
        assert!(error.to_string().starts_with("no window can be opened: no DISPLAY is set; start"), "{error}");
    }
}
