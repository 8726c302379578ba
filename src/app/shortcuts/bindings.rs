//! The keys of every command: those of the table, of a preset, and the user's own.

use std::sync::{Arc, LazyLock};

use egui::{Context, Id, InputState, Key, KeyboardShortcut, Modifiers};

use super::keys::{DIGITS, keys_text};
use super::{ALL, Shortcut, Trigger, presets};
use crate::app::keymap::{Keymap, KeymapPreset, Keys};

/// The keys of every row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bindings {
    /// For each row of the table, the preferred keys first.
    keys: Vec<Vec<KeyboardShortcut>>,
    /// Rows by index, each with one of its keys; those with more modifiers first, because Ctrl+Z also matches Ctrl+Shift+Z.
    by_modifiers: Vec<(usize, KeyboardShortcut)>,
}

/// Those of the table.
static DEFAULT: LazyLock<Arc<Bindings>> =
    LazyLock::new(|| Arc::new(Bindings::of(&Keymap::default())));

impl Bindings {
    /// Those of a keymap. Changes of commands that do not exist are ignored.
    #[must_use]
    pub fn of(keymap: &Keymap) -> Self {
        let keys: Vec<Vec<KeyboardShortcut>> = ALL
            .iter()
            .map(|row| {
                let changed = keymap.changes.get(row.id).filter(|_| row.is_changeable());
                changed.map_or_else(
                    || preset_keys(keymap.preset, row),
                    |changed| changed.iter().map(|Keys(keys)| *keys).collect(),
                )
            })
            .collect();
        let mut by_modifiers: Vec<(usize, KeyboardShortcut)> = keys
            .iter()
            .enumerate()
            .flat_map(|(index, keys)| keys.iter().map(move |keys| (index, *keys)))
            .collect();
        let count =
            |m: Modifiers| u8::from(m.alt) + u8::from(m.ctrl || m.command) + u8::from(m.shift);
        by_modifiers.sort_by_key(|(_, keys)| std::cmp::Reverse(count(keys.modifiers)));
        Self { keys, by_modifiers }
    }

    /// Those of a window; those of the table where none were set.
    #[must_use]
    pub fn get(ctx: &Context) -> Arc<Self> {
        ctx.data(|data| data.get_temp(id()))
            .unwrap_or_else(|| Arc::clone(&DEFAULT))
    }

    /// Sets those of a window.
    pub fn install(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(id(), Arc::new(self)));
    }

    /// The keys of a row of the table, the preferred ones first.
    #[must_use]
    pub fn keys(&self, shortcut: &Shortcut) -> &[KeyboardShortcut] {
        let index = ALL.iter().position(|row| row.id == shortcut.id);
        index
            .and_then(|index| self.keys.get(index))
            .map_or(&[], Vec::as_slice)
    }

    /// The rows with their keys; those with more modifiers first.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static Shortcut, KeyboardShortcut)> + '_ {
        self.by_modifiers
            .iter()
            .filter_map(|&(index, keys)| Some((ALL.get(index)?, keys)))
    }

    /// Consumes the presses of the keys of the row with this id, and counts them.
    pub fn presses(&self, input: &mut InputState, id: &str) -> usize {
        let Some(shortcut) = super::find(id) else {
            debug_assert!(false, "there is no shortcut \"{id}\"");
            return 0;
        };
        self.keys(shortcut)
            .iter()
            .map(|keys| input.count_and_consume_key(keys.modifiers, keys.logical_key))
            .sum()
    }

    /// Whether a key of the row with this id is held.
    #[must_use]
    pub fn is_held(&self, input: &InputState, id: &str) -> bool {
        super::find(id).is_some_and(|shortcut| {
            self.keys(shortcut).iter().any(|keys| {
                input.key_down(keys.logical_key) && input.modifiers.matches_exact(keys.modifiers)
            })
        })
    }

    /// The preferred keys of a row as text: "Ctrl+Shift+Z"; empty if there are none.
    #[must_use]
    pub fn text(&self, shortcut: &Shortcut) -> String {
        if matches!(shortcut.trigger, Trigger::ForDigit(_)) {
            return "1 – 9".to_owned();
        }
        self.keys(shortcut)
            .first()
            .map(keys_text)
            .unwrap_or_default()
    }

    /// What the preferred keys of the row with this id do, for hints: "Space plays"; nothing if it has no keys.
    #[must_use]
    pub fn hint(&self, id: &str, what: &str) -> Option<String> {
        let keys = super::find(id).map(|shortcut| self.text(shortcut))?;
        (!keys.is_empty()).then(|| format!("{keys} {what}"))
    }

    /// All keys of a row as text: "Ctrl+Shift+Z or Ctrl+Y".
    #[must_use]
    pub fn all_text(&self, shortcut: &Shortcut) -> String {
        if matches!(shortcut.trigger, Trigger::ForDigit(_)) {
            return self.text(shortcut);
        }
        let texts: Vec<String> = self.keys(shortcut).iter().map(keys_text).collect();
        texts.join(" or ")
    }

    /// Other commands that have these keys at the same time as a row.
    #[must_use]
    pub fn rivals(&self, shortcut: &Shortcut, keys: KeyboardShortcut) -> Vec<&'static Shortcut> {
        let is_digit = keys.modifiers.is_none() && DIGITS.contains(&keys.logical_key);
        ALL.iter()
            .filter(|row| row.id != shortcut.id && row.mode.overlaps(shortcut.mode))
            .filter(|row| {
                self.keys(row).contains(&keys)
                    || is_digit && matches!(row.trigger, Trigger::ForDigit(_))
            })
            .collect()
    }
}

fn id() -> Id {
    Id::unique("key bindings")
}

/// The keys of a row in a preset.
#[must_use]
pub fn preset_keys(preset: KeymapPreset, shortcut: &Shortcut) -> Vec<KeyboardShortcut> {
    let rows = presets::rows(preset);
    rows.iter().find(|(id, _)| *id == shortcut.id).map_or_else(
        || shortcut.keys.iter().flatten().copied().collect(),
        |(_, keys)| keys.to_vec(),
    )
}

/// Gives a command keys in a keymap; without a difference from the preset the change is dropped.
pub fn set_keys(keymap: &mut Keymap, shortcut: &Shortcut, keys: Vec<KeyboardShortcut>) {
    if !shortcut.is_changeable() {
        return;
    }
    if keys == preset_keys(keymap.preset, shortcut) {
        keymap.changes.remove(shortcut.id);
    } else {
        let keys = keys.into_iter().map(Keys).collect();
        keymap.changes.insert(shortcut.id.to_owned(), keys);
    }
}

/// Whether a key alone, like Shift, Escape or Tab in a text, can't be given to a command.
#[must_use]
pub fn is_reserved(keys: KeyboardShortcut) -> bool {
    keys.logical_key == Key::Escape
}
