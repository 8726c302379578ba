//! Requests to the pose tools by keys, menus and buttons, and the clipboard.

use crate::app::actions::PosingRequest;
use egui::{Context, Event};

use crate::app::actions::{Action, Actions};
use crate::session::{PoseCommand, Session};

/// Reads the system clipboard, unless text is being edited.
pub fn clipboard(ctx: &Context, session: &Session, actions: &mut Actions) {
    if ctx.text_edit_focused() || session.subject().is_none() {
        return;
    }
    ctx.input(|input| {
        for event in &input.events {
            match event {
                Event::Copy => actions.push(Action::Posing(PosingRequest::Copy)),
                Event::Paste(text) => {
                    // Text that is not a pose may have been copied for another purpose.
                    let text = text.contains("\"joints\"").then(|| text.clone());
                    actions.once(
                        PoseCommand::Paste {
                            text,
                            mirrored: input.modifiers.shift,
                        }
                        .into(),
                    );
                }
                _ => {}
            }
        }
    });
}
