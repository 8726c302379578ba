//! The window without a window: each panel, and a story through the whole workbench.
//!
//! A panel that nobody touches raises nothing; one click raises exactly one action; a drag is one gesture.

use std::path::PathBuf;
use std::time::{Duration, Instant};

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
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::character::{BoneMap, BoneSettings};
use sinew::dynamics::{Params, Preset};
use sinew::math::Point64;
use sinew::rig::Skeleton;
use sinew::rig::limits::Limit;
use sinew::session::{Command, Gesture, PoseCommand, SelectHow, Session, Source, UpAxis, ViewId};
use sinew::skin::Method;

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
    };
    let mut harness = panel(move |ui, raised| look_ui(ui, &view, &mut raised.actions));
    harness.get_by_label("Wireframe").click();
    assert_eq!(raised(&mut harness), [Action::SetLook(ViewId(7), Look { wireframe: true, ..look })]);
    harness.get_by_label("Matcap").click();
    assert_eq!(raised(&mut harness), [Action::SetLook(ViewId(7), Look { shading: Shading::Matcap, ..look })]);
    harness.get_by_label("Tetrahedra").click();
    assert_eq!(raised(&mut harness), [], "there is no flesh to show");
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
        let view =
            LookView { view: ViewId(7), look, has_textures: true, has_tissue: false, has_selection: true, has_clip: true, shows_distance };
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

/// The workbench with the smallest built-in character, drawn to nothing.
fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    workbench_on(session)
}

fn workbench_on(session: Session) -> Harness<'static, Workbench> {
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder().with_size(vec2(1280.0, 800.0)).build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait_until(&mut harness, "the character is open", |bench| bench.session().snapshot().is_some() && bench.session().jobs().is_empty());
    harness
}

/// Steps until something holds; jobs run on threads of their own.
fn wait_until(harness: &mut Harness<'_, Workbench>, what: &str, holds: impl Fn(&Workbench) -> bool) {
    let start = Instant::now();
    while !holds(harness.state()) {
        assert!(start.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn key_down(key: Key) -> Event {
    Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::COMMAND }
}

fn pointer(harness: &mut Harness<'_, Workbench>, pos: Pos2, pressed: Option<bool>) {
    harness.event(Event::PointerMoved(pos));
    harness.run_steps(1);
    if let Some(pressed) = pressed {
        harness.event(Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE });
        harness.run_steps(2);
    }
}

/// Where a joint is on the screen.
fn joint_at(harness: &Harness<'_, Workbench>, joint: usize) -> Pos2 {
    let bench = harness.state();
    let world = bench.session().world_from_joint()[joint];
    let map = bench.viewport().expect("a view").map().expect("the viewport has a size");
    map.project(&sinew::math::origin_of(&world)).expect("the joint is before the eye")
}

#[test]
fn a_joint_is_selected_turned_by_its_ring_undone_and_redone() {
    let mut harness = workbench();
    let joint = 1;
    let at = joint_at(&harness, joint);
    pointer(&mut harness, at, Some(true));
    pointer(&mut harness, at, Some(false));
    assert_eq!(harness.state().session().selected_joint(), Some(joint));

    // The ring in the plane of the screen is the outermost: drag along it.
    let on_ring = |degrees: f32| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        at + vec2(cos, -sin) * (84.0 * 1.22)
    };
    pointer(&mut harness, on_ring(100.0), Some(true));
    for degrees in [105.0, 115.0, 130.0, 145.0, 160.0] {
        pointer(&mut harness, on_ring(degrees), None);
    }
    assert!(harness.state().viewport().expect("a view").drag.is_some());
    pointer(&mut harness, on_ring(160.0), Some(false));
    let angle = |harness: &Harness<'_, Workbench>| {
        let session = harness.state().session();
        let rest = session.document().skeleton().unwrap().joints()[joint].rest.rotation;
        rest.angle_to(&session.document().pose.locals[joint].rotation).to_degrees()
    };
    assert!((angle(&harness) - 60.0).abs() < 2.0, "turned by {}°", angle(&harness));

    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert!(angle(&harness) < 1e-3, "one step back is all of the drag");
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert!((angle(&harness) - 60.0).abs() < 2.0);
    press(&mut harness, Modifiers::NONE, Key::R);
    assert!(angle(&harness) < 1e-3);
    // Two presses within one frame are two steps.
    for _ in 0..2 {
        harness.event_modifiers(key_down(Key::Z), Modifiers::COMMAND);
    }
    harness.run_steps(3);
    assert!(harness.state().session().undo_label().is_none(), "both steps are taken back");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.state().session().selected_joint(), None);
}

#[test]
fn what_is_posed_is_framed_as_it_is_posed() {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(start.elapsed() < Duration::from_mins(1), "it opens");
        std::thread::sleep(Duration::from_millis(1));
    }
    session.apply_once(Command::SetMethod(Method::Lbs));
    session.apply_once(Command::SetJointAngles { joint: 1, degrees: [0.0, 0.0, -90.0] });
    let mut harness = workbench_on(session);
    let top = |bench: &Workbench| {
        let snapshot = bench.session().snapshot().expect("shown");
        snapshot.positions().iter().map(|position| position.y).fold(f32::NEG_INFINITY, f32::max)
    };
    let rest = harness.state().session().subject().expect("open").bind_positions.clone();
    let rest_top = rest.iter().map(|position| position.y).fold(f32::NEG_INFINITY, f32::max);
    wait_until(&mut harness, "it is bent", |bench| top(bench) < 0.9 * rest_top);
    press(&mut harness, Modifiers::NONE, Key::F);
    harness.run_steps(30);
    let bench = harness.state();
    let map = bench.viewport().expect("a view").map().expect("it has a size");
    let snapshot = bench.session().snapshot().expect("shown");
    let seen = snapshot.positions().iter().map(|position| map.project(&position.cast()).expect("before the eye"));
    let around = egui::Rect::from_points(&seen.collect::<Vec<_>>());
    assert!(map.rect().contains_rect(around), "{around:?} in {:?}", map.rect());
    let part = (around.width() / map.rect().width()).max(around.height() / map.rect().height());
    assert!(part > 0.5, "it fills {part} of the view");
}

#[test]
fn escape_takes_a_drag_back() {
    let mut harness = workbench();
    let at = joint_at(&harness, 1);
    pointer(&mut harness, at, Some(true));
    pointer(&mut harness, at + vec2(40.0, 30.0), None);
    pointer(&mut harness, at + vec2(80.0, 60.0), None);
    assert!(harness.state().viewport().expect("a view").drag.is_some(), "the joint is pulled");
    let moved = harness.state().session().document().clone();
    press(&mut harness, Modifiers::NONE, Key::Escape);
    let session = harness.state().session();
    let rest = session.document().skeleton().unwrap().rest_pose();
    let off = |pose: &sinew::rig::Pose| -> f64 {
        pose.locals.iter().zip(&rest.locals).map(|(a, b)| a.rotation.angle_to(&b.rotation)).fold(0.0, f64::max)
    };
    assert!(off(&moved.pose) > 0.1 && off(&session.document().pose) < 1e-6);
}

#[test]
fn space_plays_a_digit_chooses_and_orbiting_changes_nothing_but_the_camera() {
    let mut harness = workbench();
    press(&mut harness, Modifiers::NONE, Key::Num1);
    assert_eq!(harness.state().session().playback().clip, Some(0));
    press(&mut harness, Modifiers::NONE, Key::Space);
    assert!(harness.state().session().playback().playing);
    press(&mut harness, Modifiers::NONE, Key::Space);
    assert!(!harness.state().session().playback().playing);

    let before = (harness.state().viewport().expect("a view").camera, harness.state().session().document().pose.clone());
    let corner = harness.get_by_label("Viewport").rect().left_bottom() + vec2(40.0, -120.0);
    pointer(&mut harness, corner, Some(true));
    pointer(&mut harness, corner + vec2(60.0, 10.0), None);
    pointer(&mut harness, corner + vec2(90.0, 20.0), Some(false));
    let after = harness.state().viewport().expect("a view").camera;
    assert!(before.0.yaw != after.yaw && before.0.target == after.target);
    assert_eq!(before.1, harness.state().session().document().pose);
}

#[test]
fn a_file_that_cannot_be_read_leaves_the_character_and_a_message_that_can_be_dismissed() {
    let mut harness = workbench();
    let before = harness.state().session().subject().cloned().unwrap();
    harness.state_mut().open_files(vec![PathBuf::from("/nowhere/at all.glb")]);
    wait_until(&mut harness, "the message is there", |bench| !bench.session().messages().is_empty());
    let after = harness.state().session().subject().cloned().unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &after));
    harness.run_steps(3);
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(harness.state().session().messages().is_empty());
}
