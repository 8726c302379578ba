//! The cut through the flesh.

use egui::{Button, Checkbox, Slider, SliderClamping, Ui};

use crate::app::look::{CutPlane, Look};
use crate::app::widgets::row;

pub(super) fn cut_ui(ui: &mut Ui, look: &mut Look) {
    let mut on = look.cut.is_some();
    row(
        ui,
        "Cut open",
        "A plane that opens the flesh",
        |ui, label| {
            if ui
                .add(Checkbox::without_text(&mut on))
                .labelled_by(label)
                .changed()
            {
                look.cut = on.then(CutPlane::default);
            }
            let Some(cut) = &mut look.cut else { return };
            for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
                let hover = format!("Square to the {name} axis");
                if ui
                    .add(Button::new(name).selected(cut.axis == axis))
                    .on_hover_text(hover)
                    .clicked()
                {
                    cut.axis = axis;
                }
            }
            if ui
                .button("Flip")
                .on_hover_text("Keeps the other side")
                .clicked()
            {
                cut.flipped = !cut.flipped;
            }
        },
    );
    if let Some(cut) = &mut look.cut {
        row(
            ui,
            "Cut at",
            "Part of the way through the character",
            |ui, label| {
                ui.add(
                    Slider::new(&mut cut.offset, 0.0..=1.0)
                        .clamping(SliderClamping::Edits)
                        .fixed_decimals(2),
                )
                .labelled_by(label);
            },
        );
    }
}
