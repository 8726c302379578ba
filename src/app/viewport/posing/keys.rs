//! Keys of the pose tools.

use egui::{Context, Event, Key, KeyboardShortcut, Modifiers};

use super::tools::{Tool, Toolbox};
use crate::app::actions::{Action, Actions};
use crate::rig::symmetry::MirrorHow;
use crate::session::{PoseCommand, Session};

const MIRROR: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::M);

/// The keys, for the help: keys and meaning.
pub const LIST: [(&str, &str); 7] = [
    ("Q, E, W", "Drag the body, rotate joints, move a joint"),
    ("G", "Own, world or view axes"),
    ("P", "Pin the selected joints, or let them go"),
    ("Ctrl+C, Ctrl+V", "Copy and paste the pose of the selected joints, or of all"),
    ("Ctrl+Shift+V", "Paste onto the other side"),
    ("Ctrl+M", "Mirror the pose"),
    ("Ctrl+drag", "Select joints in a rectangle"),
];

/// Takes the keys out of the input, unless somebody types.
pub fn read(ctx: &Context, session: &Session, tools: &Toolbox, actions: &mut Actions) {
    if ctx.text_edit_focused() || session.subject().is_none() {
        return;
    }
    let joints = session.selection().joints().to_vec();
    let some = (!joints.is_empty()).then(|| joints.clone());
    ctx.input_mut(|input| {
        if input.consume_shortcut(&MIRROR) {
            actions.once(PoseCommand::Mirror { joints: None, how: MirrorHow::Flip }.into());
        }
        for (key, tool) in [(Key::Q, Tool::Drag), (Key::E, Tool::Rotate), (Key::W, Tool::Move)] {
            if input.consume_key(Modifiers::NONE, key) {
                actions.push(Action::PoseTools(Toolbox { tool, ..*tools }));
            }
        }
        if input.consume_key(Modifiers::NONE, Key::G) {
            actions.push(Action::PoseTools(Toolbox { axes: tools.axes.next(), ..*tools }));
        }
        if input.consume_key(Modifiers::NONE, Key::P) && !joints.is_empty() {
            let pinned = !joints.iter().all(|joint| session.document().pins.contains(joint));
            actions.once(PoseCommand::SetPins { joints: joints.clone(), pinned }.into());
        }
        let mirrored = input.modifiers.shift;
        for event in &input.events {
            match event {
                Event::Copy => actions.push(Action::CopyPose(some.clone())),
                Event::Paste(text) => {
                    // A text that is no pose may have been copied for something else since.
                    let text = text.contains("\"joints\"").then(|| text.clone());
                    actions.once(PoseCommand::Paste { text, mirrored }.into());
                }
                _ => {}
            }
        }
    });
}
