//! A figure of all views, exported from the window.

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, LayoutAction, LayoutPreset};
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Session, Source};

use crate::bench::workbench_on;
use crate::common::drawn::renderer;
use crate::common::folder::TestFolder;

fn wait(harness: &mut Harness<'_, Workbench>, what: &str, done: impl Fn(&Workbench) -> bool) {
    let start = Instant::now();
    while !done(harness.state()) {
        assert!(
            start.elapsed() < Duration::from_mins(2),
            "waited for {what}"
        );
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn bench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = workbench_on(session);
    let three = Action::Layout(LayoutAction::Arrange(LayoutPreset::Methods));
    harness.state_mut().raise(three);
    harness.run_steps(5);
    wait(&mut harness, "the methods", |bench| {
        let views = bench.session().views().list();
        // Until a method is bound, another one is shown.
        let is_bound = |view: &sinew::session::View| {
            let snapshot = bench.session().snapshot_of(view.id);
            snapshot.is_some_and(|snapshot| snapshot.method == view.method)
        };
        views.len() == 3 && views.iter().all(is_bound)
    });
    harness
}

/// Replaces the text of an input.
fn fill(harness: &mut Harness<'_, Workbench>, label: &str, text: &str) {
    harness
        .get_by_role_and_label(Role::TextInput, label)
        .focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(2);
}

#[test]
fn a_figure_has_all_views_with_names_and_scores() {
    if renderer().is_none() {
        return;
    }
    let kept = TestFolder::new("figure");
    let folder = kept.0.clone();
    let mut harness = bench();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::E);
    harness.run_steps(3);
    harness.get_by_label("Figure").click();
    harness.run_steps(3);
    harness.get_by_label("SVG").click();
    harness.run_steps(3);
    harness.get_by_label("of 3 views");
    fill(&mut harness, "Folder", &folder.display().to_string());
    fill(&mut harness, "Name", "all");
    harness.get_by_label("Export").click();
    let file = folder.join("all.svg");
    wait(&mut harness, "the figure", |_| file.is_file());
    let svg = std::fs::read_to_string(&file).unwrap();
    assert_eq!(svg.matches("<image ").count(), 3);
    for text in [
        ">(a) Linear blend<",
        ">(b) Dual quaternion<",
        ">(c) Projective dynamics<",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert_eq!(svg.matches(" new cuts, stretch ").count(), 3);
    // The pictures of the default size in one row.
    let start = svg.find("viewBox=\"0 0 ").unwrap() + 13;
    let width: f32 = svg[start..].split(' ').next().unwrap().parse().unwrap();
    assert!((3240.0..3500.0).contains(&width), "{width}");
}
