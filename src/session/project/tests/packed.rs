//! Packed projects: what was saved opens, on its own.

use super::super::*;
use super::{Folder, do_project, open, open_source, save_as, text_of_error};
use crate::cache::Cache;
use crate::dynamics::Params;
use crate::session::tests::run_until_idle;
use crate::session::{Command, Session, ViewCommand};
use crate::weights::WeightMethod;

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

const FACES: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const MOTION: &str = "HIERARCHY\nROOT hip\n{\nOFFSET 0.2 0.2 0.1\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
    End Site\n{\nOFFSET 0.2 0.2 0.3\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n10 20 30\n";

/// Saves a packed project of files of the folder `from`, removes them, and opens it.
fn pack_and_open(folder: &Folder, files: Vec<PathBuf>, from: &Path) -> Session {
    let mut session = open(files, folder);
    assert!(session.subject().is_some(), "{}", text_of_error(&session));
    let packed = folder.file("all.sinew");
    save_as(&mut session, &packed, true);
    assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
    std::fs::remove_dir_all(from).unwrap();
    open(vec![packed], folder)
}

/// Folders and names that can't be in an archive: only what is below the folder of a file that the user gave
/// is in it, and given files get other names.
#[cfg(unix)]
#[test]
fn packed_projects_of_odd_names_open_again() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let latin = std::ffi::OsStr::from_bytes(b"k\xf6rper");
    for place in [
        "C:",
        "a\\b",
        "..x. ",
        "aux",
        "tab\there",
        "x".repeat(255).as_str(),
    ]
    .map(std::ffi::OsStr::new)
    .into_iter()
    .chain([latin])
    {
        let from = folder.file("from");
        let [mesh, motion] = ["mesh", "motion"].map(|name| from.join(name).join(place));
        std::fs::create_dir_all(&mesh).unwrap();
        std::fs::create_dir_all(&motion).unwrap();
        std::fs::write(mesh.join("look.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
        let given = [mesh.join("nul.obj"), motion.join("NUL.bvh")];
        std::fs::write(&given[0], format!("mtllib look.mtl\nusemtl red\n{FACES}")).unwrap();
        std::fs::write(&given[1], MOTION).unwrap();
        let again = pack_and_open(&folder, given.to_vec(), &from);
        let subject = again
            .subject()
            .unwrap_or_else(|| panic!("{}", text_of_error(&again)));
        let character = &subject.character;
        assert_eq!(character.materials[0].base_color[..3], [1.0, 0.0, 0.0]);
        assert_eq!(character.clips.len(), 1, "{}", place.display());
    }
}

/// Equal names in different folders, and names that differ only in the case of letters.
#[cfg(unix)]
#[test]
fn packed_files_do_not_replace_each_other() {
    let folder = Folder::new();
    let from = folder.file("from");
    let names = ["Run.bvh", "run.bvh", "other/run.bvh", "far/away/run.bvh"];
    let mut files = vec![from.join("mesh.obj")];
    std::fs::create_dir_all(from.join("other")).unwrap();
    std::fs::create_dir_all(from.join("far/away")).unwrap();
    std::fs::write(&files[0], FACES).unwrap();
    for (frames, name) in names.iter().enumerate() {
        let more = "1 2 3\n".repeat(frames);
        let motion = MOTION.replace("Frames: 2", &format!("Frames: {}", 2 + frames));
        files.push(from.join(name));
        std::fs::write(from.join(name), format!("{motion}{more}")).unwrap();
    }
    let again = pack_and_open(&folder, files, &from);
    let subject = again
        .subject()
        .unwrap_or_else(|| panic!("{}", text_of_error(&again)));
    let clips = &subject.character.clips;
    let secs: Vec<f64> = clips
        .iter()
        .map(|clip| (clip.duration_secs * 100.0).round())
        .collect();
    assert_eq!(secs, [10.0, 20.0, 30.0, 40.0]);
}

/// Views with weights of another character: its file is packed, too.
#[test]
fn a_packed_project_has_the_weights_that_were_transferred() {
    let folder = Folder::new();
    let (from, arm) = (folder.file("from"), folder.with_arm("from/arm.glb"));
    let method = crate::transfer_weights(&arm, &crate::progress::Progress::new()).unwrap();
    let mut session = open(vec![PathBuf::from("builtin:cylinder")], &folder);
    let view = session.active_view().id;
    let weights = method;
    session.apply_once(Command::View(ViewCommand::SetWeights { view, weights }));
    run_until_idle(&mut session);
    let packed = folder.file("all.sinew");
    save_as(&mut session, &packed, true);
    assert!(!session.project().is_dirty(), "{}", text_of_error(&session));
    std::fs::remove_dir_all(from).unwrap();
    let again = open(vec![packed.clone()], &folder);
    assert_eq!(text_of_error(&again), "");
    let weights = again.active_view().weights;
    let file = WeightMethod::transfer_file(weights.id()).expect("a transfer");
    assert!(
        file.ends_with("arm.glb") && file.contains("unpacked"),
        "{file}"
    );
    assert_eq!(weights.transfer_source(), method.transfer_source());
    // A file that is gone can't be packed: nothing is written.
    let before = std::fs::read(&packed).unwrap();
    let mut again = again;
    std::fs::remove_dir_all(folder.file("cache/unpacked")).unwrap();
    save_as(&mut again, &packed, true);
    assert!(
        text_of_error(&again).contains("arm.glb"),
        "{}",
        text_of_error(&again)
    );
    assert_eq!(std::fs::read(&packed).unwrap(), before);
}

/// A packed project was changed and the program ended; meanwhile the unpacked files were removed, with the
/// cache. Buffers and materials are one folder above the file that refers to them.
#[test]
fn unsaved_work_of_a_packed_project_is_not_lost() {
    let folder = Folder::new();
    let from = folder.file("from");
    for name in ["model", "look"] {
        std::fs::create_dir_all(from.join(name)).unwrap();
    }
    let mesh = from.join("model/cube.obj");
    std::fs::write(
        &mesh,
        format!("mtllib ../look/cube.mtl\nusemtl red\n{FACES}"),
    )
    .unwrap();
    std::fs::write(from.join("look/cube.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    let source = Source {
        reach: crate::io::Reach::ParentFolder,
        ..Source::of_files(vec![mesh])
    };
    let packed = folder.file("all.sinew");
    save_as(&mut open_source(source, &folder), &packed, true);
    std::fs::remove_dir_all(from).unwrap();
    for cleared in [false, true] {
        let mut session = open(vec![packed.clone()], &folder);
        session.apply_once(Command::SetParams(Params {
            density_kg_m3: 500.0,
            ..session.document().params
        }));
        let contents = session
            .projects
            .contents(session.document(), session.views(), None);
        let text = draft_text(&contents, &session.project().unsaved()).unwrap();
        let draft = folder.file("work-1.sinew");
        std::fs::write(&draft, &text).unwrap();
        if cleared {
            std::fs::remove_dir_all(folder.file("cache/unpacked")).unwrap();
        }
        let source = Source {
            files: vec![draft],
            reach: unsaved_of(&text).unwrap().reach,
            ..Source::default()
        };
        let mut again = open_source(source, &folder);
        assert_eq!(text_of_error(&again), "", "cleared: {cleared}");
        assert_eq!(again.document().params.density_kg_m3, 500.0);
        let character = &again.subject().unwrap().character;
        assert_eq!(character.materials[0].base_color[..3], [1.0, 0.0, 0.0]);
        assert!(again.project().is_dirty() && again.project().is_packed());
        do_project(&mut again, ProjectCommand::Save);
        assert!(!again.project().is_dirty(), "{}", text_of_error(&again));
    }
}

/// The archive is not unpacked into a folder whose name others know.
#[test]
fn a_packed_project_opens_where_the_cache_can_not_be_written() {
    let folder = Folder::new();
    let mut session = open(vec![folder.with_arm("arm.glb")], &folder);
    let packed = folder.file("all.sinew");
    save_as(&mut session, &packed, true);
    // Nothing can be created below a file.
    std::fs::write(folder.file("file"), "").unwrap();
    let mut session = Session::new();
    session.set_cache(Cache::in_folder(folder.file("file/cache")));
    session.apply_once(Command::Open(Source::of_files(vec![packed])));
    run_until_idle(&mut session);
    assert!(session.subject().is_some(), "{}", text_of_error(&session));
}
