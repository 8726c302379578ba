//! What makes the window comfortable: the user's settings, and the windows that help to find things.
//!
//! [`Comfort`] is the state of all of it. Panels push [`ComfortAction`]s; the workbench hands them to [`Comfort::carry_out`].

mod about;
pub(super) mod dialog;
mod entries;
mod first_steps;
pub mod fuzzy;
mod log_panel;
pub mod palette;
pub mod settings_window;
pub mod sheet;

use egui::{Context, Rect};

use self::about::About;
use self::log_panel::LogPanel;
use self::palette::Palette;
use self::settings_window::SettingsWindow;
use self::sheet::Sheet;
use super::actions::{Action, Actions};
use super::notices::Notices;
use super::settings::{FirstSteps, Loaded, Settings, SettingsFile, ThemeChoice, UI_SCALES};
use super::shortcuts::Now;
use crate::session::{Command, Session};

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
    /// Opens or closes the palette.
    TogglePalette,
    /// Opens or closes the list of what mouse and keyboard do.
    ToggleSheet,
    /// Opens or closes the settings.
    ToggleSettings,
    /// Opens the settings at one of them.
    ShowSetting(&'static str),
    /// Opens or closes the list of what the user was told.
    ToggleNotices,
    /// Opens or closes the log.
    ToggleLog,
    /// Shows or hides the greeting.
    ToggleFirstSteps,
    /// Puts the greeting away for ever.
    DismissFirstSteps,
    /// Opens or closes the window about the program.
    ToggleAbout,
}

/// Settings, and the windows that are open.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
pub struct Comfort {
    settings: Settings,
    file: Option<SettingsFile>,
    /// Settings that are not in the file yet.
    unsaved: bool,
    applied: bool,
    /// The greeting was asked for in this run, or has not been put away yet.
    greets: bool,
    /// The greeting has been seen in this run: it stays over whatever is opened then, but never comes up amidst other work.
    greeted: bool,
    /// The theme that the views were last made to suit.
    theme: Option<egui::Theme>,
    /// Memory of the process in words, and when it was asked for, on egui's clock.
    memory: (String, f64),
    /// All that the user was told.
    pub notices: Notices,
    palette: Palette,
    sheet: Sheet,
    settings_window: SettingsWindow,
    log_panel: LogPanel,
    about: About,
}

impl Comfort {
    /// With the settings of a file, and what the user should know if not all of them could be read. A user who has not put the greeting
    /// away is greeted.
    #[must_use]
    pub fn with_file(file: SettingsFile) -> (Self, Option<String>) {
        let Loaded { settings, complaint } = file.load();
        let mut comfort = Self::default();
        comfort.greets = !settings.first_steps.dismissed;
        (comfort.settings, comfort.file) = (settings, Some(file));
        (comfort, complaint)
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Tells what draws, for the window about the program.
    pub fn set_gpu(&mut self, description: String) {
        self.about.gpu = description;
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

    /// The theme, if it is another one than at the last call; dark at first.
    pub fn changed_theme(&mut self, ctx: &Context) -> Option<egui::Theme> {
        let before = self.theme.replace(ctx.theme()).unwrap_or(egui::Theme::Dark);
        (before != ctx.theme()).then(|| ctx.theme())
    }

    /// Memory of the process in words, looked up once in a while; empty where the system doesn't tell.
    pub fn memory_text(&mut self, ctx: &Context) -> &str {
        let now_secs = ctx.input(|input| input.time);
        if self.memory.0.is_empty() || now_secs - self.memory.1 > 2.0 {
            self.memory = (super::status::memory_text().unwrap_or_default(), now_secs);
        }
        &self.memory.0
    }

    /// Carries out what was asked for.
    pub fn carry_out(&mut self, ctx: &Context, action: ComfortAction, session: &Session, now: &Now<'_>) {
        match action {
            ComfortAction::ToggleTheme => {
                let theme = if ctx.theme() == egui::Theme::Dark { ThemeChoice::Light } else { ThemeChoice::Dark };
                self.change(|settings| settings.theme = theme);
            }
            ComfortAction::Larger => self.scale(SCALE_STEP),
            ComfortAction::Smaller => self.scale(-SCALE_STEP),
            ComfortAction::UsualScale => self.change(|settings| settings.ui_scale = 1.0),
            ComfortAction::Change(settings) => self.change(|present| *present = *settings),
            ComfortAction::TogglePalette => {
                if !self.palette.close() {
                    self.palette.open(entries::gather(session, &self.settings, now));
                }
            }
            ComfortAction::ToggleSheet => self.sheet.toggle(),
            ComfortAction::ToggleSettings => self.settings_window.toggle(),
            ComfortAction::ShowSetting(name) => self.settings_window.show(name),
            ComfortAction::ToggleNotices => self.notices.toggle(),
            ComfortAction::ToggleLog => self.log_panel.toggle(),
            ComfortAction::ToggleFirstSteps => {
                let shows = !(self.greets && self.greeted);
                (self.greets, self.greeted) = (shows, shows);
                self.change(|settings| settings.first_steps = FirstSteps { done: [false; 3], dismissed: settings.first_steps.dismissed });
            }
            ComfortAction::DismissFirstSteps => self.dismiss_first_steps(),
            ComfortAction::ToggleAbout => self.about.open = !self.about.open,
        }
    }

    fn scale(&mut self, by: f32) {
        self.change(|settings| {
            let steps = ((settings.ui_scale + by) / SCALE_STEP).round();
            settings.ui_scale = (steps * SCALE_STEP).clamp(*UI_SCALES.start(), *UI_SCALES.end());
        });
    }

    fn dismiss_first_steps(&mut self) {
        self.greets = false;
        self.change(|settings| settings.first_steps.dismissed = true);
    }

    /// Ticks the steps of the greeting that an action is.
    pub fn watch(&mut self, action: &Action, session: &Session) {
        if !(self.greets && self.greeted) {
            return;
        }
        let mannequin = is_builtin(&session.document().source.files);
        let posed = || {
            let document = session.document();
            document.skeleton().is_some_and(|skeleton| skeleton.rest_pose() != document.pose)
        };
        let playing = matches!(action, Action::Session(Command::TogglePlaying | Command::SetPlaying(true), _));
        let opened = matches!(action, Action::Session(Command::AddMotions(_), _) | Action::OpenFiles(_))
            || matches!(action, Action::Session(Command::Open(source), _) if !is_builtin(&source.files));
        let dragged = matches!(action, Action::Session(_, crate::session::Gesture::Released)) && posed();
        let done = [mannequin && dragged, mannequin && playing, opened];
        if self.settings.first_steps.done == [true; 3] && (dragged || playing || opened) {
            // Whoever goes on has read it.
            self.dismiss_first_steps();
            return;
        }
        self.change(|settings| {
            for (step, done) in settings.first_steps.done.iter_mut().zip(done) {
                *step |= done;
            }
        });
    }

    /// Draws what floats over the views, clear of these plates: messages, and the greeting.
    pub fn over_views(&mut self, ctx: &Context, viewport: Rect, mut plates: Vec<Rect>, session: &Session, actions: &mut Actions) {
        // A file of one's own is not the mannequin that the steps speak of; it only gets to see that all are done.
        let all = self.settings.first_steps.done == [true; 3];
        let living = session.subject().is_some() && (all || is_builtin(&session.document().source.files));
        if self.greets && living && first_steps::fits(viewport) {
            self.greeted = true;
            plates.push(first_steps::first_steps_ui(ctx, viewport, &plates, self.settings.first_steps, actions));
        }
        self.notices.toasts_ui(ctx, viewport, &plates, session.messages(), actions);
    }

    /// Draws the windows that are open.
    pub fn windows(&mut self, ctx: &Context, now: &Now<'_>, actions: &mut Actions) {
        self.sheet.ui(ctx, now);
        self.settings_window.ui(ctx, &self.settings, actions);
        self.notices.list_ui(ctx);
        self.log_panel.ui(ctx);
        self.about.ui(ctx);
        self.palette.ui(ctx, actions);
    }

    /// Closes the topmost window. Returns whether there was one.
    pub fn close_topmost(&mut self) -> bool {
        self.palette.close()
            || std::mem::take(&mut self.about.open)
            || self.sheet.close()
            || self.settings_window.close()
            || self.log_panel.close()
            || self.notices.close()
    }
}

impl Drop for Comfort {
    fn drop(&mut self) {
        if let Some(complaint) = self.save() {
            log::warn!("{complaint}");
        }
    }
}

/// Whether a source is one of the characters that come with the program.
#[must_use]
pub fn is_builtin(files: &[std::path::PathBuf]) -> bool {
    files.iter().any(|file| file.to_str().is_some_and(|name| name.starts_with("builtin:")))
}
