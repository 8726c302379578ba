//! Projects in the window, without a window: the questions, the list of the history, and what becomes of the answers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::folder::TestFolder;
use egui::{Key, Modifiers, Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::ProjectAction;
use sinew::app::actions::UnsavedAnswer;
use sinew::app::actions::{Action, Actions};
use sinew::app::panels::history::history_ui;
use sinew::app::project::{RecoveryView, recovery_ui, sources_ui, unsaved_ui};
use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{
    Answer, Command, Export, ExportAs, Found, Gesture, HistoryView, MissingSource, MissingSources,
    ProjectCommand, Recovery, Session, Source, WriteDelays,
};

/// A harness around one panel or question.
fn panel(draw: impl FnMut(&mut Ui, &mut Actions) + 'static) -> Harness<'static, Actions> {
    let mut harness = Harness::builder()
        .with_size(vec2(900.0, 700.0))
        .build_ui_state(draw, Actions::default());
    theme::apply(&harness.ctx);
    harness.run();
    // A question finds its place in the middle.
    harness.run_steps(4);
    assert_eq!(harness.state().list(), &[], "untouched, it raises nothing");
    harness
}

fn raised(harness: &mut Harness<'_, Actions>) -> Vec<Action> {
    harness.run();
    harness.state_mut().take()
}

fn once(command: ProjectCommand) -> Vec<Action> {
    vec![Action::Session(command.into(), Gesture::Once)]
}

fn answer(answer: UnsavedAnswer) -> Vec<Action> {
    vec![Action::Project(ProjectAction::AnswerUnsaved(answer))]
}

#[test]
fn the_history_is_a_list_to_click_in() {
    let view = HistoryView {
        labels: vec!["Rotate joint", "Change bone", "Reset pose"],
        position: 2,
        forgotten: 0,
    };
    let mut harness = panel(move |ui, actions| history_ui(ui, &view, actions));
    harness.get_by_label("0  As it was opened").click();
    assert_eq!(raised(&mut harness), once(ProjectCommand::JumpTo(0)));
    harness.get_by_label("3  Reset pose").click();
    assert_eq!(raised(&mut harness), once(ProjectCommand::JumpTo(3)));
    harness.get_by_label("2  Change bone").click();
    assert_eq!(raised(&mut harness), [], "one is there already");
}

#[test]
fn a_long_history_shows_the_present() {
    let view = HistoryView {
        labels: vec!["Rotate joint"; 200],
        position: 200,
        forgotten: 44,
    };
    let mut harness = Harness::builder()
        .with_size(vec2(900.0, 700.0))
        .build_ui_state(
            move |ui: &mut Ui, actions: &mut Actions| history_ui(ui, &view, actions),
            Actions::default(),
        );
    theme::apply(&harness.ctx);
    harness.run_steps(6);
    let here = harness.get_by_label("200  Rotate joint").rect();
    assert!(
        here.top() >= 0.0 && here.bottom() < 260.0,
        "the present is in sight, not at {here:?}"
    );
    assert_eq!(harness.state().list(), []);
}

#[test]
fn unsaved_work_is_asked_about() {
    let mut harness = panel(|ui, actions| unsaved_ui(ui.ctx(), "fox", true, actions));
    assert!(harness.query_by_label("Save the changes to fox?").is_some());
    for (name, expected) in [
        ("Save", UnsavedAnswer::Save),
        ("Don't save", UnsavedAnswer::DontSave),
        ("Cancel", UnsavedAnswer::Cancel),
    ] {
        harness.get_by_label(name).click();
        assert_eq!(raised(&mut harness), answer(expected));
    }
    harness.key_press(Key::Escape);
    assert_eq!(raised(&mut harness), answer(UnsavedAnswer::Cancel));
}

#[test]
fn enter_saves() {
    let mut harness = panel(|ui, actions| unsaved_ui(ui.ctx(), "fox", true, actions));
    harness.key_press(Key::Enter);
    assert_eq!(raised(&mut harness), answer(UnsavedAnswer::Save));
}

#[test]
fn missing_and_changed_files_are_asked_about_one_by_one() {
    let source = |index: usize, name: &str, found: Found| MissingSource {
        index,
        path: PathBuf::from(name),
        expected: None,
        found,
    };
    let list = vec![
        source(0, "/a/fox.glb", Found::Nothing),
        source(2, "/a/run.bvh", Found::Changed),
    ];
    let sources = MissingSources {
        project: PathBuf::from("/a/fox.sinew"),
        list,
    };
    let mut harness = panel(move |ui, actions| sources_ui(ui.ctx(), &sources, actions));
    assert!(harness.query_by_label("fox.glb is missing.").is_some());
    harness.get_by_label("Use as it is").click();
    assert_eq!(
        raised(&mut harness),
        once(ProjectCommand::Answer {
            index: 2,
            answer: Answer::AsItIs
        })
    );
    harness
        .get_all_by_label("Locate…")
        .next()
        .expect("two")
        .click();
    assert_eq!(
        raised(&mut harness),
        [Action::Project(ProjectAction::Locate(0))]
    );
    harness.get_by_label("Don't open").click();
    assert_eq!(raised(&mut harness), once(ProjectCommand::CancelOpening));
}

#[test]
fn recovered_work_is_offered_and_discarded_only_after_confirmation() {
    let recovery = |file: &str, title: &str, project: Option<&str>| Recovery {
        file: PathBuf::from(file),
        title: title.to_owned(),
        project: project.map(PathBuf::from),
        unix_secs: 1000,
    };
    let recoveries = [
        recovery("/r/1", "fox.glb", None),
        recovery("/r/2", "hand", Some("/p/hand.sinew")),
    ];
    let discarding = PathBuf::from("/r/2");
    let mut harness = panel(move |ui, actions| {
        let view = RecoveryView {
            recoveries: &recoveries,
            discarding: Some(&discarding),
            unix_secs: 1000 + 840,
        };
        recovery_ui(ui.ctx(), &view, actions);
    });
    assert!(
        harness
            .query_by_label("14 minutes ago, never saved")
            .is_some()
    );
    harness.get_by_label("Open").click();
    assert_eq!(
        raised(&mut harness),
        once(ProjectCommand::Recover(PathBuf::from("/r/1")))
    );
    harness.get_by_label("Discard").click();
    assert_eq!(
        raised(&mut harness),
        [Action::Project(ProjectAction::AskDiscard(Some(
            PathBuf::from("/r/1")
        )))]
    );
    harness.get_by_label("Discard permanently").click();
    assert_eq!(
        raised(&mut harness),
        once(ProjectCommand::Discard(PathBuf::from("/r/2")))
    );
    harness.get_by_label("Keep for later").click();
    assert_eq!(raised(&mut harness), once(ProjectCommand::KeepForLater));
}

fn bench_of(session: Session) -> Harness<'static, Workbench> {
    let draw = |ui: &mut Ui, bench: &mut Workbench| bench.ui(ui, &mut NoPainter);
    let harness = Harness::builder()
        .with_size(vec2(1280.0, 800.0))
        .build_ui_state(draw, Workbench::with_session(session));
    theme::apply(&harness.ctx);
    harness
}

fn workbench(source: Source, recovery: Option<&Path>) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    if let Some(folder) = recovery {
        session.set_recovery_folder(folder, WriteDelays::within(0.5));
    }
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(source));
    let mut harness = bench_of(session);
    wait_until(&mut harness, "the character is open", |bench| {
        bench.session().snapshot().is_some() && bench.session().jobs().is_empty()
    });
    harness
}

/// Steps until something holds; jobs run on threads of their own.
fn wait_until(
    harness: &mut Harness<'_, Workbench>,
    what: &str,
    holds: impl Fn(&Workbench) -> bool,
) {
    let start = Instant::now();
    while !holds(harness.state()) {
        let messages = harness.state().session().messages();
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "waited in vain: {what}; {messages:?}"
        );
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn ask(harness: &mut Harness<'_, Workbench>, action: Action) {
    harness.state_mut().raise(action);
    harness.run_steps(3);
}

fn turn(degrees: f64) -> Action {
    Action::Session(
        Command::SetJointAngles {
            joint: 1,
            degrees: [0.0, 0.0, degrees],
        },
        Gesture::Once,
    )
}

/// A saved project with a bent cylinder.
fn saved_project(folder: &TestFolder) -> PathBuf {
    let path = folder.0.join("bent.sinew");
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, turn(30.0));
    ask(
        &mut harness,
        Action::Session(
            ProjectCommand::SaveAs {
                path: path.clone(),
                packed: false,
            }
            .into(),
            Gesture::Once,
        ),
    );
    wait_until(&mut harness, "saved", |bench| {
        !bench.session().project().is_dirty()
    });
    assert_eq!(harness.state().title(), "bent – Sinew");
    path
}

#[test]
fn quitting_asks_about_unsaved_work_and_continues_after_saving() {
    let folder = TestFolder::new("window");
    let path = saved_project(&folder);
    let mut harness = workbench(Source::of_files(vec![path.clone()]), None);
    ask(&mut harness, turn(40.0));
    assert_eq!(harness.state().title(), "\u{2022} bent – Sinew");
    ask(&mut harness, Action::Quit);
    assert!(!harness.state().wants_to_quit());
    // Keys go to the question, not to what is behind it.
    harness.key_press_modifiers(Modifiers::ALT, Key::R);
    harness.run_steps(3);
    assert!((harness.state().session().joint_angles_deg(1)[2] - 40.0).abs() < 1e-9);
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(
        !harness.state().wants_to_quit()
            && harness
                .query_by_label("Save the changes to bent?")
                .is_none()
    );
    ask(&mut harness, Action::Quit);
    harness.get_by_label("Save").click();
    wait_until(&mut harness, "saved and gone", Workbench::wants_to_quit);

    let mut harness = workbench(Source::of_files(vec![path]), None);
    assert!((harness.state().session().joint_angles_deg(1)[2] - 40.0).abs() < 1e-9);
    ask(&mut harness, Action::Quit);
    assert!(harness.state().wants_to_quit(), "nothing is unsaved");
}

#[test]
fn opening_a_file_asks_too_and_can_discard_unsaved_work() {
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, turn(40.0));
    ask(
        &mut harness,
        Action::Session(Command::Open(Source::builtin("arm")), Gesture::Once),
    );
    assert!(
        harness
            .query_by_label("Save the changes to cylinder?")
            .is_some()
    );
    harness.get_by_label("Don't save").click();
    wait_until(&mut harness, "the arm", |bench| {
        bench.session().project().title().as_deref() == Some("arm")
    });
    assert!(!harness.state().session().project().is_dirty());
}

#[test]
fn ctrl_s_saves_to_the_projects_file() {
    let folder = TestFolder::new("window");
    let path = saved_project(&folder);
    let mut harness = workbench(Source::of_files(vec![path.clone()]), None);
    ask(&mut harness, turn(55.0));
    harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    wait_until(&mut harness, "saved", |bench| {
        !bench.session().project().is_dirty()
    });
    assert_eq!(harness.state().settings().recent.first(), Some(&vec![path]));
}

#[test]
fn work_of_a_crashed_program_is_recovered_with_a_click() {
    let folder = TestFolder::new("window");
    let recovery = folder.0.join("recovery");
    let mut first = workbench(Source::builtin("cylinder"), Some(&recovery));
    ask(&mut first, turn(25.0));
    // It goes without saying goodbye.
    drop(first);
    let mut harness = workbench(Source::builtin("cylinder"), Some(&recovery));
    wait_until(&mut harness, "offered", |bench| {
        !bench.session().recoveries().offers().is_empty()
    });
    harness.get_by_label("Open").click_accesskit();
    wait_until(&mut harness, "recovered", |bench| {
        bench.session().recoveries().offers().is_empty() && bench.session().jobs().is_empty()
    });
    assert!((harness.state().session().joint_angles_deg(1)[2] - 25.0).abs() < 1e-9);
    assert!(harness.state().session().project().is_dirty());
    assert!(harness.query_by_label("Recover unsaved work?").is_none());
    harness.state_mut().close();
    let left = std::fs::read_dir(&recovery).map_or(0, Iterator::count);
    assert_eq!(left, 0, "a clean exit leaves nothing");
}

#[test]
fn dropped_files_are_opened_and_skipped_ones_reported() {
    let folder = TestFolder::new("window");
    let [a, b] = ["a.obj", "b.obj"].map(|name| folder.0.join(name));
    for path in [&a, &b] {
        std::fs::write(
            path,
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        )
        .expect("written");
    }
    let mut harness = workbench(Source::builtin("cylinder"), None);
    harness.state_mut().open_files(vec![a, b]);
    wait_until(&mut harness, "opened", |bench| {
        bench.session().project().title().as_deref() == Some("a")
    });
    wait_until(&mut harness, "said", |bench| {
        bench.session().messages().iter().any(|message| {
            message
                .text
                .starts_with("a.obj was opened. b.obj doesn't belong to it")
        })
    });
}

#[test]
fn a_window_without_space_draws_nothing() {
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, turn(25.0));
    for size in [
        vec2(0.0, 0.0),
        vec2(1.0, 1.0),
        vec2(1280.0, 2.0),
        vec2(3.0, 800.0),
        vec2(100.0, 60.0),
        vec2(1280.0, 800.0),
    ] {
        harness.set_size(size);
        harness.run_steps(3);
        ask(&mut harness, turn(f64::from(size.x) / 20.0));
    }
    assert!(harness.state().session().snapshot().is_some());
    assert!((harness.state().session().joint_angles_deg(1)[2] - 64.0).abs() < 1e-9);
}

#[test]
fn the_export_format_is_chosen_before_the_file() {
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, Action::Project(ProjectAction::AskExport));
    assert!(harness.query_by_label("Export").is_some());
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Export").is_none());

    let folder = TestFolder::new("window");
    let path = folder.0.join("bent.bvh");
    let export = Export {
        what: ExportAs::Motion,
        clip: Some(0),
        range_secs: Some([0.0, 0.5]),
        ..Export::default()
    };
    ask(
        &mut harness,
        Action::Session(
            ProjectCommand::Export {
                export,
                path: path.clone(),
            }
            .into(),
            Gesture::Once,
        ),
    );
    wait_until(&mut harness, "exported", |bench| {
        bench
            .session()
            .messages()
            .iter()
            .any(|message| message.text.starts_with("Exported"))
    });
    let motion = std::fs::read_to_string(path).expect("written");
    assert!(motion.contains("Frames: 16"), "{motion}");
}

#[test]
fn a_glb_is_exported_compressed_where_that_is_chosen() {
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, Action::Project(ProjectAction::AskExport));
    harness.get_by_label("Compress").click();
    harness.run_steps(3);
    let compress = harness.get_by_label("Compress");
    assert_eq!(
        compress.accesskit_node().toggled(),
        Some(egui::accesskit::Toggled::True)
    );
    let folder = TestFolder::new("window-compress");
    let sizes = [false, true].map(|compress| {
        let path = folder.0.join(format!("{compress}.glb"));
        let export = Export {
            what: ExportAs::Rig,
            compress,
            ..Export::default()
        };
        let export = ProjectCommand::Export {
            export,
            path: path.clone(),
        };
        ask(&mut harness, Action::Session(export.into(), Gesture::Once));
        let name = path.display().to_string();
        wait_until(&mut harness, "exported", |bench| {
            let mut messages = bench.session().messages().iter();
            messages.any(|message| {
                let is_said = message.text.contains("positions are off by at most");
                message.text.contains(&name) && is_said == compress
            })
        });
        std::fs::metadata(path).expect("written").len()
    });
    assert!(sizes[1] * 2 < sizes[0], "{sizes:?}");
}

#[test]
fn a_report_compares_methods_in_the_background() {
    let mut harness = workbench(Source::builtin("cylinder"), None);
    ask(&mut harness, Action::Project(ProjectAction::AskReport));
    // What is on screen is the default, and can be changed.
    let linear = harness.get_by_label("LBS");
    assert_eq!(
        linear.accesskit_node().toggled(),
        Some(egui::accesskit::Toggled::True)
    );
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);

    let folder = TestFolder::new("window-report");
    let path = folder.0.join("report.html");
    let report = |path: PathBuf| {
        let export = Export {
            what: ExportAs::Report,
            methods: vec![MethodId::LBS, MethodId::PD],
            ..Export::default()
        };
        Action::Session(
            ProjectCommand::Export { export, path }.into(),
            Gesture::Once,
        )
    };
    ask(&mut harness, report(path.clone()));
    wait_until(&mut harness, "exported", |bench| {
        bench
            .session()
            .messages()
            .iter()
            .any(|message| message.text.starts_with("Exported"))
    });
    let page = std::fs::read_to_string(path).expect("written");
    assert!(
        page.contains("Projective dynamics") && page.contains("sinew compare builtin:cylinder")
    );
}
