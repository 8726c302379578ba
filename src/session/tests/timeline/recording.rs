//! Recorded takes.

use super::*;

/// Records a drag with fixed ticks.
fn recorded(session: &mut Session) -> Arc<KeyedClip> {
    session.apply_once(keys(KeysCommand::StartRecording));
    for step in 0..60 {
        let since_start = 3 * if step < 30 { step + 1 } else { 59 - step };
        session.apply(turn(f64::from(since_start)), Gesture::Dragging);
        session.tick(1.0 / 60.0);
    }
    session.apply_once(keys(KeysCommand::StopRecording));
    session.document().takes.last().unwrap().clone()
}

#[test]
fn a_recording_is_one_step_few_keys_and_the_same_every_time() {
    let (mut session, mut again) = (opened(), opened());
    session.apply_once(turn(10.0));
    again.apply_once(turn(10.0));
    let pose = session.document().pose.clone();
    let take = recorded(&mut session);
    assert_eq!(take, recorded(&mut again));
    assert!(
        (take.duration_secs() - 1.0).abs() < 0.04,
        "{}",
        take.duration_secs()
    );
    assert!(
        (2..20).contains(&take.keys(1).len()) && take.keys(0).is_empty(),
        "{} keys",
        take.keys(1).len()
    );
    let at = |time: f64| {
        let skeleton = session.document().skeleton().unwrap();
        crate::session::joint_angles_deg(skeleton, &take.sample(skeleton, time), 1)[2]
    };
    // Half of each second is one way: 3° in a 60th.
    for (time, expected) in [(0.0, 10.0), (0.25, 55.0), (0.5, 100.0), (1.0, 10.0)] {
        assert!((at(time) - expected).abs() < 4.0, "{time} s: {}", at(time));
    }
    assert_eq!(
        (session.undo_label(), &session.document().pose),
        (Some("Record take"), &pose)
    );
    session.apply_once(Command::Undo);
    assert!(
        session.document().takes.is_empty()
            && session.document().pose == pose
            && session.undo_label() == Some("Rotate joints")
    );
    session.apply_once(Command::Redo);
    assert_eq!(session.document().takes.len(), 1);
}

#[test]
fn nothing_recorded_makes_no_take() {
    let (mut session, clip) = keyed();
    session.apply_once(keys(KeysCommand::StartRecording));
    for _ in 0..30 {
        session.tick(1.0 / 60.0);
    }
    session.apply_once(keys(KeysCommand::StopRecording));
    assert_eq!(session.document().clips().len(), clip + 1);
    assert!(
        session
            .messages()
            .iter()
            .any(|message| message.text.contains("Nothing moved"))
    );
}

#[test]
fn a_recording_that_is_undone_while_it_runs_leaves_nothing() {
    let mut session = opened();
    session.apply_once(keys(KeysCommand::StartRecording));
    session.apply_once(turn(40.0));
    session.tick(0.05);
    assert!(session.keying().recording_secs().is_some());
    session.apply_once(Command::Undo);
    assert!(session.keying().recording_secs().is_none() && session.document().takes.is_empty());
    assert!(session.undo_label().is_none() && angle(&session).abs() < 1e-9);
}
