//! Physical parameters.

use std::ops::RangeInclusive;

use egui::{ComboBox, Response, Slider, SliderClamping, Ui};

use super::row;
use crate::app::actions::{Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::dynamics::{Collisions, ContactReport, Params, Preset};
use crate::session::{Command, Gesture};

/// What the panel may read.
#[derive(Debug, Clone, Copy)]
pub struct DynamicsView<'a> {
    /// The parameters now.
    pub params: &'a Params,
    /// Whether the method on screen has physics at all.
    pub simulated: bool,
    /// What touches now, while collisions are on.
    pub contact: Option<ContactReport>,
}

/// Acceleration on the ground, m s⁻².
const EARTH: f64 = 9.81;

/// Draws the panel.
pub fn dynamics_ui(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    if !view.simulated {
        ui.label(egui::RichText::new("Only projective dynamics has physics.").color(crate::app::theme::TEXT_WEAK));
    }
    ui.add_enabled_ui(view.simulated, |ui| {
        presets(ui, view.params, actions);
        let mut edited = *view.params;
        let mut iterations = f64::from(edited.iterations);
        let mut step_ms = edited.time_step_secs * 1e3;
        let responses = [
            number(
                ui,
                "Stiffness",
                "How much the flesh resists any change of shape",
                &mut edited.stiffness_pa,
                50.0..=500_000.0,
                true,
                " Pa",
            ),
            number(
                ui,
                "Density",
                "Mass per volume; heavier flesh lags and jiggles more",
                &mut edited.density_kg_m3,
                50.0..=5_000.0,
                true,
                " kg/m³",
            ),
            number(ui, "Damping", "How fast jiggling dies out", &mut edited.damping_per_s, 0.0..=20.0, false, " /s"),
            number(
                ui,
                "Iterations",
                "Local and global steps per time step: more is stiffer and more exact",
                &mut iterations,
                1.0..=60.0,
                false,
                "",
            ),
            number(ui, "Time step", "Simulated time of one step", &mut step_ms, 2.0..=50.0, false, " ms"),
        ];
        edited.iterations = iterations.round().clamp(1.0, 1_000.0) as u32;
        edited.time_step_secs = step_ms / 1e3;
        for response in responses {
            if let Some(gesture) = edit_of(&response) {
                actions.send(Command::SetParams(edited), gesture);
            }
        }
        gravity(ui, view.params, actions);
        collisions(ui, view, actions);
        ui.add_space(2.0);
        if icons::text_button(ui, Icon::Reset, "Stop the jiggle")
            .on_hover_text("Forgets all velocities: the flesh is at rest in this pose")
            .clicked()
        {
            actions.once(Command::ResetSimulation);
        }
    });
}

fn presets(ui: &mut Ui, params: &Params, actions: &mut Actions) {
    // Gravity and the numbers that trade speed for exactness are not part of what a preset means to an artist.
    let same = |preset: Preset| {
        let numbers = preset.params();
        numbers.stiffness_pa == params.stiffness_pa
            && numbers.density_kg_m3 == params.density_kg_m3
            && numbers.damping_per_s == params.damping_per_s
            && numbers.paper == params.paper
    };
    let current = Preset::ALL.into_iter().find(|preset| same(*preset));
    row(ui, "Preset", "Named sets of stiffness, density and damping", |ui, label| {
        let combo = ComboBox::from_id_salt("preset").selected_text(current.map_or("Custom", Preset::label)).width(ui.available_width());
        let response = combo.show_ui(ui, |ui| {
            for preset in Preset::ALL {
                if ui.selectable_label(current == Some(preset), preset.label()).clicked() && current != Some(preset) {
                    let numbers = Params { gravity_m_s2: params.gravity_m_s2, collisions: params.collisions, ..preset.params() };
                    actions.once(Command::SetParams(numbers));
                }
            }
        });
        response.response.labelled_by(label);
    });
}

fn number(ui: &mut Ui, name: &str, hover: &str, value: &mut f64, range: RangeInclusive<f64>, logarithmic: bool, suffix: &str) -> Response {
    row(ui, name, hover, |ui, label| {
        ui.spacing_mut().slider_width = (ui.available_width() - 96.0).max(40.0);
        let whole = matches!(name, "Iterations");
        let slider = Slider::new(value, range).logarithmic(logarithmic).clamping(SliderClamping::Edits).suffix(suffix);
        let slider = if whole { slider.integer() } else { slider.max_decimals(usize::from(!logarithmic)) };
        ui.add(slider).labelled_by(label)
    })
}

/// The toggle, and what touches.
fn collisions(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    let current = view.params.collisions;
    row(ui, "Collisions", "Parts of the skin that touch push each other away", |ui, label| {
        let mut on = current != Collisions::Off;
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            let collisions = if on { Collisions::Global } else { Collisions::Off };
            actions.once(Command::SetParams(Params { collisions, ..*view.params }));
        }
        let said = match view.contact {
            Some(report) if report.pressing > 0 => {
                let noun = if report.pressing == 1 { "contact" } else { "contacts" };
                format!("{} {noun}, {:.0} % of an edge deep", report.pressing, 100.0 * report.deepest_edges.max(0.0))
            }
            Some(_) => "nothing touches".to_owned(),
            None => String::new(),
        };
        ui.label(egui::RichText::new(said).small().color(crate::app::theme::TEXT_WEAK));
    });
}

fn gravity(ui: &mut Ui, params: &Params, actions: &mut Actions) {
    // Not −0: it would be shown.
    let strength = 0.0 - params.gravity_m_s2[1];
    row(ui, "Gravity", "Downwards along the world's Y axis", |ui, label| {
        let mut on = strength != 0.0;
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            let gravity = if on { [0.0, -EARTH, 0.0] } else { [0.0; 3] };
            actions.send(Command::SetParams(Params { gravity_m_s2: gravity, ..*params }), Gesture::Once);
        }
        let mut edited = strength;
        ui.spacing_mut().slider_width = (ui.available_width() - 96.0).max(40.0);
        let slider = Slider::new(&mut edited, 0.0..=30.0).clamping(SliderClamping::Edits).suffix(" m/s²").max_decimals(2);
        let response = ui.add_enabled(strength != 0.0, slider);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::slider(strength != 0.0, edited, "Gravity strength");
            info.label = Some("Gravity strength".to_owned());
            info
        });
        if let Some(gesture) = edit_of(&response) {
            actions.send(Command::SetParams(Params { gravity_m_s2: [0.0, -edited, 0.0], ..*params }), gesture);
        }
    });
}
