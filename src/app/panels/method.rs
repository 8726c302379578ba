//! Choice of the skinning method.

use egui::{Button, RichText, Slider, SliderClamping, Ui};

use crate::app::actions::{Actions, edit_of};
use crate::app::theme;
use crate::app::widgets::{row, size_slider};
use crate::methods::{MethodId, Requirement, registry};
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::session::{Command, Gesture, ViewCommand, ViewId};
use crate::weights::{self, WeightMethod};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct MethodView<'a> {
    /// The chosen method.
    pub chosen: MethodId,
    /// The view that it applies to.
    pub view: ViewId,
    /// The weights of that view.
    pub weights: WeightMethod,
    /// The values of its own parameters.
    pub values: &'a ParamValues,
    /// The visible method, if it still is another one.
    pub shown: Option<MethodId>,
    /// Methods that cannot be used, with the reason.
    pub unavailable: &'a [(MethodId, String)],
    /// Whether there are no joints, so that no method has an effect.
    pub is_bare: bool,
}

/// Draws the panel.
pub fn method_ui(ui: &mut Ui, view: &MethodView<'_>, actions: &mut Actions) {
    let width = (ui.available_width() - ui.spacing().item_spacing.x) / 2.0;
    // The registry lists the simplest method first; here the recommended one comes first.
    let mut methods = registry();
    let first = methods.iter().position(|&method| method == MethodId::PD);
    methods[..=first.unwrap_or_default()].reverse();
    for pair in methods.chunks(2) {
        ui.horizontal(|ui| {
            for &method in pair {
                method_button(ui, view, method, width, actions);
            }
        });
    }
    if view.is_bare {
        let sentence = "They differ once there is a skeleton to pose.";
        ui.label(
            RichText::new(sentence)
                .small()
                .color(theme::colors(ui.ctx()).text_weak),
        );
        return;
    }
    if view.chosen.needs(Requirement::Weights) {
        weights_row(ui, view, actions);
    }
    for spec in view.chosen.descriptor().params {
        value_row(ui, view, spec, actions);
    }
    for (method, reason) in view.unavailable {
        ui.add(
            egui::Label::new(
                RichText::new(format!("{}: {reason}", method.label()))
                    .small()
                    .color(theme::colors(ui.ctx()).warning),
            )
            .wrap(),
        );
    }
    if let Some(shown) = view.shown.filter(|shown| *shown != view.chosen) {
        ui.label(
            RichText::new(format!("Still showing {}", shown.label()))
                .small()
                .color(theme::colors(ui.ctx()).text_weak),
        );
    }
}

/// Choice of a registered weight method.
fn weights_row(ui: &mut Ui, view: &MethodView<'_>, actions: &mut Actions) {
    let mut chosen = view.weights;
    egui::ComboBox::from_label("Weights")
        .selected_text(chosen.label())
        .show_ui(ui, |ui| {
            for method in weights::registry() {
                ui.selectable_value(&mut chosen, method, method.label())
                    .on_hover_text(method.descriptor().doc);
            }
        });
    if chosen != view.weights {
        actions.once(Command::View(ViewCommand::SetWeights {
            view: view.view,
            weights: chosen,
        }));
    }
}

/// One of the method's own parameters: a check box, a list of names or a slider, as it is declared.
fn value_row(ui: &mut Ui, view: &MethodView<'_>, spec: &ParamSpec, actions: &mut Actions) {
    let now = view.values.get(spec);
    let mut send = |value: f64, gesture: Gesture| {
        let mut values = view.values.clone();
        values.set(spec, value);
        let method = view.chosen;
        actions.send(Command::SetMethodValues { method, values }, gesture);
    };
    row(ui, spec.label, spec.doc, |ui, label| {
        if spec.kind == ParamKind::Switch {
            let mut on = now != 0.0;
            if ui.checkbox(&mut on, "").labelled_by(label).changed() {
                send(f64::from(u8::from(on)), Gesture::Once);
            }
            return;
        }
        if let ParamKind::Choice(names) = spec.kind {
            if let Some(index) = choice(ui, spec, names, now, label) {
                send(index as f64, Gesture::Once);
            }
            return;
        }
        let mut value = now;
        size_slider(ui);
        let [low, high] = spec.range;
        let slider = Slider::new(&mut value, low..=high)
            .logarithmic(spec.kind == ParamKind::Logarithmic)
            .clamping(SliderClamping::Edits);
        let slider = if spec.unit.is_empty() {
            slider
        } else {
            slider.suffix(format!(" {}", spec.unit))
        };
        let slider = if spec.kind == ParamKind::Integer {
            slider.integer()
        } else {
            slider.max_decimals(3)
        };
        let response = ui.add(slider).labelled_by(label);
        if let Some(gesture) = edit_of(&response) {
            send(value, gesture);
        }
    });
}

/// A list of the names of a choice. Returns the index of another one that was picked.
fn choice(
    ui: &mut Ui,
    spec: &ParamSpec,
    names: &[&str],
    now: f64,
    label: egui::Id,
) -> Option<usize> {
    let shown = now as usize;
    let mut picked = shown;
    let response = egui::ComboBox::from_id_salt(spec.key)
        .selected_text(spec.format(now))
        .show_ui(ui, |ui| {
            for (index, name) in names.iter().enumerate() {
                ui.selectable_value(&mut picked, index, *name);
            }
        });
    response.response.labelled_by(label);
    (picked != shown).then_some(picked)
}

fn method_button(
    ui: &mut Ui,
    view: &MethodView<'_>,
    method: MethodId,
    width: f32,
    actions: &mut Actions,
) {
    let reason = view
        .unavailable
        .iter()
        .find(|(other, _)| *other == method)
        .map(|(_, reason)| reason.as_str());
    let chosen = view.chosen == method;
    let text = RichText::new(method.label()).color(if chosen {
        theme::colors(ui.ctx()).accent
    } else {
        theme::colors(ui.ctx()).text
    });
    let button = Button::new(text)
        .selected(chosen)
        .min_size(egui::vec2(width, 26.0));
    let response = ui
        .add_enabled(reason.is_none(), button)
        .on_hover_text(method.descriptor().doc);
    if response
        .on_disabled_hover_text(reason.unwrap_or_default())
        .clicked()
        && !chosen
    {
        actions.once(Command::SetMethod(method));
    }
}
