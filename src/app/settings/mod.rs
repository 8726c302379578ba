//! Application settings of the user: theme, scale, navigation and others.
//!
//! Settings are stored in `settings.json` in the user's configuration folder ([`SettingsFile`]).
//! Each value is parsed separately: an invalid one gets its default, is reported once, and a copy
//! of the file is kept. Entries of newer versions are preserved.

pub(crate) mod capture;
mod file;

pub use file::{LoadedSettings, SettingsFile};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::app::keymap::Keymap;
use crate::app::navigation::Navigation;
use crate::app::navigation::NavigationPreset;
use crate::methods::MethodId;
use crate::session::{DeviceChoice, RECORDING_BYTES};

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// Always dark.
    #[default]
    Dark,
    /// Always light.
    Light,
    /// Follows the system.
    System,
}

impl ThemeChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::System];

    /// Display name.
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

/// The three exercises of the introduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FirstSteps {
    /// A hand was dragged, the clip was played, a file was dropped.
    pub done: [bool; 3],
    /// The introduction was dismissed.
    pub dismissed: bool,
}

/// Size of the window when it was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowSize {
    /// Width and height in points, while it is not maximised.
    pub points: [u32; 2],
    /// Whether it fills the screen.
    pub maximised: bool,
}

impl WindowSize {
    /// Size at the first start.
    pub const USUAL: Self = Self {
        points: [1440, 900],
        maximised: false,
    };
    /// Smallest and largest sides, points.
    pub const SMALLEST: [u32; 2] = [640, 420];
    const LARGEST: u32 = 16_384;

    /// With sides in their range.
    #[must_use]
    pub fn sanitized(mut self) -> Self {
        for (side, smallest) in self.points.iter_mut().zip(Self::SMALLEST) {
            *side = (*side).clamp(smallest, Self::LARGEST);
        }
        self
    }
}

/// Maximum number of recent files.
pub const MOST_RECENT: usize = 12;
/// Maximum number of bookmarks, and of recent folders.
pub const MOST_FOLDERS: usize = 32;
/// Range of the interface scale.
pub const UI_SCALES: std::ops::RangeInclusive<f32> = 0.6..=2.5;
/// Range of the camera speeds.
pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.2..=4.0;
/// Most memory for recorded frames, MiB.
pub const MOST_RECORDING_MIB: f64 = 65_536.0;
/// Maximum number of threads.
pub const MOST_THREADS: usize = 256;

/// All settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Light or dark.
    pub theme: ThemeChoice,
    /// Interface scale relative to the system's.
    pub ui_scale: f32,
    /// Whether panels and messages are animated.
    pub animations: bool,
    /// Mouse and key preset of the camera.
    pub navigation: NavigationPreset,
    /// Keys of the commands.
    pub keymap: Keymap,
    /// Whether the zoom direction of the wheel is inverted.
    pub invert_zoom: bool,
    /// Orbit speed; 1 is the default.
    pub orbit_speed: f64,
    /// Pan speed; at 1 the point at the centre follows the pointer.
    pub pan_speed: f64,
    /// Zoom speed; 1 is the default.
    pub zoom_speed: f64,
    /// Step of angles while Ctrl is held, degrees.
    pub snap_deg: f64,
    /// Initial method of opened characters.
    pub default_method: MethodId,
    /// Device of the simulation.
    pub device: DeviceChoice,
    /// Number of threads from the next start; 0: automatic.
    pub threads: usize,
    /// Interval between recovery saves while there is unsaved work, seconds.
    pub autosave_secs: f64,
    /// Memory for recorded frames of simulations, MiB; 0: none are recorded.
    pub recording_mib: f64,
    /// Recent files, newest first. Files opened together form one entry.
    pub recent: Vec<Vec<PathBuf>>,
    /// Whether the system's file dialog is used where there is one.
    pub system_dialogs: bool,
    /// Folders that the file dialog keeps.
    pub bookmarks: Vec<PathBuf>,
    /// Folders in which files were chosen lately, the last one first.
    pub folders: Vec<PathBuf>,
    /// Size of the window; `None` before the first start.
    pub window: Option<WindowSize>,
    /// State of the introduction.
    pub first_steps: FirstSteps,
    /// Entries of other versions of the program.
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
            keymap: Keymap::default(),
            invert_zoom: false,
            orbit_speed: 1.0,
            pan_speed: 1.0,
            zoom_speed: 1.0,
            snap_deg: 15.0,
            default_method: MethodId::default(),
            device: DeviceChoice::default(),
            threads: 0,
            autosave_secs: 5.0,
            recording_mib: (RECORDING_BYTES >> 20) as f64,
            recent: Vec::new(),
            system_dialogs: true,
            bookmarks: Vec::new(),
            folders: Vec::new(),
            window: None,
            first_steps: FirstSteps::default(),
            unknown: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// With every number clamped to its range.
    #[must_use]
    pub fn sanitized(mut self) -> Self {
        let usual = Self::default();
        let finite = |value: f64, usual: f64| if value.is_finite() { value } else { usual };
        self.ui_scale = if self.ui_scale.is_finite() {
            self.ui_scale
        } else {
            1.0
        }
        .clamp(*UI_SCALES.start(), *UI_SCALES.end());
        for speed in [
            &mut self.orbit_speed,
            &mut self.pan_speed,
            &mut self.zoom_speed,
        ] {
            *speed = finite(*speed, 1.0).clamp(*SPEEDS.start(), *SPEEDS.end());
        }
        self.snap_deg = finite(self.snap_deg, usual.snap_deg).clamp(0.5, 90.0);
        self.autosave_secs = finite(self.autosave_secs, usual.autosave_secs).clamp(1.0, 600.0);
        self.recording_mib =
            finite(self.recording_mib, usual.recording_mib).clamp(0.0, MOST_RECORDING_MIB);
        self.threads = self.threads.min(MOST_THREADS);
        self.window = self.window.map(WindowSize::sanitized);
        self.bookmarks.truncate(MOST_FOLDERS);
        self.folders.truncate(MOST_FOLDERS);
        self.recent.retain(|files| !files.is_empty());
        self.recent.truncate(MOST_RECENT);
        self
    }

    /// Moves files that were opened together to the top of the list.
    pub fn remember(&mut self, files: &[PathBuf]) {
        if files.is_empty() {
            return;
        }
        let files: Vec<PathBuf> = files.iter().map(|file| absolute(file)).collect();
        self.recent.retain(|other| *other != files);
        self.recent.insert(0, files);
        self.recent.truncate(MOST_RECENT);
    }

    /// Moves a folder in which files were chosen to the top of the list.
    pub fn remember_folder(&mut self, folder: &Path) {
        let folder = absolute(folder);
        self.folders.retain(|other| *other != folder);
        self.folders.insert(0, folder);
        self.folders.truncate(MOST_FOLDERS);
    }

    /// Memory for recorded frames, bytes.
    #[must_use]
    pub fn recording_bytes(&self) -> u64 {
        (self.recording_mib.clamp(0.0, MOST_RECORDING_MIB) as u64) << 20
    }

    /// Navigation settings of the camera.
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

    /// Applies theme and scale to egui.
    pub fn apply(&self, ctx: &egui::Context) {
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let theme = egui::ThemePreference::from(self.theme);
        if ctx.options(|options| options.theme_preference) != theme {
            ctx.set_theme(theme);
            // This pass started with the other theme and would mix both.
            ctx.request_discard("the theme has changed");
        }
        if ctx.zoom_factor() != self.ui_scale {
            ctx.set_zoom_factor(self.ui_scale);
        }
        super::theme::set_animations(ctx, self.animations);
    }
}

/// Absolute path, so that the file is found from other folders.
fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_file_is_on_top_once() {
        let mut settings = Settings::default();
        for name in ["/a", "/b", "/a"] {
            settings.remember(&[PathBuf::from(name)]);
        }
        assert_eq!(
            settings.recent,
            [[PathBuf::from("/a")], [PathBuf::from("/b")]]
        );
        for number in 0..100 {
            settings.remember(&[PathBuf::from(format!("/{number}"))]);
        }
        assert_eq!(settings.recent.len(), MOST_RECENT);
    }

    #[test]
    fn all_numbers_are_clamped() {
        let odd = Settings {
            ui_scale: f32::NAN,
            orbit_speed: f64::NAN,
            zoom_speed: -3.0,
            snap_deg: -1e300,
            autosave_secs: f64::INFINITY,
            recording_mib: f64::INFINITY,
            threads: usize::MAX,
            window: Some(WindowSize {
                points: [0, u32::MAX],
                maximised: true,
            }),
            ..Settings::default()
        };
        let sane = odd.sanitized();
        assert_eq!(
            (sane.ui_scale, sane.snap_deg, sane.autosave_secs),
            (1.0, 0.5, 5.0)
        );
        assert_eq!((sane.orbit_speed, sane.zoom_speed), (1.0, *SPEEDS.start()));
        assert_eq!((sane.threads, sane.recording_mib), (MOST_THREADS, 512.0));
        assert_eq!(sane.window.map(|window| window.points), Some([640, 16_384]));
    }
}
