//! The cut through the composed field.

use egui::{Button, RichText, Slider, SliderClamping, Ui};

use super::LookView;
use crate::app::look::{FieldDirection, Look};
use crate::app::theme;
use crate::app::widgets::{row, size_slider};

pub(super) fn field_cut_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    let cut = &mut look.field_cut;
    let hover = "The plane in which the field is shown";
    row(ui, "Field", hover, |ui, _| {
        for direction in FieldDirection::ALL {
            let (name, hover) = match direction {
                FieldDirection::Along => ("Along", "The plane in which the joint bends"),
                FieldDirection::Across => ("Across", "Square to the joint's bone"),
                FieldDirection::Camera => ("Camera", "Facing the camera"),
            };
            let button = Button::new(name).selected(cut.direction == direction);
            if ui.add(button).on_hover_text(hover).clicked() {
                cut.direction = direction;
            }
        }
    });
    let hover = "Moves the plane away from the joint: 1 is the length of the bone across it, half of that otherwise";
    row(ui, "Field at", hover, |ui, label| {
        size_slider(ui);
        let slider = Slider::new(&mut cut.offset, -1.0..=1.0)
            .clamping(SliderClamping::Edits)
            .fixed_decimals(2);
        ui.add(slider).labelled_by(label);
    });
    let sentence = match (view.has_fields, view.has_selection) {
        (false, _) => "Only implicit skinning composes fields.",
        (true, false) => "Select a joint to see the field around it.",
        (true, true) => return,
    };
    let weak = theme::colors(ui.ctx()).text_weak;
    ui.label(RichText::new(sentence).small().color(weak));
}
