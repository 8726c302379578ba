//! Painting materials onto the skin in the whole workbench.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::tools::Tool;
use sinew::app::gestures::GesturePhases;
use sinew::app::workbench::Workbench;
use sinew::character::PaintMap;
use sinew::math::origin_of;
use sinew::methods::MethodId;
use sinew::session::{Command, Session, Source};

use crate::bench::{wait_until, workbench_on};

fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::PD));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = workbench_on(session);
    GesturePhases::install(&harness.ctx);
    harness.get_by_label("Paint").click();
    harness.run_steps(4);
    assert_eq!(harness.state().tools().tool, Tool::Paint);
    harness
}

/// Where a joint is on the screen; the skin is around it.
fn middle(harness: &Harness<'_, Workbench>) -> Pos2 {
    let bench = harness.state();
    let world = bench.session().channels().active().world_from_joint()[1];
    let map = bench
        .viewport()
        .and_then(sinew::app::viewport::Viewport::map);
    let at = map.and_then(|map| map.project(&origin_of(&world)));
    at.expect("the joint is in the picture")
}

fn button(harness: &mut Harness<'_, Workbench>, pos: Pos2, pressed: bool, modifiers: Modifiers) {
    let event = Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers,
    };
    harness.event_modifiers(event, modifiers);
    harness.run_steps(2);
}

fn moved(harness: &mut Harness<'_, Workbench>, pos: Pos2, modifiers: Modifiers) {
    harness.event_modifiers(Event::PointerMoved(pos), modifiers);
    harness.run_steps(1);
}

/// Drags over the skin; the button stays down.
fn stroke(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers) -> Pos2 {
    let at = middle(harness);
    moved(harness, at, modifiers);
    button(harness, at, true, modifiers);
    let mut last = at;
    for step in 1..=5 {
        last = at + vec2(0.0, 4.0 * step as f32);
        moved(harness, last, modifiers);
    }
    last
}

fn painted(harness: &Harness<'_, Workbench>, map: PaintMap) -> Vec<i16> {
    let paint = &harness.state().session().document().flesh.paint;
    paint.codes(map).map(<[i16]>::to_vec).unwrap_or_default()
}

#[test]
fn a_stroke_paints_is_one_step_and_does_not_move_the_camera() {
    let mut harness = workbench();
    let camera = harness.state().viewport().expect("a view").camera;
    let last = stroke(&mut harness, Modifiers::NONE);
    let during = painted(&harness, PaintMap::Stiffness);
    assert!(
        during.iter().any(|&code| code > 0),
        "painted while the button is down"
    );
    assert!(
        during
            .iter()
            .all(|&code| code <= PaintMap::Stiffness.code(4.0))
    );
    button(&mut harness, last, false, Modifiers::NONE);
    harness.run_steps(3);
    let session = harness.state().session();
    assert_eq!(session.undo_label(), Some("Paint stiffness"));
    assert_eq!(session.history().position, 1);
    let after = harness.state().viewport().expect("a view").camera;
    assert!(after == camera);
    let before = painted(&harness, PaintMap::Stiffness);
    // Ctrl erases, as one step of its own.
    let last = stroke(&mut harness, Modifiers::COMMAND);
    button(&mut harness, last, false, Modifiers::COMMAND);
    let sum = |codes: &[i16]| codes.iter().map(|code| i64::from(*code)).sum::<i64>();
    assert!(sum(&painted(&harness, PaintMap::Stiffness)) < sum(&before));
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run_steps(3);
    assert_eq!(painted(&harness, PaintMap::Stiffness), before);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run_steps(3);
    assert!(harness.state().session().document().flesh.paint.is_empty());
}

#[test]
fn escape_takes_a_stroke_back() {
    let mut harness = workbench();
    let last = stroke(&mut harness, Modifiers::NONE);
    assert!(!painted(&harness, PaintMap::Stiffness).is_empty());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.state().session().document().flesh.paint.is_empty());
    assert_eq!(harness.state().session().undo_label(), None);
    moved(&mut harness, last + vec2(0.0, 5.0), Modifiers::NONE);
    assert!(
        harness.state().session().document().flesh.paint.is_empty(),
        "until the button is released"
    );
    button(&mut harness, last, false, Modifiers::NONE);
    assert_eq!(harness.state().tools().tool, Tool::Paint);
}

#[test]
fn the_panel_chooses_the_material_fills_and_clears() {
    let mut harness = workbench();
    harness.get_by_label("Held").click();
    harness.run_steps(3);
    harness.get_by_label("Fill").click();
    wait_until(&mut harness, "the flesh has the paint", |bench| {
        bench.session().jobs().is_empty()
    });
    assert!(
        painted(&harness, PaintMap::Held)
            .iter()
            .all(|&code| code == 1000)
    );
    assert!(painted(&harness, PaintMap::Stiffness).is_empty());
    harness.get_by_label("Clear").click();
    harness.run_steps(3);
    assert!(harness.state().session().document().flesh.paint.is_empty());
    assert_eq!(harness.state().session().undo_label(), Some("Clear paint"));
}
