//! Menus, and the buttons that are always wanted.

use egui::{Button, MenuBar, RichText, Ui};

use crate::app::actions::{Action, Actions};
use crate::app::capture::CaptureAction;
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::app::viewport::views::CameraAction;
use crate::render::NamedView;
use crate::session::{Command, Source};

/// What the bar may read.
#[derive(Debug, Clone, Copy)]
pub struct TopBarView<'a> {
    /// Names of the built-in characters.
    pub builtins: &'a [&'a str],
    /// What undo would take back.
    pub undo: Option<&'a str>,
    /// What redo would do again.
    pub redo: Option<&'a str>,
    /// Whether a character is open.
    pub has_character: bool,
    /// Whether the side panel is shown.
    pub panel_shown: bool,
}

/// Draws the bar.
pub fn top_bar_ui(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| file_menu(ui, view, actions));
        ui.menu_button("Edit", |ui| edit_menu(ui, view, actions));
        ui.menu_button("View", |ui| view_menu(ui, view, actions));
        ui.menu_button("Help", |ui| item(ui, true, "Shortcuts", "F1", || actions.push(Action::ToggleHelp)));
        ui.add_space(10.0);
        if icons::text_button(ui, Icon::Open, "Open…").on_hover_text("Open a character (Ctrl+O), or drop files on the window").clicked() {
            actions.push(Action::OpenDialog);
        }
        ui.menu_button("Characters", |ui| builtins_menu(ui, view, actions));
        ui.add_space(10.0);
        undo_button(ui, Icon::Undo, "Undo", view.undo, Command::Undo, "Ctrl+Z", actions);
        undo_button(ui, Icon::Redo, "Redo", view.redo, Command::Redo, "Ctrl+Shift+Z", actions);
    });
}

fn undo_button(ui: &mut Ui, icon: Icon, name: &str, label: Option<&str>, command: Command, keys: &str, actions: &mut Actions) {
    let hover = format!("{} ({keys})", label.unwrap_or_default());
    let button = ui.add_enabled_ui(label.is_some(), |ui| icons::text_button(ui, icon, name)).inner;
    if button.on_hover_text(hover).clicked() {
        actions.once(command);
    }
}

/// A menu item with its shortcut on the right.
fn item(ui: &mut Ui, enabled: bool, name: &str, keys: &str, chosen: impl FnOnce()) {
    let button = Button::new(name).wrap_mode(egui::TextWrapMode::Extend);
    let button = if keys.is_empty() { button } else { button.shortcut_text(RichText::new(keys).color(theme::colors(ui.ctx()).text_weak)) };
    if ui.add_enabled(enabled, button).clicked() {
        chosen();
        ui.close();
    }
}

fn file_menu(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    item(ui, true, "Open…", "Ctrl+O", || actions.push(Action::OpenDialog));
    ui.menu_button("Built-in characters", |ui| builtins_menu(ui, view, actions));
    ui.separator();
    item(ui, view.has_character, "Load pose…", "", || actions.push(Action::LoadPoseDialog));
    item(ui, view.has_character, "Save pose…", "Ctrl+S", || actions.push(Action::SavePoseDialog));
    item(ui, view.has_character, "Export picture…", "Ctrl+E", || actions.push(Action::Capture(CaptureAction::ToggleDialog)));
    item(ui, view.has_character, "Copy view", "Ctrl+Shift+C", || actions.push(Action::Capture(CaptureAction::CopyView)));
    item(ui, true, "Copy window", "", || actions.push(Action::Capture(CaptureAction::CopyWindow)));
    ui.separator();
    item(ui, true, "Quit", "Ctrl+Q", || actions.push(Action::Quit));
}

fn builtins_menu(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    for name in view.builtins {
        item(ui, true, &capitalised(name), "", || actions.once(Command::Open(Source::builtin(name))));
    }
}

fn edit_menu(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    let named = |verb: &str, label: Option<&str>| label.map_or_else(|| verb.to_owned(), |label| format!("{verb}: {label}"));
    item(ui, view.undo.is_some(), &named("Undo", view.undo), "Ctrl+Z", || actions.once(Command::Undo));
    item(ui, view.redo.is_some(), &named("Redo", view.redo), "Ctrl+Shift+Z", || actions.once(Command::Redo));
    ui.separator();
    item(ui, view.has_character, "Reset pose", "R", || actions.once(Command::ResetPose));
    item(ui, view.has_character, "Stop the jiggle", "", || actions.once(Command::ResetSimulation));
}

fn view_menu(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    item(ui, view.has_character, "Frame", "F", || actions.push(Action::Frame));
    ui.separator();
    for (name, from) in NamedView::ALL {
        item(ui, view.has_character, &capitalised(name), "", || actions.push(Action::LookFrom(from)));
    }
    ui.separator();
    item(ui, view.has_character, "Frame everything", "Home", || actions.push(Action::Camera(CameraAction::FrameAll)));
    item(ui, view.has_character, "Perspective or parallel", "Pad 5", || actions.push(Action::Camera(CameraAction::ToggleProjection)));
    item(ui, view.has_character, "Turntable", "", || actions.push(Action::Camera(CameraAction::ToggleTurntable)));
    ui.separator();
    let name = if view.panel_shown { "Hide side panel" } else { "Show side panel" };
    item(ui, true, name, "N", || actions.push(Action::TogglePanel));
}

/// The first letter in upper case.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
