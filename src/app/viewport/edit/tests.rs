//! Builds a skeleton with simulated mouse input, without a screen.

mod analysis;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::{EditTool, EditView, LandmarkHandle};
use crate::app::actions::{Action, Actions};
use crate::app::theme;
use crate::app::viewport::Viewport;
use crate::app::viewport::painter::NoPainter;
use crate::app::workbench::Workbench;
use crate::math::{Point64, Vec64};
use crate::mesh::shapes::tube;
use crate::rig::edit::RigEdit;
use crate::session::{Command, Mode, RigCommand, Session, Source};

type EditHarness = Harness<'static, Workbench>;

/// A session with a tube along y, 2 long and 0.2 thick, without joints, and its file.
fn unrigged_session(name: &str) -> (Session, std::path::PathBuf) {
    let mesh = tube(0.2, 2.0, 24, 16, true);
    let mut text = String::new();
    for p in &mesh.positions {
        let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    let file = std::env::temp_dir().join(format!("sinew-edit-{name}-{}.obj", std::process::id()));
    std::fs::write(&file, text).expect("a place to write");
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::of_files(vec![file.clone()])));
    (session, file)
}

/// A window with that tube, wide enough that no message covers the centre of the view.
fn window(name: &str) -> EditHarness {
    let (session, file) = unrigged_session(name);
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut window = Harness::builder()
        .with_size(vec2(1600.0, 900.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&window.ctx);
    wait_until(&mut window, "a bare mesh opens in edit mode", |bench| {
        bench.session().rigging().mode() == Mode::Edit
            && bench.session().rigging().placer().is_some()
    });
    settle(&mut window);
    std::fs::remove_file(&file).expect("clean up");
    window
}

fn wait_until(window: &mut EditHarness, what: &str, holds: impl Fn(&Workbench) -> bool) {
    let start = Instant::now();
    while !holds(window.state()) {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "timed out: {what}"
        );
        window.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    window.run_steps(3);
}

fn settle(window: &mut EditHarness) {
    wait_until(window, "the flesh follows", |bench| {
        !bench.session().rigging().is_pending() && bench.session().jobs().is_empty()
    });
}

fn on_screen(window: &EditHarness, at: [f64; 3]) -> Pos2 {
    let map = window
        .state()
        .viewport()
        .and_then(super::Viewport::map)
        .expect("a view");
    map.project(&Point64::from(at)).expect("in sight")
}

fn button(at: Pos2, pressed: bool, modifiers: Modifiers) -> Event {
    Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers,
    }
}

fn click(window: &mut EditHarness, at: Pos2, modifiers: Modifiers) {
    window.event_modifiers(Event::PointerMoved(at), modifiers);
    window.run_steps(2);
    window.event_modifiers(button(at, true, modifiers), modifiers);
    window.run_steps(1);
    window.event_modifiers(button(at, false, modifiers), modifiers);
    window.run_steps(3);
}

fn drag(window: &mut EditHarness, from: Pos2, to: Pos2) {
    window.event(Event::PointerMoved(from));
    window.run_steps(2);
    window.event(button(from, true, Modifiers::NONE));
    window.run_steps(1);
    for step in 1..=5 {
        window.event(Event::PointerMoved(
            from + (to - from) * (step as f32 / 5.0),
        ));
        window.run_steps(1);
    }
    window.event(button(to, false, Modifiers::NONE));
    window.run_steps(3);
}

fn places(window: &EditHarness) -> Vec<Point64> {
    window
        .state()
        .session()
        .rigging()
        .rig()
        .expect("open")
        .joints()
        .iter()
        .map(|joint| joint.position)
        .collect()
}

fn build_chain(window: &mut EditHarness) {
    for height in [0.3, 1.0, 1.7] {
        let at = on_screen(window, [0.03, height, 0.0]);
        click(window, at, Modifiers::NONE);
    }
}

#[test]
fn clicks_place_joints_in_the_middle_of_the_flesh() {
    let mut window = window("clicks");
    build_chain(&mut window);
    let joints = places(&window);
    assert_eq!(joints.len(), 3);
    for (joint, height) in joints.iter().zip([0.3, 1.0, 1.7]) {
        assert!(
            joint.x.hypot(joint.z) < 0.01 && (joint.y - height).abs() < 0.05,
            "{joint}"
        );
    }
    let parents: Vec<_> = window
        .state()
        .session()
        .rigging()
        .rig()
        .expect("open")
        .joints()
        .iter()
        .map(|joint| joint.parent)
        .collect();
    assert_eq!(parents, [None, Some(0), Some(1)]);
    settle(&mut window);
    assert!(
        window
            .state()
            .session()
            .subject()
            .expect("open")
            .flesh()
            .is_ok()
    );

    let between = on_screen(&window, [0.0, 0.65, 0.0]);
    click(&mut window, between, Modifiers::SHIFT);
    assert_eq!(places(&window).len(), 4, "Shift+click on a bone inserts");
    window.key_press(Key::M);
    window.run_steps(3);
    assert_eq!(places(&window).len(), 3, "M merges the new joint");
    for _ in 0..5 {
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run_steps(3);
    }
    assert!(places(&window).is_empty() && window.state().session().undo_label().is_none());
}

#[test]
fn the_end_and_the_ring_of_the_selected_bone_can_be_clicked_through() {
    for at_ring in [false, true] {
        let mut window = window(if at_ring { "ring" } else { "end" });
        for height in [0.3, 1.0] {
            let at = on_screen(&window, [0.03, height, 0.0]);
            click(&mut window, at, Modifiers::NONE);
        }
        settle(&mut window);
        let session = window.state().session();
        let view = super::EditView::of(session).expect("open");
        let map = window
            .state()
            .viewport()
            .and_then(super::Viewport::map)
            .expect("a view");
        let tail = view
            .tail(1)
            .and_then(|tail| map.project(&tail))
            .expect("the last bone ends in the flesh");
        let ring = view
            .ring()
            .and_then(|ring| super::pick::ring_corners(&map, ring)[0])
            .expect("the selected bone has a ring");
        click(
            &mut window,
            if at_ring { ring } else { tail },
            Modifiers::NONE,
        );
        assert_eq!(places(&window).len(), 3, "at the ring: {at_ring}");
    }
}

#[test]
fn a_joint_drag_is_one_undo_step_and_stays_inside() {
    let mut window = window("drag");
    build_chain(&mut window);
    settle(&mut window);
    let before = places(&window)[1];
    let (from, to) = (
        on_screen(&window, [0.0, 1.0, 0.0]),
        on_screen(&window, [0.0, 1.25, 0.0]),
    );
    drag(&mut window, from, to);
    assert_eq!(window.state().session().undo_label(), Some("Move joint"));
    let after = places(&window)[1];
    assert!((after.y - 1.25).abs() < 0.05, "{after}");
    settle(&mut window);
    let (from, to) = (
        on_screen(&window, after.coords.into()),
        on_screen(&window, [0.0, 1.25, 0.9]),
    );
    drag(&mut window, from, to);
    let kept = places(&window)[1];
    let placer = window
        .state()
        .session()
        .rigging()
        .placer()
        .expect("ready")
        .clone();
    assert!(placer.is_inside(&kept) && kept.z.abs() < 0.21, "{kept}");
    for _ in 0..2 {
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run_steps(3);
    }
    assert_eq!(places(&window)[1], before);
}

#[test]
fn panel_and_tree_edit_the_selected_joint() {
    let mut window = window("panel");
    build_chain(&mut window);
    settle(&mut window);
    let joints = |bench: &Workbench| bench.session().rigging().rig().map_or(0, |rig| rig.len());
    let has = |bench: &Workbench, name: &str| {
        bench
            .session()
            .rigging()
            .rig()
            .is_some_and(|rig| rig.find(name).is_some())
    };
    window.get_by_role_and_label(Role::Button, "Insert").click();
    wait_until(&mut window, "Insert puts a joint on the bone", |bench| {
        joints(bench) == 4
    });
    window.get_by_role_and_label(Role::Button, "bone1").click();
    wait_until(&mut window, "a row of the tree selects", |bench| {
        bench.session().rigging().selected() == Some(1)
    });
    window.get_by_role_and_label(Role::Button, "Delete").click();
    wait_until(&mut window, "Delete deletes", |bench| !has(bench, "bone1"));
    window.get_by_role_and_label(Role::Button, "Human").click();
    wait_until(&mut window, "a template shows its landmarks", |bench| {
        bench.edit_tool().fitting.is_some()
    });
    window.get_by_role_and_label(Role::Button, "Apply").click();
    wait_until(&mut window, "the template is applied", |bench| {
        has(bench, "hand.L")
    });
    assert_eq!(
        window.state().session().undo_label(),
        Some("Apply template")
    );
    window
        .get_by_role_and_label(Role::RadioButton, "Pose mode")
        .click();
    wait_until(&mut window, "back to posing", |bench| {
        bench.session().rigging().mode() == Mode::Pose
    });
}

#[test]
fn a_landmark_is_dragged_by_its_counterpart() {
    let mut window = window("twin");
    window.get_by_role_and_label(Role::Button, "Human").click();
    let fitted = |bench: &Workbench| {
        bench
            .edit_tool()
            .fitting
            .as_ref()
            .is_some_and(|fitting| !fitting.landmarks.is_empty())
    };
    wait_until(&mut window, "a template shows its landmarks", fitted);
    let handles = |window: &EditHarness| {
        let bench = window.state();
        let fitting = bench.edit_tool().fitting.clone().expect("being fitted");
        fitting
            .handles(bench.session().rigging().mirror())
            .collect::<Vec<_>>()
    };
    let before = handles(&window);
    let alone = |place: &Point64| {
        let others = before
            .iter()
            .map(|(_, other)| (other - place).norm())
            .filter(|distance| *distance > 0.0);
        others.fold(f64::INFINITY, f64::min)
    };
    let twins = before.iter().filter(|(handle, _)| handle.mirrored);
    let (twin, place) = *twins
        .max_by(|a, b| alone(&a.1).total_cmp(&alone(&b.1)))
        .expect("a human has two sides");
    let (from, to) = (
        on_screen(&window, place.coords.into()),
        on_screen(&window, (place.coords + Vec64::y() * 0.3).into()),
    );
    drag(&mut window, from, to);
    let moved = |mirrored: bool| {
        let handle = LandmarkHandle { mirrored, ..twin };
        let find = |handles: &[(LandmarkHandle, Point64)]| {
            handles
                .iter()
                .find(|(other, _)| *other == handle)
                .map(|(_, place)| *place)
        };
        find(&handles(&window)).expect("still there") - find(&before).expect("there")
    };
    let (own, other) = (moved(false), moved(true));
    assert!(
        other.norm() > 0.1 && (own.norm() - other.norm()).abs() < 1e-6,
        "{own} {other}"
    );
    // Where there is flesh it moves to its centre.
    assert!(
        other.y > 0.1 && (own.y - other.y).abs() < 1e-6,
        "upwards as the pointer: {own} {other}"
    );
}

#[test]
fn a_handle_outside_the_body_carries_no_flesh() {
    let (mut session, file) = unrigged_session("handle");
    let idle = |session: &mut Session| {
        let start = Instant::now();
        while session.tick(1.0 / 60.0).active {
            assert!(start.elapsed() < Duration::from_mins(1), "never idle");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    idle(&mut session);
    std::fs::remove_file(&file).expect("clean up");
    session.apply_once(Command::Rig(RigCommand::SetSymmetry(false)));
    for (parent, place) in [
        (None, [0.0, 0.3, 0.0]),
        (Some(0), [0.0, 1.0, 0.0]),
        (Some(1), [0.0, 1.7, 0.0]),
        (Some(0), [3.0, 0.3, 0.0]),
    ] {
        let add = RigEdit::Add {
            parent,
            position: Point64::from(place),
            name: None,
        };
        session.apply_once(Command::Rig(RigCommand::Edit(add)));
    }
    idle(&mut session);
    let view = EditView::of(&session).expect("open");
    assert_eq!(view.without_flesh, [3], "{:?}", view.volumes);
}
