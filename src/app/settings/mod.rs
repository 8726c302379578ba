//! What the user has chosen for all characters: theme, scale, navigation and the like.
//!
//! Settings live in `settings.json` in the user's configuration folder ([`SettingsFile`]). Each value is read by itself: what can't be
//! understood gets its default, is told once, and the file as it was is kept beside it. What a newer version wrote stays in the file.

mod file;

pub use file::{Loaded, SettingsFile};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::viewport::navigation::{Navigation, NavigationPreset};
use crate::session::DeviceChoice;
use crate::skin::Method;

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// Always dark.
    #[default]
    Dark,
    /// Always light.
    Light,
    /// As the system is set.
    System,
}

impl ThemeChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::System];

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Dark => "Dark",
            Self::Light => "Light",
            Self::System => "As the system",
        }
    }
}

impl From<ThemeChoice> for egui::ThemePreference {
    fn from(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::Dark => Self::Dark,
            ThemeChoice::Light => Self::Light,
            ThemeChoice::System => Self::System,
        }
    }
}

/// The three steps that greet a new user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstSteps {
    /// A hand was dragged, the clip was played, a file was dropped.
    pub done: [bool; 3],
    /// The user wants to see them no more.
    pub dismissed: bool,
}

/// Files that can be opened again from the menu.
pub const MOST_RECENT: usize = 12;
/// How much larger or smaller the interface can be made.
pub const UI_SCALES: std::ops::RangeInclusive<f32> = 0.6..=2.5;
/// How much slower and faster the camera can be made.
pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.2..=4.0;
/// Most threads that can be asked for.
pub const MOST_THREADS: usize = 256;

/// All choices of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Light or dark.
    pub theme: ThemeChoice,
    /// Size of text and buttons, on top of what the system asks for.
    pub ui_scale: f32,
    /// Whether panels fold and messages fade softly.
    pub animations: bool,
    /// Which buttons and keys move the camera.
    pub navigation: NavigationPreset,
    /// Whether the wheel zooms the other way.
    pub invert_zoom: bool,
    /// How fast the camera orbits; 1 is usual.
    pub orbit_speed: f64,
    /// How fast it pans; at 1 what is in the middle stays under the pointer.
    pub pan_speed: f64,
    /// How fast it zooms; 1 is usual.
    pub zoom_speed: f64,
    /// Step of angles while Ctrl is held, degrees.
    pub snap_deg: f64,
    /// The method that characters are shown with at first.
    pub default_method: Method,
    /// Where the flesh is simulated.
    pub device: DeviceChoice,
    /// Threads to compute with, from the next start; 0 leaves it to the program.
    pub threads: usize,
    /// Seconds between two writings of the recovery file while there is unsaved work.
    pub autosave_secs: f64,
    /// What was opened last, newest first. What was opened together is one entry.
    pub recent: Vec<Vec<PathBuf>>,
    /// The greeting.
    pub first_steps: FirstSteps,
    /// What another version of the program put there.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::default(),
            ui_scale: 1.0,
            animations: true,
            navigation: NavigationPreset::default(),
            invert_zoom: false,
            orbit_speed: 1.0,
            pan_speed: 1.0,
            zoom_speed: 1.0,
            snap_deg: 15.0,
            default_method: Method::default(),
            device: DeviceChoice::default(),
            threads: 0,
            autosave_secs: 5.0,
            recent: Vec::new(),
            first_steps: FirstSteps::default(),
            unknown: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// With every number where it makes sense.
    #[must_use]
    pub fn sanitized(mut self) -> Self {
        let usual = Self::default();
        let finite = |value: f64, usual: f64| if value.is_finite() { value } else { usual };
        self.ui_scale = if self.ui_scale.is_finite() { self.ui_scale } else { 1.0 }.clamp(*UI_SCALES.start(), *UI_SCALES.end());
        for speed in [&mut self.orbit_speed, &mut self.pan_speed, &mut self.zoom_speed] {
            *speed = finite(*speed, 1.0).clamp(*SPEEDS.start(), *SPEEDS.end());
        }
        self.snap_deg = finite(self.snap_deg, usual.snap_deg).clamp(0.5, 90.0);
        self.autosave_secs = finite(self.autosave_secs, usual.autosave_secs).clamp(1.0, 600.0);
        self.threads = self.threads.min(MOST_THREADS);
        self.recent.retain(|files| !files.is_empty());
        self.recent.truncate(MOST_RECENT);
        self
    }

    /// Puts files that were opened together on top of the list.
    pub fn remember(&mut self, files: &[PathBuf]) {
        if files.is_empty() {
            return;
        }
        let files: Vec<PathBuf> = files.iter().map(|file| absolute(file)).collect();
        self.recent.retain(|other| *other != files);
        self.recent.insert(0, files);
        self.recent.truncate(MOST_RECENT);
    }

    /// Takes files off the list, for instance because they are no more.
    pub fn forget(&mut self, files: &[PathBuf]) {
        self.recent.retain(|other| other != files);
    }

    /// How the camera is moved.
    #[must_use]
    pub fn navigation(&self) -> Navigation {
        Navigation {
            preset: self.navigation,
            invert_zoom: self.invert_zoom,
            orbit_speed: self.orbit_speed as f32,
            pan_speed: self.pan_speed as f32,
            zoom_speed: self.zoom_speed as f32,
        }
    }

    /// Makes egui look as chosen.
    pub fn apply(&self, ctx: &egui::Context) {
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let theme = egui::ThemePreference::from(self.theme);
        if ctx.options(|options| options.theme_preference) != theme {
            ctx.set_theme(theme);
            // This pass began with the other theme: it would show a mixture of both.
            ctx.request_discard("the theme has changed");
        }
        if ctx.zoom_factor() != self.ui_scale {
            ctx.set_zoom_factor(self.ui_scale);
        }
        super::theme::set_animations(ctx, self.animations);
    }
}

/// The file from the root of the file system, so that it is found from another folder, too.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_last_is_on_top_once() {
        let mut settings = Settings::default();
        for name in ["/a", "/b", "/a"] {
            settings.remember(&[PathBuf::from(name)]);
        }
        assert_eq!(settings.recent, [[PathBuf::from("/a")], [PathBuf::from("/b")]]);
        for number in 0..100 {
            settings.remember(&[PathBuf::from(format!("/{number}"))]);
        }
        assert_eq!(settings.recent.len(), MOST_RECENT);
    }

    #[test]
    fn no_number_is_too_odd() {
        let odd = Settings {
            ui_scale: f32::NAN,
            orbit_speed: f64::NAN,
            zoom_speed: -3.0,
            snap_deg: -1e300,
            autosave_secs: f64::INFINITY,
            threads: usize::MAX,
            ..Settings::default()
        };
        let sane = odd.sanitized();
        assert_eq!((sane.ui_scale, sane.snap_deg, sane.autosave_secs), (1.0, 0.5, 5.0));
        assert_eq!((sane.orbit_speed, sane.zoom_speed), (1.0, *SPEEDS.start()));
        assert_eq!(sane.threads, MOST_THREADS);
    }
}
