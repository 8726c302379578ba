//! The shortcut sheet: mouse actions and all shortcuts, from the shortcut table.

use egui::{Context, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::super::shortcuts::{self, Group, Shortcut, ShortcutContext};
use super::super::theme;
use crate::app::popup::CENTER;
use crate::app::popup::dialog;

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
}

impl ShortcutSheet {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self {
            open: !self.open,
            fresh: true,
            search: String::new(),
        };
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

    /// Draws it, if it is open.
    pub fn ui(&mut self, ctx: &Context, now: &ShortcutContext<'_>) {
        let mut open = self.open;
        let size = ctx.content_rect().size();
        let columns = if size.x > 2.0 * COLUMN_WIDTH + 80.0 {
            2
        } else {
            1
        };
        let width = COLUMN_WIDTH * columns as f32 + 16.0;
        dialog(ctx, "Shortcuts", &mut open, width, CENTER, |ui| {
            let search = TextEdit::singleline(&mut self.search)
                .hint_text("Search shortcuts")
                .desired_width(f32::INFINITY);
            let response = ui.add(search);
            crate::app::widgets::name_text_field(&response, "Search shortcuts");
            if std::mem::take(&mut self.fresh) {
                response.request_focus();
            }
            ui.add_space(4.0);
            let height = (size.y - 160.0).clamp(120.0, 620.0);
            ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    contents(ui, now, self.search.trim(), columns);
                });
        });
        self.open = open;
    }
}

/// A heading with rows of keys and their actions.
type ShortcutBlock = (&'static str, Vec<(String, &'static str, &'static str)>);

fn contents(ui: &mut Ui, now: &ShortcutContext<'_>, search: &str, columns: usize) {
    let blocks = blocks(now, search);
    if blocks.is_empty() {
        ui.label(RichText::new("No match").color(theme::colors(ui.ctx()).text_weak));
        return;
    }
    if columns == 1 {
        for block in &blocks {
            block_ui(ui, block);
        }
        return;
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
            for block in blocks {
                block_ui(column, block);
            }
        }
    });
}

fn blocks(now: &ShortcutContext<'_>, search: &str) -> Vec<ShortcutBlock> {
    let wanted = search.to_lowercase();
    let fits = |texts: &[&str]| {
        wanted.is_empty()
            || texts
                .iter()
                .any(|text| text.to_lowercase().contains(&wanted))
    };
    let mouse: Vec<_> = MOUSE
        .iter()
        .filter(|(input, what)| fits(&[input, what]))
        .map(|(input, what)| ((*input).to_owned(), *what, ""))
        .collect();
    let mut blocks = vec![("Mouse", mouse)];
    for group in Group::ALL {
        let listed = |shortcut: &&Shortcut| {
            let keys = shortcut.all_keys_text();
            shortcut.group == group
                // Entries without keys are listed only for a search.
                && (!keys.is_empty() || !wanted.is_empty())
                && (shortcut.mode == shortcuts::ActiveMode::Always
                    || shortcut.mode == shortcuts::ActiveMode::Editing && now.editing
                    || shortcut.mode == shortcuts::ActiveMode::Posing && !now.editing
                    || !wanted.is_empty())
                && fits(&[&keys, shortcut.title, shortcut.sentence, shortcut.words])
        };
        let rows = shortcuts::ALL
            .iter()
            .filter(listed)
            .map(|shortcut| (shortcut.all_keys_text(), shortcut.title, shortcut.sentence))
            .collect();
        blocks.push((group.title(), rows));
    }
    blocks.retain(|(_, rows)| !rows.is_empty());
    blocks
}

fn block_ui(ui: &mut Ui, (title, rows): &ShortcutBlock) {
    let colors = theme::colors(ui.ctx());
    ui.label(RichText::new(*title).color(colors.text_strong).strong());
    for (keys, title, sentence) in rows {
        ui.horizontal(|ui| {
            let height = ui.spacing().interact_size.y.min(18.0);
            let layout = egui::Layout::left_to_right(egui::Align::Center);
            ui.allocate_ui_with_layout(vec2(KEYS_WIDTH, height), layout, |ui| {
                ui.set_min_width(KEYS_WIDTH);
                ui.add(egui::Label::new(RichText::new(keys).color(colors.accent)).truncate());
            });
            let label =
                ui.add(egui::Label::new(RichText::new(*title).color(colors.text)).truncate());
            if !sentence.is_empty() {
                label.on_hover_text(*sentence);
            }
        });
    }
    ui.add_space(8.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sheet_lists_every_row_that_has_keys_in_this_mode_and_finds_by_any_word() {
        let now = ShortcutContext::default();
        let listed: usize = blocks(&now, "").iter().map(|(_, rows)| rows.len()).sum();
        let with_keys = shortcuts::ALL.iter().filter(|row| {
            !row.keys_text().is_empty() && row.mode != shortcuts::ActiveMode::Editing
        });
        assert_eq!(listed, MOUSE.len() + with_keys.count());
        assert!(
            blocks(&now, "ctrl+shift+z")
                .iter()
                .any(|(_, rows)| rows.iter().any(|row| row.1 == "Redo"))
        );
        assert!(blocks(&now, "xyzzy").is_empty());
    }
}
