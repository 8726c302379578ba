//! Feet of takes: above the ground by default, planted, undone; balance; and limits of a new human.

use super::*;
use crate::math::origin_of;
use crate::rig::{FeetRules, Plant};

fn feet_of(session: &Session) -> Vec<usize> {
    let limbs = session.pose_tools().ik_rig().limbs().iter();
    limbs
        .filter(|limb| limb.is_leg)
        .map(|limb| limb.end)
        .collect()
}

fn rules(session: &Session, clip: usize) -> FeetRules {
    session
        .document()
        .clips()
        .take(clip)
        .unwrap()
        .feet()
        .clone()
}

/// A clip of two seconds of the mannequin in which the hips come down by a part of the legs' length, without the legs bending.
fn sinking() -> (Session, usize) {
    let mut session = open("mannequin");
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session.channels().active().playback().clip.unwrap();
    session.apply_once(keys(KeysCommand::SetAutoKey(true)));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    let mut pose = session.channels().active().pose().clone();
    pose.locals[0].translation.y -= 0.2;
    session.apply_once(Command::SetPose(Arc::new(pose)));
    (session, clip)
}

fn foot_heights(session: &mut Session, secs: f64) -> Vec<f64> {
    session.apply_once(Command::Scrub { time_secs: secs });
    let world = session.channels().active().world_from_joint();
    let feet = feet_of(session);
    feet.iter().map(|&foot| origin_of(&world[foot]).y).collect()
}

#[test]
fn soles_of_a_new_clip_stay_above_the_ground() {
    let (mut session, clip) = sinking();
    assert!(rules(&session, clip).above_ground);
    let rest = foot_heights(&mut session, 0.0);
    for secs in [0.5, 1.0, 2.0] {
        for (rest, now) in rest.iter().zip(foot_heights(&mut session, secs)) {
            assert!(
                (rest - now).abs() < 1e-3,
                "{secs} s: {now} instead of {rest}"
            );
        }
    }
    session.apply_once(keys(KeysCommand::SetFeet {
        clip,
        rules: FeetRules::default(),
        from: None,
    }));
    let sunk = foot_heights(&mut session, 1.0);
    assert!(rest[0] - sunk[0] > 0.15, "the keys alone sink: {sunk:?}");
    assert_eq!(session.undo_label(), Some("Plant feet"));
    session.apply_once(Command::Undo);
    assert!((foot_heights(&mut session, 1.0)[0] - rest[0]).abs() < 1e-3);
}

#[test]
fn standing_feet_are_planted_and_a_file_with_them_is_read_back() {
    let (mut session, clip) = sinking();
    session.apply_once(keys(KeysCommand::PlantStanding { clip }));
    let planted = rules(&session, clip);
    assert!(planted.above_ground, "the other rule stays");
    let feet = feet_of(&session);
    assert!(feet.iter().all(|&foot| planted.plants_of(foot).count() > 0));
    // Rules of joints that do not exist are refused.
    let wrong = Plant {
        joint: 9999,
        from_secs: 0.0,
        to_secs: 1.0,
    };
    session.apply_once(keys(KeysCommand::SetFeet {
        clip,
        rules: planted.with(wrong),
        from: None,
    }));
    assert_eq!(rules(&session, clip), planted);

    let folder = std::env::temp_dir().join(format!("sinew-feet-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("feet.sinew");
    session.apply_once(Command::Project(ProjectCommand::SaveAs {
        path: path.clone(),
        packed: false,
    }));
    run_until_idle(&mut session);
    let world = |session: &mut Session| {
        session.apply_once(Command::Scrub { time_secs: 1.0 });
        session.channels().active().world_from_joint().to_vec()
    };
    let before = world(&mut session);
    let mut again = Session::new();
    again.apply_once(Command::Open(Source::of_files(vec![path])));
    run_until_idle(&mut again);
    let index = again.document().clips().len() - 1;
    again.apply_once(Command::SelectClip(Some(index)));
    assert_eq!(rules(&again, index), planted);
    for (a, b) in before.iter().zip(world(&mut again)) {
        let apart = (a.to_homogeneous() - b.to_homogeneous()).abs().max();
        assert!(apart < 1e-9, "{apart}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn hips_balance_when_asked_and_while_dragging() {
    let mut session = open("mannequin");
    assert!(
        !session.document().limits.is_empty(),
        "a human is limited from the start"
    );
    let thigh = session
        .pose_tools()
        .ik_rig()
        .limbs()
        .iter()
        .find(|limb| limb.is_leg)
        .unwrap()
        .upper;
    let lift = Command::Pose(PoseCommand::Turn {
        joints: vec![thigh],
        rotation: Quat::from_axis_angle(&Vec64::x_axis(), -1.3),
        axes: TurnAxes::World,
    });
    let hips = |session: &Session| origin_of(&session.channels().active().world_from_joint()[0]);
    // The other foot stands.
    let feet = feet_of(&session)[1..].to_vec();
    let places = |session: &Session| -> Vec<_> {
        let world = session.channels().active().world_from_joint();
        feet.iter().map(|&foot| origin_of(&world[foot])).collect()
    };
    let (rest, stood) = (hips(&session), places(&session));
    session.apply_once(lift.clone());
    assert_eq!(hips(&session), rest);
    session.apply_once(PoseCommand::Balance.into());
    let balanced = hips(&session);
    assert!((balanced - rest).norm() > 0.02, "{balanced}");
    for (before, now) in stood.iter().zip(places(&session)) {
        assert!((before - now).norm() < 1e-5);
    }
    assert_eq!(session.undo_label(), Some("Balance"));
    session.apply_once(Command::Undo);
    session.apply_once(Command::Undo);
    assert_eq!(hips(&session), rest);
    session.apply_once(PoseCommand::SetKeepBalance(true).into());
    assert!(session.pose_tools().keeps_balance());
    session.apply_once(lift);
    assert!((hips(&session) - balanced).norm() < 1e-3, "at once");
}
