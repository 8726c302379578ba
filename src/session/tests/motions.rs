//! Motions from files, and going from one to another.

use super::*;
use crate::rig::Pose;

/// A motion of the cylinder's joints as a file of its own.
fn motion_file(folder: &std::path::Path, session: &Session) -> std::path::PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let character = &session.subject().unwrap().character;
    let path = folder.join("bend.bvh");
    crate::io::write_bvh(&path, &character.skeleton, &character.clips[0], 30.0).unwrap();
    path
}

#[test]
fn a_motion_is_added_to_what_is_open_and_undone() {
    let mut session = opened();
    let folder = std::env::temp_dir().join(format!("sinew-add-motion-{}", std::process::id()));
    let path = motion_file(&folder, &session);
    session.apply_once(turn(40.0));
    let (pose, clips) = (
        session.document().pose.clone(),
        session.document().clips().len(),
    );
    let before = session.subject().unwrap().clone();
    session.apply_once(Command::AddMotions(vec![path.clone()]));
    tick_until(&mut session, |session| {
        session.document().clips().len() > clips
    });
    assert_eq!(session.channels().active().playback().clip, Some(clips));
    assert!(session.channels().active().playback().playing && session.document().pose == pose);
    assert!(
        std::ptr::eq(before.sim(), session.subject().unwrap().sim()),
        "the flesh is not made again"
    );
    assert_eq!(session.document().source.files.last(), Some(&path));
    assert_eq!(session.undo_label(), Some("Add motion"));
    session.apply_once(Command::Undo);
    assert_eq!(session.document().clips().len(), clips);
    run_until_idle(&mut session);
    session.apply_once(Command::AddMotions(vec![folder.join("missing.bvh")]));
    tick_until(&mut session, |session| session.jobs().is_empty());
    assert!(
        session
            .messages()
            .iter()
            .any(|m| m.level == Level::Error && m.text.contains("missing.bvh"))
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn changes_between_clips_and_pose_are_continuous() {
    let mut session = opened();
    let folder = std::env::temp_dir().join(format!("sinew-blend-{}", std::process::id()));
    let path = motion_file(&folder, &session);
    session.apply_once(Command::AddMotions(vec![path]));
    tick_until(&mut session, |session| session.document().clips().len() > 1);
    std::fs::remove_dir_all(folder).unwrap();
    session.apply_once(Command::SetRange(Some([0.2, 0.2])));
    assert_eq!(
        session.channels().active().playback().range_secs,
        None,
        "an empty range is none"
    );
    let duration = session
        .channels()
        .active()
        .clip_duration_secs(&session.document().clips());
    session.apply_once(Command::SetRange(Some([0.3 * duration, 0.6 * duration])));
    let angle = |a: &Pose, b: &Pose| {
        a.locals
            .iter()
            .zip(&b.locals)
            .map(|(a, b)| a.rotation.angle_to(&b.rotation))
            .fold(0.0, f64::max)
    };
    let mut last = session.channels().active().pose().clone();
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
        largest = largest.max(angle(&last, session.channels().active().pose()));
        last = session.channels().active().pose().clone();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(largest < 0.3, "{largest} rad from one moment to the next");
    run_until_idle(&mut session);
    assert!(
        !session.channels().active().playback().is_blending()
            && angle(session.channels().active().pose(), &session.document().pose) < 1e-9
    );
    session.apply_once(Command::SetBlend(f64::NAN));
    session.apply_once(Command::SetBlend(-3.0));
    assert!(session.channels().active().playback().blend_secs == 0.0);
}

#[test]
fn a_motion_alone_is_shown_by_the_default_character() {
    let files = |names: &[&str]| {
        Source::of_files(names.iter().map(std::path::PathBuf::from).collect()).files
    };
    assert_eq!(
        files(&["walk.bvh"]),
        [format!("builtin:{DEFAULT_BUILTIN}"), "walk.bvh".to_owned()].map(std::path::PathBuf::from)
    );
    assert_eq!(files(&["a.glb", "walk.bvh"]).len(), 2);
}
