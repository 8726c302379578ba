//! Choice of the device that simulates and skins.

use egui::{ComboBox, Label, RichText, Ui};

use crate::app::actions::ToolWindowAction;
use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::settings::Settings;
use crate::app::theme;
use crate::app::widgets::row;
use crate::session::{DeviceChoice, DeviceStatus};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct DeviceView<'a> {
    /// The requested device.
    pub choice: DeviceChoice,
    /// The decision, once it is known.
    pub status: Option<&'a DeviceStatus>,
    /// The settings that store the choice.
    pub settings: &'a Settings,
}

/// Draws the row.
pub fn device_ui(ui: &mut Ui, view: &DeviceView<'_>, actions: &mut Actions) {
    row(
        ui,
        "Device",
        "What computes flesh and skin; automatic measures which is faster for this character and method",
        |ui, label| {
            let combo = ComboBox::from_id_salt("device").selected_text(view.choice.label());
            let response = combo.show_ui(ui, |ui| {
                for device in DeviceChoice::ALL {
                    if ui
                        .selectable_label(device == view.choice, device.label())
                        .clicked()
                        && device != view.choice
                    {
                        let settings = Settings {
                            device,
                            ..view.settings.clone()
                        };
                        actions.push(Action::ToolWindows(ToolWindowAction::Change(Box::new(
                            settings,
                        ))));
                    }
                }
            });
            response.response.labelled_by(label);
            let Some(status) = view.status else { return };
            if status.lost
                && icons::text_button(ui, Icon::Reset, "Retry")
                    .on_hover_text("Tries the graphics device again")
                    .clicked()
            {
                actions.push(Action::RetryDevice);
            }
            let said = if status.on_gpu {
                "on the GPU"
            } else {
                "on the CPU"
            };
            let said = RichText::new(said)
                .small()
                .color(theme::colors(ui.ctx()).text_weak);
            ui.add(Label::new(said).truncate())
                .on_hover_text(&status.why);
        },
    );
}
