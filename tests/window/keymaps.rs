//! Keymaps: presets, changed keys, conflicts, and the exchange of keymaps as text.

use egui::{Event, Key, Modifiers, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, ToolWindowAction};
use sinew::app::keymap::{Keymap, KeymapPreset};
use sinew::app::settings::Settings;
use sinew::app::workbench::Workbench;
use sinew::session::{Command, Session, Source};

use crate::bench::workbench_on;

fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut harness = workbench_on(session);
    harness.set_size(vec2(1280.0, 1600.0));
    harness.run_steps(3);
    harness
}

fn press(harness: &mut Harness<'_, Workbench>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn click(harness: &mut Harness<'_, Workbench>, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

/// Uses another keymap, as the settings window does.
fn choose(harness: &mut Harness<'_, Workbench>, keymap: Keymap) {
    let settings = Settings {
        keymap,
        ..harness.state().settings().clone()
    };
    let change = ToolWindowAction::Change(Box::new(settings));
    harness.state_mut().raise(Action::ToolWindows(change));
    harness.run_steps(4);
}

fn is_playing(harness: &Harness<'_, Workbench>) -> bool {
    let session = harness.state().session();
    session.channels().active().playback().playing
}

/// Opens the sheet, searches a command, and opens its keys.
fn edit(harness: &mut Harness<'_, Workbench>, title: &str) {
    press(harness, Modifiers::NONE, Key::F1);
    harness.event(Event::Text(title.to_owned()));
    harness.run_steps(3);
    // The menu bar has no entry of this name while its menus are closed.
    click(harness, title);
}

#[test]
fn keys_of_maya_play_and_those_of_sinew_do_not() {
    let mut harness = workbench();
    choose(
        &mut harness,
        Keymap {
            preset: KeymapPreset::Maya,
            ..Keymap::default()
        },
    );
    press(&mut harness, Modifiers::NONE, Key::B);
    assert!(!is_playing(&harness));
    press(&mut harness, Modifiers::ALT, Key::V);
    assert!(is_playing(&harness));
    press(&mut harness, Modifiers::ALT, Key::V);
    assert!(!is_playing(&harness));
    assert!(harness.query_by_label_contains("Alt+V plays").is_some());
    assert!(harness.query_by_label_contains("Space plays").is_none());
}

#[test]
fn a_command_gets_the_keys_that_are_pressed() {
    let mut harness = workbench();
    edit(&mut harness, "Play or pause");
    click(&mut harness, "Add keys…");
    // The key's own command does not run meanwhile.
    press(&mut harness, Modifiers::NONE, Key::F8);
    click(&mut harness, "Remove Space");
    assert!(!is_playing(&harness));
    press(&mut harness, Modifiers::NONE, Key::F1);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    press(&mut harness, Modifiers::NONE, Key::Space);
    assert!(!is_playing(&harness), "Space is free now");
    press(&mut harness, Modifiers::NONE, Key::F8);
    assert!(is_playing(&harness));
    let changes = &harness.state().settings().keymap.changes;
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["play"]);
}

#[test]
fn keys_of_another_command_are_only_taken_after_a_question() {
    let mut harness = workbench();
    edit(&mut harness, "Play or pause");
    click(&mut harness, "Add keys…");
    press(&mut harness, Modifiers::NONE, Key::N);
    assert!(harness.query_by_label("N is “Side panel”.").is_some());
    click(&mut harness, "Leave it");
    assert!(harness.state().settings().keymap.changes.is_empty());
    click(&mut harness, "Add keys…");
    press(&mut harness, Modifiers::NONE, Key::N);
    click(&mut harness, "Use it here");
    let keymap = &harness.state().settings().keymap;
    assert_eq!(keymap.changes["panel"], []);
    assert_eq!(keymap.changes["play"].len(), 2);
    click(&mut harness, "Reset all");
    assert!(harness.state().settings().keymap.changes.is_empty());
}

#[test]
fn a_keymap_is_pasted_into_the_sheet_and_a_wrong_one_is_refused() {
    let mut harness = workbench();
    press(&mut harness, Modifiers::NONE, Key::F1);
    let keymap = Keymap {
        preset: KeymapPreset::Blender,
        ..Keymap::default()
    };
    harness.event(Event::Paste(keymap.to_text()));
    harness.run_steps(4);
    assert_eq!(harness.state().settings().keymap, keymap);
    harness.event(Event::Paste(r#"{"sinew_keymap": 3}"#.to_owned()));
    harness.run_steps(4);
    assert!(
        harness
            .query_by_label_contains("This is no keymap of Sinew")
            .is_some()
    );
    assert_eq!(harness.state().settings().keymap, keymap);
}

#[test]
fn text_after_the_key_of_the_palette_is_searched_even_in_the_same_pass() {
    let mut harness = workbench();
    for key in [Key::K, Key::I] {
        let modifiers = if key == Key::K {
            Modifiers::COMMAND
        } else {
            Modifiers::NONE
        };
        harness.event(Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        });
    }
    harness.event(Event::Text("linear bl".to_owned()));
    harness.step();
    let tool = harness.state().tools().tool;
    assert_ne!(tool, sinew::app::actions::tools::Tool::Explain);
    harness.run_steps(3);
    press(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(
        harness.state().session().active_view().method,
        sinew::methods::MethodId::LBS
    );
}
