//! Physical parameters.

use egui::{ComboBox, Response, Slider, SliderClamping, Ui};

use crate::app::actions::{Actions, edit_of};
use crate::app::icons::{self, Icon};
use crate::app::widgets::row;
use crate::dynamics::{
    Collisions, ContactReport, PHYSICS, ParamField, Params, PhysicsParam, Preset,
};
use crate::param::ParamKind;
use crate::session::{Command, Gesture, UpAxis};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct DynamicsView<'a> {
    /// The current parameters.
    pub params: &'a Params,
    /// Whether the visible method has physics.
    pub simulated: bool,
    /// The character's size relative to a human.
    pub size_over_human: f64,
    /// The current contacts, if collisions are on.
    pub contact: Option<ContactReport>,
    /// The up axis, which gravity follows.
    pub up: UpAxis,
}

/// Draws the panel.
pub fn dynamics_ui(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    if !view.simulated {
        ui.label(
            egui::RichText::new("Only methods that simulate have physics.")
                .color(crate::app::theme::colors(ui.ctx()).text_weak),
        );
    }
    ui.add_enabled_ui(view.simulated, |ui| {
        presets(ui, view.params, actions);
        for param in &PHYSICS {
            match (param.field, param.switched_on) {
                (ParamField::Downwards(_), _) => gravity(ui, param, view, actions),
                (_, Some(_)) => budget(ui, param, view.params, actions),
                (_, None) => number(ui, param, view.params, actions),
            }
        }
        size_basis_ui(ui, view, actions);
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

/// Name of a preset on screen.
#[must_use]
pub fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::Fps => "As published",
        preset => preset.label(),
    }
}

/// The parameters with the numbers of a preset. Gravity, jiggle, volume and the speed settings are not part of it.
#[must_use]
pub fn with_preset(params: &Params, preset: Preset) -> Params {
    let Params {
        gravity_m_s2,
        jiggle,
        volume,
        budget_ms,
        collisions,
        ..
    } = *params;
    Params {
        gravity_m_s2,
        jiggle,
        volume,
        budget_ms,
        collisions,
        ..preset.params()
    }
}

fn presets(ui: &mut Ui, params: &Params, actions: &mut Actions) {
    // Gravity, jiggle, volume and the speed settings are not part of a preset.
    let same = |preset: Preset| {
        let numbers = preset.params();
        numbers.stiffness_pa == params.stiffness_pa
            && numbers.density_kg_m3 == params.density_kg_m3
            && numbers.damping_per_s == params.damping_per_s
            && numbers.paper == params.paper
            && numbers.human_sized == params.human_sized
    };
    let current = Preset::ALL.into_iter().find(|preset| same(*preset));
    row(
        ui,
        "Preset",
        "Named sets of stiffness, density and damping",
        |ui, label| {
            let combo = ComboBox::from_id_salt("preset")
                .selected_text(current.map_or("Custom", preset_name))
                .width(ui.available_width());
            let response = combo.show_ui(ui, |ui| {
                for preset in Preset::ALL {
                    if ui
                        .selectable_label(current == Some(preset), preset_name(preset))
                        .clicked()
                        && current != Some(preset)
                    {
                        actions.once(Command::SetParams(with_preset(params, preset)));
                    }
                }
            });
            response.response.labelled_by(label);
        },
    );
}

/// The labelled slider of a parameter; the displayed unit may differ from the stored one.
fn slider(ui: &mut Ui, param: &PhysicsParam, value: &mut f64, enabled: bool) -> Response {
    let (factor, unit) = param.shown;
    let [low, high] = param.slider;
    let mut shown = *value * factor;
    crate::app::widgets::size_slider(ui);
    let slider = Slider::new(&mut shown, low * factor..=high * factor)
        .logarithmic(param.spec.kind == ParamKind::Logarithmic)
        .clamping(SliderClamping::Edits);
    let slider = if unit.is_empty() {
        slider
    } else {
        slider.suffix(format!(" {unit}"))
    };
    let slider = if param.spec.kind == ParamKind::Integer {
        slider.integer()
    } else {
        slider.max_decimals(param.decimals)
    };
    let response = ui.add_enabled(enabled, slider);
    // An untouched value keeps its bits.
    if shown != *value * factor {
        *value = shown / factor;
    }
    response
}

fn number(ui: &mut Ui, param: &PhysicsParam, params: &Params, actions: &mut Actions) {
    let Some(mut value) = param.get(params) else {
        return;
    };
    row(ui, param.spec.label, param.spec.doc, |ui, label| {
        let response = slider(ui, param, &mut value, true).labelled_by(label);
        if let Some(gesture) = edit_of(&response) {
            let mut edited = *params;
            param.set(&mut edited, value);
            actions.send(Command::SetParams(edited), gesture);
        }
    });
}

/// A switch and a slider; switched off, the value is 0 or absent.
fn switched(
    ui: &mut Ui,
    param: &PhysicsParam,
    hover: &str,
    now: Option<f64>,
    mut send: impl FnMut(Option<f64>, Gesture),
) {
    let usual = param.switched_on.unwrap_or(param.spec.default);
    row(ui, param.spec.label, hover, |ui, label| {
        let mut on = now.is_some();
        if ui.checkbox(&mut on, "").labelled_by(label).changed() {
            send(on.then_some(usual), Gesture::Once);
        }
        let enabled = now.is_some();
        let mut value = now.unwrap_or(usual);
        let response = slider(ui, param, &mut value, enabled);
        let name = format!("{}, {}", param.spec.label, param.shown.1);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::slider(enabled, value, &name);
            info.label = Some(name.clone());
            info
        });
        if let Some(gesture) = edit_of(&response) {
            send(Some(value), gesture);
        }
    });
}

/// Whether values are given for a human or for this character; the stiffness itself does not change.
fn size_basis_ui(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    if view.params.paper.is_some() {
        return;
    }
    row(
        ui,
        "Human scale",
        "The numbers mean a human of 1.7 m; larger and smaller characters move like one",
        |ui, label| {
            let mut on = view.params.human_sized;
            if ui.checkbox(&mut on, "").labelled_by(label).changed() {
                // For equal frequencies stiffness is proportional to the squared size.
                let square = view.size_over_human * view.size_over_human;
                let stiffness_pa = if on {
                    view.params.stiffness_pa / square
                } else {
                    view.params.stiffness_pa * square
                };
                actions.once(Command::SetParams(Params {
                    stiffness_pa,
                    human_sized: on,
                    ..*view.params
                }));
            }
        },
    );
}

fn budget(ui: &mut Ui, param: &PhysicsParam, params: &Params, actions: &mut Actions) {
    switched(
        ui,
        param,
        param.spec.doc,
        params.budget_ms,
        |budget_ms, gesture| {
            let edited = Params {
                budget_ms,
                ..*params
            };
            actions.send(Command::SetParams(edited), gesture);
        },
    );
}

/// The collision setting, and the current contacts.
fn collisions(ui: &mut Ui, view: &DynamicsView<'_>, actions: &mut Actions) {
    let current = view.params.collisions;
    row(
        ui,
        "Collisions",
        "Parts of the skin that touch push each other away",
        |ui, label| {
            let combo = ComboBox::from_id_salt("collisions").selected_text(current.label());
            let response = combo.show_ui(ui, |ui| {
                for collisions in Collisions::ALL {
                    if ui
                        .selectable_label(collisions == current, collisions.label())
                        .clicked()
                        && collisions != current
                    {
                        actions.once(Command::SetParams(Params {
                            collisions,
                            ..*view.params
                        }));
                    }
                }
            });
            response.response.labelled_by(label);
            let (said, tip) = match view.contact {
                Some(report) if report.pressing > 0 => {
                    let deepest = 100.0 * report.deepest_edges.max(0.0);
                    let tip = format!(
                        "Vertices that press on the skin; the deepest is in it by {deepest:.0} % of an edge"
                    );
                    (format!("{} touching", report.pressing), tip)
                }
                Some(_) => (
                    "nothing touches".to_owned(),
                    "No part of the skin presses on another".to_owned(),
                ),
                None => return,
            };
            let said = egui::RichText::new(said)
                .small()
                .color(crate::app::theme::colors(ui.ctx()).text_weak);
            ui.add(egui::Label::new(said).truncate()).on_hover_text(tip);
        },
    );
}

/// Gravity of zero strength counts as off.
fn gravity(ui: &mut Ui, param: &PhysicsParam, view: &DynamicsView<'_>, actions: &mut Actions) {
    let (params, up) = (view.params, view.up);
    let strength = up.strength_of(params.gravity_m_s2);
    let hover = format!("{}; {} is up", param.spec.doc, up.name());
    let now = (strength != 0.0).then_some(strength);
    switched(ui, param, &hover, now, |strength, gesture| {
        let edited = Params {
            gravity_m_s2: up.gravity_m_s2(strength.unwrap_or(0.0)),
            ..*params
        };
        actions.send(Command::SetParams(edited), gesture);
    });
}
