//! Notices: messages over the views, the list of all messages, and the hint during drag and drop.
//!
//! Information disappears after a while; warnings and errors stay until dismissed. All can be read
//! again in the list, which the bell in the status line opens.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use egui::{
    Align, Align2, Area, Color32, Context, CornerRadius, FontId, Frame, Id, Label, Layout, Margin,
    Order, ProgressBar, Rect, RichText, ScrollArea, Stroke, Ui, vec2,
};

use super::actions::Actions;
use super::clearing::clear_place;
use super::icons::{self, Icon};
use super::theme;
use crate::app::popup::dialog;
use crate::session::{Command, JobView, Level, Message, MessageId};

/// Maximum number of messages shown at a time; older ones are queued.
const SHOWN: usize = 4;
/// Maximum number of messages in the list.
const KEPT: usize = 200;
/// Width of a message, points.
const WIDTH: f32 = 380.0;
/// Display time of information, seconds.
const STAYS_SECS: f64 = 6.0;
/// Fade-out time, seconds.
const FADES_SECS: f64 = 0.6;

/// A message in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    id: MessageId,
    /// Its severity.
    pub level: Level,
    /// Its text.
    pub text: String,
    /// Time of arrival.
    pub at: SystemTime,
    /// Time of arrival on egui's clock; reset while the pointer is over the message.
    born_secs: f64,
}

/// All messages since the window was opened.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    list: VecDeque<Notice>,
    open: bool,
    unread: usize,
}

impl Notices {
    /// Adds new messages.
    pub fn follow(&mut self, messages: &[Message], time_secs: f64) {
        for message in messages {
            if self.list.iter().any(|notice| notice.id == message.id) {
                continue;
            }
            self.list.push_back(Notice {
                id: message.id,
                level: message.level,
                text: message.text.clone(),
                at: SystemTime::now(),
                born_secs: time_secs,
            });
            self.unread += usize::from(!self.open);
            match message.level {
                Level::Info => log::info!("{}", message.text),
                Level::Warning => log::warn!("{}", message.text),
                Level::Error => log::error!("{}", message.text),
            }
        }
        while self.list.len() > KEPT {
            self.list.pop_front();
        }
    }

    /// Number of unread messages, and their highest severity.
    #[must_use]
    pub fn unread(&self) -> (usize, Option<Level>) {
        (
            self.unread,
            self.list
                .iter()
                .rev()
                .take(self.unread)
                .map(|notice| notice.level)
                .max(),
        )
    }

    /// Opens or closes the list.
    pub fn toggle(&mut self) {
        (self.open, self.unread) = (!self.open, 0);
    }

    /// Whether the list is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes the list. Returns whether it was open.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    /// Opacity of a message: 1 fully visible, 0 gone.
    fn presence(&self, message: &Message, time_secs: f64) -> f64 {
        let born = self
            .list
            .iter()
            .find(|notice| notice.id == message.id)
            .map_or(time_secs, |notice| notice.born_secs);
        match message.level {
            Level::Info => {
                ((born + STAYS_SECS + FADES_SECS - time_secs) / FADES_SECS).clamp(0.0, 1.0)
            }
            Level::Warning | Level::Error => 1.0,
        }
    }

    /// Draws the newest messages in the lower right corner of the views, beside existing plates.
    pub fn toasts_ui(
        &mut self,
        ctx: &Context,
        viewport: Rect,
        plates: &[Rect],
        messages: &[Message],
        actions: &mut Actions,
    ) {
        let now_secs = ctx.input(|input| input.time);
        self.follow(messages, now_secs);
        if messages.is_empty() {
            return;
        }
        let width = WIDTH.min(viewport.width() - 24.0);
        let room = viewport.shrink(12.0);
        let (id, order) = (Id::unique("messages"), Order::Middle);
        // The size of the last frame is used; the card grows upwards.
        let height = ctx
            .memory(|memory| memory.area_rect(id))
            .map_or(0.0, |area| area.height());
        let corner = Align2::RIGHT_BOTTOM.align_size_within_rect(vec2(width, height), room);
        let place = clear_place(room, corner, plates);
        let area = Area::new(id)
            .order(order)
            .fixed_pos(place.max)
            .pivot(Align2::RIGHT_BOTTOM)
            .constrain_to(viewport);
        let shown = area.show(ctx, |ui| {
            ui.set_width(width);
            for message in messages.iter().rev().take(SHOWN) {
                self.toast_ui(ui, message, now_secs, actions);
                ui.add_space(2.0);
            }
            if messages.len() > SHOWN
                && ui
                    .button(format!("{} more", messages.len() - SHOWN))
                    .clicked()
            {
                self.open = true;
            }
        });
        if shown.response.rect.height() != height {
            ctx.request_discard("the messages have another height");
        }
    }

    fn toast_ui(&mut self, ui: &mut Ui, message: &Message, now_secs: f64, actions: &mut Actions) {
        let presence = self.presence(message, now_secs);
        if presence <= 0.0 {
            actions.once(Command::DismissMessage(message.id));
            return;
        }
        if message.level == Level::Info {
            let soft = ui.style().animation_time > 0.0;
            let wait = if presence < 1.0 && soft {
                1.0 / 30.0
            } else {
                STAYS_SECS / 12.0
            };
            ui.ctx()
                .request_repaint_after(Duration::from_secs_f64(wait));
        }
        let (icon, color, fill) = icon_and_colors(ui, message.level);
        ui.scope(|ui| {
            if ui.style().animation_time > 0.0 {
                ui.set_opacity(presence as f32);
            }
            let card = card(fill, color).show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    icons::label(ui, icon, color);
                    text_ui(ui, &message.text, 30.0);
                    if icons::plain_button(ui, Icon::Close, "Dismiss").clicked() {
                        actions.once(Command::DismissMessage(message.id));
                    }
                });
            });
            // A message under the pointer does not fade.
            let read = ui
                .ctx()
                .pointer_hover_pos()
                .is_some_and(|at| card.response.rect.contains(at));
            if let Some(notice) = self
                .list
                .iter_mut()
                .find(|notice| read && notice.id == message.id)
            {
                notice.born_secs = now_secs;
            }
        });
    }

    /// Draws the list, if it is open.
    pub fn list_ui(&mut self, ctx: &Context) {
        let mut open = self.open;
        let size = ctx.content_rect().size();
        dialog(
            ctx,
            "Notifications",
            &mut open,
            420.0,
            (Align2::RIGHT_BOTTOM, vec2(-12.0, -38.0)),
            |ui| {
                if self.list.is_empty() {
                    ui.label(
                        RichText::new("No messages so far.")
                            .color(theme::colors(ui.ctx()).text_weak),
                    );
                    return;
                }
                ui.horizontal(|ui| {
                    if icons::text_button(ui, Icon::Copy, "Copy all")
                        .on_hover_text("Copies the whole list")
                        .clicked()
                    {
                        let lines: Vec<String> = self.list.iter().map(line).collect();
                        ui.ctx().copy_text(lines.join("\n"));
                    }
                    if icons::text_button(ui, Icon::Bin, "Clear")
                        .on_hover_text("Empties the list")
                        .clicked()
                    {
                        self.list.clear();
                    }
                });
                ui.add_space(2.0);
                let height = (size.y * 0.5).max(120.0);
                ScrollArea::vertical()
                    .max_height(height)
                    .min_scrolled_height(height)
                    .auto_shrink([false, true])
                    .show(ui, |ui| {
                        for notice in self.list.iter().rev() {
                            notice_ui(ui, notice);
                        }
                    });
                // The displayed ages change.
                ui.ctx().request_repaint_after(Duration::from_secs(20));
            },
        );
        self.open = open;
    }
}

fn notice_ui(ui: &mut Ui, notice: &Notice) {
    let (icon, color, _) = icon_and_colors(ui, notice.level);
    ui.horizontal_top(|ui| {
        icons::label(ui, icon, color);
        text_ui(ui, &notice.text, 108.0);
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            if icons::plain_button(ui, Icon::Copy, "Copy message").clicked() {
                ui.ctx().copy_text(notice.text.clone());
            }
            ui.label(
                RichText::new(ago(notice.at))
                    .small()
                    .color(theme::colors(ui.ctx()).text_weak),
            );
        });
    });
    ui.separator();
}

fn text_ui(ui: &mut Ui, text: &str, beside: f32) {
    let width = (ui.available_width() - beside).max(60.0);
    ui.allocate_ui_with_layout(vec2(width, 0.0), Layout::top_down(Align::Min), |ui| {
        ui.set_min_width(width);
        ui.add(
            Label::new(RichText::new(text).color(theme::colors(ui.ctx()).text_strong))
                .wrap()
                .selectable(true),
        );
    });
}

fn icon_and_colors(ui: &Ui, level: Level) -> (Icon, Color32, Color32) {
    let colors = theme::colors(ui.ctx());
    match level {
        Level::Info => (Icon::Info, colors.mended, colors.info_fill),
        Level::Warning => (Icon::Warning, colors.warning, colors.warning_fill),
        Level::Error => (Icon::Warning, colors.error, colors.error_fill),
    }
}

fn line(notice: &Notice) -> String {
    let level = match notice.level {
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    format!(
        "{} {level}: {}",
        crate::logbook::clock_text(notice.at),
        notice.text
    )
}

/// Age as text.
fn ago(at: SystemTime) -> String {
    let secs = at.elapsed().map_or(0, |since| since.as_secs());
    match secs {
        0..30 => "just now".to_owned(),
        30..90 => "1 min ago".to_owned(),
        90..3_570 => format!("{} min ago", (secs + 30) / 60),
        _ => format!("{} h ago", (secs + 1_800) / 3_600),
    }
}

fn card(fill: Color32, line: Color32) -> Frame {
    Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line.gamma_multiply(0.5)))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::symmetric(10, 8))
}

/// Draws background jobs in the middle of an empty view; beside a character the status line shows
/// them.
pub fn jobs_ui(ctx: &Context, viewport: Rect, jobs: &[JobView], actions: &mut Actions) {
    if jobs.is_empty() {
        return;
    }
    let area = Area::new(Id::unique("jobs"))
        .order(Order::Middle)
        .fixed_pos(viewport.center())
        .pivot(Align2::CENTER_CENTER);
    let colors = theme::colors(ctx);
    area.constrain_to(viewport).show(ctx, |ui| {
        card(colors.panel, colors.line).show(ui, |ui| {
            ui.set_width(WIDTH.min(viewport.width() - 48.0));
            for job in jobs {
                ui.horizontal(|ui| {
                    ui.add(
                        Label::new(RichText::new(&job.title).color(colors.text_strong)).truncate(),
                    );
                    ui.add(
                        Label::new(RichText::new(&job.stage).color(colors.text_weak)).truncate(),
                    );
                });
                ui.add(
                    ProgressBar::new(job.fraction.clamp(0.0, 1.0))
                        .desired_height(6.0)
                        .fill(colors.accent)
                        .animate(false),
                );
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

/// Draws the drop target of dragged files.
pub fn drop_hint(ctx: &Context, window: Rect) {
    let files = ctx.input(|input| input.raw.hovered_files.len());
    if files == 0 {
        return;
    }
    let painter = ctx.layer_painter(egui::LayerId::new(
        Order::Foreground,
        Id::unique("drop hint"),
    ));
    let colors = theme::colors(ctx);
    painter.rect_filled(window, 0.0, colors.scrim);
    painter.rect_stroke(
        window.shrink(10.0),
        10.0,
        Stroke::new(2.0, colors.plate_accent),
        egui::StrokeKind::Inside,
    );
    let text = if files == 1 {
        "Drop the file to open it".to_owned()
    } else {
        format!("Drop {files} files to open what belongs together")
    };
    let galley = painter.layout_no_wrap(text, FontId::proportional(22.0), colors.plate_text);
    let plate = Rect::from_center_size(window.center(), galley.size()).expand2(vec2(20.0, 12.0));
    painter.rect_filled(plate, 8.0, colors.plate);
    painter.galley(plate.min + vec2(20.0, 12.0), galley, colors.plate_text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_messages_show_their_age() {
        let before = |secs: u64| ago(SystemTime::now() - Duration::from_secs(secs));
        assert_eq!(
            [before(1), before(60), before(600), before(7_300)],
            ["just now", "1 min ago", "10 min ago", "2 h ago"].map(str::to_owned)
        );
    }
}
