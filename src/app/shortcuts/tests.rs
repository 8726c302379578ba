//! The table as a whole.

use super::keys::DIGITS;
use super::*;

#[test]
fn keys_and_ids_are_unique() {
    for (index, a) in ALL.iter().enumerate() {
        for b in &ALL[index + 1..] {
            assert_ne!(a.id, b.id);
            for keys in a.keys.iter().flatten().filter(|_| a.mode.overlaps(b.mode)) {
                let clashes = b.keys.iter().flatten().any(|other| keys == other);
                assert!(
                    !clashes,
                    "{} and {} both want {}",
                    a.id,
                    b.id,
                    keys_text(keys)
                );
            }
            let digits = |shortcut: &Shortcut| matches!(shortcut.trigger, Trigger::ForDigit(_));
            let bare_digit = |shortcut: &Shortcut| {
                shortcut
                    .keys
                    .iter()
                    .flatten()
                    .any(|keys| keys.modifiers.is_none() && DIGITS.contains(&keys.logical_key))
            };
            let clashes =
                digits(a) && bare_digit(b) || digits(b) && bare_digit(a) || digits(a) && digits(b);
            assert!(
                !(clashes && a.mode.overlaps(b.mode)),
                "{} and {} both want digits",
                a.id,
                b.id
            );
        }
    }
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
    let text = |id: &str| find(id).map(Shortcut::all_keys_text).unwrap_or_default();
    assert_eq!(text("redo"), "Ctrl+Shift+Z or Ctrl+Y");
    assert_eq!(text("clip"), "1 – 9");
    assert_eq!(text("escape"), "Esc");
}
