//! Choice of the skinning method.

mod about;
mod values;
mod weights;

use egui::{Button, RichText, Ui};

use crate::app::actions::Actions;
use crate::app::theme;
use crate::methods::{MethodId, Requirement, registry};
use crate::param::ParamValues;
use crate::session::{Command, ViewId};
use crate::weights::WeightMethod;
use about::About;

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct MethodView<'a> {
    /// The chosen method.
    pub chosen: MethodId,
    /// The view that it applies to.
    pub view: ViewId,
    /// The weights of that view.
    pub weights: WeightMethod,
    /// What was noticed while they were computed, as sentences.
    pub weight_notes: &'a [String],
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
    let about = view.chosen.descriptor();
    About {
        title: about.label,
        doc: about.doc,
        cost: &format!("A frame of 20 000 vertices: {}", about.cost),
        source: about.source,
        departures: about.departures,
    }
    .show(ui);
    for spec in about.params {
        values::value_row(ui, spec, view.values, |values, gesture| {
            let method = view.chosen;
            actions.send(Command::SetMethodValues { method, values }, gesture);
        });
    }
    if view.chosen.needs(Requirement::Weights) {
        weights::weights_ui(ui, view, actions);
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
    let color = if chosen {
        theme::colors(ui.ctx()).accent
    } else {
        theme::colors(ui.ctx()).text
    };
    let font = egui::TextStyle::Button.resolve(ui.style());
    let needed = ui
        .painter()
        .layout_no_wrap(method.label().to_owned(), font, color)
        .size()
        .x;
    // Two names that are cut off could look the same.
    let name = if needed + 2.0 * ui.spacing().button_padding.x > width {
        method.short_label()
    } else {
        method.label()
    };
    let text = RichText::new(name).color(color);
    // A long name is cut off instead of making the panel wider.
    let button = Button::new(text).selected(chosen).truncate();
    let response = ui
        .add_enabled_ui(reason.is_none(), |ui| ui.add_sized([width, 26.0], button))
        .inner
        .on_hover_text(format!("{}: {}", method.label(), method.descriptor().doc));
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::Button, reason.is_none(), chosen, method.label())
    });
    if response
        .on_disabled_hover_text(reason.unwrap_or_default())
        .clicked()
        && !chosen
    {
        actions.once(Command::SetMethod(method));
    }
}
