//! Edit mode in the window: panels, keys, templates.

use egui::{Context, Key, Modifiers, Ui};

use super::Workbench;
use crate::app::actions::Action;
use crate::app::actions::EditAction;
use crate::app::panels::rig::{RigPanelView, rig_ui};
use crate::app::panels::rig_tree::{RigTreeView, rig_tree_ui};
use crate::app::shortcuts::Bindings;
use crate::app::viewport::edit::{EditView, Fitting, PickedItem};
use crate::app::widgets::section;
use crate::session::{Command, Mode, RigCommand};

/// What the key that changes the mode means, which is Tab unless the user chose another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TabState {
    /// Whether text was edited in the last pass.
    typed: bool,
    /// Whether Shift+Tab has started to walk through the widgets.
    walks: bool,
}

impl Workbench {
    /// Whether the skeleton is being edited.
    pub(super) fn is_editing(&self) -> bool {
        self.session.rigging().mode() == Mode::Edit && self.session.subject().is_some()
    }

    /// After a change of character: edit mode for a mesh without joints, pose mode otherwise.
    pub(super) fn choose_mode(&mut self) {
        let Some(subject) = self.session.subject() else {
            return;
        };
        let bind = subject.bind_positions.as_ptr();
        if self.bind_shown.replace(bind) != Some(bind) {
            self.edit.forget();
            let mode = if subject.rig.is_empty() {
                Mode::Edit
            } else {
                Mode::Pose
            };
            self.session
                .apply_once(Command::Rig(RigCommand::SetMode(mode)));
        }
    }

    /// Tab toggles between pose and edit mode wherever the pointer is. It moves the focus while text is edited, while
    /// a window, menu or dialog is open, and after Shift+Tab has started to walk through the widgets.
    pub(super) fn read_tab(&mut self, ctx: &Context) {
        let typed = std::mem::replace(&mut self.tab.typed, ctx.text_edit_focused());
        let (walks, ends) = ctx.input(|input| {
            let back = input.modifiers.shift && input.key_pressed(Key::Tab);
            let ends = input.pointer.any_pressed() || input.key_pressed(Key::Escape);
            (back, ends)
        });
        self.tab.walks = walks || self.tab.walks && !ends;
        if typed
            || self.tab.typed
            || self.tab.walks
            || self.session.subject().is_none()
            || self.tool_windows.is_any_open()
            || self.capture.is_open()
            || egui::Popup::is_any_open(ctx)
        {
            return;
        }
        let bindings = Bindings::get(ctx);
        if ctx.input_mut(|input| bindings.presses(input, "mode.toggle")) > 0 {
            let mode = if self.session.rigging().mode() == Mode::Edit {
                Mode::Pose
            } else {
                Mode::Edit
            };
            self.actions.once(Command::Rig(RigCommand::SetMode(mode)));
            // The same key press moves the focus.
            ctx.memory_mut(|memory| {
                memory.move_focus(egui::FocusDirection::None);
                memory
                    .focused()
                    .into_iter()
                    .for_each(|id| memory.surrender_focus(id));
            });
        }
    }

    /// Enter applies a template wherever the pointer is, because the template's buttons are outside the views.
    pub(super) fn read_enter(&mut self, ctx: &Context) {
        let is_free = !ctx.text_edit_focused()
            && ctx.memory(egui::Memory::focused).is_none()
            && !egui::Popup::is_any_open(ctx);
        if self.edit.fitting.is_some()
            && self.is_editing()
            && is_free
            && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
        {
            self.actions.push(Action::Edit(EditAction::ApplyFitting));
        }
    }

    /// Applies an action of edit mode.
    pub(super) fn carry_out_edit(&mut self, ctx: &Context, action: EditAction) {
        match action {
            EditAction::StartFitting(kind) => {
                let mut fitting = Fitting::new(kind);
                if let Some(placer) = self.session.rigging().placer() {
                    fitting.guess(placer);
                }
                self.edit.fitting = Some(fitting);
            }
            EditAction::ApplyFitting => {
                // Landmarks that were not guessed in advance are guessed now.
                if let Some(Fitting { kind, landmarks }) = self
                    .edit
                    .fitting
                    .take_if(|fitting| !fitting.landmarks.is_empty())
                {
                    self.session
                        .apply_once(Command::Rig(RigCommand::ApplyTemplate { kind, landmarks }));
                }
            }
            EditAction::LeaveFitting => self.edit.fitting = None,
            EditAction::SaveDialog => self.ask(ctx, crate::app::dialogs::Purpose::SaveRig),
        }
    }

    /// The joint tree on the left.
    pub(super) fn rig_tree_section(&mut self, ui: &mut Ui) {
        let Some(rig) = self.session.rigging().rig().cloned() else {
            return;
        };
        let hovered = match self.edit.under {
            Some(PickedItem::Joint(joint) | PickedItem::Tail(joint) | PickedItem::Ring(joint)) => {
                Some(joint)
            }
            _ => None,
        };
        let view = RigTreeView {
            rig: &rig,
            selected: self.session.rigging().selected(),
            hovered,
        };
        section(ui, "Skeleton", true, |ui| {
            rig_tree_ui(ui, &view, &mut self.rig_tree, &mut self.actions);
        });
    }

    /// The edit mode panel on the right.
    pub(super) fn rig_section(&mut self, ui: &mut Ui) {
        let (Some(rig), Some(subject)) = (
            self.session.rigging().rig().cloned(),
            self.session.subject().cloned(),
        ) else {
            return;
        };
        let selected = self.session.rigging().selected();
        let known = selected.and_then(|joint| self.session.rigging().subject_joint(joint));
        let edit = EditView::of(&self.session);
        let flesh = &self.session.document().flesh;
        let volume = edit.as_ref().and_then(|edit| edit.ring().copied());
        let said = known.and_then(|joint| flesh.radii.get(&joint));
        let file = subject.base.as_ref().unwrap_or(&subject);
        let quality = self.session.rigging().quality();
        let view = RigPanelView {
            rig: &rig,
            selected,
            quality: quality.as_ref(),
            symmetry: self.session.rigging().edits_both_sides(),
            has_plane: self
                .session
                .rigging()
                .placer()
                .map(|_| self.session.rigging().symmetry_plane().is_some()),
            radius: volume.map(|volume| (said.copied().unwrap_or(volume.radius), said.is_some())),
            is_virtual: known
                .and_then(|joint| flesh.bones.get(&joint))
                .is_some_and(|bone| bone.is_virtual),
            tail: selected.and_then(|joint| edit.as_ref()?.tail(joint)),
            fitting: self.edit.fitting.as_ref().map(|fitting| fitting.kind),
            differs_from_file: !file.rig.is_empty() && file.rig != rig,
            size: f64::from(subject.size),
        };
        section(ui, "Edit skeleton", true, |ui| {
            rig_ui(ui, &view, &mut self.rig_panel, &mut self.actions);
        });
    }
}
