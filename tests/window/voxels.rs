//! The voxel domain in a view: computed in the background, with a sentence until it is drawn.

use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, ViewRequest};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Session, Source};

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
    harness.run_steps(3);
}

/// A window with a character of which no voxel domain is known yet.
fn window() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait_until(&mut harness, "the character is open", |session| {
        session.snapshot().is_some() && session.jobs().is_empty()
    });
    harness
}

fn toggle(harness: &mut Harness<'_, Workbench>) {
    harness.state_mut().raise(Action::View(ViewRequest::Voxels));
    harness.step();
}

const COMPUTING: &str = "The voxel domain is being computed.";
const CANCELLED: &str = "The voxel domain was cancelled: switch it off and on to compute it.";

/// Whether a sentence is shown, in the panel or over the view.
fn says(harness: &Harness<'_, Workbench>, sentence: &str) -> bool {
    harness.query_all_by_label(sentence).next().is_some()
}

#[test]
fn a_view_says_that_the_voxel_domain_is_computed_and_then_what_it_is() {
    let mut harness = window();
    let subject = harness
        .state()
        .session()
        .subject()
        .expect("it is open")
        .clone();
    assert!(subject.voxels_if_made().is_none(), "nobody asked for it");
    toggle(&mut harness);
    harness.step();
    if subject.voxels_if_made().is_none() {
        assert!(says(&harness, COMPUTING));
    }
    let known = |_: &Session| subject.voxels_if_made().is_some();
    wait_until(&mut harness, "the voxel domain is known", known);
    assert!(!says(&harness, COMPUTING));
    let cells = subject.voxels_if_made().expect("is known").cells;
    assert!(cells > 100);
    let sentence = format!("Voxel domain in the bind pose: {cells} cells of ");
    assert!(harness.query_by_label_contains(&sentence).is_some());
    toggle(&mut harness);
    harness.run_steps(3);
    assert!(harness.query_by_label_contains("Voxel domain in").is_none());
}

#[test]
fn a_cancelled_voxel_domain_is_computed_when_it_is_switched_on_again() {
    let mut harness = window();
    toggle(&mut harness);
    let mut cancelled = false;
    for _ in 0..100 {
        let session = harness.state().session();
        let title = "Finding the voxel domain";
        if session.jobs().iter().any(|job| job.title == title) {
            let cancel = Action::Session(Command::CancelJobs, sinew::session::Gesture::Once);
            harness.state_mut().raise(cancel);
            harness.run_steps(2);
            cancelled = harness.state().session().are_overlays_cancelled();
            break;
        }
        harness.step();
    }
    if cancelled {
        assert!(says(&harness, CANCELLED));
        toggle(&mut harness);
        harness.run_steps(2);
        assert!(!harness.state().session().are_overlays_cancelled());
        toggle(&mut harness);
    }
    wait_until(&mut harness, "the voxel domain is known", |session| {
        let subject = session.subject().expect("it is open");
        subject.voxels_if_made().is_some()
    });
}
