//! The unit of length of the character's file.

use egui::{ComboBox, DragValue, RichText, Role, Ui, WidgetInfo};

use crate::app::actions::{Actions, edit_of};
use crate::app::theme;
use crate::app::widgets::row;
use crate::character::UNIT_RANGE;
use crate::session::{Command, Gesture};

/// Units with names, in metres.
const KNOWN: [(&str, f64); 5] = [
    ("Metres", 1.0),
    ("Centimetres", 0.01),
    ("Millimetres", 0.001),
    ("Inches", 0.0254),
    ("Feet", 0.3048),
];

/// Input of the panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitView {
    /// Length of one unit in metres.
    pub metres_per_unit: f64,
    /// That of the file, or guessed.
    pub as_read: f64,
    /// Whether the user set it.
    pub is_set: bool,
    /// Height of the character in units.
    pub height: f64,
}

/// Name of a unit in metres: "Centimetres", or "Own".
fn name_of(metres: f64) -> &'static str {
    KNOWN
        .iter()
        .find(|(_, known)| (known / metres - 1.0).abs() < 1e-6)
        .map_or("Own", |(name, _)| name)
}

/// A length in metres with three digits: "1.75 m", "17.5 cm", "1.75 mm", "175 m".
fn length_text(metres: f64) -> String {
    let (value, unit) = match metres.abs() {
        size if size >= 0.9995 || size == 0.0 => (metres, "m"),
        size if size >= 0.009_995 => (metres * 1e2, "cm"),
        _ => (metres * 1e3, "mm"),
    };
    let decimals = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Draws the panel.
pub fn unit_ui(ui: &mut Ui, view: &UnitView, actions: &mut Actions) {
    let hover =
        "Length of one unit of the file: gravity, stiffness and all lengths in metres follow it";
    row(ui, "Unit", hover, |ui, label| {
        let id = ui.scope_id().with("metres per unit");
        // A drag is kept here, so that the flesh is rebuilt only once.
        let mut metres: f64 = ui
            .data(|data| data.get_temp(id))
            .unwrap_or(view.metres_per_unit);
        let mut chosen = None;
        let combo = ComboBox::from_id_salt("unit")
            .selected_text(name_of(metres))
            .width(104.0)
            .show_ui(ui, |ui| {
                for (name, known) in KNOWN {
                    if ui.selectable_label(name == name_of(metres), name).clicked() {
                        chosen = Some(Some(known));
                    }
                }
                let as_read = format!("As read: {}", length_text(view.as_read));
                if ui.selectable_label(!view.is_set, as_read).clicked() {
                    chosen = Some(None);
                }
            });
        combo.response.labelled_by(label);
        let speed = (metres * 0.01).max(1e-9);
        let drag = DragValue::new(&mut metres)
            .range(UNIT_RANGE)
            .speed(speed)
            .max_decimals(9)
            .suffix(" m");
        let response = ui.add(drag);
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Metres per unit"));
        match edit_of(&response) {
            Some(Gesture::Dragging) => ui.data_mut(|data| {
                data.insert_temp(id, metres);
            }),
            Some(_) => chosen = Some(Some(metres)),
            None => {}
        }
        if let Some(unit) = chosen {
            ui.data_mut(|data| data.remove_temp::<f64>(id));
            if unit != view.is_set.then_some(view.metres_per_unit) {
                actions.once(Command::SetUnit(unit));
            }
        }
    });
    let height = length_text(view.height * view.metres_per_unit);
    let colors = theme::colors(ui.ctx());
    let text = format!("The character is {height} high");
    ui.label(RichText::new(text).small().color(colors.text_weak));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_lengths_have_names() {
        for (metres, name) in [(1.0, "Metres"), (0.0254, "Inches"), (0.5, "Own")] {
            assert_eq!(name_of(metres), name);
        }
        for (metres, text) in [
            (1.754, "1.75 m"),
            (0.01, "1.00 cm"),
            (0.1754, "17.5 cm"),
            (0.001, "1.00 mm"),
            (175.4, "175 m"),
            (0.0, "0.00 m"),
        ] {
            assert_eq!(length_text(metres), text);
        }
    }
}
