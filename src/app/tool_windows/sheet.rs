//! The shortcut sheet: mouse actions and all commands with their keys, which are changed here.

mod editor;

use egui::{Button, ComboBox, Context, Event, RichText, ScrollArea, TextEdit, Ui, vec2};

use self::editor::KeyEditor;
use super::super::shortcuts::{self, Bindings, Group, Shortcut, ShortcutContext};
use super::super::theme;
use crate::app::actions::{Action, Actions, ToolWindowAction};
use crate::app::keymap::{Keymap, KeymapPreset};
use crate::app::popup::CENTER;
use crate::app::popup::dialog;
use crate::app::settings::Settings;

/// Mouse actions.
const MOUSE: [(&str, &str); 8] = [
    ("Click", "Select the joint or the limb under the pointer"),
    ("Drag a ring", "Turn the joint; Ctrl snaps"),
    (
        "Drag the flesh or a joint",
        "The body follows; pins and limits hold",
    ),
    ("Drag beside the character", "Orbit"),
    ("Middle drag", "Orbit"),
    ("Right drag, Shift+drag", "Pan"),
    ("Wheel, pinch", "Zoom towards the pointer"),
    ("Drop files", "Open what belongs together"),
];

/// Width of the column of keys, points.
const KEYS_WIDTH: f32 = 196.0;
/// Width of a column of groups, points.
const COLUMN_WIDTH: f32 = 480.0;

/// The shortcut sheet.
#[derive(Debug, Clone, Default)]
pub struct ShortcutSheet {
    open: bool,
    fresh: bool,
    search: String,
    /// Whether commands without keys are listed, too.
    lists_all: bool,
    editor: KeyEditor,
    /// What became of the last copied or pasted keymap.
    remark: Option<Result<&'static str, String>>,
}

impl ShortcutSheet {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self {
            open: !self.open,
            fresh: true,
            ..Self::default()
        };
    }

    /// Whether the next keys are for a command.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.open && self.editor.is_recording()
    }

    /// Takes the keys that are pressed for a command. Returns the keymap if it changes.
    pub fn record(&mut self, ctx: &Context, keymap: &Keymap) -> Option<Keymap> {
        self.editor.record(ctx, keymap)
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes it. Returns whether it was open.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    /// Draws it, if it is open; changes of the keymap are pushed.
    pub fn ui(
        &mut self,
        ctx: &Context,
        now: &ShortcutContext<'_>,
        settings: &Settings,
        actions: &mut Actions,
    ) {
        let mut open = self.open;
        let size = ctx.content_rect().size();
        let columns = if size.x > 2.0 * COLUMN_WIDTH + 80.0 {
            2
        } else {
            1
        };
        let width = COLUMN_WIDTH * columns as f32 + 16.0;
        let mut changed = open.then(|| self.pasted(ctx)).flatten();
        dialog(ctx, "Shortcuts", &mut open, width, CENTER, |ui| {
            let search = TextEdit::singleline(&mut self.search)
                .hint_text("Search shortcuts")
                .desired_width(f32::INFINITY);
            let response = ui.add(search);
            crate::app::widgets::name_text_field(&response, "Search shortcuts");
            if std::mem::take(&mut self.fresh) {
                response.request_focus();
            }
            changed = self.keymap_ui(ui, &settings.keymap).or(changed.take());
            ui.add_space(4.0);
            let height = (size.y - 200.0).clamp(120.0, 620.0);
            ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    changed = self
                        .contents(ui, now, &settings.keymap, columns)
                        .or(changed.take());
                });
        });
        self.open = open;
        if let Some(keymap) = changed.filter(|keymap| *keymap != settings.keymap) {
            let settings = Settings {
                keymap,
                ..settings.clone()
            };
            actions.push(Action::ToolWindows(ToolWindowAction::Change(Box::new(
                settings,
            ))));
        }
    }

    /// A keymap that is pasted while the sheet is open; other text goes to the search.
    fn pasted(&mut self, ctx: &Context) -> Option<Keymap> {
        let mut pasted = None;
        ctx.input_mut(|input| {
            input.events.retain(|event| match event {
                Event::Paste(text) if text.contains("sinew_keymap") => {
                    pasted = Some(Keymap::from_text(text));
                    false
                }
                _ => true,
            });
        });
        let read = pasted?;
        self.remark = Some(match &read {
            Ok(_) => Ok("The pasted keymap is used."),
            Err(sentence) => Err(sentence.clone()),
        });
        read.ok()
    }

    /// The preset, and what is done with the keymap as a whole.
    fn keymap_ui(&mut self, ui: &mut Ui, keymap: &Keymap) -> Option<Keymap> {
        let mut edited = keymap.clone();
        let colors = theme::colors(ui.ctx());
        ui.horizontal_wrapped(|ui| {
            let label = ui.label(RichText::new("Keys as in").color(colors.text_weak));
            ComboBox::from_id_salt("keymap preset")
                .selected_text(keymap.preset.label())
                .show_ui(ui, |ui| {
                    for preset in KeymapPreset::ALL {
                        ui.selectable_value(&mut edited.preset, preset, preset.label());
                    }
                })
                .response
                .labelled_by(label.id);
            ui.checkbox(&mut self.lists_all, "All commands")
                .on_hover_text(
                    "Lists commands without keys, too; a click on a command changes its keys",
                );
            let copy = ui.button("Copy keymap");
            if copy
                .on_hover_text("Copies the keymap as text; Ctrl+V in this window reads such a text")
                .clicked()
            {
                ui.ctx().copy_text(keymap.to_text());
                self.remark = Some(Ok("The keymap is on the clipboard."));
            }
            let reset = Button::new("Reset all");
            if ui
                .add_enabled(!keymap.changes.is_empty(), reset)
                .on_hover_text("Gives all commands the keys of the preset")
                .on_disabled_hover_text("All commands have the keys of the preset")
                .clicked()
            {
                edited.changes.clear();
            }
            match &self.remark {
                Some(Ok(text)) => drop(ui.label(RichText::new(*text).color(colors.text_weak))),
                Some(Err(text)) => drop(ui.label(RichText::new(text).color(colors.error))),
                None => {}
            }
        });
        (edited != *keymap).then_some(edited)
    }

    fn contents(
        &mut self,
        ui: &mut Ui,
        now: &ShortcutContext<'_>,
        keymap: &Keymap,
        columns: usize,
    ) -> Option<Keymap> {
        let bindings = Bindings::get(ui.ctx());
        let blocks = blocks(now, &bindings, self.search.trim(), self.lists_all);
        if blocks.is_empty() {
            ui.label(RichText::new("No match").color(theme::colors(ui.ctx()).text_weak));
            return None;
        }
        let mut changed = None;
        let mut column_ui = |ui: &mut Ui, blocks: &[ShortcutBlock]| {
            for block in blocks {
                changed = block_ui(ui, block, &mut self.editor, keymap).or(changed.take());
            }
        };
        if columns == 1 {
            column_ui(ui, &blocks);
            return changed;
        }
        let rows: usize = blocks.iter().map(|(_, rows)| rows.len() + 2).sum();
        let mut taken = 0;
        let split = blocks.iter().position(|(_, block)| {
            taken += block.len() + 2;
            taken > rows / 2
        });
        let (left, right) = blocks.split_at((split.unwrap_or(0) + 1).min(blocks.len()));
        ui.columns(2, |columns| {
            for (column, blocks) in columns.iter_mut().zip([left, right]) {
                column_ui(column, blocks);
            }
        });
        changed
    }
}

/// A line of the sheet.
struct SheetRow {
    keys: String,
    title: &'static str,
    sentence: &'static str,
    /// The command, unless it is a mouse action.
    shortcut: Option<&'static Shortcut>,
}

/// A heading with its lines.
type ShortcutBlock = (&'static str, Vec<SheetRow>);

fn blocks(
    now: &ShortcutContext<'_>,
    bindings: &Bindings,
    search: &str,
    lists_all: bool,
) -> Vec<ShortcutBlock> {
    let wanted = search.to_lowercase();
    let lists_all = lists_all || !wanted.is_empty();
    let fits = |texts: &[&str]| {
        wanted.is_empty()
            || texts
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
    };
    let mouse: Vec<_> = MOUSE
        .iter()
        .filter(|(input, what)| fits(&[input, what]))
        .map(|(input, what)| SheetRow {
            keys: (*input).to_owned(),
            title: what,
            sentence: "",
            shortcut: None,
        })
        .collect();
    let mut blocks = vec![("Mouse", mouse)];
    for group in Group::ALL {
        let in_mode = |shortcut: &Shortcut| match shortcut.mode {
            shortcuts::ActiveMode::Always => true,
            shortcuts::ActiveMode::Editing => now.editing,
            shortcuts::ActiveMode::Posing => !now.editing,
        };
        let rows = shortcuts::ALL
            .iter()
            .filter(|shortcut| shortcut.group == group)
            .map(|shortcut| (bindings.all_text(shortcut), shortcut))
            .filter(|(keys, shortcut)| {
                (lists_all || !keys.is_empty() && in_mode(shortcut))
                    && fits(&[keys, shortcut.title, shortcut.sentence, shortcut.words])
            })
            .map(|(keys, shortcut)| SheetRow {
                keys,
                title: shortcut.title,
                sentence: shortcut.sentence,
                shortcut: Some(shortcut),
            })
            .collect();
        blocks.push((group.title(), rows));
    }
    blocks.retain(|(_, rows)| !rows.is_empty());
    blocks
}

/// Draws a block. Returns the keymap if it changes.
fn block_ui(
    ui: &mut Ui,
    (title, rows): &ShortcutBlock,
    editor: &mut KeyEditor,
    keymap: &Keymap,
) -> Option<Keymap> {
    let colors = theme::colors(ui.ctx());
    let mut changed = None;
    ui.label(RichText::new(*title).color(colors.text_strong).strong());
    for row in rows {
        let clicked = row_ui(ui, row);
        let Some(shortcut) = row.shortcut else {
            continue;
        };
        if clicked {
            editor.toggle(shortcut);
        }
        if editor.row.is_some_and(|edited| edited.id == shortcut.id) {
            ui.indent(shortcut.id, |ui| {
                changed = editor.ui(ui, keymap).or(changed.take());
            });
        }
    }
    ui.add_space(8.0);
    changed
}

/// Draws a line. Returns whether it was clicked.
fn row_ui(ui: &mut Ui, row: &SheetRow) -> bool {
    let colors = theme::colors(ui.ctx());
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y.min(18.0);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(vec2(KEYS_WIDTH, height), layout, |ui| {
            ui.set_min_width(KEYS_WIDTH);
            ui.add(egui::Label::new(RichText::new(&row.keys).color(colors.accent)).truncate());
        });
        let title = RichText::new(row.title).color(colors.text);
        if row.shortcut.is_none() {
            ui.add(egui::Label::new(title).truncate());
            return false;
        }
        ui.add(Button::new(title).frame(false).truncate())
            .on_hover_text(format!("{}. Click to change the keys", row.sentence))
            .clicked()
    })
    .inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sheet_lists_every_row_that_has_keys_in_this_mode_and_finds_by_any_word() {
        let (now, bindings) = (ShortcutContext::default(), Bindings::of(&Keymap::default()));
        let count = |lists_all| -> usize {
            let blocks = blocks(&now, &bindings, "", lists_all);
            blocks.iter().map(|(_, rows)| rows.len()).sum()
        };
        let with_keys = shortcuts::ALL.iter().filter(|row| {
            !bindings.text(row).is_empty() && row.mode != shortcuts::ActiveMode::Editing
        });
        assert_eq!(count(false), MOUSE.len() + with_keys.count());
        assert_eq!(count(true), MOUSE.len() + shortcuts::ALL.len());
        let blocks = |search| blocks(&now, &bindings, search, false);
        assert!(
            blocks("ctrl+shift+z")
                .iter()
                .any(|(_, rows)| rows.iter().any(|row| row.title == "Redo"))
        );
        assert!(blocks("xyzzy").is_empty());
    }
}
