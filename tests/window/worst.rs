//! The window of the worst poses in the whole workbench.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::{Action, WorstAction};
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{Command, Gesture, Session, Source};

use crate::bench::{wait_until, workbench_on};

fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("arm")));
    session.apply_once(Command::SetMethod(MethodId::LBS));
    let mut harness = workbench_on(session);
    harness
        .state_mut()
        .raise(Action::Worst(WorstAction::Toggle));
    harness.run_steps(4);
    harness
}

/// Chooses an entry of a list by the name of its row.
fn choose(harness: &mut Harness<'_, Workbench>, row: &str, entry: &str) {
    harness.get_by_role_and_label(Role::ComboBox, row).click();
    harness.run_steps(3);
    harness.get_by_label(entry).click();
    harness.run_steps(3);
}

#[test]
fn a_found_pose_is_opened_by_a_click_and_taken_back_by_undo() {
    let mut harness = workbench();
    let chosen = harness
        .get_by_role_and_label(Role::ComboBox, "Method")
        .accesskit_node()
        .value();
    assert_eq!(chosen.as_deref(), Some("Linear blend"));
    choose(&mut harness, "Worst by", "Volume change");
    harness.get_by_label("Search").click();
    harness.run_steps(3);
    wait_until(&mut harness, "the search ends", |bench| {
        let search = bench.session().worst();
        search.progress().is_none() && !search.found().is_empty()
    });
    let search = harness.state().session().worst();
    assert_eq!(search.searched(), Some((MethodId::LBS, "volume_change")));
    let found = search.found().to_vec();
    let sizes: Vec<f64> = found.iter().map(|pose| pose.value.abs()).collect();
    assert!(
        sizes.is_sorted_by(|a, b| a >= b),
        "the worst first: {sizes:?}"
    );
    assert!(sizes[0] > 0.01, "{sizes:?}");
    let pose = |harness: &Harness<'_, Workbench>| {
        let session = harness.state().session();
        session.channels().active().pose().clone()
    };
    let before = pose(&harness);
    harness.get_by_label_contains("Pose 2:").click();
    harness.run_steps(4);
    assert_eq!(pose(&harness), found[1].pose);
    harness
        .state_mut()
        .raise(Action::Session(Command::Undo, Gesture::Once));
    harness.run_steps(4);
    assert_eq!(pose(&harness), before);
}

#[test]
fn a_search_is_stopped_and_forgotten_with_its_character() {
    let mut harness = workbench();
    harness.get_by_label("Search").click();
    harness.run_steps(2);
    if harness.state().session().worst().progress().is_some() {
        harness.get_by_label("Stop").click();
        harness.run_steps(3);
    }
    assert!(harness.state().session().worst().progress().is_none());
    let bench = harness.state_mut();
    bench.raise(Action::Worst(WorstAction::Search {
        view: bench.session().active_view().id,
        quantity: "volume_change".to_owned(),
    }));
    harness.run_steps(2);
    wait_until(&mut harness, "the search ends", |bench| {
        !bench.session().worst().found().is_empty()
    });
    // Poses of another skeleton mean nothing.
    let open = Command::Open(Source::builtin("cylinder"));
    harness
        .state_mut()
        .raise(Action::Session(open, Gesture::Once));
    harness.run_steps(2);
    wait_until(&mut harness, "another character is open", |bench| {
        bench.session().jobs().is_empty() && bench.session().worst().found().is_empty()
    });
}
