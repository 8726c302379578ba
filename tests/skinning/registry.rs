//! Whatever lists methods goes by the registry: a method from outside of the crate is in the command line, the panel and the project.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, Actions};
use sinew::app::panels::method::{MethodView, method_ui};
use sinew::methods::{Descriptor, MethodId, RegisterError, register, registry};
use sinew::param::ParamValues;
use sinew::session::{Command, Gesture, ProjectCommand, Session, Source};

use super::toy;
use crate::common::folder::TestFolder;

/// Runs the command line in this process, where the toy is registered.
fn sinew(arguments: &[&str]) -> ExitCode {
    toy::registered();
    let words = std::iter::once("sinew").chain(arguments.iter().copied());
    sinew::cli::run_from(words.map(OsString::from), |_, _, _, _| {
        Err("no window here".to_owned())
    })
}

fn bake(out: &Path, more: &[&str]) -> Vec<u8> {
    let out_text = out.to_str().expect("a plain path");
    let mut arguments = vec![
        "bake",
        "builtin:cylinder",
        "--rotate",
        "upper=0,90,0",
        "--settle",
        "--no-cache",
        "-q",
        "-o",
        out_text,
    ];
    arguments.extend(more);
    assert_eq!(sinew(&arguments), ExitCode::SUCCESS);
    std::fs::read(out).expect("written")
}

#[test]
fn the_readme_lists_the_built_in_methods() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(readme).expect("there");
    let toy = toy::registered();
    for method in registry().into_iter().filter(|&method| method != toy) {
        let Descriptor { id, label, doc, .. } = method.descriptor();
        let row = format!("| `{id}` | {label} | {doc} |");
        assert!(readme.contains(&row), "README.md lacks this row:\n{row}");
    }
}

#[test]
fn an_id_can_be_registered_once() {
    toy::registered();
    assert_eq!(
        register(MethodId::LBS.descriptor()),
        Err(RegisterError::Taken("lbs"))
    );
    let toy = toy::registered().descriptor();
    assert_eq!(register(toy), Err(RegisterError::Taken("twist")));
}

#[test]
fn the_command_line_bakes_an_external_method() {
    let folder = TestFolder::new("toy-bake");
    let file = |name: &str| folder.0.join(name);
    let once = bake(&file("once.obj"), &["--method", "twist"]);
    let twice = bake(
        &file("twice.obj"),
        &["--method", "twist", "--set", "turns=2"],
    );
    let rigid = bake(&file("rigid.obj"), &["--method", "rigid"]);
    assert!(once != twice, "its parameter counts");
    assert!(once != rigid);
}

#[cfg(feature = "gpu")]
#[test]
fn the_command_line_draws_an_external_method() {
    if crate::common::on_device::gpu().is_none() {
        return;
    }
    let folder = TestFolder::new("toy-render");
    let out = folder.0.join("twist.png");
    let arguments = [
        "render",
        "builtin:cylinder",
        "--method",
        "twist,lbs",
        "--rotate",
        "upper=0,90,0",
        "--size",
        "320x160",
        "--no-cache",
        "-q",
        "-o",
        out.to_str().expect("a plain path"),
    ];
    assert_eq!(sinew(&arguments), ExitCode::SUCCESS);
    assert!(std::fs::metadata(&out).expect("written").len() > 500);
}

/// The panel of a view that shows a method.
fn panel(chosen: MethodId) -> Harness<'static, Actions> {
    let mut harness = Harness::builder()
        .with_size(egui::vec2(640.0, 400.0))
        .build_ui_state(
            move |ui, actions: &mut Actions| {
                let view = MethodView {
                    chosen,
                    values: &ParamValues::default(),
                    view: sinew::session::ViewId(0),
                    weights: sinew::weights::WeightMethod::default(),
                    shown: None,
                    unavailable: &[],
                    weight_notes: &[],
                    is_bare: false,
                };
                method_ui(ui, &view, actions);
            },
            Actions::default(),
        );
    harness.run();
    harness
}

#[test]
fn the_panel_has_a_button_for_an_external_method() {
    let toy = toy::registered();
    let mut harness = panel(MethodId::LBS);
    harness.get_by_label("Twist").click();
    harness.run();
    assert_eq!(
        harness.state().list(),
        [Action::Session(Command::SetMethod(toy), Gesture::Once)]
    );
}

fn run_until_idle(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(start.elapsed() < Duration::from_mins(2), "never idle");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn open(path: &Path) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::of_files(vec![path.to_owned()])));
    run_until_idle(&mut session);
    assert!(session.subject().is_some(), "{:?}", session.messages());
    session
}

#[test]
fn a_project_keeps_an_external_method_and_reports_a_missing_one() {
    let toy = toy::registered();
    let folder = TestFolder::new("toy-project");
    let path = folder.0.join("twisted.sinew");
    let mut session = open(Path::new("builtin:cylinder"));
    session.apply_once(Command::SetMethod(toy));
    run_until_idle(&mut session);
    assert_eq!(session.shown_method(), Some(toy));
    session.apply_once(Command::Project(ProjectCommand::SaveAs {
        path: path.clone(),
        packed: false,
    }));
    run_until_idle(&mut session);
    let text = std::fs::read_to_string(&path).expect("saved");
    assert!(text.contains("\"twist\""), "{text}");
    assert_eq!(open(&path).active_view().method, toy);

    std::fs::write(&path, text.replace("\"twist\"", "\"nowhere\"")).expect("written");
    let session = open(&path);
    assert_eq!(session.active_view().method, MethodId::default());
    let told = |text: &str| text.contains("\"nowhere\"") && text.contains("Projective dynamics");
    assert!(
        session.messages().iter().any(|message| told(&message.text)),
        "{:?}",
        session.messages()
    );
}

#[test]
fn the_panel_has_a_row_for_each_of_its_parameters() {
    let toy = toy::registered();
    let mut harness = panel(toy);
    assert!(harness.state().list().is_empty(), "untouched");
    let slider = harness.get_by_role_and_label(egui::accesskit::Role::Slider, "Turns");
    slider.focus();
    harness.run();
    harness.key_press(egui::Key::ArrowRight);
    harness.run();
    let [Action::Session(Command::SetMethodValues { method, values }, _)] = harness.state().list()
    else {
        panic!("{:?}", harness.state().list());
    };
    assert_eq!(*method, toy);
    assert!(values.get(&toy::TURNS) > toy::TURNS.default);
}

/// A session that shows the toy on a bent cylinder.
fn bent() -> Session {
    let mut session = open(Path::new("builtin:cylinder"));
    session.apply_once(Command::SetMethod(toy::registered()));
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 90.0, 0.0],
    });
    run_until_idle(&mut session);
    session
}

fn turns(value: f64) -> Command {
    let mut values = ParamValues::default();
    values.set(&toy::TURNS, value);
    Command::SetMethodValues {
        method: toy::registered(),
        values,
    }
}

/// What the session shows in the end.
fn shown(session: &mut Session) -> Vec<sinew::math::Point> {
    run_until_idle(session);
    let snapshot = session.snapshot().expect("a character is open");
    assert_eq!(snapshot.method, toy::registered());
    snapshot.positions().to_vec()
}

#[test]
fn values_of_its_parameters_are_shown_and_can_be_undone() {
    let mut session = bent();
    let once = shown(&mut session);
    session.apply(turns(1.5), Gesture::Dragging);
    session.apply(turns(2.0), Gesture::Released);
    let twice = shown(&mut session);
    assert!(once != twice);
    assert_eq!(session.undo_label(), Some("Change method settings"));
    session.apply_once(Command::Undo);
    assert!(shown(&mut session) == once, "a drag is one step");
    assert_eq!(session.undo_label(), Some("Set joint angles"));
    session.apply_once(Command::Redo);
    assert!(shown(&mut session) == twice);
    session.apply_once(turns(1e9));
    let values = session.document().method_values.of(toy::registered());
    assert_eq!(values.get(&toy::TURNS), 4.0, "moved into the range");
    // What another view binds later begins with them, too.
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    run_until_idle(&mut session);
    session.apply_once(turns(2.0));
    session.apply_once(Command::SetMethod(toy::registered()));
    run_until_idle(&mut session);
    assert!(shown(&mut session) == twice);
}

#[test]
fn a_project_keeps_values_of_parameters_and_reports_unknown_ones() {
    let folder = TestFolder::new("toy-values");
    let path = folder.0.join("values.sinew");
    let mut session = bent();
    session.apply_once(turns(2.0));
    let twice = shown(&mut session);
    session.apply_once(Command::Project(ProjectCommand::SaveAs {
        path: path.clone(),
        packed: false,
    }));
    run_until_idle(&mut session);
    assert!(!session.project().is_dirty());
    let mut again = open(&path);
    assert_eq!(
        again.document().method_values,
        session.document().method_values
    );
    assert!(shown(&mut again) == twice);

    let text = std::fs::read_to_string(&path).expect("saved");
    assert!(text.contains("\"turns\": 2.0"), "{text}");
    let unknown = text.replace("\"turns\": 2.0", "\"turns\": 2.0,\n      \"loops\": 3.0");
    std::fs::write(&path, unknown).expect("written");
    let again = open(&path);
    assert_eq!(
        again.document().method_values,
        session.document().method_values
    );
    let told = |text: &str| text.contains("Twist") && text.contains("\"loops\"");
    assert!(
        again.messages().iter().any(|message| told(&message.text)),
        "{:?}",
        again.messages()
    );
}

#[test]
fn the_panel_has_a_list_for_a_choice() {
    let mut harness = panel(MethodId::LBS);
    harness
        .get_by_role_and_label(egui::accesskit::Role::ComboBox, "Normals")
        .click();
    harness.run();
    assert!(harness.state().list().is_empty(), "nothing is picked yet");
    harness.get_by_label("blended").click();
    harness.run();
    let mut values = ParamValues::default();
    let specs = MethodId::LBS.descriptor().params;
    values
        .set_text(specs, "normals", "blended")
        .expect("a name");
    let method = MethodId::LBS;
    let expected = Command::SetMethodValues { method, values };
    assert_eq!(
        harness.state().list(),
        [Action::Session(expected, Gesture::Once)]
    );
}
