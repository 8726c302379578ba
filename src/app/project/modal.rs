//! The frame of all questions.

use egui::{Align, Button, Context, Frame, Id, Layout, Margin, Modal, RichText, Stroke, Ui};

use crate::app::theme;

/// Width of a question, points.
const WIDTH: f32 = 460.0;

/// Draws a question over everything else. Returns whether the user pressed Escape.
pub(super) fn question(
    ctx: &Context,
    id: &str,
    title: &str,
    contents: impl FnOnce(&mut Ui),
) -> bool {
    let colors = theme::colors(ctx);
    let frame = Frame::window(&ctx.global_style())
        .fill(colors.panel)
        .stroke(Stroke::new(1.0, colors.line))
        .inner_margin(Margin::same(18));
    let modal = Modal::new(Id::unique(id))
        .frame(frame)
        .backdrop_color(colors.scrim)
        .show(ctx, |ui| {
            ui.set_width(WIDTH.min(ctx.content_rect().width() - 48.0));
            ui.label(
                RichText::new(title)
                    .size(17.0)
                    .strong()
                    .color(colors.text_strong),
            );
            ui.add_space(6.0);
            contents(ui);
        });
    // A click outside is ignored.
    modal.is_top_modal
        && !modal.any_popup_open
        && ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape))
}

/// The buttons of a question, from the right; Enter chooses the first.
pub(super) fn buttons<T: Copy>(ui: &mut Ui, choices: &[(&str, T)]) -> Option<T> {
    row_of(ui, choices, true)
}

/// As [`buttons`], but without a default.
pub(super) fn plain_buttons<T: Copy>(ui: &mut Ui, choices: &[(&str, T)]) -> Option<T> {
    row_of(ui, choices, false)
}

/// The emphasised default button.
pub(super) fn main_button(text: &str, colors: &theme::Colors) -> Button<'static> {
    Button::new(RichText::new(text).color(colors.text_strong)).fill(colors.accent_fill)
}

fn row_of<T: Copy>(ui: &mut Ui, choices: &[(&str, T)], first_is_main: bool) -> Option<T> {
    let colors = theme::colors(ui.ctx());
    let mut chosen = None;
    ui.add_space(12.0);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        for (index, (name, choice)) in choices.iter().enumerate() {
            let is_main = first_is_main && index == 0;
            let button = if is_main {
                main_button(name, colors)
            } else {
                Button::new(*name)
            };
            let response = ui.add(button.min_size(egui::vec2(76.0, 26.0)));
            let entered = index == 0
                && ui.memory(|memory| memory.focused().is_none())
                && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if response.clicked() || entered {
                chosen = Some(*choice);
            }
        }
    });
    chosen
}
