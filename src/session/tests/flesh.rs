//! Settings of bones, and flesh that is made anew for them.

use super::*;

fn bone(edit: &str) -> crate::character::BoneSettings {
    let mut settings = crate::character::BoneSettings::default();
    settings.edit(edit).unwrap();
    settings
}

#[test]
fn factors_of_bones_take_effect_without_rebuilding() {
    let mut session = opened();
    let subject = session.subject().unwrap().clone();
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: bone("stiffness:3,jiggle:0.5"),
    });
    assert_eq!(session.undo_label(), Some("Change bone"));
    run_until_idle(&mut session);
    assert!(Arc::ptr_eq(&subject, session.subject().unwrap()) && session.jobs().is_empty());
    assert_eq!(session.document().flesh.bones[&1].stiffness, 3.0);
    session.apply_once(Command::Undo);
    assert!(session.document().flesh.bones.is_empty());
    session.apply_once(Command::SetBone {
        joint: 99,
        settings: bone("held"),
    });
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: crate::character::BoneSettings {
            density: f64::NAN,
            ..bone("held")
        },
    });
    assert!(
        session.document().flesh.bones.is_empty(),
        "nonsense changes nothing"
    );
}

#[test]
fn a_held_bone_rebuilds_the_flesh_and_keeps_the_view() {
    let mut session = opened();
    let plain = session.subject().unwrap().clone();
    session.apply_once(turn(30.0));
    session.apply_once(Command::SelectJoint(Some(1)));
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: bone("held"),
    });
    assert!(
        session.snapshot().is_some(),
        "the old flesh stays meanwhile"
    );
    run_until_idle(&mut session);
    let held = session.subject().unwrap().clone();
    assert!(held.same_character(&plain) && !Arc::ptr_eq(&held, &plain));
    let carried = |subject: &crate::methods::Subject| subject.flesh().unwrap().tissue.carried.len();
    assert!(carried(&held) > carried(&plain));
    assert_eq!(session.selection().active(), Some(1));
    assert!((session.joint_angles_deg(1)[2] - 30.0).abs() < 1e-6);
    assert_eq!(session.shown_method(), Some(session.active_view().method));
    assert_eq!(
        session.undo_label(),
        Some("Change bone"),
        "the rebuilding is no step of its own"
    );
    session.apply_once(Command::Undo);
    assert!(Arc::ptr_eq(session.subject().unwrap(), &plain), "at once");
    run_until_idle(&mut session);
    session.apply_once(Command::Redo);
    run_until_idle(&mut session);
    assert!(carried(session.subject().unwrap()) > carried(&plain));
    assert_eq!(session.selection().active(), Some(1));
}

#[test]
fn a_rebuilding_that_is_cancelled_or_undone_leaves_the_flesh() {
    let mut session = opened();
    let plain = session.subject().unwrap().clone();
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: bone("virtual"),
    });
    session.tick(0.01);
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!(Arc::ptr_eq(session.subject().unwrap(), &plain));
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: bone("virtual"),
    });
    session.tick(0.01);
    session.apply_once(Command::CancelJobs);
    run_until_idle(&mut session);
    assert!(session.jobs().is_empty());
    session.apply_once(Command::SetBone {
        joint: 1,
        settings: bone("virtual,density:2"),
    });
    run_until_idle(&mut session);
    assert!(
        !Arc::ptr_eq(session.subject().unwrap(), &plain),
        "asked again, it is tried again"
    );
}
