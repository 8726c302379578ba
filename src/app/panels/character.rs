//! Information on the open character.

use egui::{Grid, Label, RichText, Ui};

use crate::app::theme;
use crate::app::widgets::grouped;

/// Width of a value's name and the gap after it, points.
const NAME_WIDTH: f32 = 88.0;

/// Input of the panel.
#[derive(Debug, Clone, Default)]
pub struct CharacterView<'a> {
    /// Name of the character.
    pub name: &'a str,
    /// The files it came from.
    pub source: &'a str,
    /// Counts with their names: vertices, triangles, …
    pub counts: &'a [(&'static str, usize)],
    /// Quality of the flesh: name, value, and whether it is a problem.
    pub tissue: &'a [(String, String, bool)],
}

/// Draws the panel. It raises no actions.
pub fn character_ui(ui: &mut Ui, view: &CharacterView<'_>) {
    ui.add(
        Label::new(
            RichText::new(view.name)
                .heading()
                .color(theme::colors(ui.ctx()).text_strong),
        )
        .truncate(),
    )
    .on_hover_text(view.source);
    Grid::new("counts")
        .num_columns(4)
        .spacing([10.0, 3.0])
        .show(ui, |ui| {
            for pair in view.counts.chunks(2) {
                for (name, count) in pair {
                    ui.label(RichText::new(*name).color(theme::colors(ui.ctx()).text_weak));
                    ui.label(RichText::new(grouped(*count)).color(theme::colors(ui.ctx()).text));
                }
                ui.end_row();
            }
        });
    if !view.tissue.is_empty() {
        ui.add_space(4.0);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            for (name, value, alarming) in view.tissue {
                tissue_row(ui, name, value, *alarming);
            }
        });
    }
}

/// A value with its name. A long one wraps, so that the panel keeps its width.
fn tissue_row(ui: &mut Ui, name: &str, value: &str, alarming: bool) {
    let colors = theme::colors(ui.ctx());
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let said = ui
            .label(RichText::new(name).color(colors.text_weak))
            .rect
            .width();
        ui.add_space((NAME_WIDTH - said).max(6.0));
        let color = if alarming {
            colors.warning
        } else {
            colors.text
        };
        ui.add(Label::new(RichText::new(value).color(color)).wrap());
    });
}
