//! Variants of the settings in views.

use super::*;
use crate::math::Point;
use crate::methods::MethodId;

/// Two views of PD, the second one active with a variant.
fn two_views() -> (Session, [ViewId; 2], VariantId) {
    let mut session = opened();
    let (first, id) = (session.active_view().id, session.views().next_id());
    session.apply_once(Command::SetMethod(MethodId::PD));
    for command in [
        ViewCommand::Add { id, like: first },
        ViewCommand::Activate(id),
    ] {
        session.apply_once(Command::View(command));
    }
    session.apply_once(Command::Variant(VariantCommand::Add {
        view: id,
        name: " soft ".to_owned(),
    }));
    run_until_idle(&mut session);
    let variant = session.active_view().variant.unwrap();
    (session, [first, id], variant)
}

/// Soft flesh that hangs: without gravity the bones decide where the flesh of a held pose ends, whatever its stiffness.
fn soften(session: &mut Session) {
    let params = Params {
        stiffness_pa: 200.0,
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..*session.params()
    };
    session.apply_once(Command::SetParams(params));
    session.apply_once(turn(60.0));
    run_until_idle(session);
}

fn positions(session: &Session, view: ViewId) -> Vec<Point> {
    session.snapshot_of(view).unwrap().positions().to_vec()
}

#[test]
fn changes_in_a_view_with_a_variant_leave_the_others_alone() {
    let (mut session, [first, second], variant) = two_views();
    assert_eq!(session.document().variants[&variant].name, "soft");
    assert_eq!(
        session.label_of(session.active_view()),
        format!("{}, soft", MethodId::PD.label())
    );
    let shared = session.document().params;
    soften(&mut session);
    assert_eq!(session.document().params, shared);
    assert_eq!(session.params().stiffness_pa, 200.0);
    let [stiff, soft] = [first, second].map(|view| positions(&session, view));
    assert!(stiff != soft);
    // The first view is as without variants.
    let mut alone = opened();
    alone.apply_once(Command::SetMethod(MethodId::PD));
    alone.apply_once(turn(60.0));
    run_until_idle(&mut alone);
    let view = alone.active_view().id;
    let size = alone.subject().unwrap().size;
    let farthest = |a: &[Point], b: &[Point]| {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
    };
    let off = farthest(&positions(&alone, view), &stiff);
    let hanging = farthest(&stiff, &soft);
    assert!(
        off < 1e-5 * size && hanging > 1e-3 * size,
        "{off} {hanging}"
    );
    session.apply_once(Command::View(ViewCommand::Activate(first)));
    assert_eq!(*session.params(), shared);
    session.apply_once(Command::Variant(VariantCommand::Remove(variant)));
    run_until_idle(&mut session);
    assert!(session.document().variants.is_empty());
    assert_eq!(positions(&session, first), positions(&session, second));
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert_eq!(session.views().get(second).unwrap().variant, Some(variant));
    assert_eq!(
        session.document().variants[&variant].params.stiffness_pa,
        200.0
    );
    assert!(positions(&session, first) != positions(&session, second));
}

#[test]
fn a_view_is_compared_with_a_variant_of_its_own_method() {
    let (mut session, [first, second], variant) = two_views();
    soften(&mut session);
    session.apply_once(Command::View(ViewCommand::SetCompareVariant {
        view: first,
        method: Some(MethodId::PD),
        variant: Some(variant),
    }));
    run_until_idle(&mut session);
    let compared = session.compared_snapshot_of(first).unwrap();
    assert_eq!(compared.positions(), positions(&session, second));
    let view = *session.views().get(first).unwrap();
    let name = format!("{}, soft", MethodId::PD.label());
    assert_eq!(session.compared_label_of(&view), Some(name));
    // Methods without settings have no variants.
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    run_until_idle(&mut session);
    assert_eq!(
        session.label_of(session.active_view()),
        MethodId::RIGID.label()
    );
}

#[test]
fn variants_are_renamed_and_undone() {
    let (mut session, _, id) = two_views();
    for (name, expected) in [("jelly", "jelly"), ("  ", "jelly"), ("a\nb", "a b")] {
        let name = name.to_owned();
        session.apply_once(Command::Variant(VariantCommand::Rename { id, name }));
        assert_eq!(session.document().variants[&id].name, expected);
    }
    session.apply_once(Command::Undo);
    assert_eq!(session.document().variants[&id].name, "jelly");
}
