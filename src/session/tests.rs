//! The session as a window uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::math::{Quat, Vec64};

/// Ticks until nothing happens any more; panics if that takes unreasonably long.
fn run_until_idle(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(start.elapsed() < Duration::from_mins(1), "never idle; jobs: {:?}", session.jobs());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn opened() -> Session {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    run_until_idle(&mut session);
    assert!(session.subject().is_some(), "{:?}", session.messages());
    session
}

fn turn(degrees: f64) -> Command {
    Command::RotateJoint { joint: 1, rotation: Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians()) }
}

#[test]
fn a_drag_bends_the_flesh_and_is_one_undo_step() {
    let mut session = opened();
    let rest = session.snapshot().unwrap();
    for _ in 0..9 {
        session.apply(turn(10.0), Gesture::Dragging);
        session.tick(1.0 / 60.0);
    }
    session.end_gesture();
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 90.0).abs() < 1e-6);
    let bent = session.snapshot().unwrap();
    let farthest = |s: &Snapshot| s.positions.iter().zip(&rest.positions).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(farthest(&bent) > 0.5 * rest.subject.size * 0.3);
    assert_eq!(session.undo_label(), Some("Rotate joint"));
    session.apply_once(Command::Undo);
    assert_eq!(session.undo_label(), None);
    run_until_idle(&mut session);
    assert!(farthest(&session.snapshot().unwrap()) < 1e-3 * rest.subject.size);
}

#[test]
fn a_clip_plays_loops_pauses_and_gives_its_pose_to_an_edit() {
    let mut session = opened();
    session.apply_once(Command::TogglePlaying);
    let duration = session.clip_duration_secs();
    assert!(duration > 0.0 && session.playback().playing);
    let mut last = 0.0;
    let mut wrapped = false;
    let start = Instant::now();
    while !wrapped && start.elapsed() < Duration::from_secs(30) {
        assert!(session.tick(0.05).active);
        wrapped = session.playback().time_secs < last;
        last = session.playback().time_secs;
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(wrapped);
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::Scrub { time_secs: duration / 2.0 });
    run_until_idle(&mut session);
    let shown = session.joint_angles_deg(1);
    session.apply_once(turn(5.0));
    assert_eq!(session.playback().clip, None);
    assert!((session.joint_angles_deg(1)[2] - shown[2] - 5.0).abs() < 1e-6);
    session.apply_once(Command::Undo);
    assert!(session.joint_angles_deg(1)[2].abs() < 1e-9);
}

#[test]
fn what_cannot_be_opened_leaves_everything_as_it_was() {
    let mut session = opened();
    session.apply_once(turn(30.0));
    let before = session.document().clone();
    session.apply_once(Command::Open(Source::of_files(vec!["/nowhere/at/all.glb".into()])));
    run_until_idle(&mut session);
    assert_eq!(session.document().pose, before.pose);
    assert_eq!(session.document().source, before.source);
    let message = session.messages().last().cloned().unwrap();
    assert_eq!(message.level, Level::Error);
    assert!(message.text.contains("/nowhere/at/all.glb"), "{message}");
    session.apply_once(Command::DismissMessage(message.id));
    assert!(session.messages().is_empty());

    session.apply_once(Command::Open(Source::of_files(vec!["/nowhere/else.glb".into()])));
    run_until_idle(&mut session);
    session.apply_once(Command::Open(Source::builtin("arm")));
    run_until_idle(&mut session);
    assert!(session.messages().is_empty(), "what was said of former files is gone");
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
    for method in Method::ALL {
        session.apply_once(Command::SetMethod(method));
        assert!(session.snapshot().is_some(), "the old one stays");
        run_until_idle(&mut session);
        assert_eq!(session.snapshot().unwrap().method, method);
    }
    assert_eq!(session.undo_label(), None, "which method a view shows is no part of the document");
}

fn view(session: &mut Session, command: ViewCommand) {
    session.apply_once(Command::View(command));
    run_until_idle(session);
}

#[test]
fn linked_views_show_one_pose_by_several_methods() {
    let mut session = opened();
    let (first, second) = (session.active_view().id, session.views().next_id());
    view(&mut session, ViewCommand::Add { id: second, like: first });
    view(&mut session, ViewCommand::SetMethod { view: second, method: Method::Lbs });
    view(&mut session, ViewCommand::SetCompare { view: second, method: Some(Method::Dqs) });
    session.apply_once(turn(60.0));
    run_until_idle(&mut session);
    let methods = [session.snapshot_of(first), session.snapshot_of(second), session.compared_snapshot_of(second)].map(Option::unwrap);
    assert_eq!(methods.each_ref().map(|snapshot| snapshot.method), [Method::Pd, Method::Lbs, Method::Dqs]);
    assert!(methods.iter().all(|snapshot| snapshot.world_from_joint == session.world_from_joint()));
    assert!(methods[0].sequence != methods[1].sequence && methods[1].sequence != methods[2].sequence);
    view(&mut session, ViewCommand::Remove(first));
    assert_eq!((session.views().list().len(), session.active_view().id), (1, second));
    view(&mut session, ViewCommand::Remove(second));
    assert_eq!(session.views().list().len(), 1, "the last one stays");
}

#[test]
fn a_free_view_has_a_pose_and_a_clock_of_its_own() {
    let mut session = opened();
    session.apply_once(turn(20.0));
    let (first, second) = (session.active_view().id, session.views().next_id());
    view(&mut session, ViewCommand::Add { id: second, like: first });
    view(&mut session, ViewCommand::SetFree { view: second, free: true });
    view(&mut session, ViewCommand::Activate(second));
    assert!((session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9, "it goes on as the shared pose");
    session.apply_once(turn(30.0));
    session.apply_once(Command::TogglePlaying);
    session.tick(0.05);
    session.apply_once(Command::View(ViewCommand::Activate(first)));
    assert!(!session.playback().playing && (session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9);
    session.apply_once(Command::View(ViewCommand::Activate(second)));
    assert!(session.playback().playing);
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::SelectClip(None));
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 50.0).abs() < 1e-9);
    let [shared, free] = [first, second].map(|id| session.snapshot_of(id).unwrap());
    assert!(shared.world_from_joint != free.world_from_joint && shared.method == free.method);
    // Undo takes the turn back, then the freedom.
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!((session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9);
    session.apply_once(Command::Undo);
    assert!(session.views().list().iter().all(|view| !view.free));
    session.apply_once(Command::Redo);
    assert!(session.views().get(second).unwrap().free);
    view(&mut session, ViewCommand::SetFree { view: second, free: false });
    assert_eq!(session.snapshot_of(first).unwrap().world_from_joint, session.snapshot_of(second).unwrap().world_from_joint);
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
fn nonsense_numbers_change_nothing() {
    let mut session = opened();
    let before = session.document().clone();
    let nan = f64::NAN;
    let joints = session.document().pose.locals.len();
    for command in [
        Command::SetJointAngles { joint: 0, degrees: [nan, 0.0, 0.0] },
        Command::RotateJoint { joint: joints, rotation: Quat::identity() },
        Command::RotateJoint { joint: 0, rotation: Quat::new_unchecked(nalgebra::Quaternion::new(nan, 0.0, 0.0, 0.0)) },
        Command::ResetJoint(usize::MAX),
        Command::SelectClip(Some(999)),
        Command::Scrub { time_secs: nan },
        Command::SetSpeed(f64::INFINITY),
        Command::SetPose(crate::rig::Pose::default()),
        Command::SetParams(crate::dynamics::Params { stiffness_pa: nan, ..before.params }),
    ] {
        session.apply_once(command);
        session.tick(nan);
    }
    assert_eq!(session.document().pose, before.pose);
    assert_eq!(session.document().params, before.params);
    assert_eq!(session.undo_label(), None);
}

#[test]
fn a_pose_file_comes_back() {
    let path = std::env::temp_dir().join(format!("sinew-pose-{}.json", std::process::id()));
    let mut session = opened();
    session.apply_once(turn(40.0));
    let posed = session.document().pose.clone();
    session.apply_once(Command::SavePose(path.clone()));
    session.apply_once(Command::ResetPose);
    session.apply_once(Command::LoadPose(path.clone()));
    let angle = session.document().pose.locals[1].rotation.angle_to(&posed.locals[1].rotation);
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

fn bone(edit: &str) -> crate::character::BoneSettings {
    let mut settings = crate::character::BoneSettings::default();
    settings.edit(edit).unwrap();
    settings
}

#[test]
fn factors_of_bones_take_effect_without_rebuilding() {
    let mut session = opened();
    let subject = session.subject().unwrap().clone();
    session.apply_once(Command::SetBone { joint: 1, settings: bone("stiffness:3,jiggle:0.5") });
    assert_eq!(session.undo_label(), Some("Change bone"));
    run_until_idle(&mut session);
    assert!(Arc::ptr_eq(&subject, session.subject().unwrap()) && session.jobs().is_empty());
    assert_eq!(session.document().flesh.bones[&1].stiffness, 3.0);
    session.apply_once(Command::Undo);
    assert!(session.document().flesh.bones.is_empty());
    session.apply_once(Command::SetBone { joint: 99, settings: bone("held") });
    session.apply_once(Command::SetBone { joint: 1, settings: crate::character::BoneSettings { density: f64::NAN, ..bone("held") } });
    assert!(session.document().flesh.bones.is_empty(), "nonsense changes nothing");
}

#[test]
fn a_held_bone_rebuilds_the_flesh_and_keeps_the_view() {
    let mut session = opened();
    let plain = session.subject().unwrap().clone();
    session.apply_once(turn(30.0));
    session.apply_once(Command::SelectJoint(Some(1)));
    session.apply_once(Command::SetBone { joint: 1, settings: bone("held") });
    assert!(session.snapshot().is_some(), "the old flesh stays meanwhile");
    run_until_idle(&mut session);
    let held = session.subject().unwrap().clone();
    assert!(held.same_character(&plain) && !Arc::ptr_eq(&held, &plain));
    let carried = |subject: &crate::skin::Subject| subject.tissue.as_ref().unwrap().tissue.carried.len();
    assert!(carried(&held) > carried(&plain));
    assert_eq!(session.selected_joint(), Some(1));
    assert!((session.joint_angles_deg(1)[2] - 30.0).abs() < 1e-6);
    assert_eq!(session.shown_method(), Some(session.active_view().method));
    assert_eq!(session.undo_label(), Some("Change bone"), "the rebuilding is no step of its own");
    session.apply_once(Command::Undo);
    assert!(Arc::ptr_eq(session.subject().unwrap(), &plain), "at once");
    run_until_idle(&mut session);
    session.apply_once(Command::Redo);
    run_until_idle(&mut session);
    assert!(carried(session.subject().unwrap()) > carried(&plain));
    assert_eq!(session.selected_joint(), Some(1));
}

#[test]
fn a_rebuilding_that_is_cancelled_or_undone_leaves_the_flesh() {
    let mut session = opened();
    let plain = session.subject().unwrap().clone();
    session.apply_once(Command::SetBone { joint: 1, settings: bone("virtual") });
    session.tick(0.01);
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!(Arc::ptr_eq(session.subject().unwrap(), &plain));
    session.apply_once(Command::SetBone { joint: 1, settings: bone("virtual") });
    session.tick(0.01);
    session.apply_once(Command::CancelJobs);
    run_until_idle(&mut session);
    assert!(session.jobs().is_empty());
    session.apply_once(Command::SetBone { joint: 1, settings: bone("virtual,density:2") });
    run_until_idle(&mut session);
    assert!(!Arc::ptr_eq(session.subject().unwrap(), &plain), "asked again, it is tried again");
}

/// A motion of the cylinder's joints as a file of its own.
fn motion_file(folder: &std::path::Path, session: &Session) -> std::path::PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let character = &session.subject().unwrap().character;
    let path = folder.join("bend.bvh");
    crate::io::write_bvh(&path, &character.skeleton, &character.clips[0], 30.0).unwrap();
    path
}

fn tick_until(session: &mut Session, done: impl Fn(&Session) -> bool) {
    let start = Instant::now();
    while !done(session) {
        assert!(start.elapsed() < Duration::from_mins(1), "{:?} {:?}", session.jobs(), session.messages());
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_motion_is_added_to_what_is_open_and_undone() {
    let mut session = opened();
    let folder = std::env::temp_dir().join(format!("sinew-add-motion-{}", std::process::id()));
    let path = motion_file(&folder, &session);
    session.apply_once(turn(40.0));
    let (pose, clips) = (session.document().pose.clone(), session.clips().len());
    let before = session.subject().unwrap().clone();
    session.apply_once(Command::AddMotions(vec![path.clone()]));
    tick_until(&mut session, |session| session.clips().len() > clips);
    assert_eq!(session.playback().clip, Some(clips));
    assert!(session.playback().playing && session.document().pose == pose);
    assert!(std::ptr::eq(before.sim(), session.subject().unwrap().sim()), "the flesh is not made again");
    assert_eq!(session.document().source.files.last(), Some(&path));
    assert_eq!(session.undo_label(), Some("Add motion"));
    session.apply_once(Command::Undo);
    assert_eq!(session.clips().len(), clips);
    run_until_idle(&mut session);
    session.apply_once(Command::AddMotions(vec![folder.join("missing.bvh")]));
    tick_until(&mut session, |session| session.jobs().is_empty());
    assert!(session.messages().iter().any(|m| m.level == Level::Error && m.text.contains("missing.bvh")));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn from_clip_to_clip_and_back_to_the_pose_nothing_pops() {
    let mut session = opened();
    let folder = std::env::temp_dir().join(format!("sinew-blend-{}", std::process::id()));
    let path = motion_file(&folder, &session);
    session.apply_once(Command::AddMotions(vec![path]));
    tick_until(&mut session, |session| session.clips().len() > 1);
    std::fs::remove_dir_all(folder).unwrap();
    session.apply_once(Command::SetRange(Some([0.2, 0.2])));
    assert_eq!(session.playback().range_secs, None, "an empty range is none");
    let duration = session.clip_duration_secs();
    session.apply_once(Command::SetRange(Some([0.3 * duration, 0.6 * duration])));
    let angle = |a: &Pose, b: &Pose| a.locals.iter().zip(&b.locals).map(|(a, b)| a.rotation.angle_to(&b.rotation)).fold(0.0, f64::max);
    let mut last = session.shown_pose().clone();
    let mut largest = 0.0_f64;
    for step in 0..300 {
        match step {
            100 => session.apply_once(Command::SelectClip(Some(0))),
            150 => session.apply_once(Command::SelectClip(Some(1))),
            250 => session.apply_once(Command::SelectClip(None)),
            _ => {
                session.tick(1.0 / 60.0);
            }
        }
        largest = largest.max(angle(&last, session.shown_pose()));
        last = session.shown_pose().clone();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(largest < 0.3, "{largest} rad from one moment to the next");
    run_until_idle(&mut session);
    assert!(!session.playback().is_blending() && angle(session.shown_pose(), &session.document().pose) < 1e-9);
    session.apply_once(Command::SetBlend(f64::NAN));
    session.apply_once(Command::SetBlend(-3.0));
    assert!(session.playback().blend_secs == 0.0);
}

#[test]
fn a_motion_alone_is_shown_by_the_default_character() {
    let files = |names: &[&str]| Source::of_files(names.iter().map(std::path::PathBuf::from).collect()).files;
    assert_eq!(files(&["walk.bvh"]), [format!("builtin:{DEFAULT_BUILTIN}"), "walk.bvh".to_owned()].map(std::path::PathBuf::from));
    assert_eq!(files(&["a.glb", "walk.bvh"]).len(), 2);
}
