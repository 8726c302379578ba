//! Choice of the weights of a view.

use egui::{RichText, Ui};

use super::MethodView;
use super::about::About;
use super::values::value_row;
use crate::app::actions::Actions;
use crate::app::theme;
use crate::session::{Command, Gesture, ViewCommand};
use crate::weights::{WeightMethod, registry};

/// Draws the choice of a registered weight method, its parameters, and what was noticed.
pub(super) fn weights_ui(ui: &mut Ui, view: &MethodView<'_>, actions: &mut Actions) {
    let mut chosen = view.weights;
    let now = chosen.descriptor();
    let shown = egui::ComboBox::from_label("Weights")
        .selected_text(chosen.label())
        .show_ui(ui, |ui| {
            for method in registry() {
                let is_chosen = method.descriptor().id == now.id;
                let about = method.descriptor();
                let row = ui
                    .selectable_label(is_chosen, about.label)
                    .on_hover_text(format!("{}\n{}", about.doc, cost(method)));
                if row.clicked() && !is_chosen {
                    chosen = method;
                }
            }
        });
    crate::app::spotlight::mark(ui, "Weights", shown.response.rect);
    let mut set = |weights: WeightMethod, gesture: Gesture| {
        let view = view.view;
        let command = Command::View(ViewCommand::SetWeights { view, weights });
        actions.send(command, gesture);
    };
    if chosen != view.weights {
        set(chosen, Gesture::Once);
    }
    About {
        title: now.label,
        doc: now.doc,
        cost: &cost(view.weights),
        source: now.source,
        departures: now.departures,
    }
    .show(ui);
    let values = view.weights.values();
    for spec in now.params {
        value_row(ui, spec, &values, |values, gesture| {
            set(view.weights.with_values(&values), gesture);
        });
    }
    for note in view.weight_notes {
        let weak = theme::colors(ui.ctx()).text_weak;
        ui.add(egui::Label::new(RichText::new(note).small().color(weak)).wrap());
    }
}

fn cost(method: WeightMethod) -> String {
    format!("To compute: {}", method.descriptor().cost)
}
