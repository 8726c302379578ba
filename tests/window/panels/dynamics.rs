//! The panel of physical parameters.

use egui::accesskit::Role;
use egui::vec2;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::Action;
use sinew::app::panels::dynamics::{DynamicsView, dynamics_ui};
use sinew::dynamics::{Params, Preset};
use sinew::session::{Command, Gesture, UpAxis};

use super::{drag_across, once, panel, raised};

#[test]
fn dynamics_panel() {
    // Out of every slider's range: looking at it must not change it.
    let params = Params {
        stiffness_pa: 9e9,
        time_step_secs: 1.0,
        iterations: 500,
        ..Preset::Natural.params()
    };
    let mut harness = panel(move |ui, raised| {
        let view = DynamicsView {
            params: &params,
            simulated: true,
            size_over_human: 1.0,
            contact: None,
            up: UpAxis::y(),
        };
        dynamics_ui(ui, &view, &mut raised.actions);
    });
    harness
        .get_by_role_and_label(Role::CheckBox, "Gravity")
        .click();
    let gravity = Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..params
    };
    assert_eq!(raised(&mut harness), once(Command::SetParams(gravity)));
    harness.get_by_label("Stop the jiggle").click();
    assert_eq!(raised(&mut harness), once(Command::ResetSimulation));
}

/// Each declared number has a slider, and a switch if it can be switched off.
#[test]
fn every_declared_number_has_a_slider() {
    let params = Params::default();
    let harness = panel(move |ui, raised| {
        let view = DynamicsView {
            params: &params,
            simulated: true,
            size_over_human: 1.0,
            contact: None,
            up: UpAxis::y(),
        };
        dynamics_ui(ui, &view, &mut raised.actions);
    });
    for param in &sinew::dynamics::PHYSICS {
        let label = param.spec.label;
        if param.switched_on.is_some() {
            harness.get_by_role_and_label(Role::CheckBox, label);
            let slider = format!("{label}, {}", param.shown.1);
            harness.get_by_role_and_label(Role::Slider, &slider);
        } else {
            harness.get_by_role_and_label(Role::Slider, label);
        }
    }
}

#[test]
fn a_slider_drag_is_one_gesture() {
    let params = Params::default();
    let mut harness = panel(move |ui, raised| {
        let view = DynamicsView {
            params: &params,
            simulated: true,
            size_over_human: 1.0,
            contact: None,
            up: UpAxis::y(),
        };
        dynamics_ui(ui, &view, &mut raised.actions);
    });
    let slider = harness
        .get_by_role_and_label(Role::Slider, "Damping")
        .rect();
    drag_across(
        &mut harness,
        slider.left_center() + vec2(20.0, 0.0),
        slider.left_center() + vec2(70.0, 0.0),
    );
    let actions = harness.state_mut().actions.take();
    let gestures: Vec<Gesture> = actions
        .iter()
        .map(|action| match action {
            Action::Session(Command::SetParams(_), gesture) => *gesture,
            other => panic!("{other:?}"),
        })
        .collect();
    let (last, before) = gestures.split_last().expect("something was dragged");
    assert_eq!(*last, Gesture::Released);
    assert!(
        !before.is_empty() && before.iter().all(|gesture| *gesture == Gesture::Dragging),
        "{gestures:?}"
    );
}
