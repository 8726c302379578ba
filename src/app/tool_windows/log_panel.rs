//! The log window: search the log, and copy it into a bug report.

use egui::{ComboBox, Context, Label, RichText, ScrollArea, TextEdit, Ui, Window};
use log::{Level, LevelFilter};

use crate::app::icons::{self, Icon};
use crate::app::popup::title_ui;
use crate::app::theme;
use crate::app::widgets::name_text_field;
use crate::logbook::{self, LogEntry};

/// The window.
#[derive(Debug, Clone)]
pub struct LogPanel {
    open: bool,
    search: String,
    level: LevelFilter,
    /// Count and records at the last update.
    seen: (u64, Vec<LogEntry>),
}

impl Default for LogPanel {
    fn default() -> Self {
        Self {
            open: false,
            search: String::new(),
            level: LevelFilter::Info,
            seen: (u64::MAX, Vec::new()),
        }
    }
}

impl LogPanel {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        self.open = !self.open;
        self.seen = (u64::MAX, Vec::new());
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Closes it. Returns whether it was open.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    /// Draws it, if it is open.
    pub fn ui(&mut self, ctx: &Context) {
        if !self.open {
            return;
        }
        let count = logbook::count();
        if self.seen.0 != count {
            self.seen = (count, logbook::entries());
        }
        let mut open = true;
        let size = ctx.content_rect().size();
        let window = Window::new("Log")
            .title_bar(false)
            .default_size([(size.x * 0.6).min(820.0), (size.y * 0.5).min(420.0)]);
        window.min_width(420.0).min_height(180.0).show(ctx, |ui| {
            title_ui(ui, "Log", &mut open);
            self.contents(ui);
        });
        self.open = open;
    }

    fn contents(&mut self, ui: &mut Ui) {
        let wanted = self.search.to_lowercase();
        let fits = |entry: &LogEntry| {
            entry.level <= self.level
                && (wanted.is_empty()
                    || entry.text.to_lowercase().contains(&wanted)
                    || entry.target.to_lowercase().contains(&wanted))
        };
        let listed: Vec<usize> = self
            .seen
            .1
            .iter()
            .enumerate()
            .filter(|(_, entry)| fits(entry))
            .map(|(index, _)| index)
            .collect();
        ui.horizontal(|ui| {
            let response = ui.add(
                TextEdit::singleline(&mut self.search)
                    .hint_text("Search the log")
                    .desired_width(200.0),
            );
            name_text_field(&response, "Search the log");
            level_ui(ui, &mut self.level);
            if icons::text_button(ui, Icon::Copy, "Copy")
                .on_hover_text("Copies what is listed")
                .clicked()
            {
                let lines: Vec<String> = listed
                    .iter()
                    .map(|&index| self.seen.1[index].line())
                    .collect();
                ui.ctx().copy_text(lines.join("\n"));
            }
            if icons::text_button(ui, Icon::Bin, "Clear")
                .on_hover_text("Clears this list; the file is kept")
                .clicked()
            {
                logbook::clear();
                self.seen = (u64::MAX, Vec::new());
            }
        });
        if let Some(path) = logbook::file_path() {
            let text = RichText::new(format!("Also in {}", path.display()))
                .small()
                .color(theme::colors(ui.ctx()).text_weak);
            ui.add(Label::new(text).truncate().selectable(true));
        }
        ui.add_space(2.0);
        let height = ui.text_style_height(&egui::TextStyle::Monospace);
        if self.seen.1.is_empty() || listed.is_empty() {
            ui.label(RichText::new("The log is empty.").color(theme::colors(ui.ctx()).text_weak));
        }
        ScrollArea::both()
            .auto_shrink(false)
            .stick_to_bottom(true)
            .show_rows(ui, height, listed.len(), |ui, range| {
                for &index in &listed[range] {
                    if let Some(entry) = self.seen.1.get(index) {
                        entry_ui(ui, entry);
                    }
                }
            });
    }
}

fn level_ui(ui: &mut Ui, level: &mut LevelFilter) {
    let name = |level: LevelFilter| match level {
        LevelFilter::Error => "Errors",
        LevelFilter::Warn => "Warnings and errors",
        LevelFilter::Info => "Information and above",
        _ => "Everything",
    };
    let combo = ComboBox::from_id_salt("log level")
        .selected_text(name(*level))
        .width(150.0);
    let response = combo.show_ui(ui, |ui| {
        for other in [
            LevelFilter::Error,
            LevelFilter::Warn,
            LevelFilter::Info,
            LevelFilter::Trace,
        ] {
            ui.selectable_value(level, other, name(other));
        }
    });
    let text = format!("Level: {}", name(*level));
    response
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, &text));
}

fn entry_ui(ui: &mut Ui, entry: &LogEntry) {
    let colors = theme::colors(ui.ctx());
    let color = match entry.level {
        Level::Error => colors.error,
        Level::Warn => colors.warning,
        Level::Info => colors.text,
        _ => colors.text_weak,
    };
    let text = RichText::new(entry.line().replace('\n', " "))
        .monospace()
        .color(color);
    ui.add(Label::new(text).extend().selectable(true));
}
