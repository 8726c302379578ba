//! The frame of all windows over the workbench: title, close button, purpose.

use egui::{Align, Align2, Context, Layout, Ui, Vec2, Window};

use crate::app::icons::{self, Icon};
use crate::app::theme;

/// Draws a window of fixed width and position, if it is open.
pub(in crate::app) fn dialog(
    ctx: &Context,
    title: &str,
    open: &mut bool,
    width: f32,
    (anchor, offset): (Align2, Vec2),
    contents: impl FnOnce(&mut Ui),
) {
    if !*open {
        return;
    }
    let width = width.min(ctx.content_rect().width() - 48.0);
    let window = Window::new(title)
        .title_bar(false)
        .resizable(false)
        .anchor(anchor, offset);
    window.show(ctx, |ui| {
        ui.set_width(width);
        title_ui(ui, title, open);
        contents(ui);
    });
}

/// The middle of the window.
pub(in crate::app) const CENTER: (Align2, Vec2) = (Align2::CENTER_CENTER, Vec2::ZERO);

/// A title with a close button.
pub(in crate::app) fn title_ui(ui: &mut Ui, title: &str, open: &mut bool) {
    ui.horizontal(|ui| {
        ui.label(
            theme::strong(ui, title)
                .size(theme::HEADING)
                .color(theme::colors(ui.ctx()).text_strong),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icons::plain_button(ui, Icon::Close, &format!("Close {}", title.to_lowercase()))
                .clicked()
            {
                *open = false;
            }
        });
    });
    ui.add_space(4.0);
}
