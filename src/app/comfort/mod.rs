//! What makes the window comfortable: the user's settings, and the windows that help to find things.
//!
//! [`Comfort`] is the state of all of it. Panels push [`ComfortAction`]s; the workbench hands them to [`Comfort::carry_out`].

pub mod sheet;

use egui::Context;

use self::sheet::Sheet;
use super::settings::{Loaded, Settings, SettingsFile, ThemeChoice, UI_SCALES};
use super::shortcuts::Now;

/// Steps in which the interface is made larger and smaller.
const SCALE_STEP: f32 = 0.1;

/// Something asked of the window's own comfort.
#[derive(Debug, Clone, PartialEq)]
pub enum ComfortAction {
    /// Light ↔ dark.
    ToggleTheme,
    /// Larger text and buttons.
    Larger,
    /// Smaller text and buttons.
    Smaller,
    /// Text and buttons of the usual size.
    UsualScale,
    /// Changes settings.
    Change(Box<Settings>),
    /// Opens or closes the list of what mouse and keyboard do.
    ToggleSheet,
}

/// Settings, and the windows that are open.
#[derive(Debug, Default)]
pub struct Comfort {
    settings: Settings,
    file: Option<SettingsFile>,
    /// Settings that are not in the file yet.
    unsaved: bool,
    applied: bool,
    sheet: Sheet,
}

impl Comfort {
    /// With the settings of a file, and what the user should know if not all of them could be read.
    #[must_use]
    pub fn with_file(file: SettingsFile) -> (Self, Option<String>) {
        let Loaded { settings, complaint } = file.load();
        let mut comfort = Self::default();
        (comfort.settings, comfort.file) = (settings, Some(file));
        (comfort, complaint)
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Changes the settings; they apply with the next frame and are written soon.
    pub fn change(&mut self, change: impl FnOnce(&mut Settings)) {
        let before = self.settings.clone();
        change(&mut self.settings);
        self.settings = std::mem::take(&mut self.settings).sanitized();
        if self.settings != before {
            (self.unsaved, self.applied) = (true, false);
        }
    }

    /// Makes the window look as the settings say, and writes what has changed while nobody drags. The sentence tells why it can't be
    /// written.
    pub fn keep_up(&mut self, ctx: &Context) -> Option<String> {
        if !self.applied {
            self.settings.apply(ctx);
            self.applied = true;
        }
        if self.unsaved && !ctx.input(|input| input.pointer.any_down()) {
            return self.save();
        }
        None
    }

    /// Writes settings that have changed. The sentence tells why they can't be written.
    pub fn save(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.unsaved) {
            return None;
        }
        let file = self.file.as_ref()?;
        let error = file.save(&self.settings).err()?;
        Some(format!("The settings could not be written to {}: {error}. They hold until the window is closed.", file.path().display()))
    }

    /// Carries out what was asked for.
    pub fn carry_out(&mut self, ctx: &Context, action: ComfortAction) {
        match action {
            ComfortAction::ToggleTheme => {
                let theme = if ctx.theme() == egui::Theme::Dark { ThemeChoice::Light } else { ThemeChoice::Dark };
                self.change(|settings| settings.theme = theme);
            }
            ComfortAction::Larger => self.scale(SCALE_STEP),
            ComfortAction::Smaller => self.scale(-SCALE_STEP),
            ComfortAction::UsualScale => self.change(|settings| settings.ui_scale = 1.0),
            ComfortAction::Change(settings) => self.change(|present| *present = *settings),
            ComfortAction::ToggleSheet => self.sheet.toggle(),
        }
    }

    fn scale(&mut self, by: f32) {
        self.change(|settings| {
            let steps = ((settings.ui_scale + by) / SCALE_STEP).round();
            settings.ui_scale = (steps * SCALE_STEP).clamp(*UI_SCALES.start(), *UI_SCALES.end());
        });
    }

    /// Draws the windows that are open.
    pub fn windows(&mut self, ctx: &Context, now: &Now<'_>) {
        self.sheet.ui(ctx, now);
    }

    /// Closes the topmost window. Returns whether there was one.
    pub fn close_topmost(&mut self) -> bool {
        self.sheet.close()
    }
}

impl Drop for Comfort {
    fn drop(&mut self) {
        if let Some(complaint) = self.save() {
            log::warn!("{complaint}");
        }
    }
}
