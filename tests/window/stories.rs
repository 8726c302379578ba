//! Stories through the whole workbench.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Session, Source};

/// The workbench with the smallest built-in character, drawn to nothing.
fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    workbench_on(session)
}

fn workbench_on(session: Session) -> Harness<'static, Workbench> {
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait_until(&mut harness, "the character is open", |bench| {
        bench.session().snapshot().is_some() && bench.session().jobs().is_empty()
    });
    harness
}

/// Steps until something holds; jobs run on threads of their own.
fn wait_until(
    harness: &mut Harness<'_, Workbench>,
    what: &str,
    holds: impl Fn(&Workbench) -> bool,
) {
    let start = Instant::now();
    while !holds(harness.state()) {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "waited in vain: {what}"
        );
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
    Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    }
}

fn pointer(harness: &mut Harness<'_, Workbench>, pos: Pos2, pressed: Option<bool>) {
    harness.event(Event::PointerMoved(pos));
    harness.run_steps(1);
    if let Some(pressed) = pressed {
        harness.event(Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        harness.run_steps(2);
    }
}

/// Where a joint is on the screen.
fn joint_at(harness: &Harness<'_, Workbench>, joint: usize) -> Pos2 {
    let bench = harness.state();
    let world = bench.session().channels().active().world_from_joint()[joint];
    let map = bench
        .viewport()
        .expect("a view")
        .map()
        .expect("the viewport has a size");
    map.project(&sinew::math::origin_of(&world))
        .expect("the joint is before the eye")
}

#[test]
fn a_joint_is_selected_turned_by_its_ring_undone_and_redone() {
    let mut harness = workbench();
    let joint = 1;
    let at = joint_at(&harness, joint);
    pointer(&mut harness, at, Some(true));
    pointer(&mut harness, at, Some(false));
    assert_eq!(harness.state().session().selection().active(), Some(joint));

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
        let rest = session.document().skeleton().unwrap().joints()[joint]
            .rest
            .rotation;
        rest.angle_to(&session.document().pose.locals[joint].rotation)
            .to_degrees()
    };
    assert!(
        (angle(&harness) - 60.0).abs() < 2.0,
        "turned by {}°",
        angle(&harness)
    );

    press(&mut harness, Modifiers::COMMAND, Key::Z);
    assert!(angle(&harness) < 1e-3, "one step back is all of the drag");
    press(&mut harness, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert!((angle(&harness) - 60.0).abs() < 2.0);
    press(&mut harness, Modifiers::ALT, Key::R);
    assert!(angle(&harness) < 1e-3);
    // Two presses within one frame are two steps.
    for _ in 0..2 {
        harness.event_modifiers(key_down(Key::Z), Modifiers::COMMAND);
    }
    harness.run_steps(3);
    assert!(
        harness.state().session().undo_label().is_none(),
        "both steps are taken back"
    );
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(harness.state().session().selection().active(), None);
}

#[test]
fn framing_uses_the_current_pose() {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(start.elapsed() < Duration::from_mins(1), "it opens");
        std::thread::sleep(Duration::from_millis(1));
    }
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, -90.0],
    });
    let mut harness = workbench_on(session);
    let top = |bench: &Workbench| {
        let snapshot = bench.session().snapshot().expect("shown");
        snapshot
            .positions()
            .iter()
            .map(|position| position.y)
            .fold(f32::NEG_INFINITY, f32::max)
    };
    let rest = harness
        .state()
        .session()
        .subject()
        .expect("open")
        .bind_positions
        .clone();
    let rest_top = rest
        .iter()
        .map(|position| position.y)
        .fold(f32::NEG_INFINITY, f32::max);
    wait_until(&mut harness, "it is bent", |bench| {
        top(bench) < 0.9 * rest_top
    });
    press(&mut harness, Modifiers::NONE, Key::F);
    harness.run_steps(30);
    let bench = harness.state();
    let map = bench
        .viewport()
        .expect("a view")
        .map()
        .expect("it has a size");
    let snapshot = bench.session().snapshot().expect("shown");
    let seen = snapshot
        .positions()
        .iter()
        .map(|position| map.project(&position.cast()).expect("before the eye"));
    let around = egui::Rect::from_points(&seen.collect::<Vec<_>>());
    assert!(
        map.rect().contains_rect(around),
        "{around:?} in {:?}",
        map.rect()
    );
    let part = (around.width() / map.rect().width()).max(around.height() / map.rect().height());
    assert!(part > 0.5, "it fills {part} of the view");
}

#[test]
fn escape_cancels_a_drag() {
    let mut harness = workbench();
    let at = joint_at(&harness, 1);
    pointer(&mut harness, at, Some(true));
    pointer(&mut harness, at + vec2(40.0, 30.0), None);
    pointer(&mut harness, at + vec2(80.0, 60.0), None);
    assert!(
        harness.state().viewport().expect("a view").drag.is_some(),
        "the joint is pulled"
    );
    let moved = harness.state().session().document().clone();
    press(&mut harness, Modifiers::NONE, Key::Escape);
    let session = harness.state().session();
    let rest = session.document().skeleton().unwrap().rest_pose();
    let off = |pose: &sinew::rig::Pose| -> f64 {
        pose.locals
            .iter()
            .zip(&rest.locals)
            .map(|(a, b)| a.rotation.angle_to(&b.rotation))
            .fold(0.0, f64::max)
    };
    assert!(off(&moved.pose) > 0.1 && off(&session.document().pose) < 1e-6);
}

#[test]
fn space_plays_a_digit_chooses_and_orbiting_changes_nothing_but_the_camera() {
    let mut harness = workbench();
    press(&mut harness, Modifiers::NONE, Key::Num1);
    assert_eq!(
        harness
            .state()
            .session()
            .channels()
            .active()
            .playback()
            .clip,
        Some(0)
    );
    press(&mut harness, Modifiers::NONE, Key::Space);
    assert!(
        harness
            .state()
            .session()
            .channels()
            .active()
            .playback()
            .playing
    );
    press(&mut harness, Modifiers::NONE, Key::Space);
    assert!(
        !harness
            .state()
            .session()
            .channels()
            .active()
            .playback()
            .playing
    );

    let before = (
        harness.state().viewport().expect("a view").camera,
        harness.state().session().document().pose.clone(),
    );
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
    harness
        .state_mut()
        .open_files(vec![PathBuf::from("/nowhere/at all.glb")]);
    wait_until(&mut harness, "the message is there", |bench| {
        !bench.session().messages().is_empty()
    });
    let after = harness.state().session().subject().cloned().unwrap();
    assert!(std::sync::Arc::ptr_eq(&before, &after));
    harness.run_steps(3);
    harness.get_by_label("Dismiss").click();
    harness.run_steps(3);
    assert!(harness.state().session().messages().is_empty());
}
