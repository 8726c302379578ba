//! Unsaved work survives whatever ends the program.

use std::time::{Duration, Instant};

use super::recovery_file::RecoveryFile;
use super::*;
use crate::methods::MethodId;
use crate::session::{Command, ProjectCommand, Session};
use crate::test_folder::TestFolder;

/// The number of work files in a folder.
fn work_files(folder: &TestFolder) -> usize {
    let is_work = |entry: &std::fs::DirEntry| is_project(&entry.path());
    std::fs::read_dir(&folder.0).map_or(0, |listing| listing.flatten().filter(is_work).count())
}

fn is_empty(folder: &TestFolder) -> bool {
    std::fs::read_dir(&folder.0).map_or(true, |mut listing| listing.next().is_none())
}

const QUICK: WriteDelays = WriteDelays {
    quiet: Duration::from_millis(5),
    longest: Duration::from_millis(20),
};

/// Ticks until the condition holds; panics if that takes unreasonably long.
fn wait(session: &mut Session, what: &str, mut until: impl FnMut(&Session) -> bool) {
    let start = Instant::now();
    loop {
        let active = session.tick(1.0 / 60.0).active;
        if !active && until(session) {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "never: {what}; {:?}",
            session.messages()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn session_in(folder: &TestFolder) -> Session {
    let mut session = Session::new();
    session.set_recovery_folder(&folder.0, QUICK);
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    wait(&mut session, "open", |session| {
        session.subject().is_some() && !session.recoveries().is_scanning()
    });
    session
}

fn turn(session: &mut Session, degrees: f64) {
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, degrees],
    });
}

#[test]
fn work_is_kept_only_while_it_is_unsaved() {
    let folder = TestFolder::absent("recovery");
    let mut session = session_in(&folder);
    assert!(is_empty(&folder), "nothing was changed");
    turn(&mut session, 30.0);
    wait(&mut session, "kept", |_| work_files(&folder) == 1);
    session.apply_once(Command::Undo);
    wait(&mut session, "undone", |_| work_files(&folder) == 0);
    session.apply_once(Command::Redo);
    wait(&mut session, "done again", |_| work_files(&folder) == 1);
    let place = folder.0.with_extension("sinew");
    session.apply_once(
        ProjectCommand::SaveAs {
            path: place.clone(),
            packed: false,
        }
        .into(),
    );
    wait(&mut session, "saved", |_| work_files(&folder) == 0);
    turn(&mut session, 40.0);
    wait(&mut session, "changed again", |_| work_files(&folder) == 1);
    session.close();
    assert!(is_empty(&folder), "a clean exit leaves nothing");
    std::fs::remove_file(place).unwrap();
}

#[test]
fn work_of_an_ended_program_is_offered_and_opened() {
    let folder = TestFolder::absent("recovery");
    let mut first = session_in(&folder);
    turn(&mut first, 30.0);
    let expected = first.document().clone();
    // As if it had crashed: what was not written yet is, and nothing is put away.
    drop(first);
    assert_eq!(work_files(&folder), 1);

    let mut second = session_in(&folder);
    let [offer] = second.recoveries().offers().try_into().unwrap();
    assert_eq!((offer.title.as_str(), &offer.project), ("cylinder", &None));
    let mut third = session_in(&folder);
    assert_eq!(third.recoveries().offers(), [], "it is offered once");
    second.apply_once(ProjectCommand::Recover(offer.file).into());
    wait(&mut second, "recovered", |session| {
        session.recoveries().offers().is_empty()
    });
    assert!(second.document().same_content_as(&expected));
    assert!(second.project().is_dirty(), "it is still not saved");
    assert_eq!(work_files(&folder), 1);
    turn(&mut second, 50.0);
    wait(&mut second, "still one file", |_| work_files(&folder) == 1);
    turn(&mut third, 5.0);
    wait(&mut third, "two programs, two files", |_| {
        work_files(&folder) == 2
    });
    second.close();
    assert_eq!(work_files(&folder), 1);
    third.close();
    assert!(is_empty(&folder));
}

#[test]
fn offers_can_be_kept_and_discarded_and_damaged_ones_are_put_aside() {
    let folder = TestFolder::absent("recovery");
    for degrees in [10.0, 20.0] {
        let mut session = session_in(&folder);
        session.apply_once(ProjectCommand::KeepForLater.into());
        turn(&mut session, degrees);
    }
    let recovery_file = RecoveryFile::create(&folder.0).unwrap();
    recovery_file
        .write("{\"format\": \"sinew\", \"version\": 1, \"char")
        .unwrap();
    drop(recovery_file);
    let mut session = session_in(&folder);
    assert_eq!(session.recoveries().offers().len(), 2);
    let told = |session: &Session| {
        session
            .messages()
            .iter()
            .any(|m| m.text.contains("kept as") && m.text.contains("line 1"))
    };
    assert!(told(&session), "{:?}", session.messages());
    assert_eq!(work_files(&folder), 2);
    session.apply_once(ProjectCommand::KeepForLater.into());
    assert_eq!(session.recoveries().offers(), []);
    session.close();
    let mut session = session_in(&folder);
    assert_eq!(session.recoveries().offers().len(), 2);
    for offer in session.recoveries().offers() {
        session.apply_once(ProjectCommand::Discard(offer.file).into());
    }
    assert_eq!(
        (session.recoveries().offers().len(), work_files(&folder)),
        (0, 0)
    );
    session.close();
    assert_eq!(
        std::fs::read_dir(&folder.0).unwrap().count(),
        1,
        "only the damaged one is left"
    );
}

/// After a return to an older version: the newer one finds its work again.
#[test]
fn work_of_a_newer_version_is_kept_for_it() {
    let folder = TestFolder::absent("recovery");
    let newer = "{\"format\": \"sinew\", \"version\": 1000, \"recovery\": {\"title\": \"x\"}}";
    let recovery_file = RecoveryFile::create(&folder.0).unwrap();
    recovery_file.write(newer).unwrap();
    let work = recovery_file.work().to_owned();
    drop(recovery_file);
    for _ in 0..2 {
        let mut session = session_in(&folder);
        assert_eq!(session.recoveries().offers(), []);
        let told = |m: &crate::session::Message| {
            m.text.contains("version 1000") && m.text.contains(&work.display().to_string())
        };
        assert!(
            session.messages().iter().any(told),
            "{:?}",
            session.messages()
        );
        session.close();
        assert_eq!(std::fs::read_to_string(&work).unwrap(), newer);
    }
    // Its owner is not running, so it can be adopted.
    assert!(RecoveryFile::adopt(&work).is_some());
}

#[test]
fn an_unwritable_folder_is_reported_once() {
    let folder = TestFolder::absent("recovery");
    std::fs::write(&folder.0, "no folder").unwrap();
    let mut session = session_in(&folder);
    let mut degrees = 0.0;
    let start = Instant::now();
    while !session
        .messages()
        .iter()
        .any(|message| message.text.contains("can't be kept"))
    {
        degrees += 1.0;
        turn(&mut session, degrees);
        session.tick(0.0);
        assert!(start.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(2));
    }
    session.close();
    std::fs::remove_file(&folder.0).unwrap();
}

/// The system shuts down: unsaved work is offered next time, and without any there is nothing to offer.
#[test]
fn a_terminated_program_keeps_only_unsaved_work() {
    let folder = TestFolder::absent("recovery");
    let mut session = session_in(&folder);
    session.leave();
    drop(session);
    assert!(is_empty(&folder), "nothing was changed");

    let mut session = session_in(&folder);
    // Slower than the end comes.
    session.recoveries().set_delays(WriteDelays {
        quiet: Duration::from_mins(10),
        longest: Duration::from_mins(10),
    });
    turn(&mut session, 40.0);
    session.leave();
    assert_eq!(work_files(&folder), 1, "it is written at once");
    drop(session);
    let mut next = session_in(&folder);
    let file = next
        .recoveries()
        .offers()
        .first()
        .expect("it is offered")
        .file
        .clone();
    next.apply_once(ProjectCommand::Recover(file).into());
    wait(&mut next, "recovered", |session| {
        session.recoveries().offers().is_empty()
    });
    assert!((next.joint_angles_deg(1)[2] - 40.0).abs() < 1e-6);
    next.close();
}
