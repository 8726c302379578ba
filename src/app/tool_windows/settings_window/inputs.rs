//! Inputs of the rows: choices, check boxes, numbers.

use egui::{ComboBox, DragValue, Id, Response, Slider, SliderClamping, Ui};

use crate::app::settings::{MOST_THREADS, SPEEDS, Settings, UI_SCALES};

pub(super) fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: Id,
    id: &str,
    value: &mut T,
    all: &[T],
    name: fn(T) -> &'static str,
) {
    let combo = ComboBox::from_id_salt(id)
        .selected_text(name(*value))
        .width(180.0);
    let response = combo.show_ui(ui, |ui| {
        for &other in all {
            ui.selectable_value(value, other, name(other));
        }
    });
    response.response.labelled_by(label);
}

pub(super) fn check(ui: &mut Ui, label: Id, value: &mut bool) {
    ui.checkbox(value, if *value { "On" } else { "Off" })
        .labelled_by(label);
}

pub(super) fn drag(
    ui: &mut Ui,
    label: Id,
    name: &str,
    value: &mut f64,
    range: std::ops::RangeInclusive<f64>,
    suffix: &str,
    decimals: usize,
) {
    let response = ui.add(
        DragValue::new(value)
            .range(range)
            .suffix(suffix)
            .max_decimals(decimals)
            .speed(0.2),
    );
    name_number(&response.labelled_by(label), name, *value);
}

pub(super) fn speed(ui: &mut Ui, label: Id, value: &mut f64) {
    ui.spacing_mut().slider_width = 130.0;
    let mut percent = *value * 100.0;
    let range = *SPEEDS.start() * 100.0..=*SPEEDS.end() * 100.0;
    let slider = Slider::new(&mut percent, range)
        .logarithmic(true)
        .step_by(5.0)
        .clamping(SliderClamping::Edits);
    if ui
        .add(slider.suffix(" %").fixed_decimals(0))
        .labelled_by(label)
        .changed()
    {
        *value = percent / 100.0;
    }
}

pub(super) fn scale(ui: &mut Ui, label: Id, settings: &mut Settings) {
    // Changing the scale moves the slider, so the new value is applied when it is released.
    let id = ui.scope_id().with("scale");
    let mut percent = ui
        .data(|data| data.get_temp(id))
        .unwrap_or(f64::from(settings.ui_scale) * 100.0);
    let range = f64::from(*UI_SCALES.start()) * 100.0..=f64::from(*UI_SCALES.end()) * 100.0;
    ui.spacing_mut().slider_width = 130.0;
    let slider = Slider::new(&mut percent, range)
        .step_by(5.0)
        .clamping(SliderClamping::Edits)
        .suffix(" %")
        .fixed_decimals(0);
    let response = ui.add(slider).labelled_by(label);
    if response.dragged() {
        ui.data_mut(|data| data.insert_temp(id, percent));
    } else if response.drag_stopped() || response.changed() {
        ui.data_mut(|data| data.remove_temp::<f64>(id));
        settings.ui_scale = (percent / 100.0) as f32;
    }
}

pub(super) fn threads(ui: &mut Ui, label: Id, settings: &mut Settings) {
    let response = ui.add(
        DragValue::new(&mut settings.threads)
            .range(0..=MOST_THREADS)
            .speed(0.1)
            .custom_formatter(|value, _| {
                if value < 1.0 {
                    "All".to_owned()
                } else {
                    format!("{value:.0}")
                }
            }),
    );
    name_number(
        &response.labelled_by(label),
        "Threads",
        settings.threads as f64,
    );
}

fn name_number(response: &Response, name: &str, value: f64) {
    let enabled = response.enabled();
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::drag_value(enabled, value);
        info.label = Some(name.to_owned());
        info
    });
}
