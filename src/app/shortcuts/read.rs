//! Reads the keys of commands.

use egui::{Context, Key, Modifiers};

use super::bindings::Bindings;
use super::keys::DIGITS;
use super::table::ALL;
use super::{ShortcutContext, Trigger};
use crate::app::actions::Actions;

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
