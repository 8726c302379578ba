//! Keys of the keyboard for keys of the timeline. Those that need nothing but a press are rows of the table of shortcuts, which ask for
//! a [`TimelineAction`]; arrows and Delete belong to other widgets, too, and are read here.

use egui::{Context, Key, Modifiers};

use super::transport::{scrub, set_key, step};
use super::{TimelineState, TimelineView, ruler};
use crate::app::actions::Actions;
use crate::session::{Command, KeysCommand};

/// What menus, palette and keyboard can ask of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineAction {
    /// Keys the pose shown.
    SetKey,
    /// To the key before the playhead.
    PreviousKey,
    /// To the key after it.
    NextKey,
    /// Starts recording a take, or ends it.
    Record,
    /// Turns auto-key on or off.
    AutoKey,
    /// Shows or hides ruler and keys.
    Fold,
    /// A new clip with the pose shown as its first key.
    NewClip,
    /// An editable copy of the clip shown.
    CopyClip,
    /// Puts the pose shown into the library.
    KeepPose,
    /// Asks for poses to read into the library.
    LoadPosesDialog,
    /// Asks where to write the library.
    SavePosesDialog,
}

/// Carries out what was asked for.
pub fn carry_out(action: TimelineAction, view: &TimelineView<'_>, state: &mut TimelineState, actions: &mut Actions) {
    let near = 0.5 / view.fps();
    let times = || view.take().map(|(_, take)| take.key_times()).unwrap_or_default();
    let mut raise = |command| actions.once(Command::Keys(command));
    match action {
        TimelineAction::SetKey => set_key(view, actions),
        TimelineAction::PreviousKey => {
            if let Some(before) = times().into_iter().rev().find(|time| *time < view.time_secs - near) {
                scrub(view, before, actions);
            }
        }
        TimelineAction::NextKey => {
            if let Some(next) = times().into_iter().find(|time| *time > view.time_secs + near) {
                scrub(view, next, actions);
            }
        }
        TimelineAction::Record if view.recording_secs.is_some() => raise(KeysCommand::StopRecording),
        TimelineAction::Record => raise(KeysCommand::StartRecording),
        TimelineAction::AutoKey => raise(KeysCommand::SetAutoKey(!view.auto_key)),
        TimelineAction::Fold => state.open = !state.open,
        TimelineAction::NewClip => raise(KeysCommand::NewClip { duration_secs: super::transport::NEW_SECS }),
        TimelineAction::KeepPose => raise(KeysCommand::AddPose),
        // The workbench has the dialogs.
        TimelineAction::LoadPosesDialog | TimelineAction::SavePosesDialog => {}
        TimelineAction::CopyClip => {
            if let Some(clip) = view.clip {
                raise(KeysCommand::Duplicate { clip });
            }
        }
    }
}

/// Takes the keys out of the input that are read here, unless somebody types or a widget has the arrows.
pub fn keyboard(ctx: &Context, view: &TimelineView<'_>, state: &mut TimelineState, actions: &mut Actions) {
    if ctx.text_edit_focused() || view.skeleton.is_none() || view.recording_secs.is_some() {
        return;
    }
    let hovered = state.hovered;
    let pressed = |modifiers: Modifiers, key: Key| ctx.input_mut(|input| input.count_and_consume_key(modifiers, key));
    if hovered
        && !state.selected.is_empty()
        && (pressed(Modifiers::NONE, Key::Delete) > 0 || pressed(Modifiers::NONE, Key::Backspace) > 0)
        && let Some((clip, _)) = view.take()
    {
        actions.once(Command::Keys(KeysCommand::DeleteKeys { clip, keys: std::mem::take(&mut state.selected) }));
    }
    // Whatever has the focus may want the arrows: a slider, a list.
    let free = ctx.memory(|memory| memory.focused().is_none());
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
}
