//! The unit of length in the panel of the character.

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Key, Modifiers, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, ProjectCommand, Session, Source};

use crate::common::folder::TestFolder;

fn bench(source: Source) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(source));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, 1000.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    wait(&mut harness);
    harness
}

/// Until nothing is computed any more.
fn wait(harness: &mut Harness<'_, Workbench>) {
    let start = Instant::now();
    harness.run_steps(4);
    while !harness.state().session().jobs().is_empty() {
        assert!(start.elapsed() < Duration::from_mins(1), "waited in vain");
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(4);
}

fn metres(harness: &Harness<'_, Workbench>) -> f64 {
    let subject = harness.state().session().subject().expect("a character");
    subject.metres_per_unit()
}

#[test]
fn the_unit_is_chosen_undone_and_saved() {
    let kept = TestFolder::new("unit");
    let mut harness = bench(Source::builtin("cylinder"));
    let before = metres(&harness);
    assert_ne!(before, 0.01, "or nothing would change");
    let flesh = |harness: &Harness<'_, Workbench>| {
        let subject = harness.state().session().subject().expect("a character");
        subject.flesh().expect("flesh").clone()
    };
    let old_flesh = flesh(&harness);
    harness
        .get_by_role_and_label(Role::ComboBox, "Unit")
        .click();
    harness.run_steps(3);
    harness.get_by_label("Centimetres").click();
    wait(&mut harness);
    assert_eq!(metres(&harness), 0.01);
    let new_flesh = flesh(&harness);
    assert!(
        std::sync::Arc::ptr_eq(&old_flesh.tissue, &new_flesh.tissue),
        "the geometry is the same"
    );
    assert!(
        !std::sync::Arc::ptr_eq(&old_flesh.system, &new_flesh.system),
        "its physics is not"
    );

    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    wait(&mut harness);
    assert_eq!(metres(&harness), before);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Y);
    wait(&mut harness);
    assert_eq!(metres(&harness), 0.01);

    let path = kept.file("unit.sinew");
    let save = ProjectCommand::SaveAs {
        path: path.clone(),
        packed: false,
    };
    let save = sinew::app::actions::Action::Session(save.into(), sinew::session::Gesture::Once);
    harness.state_mut().raise(save);
    wait(&mut harness);
    let start = Instant::now();
    while !path.is_file() {
        assert!(start.elapsed() < Duration::from_mins(1), "it is saved");
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    let again = bench(Source::of_files(vec![path]));
    assert_eq!(metres(&again), 0.01, "it is in the project");
}
