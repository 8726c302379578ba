//! What floats over the viewport: messages, jobs, and the hint while files are dragged over the window.

use egui::{
    Align, Align2, Area, Color32, Context, CornerRadius, FontId, Frame, Id, Layout, Margin, Order, ProgressBar, Rect, RichText, Stroke, Ui,
    pos2, vec2,
};

use super::actions::Actions;
use super::icons::{self, Icon};
use super::theme;
use crate::session::{Command, JobView, Level, Message};

/// Messages shown at a time; older ones wait.
const SHOWN: usize = 4;
/// Width of a message, points.
const WIDTH: f32 = 380.0;

/// Draws the newest messages in the upper right corner of the viewport.
pub fn messages_ui(ctx: &Context, viewport: Rect, messages: &[Message], actions: &mut Actions) {
    if messages.is_empty() {
        return;
    }
    let width = WIDTH.min(viewport.width() - 24.0);
    let corner = pos2(viewport.right() - 12.0, viewport.top() + 12.0);
    let area = Area::new(Id::unique("messages")).order(Order::Middle).fixed_pos(corner).pivot(Align2::RIGHT_TOP).constrain_to(viewport);
    area.show(ctx, |ui| {
        ui.set_width(width);
        for message in messages.iter().rev().take(SHOWN) {
            message_ui(ui, message, actions);
            ui.add_space(2.0);
        }
        if messages.len() > SHOWN {
            ui.label(RichText::new(format!("and {} more", messages.len() - SHOWN)).color(theme::colors(ui.ctx()).text_weak));
        }
    });
}

fn message_ui(ui: &mut Ui, message: &Message, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let (icon, color, fill) = match message.level {
        Level::Info => (Icon::Info, colors.mended, colors.info_fill),
        Level::Warning => (Icon::Warning, colors.warning, colors.warning_fill),
        Level::Error => (Icon::Warning, colors.error, colors.error_fill),
    };
    card(fill, color).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            icons::label(ui, icon, color);
            let text_width = ui.available_width() - 30.0;
            ui.allocate_ui_with_layout(vec2(text_width, 0.0), Layout::top_down(Align::Min), |ui| {
                ui.set_min_width(text_width);
                ui.add(egui::Label::new(RichText::new(&message.text).color(colors.text_strong)).wrap().selectable(true));
            });
            if icons::plain_button(ui, Icon::Close, "Dismiss").clicked() {
                actions.once(Command::DismissMessage(message.id));
            }
        });
    });
}

fn card(fill: Color32, line: Color32) -> Frame {
    Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line.gamma_multiply(0.5)))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::symmetric(10, 8))
}

/// Draws what runs in the background, at the lower edge of the viewport.
pub fn jobs_ui(ctx: &Context, viewport: Rect, jobs: &[JobView], actions: &mut Actions) {
    if jobs.is_empty() {
        return;
    }
    let at = pos2(viewport.center().x, viewport.bottom() - 16.0);
    let area = Area::new(Id::unique("jobs")).order(Order::Middle).fixed_pos(at).pivot(Align2::CENTER_BOTTOM).constrain_to(viewport);
    let colors = theme::colors(ctx);
    area.show(ctx, |ui| {
        card(colors.panel, colors.line).show(ui, |ui| {
            ui.set_width(WIDTH.min(viewport.width() - 48.0));
            for job in jobs {
                ui.horizontal(|ui| {
                    ui.add(egui::Label::new(RichText::new(&job.title).color(colors.text_strong)).truncate());
                    ui.label(RichText::new(&job.stage).color(colors.text_weak));
                });
                ui.add(ProgressBar::new(job.fraction.clamp(0.0, 1.0)).desired_height(6.0).fill(colors.accent).animate(false));
            }
            ui.add_space(2.0);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if ui.button("Cancel").clicked() {
                    actions.once(Command::CancelJobs);
                }
            });
        });
    });
}

/// Draws where files will go that are dragged over the window.
pub fn drop_hint(ctx: &Context, window: Rect) {
    let files = ctx.input(|input| input.raw.hovered_files.len());
    if files == 0 {
        return;
    }
    let painter = ctx.layer_painter(egui::LayerId::new(Order::Foreground, Id::unique("drop hint")));
    let colors = theme::colors(ctx);
    painter.rect_filled(window, 0.0, colors.scrim);
    painter.rect_stroke(window.shrink(10.0), 10.0, Stroke::new(2.0, colors.plate_accent), egui::StrokeKind::Inside);
    let text = if files == 1 { "Drop the file to open it".to_owned() } else { format!("Drop {files} files to open them as one character") };
    painter.text(window.center(), Align2::CENTER_CENTER, text, FontId::proportional(22.0), colors.plate_text);
}
