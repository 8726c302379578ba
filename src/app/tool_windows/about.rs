//! The about window: version, licences, and the system.

use egui::{Context, Grid, RichText};

use crate::app::icons::{self, Icon};
use crate::app::popup::CENTER;
use crate::app::popup::dialog;
use crate::app::theme;

/// The window.
#[derive(Debug, Clone, Default)]
pub struct About {
    pub(super) open: bool,
    /// Name of the graphics adapter.
    pub(super) gpu: String,
}

impl About {
    /// System information for a bug report.
    #[must_use]
    pub fn report(&self) -> String {
        self.lines()
            .map(|(name, value)| format!("{name}: {value}"))
            .join("\n")
    }

    fn lines(&self) -> [(&'static str, String); 5] {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        [
            ("Version", env!("CARGO_PKG_VERSION").to_owned()),
            (
                "Graphics",
                if self.gpu.is_empty() {
                    "none".to_owned()
                } else {
                    self.gpu.clone()
                },
            ),
            (
                "System",
                format!(
                    "{} on {}, {threads} threads",
                    std::env::consts::OS,
                    std::env::consts::ARCH
                ),
            ),
            ("Licence", "MIT or Apache-2.0, as you like".to_owned()),
            (
                "Type",
                "Inter, Phosphor and Hack; OFL 1.1 and MIT".to_owned(),
            ),
        ]
    }

    /// Draws the window, if it is open.
    pub fn ui(&mut self, ctx: &Context) {
        let mut open = self.open;
        dialog(ctx, "About Sinew", &mut open, 400.0, CENTER, |ui| {
            let colors = theme::colors(ui.ctx());
            ui.label(
                RichText::new("A workbench for character skinning: flesh on bones, beside the classic methods.").color(colors.text_weak),
            );
            ui.add_space(8.0);
            Grid::new("about")
                .num_columns(2)
                .spacing([16.0, 5.0])
                .show(ui, |ui| {
                    for (name, value) in self.lines() {
                        ui.label(RichText::new(name).color(colors.text_weak));
                        ui.add(egui::Label::new(value).wrap().selectable(true));
                        ui.end_row();
                    }
                });
            ui.add_space(8.0);
            if icons::text_button(ui, Icon::Copy, "Copy")
                .on_hover_text("Copies this for a bug report")
                .clicked()
            {
                ui.ctx().copy_text(self.report());
            }
        });
        self.open = open;
    }
}
