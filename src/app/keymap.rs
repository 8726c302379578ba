//! The user's keys: a preset and changes to it, as they are stored in the settings and exchanged as text.
//!
//! What commands there are is not known here: [`crate::app::shortcuts::Bindings`] combines a keymap with the table of shortcuts.

use std::collections::BTreeMap;

use egui::{Key, KeyboardShortcut, Modifiers};
use serde::{Deserialize, Serialize};

/// The program whose keys are the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeymapPreset {
    /// Sinew's own keys.
    #[default]
    Sinew,
    /// Blender's keys.
    Blender,
    /// Maya's keys.
    Maya,
}

impl KeymapPreset {
    /// All presets, in menu order.
    pub const ALL: [Self; 3] = [Self::Sinew, Self::Blender, Self::Maya];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Sinew => "Sinew",
            Self::Blender => "Blender",
            Self::Maya => "Maya",
        }
    }
}

/// A preset, and the commands whose keys differ from it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Keymap {
    /// The base.
    pub preset: KeymapPreset,
    /// All keys of each changed command, by its id; none for a command without keys.
    pub changes: BTreeMap<String, Vec<Keys>>,
}

impl Keymap {
    /// As text for other machines and people.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Names and lists of names can always be written.
        serde_json::to_string_pretty(&Exchanged { keymap: self }).unwrap_or_default()
    }

    /// Reads a text of [`Keymap::to_text`].
    ///
    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let Received { keymap } = serde_json::from_str(text)
            .map_err(|error| format!("This is no keymap of Sinew: {error}."))?;
        Ok(keymap)
    }
}

#[derive(Serialize)]
struct Exchanged<'a> {
    #[serde(rename = "sinew_keymap")]
    keymap: &'a Keymap,
}

#[derive(Deserialize)]
struct Received {
    #[serde(rename = "sinew_keymap")]
    keymap: Keymap,
}

/// A key with modifiers, stored as text: `Ctrl+Shift+Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Keys(pub KeyboardShortcut);

impl Keys {
    /// The keys that are held in an event. Ctrl and the Command key of a Mac count as the same.
    #[must_use]
    pub fn pressed(modifiers: Modifiers, key: Key) -> Self {
        let held = [
            (modifiers.command || modifiers.ctrl, Modifiers::COMMAND),
            (modifiers.alt, Modifiers::ALT),
            (modifiers.shift, Modifiers::SHIFT),
        ];
        let modifiers = held
            .into_iter()
            .filter(|(is_held, _)| *is_held)
            .fold(Modifiers::NONE, |all, (_, modifier)| all.plus(modifier));
        Self(KeyboardShortcut::new(modifiers, key))
    }
}

impl From<Keys> for String {
    fn from(Keys(keys): Keys) -> Self {
        let Modifiers {
            alt,
            ctrl,
            shift,
            command,
            ..
        } = keys.modifiers;
        let mut text = Self::new();
        for (held, name) in [(command || ctrl, "Ctrl+"), (alt, "Alt+"), (shift, "Shift+")] {
            if held {
                text.push_str(name);
            }
        }
        text + keys.logical_key.name()
    }
}

impl TryFrom<String> for Keys {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut modifiers = Modifiers::NONE;
        let (held, name) = text.rsplit_once('+').unwrap_or(("", &text));
        for modifier in held.split('+').filter(|modifier| !modifier.is_empty()) {
            modifiers = modifiers.plus(match modifier {
                "Ctrl" | "Cmd" => Modifiers::COMMAND,
                "Alt" | "Option" => Modifiers::ALT,
                "Shift" => Modifiers::SHIFT,
                _ => return Err(format!("“{modifier}” in “{text}” is no Ctrl, Alt or Shift")),
            });
        }
        let key = Key::from_name(name)
            .ok_or_else(|| format!("“{name}” in “{text}” is no name of a key"))?;
        Ok(Self(KeyboardShortcut::new(modifiers, key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_written_and_read_again() {
        for &key in Key::ALL {
            let keys = Keys::pressed(Modifiers::CTRL.plus(Modifiers::SHIFT), key);
            let text = String::from(keys);
            assert!(text.starts_with("Ctrl+Shift+"), "{text}");
            assert_eq!(Keys::try_from(text.clone()), Ok(keys), "{text}");
        }
    }

    #[test]
    fn keymaps_are_exchanged_as_text_and_others_are_refused() {
        let mut keymap = Keymap {
            preset: KeymapPreset::Maya,
            ..Keymap::default()
        };
        let keys = Keys::pressed(Modifiers::ALT, Key::V);
        keymap.changes.insert("play".into(), vec![keys]);
        keymap.changes.insert("pose.reset".into(), Vec::new());
        assert_eq!(Keymap::from_text(&keymap.to_text()), Ok(keymap));
        for text in [
            "",
            "{}",
            r#"{"sinew_keymap": {"preset": "emacs"}}"#,
            r#"{"sinew_keymap": {"changes": {"play": ["Hyper+V"]}}}"#,
            r#"{"sinew_keymap": {"changes": {"play": ["Alt+Vee"]}}}"#,
        ] {
            let error = Keymap::from_text(text).expect_err("it is refused");
            assert!(error.starts_with("This is no keymap of Sinew"), "{error}");
        }
    }
}
