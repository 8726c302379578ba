//! Starts a change without a button held ([`Modal`]), goes on with it and ends it.

use egui::{InputState, PointerButton};

use super::super::screen_map::ScreenMap;
use super::super::{Viewport, ViewportView};
use super::modal::Modal;
use super::{PickTarget, PoseDrag};
use crate::app::actions::Actions;
use crate::app::actions::tools::{GizmoAxes, ModalKind};
use crate::session::{Command, Gesture};

impl Viewport {
    /// Starts to turn or move the selected joints, or the one under the pointer.
    pub fn begin_modal(&mut self, kind: ModalKind) {
        if self.drag.is_none() {
            self.asked = Some(kind);
        }
    }

    /// Takes the keys of a change in progress, before anything else reads them.
    pub fn read_modal_keys(&mut self, input: &mut InputState, axes: GizmoAxes) {
        if let Some(PoseDrag::Modal(modal)) = &mut self.drag {
            modal.read_keys(input, axes);
        }
    }

    /// Starts what was asked for, and goes on with what is in progress. Returns whether one is.
    pub(super) fn continue_modal(
        &mut self,
        input: &InputState,
        map: &ScreenMap,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) -> bool {
        if let Some(kind) = self.asked.take() {
            let hovered = self.hovered.map(PickTarget::joint);
            let joint = view.selected.or(hovered);
            let pointer = input.pointer.latest_pos().unwrap_or(map.rect().center());
            let size = f64::from(self.size());
            let modal = joint.and_then(|joint| Modal::start(kind, view, joint, pointer, size));
            self.last_command = None;
            if view.selected.is_none() && modal.is_some() {
                actions.once(Command::SelectJoint(joint));
            }
            self.drag = modal.map(PoseDrag::Modal);
        }
        let Some(PoseDrag::Modal(modal)) = &mut self.drag else {
            return false;
        };
        if input.pointer.button_pressed(PointerButton::Secondary) {
            self.cancel_drag(actions);
            return true;
        }
        if let Some(pointer) = input.pointer.latest_pos() {
            modal.follow_pointer(map, pointer, input.modifiers.shift);
        }
        let ends = modal.is_confirmed || input.pointer.button_pressed(PointerButton::Primary);
        if std::mem::take(&mut modal.is_changed) {
            let command = modal.command(map, &view.tools, input.modifiers.command);
            actions.send(command.clone().into(), Gesture::Dragging);
            self.last_command = Some(command);
        }
        if ends {
            if let Some(command) = self.last_command.take() {
                actions.send(command.into(), Gesture::Released);
            }
            (self.drag, self.picked, self.last_command) = (None, None, None);
            // The click that ended it selects nothing.
            self.given_up = true;
        }
        true
    }
}
