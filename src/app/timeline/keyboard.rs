//! Keys of the keyboard for keys of the timeline.

use egui::{Context, Key, Modifiers};

use super::transport::{scrub, set_key, step};
use super::{TimelineState, TimelineView, ruler};
use crate::app::actions::Actions;
use crate::session::{Command, KeysCommand};

/// Takes the timeline's shortcuts out of the input, unless somebody types or a widget has the arrows.
pub fn keyboard(ctx: &Context, view: &TimelineView<'_>, state: &mut TimelineState, actions: &mut Actions) {
    if ctx.text_edit_focused() || view.skeleton.is_none() || view.recording_secs.is_some() {
        return;
    }
    let hovered = state.hovered;
    let free = ctx.memory(|memory| memory.focused().is_none());
    let pressed = |modifiers: Modifiers, key: Key| ctx.input_mut(|input| input.count_and_consume_key(modifiers, key));
    if pressed(Modifiers::NONE, Key::K) > 0 {
        set_key(view, actions);
    }
    if hovered
        && !state.selected.is_empty()
        && (pressed(Modifiers::NONE, Key::Delete) > 0 || pressed(Modifiers::NONE, Key::Backspace) > 0)
        && let Some((clip, _)) = view.take()
    {
        actions.once(Command::Keys(KeysCommand::DeleteKeys { clip, keys: std::mem::take(&mut state.selected) }));
    }
    if !free || view.clip.is_none() {
        return;
    }
    let [from, to] = ruler::range(view);
    if pressed(Modifiers::COMMAND, Key::ArrowLeft) > 0 || (hovered && pressed(Modifiers::NONE, Key::Home) > 0) {
        scrub(view, from, actions);
    }
    if pressed(Modifiers::COMMAND, Key::ArrowRight) > 0 || (hovered && pressed(Modifiers::NONE, Key::End) > 0) {
        scrub(view, to, actions);
    }
    // What a slow frame has collected is one step of so many frames.
    let steps = pressed(Modifiers::NONE, Key::ArrowRight) as f64 - pressed(Modifiers::NONE, Key::ArrowLeft) as f64;
    if steps != 0.0 {
        step(view, steps, actions);
    }
    let Some((_, take)) = view.take() else { return };
    let near = 0.5 / view.fps();
    if pressed(Modifiers::NONE, Key::Period) > 0
        && let Some(next) = take.key_times().into_iter().find(|time| *time > view.time_secs + near)
    {
        scrub(view, next, actions);
    }
    if pressed(Modifiers::NONE, Key::Comma) > 0
        && let Some(last) = take.key_times().into_iter().rev().find(|time| *time < view.time_secs - near)
    {
        scrub(view, last, actions);
    }
}
