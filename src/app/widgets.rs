//! Rows, sections and text that panels and dialogs share.

use egui::{CollapsingHeader, RichText, Ui};

use super::{spotlight, theme};

/// A titled part of the side panel that folds.
pub fn section(ui: &mut Ui, title: &str, open: bool, contents: impl FnOnce(&mut Ui)) {
    let must_open = spotlight::opens(ui, title).then_some(true);
    CollapsingHeader::new(theme::strong(ui, title).color(theme::colors(ui.ctx()).text_strong))
        .id_salt(title)
        .default_open(open)
        .open(must_open)
        .show_unindented(ui, |ui| {
            egui::Frame::new()
                .inner_margin(egui::Margin {
                    left: 4,
                    right: 2,
                    top: 2,
                    bottom: 10,
                })
                .show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    spotlight::within(ui, title, contents);
                });
        });
}

/// A name on the left and a widget on the right of a row that all rows of a panel share.
pub fn row<R>(
    ui: &mut Ui,
    name: &str,
    hover: &str,
    widget: impl FnOnce(&mut Ui, egui::Id) -> R,
) -> R {
    row_of(ui, LABEL_WIDTH, name, hover, widget)
}

/// As [`row`], with names of another width.
pub fn row_of<R>(
    ui: &mut Ui,
    width: f32,
    name: &str,
    hover: &str,
    widget: impl FnOnce(&mut Ui, egui::Id) -> R,
) -> R {
    let height = ui.spacing().interact_size.y;
    let shown = ui.horizontal(|ui| {
        let label = ui
            .allocate_ui_with_layout(
                egui::vec2(width, height),
                egui::Layout::left_to_right(egui::Align::Center),
                |ui| {
                    ui.set_min_width(width);
                    ui.add(
                        egui::Label::new(
                            RichText::new(name).color(theme::colors(ui.ctx()).text_weak),
                        )
                        .truncate(),
                    )
                    .on_hover_text(hover)
                },
            )
            .inner;
        widget(ui, label.id)
    });
    spotlight::mark(ui, name, shown.response.rect);
    shown.inner
}

/// Lets a slider fill its row, with a number of a width that stays, so that all numbers of a panel stand in one column.
pub fn size_slider(ui: &mut Ui) {
    let left = ui.available_width() - NUMBER_WIDTH - ui.spacing().item_spacing.x;
    let spacing = ui.spacing_mut();
    (spacing.interact_size.x, spacing.slider_width) = (NUMBER_WIDTH, left.max(40.0));
}

/// Width of the number beside a slider, points.
const NUMBER_WIDTH: f32 = 92.0;

/// Width of the names in a row.
const LABEL_WIDTH: f32 = 78.0;

/// Gives a text field its accessible name.
pub fn name_text_field(response: &egui::Response, name: &str) {
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, enabled, name));
}

/// Groups the digits of a count: 20 480.
#[must_use]
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    out
}

/// The first letter in upper case.
#[must_use]
pub fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_are_grouped_by_thousands() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1 000"),
            (1_234_567, "1 234 567"),
        ] {
            assert_eq!(super::grouped(count).replace('\u{a0}', " "), expected);
        }
    }
}
