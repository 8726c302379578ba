//! Undo of what is seen beside the document.

use super::*;
use crate::character::SimVertices;

fn clip_shown(session: &Session) -> (Option<usize>, f64) {
    let playback = session.channels().active().playback();
    (playback.clip, playback.time_secs)
}

#[test]
fn undo_brings_the_clip_back_at_its_frame() {
    let mut session = opened();
    session.apply_once(Command::SelectClip(Some(0)));
    session.apply_once(Command::Scrub { time_secs: 0.5 });
    run_until_idle(&mut session);
    let shown = session.joint_angles_deg(1);
    session.apply_once(turn(5.0));
    assert_eq!(clip_shown(&session).0, None);
    session.apply_once(Command::Undo);
    assert_eq!(clip_shown(&session), (Some(0), 0.5));
    assert_eq!(session.joint_angles_deg(1), shown);
    session.apply_once(Command::Redo);
    assert_eq!(clip_shown(&session).0, None);
    session.apply_once(Command::Undo);
    // A step that does not concern the clock does not move it.
    session.apply_once(Command::SetParams(Params {
        density_kg_m3: 900.0,
        ..Params::default()
    }));
    session.apply_once(Command::Scrub { time_secs: 0.25 });
    session.apply_once(Command::Undo);
    assert_eq!(clip_shown(&session), (Some(0), 0.25));
    // The choice of the clip is a step of its own.
    assert_eq!(session.undo_label(), Some("Select clip"));
    session.apply_once(Command::Undo);
    assert_eq!(clip_shown(&session).0, None);
    assert_eq!(session.undo_label(), None);
}

#[test]
fn a_cancelled_drag_leaves_the_clip_at_its_frame() {
    let mut session = opened();
    session.apply_once(Command::SelectClip(Some(0)));
    session.apply_once(Command::Scrub { time_secs: 0.5 });
    let (before, steps) = (session.document().pose.clone(), session.history());
    for degrees in [5.0, 10.0] {
        session.apply(turn(degrees), Gesture::Dragging);
    }
    assert_eq!(clip_shown(&session).0, None);
    session.apply_once(PoseCommand::Revert.into());
    assert_eq!(clip_shown(&session), (Some(0), 0.5));
    assert_eq!(session.document().pose, before);
    assert_eq!(session.history(), steps);
}

#[test]
fn undo_covers_methods_and_views() {
    let mut session = opened();
    let first = session.active_view().id;
    session.apply_once(Command::SetMethod(MethodId::DQS));
    let id = session.views().next_id();
    let arranged = || WindowState {
        views: Vec::new(),
        active: first,
        tiles: serde_json::Value::Null,
        panes: Vec::new(),
        maximised: None,
        board: BoardState::default(),
    };
    let after = WindowState {
        active: id,
        ..arranged()
    };
    let commands = [
        Command::View(ViewCommand::Add { id, like: first }),
        Command::View(ViewCommand::Activate(id)),
    ];
    session.arrange("Split view", [arranged(), after.clone()], commands);
    assert_eq!(session.history().labels, ["Change method", "Split view"]);
    assert_eq!(session.views().list().len(), 2);
    session.set_window_seen(after.clone());
    session.apply_once(Command::Undo);
    assert_eq!(session.views().list().len(), 1);
    assert_eq!(session.take_window_seen().as_deref(), Some(&arranged()));
    session.set_window_seen(arranged());
    session.apply_once(Command::Undo);
    assert_eq!(session.active_view().method, MethodId::PD);
    assert_eq!(
        session.take_window_seen(),
        None,
        "that step did not change it"
    );
    session.set_window_seen(arranged());
    session.apply_once(ProjectCommand::JumpTo(2).into());
    assert_eq!(session.views().list().len(), 2);
    assert_eq!(session.views().get(first).unwrap().method, MethodId::DQS);
    assert_eq!(session.take_window_seen().as_deref(), Some(&after));
    run_until_idle(&mut session);
}

/// The state as soon as the view shows the present pose. Without ticks, so that no time passes.
fn at_once(session: &Session) -> Arc<Snapshot> {
    let start = Instant::now();
    loop {
        let state = session.snapshot().unwrap();
        if state.world_from_joint == session.channels().active().world_from_joint() {
            return state;
        }
        assert!(start.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn kept_flesh_is_restored_exactly_and_other_flesh_settles() {
    let mut session = opened();
    session.apply_once(Command::SetSimVertices(SimVertices::About(300)));
    run_until_idle(&mut session);
    let rest = session.snapshot().unwrap();
    session.apply_once(turn(70.0));
    // The flesh still swings when it is undone.
    for _ in 0..12 {
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(5));
    }
    let turned = session.channels().active().world_from_joint().to_vec();
    tick_until(&mut session, |session| {
        session.snapshot().unwrap().world_from_joint == turned
    });
    session.apply_once(Command::Undo);
    assert!(at_once(&session).positions() == rest.positions());
    session.apply_once(Command::Redo);
    let swinging = at_once(&session);
    run_until_idle(&mut session);
    let still = session.snapshot().unwrap();
    assert!(
        swinging.positions() != still.positions(),
        "its motion goes on"
    );
    // Many steps later, the oldest state is no longer kept.
    for step in 0..20 {
        session.apply_once(turn(f64::from(step)));
        run_until_idle(&mut session);
    }
    session.apply_once(ProjectCommand::JumpTo(1).into());
    let settled = at_once(&session);
    let apart = |(a, b): (&crate::math::Point, &crate::math::Point)| (a - b).norm();
    let farthest = settled
        .positions()
        .iter()
        .zip(rest.positions())
        .map(apart)
        .fold(0.0, f32::max);
    assert!(farthest < 1e-3 * rest.subject.size, "{farthest}");
}
