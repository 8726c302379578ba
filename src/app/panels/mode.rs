//! The switch between posing and editing the skeleton.

use egui::{Role, Ui, WidgetInfo};

use crate::app::actions::Actions;
use crate::session::{Command, Mode, RigCommand};

/// Draws the switch.
pub fn mode_ui(ui: &mut Ui, mode: Mode, enabled: bool, actions: &mut Actions) {
    ui.spacing_mut().item_spacing.x = 2.0;
    for (value, name, hover) in [
        (Mode::Pose, "Pose", "Pose the character (Tab over a view)"),
        (Mode::Edit, "Edit skeleton", "Build or change the skeleton in the bind pose (Tab over a view)"),
    ] {
        let response = ui.add_enabled(enabled, egui::Button::selectable(mode == value, name)).on_hover_text(hover);
        response.widget_info(|| WidgetInfo::selected(Role::RadioButton, enabled, mode == value, name));
        if response.clicked() && mode != value {
            actions.once(Command::Rig(RigCommand::SetMode(value)));
        }
    }
}
