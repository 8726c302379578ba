//! Physical parameters.

use std::ops::RangeInclusive;

use egui::{ComboBox, Response, Slider, SliderClamping, Ui};

use super::row;
use crate::app::actions::{Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::character::MOST_JIGGLE;
use crate::dynamics::{Collisions, ContactReport, MAX_ACCELERATION, Params, Preset};
use crate::session::{Command, Gesture, UpAxis};

/// What the panel may read.
#[derive(Debug, Clone, Copy)]
pub struct DynamicsView<'a> {
    /// The parameters now.
    pub params: &'a Params,
    /// Whether the method on screen has physics at all.
    pub simulated: bool,
    /// How much larger than a human the character is.
    pub size_over_human: f64,
    /// What touches now, while collisions are on.
    pub contact: Option<ContactReport>,
    /// Where gravity comes from.
    pub up: UpAxis,
}

/// What a frame gets when a budget is switched on, ms.
const DEFAULT_BUDGET_MS: f64 = 8.0;

/// Acceleration on the ground, m s⁻².
const EARTH: f64 = 9.81;

/// Draws the panel.
pub fn dynamics_ui(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    if !view.simulated {
        ui.label(egui::RichText::new("Only projective dynamics has physics.").color(crate::app::theme::colors(ui.ctx()).text_weak));
    }
    ui.add_enabled_ui(view.simulated, |ui| {
        presets(ui, view.params, actions);
        let mut edited = *view.params;
        let mut iterations = f64::from(edited.iterations);
        let mut acceleration = f64::from(edited.acceleration);
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
                "Jiggle",
                "0 follows without inertia, 1 is physical, more is exaggerated",
                &mut edited.jiggle,
                0.0..=MOST_JIGGLE,
                false,
                " ×",
            ),
            number(
                ui,
                "Volume",
                "Resistance to changes of volume, against that to changes of shape: flesh bulges where it is squeezed",
                &mut edited.volume,
                0.0..=10.0,
                false,
                " ×",
            ),
            number(
                ui,
                "Iterations",
                "Local and global steps per time step: more is stiffer and more exact",
                &mut iterations,
                1.0..=60.0,
                false,
                "",
            ),
            number(
                ui,
                "Acceleration",
                "Earlier iterations that are combined with the newest (Anderson): the same exactness in fewer iterations; 0 is off",
                &mut acceleration,
                0.0..=f64::from(MAX_ACCELERATION),
                false,
                "",
            ),
            number(ui, "Time step", "Simulated time of one step", &mut step_ms, 2.0..=50.0, false, " ms"),
        ];
        edited.iterations = iterations.round().clamp(1.0, 1_000.0) as u32;
        edited.acceleration = acceleration.round().clamp(0.0, f64::from(MAX_ACCELERATION)) as u32;
        edited.time_step_secs = step_ms / 1e3;
        for response in responses {
            if let Some(gesture) = edit_of(&response) {
                actions.send(Command::SetParams(edited), gesture);
            }
        }
        budget(ui, view.params, actions);
        gravity(ui, view, actions);
        human_sized(ui, view, actions);
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
    // Gravity, jiggle, volume and the numbers that trade speed for exactness are not part of what a preset means to an artist.
    let same = |preset: Preset| {
        let numbers = preset.params();
        numbers.stiffness_pa == params.stiffness_pa
            && numbers.density_kg_m3 == params.density_kg_m3
            && numbers.damping_per_s == params.damping_per_s
            && numbers.paper == params.paper
            && numbers.human_sized == params.human_sized
    };
    let current = Preset::ALL.into_iter().find(|preset| same(*preset));
    row(ui, "Preset", "Named sets of stiffness, density and damping", |ui, label| {
        let combo = ComboBox::from_id_salt("preset").selected_text(current.map_or("Custom", Preset::label)).width(ui.available_width());
        let response = combo.show_ui(ui, |ui| {
            for preset in Preset::ALL {
                if ui.selectable_label(current == Some(preset), preset.label()).clicked() && current != Some(preset) {
                    let Params { gravity_m_s2, jiggle, volume, budget_ms, collisions, .. } = *params;
                    let numbers = Params { gravity_m_s2, jiggle, volume, budget_ms, collisions, ..preset.params() };
                    actions.once(Command::SetParams(numbers));
                }
            }
        });
        response.response.labelled_by(label);
    });
}

fn number(ui: &mut Ui, name: &str, hover: &str, value: &mut f64, range: RangeInclusive<f64>, logarithmic: bool, suffix: &str) -> Response {
    row(ui, name, hover, |ui, label| {
        super::size_slider(ui);
        let whole = matches!(name, "Iterations" | "Acceleration");
        let slider = Slider::new(value, range).logarithmic(logarithmic).clamping(SliderClamping::Edits).suffix(suffix);
        let slider = if whole { slider.integer() } else { slider.max_decimals(usize::from(!logarithmic)) };
        ui.add(slider).labelled_by(label)
    })
}

/// Whether the numbers are for a human or for this character; the flesh stays as stiff as it is either way.
fn human_sized(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    if view.params.paper.is_some() {
        return;
    }
    row(ui, "Any size", "The numbers mean a human of 1.7 m; larger and smaller characters move like one", |ui, label| {
        let mut on = view.params.human_sized;
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            // Stiffness for the same frequencies grows with the square of the size.
            let square = view.size_over_human * view.size_over_human;
            let stiffness_pa = if on { view.params.stiffness_pa / square } else { view.params.stiffness_pa * square };
            actions.once(Command::SetParams(Params { stiffness_pa, human_sized: on, ..*view.params }));
        }
    });
}

fn budget(ui: &mut Ui, params: &Params, actions: &mut Actions) {
    let hover = "Ends a frame's iterations after so much time; the motion then depends on how fast this machine is";
    row(ui, "Time budget", hover, |ui, label| {
        let mut on = params.budget_ms.is_some();
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            let budget_ms = on.then_some(DEFAULT_BUDGET_MS);
            actions.send(Command::SetParams(Params { budget_ms, ..*params }), Gesture::Once);
        }
        let enabled = params.budget_ms.is_some();
        let mut edited = params.budget_ms.unwrap_or(DEFAULT_BUDGET_MS);
        super::size_slider(ui);
        let slider = Slider::new(&mut edited, 0.1..=50.0).logarithmic(true).clamping(SliderClamping::Edits).suffix(" ms").max_decimals(1);
        let response = ui.add_enabled(enabled, slider);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::slider(enabled, edited, "Milliseconds a frame");
            info.label = Some("Milliseconds a frame".to_owned());
            info
        });
        if let Some(gesture) = edit_of(&response) {
            actions.send(Command::SetParams(Params { budget_ms: Some(edited), ..*params }), gesture);
        }
    });
}

/// The choice, and what touches.
fn collisions(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    let current = view.params.collisions;
    row(ui, "Collisions", "Parts of the skin that touch push each other away", |ui, label| {
        let combo = ComboBox::from_id_salt("collisions").selected_text(current.label());
        let response = combo.show_ui(ui, |ui| {
            for collisions in Collisions::ALL {
                if ui.selectable_label(collisions == current, collisions.label()).clicked() && collisions != current {
                    actions.once(Command::SetParams(Params { collisions, ..*view.params }));
                }
            }
        });
        response.response.labelled_by(label);
        let (said, tip) = match view.contact {
            Some(report) if report.pressing > 0 => {
                let deepest = 100.0 * report.deepest_edges.max(0.0);
                let tip = format!("Vertices that press on the skin; the deepest is in it by {deepest:.0} % of an edge");
                (format!("{} touching", report.pressing), tip)
            }
            Some(_) => ("nothing touches".to_owned(), "No part of the skin presses on another".to_owned()),
            None => return,
        };
        let said = egui::RichText::new(said).small().color(crate::app::theme::colors(ui.ctx()).text_weak);
        ui.add(egui::Label::new(said).truncate()).on_hover_text(tip);
    });
}

fn gravity(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    let (params, up) = (view.params, view.up);
    let strength = up.strength_of(params.gravity_m_s2);
    row(ui, "Gravity", &format!("Downwards; {} is up", up.name()), |ui, label| {
        let mut on = strength != 0.0;
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            let gravity_m_s2 = up.gravity_m_s2(if on { EARTH } else { 0.0 });
            actions.send(Command::SetParams(Params { gravity_m_s2, ..*params }), Gesture::Once);
        }
        let mut edited = strength;
        super::size_slider(ui);
        let slider = Slider::new(&mut edited, 0.0..=30.0).clamping(SliderClamping::Edits).suffix(" m/s²").max_decimals(2);
        let response = ui.add_enabled(strength != 0.0, slider);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::slider(strength != 0.0, edited, "Gravity strength");
            info.label = Some("Gravity strength".to_owned());
            info
        });
        if let Some(gesture) = edit_of(&response) {
            actions.send(Command::SetParams(Params { gravity_m_s2: up.gravity_m_s2(edited), ..*params }), gesture);
        }
    });
}
