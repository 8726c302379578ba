//! Keyboard input of the timeline. Shortcuts that need only a press are in the shortcut table, as
//! [`TimelineAction`]s; arrows and Delete are shared with other widgets and are read here.

use crate::app::actions::TimelineAction;
use egui::{Context, Key, Modifiers};

use super::transport::{scrub, set_key, step};
use super::{TimelineState, TimelineView, feet, menus, ruler};
use crate::app::actions::Actions;
use crate::app::shortcuts::Bindings;
use crate::rig::Travel;
use crate::session::{Command, CurveEdit, KeysCommand};

/// Applies an action.
pub fn carry_out(
    action: TimelineAction,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let near = 0.5 / view.fps();
    let times = || {
        view.take()
            .map(|(_, take)| take.key_times())
            .unwrap_or_default()
    };
    let mut raise = |command| actions.once(Command::Keys(command));
    match action {
        TimelineAction::SetKey => set_key(view, actions),
        TimelineAction::PreviousKey => {
            if let Some(before) = times()
                .into_iter()
                .rev()
                .find(|time| *time < view.time_secs - near)
            {
                scrub(view, before, actions);
            }
        }
        TimelineAction::NextKey => {
            if let Some(next) = times()
                .into_iter()
                .find(|time| *time > view.time_secs + near)
            {
                scrub(view, next, actions);
            }
        }
        TimelineAction::Record if view.recording_secs.is_some() => {
            raise(KeysCommand::StopRecording);
        }
        TimelineAction::Record => raise(KeysCommand::StartRecording),
        TimelineAction::AutoKey => raise(KeysCommand::SetAutoKey(!view.auto_key)),
        TimelineAction::Fold => state.open = !state.open,
        TimelineAction::Curves => {
            state.graph.shown = !(state.open && state.graph.shown);
            state.open = true;
        }
        TimelineAction::SmoothKeys => {
            if let Some(clip) = view.clip {
                raise(menus::smoothed(clip, &state.selected));
            }
        }
        TimelineAction::CloseLoop => edit_loop(view, CurveEdit::CloseLoop(Travel::Kept), actions),
        TimelineAction::CloseLoopInPlace => {
            edit_loop(view, CurveEdit::CloseLoop(Travel::InPlace), actions);
        }
        TimelineAction::RepeatClip => edit_loop(view, CurveEdit::Repeat { times: 2 }, actions),
        TimelineAction::NewClip => raise(KeysCommand::NewClip {
            duration_secs: super::transport::NEW_SECS,
        }),
        TimelineAction::PlantFeet | TimelineAction::PlantStanding | TimelineAction::AboveGround => {
            feet::carry_out(action, view, actions);
        }
        TimelineAction::KeepPose => raise(KeysCommand::AddPose),
        // The workbench opens the dialogs.
        TimelineAction::LoadPosesDialog | TimelineAction::SavePosesDialog => {}
        TimelineAction::CopyClip => {
            if let Some(clip) = view.clip {
                raise(KeysCommand::Duplicate { clip });
            }
        }
    }
}

/// Changes the curves of the clip shown.
fn edit_loop(view: &TimelineView<'_>, edit: CurveEdit, actions: &mut Actions) {
    if let Some(clip) = view.clip {
        actions.once(Command::Keys(KeysCommand::Curve {
            clip,
            edit,
            from: None,
        }));
    }
}

/// Consumes the keys handled here, unless text is being edited or a widget uses the arrows.
pub fn keyboard(
    ctx: &Context,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    if ctx.text_edit_focused() || view.skeleton.is_none() || view.recording_secs.is_some() {
        return;
    }
    let hovered = state.hovered;
    let pressed = |modifiers: Modifiers, key: Key| {
        ctx.input_mut(|input| input.count_and_consume_key(modifiers, key))
    };
    let bindings = Bindings::get(ctx);
    let asked = |id: &str| ctx.input_mut(|input| bindings.presses(input, id));
    if hovered
        && !state.selected.is_empty()
        && asked("keys.delete") > 0
        && let Some((clip, _)) = view.take()
    {
        actions.once(Command::Keys(KeysCommand::DeleteKeys {
            clip,
            keys: std::mem::take(&mut state.selected),
        }));
    }
    // A focused widget may use the arrows: a slider, a list.
    let free = ctx.memory(|memory| memory.focused().is_none());
    if !free || view.clip.is_none() {
        return;
    }
    let [from, to] = ruler::range(view);
    if asked("range.start") > 0 || (hovered && pressed(Modifiers::NONE, Key::Home) > 0) {
        scrub(view, from, actions);
    }
    if asked("range.end") > 0 || (hovered && pressed(Modifiers::NONE, Key::End) > 0) {
        scrub(view, to, actions);
    }
    // Presses collected during a slow frame are applied as one step.
    let steps = asked("frame.next") as f64 - asked("frame.previous") as f64;
    if steps != 0.0 {
        step(view, steps, actions);
    }
}
