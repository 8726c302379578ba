//! Projects as a session writes and reads them.

mod distilled;
mod packed;
mod sources;
mod text;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::cache::Cache;
use crate::character::{BoneSettings, Muscle, MuscleMeeting, MuscleShape, SimVertices};
use crate::dynamics::Params;
use crate::math::Quat;
use crate::methods::MethodId;
use crate::render::Camera;
use crate::session::tests::run_until_idle;
use crate::session::{
    BoardState, Command, Gesture, MuscleCommand, PaneState, PoseCommand, Session, TurnAxes,
    VariantCommand,
};

/// A folder of its own for a test, removed behind it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("sinew-project-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A copy of the built-in arm.
    fn with_arm(&self, name: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(
            concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"),
            &path,
        )
        .unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(files: Vec<PathBuf>, folder: &Folder) -> Session {
    open_source(Source::of_files(files), folder)
}

fn open_source(source: Source, folder: &Folder) -> Session {
    let mut session = Session::new();
    session.set_cache(Cache::in_folder(folder.file("cache")));
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(source));
    run_until_idle(&mut session);
    session
}

fn do_project(session: &mut Session, command: ProjectCommand) {
    session.apply_once(command.into());
    run_until_idle(session);
}

fn save_as(session: &mut Session, path: &Path, packed: bool) {
    do_project(
        session,
        ProjectCommand::SaveAs {
            path: path.to_owned(),
            packed,
        },
    );
}

/// Changes a little of everything.
fn edit(session: &mut Session) {
    let turn = Quat::from_euler_angles(0.3, -0.7, 0.11);
    session.apply_once(Command::Pose(PoseCommand::Turn {
        joints: vec![1],
        rotation: turn,
        axes: TurnAxes::World,
    }));
    session.apply_once(Command::SetParams(Params {
        density_kg_m3: 1001.0 / 3.0,
        ..session.document().params
    }));
    session.apply_once(Command::SetBone {
        joint: 0,
        settings: BoneSettings {
            stiffness: 1.0 / 3.0,
            ..BoneSettings::default()
        },
    });
    let muscle = Muscle {
        name: "biceps \"L\"".to_owned(),
        bone: 0,
        driver: Some(1),
        shape: MuscleShape {
            angle: -1.0 / 3.0,
            meets: MuscleMeeting::Blend,
            ..MuscleShape::default()
        },
    };
    session.apply_once(MuscleCommand::Add(muscle).into());
    session.apply_once(Command::SetSimVertices(SimVertices::About(777)));
    session.apply_once(Command::SetMethod(MethodId::DQS));
    run_until_idle(session);
}

fn text_of_error(session: &Session) -> String {
    session
        .messages()
        .iter()
        .filter(|m| m.level >= Level::Warning)
        .map(|m| m.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_saved_project_is_restored_exactly() {
    let folder = Folder::new();
    let mut session = open(vec![PathBuf::from("builtin:cylinder")], &folder);
    assert!(!session.project().is_dirty() && session.project().file().is_none());
    edit(&mut session);
    assert!(session.project().is_dirty());
    let window = WindowState {
        views: session.views().list().to_vec(),
        active: session.active_view().id,
        tiles: serde_json::json!({"views": [1, 2.5], "text": "[\n]"}),
        panes: vec![(
            session.active_view().id,
            PaneState::default(),
            Camera::default(),
        )],
        maximised: None,
        board: BoardState {
            open: true,
            quantities: vec!["skin_energy".to_owned()],
            distance_to: Some(session.active_view().id),
        },
    };
    session.projects_mut().set_window(window.clone());
    let path = folder.file("my work.sinew");
    save_as(&mut session, &path, false);
    assert!(!session.project().is_dirty(), "{:?}", session.messages());
    assert_eq!(session.project().file(), Some(path.as_path()));
    assert_eq!(session.project().title().as_deref(), Some("my work"));

    let mut again = open(vec![path.clone()], &folder);
    assert_eq!(text_of_error(&again), "");
    assert!(again.document().same_content_as(session.document()));
    assert!(!again.project().is_dirty());
    assert_eq!(again.projects_mut().take_window(), Some(window));
    assert_eq!(again.projects_mut().take_window(), None);
    assert_eq!(
        again.subject().unwrap().settings.sim_vertices,
        SimVertices::About(777)
    );
    assert_eq!(again.shown_method(), Some(MethodId::DQS));

    // Undo goes back over the saving; Ctrl+S then saves to the same file. The last step has only changed the method shown.
    session.apply_once(Command::Undo);
    assert!(!session.project().is_dirty());
    session.apply_once(Command::Undo);
    assert!(session.project().is_dirty());
    session.apply_once(Command::Redo);
    assert!(!session.project().is_dirty());
    again.apply_once(Command::ResetPose);
    do_project(&mut again, ProjectCommand::Save);
    assert!(!again.project().is_dirty());
    let third = open(vec![path], &folder);
    assert!(
        third.document().same_content_as(again.document())
            && !third.document().same_content_as(session.document())
    );
}

#[test]
fn opening_something_else_and_coming_back_keeps_each_project_with_its_document() {
    let folder = Folder::new();
    let mut session = open(vec![PathBuf::from("builtin:cylinder")], &folder);
    let path = folder.file("a.sinew");
    save_as(&mut session, &path, false);
    session.apply_once(Command::Open(Source::builtin("arm")));
    run_until_idle(&mut session);
    assert!(!session.project().is_dirty() && session.project().file().is_none());
    session.apply_once(Command::Undo);
    assert!(!session.project().is_dirty());
    assert_eq!(session.project().file(), Some(path.as_path()));
}

#[test]
fn a_failed_save_leaves_the_old_file_and_an_unsaved_document() {
    let folder = Folder::new();
    let arm = folder.with_arm("arm.glb");
    let before = std::fs::read(&arm).unwrap();
    let mut session = open(vec![arm.clone()], &folder);
    edit(&mut session);
    do_project(&mut session, ProjectCommand::Save);
    assert!(session.project().is_dirty() && text_of_error(&session).contains("no file yet"));
    save_as(&mut session, &folder.file("nowhere/at/all.sinew"), false);
    assert!(
        session.project().is_dirty() && text_of_error(&session).contains("cannot be written"),
        "{}",
        text_of_error(&session)
    );
    save_as(&mut session, &arm, false);
    assert!(session.project().is_dirty() && text_of_error(&session).contains("never overwrites"));
    assert_eq!(std::fs::read(&arm).unwrap(), before);
    let locked = folder.file("locked.sinew");
    std::fs::write(&locked, "old").unwrap();
    let mut permissions = std::fs::metadata(&locked).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&locked, permissions).unwrap();
    save_as(&mut session, &locked, true);
    assert!(session.project().is_dirty() && text_of_error(&session).contains("write-protected"));
    assert_eq!(std::fs::read(&locked).unwrap(), b"old");
}

#[test]
fn the_history_is_a_list_to_jump_in() {
    let folder = Folder::new();
    let mut session = open(vec![PathBuf::from("builtin:cylinder")], &folder);
    let first = session.document().clone();
    for degrees in [10.0, 20.0, 30.0] {
        session.apply_once(Command::SetJointAngles {
            joint: 1,
            degrees: [0.0, 0.0, degrees],
        });
    }
    session.apply(
        Command::SetJointAngles {
            joint: 0,
            degrees: [1.0; 3],
        },
        Gesture::Dragging,
    );
    session.apply(
        Command::SetJointAngles {
            joint: 0,
            degrees: [2.0; 3],
        },
        Gesture::Released,
    );
    let view = session.history();
    assert_eq!(
        (view.labels.as_slice(), view.position),
        (&["Set joint angles"; 4][..], 4)
    );
    session.apply_once(ProjectCommand::JumpTo(2).into());
    assert!(
        (session.joint_angles_deg(1)[2] - 20.0).abs() < 1e-9
            && session.joint_angles_deg(0)[0].abs() < 1e-9
    );
    session.apply_once(ProjectCommand::JumpTo(0).into());
    assert!(session.document().same_content_as(&first) && !session.project().is_dirty());
    session.apply_once(ProjectCommand::JumpTo(4).into());
    assert!((session.joint_angles_deg(0)[0] - 2.0).abs() < 1e-9);
    session.apply_once(ProjectCommand::JumpTo(99).into());
    assert_eq!(session.history().position, 4);
}

#[test]
fn options_beside_a_project_apply_to_its_edited_skeleton() {
    let folder = Folder::new();
    let path = folder.file("p.sinew");
    let text = r#"{"format": "sinew", "version": 1, "character": {"files": [{"path": "builtin:cylinder"}]},
        "flesh": {"bones": {"upper": {"stiffness": 3}},
            "muscles": [{"name": "b", "bone": "upper"}, {"name": "a", "bone": "lower", "shape": {"depth": 9}}]},
        "rig": {"joints": [{"name": "new", "position": [0, -0.5, 0]},
            {"name": "lower", "parent": "new", "position": [0, 0, 0], "from": "lower"},
            {"name": "upper", "parent": "lower", "position": [0, 0.6, 0], "from": "upper"}]}}"#;
    std::fs::write(&path, text).unwrap();
    let say = |words: &[(&str, &str)]| {
        words
            .iter()
            .map(|(joint, edit)| ((*joint).to_owned(), (*edit).to_owned()))
            .collect()
    };
    let source = Source {
        bones: say(&[("new", "held"), ("upper", "damping:2")]),
        muscles: vec![
            "b=bone:new,driver:upper".to_owned(),
            "c=bone:lower".to_owned(),
        ],
        ..Source::of_files(vec![path])
    };
    let character = crate::session::load(&source, &crate::progress::Progress::new()).unwrap();
    let of = |name: &str| {
        character
            .flesh
            .bones
            .get(&character.skeleton.find(name).unwrap())
            .copied()
    };
    assert_eq!(
        of("new"),
        Some(BoneSettings {
            held: true,
            ..BoneSettings::default()
        })
    );
    assert_eq!(
        of("upper"),
        Some(BoneSettings {
            stiffness: 3.0,
            damping: 2.0,
            ..BoneSettings::default()
        }),
        "an edit keeps the rest"
    );
    assert_eq!(of("lower"), None);
    let muscles = character.flesh.muscles.iter();
    let told: Vec<_> = muscles
        .map(|of| (&*of.name, of.bone, of.driver, of.shape.depth))
        .collect();
    let usual = MuscleShape::default().depth;
    assert_eq!(
        told,
        [
            ("b", 0, Some(2), usual),
            ("a", 1, None, 1.5),
            ("c", 1, None, usual)
        ],
        "one of the same name is replaced"
    );
}

#[test]
fn variants_are_saved_with_the_views_that_have_them() {
    let folder = Folder::new();
    let mut session = open(vec![PathBuf::from("builtin:cylinder")], &folder);
    session.apply_once(Command::SetMethod(MethodId::PD));
    let view = session.active_view().id;
    let name = "soft".to_owned();
    session.apply_once(Command::Variant(VariantCommand::Add { view, name }));
    session.apply_once(Command::SetParams(Params {
        stiffness_pa: 1001.0 / 3.0,
        ..*session.params()
    }));
    assert!(session.project().is_dirty());
    let path = folder.file("variants.sinew");
    save_as(&mut session, &path, false);
    let again = open(vec![path.clone()], &folder);
    assert_eq!(text_of_error(&again), "");
    assert!(again.document().same_content_as(session.document()));
    assert_eq!(again.active_view(), session.active_view());
    assert_eq!(again.params().stiffness_pa, 1001.0 / 3.0);
    assert_eq!(again.document().params, Params::default());
    let subject = again.subject().unwrap();
    let state = crate::session::project_state(&path, subject, subject.cache()).unwrap();
    assert_eq!(state.params.stiffness_pa, 1001.0 / 3.0);
}
