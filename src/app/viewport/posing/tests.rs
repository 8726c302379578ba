//! Posing with the pointer in a complete window without drawing.

use std::time::{Duration, Instant};

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::actions::Action;
use crate::app::actions::tools::Tool;
use crate::app::gestures::GesturePhases;
use crate::app::theme;
use crate::app::viewport::painter::NoPainter;
use crate::app::workbench::Workbench;
use crate::math::origin_of;
use crate::render::NamedView;
use crate::session::{Command, Gesture, Mode, Session, Source};

fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    GesturePhases::install(&harness.ctx);
    let start = Instant::now();
    while harness.state().session().snapshot().is_none()
        || !harness.state().session().jobs().is_empty()
    {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "the character never opens"
        );
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
    harness
}

fn pointer(
    harness: &mut Harness<'_, Workbench>,
    pos: Pos2,
    pressed: Option<bool>,
    modifiers: Modifiers,
) {
    harness.event_modifiers(Event::PointerMoved(pos), modifiers);
    harness.run_steps(1);
    if let Some(pressed) = pressed {
        harness.event_modifiers(
            Event::PointerButton {
                pos,
                button: PointerButton::Primary,
                pressed,
                modifiers,
            },
            modifiers,
        );
        harness.run_steps(2);
    }
}

fn drag(harness: &mut Harness<'_, Workbench>, from: Pos2, to: Pos2, modifiers: Modifiers) {
    pointer(harness, from, Some(true), modifiers);
    for step in 1..=6 {
        pointer(
            harness,
            from + (to - from) * (step as f32 / 6.0),
            None,
            modifiers,
        );
    }
    pointer(harness, to, Some(false), modifiers);
}

fn click(harness: &mut Harness<'_, Workbench>, at: Pos2, modifiers: Modifiers) {
    pointer(harness, at, None, modifiers);
    for pressed in [true, false] {
        // A frame of the test harness is long, and a button that is held long does not click.
        harness.event_modifiers(
            Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers,
            },
            modifiers,
        );
        harness.run_steps(1);
    }
    harness.run_steps(2);
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn joint_at(harness: &Harness<'_, Workbench>, joint: usize) -> Pos2 {
    let bench = harness.state();
    let world = bench.session().channels().active().world_from_joint()[joint];
    let map = bench
        .viewport()
        .and_then(super::Viewport::map)
        .expect("the viewport has a size");
    map.project(&origin_of(&world))
        .expect("the joint is before the eye")
}

/// The last joint: dragging it moves all others.
fn tip(harness: &Harness<'_, Workbench>) -> usize {
    harness
        .state()
        .session()
        .channels()
        .active()
        .world_from_joint()
        .len()
        - 1
}

#[test]
fn a_joint_drag_is_one_undo_step_and_escape_cancels_it() {
    let mut harness = workbench();
    let tip = tip(&harness);
    let rest = harness.state().session().document().pose.clone();
    let at = joint_at(&harness, tip);
    let to = at + vec2(60.0, 50.0);
    drag(&mut harness, at, to, Modifiers::NONE);
    assert!(
        joint_at(&harness, tip).distance(to) < 2.0,
        "{} instead of {to}",
        joint_at(&harness, tip)
    );
    assert_eq!(harness.state().session().undo_label(), Some("Drag body"));
    assert_eq!(harness.state().session().selection().active(), Some(tip));
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().session().document().pose, rest, "one step");
    assert_eq!(harness.state().session().undo_label(), None);

    pointer(&mut harness, at, Some(true), Modifiers::NONE);
    pointer(&mut harness, at + vec2(30.0, 40.0), None, Modifiers::NONE);
    assert_ne!(harness.state().session().document().pose, rest);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    let camera = harness.state().viewport().map(|viewport| viewport.camera);
    pointer(&mut harness, at + vec2(90.0, 10.0), None, Modifiers::NONE);
    pointer(
        &mut harness,
        at + vec2(90.0, 10.0),
        Some(false),
        Modifiers::NONE,
    );
    assert_eq!(harness.state().session().document().pose, rest);
    assert_eq!(
        (
            harness.state().session().undo_label(),
            harness.state().viewport().map(|viewport| viewport.camera)
        ),
        (None, camera)
    );
}

#[test]
fn clicks_with_keys_and_rectangles_select_several() {
    let mut harness = workbench();
    let selected = |harness: &Harness<'_, Workbench>| {
        let mut joints = harness.state().session().selection().joints().to_vec();
        joints.sort_unstable();
        joints
    };
    let (a, b) = (joint_at(&harness, 0), joint_at(&harness, 1));
    click(&mut harness, b, Modifiers::NONE);
    assert_eq!(selected(&harness), [1]);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    let dots: Vec<Pos2> = (0..=tip(&harness))
        .map(|joint| joint_at(&harness, joint))
        .collect();
    let around = egui::Rect::from_points(&dots).expand(20.0);
    drag(
        &mut harness,
        around.left_bottom(),
        around.right_top(),
        Modifiers::COMMAND,
    );
    let all: Vec<usize> = (0..=tip(&harness)).collect();
    assert_eq!(
        selected(&harness),
        all,
        "the rectangle is around all of them"
    );
    assert!(
        harness
            .state()
            .viewport()
            .is_some_and(|viewport| viewport.drag.is_none())
    );
    press(&mut harness, Modifiers::NONE, Key::P);
    assert_eq!(harness.state().session().document().pins.len(), all.len());
    press(&mut harness, Modifiers::NONE, Key::P);
    assert!(harness.state().session().document().pins.is_empty());
    press(&mut harness, Modifiers::NONE, Key::Escape);
    for (at, expected) in [(a, vec![0]), (b, vec![0, 1]), (b, vec![0])] {
        // Rings are around the joint selected last; its dot is inside.
        click(&mut harness, at, Modifiers::COMMAND);
        assert_eq!(selected(&harness), expected);
    }
}

#[test]
fn tools_change_by_key_and_by_button_and_arrows_move() {
    let mut harness = workbench();
    let tool = |harness: &Harness<'_, Workbench>| harness.state().tools().tool;
    assert_eq!(tool(&harness), Tool::Drag);
    press(&mut harness, Modifiers::NONE, Key::E);
    assert_eq!(tool(&harness), Tool::Rotate);
    harness.get_by_label("Move").click();
    harness.run_steps(3);
    assert_eq!(tool(&harness), Tool::Move);
    let at = joint_at(&harness, 1);
    click(&mut harness, at, Modifiers::NONE);
    press(&mut harness, Modifiers::NONE, Key::G);
    press(&mut harness, Modifiers::NONE, Key::G);
    // View axes: the arrow to the right.
    let before = harness.state().session().document().pose.clone();
    drag(
        &mut harness,
        at + vec2(50.0, 0.0),
        at + vec2(90.0, 3.0),
        Modifiers::NONE,
    );
    assert_ne!(harness.state().session().document().pose, before);
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().session().document().pose, before);
    // The trackball between the rings rotates freely.
    press(&mut harness, Modifiers::NONE, Key::E);
    let at = joint_at(&harness, 1);
    drag(
        &mut harness,
        at + vec2(25.0, 25.0),
        at + vec2(60.0, 40.0),
        Modifiers::NONE,
    );
    assert_eq!(
        harness.state().session().undo_label(),
        Some("Rotate joints")
    );
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert_eq!(harness.state().session().document().pose, before);
}

#[test]
fn the_tool_explain_follows_the_pointer_and_a_click_pins_the_point() {
    let mut harness = workbench();
    press(&mut harness, Modifiers::NONE, Key::I);
    assert_eq!(harness.state().tools().tool, Tool::Explain);
    let hint = "Point at the skin to see why it is where it is; a click pins the point.";
    assert!(harness.query_by_label(hint).is_some());
    let pose = harness.state().session().document().pose.clone();
    let at = joint_at(&harness, 1);
    pointer(&mut harness, at, None, Modifiers::NONE);
    harness.run_steps(3);
    assert!(explains(&harness));
    assert!(harness.query_by_label("Click to pin").is_some());
    click(&mut harness, at, Modifiers::NONE);
    // A pinned point stays when the pointer leaves, and the pose is not touched.
    pointer(&mut harness, Pos2::new(5.0, 5.0), None, Modifiers::NONE);
    harness.run_steps(3);
    assert!(explains(&harness));
    assert_eq!(harness.state().session().document().pose, pose);
    assert!(harness.state().session().selection().joints().is_empty());
    harness.get_by_label("Release").click();
    harness.run_steps(3);
    assert!(!explains(&harness));
}

/// Whether the card of the tool Explain shows a point. It has one such row or, once the simulation has computed, two.
fn explains(harness: &Harness<'_, Workbench>) -> bool {
    harness
        .query_all_by_label_contains("Moved by ")
        .next()
        .is_some()
}

#[test]
fn p_pins_the_joint_that_the_status_line_names() {
    let mut harness = workbench();
    let pins = |harness: &Harness<'_, Workbench>| -> Vec<usize> {
        let pins = &harness.state().session().document().pins;
        pins.iter().copied().collect()
    };
    let (first, last) = (0, tip(&harness));
    let at = joint_at(&harness, last);
    click(&mut harness, at, Modifiers::NONE);
    let at = joint_at(&harness, first);
    pointer(&mut harness, at, None, Modifiers::NONE);
    let skeleton = harness.state().session().document().skeleton();
    let name = skeleton.map(|skeleton| skeleton.joints()[first].name.clone());
    let says = |harness: &Harness<'_, Workbench>, what: &str| {
        let name = name.as_deref().unwrap_or_default();
        let hint =
            format!("{name}: click to select, drag to pull it – right click for more, {what}");
        harness.query_by_label(&hint).is_some()
    };
    assert!(says(&harness, "P pins it"));
    press(&mut harness, Modifiers::NONE, Key::P);
    assert_eq!(pins(&harness), [first], "not the selected one");
    assert!(says(&harness, "P lets it go"));
    press(&mut harness, Modifiers::NONE, Key::P);
    assert!(pins(&harness).is_empty());
    // Without a joint under the pointer, the selected one.
    pointer(&mut harness, Pos2::new(5.0, 5.0), None, Modifiers::NONE);
    press(&mut harness, Modifiers::NONE, Key::P);
    assert_eq!(pins(&harness), [last]);
}

/// Turns the camera, and waits until it has arrived.
fn look_from(harness: &mut Harness<'_, Workbench>, side: NamedView) {
    let camera = |harness: &Harness<'_, Workbench>| {
        let viewport = harness.state().viewport();
        viewport.map(|viewport| viewport.camera)
    };
    harness.state_mut().raise(Action::LookFrom(side));
    let mut still = 0;
    for _ in 0..10_000 {
        let before = camera(harness);
        harness.step();
        still = if camera(harness) == before {
            still + 1
        } else {
            0
        };
        if still > 20 {
            return;
        }
    }
    panic!("the camera never arrives");
}

#[test]
fn every_drag_of_the_selected_dot_moves_it() {
    let mut harness = workbench();
    let tip = tip(&harness);
    // Looked at along an axis, so that two of the rings cross the dot.
    look_from(&mut harness, NamedView::Front);
    for number in 0..3 {
        let at = joint_at(&harness, tip);
        let to = at + vec2(-25.0, 20.0);
        drag(&mut harness, at, to, Modifiers::NONE);
        assert_eq!(harness.state().session().selection().active(), Some(tip));
        let session = harness.state().session();
        assert_eq!(session.undo_label(), Some("Drag body"), "drag {number}");
        assert!(joint_at(&harness, tip).distance(to) < 2.0, "drag {number}");
    }
}

/// Wherever the rings of the selected joint pass, a dot is what the status line names and what is dragged.
#[test]
fn dots_of_other_joints_are_above_the_rings() {
    let mut harness = workbench();
    let tip = tip(&harness);
    let at = joint_at(&harness, tip);
    click(&mut harness, at, Modifiers::NONE);
    let mut on_ring = 0;
    let mut distances = Vec::new();
    for _ in 0..50 {
        let middle = joint_at(&harness, tip);
        pointer(&mut harness, middle, None, Modifiers::NONE);
        harness.event(Event::MouseWheel {
            unit: egui::MouseWheelUnit::Line,
            delta: vec2(0.0, -0.3),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
        harness.run_steps(30);
        let at = joint_at(&harness, 0);
        let ring = joint_at(&harness, tip).distance(at);
        on_ring += usize::from((ring - 102.5).abs() < 5.0);
        distances.push(ring);
        pointer(&mut harness, at, None, Modifiers::NONE);
        harness.run_steps(2);
        let named = "click to select, drag to pull it";
        assert!(
            harness.query_by_label_contains(named).is_some(),
            "{ring} points away"
        );
    }
    assert!(
        on_ring > 0,
        "the outer ring never passed the dot: {distances:?}"
    );
}

#[test]
fn a_drag_within_one_frame_is_a_drag() {
    let mut harness = workbench();
    let tip = tip(&harness);
    let at = joint_at(&harness, tip);
    let to = at + vec2(50.0, 40.0);
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    harness.input_mut().events.extend([
        Event::PointerMoved(at),
        button(at, true),
        Event::PointerMoved(at + vec2(20.0, 10.0)),
        Event::PointerMoved(to),
        button(to, false),
    ]);
    harness.run_steps(6);
    assert_eq!(harness.state().session().undo_label(), Some("Drag body"));
    assert!(joint_at(&harness, tip).distance(to) < 2.0);
}

#[test]
fn tab_switches_modes_wherever_the_pointer_is() {
    let mut harness = workbench();
    let mode = |harness: &Harness<'_, Workbench>| harness.state().session().rigging().mode();
    for (at, wanted) in [
        (Pos2::new(5.0, 5.0), Mode::Edit),
        (Pos2::new(1270.0, 400.0), Mode::Pose),
        (Pos2::new(640.0, 400.0), Mode::Edit),
        (Pos2::new(640.0, 795.0), Mode::Pose),
    ] {
        pointer(&mut harness, at, None, Modifiers::NONE);
        press(&mut harness, Modifiers::NONE, Key::Tab);
        assert_eq!(mode(&harness), wanted, "{at}");
        let focused = harness.ctx.memory(egui::Memory::focused);
        assert_eq!(focused, None, "{at}");
    }
    // In an open window it moves the focus.
    press(&mut harness, Modifiers::COMMAND, Key::Comma);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(mode(&harness), Mode::Pose);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    // After Shift+Tab it walks on, until a click.
    press(&mut harness, Modifiers::SHIFT, Key::Tab);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(mode(&harness), Mode::Pose);
    assert!(harness.ctx.memory(egui::Memory::focused).is_some());
    let at = joint_at(&harness, 0);
    click(&mut harness, at, Modifiers::NONE);
    press(&mut harness, Modifiers::NONE, Key::Tab);
    assert_eq!(mode(&harness), Mode::Edit);
}

fn raise(harness: &mut Harness<'_, Workbench>, command: Command) {
    harness
        .state_mut()
        .raise(Action::Session(command, Gesture::Once));
    harness.run_steps(3);
}

fn key(harness: &mut Harness<'_, Workbench>, key: Key, modifiers: Modifiers) {
    for pressed in [true, false] {
        harness.event_modifiers(
            Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers,
            },
            modifiers,
        );
    }
    harness.run_steps(3);
}

fn typed(harness: &mut Harness<'_, Workbench>, text: &str) {
    for sign in text.chars() {
        harness.event(Event::Text(sign.to_string()));
    }
    harness.run_steps(3);
}

#[test]
fn a_modal_turn_takes_axes_and_numbers_and_escape_takes_it_back() {
    let mut harness = workbench();
    raise(&mut harness, Command::SelectJoint(Some(1)));
    harness.run_steps(3);
    let rest = harness.state().session().document().pose.clone();
    let middle = harness
        .state()
        .viewport()
        .unwrap()
        .map()
        .unwrap()
        .rect()
        .center();
    let angle = |harness: &Harness<'_, Workbench>| {
        let pose = &harness.state().session().document().pose;
        let (now, before) = (pose.locals[1].rotation, rest.locals[1].rotation);
        (now * before.inverse()).scaled_axis()
    };
    pointer(
        &mut harness,
        middle + vec2(150.0, 0.0),
        None,
        Modifiers::NONE,
    );
    key(&mut harness, Key::R, Modifiers::SHIFT);
    // The pointer turns it about the line of sight.
    pointer(
        &mut harness,
        middle + vec2(100.0, -100.0),
        None,
        Modifiers::NONE,
    );
    harness.run_steps(2);
    assert!(angle(&harness).norm() > 0.2, "{:?}", angle(&harness));
    // Twice X: about the world's axis, by a number; the 3 shows no clip.
    key(&mut harness, Key::X, Modifiers::NONE);
    key(&mut harness, Key::X, Modifiers::NONE);
    typed(&mut harness, "30");
    let turned = angle(&harness);
    assert!(
        (turned.norm().to_degrees() - 30.0).abs() < 1e-3,
        "{turned:?}"
    );
    typed(&mut harness, "-");
    key(&mut harness, Key::Enter, Modifiers::NONE);
    let turned = angle(&harness);
    assert!(
        (turned.norm().to_degrees() - 30.0).abs() < 1e-3,
        "{turned:?}"
    );
    assert!(harness.state().viewport().unwrap().drag.is_none());
    assert_eq!(
        harness.state().session().undo_label(),
        Some("Rotate joints")
    );
    // The next one is taken back, and the one before stays.
    let kept = harness.state().session().document().pose.clone();
    key(&mut harness, Key::R, Modifiers::SHIFT);
    typed(&mut harness, "45");
    assert_ne!(harness.state().session().document().pose, kept);
    key(&mut harness, Key::Escape, Modifiers::NONE);
    assert_eq!(harness.state().session().document().pose, kept);
    raise(&mut harness, Command::Undo);
    assert_eq!(harness.state().session().document().pose, rest, "one step");
}

#[test]
fn a_modal_move_goes_along_an_axis_and_a_click_ends_it() {
    let mut harness = workbench();
    let last = harness.state().session().document().pose.locals.len() - 1;
    raise(&mut harness, Command::SelectJoint(Some(last)));
    harness.run_steps(3);
    let place = |harness: &Harness<'_, Workbench>| {
        origin_of(
            &harness
                .state()
                .session()
                .channels()
                .active()
                .world_from_joint()[last],
        )
    };
    let (start, selected) = (place(&harness), Some(last));
    let middle = harness
        .state()
        .viewport()
        .unwrap()
        .map()
        .unwrap()
        .rect()
        .center();
    pointer(&mut harness, middle, None, Modifiers::NONE);
    key(&mut harness, Key::G, Modifiers::SHIFT);
    pointer(
        &mut harness,
        middle + vec2(40.0, 30.0),
        None,
        Modifiers::NONE,
    );
    harness.run_steps(2);
    assert!(
        (place(&harness) - start).norm() > 1e-3,
        "it follows the pointer"
    );
    click(&mut harness, middle + vec2(40.0, 30.0), Modifiers::NONE);
    harness.run_steps(3);
    assert!(harness.state().viewport().unwrap().drag.is_none());
    assert_eq!(
        harness.state().session().selection().active(),
        selected,
        "the click selects nothing"
    );
    assert_eq!(harness.state().session().undo_label(), Some("Drag body"));
}
