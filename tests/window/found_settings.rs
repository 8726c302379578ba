//! The palette finds every setting of the panels.

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::Action;
use sinew::app::panels::index::settings_of;
use sinew::app::panels::overlays::LookView;
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Session, Source};

fn workbench(height: f32) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let mut harness = Harness::builder()
        .with_size(vec2(1280.0, height))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    let start = Instant::now();
    while !harness.state().session().jobs().is_empty() {
        assert!(start.elapsed() < Duration::from_mins(1));
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    let select = Command::SelectJoint(Some(1));
    let select = Action::Session(select, sinew::session::Gesture::Once);
    harness.state_mut().raise(select);
    harness.run_steps(6);
    harness
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

/// Chooses the first entry of the palette for a search.
fn choose(harness: &mut Harness<'_, Workbench>, search: &str) {
    press(harness, Modifiers::COMMAND, Key::K);
    harness.event(Event::Text(search.to_owned()));
    harness.run_steps(3);
    press(harness, Modifiers::NONE, Key::Enter);
}

#[test]
fn every_control_of_the_panels_is_found() {
    // High, so that no panel scrolls.
    let mut harness = workbench(4000.0);
    harness.run_steps(10);
    let bench = harness.state();
    let id = bench.session().active_view().id;
    let state = bench.layout().pane(id).expect("the pane").state;
    let look = LookView::of(id, &state, bench.session());
    let settings = settings_of(bench.session(), Some(&look));
    let commands = sinew::app::shortcuts::ALL.iter().map(|row| row.title);
    let titles: Vec<&str> = settings
        .iter()
        .map(|setting| setting.title.as_str())
        .chain(commands)
        .collect();
    let found = |name: &str| {
        titles.iter().any(|title| {
            *title == name
                || title.starts_with(&format!("{name}: "))
                || title.starts_with(&format!("{name} ("))
        })
    };
    let body = bench
        .layout()
        .pane(id)
        .and_then(sinew::app::pane::Pane::body);
    let body = body.expect("the view is drawn");
    let mut controls = Vec::new();
    for node in harness.root().children_recursive() {
        let role = node.accesskit_node().role();
        let is_control = matches!(role, Role::Slider | Role::CheckBox | Role::ComboBox);
        if !is_control {
            continue;
        }
        // The panels stand beside the views.
        let beside = node.rect().right() < body.left() || node.rect().left() > body.right();
        let name = node.accesskit_node().label().unwrap_or_default();
        let name = name.split(',').next().unwrap_or_default().to_owned();
        if beside && !name.is_empty() {
            controls.push(name);
        }
    }
    controls.sort();
    controls.dedup();
    assert!(controls.len() > 30, "{controls:?}");
    let missing: Vec<_> = controls.iter().filter(|name| !found(name)).collect();
    assert!(missing.is_empty(), "not found: {missing:?}");
}

#[test]
fn a_found_setting_is_shown_in_its_panel() {
    let mut harness = workbench(560.0);
    for (search, row) in [
        ("gravity", "Gravity"),
        ("stiffness", "Stiffness"),
        ("volume", "Volume"),
        ("simulated", "Simulated"),
    ] {
        press(&mut harness, Modifiers::NONE, Key::N);
        assert!(harness.query_all_by_label(row).next().is_none(), "no panel");
        choose(&mut harness, search);
        harness.run_steps(30);
        let rows: Vec<_> = harness.query_all_by_label(row).collect();
        let shown = rows.iter().any(|row| {
            let rect = row.rect();
            rect.top() > 30.0 && rect.bottom() < 520.0
        });
        assert!(
            shown,
            "{row}: {:?}",
            rows.iter()
                .map(egui_kittest::Node::rect)
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn values_and_switches_are_set_at_once() {
    let mut harness = workbench(800.0);
    choose(&mut harness, "jelly");
    let params = harness.state().session().document().params;
    let jelly = sinew::dynamics::Preset::Jelly.params();
    assert!((params.stiffness_pa - jelly.stiffness_pa).abs() < 1e-9);
    choose(&mut harness, "collisions everywhere");
    let collisions = harness.state().session().document().params.collisions;
    assert_eq!(collisions, sinew::dynamics::Collisions::Global);
    let normals = |harness: &Harness<'_, Workbench>| {
        let id = harness.state().session().active_view().id;
        harness
            .state()
            .layout()
            .pane(id)
            .is_some_and(|pane| pane.state.look.normals)
    };
    for wanted in [true, false] {
        choose(&mut harness, "normals");
        assert_eq!(normals(&harness), wanted);
    }
}
