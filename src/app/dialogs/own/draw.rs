//! Draws the program's own file dialog.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use egui::{
    Button, ComboBox, Context, Id, Key, Modal, Modifiers, RichText, ScrollArea, TextEdit, Ui, vec2,
};

use super::super::listing::Entry;
use super::super::places::{home, places, short_name};
use super::super::request::Choice;
use super::{OwnDialog, change};
use crate::app::actions::Actions;
use crate::app::settings::Settings;
use crate::app::theme;
use crate::app::widgets::name_text_field;

/// Size of the two lists, points.
const PLACES_WIDTH: f32 = 170.0;
const WIDTH: f32 = 720.0;
const HEIGHT: f32 = 330.0;

impl OwnDialog {
    /// Draws the dialog. Returns the chosen files; none if it was cancelled.
    pub(in crate::app::dialogs) fn ui(
        &mut self,
        ctx: &Context,
        settings: &Settings,
        actions: &mut Actions,
    ) -> Option<Vec<PathBuf>> {
        self.listing.poll();
        let room = ctx.content_rect().size() - vec2(60.0, 220.0);
        let [width, height] = [WIDTH.min(room.x), HEIGHT.min(room.y.max(100.0))];
        let mut answer = None;
        let modal = Modal::new(Id::unique("file dialog")).show(ctx, |ui| {
            ui.set_width(width);
            ui.label(
                theme::strong(ui, self.request.title)
                    .size(theme::HEADING)
                    .color(theme::colors(ui.ctx()).text_strong),
            );
            let mut decides = self.path_ui(ui);
            // A separator is as high as there is room.
            let lists = egui::Layout::left_to_right(egui::Align::Min);
            ui.allocate_ui_with_layout(vec2(width, height), lists, |ui| {
                ui.set_max_size(vec2(width, height));
                ui.allocate_ui(vec2(PLACES_WIDTH, height), |ui| {
                    ui.set_min_size(vec2(PLACES_WIDTH, height));
                    ui.vertical(|ui| self.places_ui(ui, settings, actions, height));
                });
                ui.separator();
                ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
                    ui.vertical(|ui| decides |= self.entries_ui(ui, height));
                });
            });
            ui.separator();
            let (decided, cancelled) = self.buttons_ui(ui);
            if cancelled {
                answer = Some(Vec::new());
            } else if decides || decided {
                answer = self.decide(ui.ctx(), settings, actions);
            }
        });
        if modal.should_close() && answer.is_none() {
            answer = Some(Vec::new());
        }
        answer
    }

    /// The text field. Returns whether Enter was pressed in it.
    fn path_ui(&mut self, ui: &mut Ui) -> bool {
        let mut entered = false;
        ui.horizontal(|ui| {
            let id = Id::unique("path of the file dialog");
            let has_focus = ui.memory(|memory| memory.has_focus(id));
            if has_focus && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Tab)) {
                self.complete(ui.ctx());
            }
            let width = ui.available_width() - 64.0;
            let mut output = TextEdit::singleline(&mut self.text)
                .id(id)
                .lock_focus(true)
                .hint_text("Path; Tab completes it, Enter opens it")
                .desired_width(width)
                .show(ui);
            let response = &output.response.response;
            name_text_field(response, "Path");
            entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let changed = response.changed();
            if std::mem::take(&mut self.takes_focus) {
                response.request_focus();
                let end = egui::text::CCursor::new(self.text.chars().count());
                let range = egui::text::CCursorRange::one(end);
                output.state.cursor.set_char_range(Some(range));
                output.state.store(ui.ctx(), id);
            }
            if changed {
                self.follow_text(ui.ctx());
            }
            let up = self.folder.parent().map(Path::to_path_buf);
            let button = ui.add_enabled(up.is_some(), Button::new("Up"));
            if let Some(up) = up
                && button.on_hover_text("The folder above").clicked()
            {
                self.enter(ui.ctx(), &up);
            }
        });
        // The field lost the focus by Enter; what is typed next is for it again.
        self.takes_focus |= entered;
        entered
    }

    fn places_ui(&mut self, ui: &mut Ui, settings: &Settings, actions: &mut Actions, height: f32) {
        let colors = theme::colors(ui.ctx());
        let mut goes_to = None;
        ScrollArea::vertical()
            .id_salt("places")
            .max_height(height - 34.0)
            .auto_shrink([false, false])
            .show(ui, |ui| {
                for list in places(settings, home().as_deref()) {
                    ui.label(RichText::new(list.heading).small().color(colors.text_weak));
                    for folder in list.folders {
                        let name = short_name(&folder);
                        let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
                        // Text to the right moves the name to the left.
                        let button = Button::selectable(folder == self.folder, name)
                            .right_text("")
                            .truncate()
                            .min_size(size);
                        let button = ui.add(button);
                        if button.on_hover_text(folder.display().to_string()).clicked() {
                            goes_to = Some(folder);
                        }
                    }
                    ui.add_space(6.0);
                }
            });
        let is_marked = settings.bookmarks.contains(&self.folder);
        let (name, hover) = if is_marked {
            ("Remove bookmark", "This folder is no longer in the list")
        } else {
            ("Bookmark folder", "Keeps this folder in the list")
        };
        if ui.button(name).on_hover_text(hover).clicked() {
            let mut changed = settings.clone();
            if is_marked {
                changed.bookmarks.retain(|folder| *folder != self.folder);
            } else {
                changed.bookmarks.push(self.folder.clone());
            }
            change(changed, settings, actions);
        }
        if let Some(folder) = goes_to {
            self.enter(ui.ctx(), &folder);
        }
    }

    /// The folder's contents. Returns whether a file was double-clicked.
    fn entries_ui(&mut self, ui: &mut Ui, height: f32) -> bool {
        let colors = theme::colors(ui.ctx());
        let (mut clicked, mut opened) = (None, None);
        match self.shown() {
            Err(sentence) => {
                ui.label(RichText::new(sentence).color(colors.text_weak));
            }
            Ok(shown) if shown.is_empty() => {
                ui.label(RichText::new("Nothing of this kind is here.").color(colors.text_weak));
            }
            Ok(shown) => {
                let row = ui.spacing().interact_size.y;
                ScrollArea::vertical()
                    .id_salt(("entries", self.listing.folder()))
                    .max_height(height)
                    .auto_shrink([false, false])
                    .show_rows(ui, row, shown.len(), |ui, rows| {
                        for entry in &shown[rows] {
                            let path = self.listing.folder().join(&entry.name);
                            let response = entry_ui(ui, entry, self.selected.contains(&path));
                            if response.double_clicked() {
                                opened = Some((path, entry.is_folder));
                            } else if response.clicked() {
                                clicked = Some((path, entry.is_folder));
                            }
                        }
                    });
            }
        }
        match (opened, clicked) {
            (Some((path, true)), _) | (None, Some((path, true))) => self.enter(ui.ctx(), &path),
            (Some((path, false)), _) => {
                self.select(path, false);
                return true;
            }
            (None, Some((path, false))) => {
                let more = self.request.choice == Choice::Files
                    && ui.input(|input| input.modifiers.command || input.modifiers.shift);
                self.select(path, more);
            }
            (None, None) => {}
        }
        false
    }

    /// Selects a file; with `more` beside those selected, or no longer.
    pub(super) fn select(&mut self, path: PathBuf, more: bool) {
        if !more {
            self.selected.clear();
        }
        if let Some(at) = self.selected.iter().position(|other| *other == path) {
            self.selected.remove(at);
        } else {
            self.selected.push(path);
        }
        let name = self.selected.last().and_then(|path| path.file_name());
        let name = name.map(|name| name.to_string_lossy().into_owned());
        self.text = self.text_of(&name.unwrap_or_default());
        (self.typed, self.problem, self.replaced) = (false, None, None);
    }

    /// Filter, what is wrong, and buttons. Returns whether the choice is decided, and whether it is cancelled.
    fn buttons_ui(&mut self, ui: &mut Ui) -> (bool, bool) {
        let colors = theme::colors(ui.ctx());
        let note = match (&self.problem, &self.replaced) {
            (Some(problem), _) => Some(problem.clone()),
            (None, Some(path)) => Some(format!(
                "{} exists; Replace overwrites it.",
                short_name(path)
            )),
            (None, None) if self.selected.len() > 1 => {
                Some(format!("{} files are chosen.", self.selected.len()))
            }
            _ => None,
        };
        if let Some(note) = note {
            let color = if self.selected.len() > 1 {
                colors.text_weak
            } else {
                colors.warning
            };
            ui.add(egui::Label::new(RichText::new(note).color(color)).wrap());
        }
        let mut answer = (false, false);
        ui.horizontal(|ui| {
            let filters = &self.request.filters;
            if let Some(current) = filters.get(self.filter) {
                ComboBox::from_id_salt("kinds of files")
                    .selected_text(&current.name)
                    .width(200.0)
                    .show_ui(ui, |ui| {
                        for (index, filter) in filters.iter().enumerate() {
                            ui.selectable_value(&mut self.filter, index, &filter.name);
                        }
                    });
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let name = match self.request.choice {
                    Choice::Folder => "Choose folder",
                    Choice::Save if self.replaced.is_some() => "Replace",
                    Choice::Save => "Save",
                    Choice::File | Choice::Files => "Open",
                };
                let button = Button::new(RichText::new(name).strong()).fill(colors.accent_fill);
                answer.0 = ui.add(button).clicked();
                answer.1 = ui.button("Cancel").clicked();
            });
        });
        answer
    }
}

fn entry_ui(ui: &mut Ui, entry: &Entry, is_selected: bool) -> egui::Response {
    let weak = theme::colors(ui.ctx()).text_weak;
    let (name, about) = if entry.is_folder {
        (format!("{}{MAIN_SEPARATOR}", entry.text), String::new())
    } else {
        (entry.text.clone(), size_text(entry.bytes))
    };
    let label = name.clone();
    let button = Button::selectable(is_selected, name)
        .right_text(RichText::new(about).small().color(weak))
        .truncate()
        .min_size(vec2(ui.available_width(), ui.spacing().interact_size.y));
    let response = ui.add(button);
    response
        .widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, &label));
    response
}

/// A size in the largest unit of which there is one: 640 B, 12.3 kB, 4.0 MB.
pub(super) fn size_text(bytes: u64) -> String {
    let mut size = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 999.5 || unit == "GB" {
            return format!("{size:.*} {unit}", usize::from(unit != "B" && size < 99.95));
        }
        size /= 1000.0;
    }
    String::new()
}
