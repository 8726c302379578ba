//! The joint mapping of a retargeted clip in the whole workbench.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::Action;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Gesture, Session, Source};

use crate::bench::{wait_until, workbench_on};
use crate::common::folder::TestFolder;

/// The mannequin with a motion of a skeleton of other names, and the window open.
fn workbench(folder: &TestFolder) -> Harness<'static, Workbench> {
    let mannequin = Source::builtin("mannequin");
    let subject = sinew::session::open(&mannequin, &sinew::progress::Progress::new());
    let character = &subject.expect("the mannequin").character;
    let path = folder.file("theirs.bvh");
    sinew::io::write_bvh(&path, &character.skeleton, &character.clips[0], 30.0).expect("written");
    let text = std::fs::read_to_string(&path).expect("read");
    let text = text.replace(".L", "_left").replace(".R", "_right");
    std::fs::write(&path, text.replace("toe_right", "thing")).expect("written");
    let mut session = Session::new();
    session.apply_once(Command::Open(Source {
        files: [mannequin.files, vec![path]].concat(),
        ..Source::default()
    }));
    let mut harness = workbench_on(session);
    harness.state_mut().raise(Action::ToggleMapping);
    harness.run_steps(4);
    harness
}

fn drivers(harness: &Harness<'_, Workbench>, joint: &str) -> String {
    let row = format!("Driver of {joint}");
    let node = harness.get_by_role_and_label(Role::ComboBox, &row);
    node.accesskit_node().value().unwrap_or_default()
}

#[test]
fn a_joint_is_mapped_with_a_filter_and_reset() {
    let folder = TestFolder::new("mapping");
    let mut harness = workbench(&folder);
    harness.get_by_label_contains("moves the character's own joints");
    harness.get_by_label("theirs").click();
    harness.run_steps(4);
    let mapped = |bench: &Workbench| {
        let session = bench.session();
        session.jobs().is_empty() && !session.is_mapping()
    };
    harness.get_by_label("Search mapped joints").click();
    harness.run_steps(2);
    harness
        .get_by_label("Search mapped joints")
        .type_text("forearm.L");
    harness.run_steps(4);
    assert_eq!(drivers(&harness, "forearm.L"), "forearm_left");
    assert!(
        harness.query_by_label("Driver of forearm.R").is_none(),
        "the search hides others"
    );
    let list = "Driver of forearm.L";
    harness.get_by_role_and_label(Role::ComboBox, list).click();
    harness.run_steps(3);
    harness
        .get_by_label("Filter joints of the motion")
        .type_text("shin");
    harness.run_steps(3);
    assert!(
        harness.query_by_label("forearm_right").is_none(),
        "the filter hides others"
    );
    harness.get_by_label("shin_right").click();
    harness.run_steps(3);
    assert_eq!(
        drivers(&harness, "forearm.L"),
        "shin_right",
        "shown at once"
    );
    wait_until(&mut harness, "the motion is transferred", mapped);
    let chosen = harness.state().session().document().motions.len();
    assert_eq!(chosen, 1);
    harness.get_by_label("by hand");
    harness.get_by_label_contains("1 chosen by hand");
    harness
        .state_mut()
        .raise(Action::Session(Command::Undo, Gesture::Once));
    harness.run_steps(4);
    assert_eq!(drivers(&harness, "forearm.L"), "forearm_left");
    harness
        .state_mut()
        .raise(Action::Session(Command::Redo, Gesture::Once));
    harness.run_steps(4);
    harness.get_by_label("Reset to automatic").click();
    harness.run_steps(3);
    wait_until(&mut harness, "the motion is transferred", mapped);
    assert_eq!(drivers(&harness, "forearm.L"), "forearm_left");
    assert!(harness.state().session().document().motions.is_empty());
}

#[test]
fn undriven_joints_are_listed_and_a_row_marks_its_joint() {
    let folder = TestFolder::new("mapping-undriven");
    let mut harness = workbench(&folder);
    harness.get_by_label("theirs").click();
    harness.run_steps(4);
    harness.get_by_label("Not driven").click();
    harness.run_steps(4);
    assert!(harness.query_by_label("Driver of forearm.L").is_none());
    let undriven = harness.query_all_by_label("not driven").count();
    assert!(undriven > 0, "the motion lacks a joint");
    let row = harness
        .get_all_by_label("not driven")
        .next()
        .expect("a row");
    let place = row.rect().center();
    harness.event(egui::Event::PointerMoved(place));
    harness.run_steps(4);
    assert!(
        harness.state().tools().hovered.is_some(),
        "the row's joint is marked in the views"
    );
}

#[test]
fn escape_deselects_then_closes_the_window() {
    let folder = TestFolder::new("mapping-escape");
    let mut harness = workbench(&folder);
    harness.state_mut().raise(Action::Session(
        Command::SelectJoint(Some(1)),
        Gesture::Once,
    ));
    harness.run_steps(4);
    for (selected, shown) in [(None, true), (None, false)] {
        harness.key_press(egui::Key::Escape);
        harness.run_steps(4);
        assert_eq!(harness.state().session().selection().active(), selected);
        let window = harness.query_by_label_contains("moves the character's own joints");
        assert_eq!(window.is_some(), shown);
    }
}
