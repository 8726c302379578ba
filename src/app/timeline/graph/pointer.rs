//! Pointer input on curves.

use std::sync::Arc;

use egui::{PointerButton, Pos2, Rect, Response, Ui};

use super::layout::{CurveKey, GraphLayout};
use crate::app::actions::Actions;
use crate::app::timeline::{TimelineState, TimelineView};
use crate::rig::{KeyRef, KeyedClip, Side};
use crate::session::{Command, CurveEdit, Gesture, KeysCommand};

/// Distance after which the direction of a drag is known, points.
const DECIDED: f32 = 4.0;

/// The current drag.
#[derive(Debug, Clone)]
pub(in crate::app::timeline) enum GraphDrag {
    /// Selects keys by a rectangle; added to the selection before.
    Frame { from: Pos2, kept: Vec<KeyRef> },
    /// Moves keys: up and down their values, or left and right their times, whichever the drag begins with.
    Keys {
        start: DragStart,
        keys: Vec<KeyRef>,
        pressed: Pos2,
        /// Whether times are moved; not known at first.
        in_time: Option<bool>,
        sent: Option<f64>,
    },
    /// Turns a handle.
    Handle {
        start: DragStart,
        side: Side,
        /// From the pointer to the end of the handle.
        offset: egui::Vec2,
        sent: Option<(f64, Option<Side>)>,
    },
}

/// What a drag began with.
#[derive(Debug, Clone)]
pub(in crate::app::timeline) struct DragStart {
    clip: usize,
    /// The clip before the drag.
    from: Arc<KeyedClip>,
    grabbed: CurveKey,
}

impl DragStart {
    fn send(&self, edit: CurveEdit, gesture: Gesture, actions: &mut Actions) {
        let command = KeysCommand::Curve {
            clip: self.clip,
            edit,
            from: Some(self.from.clone()),
        };
        actions.send(Command::Keys(command), gesture);
    }
}

impl GraphDrag {
    /// The selection rectangle.
    pub(super) fn frame(&self, pointer: Pos2) -> Option<Rect> {
        match self {
            Self::Frame { from, .. } => Some(Rect::from_two_pos(*from, pointer)),
            _ => None,
        }
    }

    /// Reverts the drag.
    pub(super) fn cancel(self, selected: &mut Vec<KeyRef>, actions: &mut Actions) {
        match self {
            Self::Frame { kept, .. } => *selected = kept,
            Self::Keys {
                start,
                keys,
                in_time,
                sent: Some(_),
                ..
            } => {
                send_keys(
                    &start,
                    &keys,
                    in_time == Some(true),
                    0.0,
                    Gesture::Released,
                    actions,
                );
                *selected = keys;
            }
            Self::Handle {
                start,
                sent: Some(_),
                ..
            } => {
                // No keys: the take as it was.
                start.send(CurveEdit::Flatten(Vec::new()), Gesture::Released, actions);
            }
            Self::Keys { .. } | Self::Handle { .. } => {}
        }
    }
}

/// Handles the pointer.
pub(super) fn interact(
    ui: &Ui,
    response: &Response,
    layout: &GraphLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    let Some(pointer) = ui.ctx().pointer_latest_pos() else {
        return;
    };
    let (pressed, down, add, alt) = ui.input(|input| {
        let modifiers = input.modifiers;
        (
            input.pointer.button_pressed(PointerButton::Primary),
            input.pointer.primary_down(),
            modifiers.shift || modifiers.command,
            modifiers.alt,
        )
    });
    // In a slow frame the pointer has moved on since the press.
    let origin = ui
        .input(|input| input.pointer.press_origin())
        .unwrap_or(pointer);
    if pressed && response.contains_pointer() && layout.rect.contains(origin) {
        state.graph.drag = begin(origin, layout, view, state, add);
        state.graph.kept_range = state.graph.drag.is_some().then_some(layout.range);
    }
    let Some(mut drag) = state.graph.drag.take() else {
        return;
    };
    go_on(&mut drag, pointer, alt, layout, view, state, actions);
    if down {
        state.graph.drag = Some(drag);
    } else {
        state.graph.kept_range = None;
        end(&drag, actions);
    }
}

fn begin(
    pointer: Pos2,
    layout: &GraphLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    add: bool,
) -> Option<GraphDrag> {
    let (clip, take) = view.take()?;
    let start = |grabbed: CurveKey| DragStart {
        clip,
        from: take.clone(),
        grabbed,
    };
    if let Some((key, side)) = layout.handle_at(pointer, state) {
        return Some(GraphDrag::Handle {
            start: start(key),
            side,
            offset: layout.handle(&key, side)? - pointer,
            sent: None,
        });
    }
    let Some(hit) = layout.key_at(pointer, state) else {
        let kept = if add {
            state.selected.clone()
        } else {
            Vec::new()
        };
        return Some(GraphDrag::Frame {
            from: pointer,
            kept,
        });
    };
    let selected = state.selected.contains(&hit.key);
    match (add, selected) {
        (true, true) => {
            state.selected.retain(|key| *key != hit.key);
            return None;
        }
        (true, false) => state.selected.push(hit.key),
        (false, true) => {}
        (false, false) => state.selected = vec![hit.key],
    }
    Some(GraphDrag::Keys {
        start: start(hit),
        keys: state.selected.clone(),
        pressed: pointer,
        in_time: None,
        sent: None,
    })
}

fn go_on(
    drag: &mut GraphDrag,
    pointer: Pos2,
    alt: bool,
    layout: &GraphLayout,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    if let Some(area) = drag.frame(pointer) {
        let mut keys = layout.keys_in(area, state);
        if let GraphDrag::Frame { kept, .. } = drag {
            let more: Vec<KeyRef> = kept
                .iter()
                .filter(|key| !keys.contains(key))
                .copied()
                .collect();
            keys.extend(more);
        }
        state.selected = keys;
        return;
    }
    match drag {
        GraphDrag::Frame { .. } => {}
        GraphDrag::Keys {
            start,
            keys,
            pressed,
            in_time,
            sent,
        } => {
            let moved = pointer - *pressed;
            if in_time.is_none() && moved.length() >= DECIDED {
                *in_time = Some(moved.x.abs() > moved.y.abs());
            }
            let Some(in_time) = *in_time else { return };
            let by = if in_time {
                let first = keys
                    .iter()
                    .map(|key| key.time_secs)
                    .fold(f64::INFINITY, f64::min);
                let frames = f64::from(moved.x / layout.axis.points_per_sec()) * view.fps();
                (frames.round() / view.fps()).max(-first)
            } else {
                layout.value(pointer.y) - layout.value(pressed.y)
            };
            if *sent == Some(by) {
                return;
            }
            *sent = Some(by);
            send_keys(start, keys, in_time, by, Gesture::Dragging, actions);
            if in_time {
                let moved = keys.iter().map(|key| KeyRef {
                    time_secs: key.time_secs + by,
                    ..*key
                });
                state.selected = moved.collect();
            }
        }
        GraphDrag::Handle {
            start,
            side,
            offset,
            sent,
        } => {
            let rate = layout.rate(&start.grabbed, *side, pointer + *offset);
            let only = alt.then_some(*side);
            let known = start.grabbed.rates[usize::from(*side == Side::After)];
            let still = sent.is_none()
                && known.is_some_and(|known| (rate - known).abs() <= 1e-3 * (1.0 + known.abs()));
            if *sent == Some((rate, only)) || still {
                return;
            }
            *sent = Some((rate, only));
            start.send(
                turned(&start.grabbed, rate, only),
                Gesture::Dragging,
                actions,
            );
        }
    }
}

/// The button was released.
fn end(drag: &GraphDrag, actions: &mut Actions) {
    match drag {
        GraphDrag::Keys {
            start,
            keys,
            in_time: Some(in_time),
            sent: Some(by),
            ..
        } => send_keys(start, keys, *in_time, *by, Gesture::Released, actions),
        GraphDrag::Handle {
            start,
            sent: Some((rate, only)),
            ..
        } => start.send(
            turned(&start.grabbed, *rate, *only),
            Gesture::Released,
            actions,
        ),
        _ => {}
    }
}

fn turned(key: &CurveKey, rate: f64, side: Option<Side>) -> CurveEdit {
    CurveEdit::Rate {
        key: key.key,
        number: key.number,
        side,
        rate,
    }
}

fn send_keys(
    start: &DragStart,
    keys: &[KeyRef],
    in_time: bool,
    by: f64,
    gesture: Gesture,
    actions: &mut Actions,
) {
    let keys = keys.to_vec();
    if in_time {
        let command = KeysCommand::MoveKeys {
            clip: start.clip,
            keys,
            by_secs: by,
            from: Some(start.from.clone()),
        };
        actions.send(Command::Keys(command), gesture);
    } else {
        let number = start.grabbed.number;
        start.send(CurveEdit::Shift { keys, number, by }, gesture, actions);
    }
}

/// Hint on what the pointer does.
pub(super) fn hint(
    response: &Response,
    layout: &GraphLayout,
    view: &TimelineView<'_>,
    state: &TimelineState,
) -> Option<String> {
    let pointer = response
        .hover_pos()
        .filter(|_| state.graph.drag.is_none())?;
    if layout.handle_at(pointer, state).is_some() {
        return Some("Drag turns the curve; Alt turns this side only".to_owned());
    }
    let key = layout.key_at(pointer, state)?;
    let frame = (key.key.time_secs * view.fps()).round();
    let unit = if state.graph.moves { "" } else { "°" };
    let digits = layout.digits();
    Some(format!(
        "Frame {frame}, {:.digits$}{unit}: drag up and down changes the value, left and right the time; right click for more",
        key.value
    ))
}
