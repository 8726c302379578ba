//! A project keeps the distilled rig.

use super::*;
use crate::session::{DistillRequest, DistillSettings, Distilled};
use crate::weights::decomposition::DecompositionSettings;

/// An arm with a rig that is shown; the project is saved.
fn distilled(folder: &Folder, packed: bool) -> (Session, PathBuf) {
    let arm = folder.with_arm("arm.glb");
    let mut session = open(vec![arm], folder);
    session.distill(DistillRequest {
        method: MethodId::DQS,
        settings: DistillSettings {
            fit: DecompositionSettings {
                helpers: 3,
                influences: 4,
            },
            morphs: 2,
            fitted: vec![0],
            held_back: Vec::new(),
            fps: 10.0,
            range: false,
            springs: false,
        },
    });
    run_until_idle(&mut session);
    session.apply_once(Command::SetMethod(MethodId::DISTILLED));
    run_until_idle(&mut session);
    assert!(session.project().is_dirty(), "the rig is unsaved work");
    let path = folder.file("rig.sinew");
    save_as(&mut session, &path, packed);
    assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
    (session, path)
}

fn rig_of(session: &Session) -> (&Distilled, MethodId) {
    let subject = session.subject().unwrap();
    session.distilling().made_for(subject).expect("a rig")
}

#[test]
fn a_distilled_rig_is_shown_again() {
    for packed in [false, true] {
        let folder = Folder::new();
        let (mut before, path) = distilled(&folder, packed);
        let mut after = open(vec![path], &folder);
        assert_eq!(text_of_error(&after), "");
        assert!(!after.project().is_dirty());
        assert_eq!(after.active_view().method, MethodId::DISTILLED);
        assert_eq!(after.shown_method(), Some(MethodId::DISTILLED));
        let ((old, _), (new, method)) = (rig_of(&before), rig_of(&after));
        assert_eq!(method, MethodId::DQS);
        assert!(old.kept() == new.kept() && old.report == new.report);
        assert!(old.rig.decomposition.morphs.len() == 2 && old.report.helpers == 3);

        // The files for engines are the same.
        let files = [folder.file("old.glb"), folder.file("new.glb")];
        for (session, file) in [&mut before, &mut after].into_iter().zip(&files) {
            do_project(session, ProjectCommand::SaveDistilled(file.clone()));
        }
        let bytes = files.map(|file| std::fs::read(file).unwrap());
        assert!(bytes[0] == bytes[1] && !bytes[0].is_empty());

        // Saved again, it is still there.
        let again = folder.file("again.sinew");
        save_as(&mut after, &again, packed);
        let third = open(vec![again], &folder);
        assert!(rig_of(&third).0.kept() == rig_of(&after).0.kept());
    }
}

#[test]
fn a_rig_that_does_not_fit_is_left_out_with_a_sentence() {
    let folder = Folder::new();
    let (_, path) = distilled(&folder, false);
    let text = std::fs::read_to_string(&path).unwrap();
    let damages = [
        (
            "\"parent\":",
            "\"parent\":9",
            "numbers are damaged (joints)",
        ),
        (
            "\"offsets\":[0,",
            "\"offsets\":[0,0,",
            "and the character has",
        ),
        (
            "\"values\":[",
            "\"values\":[7.0,",
            "numbers are damaged (weights)",
        ),
        (
            "\"mean\":[",
            "\"mean\":[0.5,",
            "numbers are damaged (helpers)",
        ),
        ("\"helpers\":[", "\"helpers\":[1.0,", "rig was ignored"),
        (
            "\"influences\":4",
            "\"influences\":0",
            "settings are damaged",
        ),
        ("\"fps\":10.0", "\"fps\":-1.0", "settings are damaged"),
    ];
    for (from, to, said) in damages {
        assert!(text.contains(from), "{from}");
        let damaged = folder.file("damaged.sinew");
        std::fs::write(&damaged, text.replacen(from, to, 1)).unwrap();
        let session = open(vec![damaged], &folder);
        let errors = text_of_error(&session);
        assert!(
            errors.contains(said) && errors.lines().count() == 1,
            "{said}: {errors}"
        );
        let subject = session.subject().expect("the character is opened");
        assert!(session.distilling().made_for(subject).is_none());
        assert_ne!(session.active_view().method, MethodId::DISTILLED);
    }
}
