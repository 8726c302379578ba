//! Files that a project refers to: moved, missing or changed.

use super::super::*;
use super::{Folder, do_project, edit, open, save_as, text_of_error};

#[test]
fn a_project_moves_with_its_files_and_finds_them_by_their_content() {
    let folder = Folder::new();
    let arm = folder.with_arm("there/models/arm.glb");
    let mut session = open(vec![arm], &folder);
    edit(&mut session);
    save_as(&mut session, &folder.file("there/p.sinew"), false);
    let text = std::fs::read_to_string(folder.file("there/p.sinew")).unwrap();
    assert!(text.contains("\"path\": \"models/arm.glb\""), "{text}");
    // The whole folder moves.
    std::fs::rename(folder.file("there"), folder.file("elsewhere")).unwrap();
    let moved = open(vec![folder.file("elsewhere/p.sinew")], &folder);
    assert_eq!(text_of_error(&moved), "");
    assert_eq!(moved.document().pose, session.document().pose);
    assert_eq!(
        moved.document().source.files,
        [folder.file("elsewhere/models/arm.glb")]
    );
    // The file moves beside the project, under another name.
    std::fs::rename(
        folder.file("elsewhere/models/arm.glb"),
        folder.file("elsewhere/limb.glb"),
    )
    .unwrap();
    let found = open(vec![folder.file("elsewhere/p.sinew")], &folder);
    assert!(
        text_of_error(&found).contains("was moved"),
        "{}",
        text_of_error(&found)
    );
    assert_eq!(found.document().pose, session.document().pose);
}

#[test]
fn a_missing_or_changed_source_is_asked_about() {
    let folder = Folder::new();
    let arm = folder.with_arm("a/arm.glb");
    let mut session = open(vec![arm.clone()], &folder);
    edit(&mut session);
    let project = folder.file("a/p.sinew");
    save_as(&mut session, &project, false);
    let pose = session.document().pose.clone();
    // Missing: locate it.
    std::fs::create_dir_all(folder.file("b")).unwrap();
    std::fs::rename(&arm, folder.file("b/arm.glb")).unwrap();
    let mut asked = open(vec![project.clone()], &folder);
    let missing = asked.project().missing_sources().expect("asked").clone();
    assert_eq!(
        (
            missing.list.len(),
            missing.list[0].found,
            &missing.list[0].path
        ),
        (1, Found::Nothing, &arm)
    );
    assert!(asked.subject().is_none());
    do_project(
        &mut asked,
        ProjectCommand::Answer {
            index: 0,
            answer: Answer::Located(folder.file("b/arm.glb")),
        },
    );
    assert!(asked.project().missing_sources().is_none());
    assert_eq!(asked.document().pose, pose);
    // Changed: use it as it is.
    let mut bytes = std::fs::read(folder.file("b/arm.glb")).unwrap();
    bytes.extend([0; 4]);
    std::fs::write(&arm, &bytes).unwrap();
    let mut asked = open(vec![project.clone()], &folder);
    assert_eq!(
        asked.project().missing_sources().unwrap().list[0].found,
        Found::Changed
    );
    do_project(
        &mut asked,
        ProjectCommand::Answer {
            index: 0,
            answer: Answer::AsItIs,
        },
    );
    assert_eq!(asked.document().pose, pose);
    // Or cancel.
    let mut asked = open(vec![project.clone()], &folder);
    do_project(&mut asked, ProjectCommand::CancelOpening);
    assert!(asked.project().missing_sources().is_none() && asked.subject().is_none());
    // The command line reports it in a sentence.
    let sentence = crate::session::load(
        &Source::of_files(vec![project]),
        &crate::progress::Progress::new(),
    )
    .unwrap_err()
    .to_string();
    assert!(
        sentence.contains("has changed since") && sentence.contains("arm.glb"),
        "{sentence}"
    );
}

/// A character in a folder whose name is not Unicode: its project is saved beside it, and unsaved work is kept.
#[cfg(unix)]
#[test]
fn work_on_files_in_a_folder_that_is_not_unicode_is_not_lost() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let odd = folder.0.join(std::ffi::OsStr::from_bytes(b"k\xf6rper"));
    std::fs::create_dir(&odd).unwrap();
    let arm = odd.join("arm.glb");
    std::fs::rename(folder.with_arm("arm.glb"), &arm).unwrap();
    let mut session = open(vec![arm], &folder);
    edit(&mut session);
    let contents = session
        .projects
        .contents(session.document(), session.views(), None);
    let text = draft_text(&contents, &session.project().unsaved()).unwrap();
    let draft = folder.file("work-1.sinew");
    std::fs::write(&draft, text).unwrap();
    let again = open(vec![draft], &folder);
    assert_eq!(text_of_error(&again), "");
    assert_eq!(again.document().pose, session.document().pose);
    let beside = odd.join("p.sinew");
    save_as(&mut session, &beside, false);
    assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
    let again = open(vec![beside], &folder);
    assert_eq!(again.document().pose, session.document().pose);
}
