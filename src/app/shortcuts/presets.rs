//! The keys of other programs, where they differ from the table's.
//!
//! Keys that the other program uses for something that Sinew does not have are left free as far as they destroy something there or
//! are pressed all the time: in Blender `A`, `B`, `E` and `W`, in Maya `G`, `B` and `K`.

use egui::{Key, KeyboardShortcut, Modifiers};

use crate::app::keymap::KeymapPreset;

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const ALT: Modifiers = Modifiers::ALT;
const SHIFT: Modifiers = Modifiers::SHIFT;

const fn key(modifiers: Modifiers, key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(modifiers, key)
}

/// A command by its id, with all of its keys.
type Row = (&'static str, &'static [KeyboardShortcut]);

/// Blender 4, its default keymap.
const BLENDER: &[Row] = &[
    ("move.now", &[key(NONE, Key::G)]),
    ("turn.now", &[key(NONE, Key::R)]),
    ("tool.move", &[key(SHIFT, Key::G)]),
    ("tool.rotate", &[key(SHIFT, Key::R)]),
    ("tool.drag", &[key(SHIFT, Key::Space)]),
    ("tool.explain", &[key(SHIFT, Key::I)]),
    ("tool.axes", &[key(NONE, Key::Comma)]),
    ("key", &[key(NONE, Key::I), key(NONE, Key::K)]),
    ("key.previous", &[key(NONE, Key::ArrowDown)]),
    ("key.next", &[key(NONE, Key::ArrowUp)]),
    ("range.start", &[key(SHIFT, Key::ArrowLeft)]),
    ("range.end", &[key(SHIFT, Key::ArrowRight)]),
    ("frame", &[key(NONE, Key::Period), key(NONE, Key::F)]),
    ("frame.all", &[key(NONE, Key::Home)]),
    ("bones", &[key(ALT.plus(SHIFT), Key::Z)]),
    ("wireframe", &[key(SHIFT, Key::Z)]),
    ("view.maximise", &[key(CTRL, Key::Space)]),
    ("export", &[key(NONE, Key::F12), key(CTRL, Key::E)]),
    ("settings", &[key(NONE, Key::F4), key(CTRL, Key::Comma)]),
    ("palette", &[key(NONE, Key::F3), key(CTRL, Key::K)]),
    ("mode.toggle", &[key(NONE, Key::Tab), key(CTRL, Key::Tab)]),
];

/// Maya 2025, its default hotkeys.
const MAYA: &[Row] = &[
    ("tool.axes", &[]),
    ("tool.rotate", &[key(NONE, Key::E)]),
    ("undo", &[key(NONE, Key::Z), key(CTRL, Key::Z)]),
    (
        "redo",
        &[
            key(SHIFT, Key::Z),
            key(CTRL, Key::Y),
            key(CTRL.plus(SHIFT), Key::Z),
        ],
    ),
    ("key", &[key(NONE, Key::S)]),
    ("play", &[key(ALT, Key::V)]),
    ("range.start", &[key(ALT.plus(SHIFT), Key::V)]),
    (
        "frame.next",
        &[key(ALT, Key::Period), key(NONE, Key::ArrowRight)],
    ),
    (
        "frame.previous",
        &[key(ALT, Key::Comma), key(NONE, Key::ArrowLeft)],
    ),
    ("frame.all", &[key(NONE, Key::A), key(NONE, Key::Home)]),
    ("view.maximise", &[key(NONE, Key::Space)]),
    ("bones", &[]),
    ("panel", &[key(CTRL, Key::A), key(NONE, Key::N)]),
];

/// The rows in which a preset differs from the table.
pub(super) fn rows(preset: KeymapPreset) -> &'static [Row] {
    match preset {
        KeymapPreset::Sinew => &[],
        KeymapPreset::Blender => BLENDER,
        KeymapPreset::Maya => MAYA,
    }
}
