//! Names of keys.

use std::fmt::Write;

use egui::{Key, KeyboardShortcut, Modifiers};

/// Keys as text: "Ctrl+Shift+Z".
#[must_use]
pub fn keys_text(keys: &KeyboardShortcut) -> String {
    let Modifiers {
        alt,
        ctrl,
        shift,
        mac_cmd,
        command,
    } = keys.modifiers;
    let mut text = String::new();
    for (pressed, name) in [
        (
            command && !ctrl,
            if cfg!(target_os = "macos") {
                "Cmd"
            } else {
                "Ctrl"
            },
        ),
        (ctrl, "Ctrl"),
        (mac_cmd && !command, "Cmd"),
        (
            alt,
            if cfg!(target_os = "macos") {
                "Option"
            } else {
                "Alt"
            },
        ),
        (shift, "Shift"),
    ] {
        if pressed {
            let _ = write!(text, "{name}+");
        }
    }
    text.push_str(match keys.logical_key {
        Key::Escape => "Esc",
        Key::Minus => "-",
        Key::ArrowLeft => "Left",
        Key::ArrowRight => "Right",
        Key::ArrowUp => "Up",
        Key::ArrowDown => "Down",
        key => key.symbol_or_name(),
    });
    text
}

pub(super) const DIGITS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];
