//! Rows for declared parameters.

use egui::{Slider, SliderClamping, Ui};

use crate::app::actions::edit_of;
use crate::app::widgets::{row, size_slider};
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::session::Gesture;

/// One parameter: a check box, a list of names or a slider, as it is declared. `send` gets all values after a change.
pub(super) fn value_row(
    ui: &mut Ui,
    spec: &ParamSpec,
    values: &ParamValues,
    mut send: impl FnMut(ParamValues, Gesture),
) {
    let now = values.get(spec);
    let mut set = |value: f64, gesture: Gesture| {
        let mut values = values.clone();
        values.set(spec, value);
        send(values, gesture);
    };
    row(ui, spec.label, spec.doc, |ui, label| {
        if spec.kind == ParamKind::Switch {
            let mut on = now != 0.0;
            if ui.checkbox(&mut on, "").labelled_by(label).changed() {
                set(f64::from(u8::from(on)), Gesture::Once);
            }
            return;
        }
        if let ParamKind::Choice(names) = spec.kind {
            if let Some(index) = choice(ui, spec, names, now, label) {
                set(index as f64, Gesture::Once);
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
            set(value, gesture);
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
