//! The session as a window uses it.

mod crowds;
mod devices;
mod distilling;
mod flesh;
mod mapping;
mod morphs;
mod motions;
mod muscles;
mod painting;
mod pose_tools;
mod recorded;
mod timeline;
mod undo;
mod variants;
mod views;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::math::{Quat, Vec64};
use crate::methods::registry;

/// Ticks until nothing happens any more; panics if that takes unreasonably long.
pub(in crate::session) fn run_until_idle(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(
            start.elapsed() < Duration::from_mins(3),
            "never idle; jobs: {:?}",
            session.jobs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// As [`run_until_idle`], until something is done.
fn tick_until(session: &mut Session, done: impl Fn(&Session) -> bool) {
    let start = Instant::now();
    while !done(session) {
        assert!(
            start.elapsed() < Duration::from_mins(3),
            "{:?} {:?}",
            session.jobs(),
            session.messages()
        );
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn open(name: &str) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin(name)));
    run_until_idle(&mut session);
    assert!(session.subject().is_some(), "{:?}", session.messages());
    session
}

fn opened() -> Session {
    open("cylinder")
}

fn turn(degrees: f64) -> Command {
    turn_joint(
        1,
        Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians()),
    )
}

fn turn_joint(joint: usize, rotation: Quat) -> Command {
    Command::Pose(PoseCommand::Turn {
        joints: vec![joint],
        rotation,
        axes: TurnAxes::World,
    })
}

#[test]
fn a_drag_bends_the_flesh_and_is_one_undo_step() {
    let mut session = opened();
    let rest = session.snapshot().unwrap();
    for step in 1..=9 {
        session.apply(turn(10.0 * f64::from(step)), Gesture::Dragging);
        session.tick(1.0 / 60.0);
    }
    session.end_gesture();
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 90.0).abs() < 1e-6);
    let bent = session.snapshot().unwrap();
    let farthest = |s: &Snapshot| {
        s.positions()
            .iter()
            .zip(rest.positions())
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max)
    };
    assert!(farthest(&bent) > 0.5 * rest.subject.size * 0.3);
    assert_eq!(session.undo_label(), Some("Rotate joints"));
    session.apply_once(Command::Undo);
    assert_eq!(session.undo_label(), None);
    run_until_idle(&mut session);
    assert!(farthest(&session.snapshot().unwrap()) < 1e-3 * rest.subject.size);
}

#[test]
fn a_clip_plays_loops_pauses_and_gives_its_pose_to_an_edit() {
    let mut session = opened();
    session.apply_once(Command::TogglePlaying);
    let duration = session
        .channels()
        .active()
        .clip_duration_secs(&session.document().clips());
    assert!(duration > 0.0 && session.channels().active().playback().playing);
    let mut last = 0.0;
    let mut wrapped = false;
    let start = Instant::now();
    while !wrapped && start.elapsed() < Duration::from_secs(30) {
        assert!(session.tick(0.05).active);
        wrapped = session.channels().active().playback().time_secs < last;
        last = session.channels().active().playback().time_secs;
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(wrapped);
    session.apply_once(Command::SetPlaying(false));
    let frames = session.channels().active().playback().time_secs * DEFAULT_FPS;
    assert!(
        (frames - frames.round()).abs() < 1e-9,
        "it stops at a frame"
    );
    session.apply_once(Command::Scrub {
        time_secs: duration / 2.0,
    });
    run_until_idle(&mut session);
    let shown = session.joint_angles_deg(1);
    session.apply_once(turn(5.0));
    assert_eq!(session.channels().active().playback().clip, None);
    assert!((session.joint_angles_deg(1)[2] - shown[2] - 5.0).abs() < 1e-6);
    session.apply_once(Command::Undo);
    let playback = session.channels().active().playback();
    assert_eq!(
        (playback.clip, playback.time_secs),
        (Some(0), duration / 2.0)
    );
    assert_eq!(session.joint_angles_deg(1), shown);
}

#[test]
fn a_failed_opening_changes_nothing() {
    let mut session = opened();
    session.apply_once(turn(30.0));
    let before = session.document().clone();
    session.apply_once(Command::Open(Source::of_files(vec![
        "/nowhere/at/all.glb".into(),
    ])));
    run_until_idle(&mut session);
    assert_eq!(session.document().pose, before.pose);
    assert_eq!(session.document().source, before.source);
    let message = session.messages().last().cloned().unwrap();
    assert_eq!(message.level, Level::Error);
    assert!(message.text.contains("/nowhere/at/all.glb"), "{message}");
    session.apply_once(Command::DismissMessage(message.id));
    assert!(session.messages().is_empty());

    session.apply_once(Command::Open(Source::of_files(vec![
        "/nowhere/else.glb".into(),
    ])));
    run_until_idle(&mut session);
    session.apply_once(Command::Open(Source::builtin("arm")));
    run_until_idle(&mut session);
    assert!(
        session.messages().is_empty(),
        "what was said of former files is gone"
    );
}

#[test]
fn undo_brings_back_the_character_before() {
    let mut session = opened();
    session.apply_once(turn(30.0));
    let first = session.subject().unwrap().clone();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    run_until_idle(&mut session);
    assert!(!Arc::ptr_eq(&first, session.subject().unwrap()));
    assert!(session.joint_angles_deg(1)[2].abs() < 1e-9);
    session.apply_once(Command::Undo);
    let view = session.snapshot().unwrap();
    assert!(Arc::ptr_eq(&first, &view.subject), "consistent at once");
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 30.0).abs() < 1e-6);
    assert_eq!(session.shown_method(), Some(session.active_view().method));
}

#[test]
fn methods_switch_in_the_background_and_wake_the_window() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let counter = wakes.clone();
    let mut session = Session::new();
    session.set_waker(Arc::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    }));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    run_until_idle(&mut session);
    assert!(wakes.load(Ordering::Relaxed) > 0);
    for method in registry() {
        session.apply_once(Command::SetMethod(method));
        assert!(session.snapshot().is_some(), "the old one stays");
        run_until_idle(&mut session);
        assert_eq!(session.snapshot().unwrap().method, method);
    }
    assert_eq!(session.undo_label(), Some("Change method"));
}

#[test]
fn cancelling_keeps_what_was_there() {
    let mut session = opened();
    let before = session.subject().unwrap().clone();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    assert!(!session.jobs().is_empty());
    session.apply_once(Command::CancelJobs);
    run_until_idle(&mut session);
    assert!(session.jobs().is_empty() && session.messages().is_empty());
    assert!(Arc::ptr_eq(&before, session.subject().unwrap()));
}

#[test]
fn invalid_numbers_change_nothing() {
    let mut session = opened();
    let before = session.document().clone();
    let nan = f64::NAN;
    let joints = session.document().pose.locals.len();
    for command in [
        Command::SetJointAngles {
            joint: 0,
            degrees: [nan, 0.0, 0.0],
        },
        turn_joint(joints, Quat::identity()),
        turn_joint(
            0,
            Quat::new_unchecked(nalgebra::Quaternion::new(nan, 0.0, 0.0, 0.0)),
        ),
        Command::ResetJoint(usize::MAX),
        Command::SelectClip(Some(999)),
        Command::Scrub { time_secs: nan },
        Command::SetSpeed(f64::INFINITY),
        Command::SetParams(crate::dynamics::Params {
            stiffness_pa: nan,
            ..before.params
        }),
    ] {
        session.apply_once(command);
        session.tick(nan);
    }
    assert_eq!(session.document().pose, before.pose);
    assert_eq!(session.document().params, before.params);
    assert_eq!(session.undo_label(), None);
}

#[test]
fn a_pose_file_round_trips() {
    let path = std::env::temp_dir().join(format!("sinew-pose-{}.json", std::process::id()));
    let mut session = opened();
    session.apply_once(turn(40.0));
    let posed = session.document().pose.clone();
    session.apply_once(Command::SavePose(path.clone()));
    session.apply_once(Command::ResetPose);
    session.apply_once(Command::LoadPose(path.clone()));
    let angle = session.document().pose.locals[1]
        .rotation
        .angle_to(&posed.locals[1].rotation);
    assert!(angle < 1e-9);
    std::fs::write(&path, "{\"joints\": {\"uper\": {}}}").unwrap();
    session.apply_once(Command::LoadPose(path.clone()));
    let message = session.messages().last().unwrap().clone();
    assert!(message.text.contains("upper"), "suggests: {message}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn parameters_from_the_start_are_no_step_to_undo() {
    let jelly = crate::dynamics::Preset::Jelly.params();
    let session = Session::with_params(&jelly);
    assert_eq!(session.document().params, jelly);
    assert_eq!(session.undo_label(), None);
}
