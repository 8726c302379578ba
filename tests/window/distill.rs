//! The window of the distilled rig in the whole workbench.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::{Action, DistillAction, ToolWindowAction};
use sinew::app::settings::Settings;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Gesture, Level, Session, Source};

use crate::bench::{wait_until, workbench_on};
use crate::common::folder::TestFolder;

/// A workbench with the window, which writes files into `folder`.
fn workbench(folder: &TestFolder) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    session.apply_once(Command::SetMethod(MethodId::LBS));
    let mut harness = workbench_on(session);
    let settings = Settings {
        system_dialogs: false,
        folders: vec![folder.0.clone()],
        ..Settings::default()
    };
    let change = ToolWindowAction::Change(Box::new(settings));
    let bench = harness.state_mut();
    bench.raise(Action::ToolWindows(change));
    bench.raise(Action::Distill(DistillAction::Toggle));
    harness.run_steps(4);
    harness
}

fn click(harness: &mut Harness<'_, Workbench>, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(4);
}

fn views(harness: &Harness<'_, Workbench>) -> Vec<MethodId> {
    let views = harness.state().session().views().list();
    views.iter().map(|view| view.method).collect()
}

fn choose_dqs(harness: &mut Harness<'_, Workbench>) {
    let list = |harness: &Harness<'_, Workbench>| {
        let list = harness.get_by_role_and_label(Role::ComboBox, "Simulate");
        list.accesskit_node().value()
    };
    harness
        .get_by_role_and_label(Role::ComboBox, "Simulate")
        .click();
    harness.run_steps(3);
    // The side panel has a button of that name; the list is above it.
    let entry = harness.query_all_by_label("Dual quaternion").last();
    entry.expect("an entry").click();
    harness.run_steps(3);
    assert_eq!(list(harness).as_deref(), Some("Dual quaternion"));
}

#[test]
fn a_rig_is_fitted_compared_and_saved() {
    let folder = TestFolder::new("distill window");
    let mut harness = workbench(&folder);
    choose_dqs(&mut harness);
    click(&mut harness, "Chosen clips");
    harness
        .get_by_role_and_label(Role::CheckBox, "bend")
        .click();
    harness.run_steps(3);
    click(&mut harness, "Fit to the range of motion, too");
    click(&mut harness, "Springs of VRM for flesh that swings");
    assert!(harness.query_by_label("Save…").is_none(), "nothing is made");
    click(&mut harness, "Fit");
    wait_until(&mut harness, "the rig is fitted", |bench| {
        bench.session().distilling().progress().is_none()
    });
    {
        let session = harness.state().session();
        let subject = session.subject().unwrap();
        let (made, _) = session.distilling().made_for(subject).expect("a rig");
        let report = &made.report;
        assert_eq!((report.fitted.len(), report.held_back.len()), (1, 1));
        assert_eq!(report.fitted[0].clip, "bend");
        let keyed = report.fitted[0].keyed.expect("keys");
        let text = format!("{:.2} ({:.1})", keyed.rms, keyed.max);
        let shown = harness.query_all_by_label(&text).count();
        assert!(shown > 0, "{text} is not shown");
        // What depends on the pose alone does not swing.
        let springs = report.springs.len();
        assert!(springs > 0 && springs == report.helpers);
        let text = format!("0 helpers have a spring; of {springs} the flesh hardly swings.");
        harness.get_by_label(&text);
    }
    harness.get_by_label("held back");

    click(&mut harness, "Compare with the original");
    let dqs = MethodId::from_id("dqs").unwrap();
    assert_eq!(views(&harness), [dqs, MethodId::DISTILLED]);
    wait_until(&mut harness, "the rig is shown", |bench| {
        let session = bench.session();
        let of = |index: usize| session.snapshot_of(session.views().list()[index].id);
        of(1).is_some_and(|shown| shown.method == MethodId::DISTILLED)
            && of(0).is_some_and(|shown| shown.method == dqs)
    });
    // It is beside the original already.
    click(&mut harness, "Compare with the original");
    assert_eq!(views(&harness), [dqs, MethodId::DISTILLED]);
    for _ in 0..2 {
        let undo = Action::Session(Command::Undo, Gesture::Once);
        harness.state_mut().raise(undo);
        harness.run_steps(3);
    }
    assert_eq!(views(&harness).len(), 1);

    click(&mut harness, "Save…");
    harness.get_by_label("Save the distilled rig");
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    let path = folder.0.join("rig.glb");
    harness.event(Event::Text(path.display().to_string()));
    harness.run_steps(3);
    harness.key_press(Key::Enter);
    wait_until(&mut harness, "the rig is written", |bench| {
        let session = bench.session();
        !session.distilling().is_saving() && !session.messages().is_empty()
    });
    assert!(path.exists(), "{:?}", harness.state().session().messages());
}

#[test]
fn a_fit_is_stopped_and_without_clips_it_is_refused_by_a_message() {
    let folder = TestFolder::new("distill window");
    let mut harness = workbench(&folder);
    click(&mut harness, "Fit");
    if harness.state().session().distilling().progress().is_some() {
        click(&mut harness, "Stop");
    }
    assert!(harness.state().session().distilling().progress().is_none());
    click(&mut harness, "Chosen clips");
    click(&mut harness, "Fit");
    wait_until(&mut harness, "the fit fails", |bench| {
        bench.session().distilling().failure().is_some()
    });
    let session = harness.state().session();
    let message = session.messages().last().expect("a message").clone();
    assert_eq!(message.level, Level::Error);
    let dismiss = Action::Session(Command::DismissMessage(message.id), Gesture::Once);
    harness.state_mut().raise(dismiss);
    harness.run_steps(3);
    assert!(harness.state().session().messages().is_empty());
}
