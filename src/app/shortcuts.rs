//! One list of shortcuts drives the keyboard and the help.

use egui::{Context, Key, KeyboardShortcut, Modifiers};

use super::actions::{Action, Actions};
use super::capture::CaptureAction;
use super::viewport::views::CameraAction;
use crate::session::Command;

const REDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
const REDO_TOO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Y);
const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
const SAVE_POSE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
const EXPORT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::E);
const COPY_VIEW: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C);
const QUIT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Q);

const DIGITS: [Key; 9] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];

/// What the keyboard can do, for the help: keys and meaning.
pub const LIST: [(&str, &str); 18] = [
    ("Space", "Play or pause the clip"),
    ("1 – 9", "Show a clip"),
    ("0", "Show the pose made by hand"),
    ("F", "Frame the selected joint, or everything"),
    ("Home, A", "Frame everything"),
    ("Number pad 1 3 7, 5", "Front, side, top; parallel lines (Ctrl: the opposite side)"),
    ("R", "Reset the pose"),
    ("Esc", "Leave what you are doing; then deselect"),
    ("Ctrl+Z", "Undo"),
    ("Ctrl+Shift+Z", "Redo"),
    ("Ctrl+O", "Open a character"),
    ("Ctrl+S", "Save the pose"),
    ("Ctrl+E", "Export a picture, a turntable or a clip"),
    ("Ctrl+Shift+C", "Copy the view as a picture"),
    ("B", "Show or hide the bones"),
    ("N", "Show or hide the side panel"),
    ("F1", "This list"),
    ("Ctrl+Q", "Quit"),
];

/// What a key press means that needs no modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainKey {
    /// Leave what is going on.
    Escape,
    /// Show or hide the bones.
    Bones,
}

/// Takes the shortcuts out of the input, unless somebody types. What depends on the window's state comes back.
pub fn read(ctx: &Context, clips: usize, actions: &mut Actions) -> Vec<PlainKey> {
    let mut plain = Vec::new();
    if ctx.text_edit_focused() {
        return plain;
    }
    // An open menu takes Escape itself.
    let menu_open = egui::Popup::is_any_open(ctx);
    ctx.input_mut(|input| {
        let list: [(KeyboardShortcut, Action); 8] = [
            // The longer shortcut first: Ctrl+Z would match Ctrl+Shift+Z, too.
            (REDO, Action::Session(Command::Redo, crate::session::Gesture::Once)),
            (REDO_TOO, Action::Session(Command::Redo, crate::session::Gesture::Once)),
            (UNDO, Action::Session(Command::Undo, crate::session::Gesture::Once)),
            (OPEN, Action::OpenDialog),
            (SAVE_POSE, Action::SavePoseDialog),
            (EXPORT, Action::Capture(CaptureAction::ToggleDialog)),
            (COPY_VIEW, Action::Capture(CaptureAction::CopyView)),
            (QUIT, Action::Quit),
        ];
        for (shortcut, action) in list {
            let presses = input.count_and_consume_key(shortcut.modifiers, shortcut.logical_key);
            // Each press is a step, even if a slow frame collects several; a dialog opens once.
            let times = if matches!(action, Action::Session(..)) { presses } else { presses.min(1) };
            for _ in 0..times {
                actions.push(action.clone());
            }
        }
        let mut pressed = |key: Key| input.consume_key(Modifiers::NONE, key);
        if pressed(Key::Space) {
            actions.once(Command::TogglePlaying);
        }
        if pressed(Key::F) {
            actions.push(Action::Frame);
        }
        if pressed(Key::Home) || pressed(Key::A) {
            actions.push(Action::Camera(CameraAction::FrameAll));
        }
        if pressed(Key::R) {
            actions.once(Command::ResetPose);
        }
        if pressed(Key::N) {
            actions.push(Action::TogglePanel);
        }
        if pressed(Key::F1) {
            actions.push(Action::ToggleHelp);
        }
        if pressed(Key::B) {
            plain.push(PlainKey::Bones);
        }
        if !menu_open && pressed(Key::Escape) {
            plain.push(PlainKey::Escape);
        }
        if pressed(Key::Num0) {
            actions.once(Command::SelectClip(None));
        }
        for (clip, key) in DIGITS.into_iter().enumerate() {
            if pressed(key) && clip < clips {
                actions.once(Command::SelectClip(Some(clip)));
            }
        }
    });
    plain
}
