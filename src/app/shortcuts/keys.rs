//! Reads keys, and names them.

use std::fmt::Write;

use egui::{Context, Key, KeyboardShortcut, Modifiers};

use super::table::ALL;
use super::{Bindings, ShortcutContext, Trigger};
use crate::app::actions::Actions;

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

/// Consumes shortcuts from the input and pushes their actions. While text is typed, only those marked for it.
pub fn read(ctx: &Context, now: &ShortcutContext<'_>, actions: &mut Actions) {
    let typing = ctx.text_edit_focused();
    // An open menu handles Escape itself.
    let menu_open = egui::Popup::is_any_open(ctx);
    let bindings = Bindings::get(ctx);
    // A focused widget may use the arrows: a slider, a list.
    let focused = ctx.memory(|memory| memory.focused().is_some());
    ctx.input_mut(|input| {
        for (shortcut, keys) in bindings.rows() {
            let asleep = typing && !shortcut.while_typing
                || menu_open && keys.logical_key == Key::Escape
                || focused && is_arrow(keys.logical_key);
            let Trigger::For(action) = shortcut.trigger else {
                continue;
            };
            if asleep || !now.allows(shortcut) {
                continue;
            }
            let presses = input.count_and_consume_key(keys.modifiers, keys.logical_key);
            for _ in 0..if shortcut.repeats {
                presses
            } else {
                presses.min(1)
            } {
                actions.push(action());
            }
            // What is typed after it in the same pass is for its search.
            if presses > 0 && shortcut.id == "palette" {
                return;
            }
        }
        for shortcut in ALL.iter().filter(|_| !typing) {
            let Trigger::ForDigit(action) = shortcut.trigger else {
                continue;
            };
            for (digit, key) in DIGITS.into_iter().enumerate() {
                if digit < now.clips && input.consume_key(Modifiers::NONE, key) {
                    actions.push(action(digit));
                }
            }
        }
    });
}

fn is_arrow(key: Key) -> bool {
    matches!(
        key,
        Key::ArrowUp | Key::ArrowDown | Key::ArrowLeft | Key::ArrowRight
    )
}
