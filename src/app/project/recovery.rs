//! Unsaved work of an earlier run: after a crash, a power failure, or a system shutdown.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use egui::{Align, Context, Label, Layout, RichText, ScrollArea, Ui};

use super::modal::{main_button, plain_buttons, question};
use super::push;
use crate::app::actions::Actions;
use crate::app::actions::ProjectAction;
use crate::app::theme;
use crate::session::{ProjectCommand, Recovery};

/// Data for the question.
#[derive(Debug, Clone, Copy)]
pub struct RecoveryView<'a> {
    /// The unsaved work.
    pub recoveries: &'a [Recovery],
    /// The entry for which discarding was requested.
    pub discarding: Option<&'a Path>,
    /// Now, seconds since 1970.
    pub unix_secs: u64,
}

pub(super) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Age as text.
#[must_use]
pub fn ago(secs: u64) -> String {
    let (count, unit) = match secs {
        0..60 => return "less than a minute ago".to_owned(),
        60..3_600 => (secs / 60, "minute"),
        3_600..86_400 => (secs / 3_600, "hour"),
        _ => (secs / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// Offers to open, keep or discard the unsaved work.
pub fn recovery_ui(ctx: &Context, view: &RecoveryView<'_>, actions: &mut Actions) {
    let mut later = false;
    let escaped = question(ctx, "recovery", "Recover unsaved work?", |ui| {
        let text = "Sinew ended with unsaved work. It can be restored.";
        ui.add(Label::new(RichText::new(text).color(theme::colors(ctx).text)).wrap());
        ui.add_space(4.0);
        ScrollArea::vertical().max_height(280.0).show(ui, |ui| {
            for recovery in view.recoveries {
                ui.push_id(&recovery.file, |ui| {
                    recovery_row(ui, recovery, view, actions);
                });
            }
        });
        later = plain_buttons(ui, &[("Keep for later", ())]).is_some();
    });
    if later || escaped {
        actions.once(ProjectCommand::KeepForLater.into());
    }
}

fn recovery_row(ui: &mut Ui, recovery: &Recovery, view: &RecoveryView<'_>, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let when = ago(view.unix_secs.saturating_sub(recovery.unix_secs));
    ui.separator();
    ui.horizontal(|ui| {
        ui.vertical(|ui| {
            ui.set_width((ui.available_width() - 170.0).max(120.0));
            ui.add(Label::new(RichText::new(&recovery.title).color(colors.text_strong)).truncate());
            let place = recovery.project.as_ref().map_or_else(
                || "never saved".to_owned(),
                |path| path.display().to_string(),
            );
            let line = format!("{when}, {place}");
            ui.add(Label::new(RichText::new(&line).color(colors.text_weak)).truncate())
                .on_hover_text(line);
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if view.discarding == Some(recovery.file.as_path()) {
                if ui
                    .button(RichText::new("Discard permanently").color(colors.error))
                    .clicked()
                {
                    actions.once(ProjectCommand::Discard(recovery.file.clone()).into());
                }
                return;
            }
            if ui
                .add(main_button("Open", colors))
                .on_hover_text("Open this work; it stays unsaved until you save it")
                .clicked()
            {
                actions.once(ProjectCommand::Recover(recovery.file.clone()).into());
            }
            if ui
                .button("Discard")
                .on_hover_text("Throw this work away")
                .clicked()
            {
                push(
                    actions,
                    ProjectAction::AskDiscard(Some(recovery.file.clone())),
                );
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn ages_are_formatted() {
        let said = [0, 59, 60, 3_599, 3_600, 7_200, 90_000, 200_000].map(ago);
        assert_eq!(
            said[..4],
            [
                "less than a minute ago",
                "less than a minute ago",
                "1 minute ago",
                "59 minutes ago"
            ]
            .map(str::to_owned)
        );
        assert_eq!(
            said[4..],
            ["1 hour ago", "2 hours ago", "1 day ago", "2 days ago"].map(str::to_owned)
        );
    }
}
