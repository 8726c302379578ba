//! Settings, palette, shortcut sheet, log, notices and introduction.
//!
//! [`ToolWindows`] is the state of all of it. Panels push [`ToolWindowAction`]s; the workbench hands them to [`ToolWindows::carry_out`].

mod about;
mod entries;
mod first_steps;
pub mod fuzzy;
mod log_panel;
pub mod palette;
pub mod settings_window;
pub mod sheet;

use crate::app::actions::ToolWindowAction;
use egui::{Context, Rect};

use self::about::About;
use self::log_panel::LogPanel;
use self::palette::CommandPalette;
use self::settings_window::SettingsWindow;
use self::sheet::ShortcutSheet;
use super::actions::{Action, Actions};
use super::notices::Notices;
use super::panels::overlays::LookView;
use super::settings::{FirstSteps, LoadedSettings, Settings, SettingsFile, ThemeChoice, UI_SCALES};
use super::shortcuts::{Bindings, ShortcutContext};
use crate::session::{Command, Session};

/// Steps of the interface scale.
const SCALE_STEP: f32 = 0.1;

/// Settings, and the windows that are open.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, not states"
)]
pub struct ToolWindows {
    settings: Settings,
    file: Option<SettingsFile>,
    /// Whether the settings have unsaved changes.
    unsaved: bool,
    applied: bool,
    /// Whether the introduction was requested in this run, or is not dismissed yet.
    offers_first_steps: bool,
    /// Whether the introduction was shown in this run: it then stays over opened files, but is not
    /// opened during other work.
    first_steps_shown: bool,
    /// The theme for which the views were last drawn.
    theme: Option<egui::Theme>,
    /// Memory of the process as text, and the time of the query, on egui's clock.
    memory: (String, f64),
    /// All notices.
    pub notices: Notices,
    palette: CommandPalette,
    sheet: ShortcutSheet,
    settings_window: SettingsWindow,
    log_panel: LogPanel,
    about: About,
}

impl ToolWindows {
    /// Starts with the settings of a file, and a notice if they could not be read completely. The
    /// introduction is shown unless it was dismissed.
    #[must_use]
    pub fn with_file(file: SettingsFile) -> (Self, Option<String>) {
        let LoadedSettings { settings, warning } = file.load();
        let mut tool_windows = Self::default();
        tool_windows.offers_first_steps = !settings.first_steps.dismissed;
        (tool_windows.settings, tool_windows.file) = (settings, Some(file));
        (tool_windows, warning)
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Sets the graphics adapter's name for the about window.
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

    /// Applies the settings, and writes changed ones when no drag is active. Returns a sentence if
    /// they cannot be written.
    pub fn apply_and_save(&mut self, ctx: &Context) -> Option<String> {
        if !self.applied {
            self.settings.apply(ctx);
            Bindings::of(&self.settings.keymap).install(ctx);
            self.applied = true;
        }
        if self.unsaved && !ctx.input(|input| input.pointer.any_down()) {
            return self.save();
        }
        None
    }

    /// Takes the keys that are pressed for a command, if the user is asked for them. Returns whether they were.
    pub fn record_keys(&mut self, ctx: &Context) -> bool {
        if !self.sheet.is_recording() {
            return false;
        }
        if let Some(keymap) = self.sheet.record(ctx, &self.settings.keymap) {
            self.change(|settings| settings.keymap = keymap);
        }
        true
    }

    /// Writes changed settings. Returns a sentence if they cannot be written.
    pub fn save(&mut self) -> Option<String> {
        if !std::mem::take(&mut self.unsaved) {
            return None;
        }
        let file = self.file.as_ref()?;
        let error = file.save(&self.settings).err()?;
        Some(format!(
            "The settings could not be written to {}: {error}. They hold until the window is closed.",
            file.path().display()
        ))
    }

    /// The theme, if it differs from that of the last call; dark at first.
    pub fn changed_theme(&mut self, ctx: &Context) -> Option<egui::Theme> {
        let before = self.theme.replace(ctx.theme()).unwrap_or(egui::Theme::Dark);
        (before != ctx.theme()).then(|| ctx.theme())
    }

    /// Memory of the process as text, queried periodically; empty where the system does not report
    /// it.
    pub fn memory_text(&mut self, ctx: &Context) -> &str {
        let now_secs = ctx.input(|input| input.time);
        if self.memory.0.is_empty() || now_secs - self.memory.1 > 2.0 {
            self.memory = (super::status::memory_text().unwrap_or_default(), now_secs);
        }
        &self.memory.0
    }

    /// Applies an action.
    pub fn carry_out(
        &mut self,
        ctx: &Context,
        action: ToolWindowAction,
        session: &Session,
        look: Option<&LookView>,
        now: &ShortcutContext<'_>,
    ) {
        match action {
            ToolWindowAction::ToggleTheme => {
                let theme = if ctx.theme() == egui::Theme::Dark {
                    ThemeChoice::Light
                } else {
                    ThemeChoice::Dark
                };
                self.change(|settings| settings.theme = theme);
            }
            ToolWindowAction::Larger => self.scale(SCALE_STEP),
            ToolWindowAction::Smaller => self.scale(-SCALE_STEP),
            ToolWindowAction::UsualScale => self.change(|settings| settings.ui_scale = 1.0),
            ToolWindowAction::Change(settings) => self.change(|present| *present = *settings),
            ToolWindowAction::TogglePalette => {
                if !self.palette.close() {
                    let bindings = Bindings::get(ctx);
                    let entries = entries::gather(&bindings, session, &self.settings, look, now);
                    self.palette.open(entries);
                }
            }
            ToolWindowAction::ToggleSheet => self.sheet.toggle(),
            ToolWindowAction::ToggleSettings => self.settings_window.toggle(),
            ToolWindowAction::ShowSetting(name) => self.settings_window.show(name),
            ToolWindowAction::ToggleNotices => self.notices.toggle(),
            ToolWindowAction::ToggleLog => self.log_panel.toggle(),
            ToolWindowAction::ToggleFirstSteps => {
                let shows = !(self.offers_first_steps && self.first_steps_shown);
                (self.offers_first_steps, self.first_steps_shown) = (shows, shows);
                self.change(|settings| {
                    settings.first_steps = FirstSteps {
                        done: [false; 3],
                        dismissed: settings.first_steps.dismissed,
                    }
                });
            }
            ToolWindowAction::DismissFirstSteps => self.dismiss_first_steps(),
            ToolWindowAction::ToggleAbout => self.about.open = !self.about.open,
        }
    }

    fn scale(&mut self, by: f32) {
        self.change(|settings| {
            let steps = ((settings.ui_scale + by) / SCALE_STEP).round();
            settings.ui_scale = (steps * SCALE_STEP).clamp(*UI_SCALES.start(), *UI_SCALES.end());
        });
    }

    fn dismiss_first_steps(&mut self) {
        self.offers_first_steps = false;
        self.change(|settings| settings.first_steps.dismissed = true);
    }

    /// Ticks the exercises of the introduction that an action completes.
    pub fn tick_exercises(&mut self, action: &Action, session: &Session) {
        if !(self.offers_first_steps && self.first_steps_shown) {
            return;
        }
        let mannequin = is_builtin(&session.document().source.files);
        let posed = || {
            let document = session.document();
            document
                .skeleton()
                .is_some_and(|skeleton| skeleton.rest_pose() != document.pose)
        };
        let playing = matches!(
            action,
            Action::Session(Command::TogglePlaying | Command::SetPlaying(true), _)
        );
        let opened = matches!(
            action,
            Action::Session(Command::AddMotions(_), _) | Action::OpenFiles(_)
        ) || matches!(action, Action::Session(Command::Open(source), _) if !is_builtin(&source.files));
        let dragged = matches!(
            action,
            Action::Session(_, crate::session::Gesture::Released)
        ) && posed();
        let done = [mannequin && dragged, mannequin && playing, opened];
        if self.settings.first_steps.done == [true; 3] && (dragged || playing || opened) {
            // Continuing means that the text was read.
            self.dismiss_first_steps();
            return;
        }
        self.change(|settings| {
            for (step, done) in settings.first_steps.done.iter_mut().zip(done) {
                *step |= done;
            }
        });
    }

    /// Draws floating cards beside these plates: messages, and the introduction.
    pub fn over_views(
        &mut self,
        ctx: &Context,
        viewport: Rect,
        mut plates: Vec<Rect>,
        session: &Session,
        actions: &mut Actions,
    ) {
        // The exercises need the mannequin; with another file only their completion is shown.
        let all = self.settings.first_steps.done == [true; 3];
        let living =
            session.subject().is_some() && (all || is_builtin(&session.document().source.files));
        if self.offers_first_steps && living && first_steps::fits(viewport) {
            self.first_steps_shown = true;
            plates.push(first_steps::first_steps_ui(
                ctx,
                viewport,
                &plates,
                self.settings.first_steps,
                actions,
            ));
        }
        self.notices
            .toasts_ui(ctx, viewport, &plates, session.messages(), actions);
    }

    /// Draws the windows that are open.
    pub fn windows(&mut self, ctx: &Context, now: &ShortcutContext<'_>, actions: &mut Actions) {
        self.sheet.ui(ctx, now, &self.settings, actions);
        self.settings_window.ui(ctx, &self.settings, actions);
        self.notices.list_ui(ctx);
        self.log_panel.ui(ctx);
        self.about.ui(ctx);
        self.palette.ui(ctx, actions);
    }

    /// Whether a window is open, in which Tab moves the focus.
    #[must_use]
    pub fn is_any_open(&self) -> bool {
        self.palette.is_open()
            || self.about.open
            || self.sheet.is_open()
            || self.settings_window.is_open()
            || self.log_panel.is_open()
            || self.notices.is_open()
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

impl Drop for ToolWindows {
    fn drop(&mut self) {
        if let Some(warning) = self.save() {
            log::warn!("{warning}");
        }
    }
}

/// Whether a source is a built-in character.
#[must_use]
pub fn is_builtin(files: &[std::path::PathBuf]) -> bool {
    files.iter().any(|file| {
        file.to_str()
            .is_some_and(|name| name.starts_with("builtin:"))
    })
}
