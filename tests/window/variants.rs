//! Variants of settings in the menus of a view.

use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Session, Source};

fn click(harness: &mut Harness<'_, Workbench>, label: &str) {
    let all: Vec<_> = harness.get_all_by_label(label).collect();
    // The view's header is drawn after the panels.
    all.last().expect("it is there").click();
    drop(all);
    harness.run_steps(4);
}

#[test]
fn a_variant_is_made_and_compared_in_the_header_of_a_view() {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::PD));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    let start = Instant::now();
    let ready = |session: &Session| {
        let shown = session.shown_method() == Some(MethodId::PD);
        shown && session.snapshot().is_some() && session.jobs().is_empty()
    };
    while !ready(harness.state().session()) {
        assert!(start.elapsed() < Duration::from_mins(1), "waited in vain");
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
    let label = MethodId::PD.label();
    click(&mut harness, label);
    click(&mut harness, "New variant");
    let session = harness.state().session();
    let variant = session.active_view().variant.expect("the view has it");
    assert_eq!(session.document().variants[&variant].name, "Variant 1");
    let named = format!("{label}, Variant 1");
    assert!(harness.query_all_by_label(&named).next().is_some());
    assert!(
        harness
            .query_all_by_label("Settings of the variant “Variant 1”")
            .next()
            .is_some(),
        "the panel says whose settings it shows"
    );
    click(&mut harness, "Compare");
    click(&mut harness, &format!("{label}, shared settings"));
    let view = *harness.state().session().active_view();
    assert_eq!(
        (view.compare, view.compare_variant, view.variant),
        (Some(MethodId::PD), None, Some(variant))
    );
    click(&mut harness, &named);
    click(&mut harness, "Remove variant");
    let session = harness.state().session();
    assert!(session.document().variants.is_empty());
    assert_eq!(session.active_view().variant, None);
}
