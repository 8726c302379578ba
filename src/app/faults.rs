//! Offers the report of a fault of the program: a thread that panicked.

use egui::{Align, Context, Layout, Ui, vec2};

use super::popup::{CENTER, dialog};
use crate::logbook;

/// Width of the window, points.
const WIDTH: f32 = 460.0;

/// Which fault was offered, and whether its window is open.
#[derive(Debug, Clone, Default)]
pub struct FaultReport {
    offered: u64,
    open: bool,
}

impl FaultReport {
    /// Draws the window, if there was a fault that has not been offered yet.
    pub fn ui(&mut self, ctx: &Context) {
        let Some(fault) = logbook::last_fault() else {
            return;
        };
        if fault.number > self.offered {
            (self.offered, self.open) = (fault.number, true);
        }
        let mut open = self.open;
        let mut closes = false;
        dialog(ctx, "A fault of Sinew", &mut open, WIDTH, CENTER, |ui| {
            closes = contents(ui, &fault.report);
        });
        self.open = open && !closes;
    }
}

fn contents(ui: &mut Ui, report: &str) -> bool {
    ui.label(
        "A part of the program stopped because of a fault in it. The rest goes on; save your work. \
         The report says where it happened; please send it to the developers.",
    );
    if let Some(path) = logbook::file_path() {
        ui.label(format!("It is also in the log, {}.", path.display()));
    }
    ui.add_space(8.0);
    let mut closes = false;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing = vec2(8.0, 0.0);
        closes = ui.button("Continue").clicked();
        if ui.button("Copy the report").clicked() {
            ui.ctx().copy_text(report.to_owned());
        }
    });
    closes
}
