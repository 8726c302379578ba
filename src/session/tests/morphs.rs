//! Morphs in the session: sliders, undo, keys, poses, the project file.

use super::*;
use crate::character::{Character, Morph, MorphShape, MorphTarget};
use crate::io::{builtin::load_builtin, write_glb};
use crate::math::{Point, Vec3};
use crate::test_folder::TestFolder;

/// A cylinder with a morph, in a file.
fn written(folder: &TestFolder) -> std::path::PathBuf {
    let mut character = load_builtin("cylinder").unwrap();
    let target = MorphTarget {
        vertices: vec![0, 1, 2],
        offsets: vec![Vec3::new(0.05, 0.0, 0.0); 3],
        ..MorphTarget::default()
    };
    character.morphs = Arc::new([Morph {
        name: "bump".to_owned(),
        mesh: character.meshes[0].name.clone(),
        rest_weight: 0.0,
        shapes: vec![MorphShape {
            at: 1.0,
            targets: vec![target],
        }],
    }]);
    let path = folder.0.join("bump.glb");
    std::fs::write(&path, write_glb(&character).unwrap()).unwrap();
    path
}

fn opened(folder: &TestFolder) -> Session {
    let mut session = Session::new();
    let source = Source::of_files(vec![written(folder)]);
    session.apply_once(Command::Open(source));
    run_until_idle(&mut session);
    assert!(session.subject().is_some(), "{:?}", session.messages());
    session
}

fn character(session: &Session) -> &Character {
    &session.subject().unwrap().character
}

fn set(session: &mut Session, weight: f64, gesture: Gesture) {
    session.apply(Command::SetMorphs(vec![(0, weight)]), gesture);
}

fn shown(session: &mut Session) -> Vec<Point> {
    run_until_idle(session);
    session.snapshot().unwrap().positions().to_vec()
}

#[test]
fn a_slider_moves_the_skin_and_its_drag_is_one_step() {
    let folder = TestFolder::new("morph-slider");
    let mut session = opened(&folder);
    assert_eq!(character(&session).morphs[0].name, "bump");
    let rest = shown(&mut session);
    for step in 1..=5 {
        set(&mut session, 0.2 * f64::from(step), Gesture::Dragging);
    }
    set(&mut session, 1.0, Gesture::Released);
    let bumped = shown(&mut session);
    let moved = (bumped[1] - rest[1]).norm();
    assert!((moved - 0.05).abs() < 1e-4, "{moved}");
    assert!((bumped[40] - rest[40]).norm() < 1e-4);
    assert_eq!(session.undo_label(), Some("Set morph"));
    session.apply_once(Command::Undo);
    assert!(session.document().pose.morphs.is_rest());
    let back = shown(&mut session);
    assert!((back[1] - rest[1]).norm() < 1e-4);
    // Of a control that does not exist nothing is kept.
    session.apply_once(Command::SetMorphs(vec![(99, 1.0), (0, f64::NAN)]));
    assert!(session.document().pose.morphs.is_rest());
    set(&mut session, 0.5, Gesture::Once);
    session.apply_once(Command::ResetPose);
    assert!(session.document().pose.morphs.is_rest());
}

#[test]
fn keys_poses_and_projects_keep_morphs() {
    let folder = TestFolder::new("morph-project");
    let mut session = opened(&folder);
    set(&mut session, 0.75, Gesture::Once);
    session.apply_once(Command::Keys(KeysCommand::AddPose));
    session.apply_once(Command::Keys(KeysCommand::NewClip { duration_secs: 1.0 }));
    run_until_idle(&mut session);
    let clip = session.document().clips().len() - 1;
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    session.apply_once(Command::Keys(KeysCommand::SetAutoKey(true)));
    set(&mut session, 0.25, Gesture::Once);
    let take = session.document().clips().take(clip).unwrap().clone();
    let at = |time: f64| take.clip().morphs[0].sample(time);
    assert!(
        (at(0.0) - 0.75).abs() < 1e-9
            && (at(1.0) - 0.25).abs() < 1e-9
            && (at(0.5) - 0.5).abs() < 1e-9
    );
    let path = folder.0.join("bump.sinew");
    session.apply_once(Command::Project(ProjectCommand::SaveAs {
        path: path.clone(),
        packed: false,
    }));
    run_until_idle(&mut session);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("bump"), "{text}");
    let mut other = Session::new();
    other.apply_once(Command::Open(Source::of_files(vec![path])));
    run_until_idle(&mut other);
    assert!(
        other.document().same_content_as(session.document()),
        "{:?}",
        other.messages()
    );
    assert!((other.document().pose.morphs.get(0) - 0.75).abs() < 1e-9);
}
