//! The dialog for pictures and films.

use std::path::PathBuf;

use egui::{
    Align, Button, ComboBox, Context, DragValue, Layout, ProgressBar, RichText, TextEdit, Ui,
};

use super::Capture;
use crate::app::actions::CaptureAction;
use crate::app::actions::{Action, Actions};
use crate::app::popup::CENTER;
use crate::app::popup::dialog;
use crate::app::settings::capture::CaptureKind;
use crate::app::settings::capture::CaptureSettings;
use crate::app::settings::capture::FigureFormat;
use crate::app::settings::capture::MAX_SIDE;
use crate::app::settings::capture::MIN_SIDE;
use crate::app::settings::capture::{MAX_COLUMNS, MAX_FIGURE_PIXELS};
use crate::app::theme;
use crate::app::widgets::row;
use crate::io::AnimationFormat;
use crate::session::JobView;

/// Sizes with names.
const SIZES: [(&str, [u32; 2]); 6] = [
    ("Small square", [480, 480]),
    ("Square", [1080, 1080]),
    ("HD", [1280, 720]),
    ("Full HD", [1920, 1080]),
    ("Upright", [1080, 1350]),
    ("4K", [3840, 2160]),
];

/// Input of the dialog.
#[derive(Debug, Clone, Copy)]
pub struct CaptureView<'a> {
    /// The current settings.
    pub settings: &'a CaptureSettings,
    /// Whether a character is open.
    pub has_character: bool,
    /// Duration of the clip being shown, in seconds; `None` without a clip.
    pub clip_secs: Option<f64>,
    /// Size of the active view in pixels.
    pub view_size: [u32; 2],
    /// Number of views that are shown, and of those in their first row.
    pub views: [usize; 2],
    /// The running job.
    pub job: Option<&'a JobView>,
}

impl Capture {
    /// Draws the dialog, if it is open.
    pub fn ui(
        &mut self,
        ctx: &Context,
        has_character: bool,
        clip_secs: Option<f64>,
        view_size: [u32; 2],
        views: [usize; 2],
        actions: &mut Actions,
    ) {
        if !self.open {
            return;
        }
        let mut open = true;
        let job = self.job();
        let view = CaptureView {
            settings: &self.settings,
            has_character,
            clip_secs,
            view_size,
            views,
            job: job.as_ref(),
        };
        dialog(ctx, "Export picture", &mut open, 440.0, CENTER, |ui| {
            capture_ui(ui, &view, actions);
        });
        if !open {
            actions.push(Action::Capture(CaptureAction::ToggleDialog));
        }
    }
}

/// Draws the contents of the dialog.
pub fn capture_ui(ui: &mut Ui, view: &CaptureView<'_>, actions: &mut Actions) {
    let mut settings = view.settings.clone();
    ui.add_enabled_ui(view.job.is_none(), |ui| {
        kind_ui(ui, view, &mut settings);
        size_ui(ui, view, &mut settings);
        time_ui(ui, view, &mut settings);
        row(ui, "Background", "What stands behind", |ui, _| {
            ui.checkbox(&mut settings.transparent, "Transparent")
                .on_hover_text("Nothing stands behind, and the floor is left out");
        });
        file_ui(ui, &mut settings, actions);
    });
    if settings != *view.settings {
        actions.push(Action::Capture(CaptureAction::Set(settings)));
    }
    ui.separator();
    match view.job {
        Some(job) => job_ui(ui, job, actions),
        None => buttons_ui(ui, view, actions),
    }
}

fn kind_ui(ui: &mut Ui, view: &CaptureView<'_>, settings: &mut CaptureSettings) {
    row(ui, "Make", "What is made", |ui, _| {
        for what in CaptureKind::ALL {
            let (name, sentence) = what.words();
            let possible = what != CaptureKind::Clip || view.clip_secs.is_some();
            ui.add_enabled_ui(possible, |ui| {
                let choice = ui
                    .selectable_value(&mut settings.what, what, name)
                    .on_hover_text(sentence);
                choice.on_disabled_hover_text("Show a clip first");
            });
        }
        if view.clip_secs.is_none() {
            let color = theme::colors(ui.ctx()).text_weak;
            ui.label(RichText::new("(no clip is shown)").small().color(color));
        }
    });
    if settings.what == CaptureKind::Figure {
        figure_ui(ui, view, settings);
    } else if settings.what != CaptureKind::Picture {
        row(ui, "As", "The kind of file", |ui, _| {
            for format in AnimationFormat::ALL {
                let sentence = match format {
                    AnimationFormat::Gif => {
                        "Plays everywhere; at most 256 colours a frame, up to 50 frames a second"
                    }
                    AnimationFormat::Webp => "Plays in browsers; all colours, soft transparency",
                    AnimationFormat::Mp4 => "For players and video editors; no transparency",
                    AnimationFormat::Webm => "Small, for browsers; soft transparency",
                    AnimationFormat::Png => "A file for every frame, for video editors",
                };
                let unavailable = format.unavailable_reason();
                ui.add_enabled_ui(unavailable.is_none(), |ui| {
                    ui.selectable_value(&mut settings.format, format, format.label())
                        .on_hover_text(sentence)
                        .on_disabled_hover_text(unavailable.unwrap_or_default());
                });
            }
        });
    }
}

fn figure_ui(ui: &mut Ui, view: &CaptureView<'_>, settings: &mut CaptureSettings) {
    let figure = &mut settings.figure;
    row(ui, "As", "The kind of file", |ui, _| {
        for (format, name, sentence) in FigureFormat::ALL {
            ui.selectable_value(&mut figure.format, format, name)
                .on_hover_text(sentence);
        }
    });
    row(ui, "With", "What is below every picture", |ui, _| {
        ui.checkbox(&mut figure.labels, "Names")
            .on_hover_text("A letter and the method of the view");
        ui.checkbox(&mut figure.scores, "Scores").on_hover_text(
            "Change of volume, new self-intersections and stretch of this very state",
        );
        ui.checkbox(&mut figure.legends, "Colour bars")
            .on_hover_text("The meaning of the colours, outside the picture");
    });
    row(ui, "Columns", "Pictures in a row", |ui, _| {
        let columns = ui.add(
            DragValue::new(&mut figure.columns)
                .range(0..=MAX_COLUMNS)
                .speed(0.05)
                .custom_formatter(|value, _| {
                    if value < 1.0 {
                        "As in the window".to_owned()
                    } else {
                        format!("{value:.0}")
                    }
                }),
        );
        columns.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, "Columns"));
        let [views, _] = view.views;
        let text = if views == 1 {
            "of one view".to_owned()
        } else {
            format!("of {views} views")
        };
        ui.label(RichText::new(text).color(theme::colors(ui.ctx()).text_weak));
    });
}

fn size_ui(ui: &mut Ui, view: &CaptureView<'_>, settings: &mut CaptureSettings) {
    let meaning = if settings.what == CaptureKind::Figure {
        "Width and height of every picture in pixels"
    } else {
        "Width and height in pixels"
    };
    row(ui, "Size", meaning, |ui, _| {
        // Three digits take the width of four.
        ui.spacing_mut().interact_size.x = 50.0;
        for (side, name) in settings.size.iter_mut().zip(["Width", "Height"]) {
            let response = ui.add(DragValue::new(side).range(MIN_SIDE..=MAX_SIDE).speed(4.0));
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::SpinButton, true, name));
            response.on_hover_text(format!("{name} in pixels"));
            if name == "Width" {
                ui.label("×");
            }
        }
        let sizes = SIZES.into_iter().chain([(
            "As the view",
            view.view_size.map(|side| side.clamp(MIN_SIDE, MAX_SIDE)),
        )]);
        let chosen = sizes
            .clone()
            .find(|(_, size)| *size == settings.size)
            .map_or("Own size", |(name, _)| name);
        let combo = ComboBox::from_id_salt("capture size")
            .selected_text(chosen)
            .width(120.0)
            .show_ui(ui, |ui| {
                for (name, size) in sizes {
                    ui.selectable_value(
                        &mut settings.size,
                        size,
                        format!("{name}   {} × {}", size[0], size[1]),
                    );
                }
            });
        combo
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Named sizes"));
    });
}

fn time_ui(ui: &mut Ui, view: &CaptureView<'_>, settings: &mut CaptureSettings) {
    if settings.is_still() {
        return;
    }
    row(ui, "Rate", "Frames per second", |ui, _| {
        let range = 1.0..=settings.format.max_fps();
        let rate = ui.add(
            DragValue::new(&mut settings.fps)
                .range(range)
                .speed(0.25)
                .max_decimals(1)
                .suffix(" frames per second"),
        );
        rate.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::SpinButton, true, "Frames per second")
        });
    });
    row(ui, "Length", "How long it plays", |ui, _| {
        if settings.what == CaptureKind::Turntable {
            let secs = ui.add(
                DragValue::new(&mut settings.turn_secs)
                    .range(0.2..=60.0)
                    .speed(0.05)
                    .max_decimals(2)
                    .suffix(" s for a turn"),
            );
            secs.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::SpinButton, true, "Seconds for a turn")
            });
        } else {
            ui.label(format!(
                "{:.2} s: the clip, or its range, once",
                view.clip_secs.unwrap_or_default()
            ));
        }
    });
    if settings.what == CaptureKind::Clip {
        row(ui, "Camera", "What the camera does meanwhile", |ui, _| {
            ui.checkbox(&mut settings.turn_with_clip, "Goes round once")
                .on_hover_text("The camera goes once round the character while the clip plays");
        });
    }
}

fn file_ui(ui: &mut Ui, settings: &mut CaptureSettings, actions: &mut Actions) {
    row(ui, "Name", "What the file is called", |ui, label| {
        let extension = format!(".{}", settings.extension());
        let width = ui.available_width() - 44.0;
        ui.add(TextEdit::singleline(&mut settings.name).desired_width(width))
            .labelled_by(label);
        ui.label(RichText::new(extension).color(theme::colors(ui.ctx()).text_weak));
    });
    row(ui, "Folder", "Where the file goes", |ui, label| {
        let mut folder = settings.folder.display().to_string();
        let width = ui.available_width() - 84.0;
        if ui
            .add(TextEdit::singleline(&mut folder).desired_width(width))
            .labelled_by(label)
            .changed()
        {
            settings.folder = PathBuf::from(folder);
        }
        if ui
            .button("Browse…")
            .on_hover_text("Choose folder and name in the system's dialog")
            .clicked()
        {
            actions.push(Action::Capture(CaptureAction::Browse));
        }
    });
}

fn buttons_ui(ui: &mut Ui, view: &CaptureView<'_>, actions: &mut Actions) {
    let settings = view.settings;
    let problem = problem_of(view);
    let note = problem.clone().unwrap_or_else(|| summary(view));
    let colors = theme::colors(ui.ctx());
    let color = if problem.is_some() {
        colors.warning
    } else {
        colors.text_weak
    };
    ui.add(egui::Label::new(RichText::new(note).color(color)).wrap());
    ui.add_space(2.0);
    right_aligned(ui, |ui| {
        let export = ui.add_enabled(
            problem.is_none(),
            Button::new(RichText::new("Export").strong()).fill(colors.accent_fill),
        );
        if export
            .on_hover_text("Make it in the background; the window goes on")
            .clicked()
        {
            actions.push(Action::Capture(CaptureAction::Export));
        }
        let copy = ui.add_enabled(
            view.has_character && settings.what == CaptureKind::Picture,
            Button::new("Copy view"),
        );
        if copy
            .on_hover_text(
                "Copy the active view, as large as it is, to the clipboard (Ctrl+Shift+C)",
            )
            .clicked()
        {
            actions.push(Action::Capture(CaptureAction::CopyView));
        }
    });
}

/// A row of buttons, aligned to the right edge.
fn right_aligned(ui: &mut Ui, buttons: impl FnOnce(&mut Ui)) {
    let size = egui::vec2(ui.available_width(), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), buttons);
}

/// The reason why nothing can be made now.
fn problem_of(view: &CaptureView<'_>) -> Option<String> {
    let settings = view.settings;
    if !view.has_character {
        Some("Open a character first.".to_owned())
    } else if settings.what == CaptureKind::Clip && view.clip_secs.is_none() {
        Some("Show a clip first.".to_owned())
    } else if settings.what == CaptureKind::Figure
        && figure_size(view)
            .iter()
            .map(|side| u64::from(*side))
            .product::<u64>()
            > MAX_FIGURE_PIXELS
    {
        Some("The figure would be too large: make its pictures smaller.".to_owned())
    } else if settings.name.trim().is_empty() {
        Some("Give the file a name.".to_owned())
    } else if !settings.folder.is_dir() {
        Some(format!("There is no folder {}.", settings.folder.display()))
    } else {
        None
    }
}

/// Size of the pictures of a figure together, pixels; gaps and captions come on top.
fn figure_size(view: &CaptureView<'_>) -> [u32; 2] {
    let [views, shown] = view.views;
    let columns = view.settings.figure.columns_of(views, shown);
    let rows = views.max(1).div_ceil(columns);
    let [width, height] = view.settings.size;
    [
        width.saturating_mul(columns as u32),
        height.saturating_mul(rows as u32),
    ]
}

/// A one-line summary of the output.
fn summary(view: &CaptureView<'_>) -> String {
    let settings = view.settings;
    let [width, height] = if settings.what == CaptureKind::Figure {
        figure_size(view)
    } else {
        settings.size
    };
    let frames = settings.frames(view.clip_secs.unwrap_or_default());
    let what = if frames == 1 {
        let without = if settings.what == CaptureKind::Figure {
            " and captions"
        } else {
            ""
        };
        format!("{width} × {height} pixels{without}")
    } else {
        format!("{frames} frames of {width} × {height} pixels")
    };
    let single = settings.is_still() || settings.format != AnimationFormat::Png;
    let replaces = if single && settings.path().exists() {
        "; replaces the file of that name"
    } else {
        ""
    };
    format!("{what}{replaces}.")
}

fn job_ui(ui: &mut Ui, job: &JobView, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(RichText::new(&job.title).color(colors.text_strong)).truncate());
        ui.label(RichText::new(&job.stage).color(colors.text_weak));
    });
    ui.add(
        ProgressBar::new(job.fraction.clamp(0.0, 1.0))
            .desired_height(6.0)
            .fill(colors.accent)
            .animate(false),
    );
    right_aligned(ui, |ui| {
        if ui
            .button("Cancel")
            .on_hover_text("Give it up; nothing half-made is left")
            .clicked()
        {
            actions.push(Action::Capture(CaptureAction::Cancel));
        }
    });
}

#[cfg(test)]
mod tests;
