//! The program's own file dialog: opened by its setting, used by keyboard and pointer.

use std::path::Path;
use std::time::Duration;

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, ToolWindowAction};
use sinew::app::settings::Settings;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Session, Source};

use crate::bench::{wait_until, workbench_on};
use crate::common::folder::TestFolder;

const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A workbench that uses the own dialog, and has chosen files in `folder` before.
fn bench(folder: &Path) -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = workbench_on(session);
    let settings = Settings {
        system_dialogs: false,
        folders: vec![folder.to_path_buf()],
        ..Settings::default()
    };
    let change = ToolWindowAction::Change(Box::new(settings));
    harness.state_mut().raise(Action::ToolWindows(change));
    harness.run_steps(2);
    harness
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
    // The folder is read on a thread.
    std::thread::sleep(Duration::from_millis(50));
    harness.run_steps(3);
}

fn write(harness: &mut Harness<'_, Workbench>, text: &str) {
    harness.event(Event::Text(text.to_owned()));
    harness.run_steps(3);
}

fn path_text(harness: &Harness<'_, Workbench>) -> String {
    let field = harness.get_by_role_and_label(Role::TextInput, "Path");
    field.value().unwrap_or_default()
}

#[test]
fn a_typed_path_is_completed_and_opened() {
    let kept = TestFolder::new("own dialog");
    let folder = kept.0.clone();
    std::fs::create_dir_all(folder.join("models")).unwrap();
    std::fs::write(folder.join("models").join("pyramid.obj"), TETRAHEDRON).unwrap();
    let mut harness = bench(&folder);
    press(&mut harness, Modifiers::COMMAND, Key::O);
    harness.get_by_label("Open a character");
    assert!(path_text(&harness).starts_with(&folder.display().to_string()));
    write(&mut harness, "mod");
    press(&mut harness, Modifiers::NONE, Key::Tab);
    write(&mut harness, "py");
    press(&mut harness, Modifiers::NONE, Key::Tab);
    let file = folder.join("models").join("pyramid.obj");
    assert_eq!(path_text(&harness), file.display().to_string());
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(
        harness.query_by_label("Open a character").is_none(),
        "it is closed"
    );
    wait_until(&mut harness, "the file", |bench| {
        bench.session().document().source.files.contains(&file)
    });
    let settings = harness.state().settings();
    assert_eq!(
        settings.folders[0],
        folder.join("models"),
        "it begins there next time"
    );
}

#[test]
fn folders_are_entered_by_clicks_and_bookmarked_and_escape_cancels() {
    let kept = TestFolder::new("own dialog clicks");
    let folder = kept.0.clone();
    std::fs::create_dir_all(folder.join("poses")).unwrap();
    let mut harness = bench(&folder);
    press(&mut harness, Modifiers::COMMAND, Key::O);
    let name = format!("poses{}", std::path::MAIN_SEPARATOR);
    harness.get_by_label(&name).click();
    harness.run_steps(3);
    assert!(
        path_text(&harness).ends_with(&name),
        "{}",
        path_text(&harness)
    );
    harness.get_by_label("Bookmark folder").click();
    harness.run_steps(3);
    assert_eq!(harness.state().settings().bookmarks, [folder.join("poses")]);
    harness.get_by_label("Remove bookmark").click();
    harness.run_steps(3);
    assert!(harness.state().settings().bookmarks.is_empty());
    harness.get_by_label("Open").click();
    harness.run_steps(3);
    harness.get_by_label("Choose a file.");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(harness.query_by_label("Open a character").is_none());
}

#[test]
fn a_project_is_replaced_only_after_a_second_click() {
    let kept = TestFolder::new("own dialog save");
    let folder = kept.0.clone();
    std::fs::write(folder.join("mine.sinew"), "old").unwrap();
    let mut harness = bench(&folder);
    press(&mut harness, Modifiers::COMMAND, Key::S);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.run_steps(2);
    write(&mut harness, &folder.join("mine").display().to_string());
    press(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label("mine.sinew exists; Replace overwrites it.");
    let old = std::fs::read(folder.join("mine.sinew")).unwrap();
    assert_eq!(old, b"old", "nothing is written yet");
    harness.get_by_label("Replace").click();
    harness.run_steps(3);
    let mut shown = Vec::new();
    for _ in 0..2000 {
        harness.step();
        std::thread::sleep(Duration::from_millis(5));
        let session = harness.state().session();
        shown = session.messages().to_vec();
        if session.project().file().is_some() {
            break;
        }
    }
    assert!(
        harness.state().session().project().file().is_some(),
        "{shown:?}"
    );
    assert_ne!(std::fs::read(folder.join("mine.sinew")).unwrap(), b"old");
}
