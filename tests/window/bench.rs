//! The whole workbench, drawn to nothing.

use std::time::{Duration, Instant};

use egui::{Ui, vec2};
use egui_kittest::Harness;
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::session::Session;

/// The workbench of a session whose character is being opened; waits until it is open.
pub fn workbench_on(session: Session) -> Harness<'static, Workbench> {
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait_until(&mut harness, "the character is open", |bench| {
        bench.session().snapshot().is_some() && bench.session().jobs().is_empty()
    });
    harness
}

/// Steps until something holds; jobs run on threads of their own.
pub fn wait_until(
    harness: &mut Harness<'_, Workbench>,
    what: &str,
    holds: impl Fn(&Workbench) -> bool,
) {
    let start = Instant::now();
    while !holds(harness.state()) {
        let waited = start.elapsed();
        assert!(waited < Duration::from_mins(1), "waited in vain: {what}");
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
}
