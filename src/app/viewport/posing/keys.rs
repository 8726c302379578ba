//! What keys, menus and buttons ask of the pose tools, and the clipboard.

use egui::{Context, Event};

use super::tools::{GizmoAxes, Tool};
use crate::app::actions::{Action, Actions};
use crate::session::{PoseCommand, Session};

/// Something asked of the pose tools that depends on what is selected or chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PosingAsk {
    /// What a drag does.
    Tool(Tool),
    /// The axes of handles.
    Axes(GizmoAxes),
    /// The next axes.
    NextAxes,
    /// Angles snap to multiples of this, degrees, while Ctrl is held.
    Snap(f64),
    /// Fixes the selected joints, or lets them go if all are fixed.
    TogglePins,
    /// Copies the pose of the selected joints, or of all, here and to the clipboard of the system.
    Copy,
    /// Pastes what was copied here, as it is or onto the other side.
    Paste {
        /// Onto the other side.
        mirrored: bool,
    },
}

/// Reads what the system says of its clipboard, unless somebody types.
pub fn clipboard(ctx: &Context, session: &Session, actions: &mut Actions) {
    if ctx.text_edit_focused() || session.subject().is_none() {
        return;
    }
    ctx.input(|input| {
        for event in &input.events {
            match event {
                Event::Copy => actions.push(Action::Posing(PosingAsk::Copy)),
                Event::Paste(text) => {
                    // A text that is no pose may have been copied for something else since.
                    let text = text.contains("\"joints\"").then(|| text.clone());
                    actions.once(PoseCommand::Paste { text, mirrored: input.modifiers.shift }.into());
                }
                _ => {}
            }
        }
    });
}
