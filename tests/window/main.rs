//! The window without a window: each panel, and a story through the whole workbench.
//!
//! A panel that nobody touches raises nothing; one click raises exactly one action; a drag is one gesture.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, Actions};
use sinew::app::look::{Look, Shading};
use sinew::app::panels::bone::{BoneView, bone_ui};
use sinew::app::panels::dynamics::{DynamicsView, dynamics_ui};
use sinew::app::panels::joints::{JointsState, JointsView, joints_ui};
use sinew::app::panels::limits::{LimitView, limits_ui};
use sinew::app::panels::method::{MethodView, method_ui};
use sinew::app::panels::overlays::{LookView, look_ui};
use sinew::app::panels::top_bar::{TopBarView, top_bar_ui};
use sinew::app::shortcuts::Now;
use sinew::app::theme;
use sinew::character::{BoneMap, BoneSettings};
use sinew::dynamics::{Params, Preset};
use sinew::math::Point64;
use sinew::rig::Skeleton;
use sinew::rig::limits::Limit;
use sinew::session::{Command, Gesture, MAX_CROWD, PoseCommand, SelectHow, Session, Source, UpAxis, ViewCommand, ViewId};
use sinew::skin::Method;

mod stories;

/// What a panel under test raised, and what it remembers.
#[derive(Default)]
struct Raised {
    actions: Actions,
    joints: JointsState,
}

/// A harness around one panel.
fn panel(draw: impl FnMut(&mut Ui, &mut Raised) + 'static) -> Harness<'static, Raised> {
    let mut harness = Harness::builder().with_size(vec2(640.0, 760.0)).build_ui_state(draw, Raised::default());
    theme::apply(&harness.ctx);
    harness.run();
    assert_eq!(harness.state().actions.list(), &[], "untouched, it raises nothing");
    harness
}

fn raised(harness: &mut Harness<'_, Raised>) -> Vec<Action> {
    harness.run();
    harness.state_mut().actions.take()
}

fn once(command: Command) -> Vec<Action> {
    vec![Action::Session(command, Gesture::Once)]
}

static NO_BONES: BoneMap = BoneMap::new();
static NO_PINS: std::collections::BTreeSet<usize> = std::collections::BTreeSet::new();

fn chain() -> Skeleton {
    let p = |y: f64| Point64::new(0.0, y, 0.0);
    Skeleton::from_positions(&[("hip".into(), None, p(0.0)), ("knee".into(), Some(0), p(1.0)), ("ankle".into(), Some(1), p(2.0))])
        .expect("a chain")
}

/// Presses at the left end of a widget, moves through, releases: as a hand does it.
fn drag_across(harness: &mut Harness<'_, Raised>, from: Pos2, to: Pos2) {
    let button = |pos, pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    harness.event(Event::PointerMoved(from));
    harness.run();
    harness.event(button(from, true));
    harness.run();
    for step in 1..=4 {
        harness.event(Event::PointerMoved(from + (to - from) * (step as f32 / 4.0)));
        harness.run();
    }
    harness.event(button(to, false));
    harness.run();
}

#[test]
fn method_panel() {
    let unavailable = [(Method::Pd, "the character has no skeleton".to_owned())];
    let mut harness = panel(move |ui, raised| {
        let view = MethodView { chosen: Method::Lbs, shown: Some(Method::Lbs), unavailable: &unavailable, is_bare: false };
        method_ui(ui, &view, &mut raised.actions);
    });
    harness.get_by_label("Dual quaternion").click();
    assert_eq!(raised(&mut harness), once(Command::SetMethod(Method::Dqs)));
    harness.get_by_label("Linear blend").click();
    assert_eq!(raised(&mut harness), [], "it is chosen already");
    harness.get_by_role_and_label(Role::Button, "Projective dynamics").click();
    assert_eq!(raised(&mut harness), [], "it is unavailable");
}

#[test]
fn look_panel() {
    let look = Look::default();
    let view = LookView {
        view: ViewId(7),
        look,
        has_textures: true,
        has_tissue: false,
        has_selection: false,
        has_clip: true,
        shows_distance: false,
        crowd: 1,
        compares: false,
    };
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness.get_by_label("Wireframe").click();
    assert_eq!(raised(&mut harness), [Action::SetLook(ViewId(7), Look { wireframe: true, ..look })]);
    harness.get_by_label("Matcap").click();
    assert_eq!(raised(&mut harness), [Action::SetLook(ViewId(7), Look { shading: Shading::Matcap, ..look })]);
    harness.get_by_label("Tetrahedra").click();
    assert_eq!(raised(&mut harness), [], "there is no flesh to show");
    harness.get_by_role_and_label(Role::CheckBox, "Crowd").click();
    assert_eq!(raised(&mut harness), once(Command::View(ViewCommand::SetCrowd { view: ViewId(7), count: 9 })));
}

/// How many there are can be typed, switched off, and is no choice where methods are compared.
#[test]
fn a_crowd_has_a_number() {
    let of = |crowd: usize, compares: bool| LookView {
        view: ViewId(7),
        look: Look::default(),
        has_textures: true,
        has_tissue: false,
        has_selection: false,
        has_clip: false,
        shows_distance: false,
        crowd,
        compares,
    };
    let asked = |count| once(Command::View(ViewCommand::SetCrowd { view: ViewId(7), count }));
    let view = of(9, false);
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness.get_by_role_and_label(Role::CheckBox, "Crowd").click();
    assert_eq!(raised(&mut harness), asked(1));
    for (typed, count) in [("25", 25), ("100000", MAX_CROWD)] {
        harness.get_by_role_and_label(Role::SpinButton, "Crowd").click();
        harness.run();
        harness.event(Event::Text(typed.into()));
        harness.run();
        harness.key_press(Key::Enter);
        assert_eq!(raised(&mut harness), asked(count), "{typed}");
    }
    let view = of(1, true);
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness.get_by_role_and_label(Role::CheckBox, "Crowd").click();
    assert_eq!(raised(&mut harness), []);
}

/// Weights and distances have colours to choose; nothing else uses them.
#[test]
fn colours_of_amounts_are_offered_where_amounts_are_shown() {
    use sinew::app::look::SkinColors;
    for (colors, shows_distance, offered) in [
        (SkinColors::Material, false, false),
        (SkinColors::Strain, false, false),
        (SkinColors::Weights, false, true),
        (SkinColors::Material, true, true),
    ] {
        let look = Look { colors, ..Look::default() };
        let view = LookView {
            view: ViewId(7),
            look,
            has_textures: true,
            has_tissue: false,
            has_selection: true,
            has_clip: true,
            shows_distance,
            crowd: 1,
            compares: shows_distance,
        };
        let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
        assert_eq!(harness.query_by_role_and_label(Role::ComboBox, "Colours").is_some(), offered, "{colors:?} {shows_distance}");
        assert_eq!(raised(&mut harness), []);
    }
}

#[test]
fn dynamics_panel() {
    // Out of every slider's range: looking at it must not change it.
    let params = Params { stiffness_pa: 9e9, time_step_secs: 1.0, iterations: 500, ..Preset::Natural.params() };
    let mut harness = panel(move |ui, raised| {
        let view = DynamicsView { params: &params, simulated: true, size_over_human: 1.0, contact: None, up: UpAxis::y() };
        dynamics_ui(ui, &view, &mut raised.actions);
    });
    harness.get_by_role_and_label(Role::CheckBox, "Gravity").click();
    let gravity = Params { gravity_m_s2: [0.0, -9.81, 0.0], ..params };
    assert_eq!(raised(&mut harness), once(Command::SetParams(gravity)));
    harness.get_by_label("Stop the jiggle").click();
    assert_eq!(raised(&mut harness), once(Command::ResetSimulation));
}

#[test]
fn a_slider_drag_is_one_gesture() {
    let params = Params::default();
    let mut harness = panel(move |ui, raised| {
        let view = DynamicsView { params: &params, simulated: true, size_over_human: 1.0, contact: None, up: UpAxis::y() };
        dynamics_ui(ui, &view, &mut raised.actions);
    });
    let slider = harness.get_by_role_and_label(Role::Slider, "Damping").rect();
    drag_across(&mut harness, slider.left_center() + vec2(20.0, 0.0), slider.left_center() + vec2(70.0, 0.0));
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
    assert!(!before.is_empty() && before.iter().all(|gesture| *gesture == Gesture::Dragging), "{gestures:?}");
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
        harness.query_by_role_and_label(Role::Button, "knee").is_none() && harness.query_by_role_and_label(Role::Button, "ankle").is_some()
    );
}

#[test]
fn joints_are_selected_by_range_and_by_ones() {
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
    let select = |joints: &[usize], how| once(PoseCommand::Select { joints: joints.to_vec(), how }.into());
    for (modifiers, expected) in
        [(Modifiers::SHIFT, select(&[0, 1, 2], SelectHow::Replace)), (Modifiers::COMMAND, select(&[2], SelectHow::Toggle))]
    {
        harness.get_by_role_and_label(Role::Button, "ankle").click_modifiers(modifiers);
        assert_eq!(raised(&mut harness), expected);
    }
    assert_eq!(harness.state().joints.hovered, Some(2), "what is under the pointer is told to the views");
}

#[test]
fn limits_panel() {
    let limit = Limit { swing_y: [0.0, 2.0], ..Limit::free(sinew::math::Quat::identity()) };
    let view = LimitView { joint: 3, pinned: false, limit: Some(limit), fresh: limit, angles: [0.0; 3] };
    let mut harness = panel(move |ui, raised| limits_ui(ui, &view, &mut raised.actions));
    harness.get_by_role_and_label(Role::CheckBox, "Pinned").click();
    assert_eq!(raised(&mut harness), once(PoseCommand::SetPins { joints: vec![3], pinned: true }.into()));
    harness.get_by_role_and_label(Role::CheckBox, "Limited").click();
    assert_eq!(raised(&mut harness), once(PoseCommand::SetLimit { joint: 3, limit: None }.into()));
    harness.get_by_label("Flex most").click();
    harness.run();
    harness.event(Event::Text("90".into()));
    harness.run();
    harness.key_press(Key::Enter);
    let actions = raised(&mut harness);
    let Some(Action::Session(Command::Pose(PoseCommand::SetLimit { joint: 3, limit: Some(typed) }), _)) = actions.last() else {
        panic!("{actions:?}")
    };
    assert!((typed.swing_y[1] - 90.0_f64.to_radians()).abs() < 1e-9 && typed.swing_z == limit.swing_z);
}

#[test]
fn bone_panel() {
    // Out of the slider's range: looking at it must not change it.
    let settings = BoneSettings { stiffness: 500.0, held: true, ..BoneSettings::default() };
    let view = BoneView { joint: 2, settings, has_flesh: true, simulated: true };
    let mut harness = panel(move |ui, raised| bone_ui(ui, &view, &mut raised.actions));
    harness.get_by_role_and_label(Role::CheckBox, "Virtual").click();
    let switched = BoneSettings { is_virtual: true, ..settings };
    assert_eq!(raised(&mut harness), once(Command::SetBone { joint: 2, settings: switched }));
    harness.get_by_label("Reset bone").click();
    assert_eq!(raised(&mut harness), once(Command::SetBone { joint: 2, settings: BoneSettings::default() }));
    let slider = harness.get_by_role_and_label(Role::Slider, "Jiggle ×").rect();
    drag_across(&mut harness, slider.left_center() + vec2(20.0, 0.0), slider.left_center() + vec2(70.0, 0.0));
    let actions = harness.state_mut().actions.take();
    let all_of_it = |action: &Action| matches!(action, Action::Session(Command::SetBone { joint: 2, settings }, _) if settings.held);
    assert!(actions.len() > 1 && actions.iter().all(all_of_it), "{actions:?}");
    assert!(matches!(actions.last(), Some(Action::Session(_, Gesture::Released))));
}

#[test]
fn numbers_for_humans_become_numbers_for_this_character() {
    let params = Params::default();
    let view = move |ui: &mut Ui, raised: &mut Raised| {
        dynamics_ui(
            ui,
            &DynamicsView { params: &params, simulated: true, size_over_human: 3.0, contact: None, up: UpAxis::y() },
            &mut raised.actions,
        );
    };
    let mut harness = panel(view);
    harness.get_by_role_and_label(Role::CheckBox, "Any size").click();
    let absolute = Params { human_sized: false, stiffness_pa: 9.0 * params.stiffness_pa, ..params };
    assert_eq!(raised(&mut harness), once(Command::SetParams(absolute)));
}

#[test]
fn an_angle_can_be_typed() {
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
    assert_eq!(*last, Action::Session(Command::SetJointAngles { joint: 1, degrees: [0.0, 45.0, 0.0] }, Gesture::Once));
}

#[test]
fn top_bar() {
    let mut harness = panel(|ui, raised| {
        let now = Now { undo: Some("Rotate joint"), has_character: true, ..Now::default() };
        let view = TopBarView { builtins: &["mannequin", "arm"], recent: &[], now };
        top_bar_ui(ui, &view, &mut raised.actions);
    });
    // A narrow one says less.
    harness.set_size(vec2(1000.0, 600.0));
    harness.run();
    harness.get_by_role_and_label(Role::Button, "Undo").click();
    assert_eq!(raised(&mut harness), once(Command::Undo));
    harness.get_by_role_and_label(Role::Button, "Redo").click();
    assert_eq!(raised(&mut harness), [], "there is nothing to do again");
    harness.get_by_label("Open…").click();
    assert_eq!(raised(&mut harness), [Action::OpenDialog]);
    harness.get_by_label("Characters").click();
    harness.run();
    harness.get_by_label("Arm").click();
    assert_eq!(raised(&mut harness), once(Command::Open(Source::builtin("arm"))));
}
