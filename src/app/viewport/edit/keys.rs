//! Keys of edit mode, read while the pointer is over a view.

use egui::{Key, Modifiers, Ui};

use super::{EditTool, EditView};
use crate::app::actions::EditAction;
use crate::app::actions::{Action, Actions};
use crate::app::shortcuts::Bindings;
use crate::rig::edit::RigEdit;
use crate::session::{Command, RigCommand};

/// Consumes the keys of edit mode, unless text is being edited.
pub(super) fn read(ui: &Ui, tool: &EditTool, view: &EditView<'_>, actions: &mut Actions) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    if tool.fitting.is_some() {
        if ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter)) {
            actions.push(Action::Edit(EditAction::ApplyFitting));
        }
        return;
    }
    let Some(joint) = view.selected else { return };
    let bindings = Bindings::get(ui.ctx());
    let mut edit = |edit: RigEdit| actions.once(Command::Rig(RigCommand::Edit(edit)));
    ui.input_mut(|input| {
        if bindings.presses(input, "joint.delete") > 0 {
            edit(RigEdit::Delete(joint));
        } else if bindings.presses(input, "joint.merge") > 0 {
            edit(RigEdit::Merge(joint));
        }
    });
}
