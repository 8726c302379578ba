//! What a method is, what it costs, and where it comes from.

use egui::{RichText, Ui};

use crate::app::theme;

/// Width of the text that opens, points.
const WIDTH: f32 = 320.0;

/// A description of a method.
pub(super) struct About<'a> {
    /// Its name.
    pub title: &'a str,
    /// What it is.
    pub doc: &'a str,
    /// What it costs.
    pub cost: &'a str,
    /// The paper that it is from; empty if there is none.
    pub source: &'a str,
    /// Where it differs from the paper.
    pub departures: &'a [&'a str],
}

impl About<'_> {
    /// Draws a line with a "?" that opens the description.
    pub(super) fn show(&self, ui: &mut Ui) {
        let weak = theme::colors(ui.ctx()).text_weak;
        ui.horizontal(|ui| {
            let button = ui.add(egui::Button::new("?").min_size(egui::vec2(24.0, 24.0)));
            let name = format!("About {}", self.title);
            button
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name.clone()));
            egui::Popup::menu(&button)
                .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
                .show(|ui| {
                    ui.set_max_width(WIDTH);
                    self.text(ui);
                });
            ui.add(egui::Label::new(RichText::new(self.cost).small().color(weak)).truncate())
                .on_hover_text(self.doc);
        });
    }

    fn text(&self, ui: &mut Ui) {
        let weak = theme::colors(ui.ctx()).text_weak;
        ui.label(theme::strong(ui, self.title));
        ui.label(self.doc);
        ui.label(RichText::new(self.cost).color(weak));
        if !self.source.is_empty() {
            ui.add_space(4.0);
            ui.label(RichText::new(self.source).italics());
        }
        if !self.departures.is_empty() {
            ui.add_space(4.0);
            ui.label(RichText::new("Where it differs from the paper").color(weak));
            for departure in self.departures {
                ui.label(format!("•  {departure}"));
            }
        }
    }
}
