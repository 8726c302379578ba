//! The table as a whole.

use super::*;
use crate::app::keymap::{Keymap, KeymapPreset};

#[test]
fn keys_and_ids_are_unique_in_every_preset() {
    for (index, row) in ALL.iter().enumerate() {
        assert!(ALL[index + 1..].iter().all(|other| other.id != row.id));
    }
    for preset in KeymapPreset::ALL {
        let bindings = Bindings::of(&Keymap {
            preset,
            ..Keymap::default()
        });
        for row in ALL {
            for keys in bindings.keys(row) {
                let rivals = bindings.rivals(row, *keys);
                let rivals: Vec<_> = rivals.iter().map(|rival| rival.id).collect();
                let (id, keys) = (row.id, keys_text(keys));
                assert!(
                    rivals.is_empty(),
                    "{preset:?}: {id} and {rivals:?} want {keys}"
                );
            }
        }
        for (id, _) in presets::rows(preset) {
            assert!(find(id).is_some_and(Shortcut::is_changeable), "{id}");
        }
    }
}

#[test]
fn the_user_changes_keys_and_gets_those_of_the_preset_back() {
    let play = find("play").unwrap();
    let mut keymap = Keymap {
        preset: KeymapPreset::Maya,
        ..Keymap::default()
    };
    assert_eq!(Bindings::of(&keymap).text(play), "Alt+V");
    let own = KeyboardShortcut::new(Modifiers::NONE, Key::F8);
    set_keys(&mut keymap, play, vec![own]);
    assert_eq!(Bindings::of(&keymap).text(play), "F8");
    set_keys(&mut keymap, play, preset_keys(KeymapPreset::Maya, play));
    assert!(keymap.changes.is_empty());
    let clip = find("clip").unwrap();
    set_keys(&mut keymap, clip, vec![own]);
    assert!(keymap.changes.is_empty(), "digits are fixed");
    let digit = KeyboardShortcut::new(Modifiers::NONE, Key::Num3);
    let rivals = Bindings::of(&keymap).rivals(play, digit);
    assert!(rivals.iter().any(|rival| rival.id == "clip"));
}

#[test]
fn every_row_has_a_title_and_one_sentence() {
    for shortcut in ALL {
        assert!(
            shortcut
                .title
                .chars()
                .next()
                .is_some_and(char::is_uppercase),
            "{}",
            shortcut.id
        );
        let sentence = shortcut.sentence;
        assert!(
            sentence.len() > 8 && !sentence.ends_with('.') && sentence.len() < 110,
            "{}: {sentence}",
            shortcut.id
        );
        assert_ne!(sentence, shortcut.title);
    }
}

#[test]
fn keys_are_named_as_on_a_keyboard() {
    let bindings = Bindings::of(&Keymap::default());
    let text = |id: &str| {
        find(id)
            .map(|row| bindings.all_text(row))
            .unwrap_or_default()
    };
    assert_eq!(text("redo"), "Ctrl+Shift+Z or Ctrl+Y");
    assert_eq!(text("clip"), "1 – 9");
    assert_eq!(text("escape"), "Esc");
}
