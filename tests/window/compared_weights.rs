//! Colours that compare the weights of a view with those of another method, which are computed in the background.

use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::Action;
use sinew::app::look::{Look, SkinColors};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Session, Source};
use sinew::weights::WeightMethod;

const COMPUTING: &str = "The weights to compare with are being computed.";

#[test]
fn weights_to_compare_with_are_computed_while_the_view_goes_on() {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    let wait = |harness: &mut Harness<'_, Workbench>, holds: &dyn Fn(&Session) -> bool| {
        let start = Instant::now();
        while !holds(harness.state().session()) {
            assert!(start.elapsed() < Duration::from_mins(1), "waited in vain");
            harness.step();
            std::thread::sleep(Duration::from_millis(5));
        }
        harness.run_steps(3);
    };
    wait(&mut harness, &|session| {
        session.snapshot().is_some() && session.jobs().is_empty()
    });
    let elastic = WeightMethod::from_id("elastic").expect("is built in");
    let subject = harness.state().session().subject().expect("open").clone();
    assert!(subject.weighted_if_made(elastic).is_none(), "not asked for");
    let view = harness.state().session().views().active().id;
    let look = Look {
        colors: SkinColors::WeightDifference,
        weights_against: elastic,
        ..Look::default()
    };
    harness.state_mut().raise(Action::SetLook(view, look));
    harness.run_steps(2);
    let says =
        |harness: &Harness<'_, Workbench>| harness.query_all_by_label(COMPUTING).next().is_some();
    if subject.weighted_if_made(elastic).is_none() {
        assert!(says(&harness));
    }
    assert!(harness.state().session().snapshot().is_some(), "goes on");
    wait(&mut harness, &|_| {
        subject.weighted_if_made(elastic).is_some() && subject.weight_report().is_some()
    });
    assert!(!says(&harness));
}
