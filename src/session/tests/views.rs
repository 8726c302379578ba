//! Several views.

use super::*;

fn view(session: &mut Session, command: ViewCommand) {
    session.apply_once(Command::View(command));
    run_until_idle(session);
}

#[test]
fn linked_views_show_one_pose_by_several_methods() {
    let mut session = opened();
    let (first, second) = (session.active_view().id, session.views().next_id());
    view(
        &mut session,
        ViewCommand::Add {
            id: second,
            like: first,
        },
    );
    view(
        &mut session,
        ViewCommand::SetMethod {
            view: second,
            method: MethodId::LBS,
        },
    );
    view(
        &mut session,
        ViewCommand::SetCompare {
            view: second,
            method: Some(MethodId::DQS),
        },
    );
    session.apply_once(turn(60.0));
    run_until_idle(&mut session);
    let methods = [
        session.snapshot_of(first),
        session.snapshot_of(second),
        session.compared_snapshot_of(second),
    ]
    .map(Option::unwrap);
    assert_eq!(
        methods.each_ref().map(|snapshot| snapshot.method),
        [MethodId::PD, MethodId::LBS, MethodId::DQS]
    );
    assert!(methods.iter().all(
        |snapshot| snapshot.world_from_joint == session.channels().active().world_from_joint()
    ));
    assert!(
        methods[0].sequence != methods[1].sequence && methods[1].sequence != methods[2].sequence
    );
    view(&mut session, ViewCommand::Remove(first));
    assert_eq!(
        (session.views().list().len(), session.active_view().id),
        (1, second)
    );
    view(&mut session, ViewCommand::Remove(second));
    assert_eq!(session.views().list().len(), 1, "the last one stays");
}

#[test]
fn a_free_view_has_a_pose_and_a_clock_of_its_own() {
    let mut session = opened();
    session.apply_once(turn(20.0));
    let (first, second) = (session.active_view().id, session.views().next_id());
    view(
        &mut session,
        ViewCommand::Add {
            id: second,
            like: first,
        },
    );
    view(
        &mut session,
        ViewCommand::SetFree {
            view: second,
            free: true,
        },
    );
    view(&mut session, ViewCommand::Activate(second));
    assert!(
        (session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9,
        "it goes on as the shared pose"
    );
    session.apply_once(turn(30.0));
    session.apply_once(Command::TogglePlaying);
    session.tick(0.05);
    session.apply_once(Command::View(ViewCommand::Activate(first)));
    assert!(
        !session.channels().active().playback().playing
            && (session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9
    );
    session.apply_once(Command::View(ViewCommand::Activate(second)));
    assert!(session.channels().active().playback().playing);
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::SelectClip(None));
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 50.0).abs() < 1e-9);
    let [shared, free] = [first, second].map(|id| session.snapshot_of(id).unwrap());
    assert!(shared.world_from_joint != free.world_from_joint && shared.method == free.method);
    // Undo takes the clip and the turn back, then the freedom.
    for label in ["Select clip", "Play or pause", "Rotate joints"] {
        assert_eq!(session.undo_label(), Some(label));
        session.apply_once(Command::Undo);
    }
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9);
    session.apply_once(Command::Undo);
    assert!(session.views().list().iter().all(|view| !view.free));
    session.apply_once(Command::Redo);
    assert!(session.views().get(second).unwrap().free);
    view(
        &mut session,
        ViewCommand::SetFree {
            view: second,
            free: false,
        },
    );
    assert_eq!(
        session.snapshot_of(first).unwrap().world_from_joint,
        session.snapshot_of(second).unwrap().world_from_joint
    );
}

/// The methods have very different times for a frame.
#[test]
fn linked_views_present_the_same_frame() {
    let mut session = opened();
    let first = session.active_view().id;
    let mut views = vec![first];
    for method in [MethodId::LBS, MethodId::DQS] {
        let id = session.views().next_id();
        view(&mut session, ViewCommand::Add { id, like: first });
        view(&mut session, ViewCommand::SetMethod { view: id, method });
        views.push(id);
    }
    let (id, method) = (views[1], Some(MethodId::PD));
    view(&mut session, ViewCommand::SetCompare { view: id, method });
    session.apply_once(Command::SetPlaying(true));
    let start = Instant::now();
    let (mut times, mut scored) = (Vec::new(), 0);
    while times.len() < 40 || scored < 3 {
        assert!(start.elapsed() < Duration::from_mins(2), "{times:?}");
        session.tick(1.0 / 60.0);
        let states: Vec<_> = views
            .iter()
            .map(|id| session.snapshot_of(*id))
            .chain([session.compared_snapshot_of(id)])
            .map(Option::unwrap)
            .collect();
        for state in &states {
            assert_eq!(state.time_secs, states[0].time_secs);
            assert!(state.world_from_joint == states[0].world_from_joint);
        }
        if times.last() != Some(&states[0].time_secs) {
            times.push(states[0].time_secs);
        }
        let scores: Vec<_> = (0..)
            .zip(&states)
            .map(|(key, state)| Some(session.score_of(key, state)?.time_secs))
            .collect();
        session.measure_scores();
        assert!(scores.iter().all(|score| *score == scores[0]), "{scores:?}");
        scored += usize::from(scores[0].is_some());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(times.iter().flatten().count() > 30, "{times:?}");
    // A drag while it is paused, too.
    session.apply_once(Command::SetPlaying(false));
    for step in 1..20 {
        session.apply(turn(f64::from(step)), Gesture::Dragging);
        session.tick(1.0 / 60.0);
        let worlds = views.iter().map(|id| {
            let state = session.snapshot_of(*id).unwrap();
            state.world_from_joint.clone()
        });
        let worlds: Vec<_> = worlds.collect();
        assert!(worlds.iter().all(|world| *world == worlds[0]), "{step}");
    }
    session.end_gesture();
    run_until_idle(&mut session);
    let last = session.snapshot_of(first).unwrap();
    assert!(last.world_from_joint == session.channels().active().world_from_joint());
}
