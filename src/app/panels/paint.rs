//! The brush that paints materials onto the skin.

use egui::{Button, RichText, Slider, SliderClamping, Ui};

use crate::app::actions::tools::BrushSettings;
use crate::app::actions::{Action, Actions, PosingRequest};
use crate::app::theme;
use crate::app::widgets::{row, size_slider};
use crate::character::{BrushKind, FleshPaint, PaintMap};
use crate::session::PaintCommand;

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct PaintView<'a> {
    /// The brush.
    pub brush: BrushSettings,
    /// What is painted.
    pub paint: &'a FleshPaint,
    /// Why painting has no effect here, if it has none.
    pub idle: Option<&'static str>,
    /// Whether the body has two sides.
    pub has_sides: bool,
}

/// Name and description of what a brush does.
fn kind_words(kind: BrushKind) -> (&'static str, &'static str) {
    match kind {
        BrushKind::Paint => ("Paint", "Brings the skin to the value"),
        BrushKind::Erase => ("Erase", "Takes paint away (Ctrl)"),
        BrushKind::Smooth => ("Smooth", "Evens the paint out (Shift)"),
    }
}

/// Draws the panel.
pub fn paint_ui(ui: &mut Ui, view: &PaintView<'_>, actions: &mut Actions) {
    let mut edited = view.brush;
    let map = view.brush.map;
    row(ui, "Material", "What is painted", |ui, _| {
        ui.horizontal_wrapped(|ui| {
            for map in PaintMap::ALL {
                ui.selectable_value(&mut edited.map, map, map.label())
                    .on_hover_text(map.doc());
            }
        });
    });
    row(ui, "Brush", "What a stroke does", |ui, _| {
        for kind in [BrushKind::Paint, BrushKind::Erase, BrushKind::Smooth] {
            let (name, sentence) = kind_words(kind);
            ui.selectable_value(&mut edited.kind, kind, name)
                .on_hover_text(sentence);
        }
    });
    row(ui, "Value", map.doc(), |ui, label| {
        size_slider(ui);
        let slider = match map {
            PaintMap::Stiffness => Slider::new(&mut edited.stiffness, 0.0625..=16.0)
                .logarithmic(true)
                .prefix("× "),
            PaintMap::Held => Slider::new(&mut edited.held, 0.0..=1.0),
            PaintMap::Thickness => Slider::new(&mut edited.thickness, 0.1..=1.0).prefix("× "),
            PaintMap::Relaxation => Slider::new(&mut edited.relaxation, 0.0..=1.0),
        };
        ui.add(slider.clamping(SliderClamping::Edits).max_decimals(2))
            .labelled_by(label);
    });
    let hover = "Radius of the brush, as a part of the character's size";
    row(ui, "Radius", hover, |ui, label| {
        size_slider(ui);
        let slider = Slider::new(&mut edited.radius, 0.005..=0.3).logarithmic(true);
        ui.add(slider.clamping(SliderClamping::Edits).max_decimals(3))
            .labelled_by(label);
    });
    let hover = "How far one touch of the brush goes at its centre";
    row(ui, "Strength", hover, |ui, label| {
        size_slider(ui);
        let slider = Slider::new(&mut edited.strength, 0.02..=1.0);
        ui.add(slider.clamping(SliderClamping::Edits).max_decimals(2))
            .labelled_by(label);
    });
    row(
        ui,
        "Mirror",
        "Paints both sides of the body",
        |ui, label| {
            let text = if view.has_sides { "" } else { "no sides" };
            ui.add_enabled_ui(view.has_sides, |ui| {
                ui.checkbox(&mut edited.mirrored, text).labelled_by(label);
            });
        },
    );
    if edited != view.brush {
        actions.push(Action::Posing(PosingRequest::Brush(edited)));
    }
    ui.horizontal(|ui| {
        let tip = "Gives the whole skin the value";
        if ui.button("Fill").on_hover_text(tip).clicked() {
            let value = view.brush.value();
            actions.once(PaintCommand::Fill { map, value }.into());
        }
        let clear = Button::new("Clear");
        let is_painted = view.paint.codes(map).is_some();
        let button = ui.add_enabled(is_painted, clear);
        let button = button.on_hover_text("Takes all paint of this material away");
        if button
            .on_disabled_hover_text("Nothing is painted")
            .clicked()
        {
            actions.once(PaintCommand::Clear(map).into());
        }
    });
    let weak = theme::colors(ui.ctx()).text_weak;
    let text = view.idle.unwrap_or(
        "Drag over the skin to paint; the flesh takes it up when the stroke ends. Drag beside the character to orbit.",
    );
    ui.label(RichText::new(text).small().color(weak));
}
