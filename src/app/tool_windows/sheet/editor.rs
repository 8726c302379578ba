//! Changing the keys of one command, in the sheet of shortcuts.

use egui::{Button, Context, Event, KeyboardShortcut, RichText, Ui};

use crate::app::icons::{self, Icon};
use crate::app::keymap::{Keymap, Keys};
use crate::app::shortcuts::{Bindings, Shortcut, is_reserved, keys_text, preset_keys, set_keys};
use crate::app::theme;

/// The command whose keys are changed.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyEditor {
    /// The command.
    pub row: Option<&'static Shortcut>,
    is_recording: bool,
    /// Pressed keys that other commands have.
    contested: Option<KeyboardShortcut>,
    remark: Option<&'static str>,
}

/// Copying, cutting and pasting arrive as such, not as keys.
const CLIPBOARD: &str = "Ctrl+C, Ctrl+X and Ctrl+V always copy, cut and paste.";
const RESERVED: &str = "Esc always leaves, so it can't be given to a command.";

impl KeyEditor {
    /// Changes this command, or none if it is already the one.
    pub fn toggle(&mut self, row: &'static Shortcut) {
        let same = self.row.is_some_and(|shown| shown.id == row.id);
        *self = Self {
            row: (!same).then_some(row),
            ..Self::default()
        };
    }

    /// Whether the next keys are for the command.
    pub fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Takes the keys that are pressed. Returns the keymap if it changes.
    pub fn record(&mut self, ctx: &Context, keymap: &Keymap) -> Option<Keymap> {
        let row = self.row.filter(|_| self.is_recording)?;
        let mut pressed = None;
        ctx.input_mut(|input| {
            input.events.retain(|event| match event {
                Event::Key {
                    key,
                    pressed: true,
                    repeat: false,
                    modifiers,
                    ..
                } => {
                    pressed = pressed.or(Some(Ok(Keys::pressed(*modifiers, *key).0)));
                    false
                }
                Event::Copy | Event::Cut | Event::Paste(_) => {
                    pressed = pressed.or(Some(Err(CLIPBOARD)));
                    false
                }
                Event::Key { .. } | Event::Text(_) => false,
                _ => true,
            });
        });
        let keys = match pressed? {
            Ok(keys) if keys.logical_key == egui::Key::Escape && keys.modifiers.is_none() => {
                self.is_recording = false;
                return None;
            }
            Ok(keys) if is_reserved(keys) => {
                self.remark = Some(RESERVED);
                return None;
            }
            Ok(keys) => keys,
            Err(remark) => {
                self.remark = Some(remark);
                return None;
            }
        };
        (self.is_recording, self.remark) = (false, None);
        let bindings = Bindings::of(keymap);
        if !bindings.rivals(row, keys).is_empty() {
            self.contested = Some(keys);
            return None;
        }
        Some(with_keys(keymap, &bindings, row, keys))
    }

    /// Draws the keys with buttons to change them. Returns the keymap if it changes.
    pub fn ui(&mut self, ui: &mut Ui, keymap: &Keymap) -> Option<Keymap> {
        let row = self.row?;
        let colors = theme::colors(ui.ctx());
        if !row.is_changeable() {
            let text = "These keys are the same in every keymap.";
            ui.label(RichText::new(text).small().color(colors.text_weak));
            return None;
        }
        let bindings = Bindings::of(keymap);
        let mut changed = None;
        ui.horizontal_wrapped(|ui| {
            changed = self.keys_ui(ui, keymap, &bindings, row);
        });
        if let Some(remark) = self.remark {
            ui.label(RichText::new(remark).small().color(colors.warning));
        }
        if let Some(keys) = self.contested {
            ui.horizontal_wrapped(|ui| {
                changed = self
                    .contest_ui(ui, keymap, &bindings, keys)
                    .or(changed.take());
            });
        }
        changed
    }

    fn keys_ui(
        &mut self,
        ui: &mut Ui,
        keymap: &Keymap,
        bindings: &Bindings,
        row: &'static Shortcut,
    ) -> Option<Keymap> {
        let mut changed = None;
        let present = bindings.keys(row);
        let mut set = |keys: Vec<KeyboardShortcut>| {
            let mut keymap = keymap.clone();
            set_keys(&mut keymap, row, keys);
            changed = Some(keymap);
        };
        for (index, keys) in present.iter().enumerate() {
            let text = keys_text(keys);
            ui.label(RichText::new(&text).color(theme::colors(ui.ctx()).accent));
            if icons::plain_button(ui, Icon::Close, &format!("Remove {text}")).clicked() {
                let mut rest = present.to_vec();
                rest.remove(index);
                set(rest);
            }
        }
        let title = if self.is_recording {
            "Press the keys; Esc gives up"
        } else {
            "Add keys…"
        };
        if ui
            .add(Button::selectable(self.is_recording, title))
            .clicked()
        {
            self.is_recording = !self.is_recording;
            (self.contested, self.remark) = (None, None);
        }
        let usual = preset_keys(keymap.preset, row);
        if present != usual.as_slice()
            && icons::plain_button(ui, Icon::Reset, "Reset keys").clicked()
        {
            set(usual);
        }
        if changed.is_some() {
            (self.contested, self.remark) = (None, None);
        }
        changed
    }

    /// Asks whether keys are to be taken from other commands.
    fn contest_ui(
        &mut self,
        ui: &mut Ui,
        keymap: &Keymap,
        bindings: &Bindings,
        keys: KeyboardShortcut,
    ) -> Option<Keymap> {
        let row = self.row?;
        let rivals = bindings.rivals(row, keys);
        let names: Vec<_> = rivals.iter().map(|rival| rival.title).collect();
        let text = format!("{} is “{}”.", keys_text(&keys), names.join("” and “"));
        ui.label(RichText::new(text).color(theme::colors(ui.ctx()).warning));
        let mut changed = None;
        if rivals.iter().all(|rival| rival.is_changeable()) && ui.button("Use it here").clicked() {
            let mut keymap = keymap.clone();
            for rival in rivals {
                let mut rest = bindings.keys(rival).to_vec();
                rest.retain(|other| *other != keys);
                set_keys(&mut keymap, rival, rest);
            }
            changed = Some(with_keys(&keymap, bindings, row, keys));
        }
        if ui.button("Leave it").clicked() || changed.is_some() {
            self.contested = None;
        }
        changed
    }
}

/// With further keys for a command.
fn with_keys(
    keymap: &Keymap,
    bindings: &Bindings,
    row: &Shortcut,
    keys: KeyboardShortcut,
) -> Keymap {
    let mut keymap = keymap.clone();
    let mut all = bindings.keys(row).to_vec();
    if !all.contains(&keys) {
        all.push(keys);
    }
    set_keys(&mut keymap, row, all);
    keymap
}
