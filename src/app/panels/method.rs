//! Which method moves the skin.

use egui::{Button, RichText, Ui};

use crate::app::actions::Actions;
use crate::app::theme;
use crate::session::Command;
use crate::skin::Method;

/// What the panel may read.
#[derive(Debug, Clone, Copy)]
pub struct MethodView<'a> {
    /// The one asked for.
    pub chosen: Method,
    /// The one on screen, while it is another.
    pub shown: Option<Method>,
    /// Methods that can't be used, with the reason.
    pub unavailable: &'a [(Method, String)],
    /// There are no joints yet, so no method does anything.
    pub is_bare: bool,
}

/// One sentence on what a method does.
#[must_use]
pub fn explanation(method: Method) -> &'static str {
    match method {
        Method::Rigid => "Every vertex follows its strongest joint; shows what belongs to which joint.",
        Method::Lbs => "Blends the joints' matrices by weights. Fast; loses volume in bends and twists.",
        Method::Dqs => "Blends dual quaternions by weights. No candy wrapper, but joints bulge.",
        Method::Pd => "Elastic flesh on volumetric bones, simulated. No weights are used.",
    }
}

/// Draws the panel.
pub fn method_ui(ui: &mut Ui, view: &MethodView<'_>, actions: &mut Actions) {
    let width = (ui.available_width() - ui.spacing().item_spacing.x) / 2.0;
    for pair in [[Method::Pd, Method::Dqs], [Method::Lbs, Method::Rigid]] {
        ui.horizontal(|ui| {
            for method in pair {
                method_button(ui, view, method, width, actions);
            }
        });
    }
    if view.is_bare {
        let sentence = "They differ once there is a skeleton to pose.";
        ui.label(RichText::new(sentence).small().color(theme::colors(ui.ctx()).text_weak));
        return;
    }
    for (method, reason) in view.unavailable {
        ui.add(
            egui::Label::new(RichText::new(format!("{}: {reason}", method.label())).small().color(theme::colors(ui.ctx()).warning)).wrap(),
        );
    }
    if let Some(shown) = view.shown.filter(|shown| *shown != view.chosen) {
        ui.label(RichText::new(format!("Still showing {}", shown.label())).small().color(theme::colors(ui.ctx()).text_weak));
    }
}

fn method_button(ui: &mut Ui, view: &MethodView<'_>, method: Method, width: f32, actions: &mut Actions) {
    let reason = view.unavailable.iter().find(|(other, _)| *other == method).map(|(_, reason)| reason.as_str());
    let chosen = view.chosen == method;
    let text = RichText::new(method.label()).color(if chosen { theme::colors(ui.ctx()).accent } else { theme::colors(ui.ctx()).text });
    let button = Button::new(text).selected(chosen).min_size(egui::vec2(width, 26.0));
    let response = ui.add_enabled(reason.is_none(), button).on_hover_text(explanation(method));
    if response.on_disabled_hover_text(reason.unwrap_or_default()).clicked() && !chosen {
        actions.once(Command::SetMethod(method));
    }
}
