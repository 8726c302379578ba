//! Menus, built from the table of shortcuts, and buttons that are always visible.

use crate::app::widgets::capitalised;
use std::path::PathBuf;

use egui::{Align, Button, Layout, MenuBar, RichText, Ui};

use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::shortcuts::{self, ShortcutContext};
use crate::app::theme;
use crate::session::{Command, Source};

/// Input of the bar.
#[derive(Debug, Clone, Copy)]
pub struct TopBarView<'a> {
    /// Names of the built-in characters.
    pub builtins: &'a [&'a str],
    /// Recent files, newest first.
    pub recent: &'a [Vec<PathBuf>],
    /// The window's state.
    pub now: ShortcutContext<'a>,
}

/// An entry of a menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// A row of the table of shortcuts, by its id.
    Row(&'static str),
    /// A line between entries.
    Line,
    /// The built-in characters.
    Builtins,
    /// Recent files.
    Recent,
    /// A submenu.
    Sub(&'static str, &'static [Item]),
}

use Item::{Builtins, Line, Recent, Row, Sub};

/// The menus from left to right.
const MENUS: [(&str, &[Item]); 7] = [
    (
        "File",
        &[
            Row("new"),
            Row("open"),
            Recent,
            Builtins,
            Line,
            Row("save"),
            Row("save.as"),
            Row("save.packed"),
            Line,
            Row("pose.load"),
            Row("pose.save"),
            Row("skeleton.save"),
            Line,
            Row("export.files"),
            Row("distill"),
            Row("report"),
            Row("export"),
            Row("copy.view"),
            Row("copy.window"),
            Line,
            Row("quit"),
        ],
    ),
    (
        "Edit",
        &[
            Row("undo"),
            Row("redo"),
            Line,
            Row("palette"),
            Row("settings"),
        ],
    ),
    (
        "View",
        &[
            Row("frame"),
            Row("frame.all"),
            Row("projection"),
            Row("turntable"),
            Line,
            Row("layout.single"),
            Row("layout.methods"),
            Row("layout.four"),
            Row("layout.before-after"),
            Line,
            Sub(
                "Look from",
                &[
                    Row("look.front"),
                    Row("look.back"),
                    Row("look.left"),
                    Row("look.right"),
                    Row("look.top"),
                    Row("look.bottom"),
                    Row("look.three-quarter"),
                ],
            ),
            Line,
            Row("bones"),
            Row("wireframe"),
            Row("ghosts"),
            Line,
            Row("split.right"),
            Row("split.below"),
            Row("compare.wipe"),
            Row("compare.flicker"),
            Row("compare.distance"),
            Line,
            Row("theme"),
            Row("scale.up"),
            Row("scale.down"),
            Row("scale.reset"),
        ],
    ),
    (
        "Pose",
        &[
            Row("tool.drag"),
            Row("tool.rotate"),
            Row("tool.move"),
            Row("tool.paint"),
            Row("tool.axes"),
            Line,
            Row("pins.toggle"),
            Row("limits.human"),
            Row("limits.none"),
            Line,
            Row("pose.copy"),
            Row("pose.paste"),
            Row("pose.paste_mirrored"),
            Row("pose.mirror"),
            Row("pose.reset"),
            Line,
            Row("jiggle.stop"),
            Row("play"),
            Row("clip.none"),
        ],
    ),
    (
        "Skeleton",
        &[
            Row("mode.edit"),
            Row("mode.pose"),
            Line,
            Row("template.human"),
            Row("template.hand"),
            Row("template.four-legged"),
        ],
    ),
    (
        "Window",
        &[
            Row("panel"),
            Row("scoreboard"),
            Row("worst"),
            Row("mapping"),
            Line,
            Row("notices"),
            Row("log"),
        ],
    ),
    (
        "Help",
        &[Row("sheet"), Row("first-steps"), Line, Row("about")],
    ),
];

/// Narrow bars have shorter texts.
const NARROW: f32 = 800.0;
/// Approximate heights of a menu entry and of a separator, points.
const ENTRY: f32 = 27.0;
const LINE: f32 = 12.0;

/// Draws the bar.
pub fn top_bar_ui(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    let narrow = ui.available_width() < NARROW;
    MenuBar::new().ui(ui, |ui| {
        for (title, items) in MENUS {
            ui.menu_button(title, |ui| menu_ui(ui, items, view, actions));
        }
        ui.add_space(8.0);
        // Both are in the file menu, too.
        if !narrow {
            if shortcuts::tip(icons::text_button(ui, Icon::Open, "Open…"), "open").clicked() {
                actions.push(Action::OpenDialog);
            }
            ui.menu_button("Characters", |ui| builtins_ui(ui, view, actions));
            ui.add_space(8.0);
        }
        mode_switch(ui, &view.now, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let theme_icon = if ui.visuals().dark_mode {
                Icon::Sun
            } else {
                Icon::Moon
            };
            let buttons = [
                (Icon::Gear, "settings"),
                (theme_icon, "theme"),
                (Icon::Search, "palette"),
                (Icon::Redo, "redo"),
                (Icon::Undo, "undo"),
            ];
            for (icon, id) in buttons {
                icons::command_button(ui, icon, id, &view.now, actions);
            }
        });
    });
}

/// Mode switch: Pose | Edit.
fn mode_switch(ui: &mut Ui, now: &ShortcutContext<'_>, actions: &mut Actions) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (name, id, chosen) in [
        ("Pose", "mode.pose", !now.editing),
        ("Edit", "mode.edit", now.editing),
    ] {
        let chosen = chosen && now.has_character;
        let button = Button::new(name)
            .selected(chosen)
            .min_size(egui::vec2(54.0, 24.0));
        let response = ui.add_enabled(now.has_character, button);
        response.widget_info(|| {
            egui::WidgetInfo::selected(
                egui::Role::RadioButton,
                now.has_character,
                chosen,
                format!("{name} mode"),
            )
        });
        if shortcuts::tip(response, id).clicked() && !chosen {
            actions.extend(shortcuts::find(id).and_then(shortcuts::Shortcut::action));
        }
    }
}

fn menu_ui(ui: &mut Ui, items: &[Item], view: &TopBarView<'_>, actions: &mut Actions) {
    ui.set_min_width(210.0);
    let switches = |item: &Item| matches!(item, Row(id) if shortcuts::find(id).is_some_and(|shortcut| shortcut.is_on.is_some()));
    if items.iter().any(switches) {
        // Space for check marks.
        ui.spacing_mut().button_padding.x += TICK;
    }
    let room = ui.ctx().content_rect().bottom() - ui.min_rect().top() - 24.0;
    let height = |item: &Item| if matches!(item, Line) { LINE } else { ENTRY };
    if items.iter().map(height).sum::<f32>() <= room {
        return items_ui(ui, items, view, actions);
    }
    // The menu is higher than the window.
    egui::ScrollArea::vertical()
        .max_height(room.max(4.0 * ENTRY))
        .show(ui, |ui| items_ui(ui, items, view, actions));
}

fn items_ui(ui: &mut Ui, items: &[Item], view: &TopBarView<'_>, actions: &mut Actions) {
    for item in items {
        match item {
            Row(id) => row_ui(ui, id, &view.now, actions),
            Line => {
                ui.separator();
            }
            Builtins => {
                ui.menu_button("Built-in characters", |ui| builtins_ui(ui, view, actions));
            }
            Recent => recent_ui(ui, view, actions),
            Sub(title, items) => {
                ui.menu_button(*title, |ui| menu_ui(ui, items, view, actions));
            }
        }
    }
}

/// A row of the table as a menu entry: check mark, title, keys.
fn row_ui(ui: &mut Ui, id: &str, now: &ShortcutContext<'_>, actions: &mut Actions) {
    let Some(shortcut) = shortcuts::find(id) else {
        return;
    };
    let title = match (id, now.undo, now.redo) {
        ("undo", Some(label), _) | ("redo", _, Some(label)) => {
            format!("{}: {}", shortcut.title, lowered(label))
        }
        _ => shortcut.title.to_owned(),
    };
    let on = shortcut.on(now);
    let keys = shortcuts::Bindings::get(ui.ctx()).text(shortcut);
    let response = entry(ui, now.allows(shortcut), &title, &keys, on);
    if response
        .on_hover_text(shortcut.sentence)
        .on_disabled_hover_text(shortcut.sentence)
        .clicked()
    {
        actions.extend(shortcut.action());
        ui.close();
    }
}

/// Space for a check mark beside a menu entry, points.
const TICK: f32 = 14.0;

/// One menu entry.
fn entry(ui: &mut Ui, enabled: bool, title: &str, keys: &str, on: Option<bool>) -> egui::Response {
    let colors = theme::colors(ui.ctx());
    let mut button = Button::new(title).wrap_mode(egui::TextWrapMode::Extend);
    if !keys.is_empty() {
        button = button.shortcut_text(RichText::new(keys).color(colors.text_weak));
    } else if on == Some(true) {
        button = button.shortcut_text("");
    }
    let response = ui.add_enabled(enabled, button);
    if on == Some(true) {
        let at = egui::pos2(response.rect.left() + 0.7 * TICK, response.rect.center().y);
        icons::paint(
            ui.painter(),
            egui::Rect::from_center_size(at, egui::vec2(9.0, 9.0)),
            Icon::Check,
            colors.accent,
        );
    }
    if let Some(on) = on {
        response
            .widget_info(|| egui::WidgetInfo::selected(egui::Role::CheckBox, enabled, on, title));
    }
    response
}

fn builtins_ui(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    for name in view.builtins {
        if entry(ui, true, &capitalised(name), "", None).clicked() {
            actions.once(Command::Open(Source::builtin(name)));
            ui.close();
        }
    }
}

fn recent_ui(ui: &mut Ui, view: &TopBarView<'_>, actions: &mut Actions) {
    ui.add_enabled_ui(!view.recent.is_empty(), |ui| {
        ui.menu_button("Open recent", |ui| {
            for files in view.recent {
                let response = entry(ui, true, &names_of(files), "", None);
                let paths: Vec<_> = files
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                if response.on_hover_text(paths.join("\n")).clicked() {
                    actions.push(Action::OpenFiles(files.clone()));
                    ui.close();
                }
            }
        });
    });
}

/// Names of files that were opened together.
#[must_use]
pub fn names_of(files: &[PathBuf]) -> String {
    let name = |file: &PathBuf| {
        file.file_name()
            .unwrap_or(file.as_os_str())
            .to_string_lossy()
            .into_owned()
    };
    match files {
        [] => String::new(),
        [one] => name(one),
        [first, others @ ..] if others.len() > 2 => {
            format!("{} and {} more", name(first), others.len())
        }
        several => several.iter().map(name).collect::<Vec<_>>().join(" + "),
    }
}

/// Lower-cases the first letter.
fn lowered(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
