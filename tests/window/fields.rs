//! The cut through the composed field in a view: computed in the background, and again when something moves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, ViewRequest};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::{FieldSlice, MethodId};
use sinew::session::{Command, Gesture, Session, Source};

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
    harness.run_steps(3);
}

fn window(method: MethodId) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(method));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait_until(&mut harness, "the character is open", |session| {
        let state = session.snapshot();
        session.jobs().is_empty() && state.is_some_and(|state| state.method == method)
    });
    harness
}

fn slice_of(session: &Session) -> Option<Arc<FieldSlice>> {
    session.field_slice_of(session.active_view().id).cloned()
}

fn toggle(harness: &mut Harness<'_, Workbench>) {
    harness.state_mut().raise(Action::View(ViewRequest::Fields));
    harness.step();
}

#[test]
fn a_view_shows_the_field_where_it_is_and_follows_joint_and_pose() {
    let mut harness = window(MethodId::IMPLICIT);
    assert!(
        slice_of(harness.state().session()).is_none(),
        "nobody asked for it"
    );
    toggle(&mut harness);
    wait_until(&mut harness, "there is a slice", |s| slice_of(s).is_some());
    let first = slice_of(harness.state().session()).expect("is known");
    assert!(!first.lines.is_empty() && !first.regions.is_empty());
    assert!(
        harness
            .query_by_label_contains("Field along the whole body")
            .is_some()
    );
    // Through a joint.
    let select = Command::SelectJoint(Some(1));
    harness
        .state_mut()
        .raise(Action::Session(select, Gesture::Once));
    let differs = |from: &Arc<FieldSlice>| {
        let from = from.clone();
        move |session: &Session| slice_of(session).is_some_and(|slice| *slice != *from)
    };
    wait_until(&mut harness, "it goes through the joint", differs(&first));
    let second = slice_of(harness.state().session()).expect("is known");
    // In another pose.
    let bend = Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, 100.0],
    };
    harness
        .state_mut()
        .raise(Action::Session(bend, Gesture::Once));
    wait_until(&mut harness, "it follows the pose", differs(&second));
    // Nothing is computed while it is off.
    toggle(&mut harness);
    harness.run_steps(3);
    assert!(slice_of(harness.state().session()).is_none());
    assert!(harness.query_by_label_contains("Field along").is_none());
}

#[test]
fn a_method_without_a_field_says_so() {
    let mut harness = window(MethodId::LBS);
    toggle(&mut harness);
    harness.run_steps(3);
    assert!(slice_of(harness.state().session()).is_none());
    let sentence = "Only implicit skinning composes fields: choose it to see them.";
    assert!(
        harness
            .query_all_by_label_contains(sentence)
            .next()
            .is_some()
    );
}
