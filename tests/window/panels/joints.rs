//! Panels of joints, their limits and bones.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, Ui, vec2};
use egui_kittest::kittest::Queryable;
use sinew::app::actions::Action;
use sinew::app::panels::bone::{BoneView, MusclesView, bone_ui};
use sinew::app::panels::dynamics::{DynamicsView, dynamics_ui};
use sinew::app::panels::joints::{JointsView, joints_ui};
use sinew::app::panels::limits::{LimitView, limits_ui};
use sinew::character::{BoneMap, BoneSettings};
use sinew::dynamics::Params;
use sinew::math::Point64;
use sinew::rig::Skeleton;
use sinew::rig::limits::Limit;
use sinew::session::{Command, Gesture, PoseCommand, SelectHow, UpAxis};

use super::{Raised, drag_across, once, panel, raised};

static NO_BONES: BoneMap = BoneMap::new();

static NO_PINS: std::collections::BTreeSet<usize> = std::collections::BTreeSet::new();

fn chain() -> Skeleton {
    let p = |y: f64| Point64::new(0.0, y, 0.0);
    Skeleton::from_positions(&[
        ("hip".into(), None, p(0.0)),
        ("knee".into(), Some(0), p(1.0)),
        ("ankle".into(), Some(1), p(2.0)),
    ])
    .expect("a chain")
}

#[test]
fn joints_panel() {
    let skeleton = chain();
    let mut harness = panel(move |ui, raised| {
        let view = JointsView {
            skeleton: &skeleton,
            selected: Some(1),
            hovered: None,
            angles_deg: Some([10.0, 0.0, 0.0]),
            moved: &[false, true, false],
            bone: None,
            bones: &NO_BONES,
            selection: &[1],
            limit: None,
            pins: &NO_PINS,
        };
        let Raised { actions, joints } = raised;
        joints_ui(ui, &view, joints, actions);
    });
    harness.get_by_role_and_label(Role::Button, "ankle").click();
    assert_eq!(raised(&mut harness), once(Command::SelectJoint(Some(2))));
    harness.get_by_label("Reset joint").click();
    assert_eq!(raised(&mut harness), once(Command::ResetJoint(1)));
    harness.get_by_label("Reset pose").click();
    assert_eq!(raised(&mut harness), once(Command::ResetPose));
    harness.get_by_label("Search joints").focus();
    harness.run();
    harness.get_by_label("Search joints").type_text("ANK");
    assert_eq!(raised(&mut harness), [], "searching changes nothing");
    assert!(
        harness
            .query_by_role_and_label(Role::Button, "knee")
            .is_none()
            && harness
                .query_by_role_and_label(Role::Button, "ankle")
                .is_some()
    );
}

#[test]
fn joints_are_selected_by_range_and_individually() {
    let skeleton = chain();
    let mut harness = panel(move |ui, raised| {
        let view = JointsView {
            skeleton: &skeleton,
            selected: Some(0),
            hovered: None,
            angles_deg: Some([0.0; 3]),
            moved: &[false; 3],
            bone: None,
            bones: &NO_BONES,
            selection: &[0],
            limit: None,
            pins: &NO_PINS,
        };
        let Raised { actions, joints } = raised;
        joints_ui(ui, &view, joints, actions);
    });
    let select = |joints: &[usize], how| {
        once(
            PoseCommand::Select {
                joints: joints.to_vec(),
                how,
            }
            .into(),
        )
    };
    for (modifiers, expected) in [
        (Modifiers::SHIFT, select(&[0, 1, 2], SelectHow::Replace)),
        (Modifiers::COMMAND, select(&[2], SelectHow::Toggle)),
    ] {
        harness
            .get_by_role_and_label(Role::Button, "ankle")
            .click_modifiers(modifiers);
        assert_eq!(raised(&mut harness), expected);
    }
    assert_eq!(
        harness.state().joints.hovered,
        Some(2),
        "what is under the pointer is told to the views"
    );
}

#[test]
fn limits_panel() {
    let limit = Limit {
        swing_y: [0.0, 2.0],
        ..Limit::free(sinew::math::Quat::identity())
    };
    let view = LimitView {
        joint: 3,
        pinned: false,
        limit: Some(limit),
        fresh: limit,
        angles: [0.0; 3],
    };
    let mut harness = panel(move |ui, raised| limits_ui(ui, &view, &mut raised.actions));
    harness
        .get_by_role_and_label(Role::CheckBox, "Pinned")
        .click();
    assert_eq!(
        raised(&mut harness),
        once(
            PoseCommand::SetPins {
                joints: vec![3],
                pinned: true
            }
            .into()
        )
    );
    harness
        .get_by_role_and_label(Role::CheckBox, "Limited")
        .click();
    assert_eq!(
        raised(&mut harness),
        once(
            PoseCommand::SetLimit {
                joint: 3,
                limit: None
            }
            .into()
        )
    );
    harness.get_by_label("Flex most").click();
    harness.run();
    harness.event(Event::Text("90".into()));
    harness.run();
    harness.key_press(Key::Enter);
    let actions = raised(&mut harness);
    let Some(Action::Session(
        Command::Pose(PoseCommand::SetLimit {
            joint: 3,
            limit: Some(typed),
        }),
        _,
    )) = actions.last()
    else {
        panic!("{actions:?}")
    };
    assert!(
        (typed.swing_y[1] - 90.0_f64.to_radians()).abs() < 1e-9 && typed.swing_z == limit.swing_z
    );
}

#[test]
fn bone_panel() {
    // Out of the slider's range: looking at it must not change it.
    let settings = BoneSettings {
        stiffness: 500.0,
        held: true,
        ..BoneSettings::default()
    };
    let view = BoneView {
        joint: 2,
        settings,
        has_flesh: true,
        simulated: true,
        has_meetings: false,
        meeting: None,
        muscles: MusclesView::default(),
    };
    let mut harness = panel(move |ui, raised| bone_ui(ui, &view, &mut raised.actions));
    harness
        .get_by_role_and_label(Role::CheckBox, "Virtual")
        .click();
    let switched = BoneSettings {
        is_virtual: true,
        ..settings
    };
    assert_eq!(
        raised(&mut harness),
        once(Command::SetBone {
            joint: 2,
            settings: switched
        })
    );
    harness.get_by_label("Reset bone").click();
    assert_eq!(
        raised(&mut harness),
        once(Command::SetBone {
            joint: 2,
            settings: BoneSettings::default()
        })
    );
    let slider = harness
        .get_by_role_and_label(Role::Slider, "Jiggle ×")
        .rect();
    drag_across(
        &mut harness,
        slider.left_center() + vec2(20.0, 0.0),
        slider.left_center() + vec2(70.0, 0.0),
    );
    let actions = harness.state_mut().actions.take();
    let all_of_it = |action: &Action| matches!(action, Action::Session(Command::SetBone { joint: 2, settings }, _) if settings.held);
    assert!(
        actions.len() > 1 && actions.iter().all(all_of_it),
        "{actions:?}"
    );
    assert!(matches!(
        actions.last(),
        Some(Action::Session(_, Gesture::Released))
    ));
}

#[test]
fn human_scale_values_are_converted_for_the_character() {
    let params = Params::default();
    let view = move |ui: &mut Ui, raised: &mut Raised| {
        dynamics_ui(
            ui,
            &DynamicsView {
                params: &params,
                simulated: true,
                size_over_human: 3.0,
                contact: None,
                up: UpAxis::y(),
            },
            &mut raised.actions,
        );
    };
    let mut harness = panel(view);
    harness
        .get_by_role_and_label(Role::CheckBox, "Human scale")
        .click();
    let absolute = Params {
        human_sized: false,
        stiffness_pa: 9.0 * params.stiffness_pa,
        ..params
    };
    assert_eq!(raised(&mut harness), once(Command::SetParams(absolute)));
}

#[test]
fn angles_can_be_typed() {
    let skeleton = chain();
    let mut harness = panel(move |ui, raised| {
        let view = JointsView {
            skeleton: &skeleton,
            selected: Some(1),
            hovered: None,
            angles_deg: Some([0.0; 3]),
            moved: &[false; 3],
            bone: None,
            bones: &NO_BONES,
            selection: &[1],
            limit: None,
            pins: &NO_PINS,
        };
        let Raised { actions, joints } = raised;
        joints_ui(ui, &view, joints, actions);
    });
    harness.get_by_role_and_label(Role::SpinButton, "Y").click();
    harness.run();
    harness.event(Event::Text("45".into()));
    harness.run();
    harness.key_press(Key::Enter);
    let actions = raised(&mut harness);
    let last = actions.last().expect("something was typed");
    assert_eq!(
        *last,
        Action::Session(
            Command::SetJointAngles {
                joint: 1,
                degrees: [0.0, 45.0, 0.0]
            },
            Gesture::Once
        )
    );
}
