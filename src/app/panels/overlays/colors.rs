//! What the skin is coloured by.

use egui::{ComboBox, DragValue, RichText, Ui};

use super::LookView;
use crate::app::look::{ColorMap, Look, SkinColors, colors_words};
use crate::app::theme;
use crate::app::widgets::row;
use crate::session::{Mode, Session, ViewId};
use crate::weights::registry;

/// What the user is told while the weights that colours of a view compare with are not known.
pub(super) fn compared_sentence(
    view: ViewId,
    look: &Look,
    session: &Session,
) -> Option<&'static str> {
    // Edit mode does not show them.
    if look.colors != SkinColors::WeightDifference || session.rigging().mode() != Mode::Pose {
        return None;
    }
    let subject = &session.snapshot_of(view)?.subject;
    let is_known = subject.weight_report().is_some()
        && subject.weighted_if_made(look.weights_against).is_some();
    if is_known {
        None
    } else if session.are_overlays_cancelled() {
        Some("The weights to compare with were cancelled: choose others, and then these again.")
    } else {
        Some("The weights to compare with are being computed.")
    }
}

/// Fixed end of a distance map's colours at first, millimetres.
const USUAL_MM: f32 = 10.0;

/// Draws the choice of what the skin is coloured by.
pub(super) fn colors_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    row(
        ui,
        "Colour by",
        "A number that the skin is coloured by",
        |ui, label| {
            let combo = ComboBox::from_id_salt("skin colours")
                .width(150.0)
                .selected_text(colors_words(look.colors).0);
            let shown = combo.show_ui(ui, |ui| {
                for colors in SkinColors::ALL {
                    let (name, sentence) = colors_words(colors);
                    ui.selectable_value(&mut look.colors, colors, name)
                        .on_hover_text(sentence);
                }
            });
            shown.response.labelled_by(label);
        },
    );
    if look.colors.is_of_joint() && !view.has_selection {
        ui.label(
            RichText::new("Select a joint to see its weights")
                .small()
                .color(theme::colors(ui.ctx()).text_weak),
        );
    }
    if look.colors == SkinColors::WeightDifference {
        against_ui(ui, look);
        if let Some(sentence) = view.compared {
            ui.label(
                RichText::new(sentence)
                    .small()
                    .color(theme::colors(ui.ctx()).text_weak),
            );
        }
    }
    if view.shows_distance {
        scale_ui(ui, look);
    }
    // Stretch and differences of weights have a diverging colour map of their own.
    if look.colors == SkinColors::Weights || view.shows_distance {
        row(
            ui,
            "Colours",
            "From nothing to the most; the even ones also read well in grey",
            |ui, label| {
                let combo = ComboBox::from_id_salt("colour map")
                    .width(150.0)
                    .selected_text(look.color_map.label());
                let shown = combo.show_ui(ui, |ui| {
                    for map in ColorMap::SEQUENTIAL {
                        ui.selectable_value(&mut look.color_map, map, map.label());
                    }
                });
                shown.response.labelled_by(label);
            },
        );
    }
}

/// Draws the end of the colours of a distance map: automatic, or fixed so that pictures can be compared.
fn scale_ui(ui: &mut Ui, look: &mut Look) {
    let hover =
        "The distance of the last colour: automatic, or fixed so that pictures can be compared";
    row(ui, "Scale", hover, |ui, label| {
        let mut fixed = look.distance_max_mm.is_some();
        let switch = ui.checkbox(&mut fixed, "").labelled_by(label);
        if switch.on_hover_text("Off: automatic").changed() {
            look.distance_max_mm = fixed.then_some(USUAL_MM);
        }
        if let Some(most) = &mut look.distance_max_mm {
            let number = DragValue::new(most).range(0.01..=10_000.0).speed(0.1);
            ui.add(number.suffix(" mm")).labelled_by(label);
        } else {
            let weak = theme::colors(ui.ctx()).text_weak;
            ui.label(RichText::new("automatic").color(weak));
        }
    });
}

/// Draws the choice of the weights that a difference is to.
fn against_ui(ui: &mut Ui, look: &mut Look) {
    row(
        ui,
        "Minus",
        "The weights that are subtracted from those of the view",
        |ui, label| {
            let combo = ComboBox::from_id_salt("compared weights")
                .width(150.0)
                .selected_text(look.weights_against.label());
            let shown = combo.show_ui(ui, |ui| {
                for method in registry() {
                    ui.selectable_value(&mut look.weights_against, method, method.label())
                        .on_hover_text(method.descriptor().doc);
                }
            });
            shown.response.labelled_by(label);
        },
    );
}
