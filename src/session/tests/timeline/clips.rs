//! New clips, auto-key and copies.

use super::*;

#[test]
fn a_new_clip_is_shown_after_the_files_and_auto_key_keys_it() {
    let (mut session, clip) = keyed();
    assert_eq!(clip, session.subject().unwrap().character.clips.len());
    assert_eq!(
        session.channels().active().playback().clip,
        Some(clip),
        "the clip is not left"
    );
    assert!((angle(&session) - 90.0).abs() < 1e-6);
    let take = session.document().clips().take(clip).unwrap();
    assert_eq!(
        (take.keys(1).len(), take.keys(0).len()),
        (2, 1),
        "only what was turned is keyed"
    );
    session.apply_once(Command::Scrub { time_secs: 0.0 });
    assert!(angle(&session).abs() < 1e-6);
    session.apply_once(Command::Scrub { time_secs: 2.0 });
    assert!((angle(&session) - 90.0).abs() < 1e-6, "held to the end");
    // Undo stays in the clip while there is one.
    session.apply_once(Command::Undo);
    assert_eq!(
        (
            session.channels().active().playback().clip,
            session.document().clips().take(clip).unwrap().keys(1).len()
        ),
        (Some(clip), 1)
    );
    session.apply_once(Command::Undo);
    assert_eq!(
        (
            session.channels().active().playback().clip,
            session.document().clips().len()
        ),
        (None, clip)
    );
    session.apply_once(Command::Redo);
    session.apply_once(Command::Redo);
    assert_eq!(
        session.document().clips().take(clip).unwrap().keys(1).len(),
        2
    );
}

#[test]
fn without_auto_key_the_pose_is_kept_and_can_be_keyed_at_its_time() {
    let (mut session, clip) = keyed();
    session.apply_once(keys(KeysCommand::SetAutoKey(false)));
    session.apply_once(Command::Scrub { time_secs: 1.5 });
    session.apply_once(turn(-30.0));
    assert_eq!(
        (
            session.channels().active().playback().clip,
            session
                .channels()
                .active()
                .edited_clip(&session.document().clips())
        ),
        (None, Some((clip, 1.5)))
    );
    assert!((angle(&session) - 60.0).abs() < 1e-6);
    session.apply_once(keys(KeysCommand::SetKeys {
        clip,
        joints: vec![0],
        time_secs: 1.5,
    }));
    assert_eq!(session.channels().active().playback().clip, Some(clip));
    assert!(
        (session.channels().active().playback().time_secs - 1.5).abs() < 1e-9
            && (angle(&session) - 60.0).abs() < 1e-6
    );
    let take = session.document().clips().take(clip).unwrap();
    assert_eq!(
        (take.keys(0).len(), take.keys(1).len()),
        (2, 3),
        "what was turned is keyed although it was not asked for"
    );
    session.apply_once(Command::Undo);
    assert_eq!(
        session.document().clips().take(clip).unwrap().keys(1).len(),
        2
    );
}

#[test]
fn clips_of_files_stay_and_are_copied() {
    let mut session = opened();
    let before = session.document().clone();
    let file = session.document().clips().get(0).unwrap().clone();
    session.apply_once(keys(KeysCommand::DeleteKeys {
        clip: 0,
        keys: vec![KeyRef::of_joint(1, 0.0)],
    }));
    assert!(
        session
            .messages()
            .last()
            .unwrap()
            .text
            .contains("editable copy")
    );
    assert_eq!(
        (session.document().takes.len(), session.undo_label()),
        (before.takes.len(), None)
    );
    let copy = session.document().clips().len();
    session.apply_once(keys(KeysCommand::Duplicate { clip: 0 }));
    tick_until(&mut session, |session| {
        session.document().clips().len() == copy + 1
    });
    assert_eq!(
        (
            session.channels().active().playback().clip,
            session.undo_label()
        ),
        (Some(copy), Some("Copy clip"))
    );
    let skeleton = session.document().skeleton().unwrap();
    for step in 0..20 {
        let time = file.duration_secs * f64::from(step) / 19.0;
        let (a, b) = (
            file.sample(skeleton, time),
            session
                .document()
                .clips()
                .get(copy)
                .unwrap()
                .sample(skeleton, time),
        );
        let apart = a
            .locals
            .iter()
            .zip(&b.locals)
            .map(|(a, b)| a.rotation.angle_to(&b.rotation))
            .fold(0.0, f64::max);
        assert!(apart < 0.5_f64.to_radians(), "{time} s: {apart}");
    }
    session.apply_once(keys(KeysCommand::Rename {
        clip: copy,
        name: format!(" {} ", file.name),
    }));
    assert_eq!(
        session.document().clips().get(copy).unwrap().name,
        format!("{} 2", file.name),
        "names stay different"
    );
    assert_eq!(session.channels().active().playback().clip, Some(copy));
}
