//! A dragged gap between views is an undo step.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, pos2, vec2};
use egui_kittest::Harness;
use sinew::app::actions::{Action, LayoutAction, LayoutPreset};
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Session, Source};

use crate::bench::workbench_on;

fn bench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = workbench_on(session);
    let two = Action::Layout(LayoutAction::Arrange(LayoutPreset::BeforeAfter));
    harness.state_mut().raise(two);
    harness.run_steps(6);
    harness
}

/// Rectangles of the views, from left to right.
fn rects(harness: &Harness<'_, Workbench>) -> Vec<Rect> {
    let mut rects: Vec<Rect> = harness
        .state()
        .layout()
        .rects()
        .into_iter()
        .map(|(_, rect)| rect)
        .collect();
    rects.sort_by(|a, b| a.left().total_cmp(&b.left()));
    rects
}

fn button(harness: &mut Harness<'_, Workbench>, at: Pos2, pressed: bool) {
    harness.event(Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(2);
}

#[test]
fn a_dragged_gap_is_undone_in_one_step() {
    let mut harness = bench();
    let before = rects(&harness);
    assert_eq!(before.len(), 2);
    let steps = harness.state().session().history().position;
    let gap = pos2(
        f32::midpoint(before[0].right(), before[1].left()),
        before[0].center().y,
    );
    harness.event(Event::PointerMoved(gap));
    harness.run_steps(2);
    button(&mut harness, gap, true);
    for step in 1..=6 {
        harness.event(Event::PointerMoved(gap + vec2(10.0 * step as f32, 0.0)));
        harness.run_steps(1);
    }
    let moved = rects(&harness);
    assert!(moved[0].width() > before[0].width() + 30.0, "{moved:?}");
    assert_eq!(
        harness.state().session().history().position,
        steps,
        "not before the drag has ended"
    );
    button(&mut harness, gap + vec2(60.0, 0.0), false);
    assert_eq!(harness.state().session().history().position, steps + 1);
    assert_eq!(harness.state().session().undo_label(), Some("Move views"));
    let moved = rects(&harness);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    harness.run_steps(4);
    for (now, then) in rects(&harness).iter().zip(&before) {
        assert!((now.width() - then.width()).abs() < 1.0, "{now:?} {then:?}");
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    harness.run_steps(4);
    for (now, then) in rects(&harness).iter().zip(&moved) {
        assert!((now.width() - then.width()).abs() < 1.0, "{now:?} {then:?}");
    }
}
