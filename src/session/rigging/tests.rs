//! Building a skeleton as a window does it.

mod undo;

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::character::{Character, SourceMesh};
use crate::math::Point64;
use crate::mesh::shapes::tube;
use crate::methods::{MethodId, Subject};
use crate::rig::edit::{Placer, RigBone};
use crate::session::tests::run_until_idle;
use crate::session::{Command, Gesture, Session, Source};

fn p(x: f64, y: f64) -> Point64 {
    Point64::new(x, y, 0.0)
}

/// A session with a tube along y, 2 long and 0.2 thick, that has no joints.
fn unrigged_session() -> Session {
    let mesh = tube(0.2, 2.0, 30, 16, true);
    let character = Character {
        name: "tube".into(),
        meshes: vec![SourceMesh::bare("tube", mesh.positions, mesh.triangles)],
        metres_per_unit: 1.0,
        ..Character::default()
    };
    let subject =
        Subject::build(Arc::new(character), &crate::progress::Progress::new()).expect("triangles");
    let mut session = Session::new();
    session.editor.document.pose = subject.character.skeleton.rest_pose();
    session.editor.document.subject = Some(Arc::new(subject));
    rig(&mut session, RigCommand::SetMode(Mode::Edit));
    run_until_idle(&mut session);
    session
}

fn rig(session: &mut Session, command: RigCommand) {
    session.apply_once(Command::Rig(command));
}

fn edit(session: &mut Session, edit: RigEdit) {
    rig(session, RigCommand::Edit(edit));
}

fn chain(session: &mut Session) {
    for (parent, y) in [(None, 0.3), (Some(0), 1.0), (Some(1), 1.7)] {
        edit(
            session,
            RigEdit::Add {
                parent,
                position: p(0.0, y),
                name: None,
            },
        );
    }
}

fn warnings(session: &Session) -> Vec<String> {
    session
        .messages()
        .iter()
        .filter(|message| message.level > Level::Info)
        .map(ToString::to_string)
        .collect()
}

#[test]
fn three_joints_make_an_unrigged_cylinder_bend_and_undo_removes_them() {
    let mut session = unrigged_session();
    let first = session.document().clone();
    assert_eq!(
        session.rigging().quality().expect("open").rating,
        RigRating::None
    );
    assert!(session.rigging().placer().is_some() && session.rigging().symmetry_plane().is_some());
    chain(&mut session);
    assert_eq!(session.undo_label(), Some("Extrude joint"));
    assert!(session.rigging().is_pending());
    run_until_idle(&mut session);
    let subject = session.subject().expect("open").clone();
    assert!(!session.rigging().is_pending() && subject.character.skeleton.len() == 3);
    assert!(subject.flesh().is_ok(), "{:?}", subject.flesh().err());
    assert_eq!(
        session.rigging().quality().expect("open").rating,
        RigRating::Good
    );
    assert_eq!(session.shown_method(), Some(MethodId::PD));
    assert!(warnings(&session).is_empty(), "{:?}", warnings(&session));

    rig(&mut session, RigCommand::SetMode(Mode::Pose));
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, 60.0],
    });
    run_until_idle(&mut session);
    let bent = session.snapshot().expect("shown");
    let farthest = bent
        .positions()
        .iter()
        .zip(&*subject.bind_positions)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(farthest > 0.5, "it bends: {farthest}");

    for _ in 0..4 {
        session.apply_once(Command::Undo);
        run_until_idle(&mut session);
    }
    assert_eq!(session.undo_label(), None);
    assert!(
        session.document().same_as(&first),
        "undo all is the first document"
    );
    for _ in 0..4 {
        session.apply_once(Command::Redo);
    }
    run_until_idle(&mut session);
    assert_eq!(session.subject().expect("open").character.skeleton.len(), 3);
    assert!((session.joint_angles_deg(1)[2] - 60.0).abs() < 1e-6);
}

#[test]
fn a_drag_is_one_step_and_ends_with_the_flesh_of_its_end() {
    let mut session = unrigged_session();
    chain(&mut session);
    run_until_idle(&mut session);
    let before = session.rigging().rig().expect("open").clone();
    for step in 1..=20 {
        let position = p(0.005 * f64::from(step), 1.0);
        session.apply(
            Command::Rig(RigCommand::Edit(RigEdit::Move {
                joint: 1,
                position,
                with_children: false,
            })),
            Gesture::Dragging,
        );
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(2));
    }
    session.end_gesture();
    run_until_idle(&mut session);
    // The plane between the sides of a tube goes through its axis: the joint is kept on it.
    assert!(
        session
            .subject()
            .expect("open")
            .character
            .skeleton
            .bind_position(1)
            .x
            .abs()
            < 1e-6
    );
    rig(&mut session, RigCommand::SetSymmetry(false));
    edit(
        &mut session,
        RigEdit::Move {
            joint: 1,
            position: p(0.05, 1.1),
            with_children: false,
        },
    );
    run_until_idle(&mut session);
    assert_eq!(
        session
            .subject()
            .expect("open")
            .character
            .skeleton
            .bind_position(1),
        p(0.05, 1.1)
    );
    session.apply_once(Command::Undo);
    assert_eq!(**session.rigging().rig().expect("open"), *before);
}

#[test]
fn settings_follow_their_joints_through_edits() {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("mannequin")));
    run_until_idle(&mut session);
    let joints = session.document().skeleton().expect("open").len();
    let name = |session: &Session, joint: usize| {
        session.document().skeleton().expect("open").joints()[joint]
            .name
            .clone()
    };
    let last = joints - 1;
    let kept = name(&session, last);
    session.apply_once(Command::SetJointAngles {
        joint: last,
        degrees: [10.0, 0.0, 5.0],
    });
    session.apply_once(Command::SelectJoint(Some(last)));
    rig(&mut session, RigCommand::SetMode(Mode::Edit));
    run_until_idle(&mut session);
    rig(&mut session, RigCommand::SetSymmetry(false));
    rig(
        &mut session,
        RigCommand::SetRadius {
            joint: last,
            radius: Some(0.01),
        },
    );
    rig(
        &mut session,
        RigCommand::SetVirtual {
            joint: last,
            on: true,
        },
    );
    let bone = RigBone::To((1..joints).find(|&joint| joint < last).expect("another"));
    edit(&mut session, RigEdit::Insert { bone, at: 0.5 });
    run_until_idle(&mut session);
    assert_eq!(
        session.document().skeleton().expect("open").len(),
        joints + 1
    );
    let now = session
        .document()
        .skeleton()
        .expect("open")
        .find(&kept)
        .expect("still there");
    assert_eq!(now, last + 1);
    assert!((session.joint_angles_deg(now)[0] - 10.0).abs() < 1e-6);
    assert_eq!(session.document().flesh.radii.get(&now), Some(&0.01));
    assert!(session.document().flesh.bones[&now].is_virtual);
    assert_eq!(session.selection().active(), Some(now));
    rig(&mut session, RigCommand::UseFileSkeleton);
    run_until_idle(&mut session);
    assert_eq!(session.document().skeleton().expect("open").len(), joints);
    assert!(warnings(&session).is_empty(), "{:?}", warnings(&session));
}

#[test]
fn a_built_rig_is_saved_and_opened_again() {
    let folder = std::env::temp_dir().join(format!("sinew-rig-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place to write");
    let mut session = unrigged_session();
    chain(&mut session);
    edit(
        &mut session,
        RigEdit::SetTail {
            joint: 2,
            tail: Some(p(0.0, 1.9)),
        },
    );
    run_until_idle(&mut session);
    rig(
        &mut session,
        RigCommand::SetRadius {
            joint: 1,
            radius: Some(0.04),
        },
    );
    run_until_idle(&mut session);
    for name in ["tube.skel", "tube.glb"] {
        rig(&mut session, RigCommand::Save(folder.join(name)));
    }
    assert!(warnings(&session).is_empty(), "{:?}", warnings(&session));
    let progress = crate::progress::Progress::new();
    let again = crate::io::load(&[folder.join("tube.glb")], &progress).expect("a character");
    assert_eq!(again.skeleton.len(), 3);
    assert!((again.skeleton.bind_position(2) - p(0.0, 1.7)).norm() < 1e-6);
    assert!(
        again.skeleton.joints()[2]
            .tail
            .is_some_and(|tail| (tail - p(0.0, 1.9)).norm() < 1e-6),
        "tails are kept"
    );
    assert_eq!(again.flesh.radii.get(&1), Some(&0.04), "and radii");
    let before = session.subject().expect("open").clone();
    let after = Subject::build(Arc::new(again), &progress).expect("triangles");
    assert_eq!(
        after.character.meshes[0].attachment,
        crate::character::Attachment::Unweighted,
        "nobody painted the weights"
    );
    let quality = |subject: &Subject| subject.flesh().expect("flesh").tissue.quality.clone();
    let (before, after) = (quality(&before), quality(&after));
    // Joints are rounded to f32.
    let alike = |a: usize, b: usize| a.abs_diff(b) * 100 <= before.tets;
    let pairs = [
        (before.tets, after.tets),
        (before.thin, after.thin),
        (before.flat, after.flat),
    ];
    assert!(
        pairs.into_iter().all(|(a, b)| alike(a, b)),
        "{before:?} {after:?}"
    );
    let text = std::fs::read_to_string(folder.join("tube.skel")).expect("written");
    assert!(
        text.starts_with("4\n") && text.contains("0 1 0 bone1 root"),
        "{text}"
    );
    std::fs::remove_dir_all(&folder).expect("clean up");
}

#[test]
fn the_bones_with_most_bad_flesh_are_named() {
    let mut session = unrigged_session();
    chain(&mut session);
    run_until_idle(&mut session);
    let subject = session.subject().expect("open").clone();
    let mut tissue = (*subject.flesh().expect("flesh").tissue).clone();
    let skeleton = &subject.character.skeleton;
    let is_sound = tissue.quality.flat + tissue.quality.inverted == 0;
    assert_eq!(
        quality::names_of_worst(skeleton, &tissue).is_empty(),
        is_sound
    );
    for cell in tissue.layers[0].tets.chunk_by_mut(|a, b| a.cell == b.cell) {
        let first = cell[0].corners[0].as_unknown().expect("a skin vertex");
        let joint = tissue.graph.bones[tissue.foot_bones[first as usize] as usize].joint;
        for tet in cell {
            match joint {
                1 => tet.rest_inverse = None,
                // Inverted.
                0 if first % 4 == 0 => tet.positive = !tet.positive,
                _ => {}
            }
        }
    }
    assert_eq!(
        quality::names_of_worst(skeleton, &tissue),
        ["bone1", "root"]
    );
}

#[test]
fn a_rigged_character_without_symmetry_of_its_mesh_has_that_of_its_joints() {
    let mut session = unrigged_session();
    let lopsided = |x: f64| if x > 0.0 { 0.02 } else { 0.0 };
    // A tube that is no more alike on both sides has no plane of its own.
    let mesh = {
        let mut mesh = tube(0.2, 2.0, 30, 16, true);
        for position in &mut mesh.positions {
            position.x += 0.3 * (position.y * 3.0).sin();
            position.z += 0.25 * (position.y * 2.0).sin() * (1.0 + position.y);
        }
        mesh
    };
    let placer = Placer::new(&mesh);
    assert!(placer.mirror().is_none());
    let mut rig = session.rigging().rig().expect("open").as_ref().clone();
    for (name, x, y) in [
        ("hips", 0.3, 0.5),
        ("arm.L", 0.8, 1.0),
        ("arm.R", -0.2, 1.0),
        ("LeftLeg", 0.7, 0.2),
        ("RightLeg", -0.1, 0.2),
    ] {
        let add = RigEdit::Add {
            parent: (name != "hips").then_some(0),
            position: p(x + lopsided(x - 0.79), y),
            name: Some(name.into()),
        };
        rig = rig.edited(&add, None).expect("possible").rig;
    }
    let mirror = placer.mirror_of(&rig).expect("joints in pairs");
    assert!(
        (mirror.normal - crate::math::Vec64::x()).norm() < 1e-6
            && (mirror.point.x - 0.3).abs() < 0.02,
        "{mirror:?}"
    );
    let unnamed = rig
        .joints()
        .iter()
        .enumerate()
        .skip(1)
        .fold(rig.clone(), |rig, (joint, _)| {
            rig.edited(
                &RigEdit::Rename {
                    joint,
                    name: format!("bone {joint}"),
                },
                None,
            )
            .expect("possible")
            .rig
        });
    assert!(
        placer
            .mirror_of(&unnamed)
            .is_some_and(|mirror| (mirror.point.x - 0.3).abs() < 1e-6)
    );
    session.editor.document.rig = Some(Arc::new(rig));
    run_until_idle(&mut session);
    assert!(session.rigging().symmetry_plane().is_some());
}
