//! Keys on the timeline: selected, dragged, scrolled to.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::rig::KeyRef;
use sinew::session::{Command, KeysCommand, PoseCommand, SelectHow, Session};

use super::{Stage, drag, keyed, keys, opened, place, press, secondary_click, stage, times_of};

#[test]
fn keys_are_dragged_box_selected_and_deleted_as_one_step_each() {
    let (session, clip) = keyed();
    let mut harness = stage(session, true);
    let (from, to) = (place(&harness, 30.0, 1.0), place(&harness, 44.0, 1.0));
    drag(&mut harness, from, to);
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 44.0]);
    assert_eq!(harness.state().session.undo_label(), Some("Move keys"));
    harness.state_mut().session.apply_once(Command::Undo);
    harness.run();
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 30.0]);
    // A frame around the later key alone.
    let (from, to) = (place(&harness, 25.0, 0.6), place(&harness, 35.0, 1.4));
    drag(&mut harness, from, to);
    let at = |time_secs: f64| KeyRef::of_joint(1, time_secs);
    assert_eq!(harness.state().timeline.selected_keys(), [at(1.0)]);
    harness.key_press(Key::Delete);
    harness.run();
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0]);
    assert_eq!(harness.state().session.undo_label(), Some("Delete keys"));
}

#[test]
fn a_selection_rectangle_scrolls_beyond_the_edge() {
    let (mut session, _) = keyed();
    let joints = session.document().skeleton().expect("open").len();
    let all: Vec<usize> = (0..joints).collect();
    session.apply_once(
        PoseCommand::Select {
            joints: all,
            how: SelectHow::Replace,
        }
        .into(),
    );
    let mut harness = stage(session, true);
    harness.set_size(vec2(900.0, 105.0));
    harness.run();
    // From the row under the first down out of the panel.
    let (from, to) = (place(&harness, -0.6, 0.6), place(&harness, 10.0, 1.72));
    press(
        &mut harness,
        from,
        PointerButton::Primary,
        true,
        Modifiers::NONE,
    );
    harness.event(Event::PointerMoved(to));
    harness.run_steps(60);
    let chosen = |harness: &Harness<'_, Stage>| {
        harness
            .state()
            .timeline
            .selected_keys()
            .iter()
            .filter_map(KeyRef::joint)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        chosen(&harness).last(),
        Some(&(joints - 1)),
        "{:?}",
        chosen(&harness)
    );
    harness.event(Event::PointerButton {
        pos: to,
        button: PointerButton::Primary,
        pressed: false,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(3);
    assert_eq!(chosen(&harness), (0..joints).collect::<Vec<_>>());
}

#[test]
fn a_cancelled_drag_does_not_move_keys() {
    let (session, clip) = keyed();
    let mut harness = stage(session, true);
    let (from, to) = (place(&harness, 30.0, 0.0), place(&harness, 50.0, 0.0));
    press(
        &mut harness,
        from,
        PointerButton::Primary,
        true,
        Modifiers::NONE,
    );
    harness.event(Event::PointerMoved(to));
    harness.run();
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 50.0]);
    let Stage {
        timeline, actions, ..
    } = harness.state_mut();
    assert!(timeline.cancel_drag(actions));
    harness.run();
    assert_eq!(times_of(&harness.state().session, clip, 1), [0.0, 30.0]);
    assert_eq!(
        harness.state().session.undo_label(),
        Some("Set joint angles")
    );
}

#[test]
fn the_menu_of_a_key_changes_its_interpolation() {
    let (session, clip) = keyed();
    let mut harness = stage(session, true);
    let at = place(&harness, 0.0, 1.0);
    secondary_click(&mut harness, at);
    harness.get_by_label("Step").click();
    harness.run();
    let take = harness
        .state()
        .session
        .document()
        .clips()
        .take(clip)
        .expect("it is a take")
        .clone();
    assert_eq!(take.keys(1)[0].ease, sinew::rig::Ease::Step);
    assert_eq!(
        take.keys(0)[0].ease,
        sinew::rig::Ease::Smooth,
        "only what was meant"
    );
}

/// All joints are keyed.
fn long_chain() -> (Session, usize) {
    let mut session = opened();
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session
        .channels()
        .active()
        .playback()
        .clip
        .expect("it is shown");
    session.apply_once(keys(KeysCommand::SetAutoKey(true)));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    let joints = session
        .document()
        .skeleton()
        .expect("the cylinder has one")
        .len();
    for joint in 0..joints {
        session.apply_once(Command::SetJointAngles {
            joint,
            degrees: [0.0, 0.0, 20.0],
        });
    }
    session.apply_once(Command::SelectJoint(None));
    (session, clip)
}

#[test]
fn hidden_rows_are_reached_by_scrolling_and_their_keys_moved() {
    let (session, clip) = long_chain();
    let last = session
        .document()
        .skeleton()
        .expect("the cylinder has one")
        .len()
        - 1;
    let mut harness = stage(session, true);
    // Room for two rows and a bit.
    harness.set_size(vec2(900.0, 220.0));
    harness.run();
    let rows = harness.get_by_label("Keys over time").rect().height() - 24.0;
    harness.set_size(vec2(900.0, 220.0 - rows + 18.0 * 2.6));
    harness.run();
    let bar = harness
        .get_by_role_and_label(Role::ScrollBar, "Rows")
        .rect();
    let ruler = harness.get_by_label("Keys over time").rect().top();
    // As far down as it goes: the last row stands at the lower edge.
    drag(&mut harness, bar.center(), bar.center() + vec2(0.0, 500.0));
    let times = harness.get_by_label("Keys over time").rect();
    assert_eq!(times.top(), ruler, "the ruler stays");
    let last_row = pos2(place(&harness, 30.0, 0.0).x, times.bottom() - 9.0);
    drag(
        &mut harness,
        last_row,
        last_row + vec2(14.0 * (times.width() - 36.0) / 60.0, 0.0),
    );
    assert_eq!(times_of(&harness.state().session, clip, last), [0.0, 44.0]);
    assert_eq!(
        times_of(&harness.state().session, clip, last - 1),
        [0.0, 30.0]
    );
    // The wheel over the names brings the first one back.
    harness.event(Event::PointerMoved(pos2(
        times.left() - 60.0,
        times.bottom() - 10.0,
    )));
    harness.run();
    for _ in 0..20 {
        harness.event(Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: vec2(0.0, 60.0),
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
            source: egui::MouseWheelSource::Wheel,
        });
        harness.run();
    }
    let (from, to) = (place(&harness, 30.0, 1.0), place(&harness, 20.0, 1.0));
    drag(&mut harness, from, to);
    assert_eq!(times_of(&harness.state().session, clip, 0), [0.0, 20.0]);
}
