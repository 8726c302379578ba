//! What was opened.

use egui::{Grid, RichText, Ui};

use super::grouped;
use crate::app::theme;

/// What the panel may read.
#[derive(Debug, Clone, Default)]
pub struct CharacterView<'a> {
    /// Name of the character.
    pub name: &'a str,
    /// The files it came from.
    pub source: &'a str,
    /// Counts with their names: vertices, triangles, …
    pub counts: &'a [(&'static str, usize)],
    /// How good the flesh is: name, value, and whether it is something to worry about.
    pub tissue: &'a [(String, String, bool)],
}

/// Draws the panel. It raises nothing: there is nothing to change here.
pub fn character_ui(ui: &mut Ui, view: &CharacterView<'_>) {
    ui.add(egui::Label::new(RichText::new(view.name).heading().color(theme::colors(ui.ctx()).text_strong)).truncate())
        .on_hover_text(view.source);
    Grid::new("counts").num_columns(4).spacing([10.0, 3.0]).show(ui, |ui| {
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
        Grid::new("tissue").num_columns(2).spacing([10.0, 3.0]).show(ui, |ui| {
            for (name, value, alarming) in view.tissue {
                ui.label(RichText::new(name).color(theme::colors(ui.ctx()).text_weak));
                ui.label(RichText::new(value).color(if *alarming {
                    theme::colors(ui.ctx()).warning
                } else {
                    theme::colors(ui.ctx()).text
                }));
                ui.end_row();
            }
        });
    }
}
