//! Pointer input on ruler and rows: scrub, set the range, select and move keys.

use std::sync::Arc;

use egui::{PointerButton, Pos2, Rect, Response, Ui, Vec2, pos2};

use super::axis::TimeAxis;
use super::feet::{self, PlantDrag};
use super::rows::RowLayout;
use super::{TimelineState, TimelineView, ruler, strip};
use crate::app::actions::Actions;
use crate::rig::{KeyRef, KeyedClip};
use crate::session::{Command, Gesture, KeysCommand};

/// The current drag.
#[derive(Debug, Clone)]
pub(super) enum TimelineDrag {
    /// Moves the clock.
    Scrub,
    /// Moves an end of the range: the start, or not.
    Range { start: bool },
    /// Selects keys by a rectangle, from a time and an unscrolled height; added to the previous
    /// selection.
    Frame {
        from_secs: f64,
        from_y: f32,
        kept: Vec<KeyRef>,
    },
    /// Moves an end of the interval of a planted foot.
    Plant(PlantDrag),
    /// Moves keys, or scales their times about the playhead.
    Keys(KeyDrag),
}

/// A drag of keys.
#[derive(Debug, Clone)]
pub(super) struct KeyDrag {
    clip: usize,
    /// The clip before the drag.
    from: Arc<KeyedClip>,
    keys: Vec<KeyRef>,
    grabbed_secs: f64,
    /// Whether times are scaled about the playhead.
    stretch: bool,
    /// The last offset or factor that was sent.
    sent: Option<f64>,
}

impl TimelineDrag {
    /// The selection rectangle, in unscrolled rows.
    pub(super) fn frame(&self, pointer: Pos2, layout: &RowLayout, axis: &TimeAxis) -> Option<Rect> {
        let Self::Frame {
            from_secs, from_y, ..
        } = self
        else {
            return None;
        };
        // The first row covers scrolled ones: the rectangle ends at the topmost visible row.
        let in_first = |y: f32| y < layout.below_first().top();
        let to_y = if layout.scroll > 0.0 && !in_first(*from_y) {
            pointer.y.max(layout.below_first().top())
        } else {
            pointer.y
        };
        Some(Rect::from_two_pos(
            pos2(axis.x(*from_secs), *from_y),
            pos2(pointer.x, layout.unmoved(to_y)),
        ))
    }

    /// Reverts the drag.
    pub(super) fn cancel(self, selected: &mut Vec<KeyRef>, actions: &mut Actions) {
        match self {
            Self::Keys(drag) if drag.sent.is_some() => {
                let command = drag.moved(0.0);
                actions.send(Command::Keys(command), Gesture::Released);
                *selected = drag.keys;
            }
            Self::Frame { kept, .. } => *selected = kept,
            Self::Plant(drag) => drag.cancel(actions),
            _ => {}
        }
    }
}

/// Handles the pointer.
pub(super) fn interact(
    ui: &Ui,
    response: &Response,
    layout: &RowLayout,
    ruler_rect: Rect,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let Some(pointer) = ui.ctx().pointer_latest_pos() else {
        return;
    };
    let (pressed, down, shift, alt) = ui.input(|input| {
        let modifiers = input.modifiers;
        (
            input.pointer.button_pressed(PointerButton::Primary),
            input.pointer.primary_down(),
            modifiers.shift || modifiers.command,
            modifiers.alt,
        )
    });
    let elsewhere = layout.bar().is_some_and(|bar| bar.contains(pointer))
        || (state.graph.shown && !ruler_rect.contains(pointer));
    if pressed && response.contains_pointer() && !elsewhere && view.clip.is_some() {
        state.drag = begin(pointer, layout, ruler_rect, view, state, shift, alt);
    }
    if response.double_clicked() && ruler_rect.contains(pointer) {
        state.axis.fit(view.duration_secs());
    }
    let Some(mut drag) = state.drag.take() else {
        return;
    };
    if matches!(drag, TimelineDrag::Frame { .. }) {
        follow_frame(ui, pointer, layout, view, state);
    }
    continue_drag(&mut drag, pointer, layout, view, state, actions);
    if down {
        state.drag = Some(drag);
    } else {
        end(&drag, view, actions);
    }
}

fn begin(
    pointer: Pos2,
    layout: &RowLayout,
    ruler_rect: Rect,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    shift: bool,
    alt: bool,
) -> Option<TimelineDrag> {
    if ruler_rect.contains(pointer) {
        return Some(
            range_end_at(pointer, ruler_rect, view, state)
                .map_or(TimelineDrag::Scrub, |start| TimelineDrag::Range { start }),
        );
    }
    let Some(mark) = layout.mark_at(pointer, view, state) else {
        if let Some(drag) = PlantDrag::at(pointer, layout, view, state) {
            return Some(TimelineDrag::Plant(drag));
        }
        let kept = if shift {
            state.selected.clone()
        } else {
            Vec::new()
        };
        return Some(TimelineDrag::Frame {
            from_secs: state.axis.secs(pointer.x),
            from_y: layout.unmoved(pointer.y),
            kept,
        });
    };
    let keys = layout.keys_of(&mark, view);
    let selected = keys.iter().all(|key| state.selected.contains(key));
    match (shift, selected) {
        (true, true) => {
            state.selected.retain(|key| !keys.contains(key));
            return None;
        }
        (true, false) => state.selected.extend(keys),
        (false, true) => {}
        (false, false) => state.selected = keys,
    }
    let (clip, take) = view.take()?;
    Some(TimelineDrag::Keys(KeyDrag {
        clip,
        from: take.clone(),
        keys: state.selected.clone(),
        grabbed_secs: mark.time_secs,
        stretch: alt,
        sent: None,
    }))
}

/// The end of the range under the pointer, if any.
fn range_end_at(
    pointer: Pos2,
    ruler_rect: Rect,
    view: &TimelineView<'_>,
    state: &TimelineState,
) -> Option<bool> {
    if pointer.y < ruler_rect.bottom() - 2.0 * ruler::HANDLE - 1.0 {
        return None;
    }
    if (state.axis.x(view.time_secs) - pointer.x).abs() <= 3.0 {
        return None; // The playhead stands over it.
    }
    let [from, to] = ruler::range(view).map(|secs| state.axis.x(secs));
    // The flags point inwards.
    let reach = 1.6 * ruler::HANDLE;
    if (from - 3.0..=from + reach).contains(&pointer.x) {
        Some(true)
    } else if (to - reach..=to + 3.0).contains(&pointer.x) {
        Some(false)
    } else {
        None
    }
}

/// Scroll speed per point outside the panel, and its maximum.
const PULL: f32 = 10.0;
const FASTEST: f32 = 600.0;

/// A rectangle beyond an edge scrolls.
fn follow_frame(
    ui: &Ui,
    pointer: Pos2,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
) {
    let room = layout.below_first();
    let outside = pointer - room.clamp(pointer);
    if outside == Vec2::ZERO {
        return;
    }
    let step = |outside: f32| {
        (outside * PULL).clamp(-FASTEST, FASTEST) * ui.input(|input| input.stable_dt).min(0.1)
    };
    let before = (state.scroll, state.axis);
    state.scroll = (state.scroll + step(outside.y)).clamp(0.0, layout.farthest());
    state.axis.pan(-step(outside.x), view.duration_secs());
    if before != (state.scroll, state.axis) {
        ui.ctx().request_repaint();
    }
}

fn continue_drag(
    drag: &mut TimelineDrag,
    pointer: Pos2,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let snapped = view.snapped(state.axis.secs(pointer.x));
    match drag {
        TimelineDrag::Scrub => scrub(snapped, view, actions),
        TimelineDrag::Plant(drag) => drag.move_to(snapped, view, actions),
        TimelineDrag::Range { start } => set_range(*start, snapped, view, actions),
        TimelineDrag::Frame { .. } => {
            let Some(area) = drag.frame(pointer, layout, &state.axis) else {
                return;
            };
            let TimelineDrag::Frame { kept, .. } = drag else {
                return;
            };
            let mut keys = layout.keys_in(area, view, state);
            keys.extend(
                kept.iter()
                    .filter(|key| !keys.contains(key))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            state.selected = keys;
        }
        TimelineDrag::Keys(keys) => {
            let to = (state.axis.secs(pointer.x) * view.fps()).round() / view.fps();
            let moved = if keys.stretch {
                keys.stretch_to(to, view, actions)
            } else {
                keys.move_to(to, view, actions)
            };
            if let Some(moved) = moved {
                state.selected = moved;
            }
        }
    }
}

fn scrub(time_secs: f64, view: &TimelineView<'_>, actions: &mut Actions) {
    let scrub = Command::Scrub { time_secs };
    if view.by_hand
        && let Some(clip) = view.clip
    {
        // Scrubbing shows the clip instead of the manual pose.
        actions.once(Command::SelectClip(Some(clip)));
        actions.send(scrub, Gesture::Dragging);
    } else if (time_secs - view.time_secs).abs() > 1e-9 {
        actions.send(scrub, Gesture::Dragging);
    }
}

/// Moves the start or the end of the range to a time.
fn set_range(start: bool, to_secs: f64, view: &TimelineView<'_>, actions: &mut Actions) {
    let [from, to] = ruler::range(view);
    let frame = 1.0 / view.fps();
    let wanted = if start {
        [to_secs.min(to - frame).max(0.0), to]
    } else {
        [from, to_secs.max(from + frame)]
    };
    let all = wanted[0] <= 1e-9 && wanted[1] >= view.duration_secs() - 1e-9;
    let range = (!all).then_some(wanted);
    if range != view.range_secs {
        actions.send(Command::SetRange(range), Gesture::Dragging);
    }
}

impl KeyDrag {
    fn moved(&self, by_secs: f64) -> KeysCommand {
        KeysCommand::MoveKeys {
            clip: self.clip,
            keys: self.keys.clone(),
            by_secs,
            from: Some(self.from.clone()),
        }
    }

    fn scaled(&self, pivot_secs: f64, factor: f64) -> KeysCommand {
        KeysCommand::ScaleKeys {
            clip: self.clip,
            keys: self.keys.clone(),
            pivot_secs,
            factor,
            from: Some(self.from.clone()),
        }
    }

    /// Moves the keys so that the grabbed one is at a time. Returns the moved keys if they changed.
    fn move_to(
        &mut self,
        to_secs: f64,
        view: &TimelineView<'_>,
        actions: &mut Actions,
    ) -> Option<Vec<KeyRef>> {
        let first = self
            .keys
            .iter()
            .map(|key| key.time_secs)
            .fold(f64::INFINITY, f64::min);
        let by_frames = ((to_secs - self.grabbed_secs) * view.fps()).round();
        let by_secs = (by_frames / view.fps()).max(-first);
        if self.sent == Some(by_secs) || (self.sent.is_none() && by_secs == 0.0) {
            return None;
        }
        self.sent = Some(by_secs);
        actions.send(Command::Keys(self.moved(by_secs)), Gesture::Dragging);
        let moved = self.keys.iter().map(|key| KeyRef {
            time_secs: key.time_secs + by_secs,
            ..*key
        });
        Some(moved.collect())
    }

    /// Scales the keys' times about the playhead so that the grabbed one is at a time. Returns the
    /// moved keys if they changed.
    fn stretch_to(
        &mut self,
        to_secs: f64,
        view: &TimelineView<'_>,
        actions: &mut Actions,
    ) -> Option<Vec<KeyRef>> {
        let pivot = view.time_secs;
        let factor = ((to_secs - pivot) / (self.grabbed_secs - pivot)).clamp(0.01, 100.0);
        if (self.grabbed_secs - pivot).abs() <= 1e-6
            || !factor.is_finite()
            || self.sent == Some(factor)
            || (self.sent.is_none() && (factor - 1.0).abs() <= 1e-9)
        {
            return None;
        }
        self.sent = Some(factor);
        actions.send(Command::Keys(self.scaled(pivot, factor)), Gesture::Dragging);
        let moved = self.keys.iter().map(|key| KeyRef {
            time_secs: (pivot + (key.time_secs - pivot) * factor).max(0.0),
            ..*key
        });
        Some(moved.collect())
    }
}

/// The button was released.
fn end(drag: &TimelineDrag, view: &TimelineView<'_>, actions: &mut Actions) {
    if let TimelineDrag::Plant(drag) = drag {
        drag.end(actions);
    }
    if let TimelineDrag::Keys(keys) = drag
        && let Some(sent) = keys.sent
    {
        let command = if keys.stretch {
            keys.scaled(view.time_secs, sent)
        } else {
            keys.moved(sent)
        };
        actions.send(Command::Keys(command), Gesture::Released);
    }
}

/// Hint on the pointer's action.
pub(super) fn hint(
    response: &Response,
    ruler_rect: Rect,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &TimelineState,
) -> Option<String> {
    let pointer = response.hover_pos().filter(|_| state.drag.is_none())?;
    if ruler_rect.contains(pointer) {
        let over = range_end_at(pointer, ruler_rect, view, state);
        let drags = over.map(|start| {
            format!(
                "Drag the {} of the range",
                if start { "start" } else { "end" }
            )
        });
        return drags.or_else(|| strip::hint(pointer, ruler_rect, view));
    }
    let Some(mark) = layout.mark_at(pointer, view, state) else {
        return feet::hint(pointer, layout, view, state);
    };
    let frame = (mark.time_secs * view.fps()).round();
    let ease = mark
        .ease
        .map(|ease| format!(", {}", ease.label().to_lowercase()))
        .unwrap_or_default();
    Some(format!(
        "Frame {frame}{ease}: drag moves, Alt stretches from the playhead, right click for more"
    ))
}
