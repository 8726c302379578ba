//! Curves of the selected joints: shown, and edited at their keys and handles.

use egui::vec2;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::rig::{JointAxes, JointCurve, JointNumber, Side};
use sinew::session::{Command, CurveEdit, KeysCommand, Session};

use super::{Stage, drag, keyed, keys, place, stage, times_of};

/// Height of the ruler, points.
const RULER: f32 = 24.0;

fn curve(session: &Session, clip: usize) -> JointCurve {
    let skeleton = session.document().skeleton().expect("open");
    let take = session
        .document()
        .clips()
        .take(clip)
        .expect("a take")
        .clone();
    JointCurve::of(&take, 1, JointAxes::of(skeleton, 1)).expect("keys")
}

/// The place of a value at a frame, where the values from `low` to `high` are shown with the graph's margins.
fn at(harness: &Harness<'_, Stage>, frame: f32, value: f32, [low, high]: [f32; 2]) -> egui::Pos2 {
    let times = harness.get_by_label("Keys over time").rect();
    let (top, bottom) = (times.top() + RULER, times.bottom());
    let margin = 0.12 * (high - low);
    let part = (value - low + margin) / (high - low + 2.0 * margin);
    egui::pos2(place(harness, frame, 0.0).x, bottom - part * (bottom - top))
}

#[test]
fn values_times_and_slopes_are_dragged_on_curves() {
    let (session, clip) = keyed();
    let mut harness = stage(session, true);
    harness.get_by_label("Curves").click();
    harness.run();
    assert!(harness.query_by_label("Curve Z").is_some());
    let (before, z) = (curve(&harness.state().session, clip), JointNumber::Turn(2));
    assert!((before.at_key(1, z) - 60.0).abs() < 1e-6);
    // Up: the value, by the height of 30°.
    let from = at(&harness, 30.0, 60.0, [0.0, 60.0]);
    let to = at(&harness, 30.0, 90.0, [0.0, 60.0]) + vec2(2.0, 0.0);
    drag(&mut harness, from, to);
    let raised = curve(&harness.state().session, clip);
    assert!(
        (raised.at_key(1, z) - 90.0).abs() < 0.5,
        "{}",
        raised.at_key(1, z)
    );
    for other in [
        JointNumber::Turn(0),
        JointNumber::Turn(1),
        JointNumber::Move(1),
    ] {
        assert!((raised.at_key(1, other) - before.at_key(1, other)).abs() < 1e-6);
    }
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 30.0]);
    assert_eq!(harness.state().session.undo_label(), Some("Change keys"));
    // Sideways: the time.
    let from = at(&harness, 30.0, 90.0, [0.0, 90.0]);
    let to = at(&harness, 40.0, 90.0, [0.0, 90.0]) + vec2(0.0, 2.0);
    drag(&mut harness, from, to);
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 40.0]);
    let moved = curve(&harness.state().session, clip).at_key(1, z);
    assert!((moved - raised.at_key(1, z)).abs() < 1e-9);
    // The handle before the selected key, which is level: down, so that the curve rises into the key.
    let key = at(&harness, 40.0, 90.0, [0.0, 90.0]);
    drag(&mut harness, key - vec2(34.0, 0.0), key + vec2(-34.0, 25.0));
    assert_eq!(harness.state().session.undo_label(), Some("Turn curve"));
    let turned = curve(&harness.state().session, clip);
    assert!(turned.rate(1, Side::Before, z).expect("a piece") > 20.0);
    assert!((turned.at_key(1, z) - moved).abs() < 1e-9);
    for _ in 0..3 {
        harness.state_mut().session.apply_once(Command::Undo);
    }
    harness.run();
    assert!((curve(&harness.state().session, clip).at_key(1, z) - 60.0).abs() < 1e-6);
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 30.0]);
}

#[test]
fn clips_are_closed_and_repeated_as_one_step_each() {
    let (mut session, clip) = keyed();
    let close = |edit| {
        keys(KeysCommand::Curve {
            clip,
            edit,
            from: None,
        })
    };
    session.apply_once(close(CurveEdit::CloseLoop(sinew::rig::Travel::Kept)));
    let [first, last] = [0.0, 2.0].map(|time| curve(&session, clip).numbers([time])[0]);
    assert!(first.iter().zip(&last).all(|(a, b)| (a - b).abs() < 1e-9));
    assert_eq!(session.undo_label(), Some("Close loop"));
    session.apply_once(close(CurveEdit::Repeat { times: 2 }));
    assert_eq!(times_of(&session, clip, 1), [0.0, 30.0, 60.0, 90.0, 120.0]);
    session.apply_once(Command::Undo);
    assert_eq!(times_of(&session, clip, 1), [0.0, 30.0, 60.0]);
    // Two keys have nothing between them: said, and nothing changes.
    session.apply_once(close(CurveEdit::Smooth(Vec::new())));
    assert!(
        session
            .messages()
            .iter()
            .any(|message| message.text.contains("three or more"))
    );
}
