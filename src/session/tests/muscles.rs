//! Muscles: added, changed, mirrored and removed, each in one step.

use super::*;
use crate::character::{MOST_MUSCLES, Muscle, MuscleShape};

fn muscle(name: &str, bone: usize) -> Muscle {
    Muscle {
        name: name.to_owned(),
        bone,
        driver: None,
        shape: MuscleShape::default(),
    }
}

fn muscles(session: &Session) -> &[Muscle] {
    &session.document().flesh.muscles
}

#[test]
fn muscles_move_the_skin_at_once_and_are_undone_in_one_step() {
    let mut session = opened();
    session.apply_once(Command::SetMethod(MethodId::IMPLICIT));
    session.apply_once(turn(80.0));
    run_until_idle(&mut session);
    let positions = |session: &Session| session.snapshot().unwrap().positions().to_vec();
    let plain = positions(&session);
    let subject = session.subject().unwrap().clone();
    session.apply_once(MuscleCommand::Add(muscle("biceps", 0)).into());
    assert_eq!(session.undo_label(), Some("Add muscle"));
    run_until_idle(&mut session);
    let swollen = positions(&session);
    assert!(swollen != plain);
    assert!(
        Arc::ptr_eq(&subject, session.subject().unwrap()),
        "without binding again"
    );
    let mut thick = muscle("biceps", 0);
    for bulge in [0.7, 0.9, 1.1] {
        thick.shape.bulge = bulge;
        let muscle = thick.clone();
        let set = MuscleCommand::Set { index: 0, muscle };
        session.apply(set.into(), Gesture::Dragging);
    }
    session.apply(
        MuscleCommand::Set {
            index: 0,
            muscle: thick,
        }
        .into(),
        Gesture::Released,
    );
    run_until_idle(&mut session);
    assert!(positions(&session) != swollen);
    session.apply_once(Command::Undo);
    assert_eq!(
        muscles(&session),
        [muscle("biceps", 0)],
        "a drag is one step"
    );
    run_until_idle(&mut session);
    assert!(positions(&session) == swollen);
    session.apply_once(MuscleCommand::Remove(0).into());
    run_until_idle(&mut session);
    assert!(muscles(&session).is_empty() && positions(&session) == plain);
    session.apply_once(Command::Undo);
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!(muscles(&session).is_empty() && positions(&session) == plain);
}

#[test]
fn nonsense_is_refused_or_moved_into_its_range() {
    let mut session = opened();
    for bad in [
        MuscleCommand::Add(muscle("a", 99)),
        MuscleCommand::Add(Muscle {
            driver: Some(99),
            ..muscle("a", 0)
        }),
        MuscleCommand::Set {
            index: 0,
            muscle: muscle("a", 0),
        },
        MuscleCommand::Remove(0),
        MuscleCommand::Mirror(0),
    ] {
        session.apply_once(bad.clone().into());
        assert!(muscles(&session).is_empty(), "{bad:?}");
    }
    assert_eq!(session.undo_label(), None);
    let mut wild = muscle("\u{7}", 0);
    (wild.shape.depth, wild.shape.thickness) = (f64::NAN, 1e9);
    session.apply_once(MuscleCommand::Add(wild).into());
    let clean = &muscles(&session)[0];
    assert_eq!((&*clean.name, clean.shape.depth), ("muscle", 0.45));
    assert_eq!(clean.shape.sanitized(), clean.shape);
    for _ in 0..MOST_MUSCLES + 3 {
        session.apply_once(MuscleCommand::Add(muscle("a", 1)).into());
    }
    assert_eq!(muscles(&session).len(), MOST_MUSCLES);
    let told = session.messages().iter().any(|m| m.text.contains("64"));
    assert!(told, "{:?}", session.messages());
}

#[test]
fn a_muscle_is_mirrored_to_the_partner_of_its_bone() {
    let mut session = open("mannequin");
    let joint = |session: &Session, name: &str| {
        let skeleton = session.document().skeleton();
        skeleton.unwrap().find(name).expect("is a joint")
    };
    let [left, right] = ["upper_arm.L", "upper_arm.R"].map(|name| joint(&session, name));
    let [elbow, other] = ["forearm.L", "forearm.R"].map(|name| joint(&session, name));
    let mut biceps = muscle("biceps.L", left);
    biceps.driver = Some(elbow);
    biceps.shape.angle = 0.3;
    session.apply_once(MuscleCommand::Add(biceps).into());
    session.apply_once(MuscleCommand::Mirror(0).into());
    let mirrored = muscles(&session)[1].clone();
    assert_eq!(
        (&*mirrored.name, mirrored.bone, mirrored.driver),
        ("biceps.R", right, Some(other))
    );
    assert!((mirrored.shape.angle + 0.3).abs() < 1e-12);
    // Once more replaces it.
    session.apply_once(MuscleCommand::Mirror(0).into());
    assert_eq!(muscles(&session).len(), 2);
    // In the middle of the body it goes to the other side of the same bone.
    let spine = joint(&session, "spine.2");
    let mut side = muscle("oblique", spine);
    side.shape.angle = 1.0;
    session.apply_once(MuscleCommand::Add(side).into());
    session.apply_once(MuscleCommand::Mirror(2).into());
    let mirrored = &muscles(&session)[3];
    assert_eq!((mirrored.bone, mirrored.shape.angle), (spine, -1.0));
    assert_eq!(mirrored.name, "oblique mirrored");
}
