//! Undo over edits of the skeleton.

use super::super::*;
use super::{chain, edit, p, rig, unrigged_session};
use crate::rig::edit::RigBone;
use crate::session::tests::run_until_idle;
use crate::session::{Command, Session};

#[test]
fn many_edits_keep_few_bodies_and_undo_all_is_still_the_first_document() {
    let mut session = unrigged_session();
    let first = session.document().clone();
    chain(&mut session);
    for step in 0..13 {
        rig(&mut session, RigCommand::SetSymmetry(false));
        edit(
            &mut session,
            RigEdit::Move {
                joint: 2,
                position: p(0.0, 1.5 + 0.01 * f64::from(step)),
                with_children: false,
            },
        );
        run_until_idle(&mut session);
    }
    let last = session.rigging().rig().expect("open").clone();
    for _ in 0..16 {
        session.apply_once(Command::Undo);
    }
    assert!(session.document().same_as(&first));
    for _ in 0..16 {
        session.apply_once(Command::Redo);
    }
    run_until_idle(&mut session);
    assert_eq!(*session.rigging().rig().expect("open"), last);
    assert!(!session.rigging().is_pending() && session.subject().expect("open").flesh().is_ok());
    for _ in 0..7 {
        session.apply_once(Command::Undo);
    }
    run_until_idle(&mut session);
    assert!(
        (session
            .subject()
            .expect("open")
            .character
            .skeleton
            .bind_position(2)
            - p(0.0, 1.55))
        .norm()
            < 1e-9
    );
}

#[test]
fn undo_and_redo_select_what_was_selected() {
    let mut session = unrigged_session();
    rig(&mut session, RigCommand::SetSymmetry(false));
    chain(&mut session);
    rig(&mut session, RigCommand::Select(Some(1)));
    edit(
        &mut session,
        RigEdit::Split {
            bone: RigBone::To(2),
            parts: 3,
        },
    );
    let name = |session: &Session| {
        session.rigging().selected().map(|joint| {
            session.rigging().rig().expect("open").joints()[joint]
                .name
                .clone()
        })
    };
    let split = name(&session).expect("a new joint");
    edit(
        &mut session,
        RigEdit::Move {
            joint: 2,
            position: p(0.01, 1.2),
            with_children: false,
        },
    );
    session.apply_once(Command::Undo);
    assert_eq!(
        name(&session).as_deref(),
        Some(&*split),
        "a move selects nothing else"
    );
    session.apply_once(Command::Undo);
    assert_eq!(name(&session).as_deref(), Some("bone1"), "what was split");
    session.apply_once(Command::Redo);
    assert_eq!(name(&session).as_deref(), Some(&*split));
    rig(&mut session, RigCommand::Select(Some(0)));
    edit(&mut session, RigEdit::Delete(4));
    for _ in 0..2 {
        session.apply_once(Command::Undo);
    }
    run_until_idle(&mut session);
    assert!(name(&session).is_some(), "something is always selected");
}
