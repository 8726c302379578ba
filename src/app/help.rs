//! The list of what mouse and keyboard do.

use egui::{Align2, Context, Grid, RichText, Window};

use super::{shortcuts, theme};

const MOUSE: [(&str, &str); 8] = [
    ("Click a joint or the flesh", "Select the joint; rings appear"),
    ("Drag a ring", "Turn the joint; Ctrl snaps to 15°"),
    ("Drag the flesh or a joint", "The body follows; pins and limits hold"),
    ("Drag beside the character", "Orbit"),
    ("Middle drag", "Orbit"),
    ("Right drag, Shift + drag", "Pan"),
    ("Wheel, pinch", "Zoom towards the pointer"),
    ("Drop files", "Open a character"),
];

/// Draws the list in a window of its own, which `open` tells and closes.
pub fn help_ui(ctx: &Context, open: &mut bool) {
    Window::new("Shortcuts").open(open).collapsible(false).resizable(false).anchor(Align2::CENTER_CENTER, [0.0, 0.0]).show(ctx, |ui| {
        Grid::new("shortcuts").num_columns(2).spacing([24.0, 5.0]).show(ui, |ui| {
            for (input, meaning) in MOUSE.into_iter().chain(super::viewport::posing::keys::LIST).chain(shortcuts::LIST) {
                ui.label(RichText::new(input).color(theme::colors(ui.ctx()).accent));
                ui.label(meaning);
                ui.end_row();
            }
        });
    });
}
