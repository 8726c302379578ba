//! Files that a project refers to: moved, missing, changed or packed.

use super::super::*;
use super::{Folder, do_project, edit, open, open_source, save_as, text_of_error};
use crate::dynamics::Params;
use crate::session::Command;

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

#[test]
fn a_packed_project_needs_nothing_else() {
    let folder = Folder::new();
    let mesh = folder.file("model/cube.obj");
    std::fs::create_dir_all(mesh.parent().unwrap()).unwrap();
    let cube = "mtllib ../look/cube.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(&mesh, cube).unwrap();
    std::fs::create_dir_all(folder.file("look")).unwrap();
    std::fs::write(folder.file("look/cube.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let source = Source {
        reach: crate::io::Reach::ParentFolder,
        ..Source::of_files(vec![mesh])
    };
    let mut session = open_source(source, &folder);
    session.apply_once(Command::SetParams(Params {
        density_kg_m3: 500.0,
        ..session.document().params
    }));
    let packed = folder.file("all.sinew");
    save_as(&mut session, &packed, true);
    assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
    std::fs::remove_dir_all(folder.file("model")).unwrap();
    std::fs::remove_dir_all(folder.file("look")).unwrap();
    let mut again = open(vec![packed.clone()], &folder);
    assert_eq!(
        again.document().params.density_kg_m3,
        500.0,
        "{}",
        text_of_error(&again)
    );
    assert_eq!(
        again.subject().unwrap().character.materials[0].base_color[..3],
        [1.0, 0.0, 0.0]
    );
    assert!(
        again.project().is_packed()
            && again.project().file() == Some(packed.as_path())
            && !again.project().is_dirty()
    );
    // It can be changed and saved again.
    again.apply_once(Command::SetParams(Params {
        density_kg_m3: 600.0,
        ..again.document().params
    }));
    do_project(&mut again, ProjectCommand::Save);
    assert_eq!(
        text_of_error(&again).matches("could not").count(),
        0,
        "{}",
        text_of_error(&again)
    );
    let third = open(vec![packed], &folder);
    assert_eq!(third.document().params.density_kg_m3, 600.0);
}

/// Names that not every system can have, in the file that the user gave and in one it refers to.
#[cfg(unix)]
#[test]
fn a_packed_project_that_was_saved_opens_again() {
    let folder = Folder::new();
    let faces = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    for name in ["a:b.obj", "a\\b.obj"] {
        let mesh = folder.file(name);
        std::fs::write(&mesh, format!("mtllib look.mtl\nusemtl red\n{faces}")).unwrap();
        std::fs::write(folder.file("look.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
        let mut session = open(vec![mesh.clone()], &folder);
        let packed = folder.file("all.sinew");
        save_as(&mut session, &packed, true);
        assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
        std::fs::remove_file(mesh).unwrap();
        let again = open(vec![packed], &folder);
        let character = again.subject().map(|subject| subject.character.clone());
        let color = character.map(|character| character.materials[0].base_color);
        assert_eq!(
            color,
            Some([1.0, 0.0, 0.0, 1.0]),
            "{}",
            text_of_error(&again)
        );
    }
    // A name that another file refers to can't be changed.
    let mesh = folder.file("m.obj");
    std::fs::write(&mesh, format!("mtllib lo:ok.mtl\nusemtl red\n{faces}")).unwrap();
    std::fs::write(folder.file("lo:ok.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let mut session = open(vec![mesh], &folder);
    let packed = folder.file("none.sinew");
    save_as(&mut session, &packed, true);
    assert!(
        text_of_error(&session).contains("can't be packed"),
        "{}",
        text_of_error(&session)
    );
    assert!(!packed.exists());
}

#[test]
fn a_packed_project_can_not_name_files_of_this_computer() {
    use std::io::Write;
    let folder = Folder::new();
    let arm = folder.with_arm("arm.glb");
    let arm = arm.display().to_string();
    for name in [&*arm, "../../../arm.glb", "file:///etc/passwd"] {
        let packed = folder.file("evil.sinew");
        let content = serde_json::json!({
            "format": "sinew", "version": 1, "character": {"files": [{"path": name}]}
        });
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&packed).unwrap());
        zip.start_file("project.json", zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(content.to_string().as_bytes()).unwrap();
        zip.finish().unwrap();
        let session = open(vec![packed], &folder);
        assert!(session.subject().is_none(), "{name}");
        assert!(
            text_of_error(&session).contains("is not read"),
            "{}",
            text_of_error(&session)
        );
    }
}
