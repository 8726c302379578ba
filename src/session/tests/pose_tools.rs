//! Posing by hand, as a window does it.

mod follow;

use super::*;
use crate::math::{Point64, Quat, Vec64, origin_of};
use crate::rig::Pose;
use crate::rig::ik::{DraggedPoint, EndRotation};
use crate::rig::symmetry::MirrorHow;

fn opened() -> Session {
    open("mannequin")
}

fn place(session: &Session, joint: usize) -> Point64 {
    origin_of(&session.channels().active().world_from_joint()[joint])
}

fn drag(session: &mut Session, joint: usize, by: Vec64) {
    let from = place(session, joint);
    for step in 1..=5 {
        let target = from + by * (f64::from(step) / 5.0);
        let command = PoseCommand::Reach {
            grip: DraggedPoint::of_joint(joint),
            target,
            end: EndRotation::Follows,
        };
        session.apply(
            command.into(),
            if step == 5 {
                Gesture::Released
            } else {
                Gesture::Dragging
            },
        );
    }
}

/// The end of some limb.
fn hand(session: &Session) -> (usize, usize) {
    let limb = session.pose_tools().ik_rig().limbs()[0];
    (limb.upper, limb.end)
}

#[test]
fn a_drag_of_the_body_reaches_and_is_one_step() {
    let mut session = opened();
    let (upper, hand) = hand(&session);
    let rest = session.document().pose.clone();
    let towards = (place(&session, upper) - place(&session, hand)) * 0.3;
    let target = place(&session, hand) + towards;
    drag(&mut session, hand, towards);
    assert!((place(&session, hand) - target).norm() < 1e-6);
    assert_eq!(session.undo_label(), Some("Drag body"));
    let reached = session.document().pose.clone();
    drag(&mut session, hand, -towards);
    session.apply_once(Command::Undo);
    assert_eq!(session.document().pose, reached);
    session.apply_once(Command::Undo);
    assert_eq!(session.document().pose, rest);
    assert_eq!(session.undo_label(), None);
}

#[test]
fn a_reverted_drag_leaves_no_undo_step() {
    let mut session = opened();
    let (_, hand) = hand(&session);
    let before = session.document().pose.clone();
    let target = place(&session, hand) + Vec64::new(0.1, -0.2, 0.1);
    let command = PoseCommand::Reach {
        grip: DraggedPoint::of_joint(hand),
        target,
        end: EndRotation::Follows,
    };
    session.apply(command.clone().into(), Gesture::Dragging);
    assert_ne!(session.document().pose, before);
    session.apply_once(PoseCommand::Revert.into());
    assert_eq!(
        (&session.document().pose, session.undo_label()),
        (&before, None)
    );
    // An undo between two commands of a gesture begins another one.
    session.apply(command.clone().into(), Gesture::Dragging);
    session.apply_once(Command::Undo);
    session.apply(command.into(), Gesture::Released);
    session.apply_once(Command::Undo);
    assert_eq!(session.document().pose, before);
}

#[test]
fn several_joints_turn_by_the_whole_of_the_gesture() {
    let mut session = opened();
    let (upper, end) = hand(&session);
    session.apply_once(
        PoseCommand::Select {
            joints: vec![upper, end],
            how: SelectHow::Replace,
        }
        .into(),
    );
    assert_eq!(
        (session.selection().joints(), session.selection().active()),
        (&[upper, end][..], Some(end))
    );
    let rest = session.document().pose.clone();
    for angle in [0.1, 0.9, 0.4] {
        let rotation = Quat::new(Vec64::x() * angle);
        let command = PoseCommand::Turn {
            joints: vec![upper, end],
            rotation,
            axes: TurnAxes::Own,
        };
        session.apply(
            command.into(),
            if angle == 0.4 {
                Gesture::Released
            } else {
                Gesture::Dragging
            },
        );
    }
    for joint in [upper, end] {
        let turned =
            rest.locals[joint].rotation.inverse() * session.document().pose.locals[joint].rotation;
        assert!((turned.scaled_axis() - Vec64::x() * 0.4).norm() < 1e-9);
    }
    session.apply_once(PoseCommand::Reset(vec![upper]).into());
    assert_eq!(session.document().pose.locals[upper], rest.locals[upper]);
    session.apply_once(Command::Undo);
    session.apply_once(Command::Undo);
    assert_eq!(
        (&session.document().pose, session.undo_label()),
        (&rest, None)
    );
}

#[test]
fn pinned_feet_stay_while_the_hips_move() {
    let mut session = opened();
    let hips = session
        .pose_tools()
        .ik_rig()
        .hips()
        .expect("a mannequin has hips");
    let feet: Vec<usize> = session
        .pose_tools()
        .ik_rig()
        .limbs()
        .iter()
        .map(|limb| limb.end)
        .collect();
    session.apply_once(
        PoseCommand::SetPins {
            joints: feet.clone(),
            pinned: true,
        }
        .into(),
    );
    let before: Vec<Point64> = feet.iter().map(|&foot| place(&session, foot)).collect();
    let size = f64::from(session.subject().unwrap().size);
    drag(
        &mut session,
        hips,
        Vec64::new(0.0, -0.06 * size, 0.02 * size),
    );
    for (&foot, before) in feet.iter().zip(&before) {
        assert!((place(&session, foot) - before).norm() < 1e-4 * size);
    }
    session.apply_once(Command::Undo);
    session.apply_once(Command::Undo);
    assert!(
        session.document().pins.is_empty(),
        "pins are undone as well"
    );
}

#[test]
fn limits_are_kept_whatever_turns_the_joint() {
    let mut session = opened();
    session.apply_once(PoseCommand::LimitAsHuman.into());
    let limits = session.document().limits.clone();
    assert!(
        limits.len() > 10,
        "{} joints of the mannequin are limited",
        limits.len()
    );
    let rest = session.subject().unwrap().character.skeleton.rest_pose();
    assert_eq!(session.document().pose, rest, "rest is allowed");
    let allowed = |session: &Session, joint: usize| {
        let turn =
            session.document().pose.locals[joint].rotation * rest.locals[joint].rotation.inverse();
        limits[&joint].allows(&turn)
    };
    for &joint in limits.keys() {
        session.apply_once(Command::Pose(PoseCommand::Turn {
            joints: vec![joint],
            rotation: Quat::new(Vec64::new(1.0, 2.0, -1.5)),
            axes: TurnAxes::World,
        }));
        assert!(allowed(&session, joint));
        session.apply_once(Command::SetJointAngles {
            joint,
            degrees: [170.0, -60.0, 100.0],
        });
        assert!(allowed(&session, joint));
    }
    session.apply_once(Command::ResetPose);
    let (upper, hand) = hand(&session);
    let across = (place(&session, upper) - place(&session, hand)) * 1.4;
    drag(&mut session, hand, across);
    for &joint in limits.keys() {
        assert!(allowed(&session, joint), "joint {joint}");
    }
    session.apply_once(PoseCommand::ClearLimits.into());
    assert!(session.document().limits.is_empty());
}

#[test]
fn poses_are_mirrored_copied_and_pasted() {
    let mut session = opened();
    let symmetry = session.pose_tools().symmetry().unwrap().clone();
    assert!(symmetry.has_pairs());
    let (upper, hand) = hand(&session);
    let partner = symmetry.partner(upper);
    assert_ne!(partner, upper);
    let towards = (place(&session, upper) - place(&session, hand)) * 0.4;
    drag(&mut session, hand, towards);
    let posed = session.document().pose.clone();
    session.apply_once(PoseCommand::Copy(Some(vec![upper])).into());
    let text = session
        .pose_tools()
        .copied_pose()
        .expect("something was copied");
    session.apply_once(
        PoseCommand::Mirror {
            joints: None,
            how: MirrorHow::Flip,
        }
        .into(),
    );
    let mirrored = session.document().pose.clone();
    assert!(
        mirrored.locals[upper]
            .rotation
            .angle_to(&posed.locals[upper].rotation)
            > 0.05
    );
    session.apply_once(
        PoseCommand::Mirror {
            joints: None,
            how: MirrorHow::Flip,
        }
        .into(),
    );
    let apart = |a: &Pose, b: &Pose| {
        a.locals
            .iter()
            .zip(&b.locals)
            .map(|(a, b)| a.rotation.angle_to(&b.rotation))
            .fold(0.0, f64::max)
    };
    assert!(apart(&session.document().pose, &posed) < 1e-6);
    session.apply_once(Command::ResetPose);
    session.apply_once(
        PoseCommand::Paste {
            text: Some(text),
            mirrored: true,
        }
        .into(),
    );
    let pasted = &session.document().pose;
    assert!(
        pasted.locals[partner]
            .rotation
            .angle_to(&mirrored.locals[partner].rotation)
            < 1e-6
    );
    assert_eq!(session.undo_label(), Some("Paste pose"));
    session.apply_once(
        PoseCommand::Paste {
            text: Some("no pose".into()),
            mirrored: false,
        }
        .into(),
    );
    assert_eq!(session.messages().len(), 1);
}

#[test]
fn invalid_commands_change_nothing() {
    let mut session = opened();
    let before = session.document().clone();
    let nan = Point64::new(f64::NAN, 0.0, 0.0);
    let bad = Quat::new_unchecked(nalgebra::Quaternion::new(f64::NAN, 0.0, 0.0, 0.0));
    for command in [
        PoseCommand::Reach {
            grip: DraggedPoint::of_joint(9999),
            target: Point64::origin(),
            end: EndRotation::Follows,
        },
        PoseCommand::Reach {
            grip: DraggedPoint::of_joint(0),
            target: nan,
            end: EndRotation::Stays,
        },
        PoseCommand::Reach {
            grip: DraggedPoint {
                joint: 1,
                point: nan,
            },
            target: Point64::origin(),
            end: EndRotation::Stays,
        },
        PoseCommand::Turn {
            joints: vec![0],
            rotation: bad,
            axes: TurnAxes::World,
        },
        PoseCommand::Turn {
            joints: vec![9999],
            rotation: Quat::identity(),
            axes: TurnAxes::World,
        },
        PoseCommand::SetPins {
            joints: vec![9999],
            pinned: true,
        },
        PoseCommand::SetLimit {
            joint: 9999,
            limit: None,
        },
        PoseCommand::Reset(vec![9999]),
        PoseCommand::Mirror {
            joints: Some(vec![9999]),
            how: MirrorHow::Copy,
        },
        PoseCommand::Select {
            joints: vec![9999],
            how: SelectHow::Add,
        },
        PoseCommand::Paste {
            text: None,
            mirrored: true,
        },
        PoseCommand::Revert,
    ] {
        for gesture in [Gesture::Dragging, Gesture::Released, Gesture::Once] {
            session.apply(command.clone().into(), gesture);
        }
    }
    assert_eq!(
        (&session.document().pose, &session.document().pins),
        (&before.pose, &before.pins)
    );
    assert_eq!(session.undo_label(), None);
}
