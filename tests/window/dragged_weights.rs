//! Weights in edit mode: quick ones follow a joint while it is dragged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use sinew::app::actions::Action;
use sinew::app::look::{Look, SkinColors};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::math::Point64;
use sinew::methods::{MethodId, Subject};
use sinew::rig::edit::RigEdit;
use sinew::session::{Command, Gesture, Mode, RigCommand, Session, Source, ViewCommand, ViewId};
use sinew::weights::WeightMethod;

/// The joint that is dragged.
const JOINT: usize = 1;

/// Steps until something holds; jobs run on threads of their own.
fn wait_until(harness: &mut Harness<'_, Workbench>, what: &str, holds: impl Fn(&Session) -> bool) {
    let start = Instant::now();
    while !holds(harness.state().session()) {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "waited in vain: {what}"
        );
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A window in edit mode that shows the quick weights of a joint as colours.
fn window() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    let view = ViewId(0);
    let weights = WeightMethod::from_id("fast").expect("is built in");
    assert!(weights.is_quick());
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::View(ViewCommand::SetWeights { view, weights }));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    let look = Look {
        colors: SkinColors::Weights,
        ..Look::default()
    };
    harness.state_mut().raise(Action::SetLook(view, look));
    // Opening a character leaves edit mode.
    wait_until(&mut harness, "the character is open", |session| {
        session.jobs().is_empty() && session.snapshot().is_some()
    });
    let edit = Command::Rig(RigCommand::SetMode(Mode::Edit));
    harness
        .state_mut()
        .raise(Action::Session(edit, Gesture::Once));
    wait_until(&mut harness, "the weights are shown", |session| {
        let is_ready = session.rigging().placer().is_some();
        is_ready && session.jobs().is_empty() && shown(session).is_some()
    });
    harness
}

/// The subject whose weights are drawn; `None` until some are known.
fn shown(session: &Session) -> Option<Arc<Subject>> {
    let subject = session.snapshot()?.subject.clone();
    let is_known = subject.weight_report().is_some() && subject.weight_method().is_quick();
    is_known.then_some(subject)
}

fn place_of(subject: &Subject) -> Point64 {
    subject.character.skeleton.bind_position(JOINT)
}

fn drag(harness: &mut Harness<'_, Workbench>, position: Point64, gesture: Gesture) {
    let moved = RigEdit::Move {
        joint: JOINT,
        position,
        with_children: false,
    };
    let command = Command::Rig(RigCommand::Edit(moved));
    harness.state_mut().raise(Action::Session(command, gesture));
    harness.step();
    let session = harness.state().session();
    assert!(shown(session).is_some(), "the old weights stay");
    let jobs = session.jobs();
    assert!(jobs.len() <= 1, "one computation at most: {jobs:?}");
}

#[test]
fn quick_weights_follow_a_joint_while_it_is_dragged() {
    let mut harness = window();
    let first = shown(harness.state().session()).expect("the weights are known");
    let start = place_of(&first);
    let up = |step: u32| start + nalgebra::Vector3::new(0.0, 0.004 * f64::from(step), 0.0);
    let end = up(60);
    let mut seen = vec![start.y];
    for step in 1..=60 {
        drag(&mut harness, up(step), Gesture::Dragging);
        std::thread::sleep(Duration::from_millis(10));
        let at = place_of(&shown(harness.state().session()).expect("some are shown"));
        if seen.last() != Some(&at.y) {
            seen.push(at.y);
        }
    }
    assert!(seen.is_sorted(), "the newest wins: {seen:?}");
    let is_at_end = |session: &Session| {
        let rig = session.rigging().rig().expect("it is open").clone();
        shown(session).is_some_and(|subject| subject.rig == rig)
    };
    wait_until(&mut harness, "the weights of the end are shown", is_at_end);
    // The drag has not ended: there is a step for it only when it has.
    let weights = |harness: &Harness<'_, Workbench>| {
        let subject = shown(harness.state().session()).expect("some are shown");
        subject.skin_weights().clone()
    };
    let during = weights(&harness);
    assert_ne!(&during, first.skin_weights());
    drag(&mut harness, end, Gesture::Released);
    wait_until(&mut harness, "the flesh is made", |session| {
        session.jobs().is_empty()
    });
    assert!(is_at_end(harness.state().session()));
    assert_eq!(weights(&harness), during);
}
