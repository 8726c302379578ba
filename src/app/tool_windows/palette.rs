//! The command palette: fuzzy search over commands, items and settings.

use egui::{
    Align, Align2, Area, Context, Frame, Id, Key, Layout, Margin, Modifiers, Order, RichText,
    ScrollArea, Sense, TextEdit, Ui, vec2,
};

use super::fuzzy;
use crate::app::actions::{Action, Actions};
use crate::app::theme;

/// An entry of the palette.
#[derive(Debug, Clone, PartialEq)]
pub struct PaletteItem {
    /// Its title.
    pub title: String,
    /// Description, one sentence.
    pub detail: String,
    /// Synonyms for the search.
    pub words: &'static str,
    /// Its category: "Command", "Joint", …
    pub kind: &'static str,
    /// Its shortcut, if any.
    pub keys: String,
    /// What it lacks to be chosen now, as an instruction.
    pub missing: Option<&'static str>,
    /// The action of choosing it.
    pub action: Action,
}

/// Number of visible rows; the others are scrolled.
const ROWS: usize = 11;
/// Height of a row, points.
const ROW_HEIGHT: f32 = 26.0;
/// Maximum number of results.
const MOST_LISTED: usize = 200;
/// Score factor of matches in titles and synonyms relative to those in descriptions.
const IN_TITLE: i32 = 400;
const IN_WORDS: i32 = 400;
/// Width, points.
const WIDTH: f32 = 600.0;

/// The palette.
#[derive(Debug, Clone, Default)]
pub struct CommandPalette {
    open: bool,
    fresh: bool,
    search: String,
    chosen: usize,
    entries: Vec<PaletteItem>,
    /// Indices of the matches, best first, for a query.
    listed: Option<(String, Vec<usize>)>,
}

impl CommandPalette {
    /// Opens it with these entries.
    pub fn open(&mut self, entries: Vec<PaletteItem>) {
        *self = Self {
            open: true,
            fresh: true,
            entries,
            ..Self::default()
        };
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes it. Returns whether it was open.
    pub fn close(&mut self) -> bool {
        let was_open = self.open;
        *self = Self::default();
        was_open
    }

    /// Draws it, if it is open, and pushes the chosen action.
    pub fn ui(&mut self, ctx: &Context, actions: &mut Actions) {
        if !self.open {
            return;
        }
        if self.fresh {
            self.search.push_str(&typed_at_once(ctx));
        }
        let listed = self.list();
        let [up, down, enter] = Self::keys(ctx);
        self.chosen = match listed.len() {
            0 => 0,
            many => (self.chosen + down + many * up - up) % many,
        };
        let mut picked = (enter > 0)
            .then(|| listed.get(self.chosen).copied())
            .flatten();
        let screen = ctx.content_rect();
        let width = WIDTH.min(screen.width() - 32.0);
        let corner = egui::pos2(
            screen.center().x,
            screen.top() + (screen.height() * 0.12).min(96.0),
        );
        let area = Area::new(Id::unique("palette"))
            .order(Order::Foreground)
            .fixed_pos(corner)
            .pivot(Align2::CENTER_TOP);
        let moved = up + down > 0;
        let shown = area.constrain(true).show(ctx, |ui| {
            Frame::popup(ui.style())
                .inner_margin(Margin::same(8))
                .show(ui, |ui| {
                    ui.set_width(width);
                    self.search_field(ui);
                    ui.add_space(2.0);
                    if let Some(index) = self.rows(ui, &listed, moved) {
                        picked = Some(index);
                    }
                });
        });
        let clicked_elsewhere = ctx.input(|input| input.pointer.any_pressed())
            && ctx
                .pointer_interact_pos()
                .is_some_and(|at| !shown.response.rect.contains(at))
            && !self.fresh;
        self.fresh = false;
        // An entry that lacks something stays listed with the reason.
        let picked = picked.and_then(|index| self.entries.get(index));
        if let Some(entry) = picked.filter(|entry| entry.missing.is_none()) {
            actions.push(entry.action.clone());
            self.close();
        } else if clicked_elsewhere {
            self.close();
        }
    }

    /// Number of presses of Up, Down and Enter.
    fn keys(ctx: &Context) -> [usize; 3] {
        let count =
            |key: Key| ctx.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        [
            count(Key::ArrowUp),
            count(Key::ArrowDown),
            count(Key::Enter),
        ]
    }

    fn search_field(&mut self, ui: &mut Ui) {
        let field = TextEdit::singleline(&mut self.search)
            .hint_text("Find a command, joint, clip, setting, file…")
            .desired_width(f32::INFINITY)
            .margin(Margin::symmetric(8, 6));
        let response = ui.add(field);
        crate::app::widgets::name_text_field(&response, "Search everything");
        if self.fresh || !response.has_focus() {
            response.request_focus();
        }
        if response.changed() {
            self.chosen = 0;
        }
    }

    /// Matches of the query, best first; all entries in order for an empty one.
    fn list(&mut self) -> Vec<usize> {
        if let Some((search, listed)) = &self.listed
            && *search == self.search
        {
            return listed.clone();
        }
        let listed = fitting(&self.entries, &self.search);
        self.listed = Some((self.search.clone(), listed.clone()));
        listed
    }

    fn rows(&mut self, ui: &mut Ui, listed: &[usize], moved: bool) -> Option<usize> {
        if listed.is_empty() {
            ui.label(RichText::new("No match").color(theme::colors(ui.ctx()).text_weak));
            return None;
        }
        let mut picked = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical()
            .max_height(ROWS as f32 * ROW_HEIGHT)
            .min_scrolled_height(ROWS as f32 * ROW_HEIGHT)
            .auto_shrink([false, true]);
        area.show(ui, |ui| {
            for (place, &index) in listed.iter().enumerate() {
                let response = row_ui(ui, &self.entries[index], place == self.chosen);
                if place == self.chosen && moved {
                    response.scroll_to_me(None);
                }
                if response.hovered() && ui.input(|input| input.pointer.delta() != egui::Vec2::ZERO)
                {
                    self.chosen = place;
                }
                if response.clicked() {
                    picked = Some(index);
                }
            }
        });
        picked
    }
}

/// Text of the pass in which the palette opens, before its field has the focus: a fast user types on while a frame is slow.
fn typed_at_once(ctx: &Context) -> String {
    ctx.input_mut(|input| {
        let mut text = String::new();
        input.events.retain(|event| match event {
            egui::Event::Text(typed) => {
                text.push_str(typed);
                false
            }
            _ => true,
        });
        text
    })
}

impl PaletteItem {
    /// Title and synonyms.
    fn searchable_text(&self) -> String {
        format!("{} {}", self.title, self.words)
    }
}

/// Whether every word of the query is a prefix of a word of title or synonyms.
fn matches_prefixes(entry: &PaletteItem, search: &str) -> bool {
    let between = |c: char| !c.is_alphanumeric();
    let searchable_text = entry.searchable_text().to_lowercase();
    let begins = |word: &str| {
        searchable_text
            .split(between)
            .any(|other| other.starts_with(word))
    };
    search.chars().count() > 1 && search.to_lowercase().split(between).all(begins)
}

/// Indices of the matching entries, best first.
fn fitting(entries: &[PaletteItem], search: &str) -> Vec<usize> {
    let search = search.trim();
    let mut scored: Vec<(i32, usize)> = entries
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| {
            // Titles have priority; category and description support users who do not know the
            // title.
            let title = fuzzy::score(search, &entry.title).map(|score| score + IN_TITLE);
            // Whole words of synonyms score higher than scattered letters of a title.
            let words = matches_prefixes(entry, search)
                .then(|| {
                    fuzzy::score(search, &entry.searchable_text()).map(|score| score + IN_WORDS)
                })
                .flatten();
            let all = || {
                fuzzy::score(
                    search,
                    &format!("{} {} {}", entry.title, entry.kind, entry.detail),
                )
            };
            title.max(words).or_else(all).map(|score| (score, index))
        })
        .collect();
    if !search.is_empty() {
        scored.sort_by_key(|&(score, index)| (std::cmp::Reverse(score), index));
    }
    scored.truncate(MOST_LISTED);
    scored.into_iter().map(|(_, index)| index).collect()
}

fn row_ui(ui: &mut Ui, entry: &PaletteItem, chosen: bool) -> egui::Response {
    let colors = theme::colors(ui.ctx());
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    response.widget_info(|| {
        let enabled = entry.missing.is_none();
        egui::WidgetInfo::selected(egui::Role::ListBoxOption, enabled, chosen, &entry.title)
    });
    if !ui.is_rect_visible(rect) {
        return response;
    }
    if chosen {
        ui.painter().rect_filled(rect, 4.0, colors.accent_fill);
    }
    let weak = colors.text_weak;
    let text = match (entry.missing, chosen) {
        (Some(_), _) => weak,
        (None, true) => colors.text_strong,
        (None, false) => colors.text,
    };
    let detail = entry.missing.unwrap_or(&entry.detail);
    let inside = egui::UiBuilder::new()
        .max_rect(rect.shrink2(vec2(8.0, 0.0)))
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(inside, |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        ui.label(RichText::new(entry.kind).small().color(weak));
        if !entry.keys.is_empty() {
            ui.label(RichText::new(&entry.keys).color(colors.accent));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(egui::Label::new(RichText::new(&entry.title).color(text)).truncate());
            ui.add(egui::Label::new(RichText::new(detail).small().color(weak)).truncate());
        });
    });
    response
}

#[cfg(test)]
mod tests;
