//! Named poses.

use super::*;

#[test]
fn poses_are_kept_blended_and_brought_back() {
    let mut session = opened();
    session.apply_once(turn(80.0));
    session.apply_once(keys(KeysCommand::AddPose));
    session.apply_once(keys(KeysCommand::RenamePose {
        pose: 0,
        name: "bent".into(),
    }));
    session.apply_once(Command::ResetPose);
    let from: Arc<Pose> = Arc::new(session.channels().active().pose().clone());
    for blend in [0.2, 0.9, 0.5] {
        session.apply(
            keys(KeysCommand::ApplyPose {
                pose: 0,
                blend,
                from: Some(from.clone()),
            }),
            Gesture::Dragging,
        );
    }
    session.end_gesture();
    assert!((angle(&session) - 40.0).abs() < 1e-6);
    session.apply_once(Command::Undo);
    assert!(angle(&session).abs() < 1e-9 && session.document().pose_library[0].name == "bent");
    let folder = std::env::temp_dir().join(format!("sinew-poses-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    session.apply_once(keys(KeysCommand::SavePoses(folder.clone())));
    session.apply_once(keys(KeysCommand::DeletePose { pose: 0 }));
    session.apply_once(keys(KeysCommand::LoadPoses(vec![folder.join("bent.json")])));
    session.apply_once(keys(KeysCommand::ApplyPose {
        pose: 0,
        blend: 1.0,
        from: None,
    }));
    assert!((angle(&session) - 80.0).abs() < 1e-6);
    std::fs::remove_dir_all(folder).unwrap();
}
