//! Joints of motions of other skeletons, chosen by hand.

use super::*;
use crate::rig::{Channel, Clip};

/// The mannequin with its first clip as a motion of its own, whose skeleton has other names and axes. The clip is shown.
fn mapped(folder: &std::path::Path) -> (Session, usize) {
    std::fs::create_dir_all(folder).unwrap();
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::builtin("mannequin")));
    run_until_idle(&mut session);
    let path = folder.join("theirs.bvh");
    let character = session.subject().unwrap().character.clone();
    crate::io::write_bvh(&path, &character.skeleton, &character.clips[0], 30.0).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(".L", "_left").replace(".R", "_right")).unwrap();
    let clip = session.document().clips().len();
    session.apply_once(Command::AddMotions(vec![path]));
    tick_until(&mut session, |session| {
        session.document().clips().len() > clip
    });
    session.apply_once(Command::SetPlaying(false));
    run_until_idle(&mut session);
    (session, clip)
}

fn joint(session: &Session, name: &str) -> usize {
    session.document().skeleton().unwrap().find(name).unwrap()
}

/// Whether a clip turns a joint.
fn turns(clip: &Clip, joint: usize) -> bool {
    let is_turn = |track: &crate::rig::Track| matches!(track.channel, Channel::Rotation(_));
    clip.tracks
        .iter()
        .any(|track| track.joint == joint && is_turn(track))
}

fn clip(session: &Session, index: usize) -> &Clip {
    session.document().clips().get(index).unwrap()
}

#[test]
fn a_chosen_joint_is_transferred_in_the_background_and_undone() {
    let folder = std::env::temp_dir().join(format!("sinew-map-{}", std::process::id()));
    let (mut session, index) = mapped(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    let forearm = joint(&session, "forearm.L");
    session.apply_once(Command::SelectJoint(Some(forearm)));
    session.apply_once(Command::Scrub { time_secs: 0.2 });
    let automatic = clip(&session, index).clone();
    assert!(turns(&automatic, forearm));
    let drive = |source: Option<&str>| {
        Command::from(MotionCommand::Drive {
            clip: index,
            joint: forearm,
            source: source.map(str::to_owned),
        })
    };

    session.apply_once(drive(None));
    assert!(
        session.subject().is_some(),
        "the old clip is shown until the new one is ready"
    );
    run_until_idle(&mut session);
    assert!(!turns(clip(&session, index), forearm));
    let playback = session.channels().active().playback();
    assert_eq!(
        (playback.clip, playback.time_secs),
        (Some(index), 0.2),
        "the clip stays shown"
    );
    assert_eq!(session.selection().active(), Some(forearm));
    assert_eq!(session.undo_label(), Some("Map joint"));

    session.apply_once(drive(Some("forearm_right")));
    run_until_idle(&mut session);
    let other = clip(&session, index).clone();
    assert!(turns(&other, forearm) && other != automatic);
    // The file's own joint is the automatic match: nothing is chosen any more.
    session.apply_once(drive(Some("forearm_left")));
    run_until_idle(&mut session);
    assert!(session.document().motions.is_empty());
    assert_eq!(*clip(&session, index), automatic);

    let undo = |session: &mut Session| {
        session.apply_once(Command::Undo);
        run_until_idle(session);
        let playback = session.channels().active().playback();
        assert_eq!((playback.clip, playback.time_secs), (Some(index), 0.2));
    };
    undo(&mut session);
    assert_eq!(*clip(&session, index), other);
    undo(&mut session);
    assert!(!turns(clip(&session, index), forearm));
    undo(&mut session);
    assert_eq!(*clip(&session, index), automatic);
    session.apply_once(Command::Redo);
    run_until_idle(&mut session);
    assert!(!turns(clip(&session, index), forearm));
    let reset = MotionCommand::Reset {
        clip: index,
        joint: None,
    };
    session.apply_once(reset.into());
    run_until_idle(&mut session);
    assert_eq!(*clip(&session, index), automatic);
}

#[test]
fn wrong_choices_are_one_sentence_and_change_nothing() {
    let folder = std::env::temp_dir().join(format!("sinew-map-wrong-{}", std::process::id()));
    let (mut session, index) = mapped(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    let before = clip(&session, index).clone();
    let steps = session.history().position;
    let drive = |clip, source: &str| MotionCommand::Drive {
        clip,
        joint: 1,
        source: Some(source.to_owned()),
    };
    for (clip, source, expected) in [
        (index, "forearm_lefd", "did you mean \"forearm_left\""),
        (0, "forearm_left", "nothing to map"),
    ] {
        session.apply_once(drive(clip, source).into());
        run_until_idle(&mut session);
        let said = session.messages().last().unwrap().text.clone();
        assert!(said.contains(expected) && !said.contains('\n'), "{said}");
    }
    assert_eq!(
        (clip(&session, index), session.history().position),
        (&before, steps)
    );
}

#[test]
fn choices_are_saved_with_the_project() {
    let folder = std::env::temp_dir().join(format!("sinew-map-saved-{}", std::process::id()));
    let (mut session, index) = mapped(&folder);
    for (name, source) in [("forearm.L", Some("forearm_right")), ("hand.R", None)] {
        let joint = joint(&session, name);
        let source = source.map(str::to_owned);
        let command = MotionCommand::Drive {
            clip: index,
            joint,
            source,
        };
        session.apply_once(command.into());
        run_until_idle(&mut session);
    }
    let (chosen, made) = (
        session.document().motions.clone(),
        clip(&session, index).clone(),
    );
    assert_eq!(
        chosen.values().next().map(std::collections::BTreeMap::len),
        Some(2)
    );
    let path = folder.join("mapped.sinew");
    let packed = folder.join("packed.sinew");
    for (path, packed) in [(&path, false), (&packed, true)] {
        let path = path.clone();
        session.apply_once(ProjectCommand::SaveAs { path, packed }.into());
        run_until_idle(&mut session);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("\"theirs.bvh\"") && text.contains("\"forearm.L\": \"forearm_right\""),
        "{text}"
    );
    for path in [&path, &packed] {
        let mut again = Session::new();
        again.apply_once(Command::Open(Source::of_files(vec![path.clone()])));
        run_until_idle(&mut again);
        assert!(again.messages().is_empty(), "{:?}", again.messages());
        assert_eq!(*clip(&again, index), made, "{}", path.display());
        let of_file: Vec<_> = again.document().motions.values().collect();
        assert_eq!(of_file, chosen.values().collect::<Vec<_>>());
        assert!(!again.project().is_dirty());
    }
    let opened = crate::session::open(
        &Source::of_files(vec![path.clone()]),
        &crate::progress::Progress::new(),
    );
    assert_eq!(
        opened.unwrap().character.clips[index],
        made,
        "on the command line"
    );

    // A motion that has lost the joint is matched automatically, and the user is told.
    let motion = folder.join("theirs.bvh");
    let text = std::fs::read_to_string(&motion).unwrap();
    std::fs::write(&motion, text.replace("forearm_right", "lower_arm_right")).unwrap();
    let source = Source::of_files(vec![path]);
    let answers = [(1, Answer::AsItIs)].into();
    let loaded = crate::session::project::load_all(
        &source,
        &crate::cache::Cache::none(),
        &answers,
        &crate::progress::Progress::new(),
    );
    let project = loaded.unwrap().project.unwrap();
    assert!(
        project
            .notes
            .iter()
            .any(|note| note.contains("no joint \"forearm_right\" any more")),
        "{:?}",
        project.notes
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_command_line_chooses_joints_too() {
    let folder = std::env::temp_dir().join(format!("sinew-map-line-{}", std::process::id()));
    let (session, index) = mapped(&folder);
    let files = session.document().source.files.clone();
    let read = |map: &[(&str, Option<&str>)]| {
        let owned = |(joint, source): &(&str, Option<&str>)| {
            ((*joint).to_owned(), source.map(str::to_owned))
        };
        let source = Source {
            map: map.iter().map(owned).collect(),
            ..Source::of_files(files.clone())
        };
        crate::session::open(&source, &crate::progress::Progress::new())
    };
    let forearm = joint(&session, "forearm.L");
    let mapped = read(&[("forearm.L", None)]).unwrap();
    assert!(!turns(&mapped.character.clips[index], forearm));
    for (map, expected) in [
        (("forearm.X", None), "did you mean"),
        (("forearm.L", Some("elbow")), "theirs.bvh: "),
    ] {
        let error = read(&[map]).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let alone = Source {
        map: vec![("forearm.L".to_owned(), None)],
        ..Source::builtin("mannequin")
    };
    let error = crate::session::open(&alone, &crate::progress::Progress::new()).unwrap_err();
    assert!(
        error.to_string().contains("no motion of another skeleton"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
