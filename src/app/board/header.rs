//! The line above the plots: choice of metrics, legend, progress, export.

use std::fmt::Write;

use egui::{Align, ComboBox, Layout, ProgressBar, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::plots::line_color;
use super::{BoardPanel, BoardView};
use crate::app::actions::{Action, Actions, BoardAction, ProjectAction};
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::metrics::{METRICS, Quantity};
use crate::report::printed_unit;

/// Width of the progress bar, points.
const BAR_WIDTH: f32 = 84.0;
/// Names in the legend are cut at this width.
const NAME_WIDTH: f32 = 190.0;

/// Draws the line.
pub(super) fn header_ui(
    ui: &mut Ui,
    view: &BoardView<'_>,
    panel: &mut BoardPanel,
    actions: &mut Actions,
) {
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.label(theme::strong(ui, "Scoreboard").color(theme::colors(ui.ctx()).text_strong));
        metrics_menu(ui, panel);
        if has_distance(panel) && view.board.lines().len() > 1 {
            distance_ui(ui, view, panel);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = icons::plain_button(ui, Icon::Close, "Close the scoreboard");
            if close.on_hover_text("Close the scoreboard").clicked() {
                actions.push(Action::Board(BoardAction::Toggle));
            }
            let has_values = panel.plots.list.iter().any(|plot| plot.has_values);
            let export = ui
                .add_enabled(has_values, egui::Button::new("Export…"))
                .on_hover_text("Writes the plots as .svg or .png, or the values as .csv");
            if export.clicked() {
                actions.push(Action::Project(ProjectAction::AskScores));
            }
            progress_ui(ui, view, actions);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                legend_ui(ui, view);
            });
        });
    });
}

fn has_distance(panel: &BoardPanel) -> bool {
    let plots = panel.plots.list.iter();
    plots
        .map(|plot| plot.quantity.id)
        .any(|id| crate::metrics::quantity(id).is_some_and(|(metric, _)| metric.needs_reference))
}

/// A check list of all quantities, in the order of reports.
fn metrics_menu(ui: &mut Ui, panel: &mut BoardPanel) {
    let button = ui.button("Metrics");
    let button = button.on_hover_text("What is plotted");
    egui::Popup::menu(&button)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show(|ui| {
            ui.set_min_width(250.0);
            let quantities = || METRICS.into_iter().flat_map(|metric| metric.quantities);
            for quantity in quantities() {
                let chosen = &mut panel.state.quantities;
                let mut wanted = chosen.iter().any(|id| id == quantity.id);
                let response = ui.checkbox(&mut wanted, name_of(quantity));
                if response.on_hover_text(quantity.doc).changed() {
                    chosen.retain(|id| id != quantity.id);
                    if wanted {
                        chosen.push(quantity.id.to_owned());
                    }
                    let place = |id: &String| quantities().position(|known| known.id == id);
                    chosen.sort_by_key(|id| place(id).unwrap_or(usize::MAX));
                }
            }
        });
}

/// Name with the unit in which values are shown.
fn name_of(quantity: &Quantity) -> String {
    match printed_unit(quantity) {
        "" => quantity.label.to_owned(),
        unit => format!("{} ({unit})", quantity.label),
    }
}

/// The method that distances are measured to.
fn distance_ui(ui: &mut Ui, view: &BoardView<'_>, panel: &mut BoardPanel) {
    let lines = view.board.lines();
    let target = view.board.distance_to().and_then(|line| lines.get(line));
    let text = target.map_or_else(String::new, |line| format!("Distance to {}", line.label));
    let combo = ComboBox::from_id_salt("distance to").selected_text(&text);
    let response = combo.width(150.0).truncate().show_ui(ui, |ui| {
        for (index, line) in lines.iter().enumerate() {
            let is_target = view.board.distance_to() == Some(index);
            if ui.selectable_label(is_target, &line.label).clicked() {
                panel.state.distance_to = line.views.first().copied();
            }
        }
    });
    let response = response.response;
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &text));
    response.on_hover_text("The method that distances are measured to");
}

/// A swatch and a name for each line.
fn legend_ui(ui: &mut Ui, view: &BoardView<'_>) {
    let colors = theme::colors(ui.ctx());
    for (index, line) in view.board.lines().iter().enumerate() {
        let failure = view.board.failure(index);
        let color = if failure.is_some() {
            colors.error
        } else {
            colors.text
        };
        let font = egui::FontId::proportional(12.0);
        let mut galley = ui
            .painter()
            .layout_no_wrap(line.label.clone(), font.clone(), color);
        if galley.size().x > NAME_WIDTH {
            galley = ui
                .painter()
                .layout_no_wrap(line.method.short_label().to_owned(), font, color);
        }
        let size = vec2(galley.size().x + 24.0, 20.0);
        if ui.available_width() < size.x + 20.0 {
            let left = view.board.lines().len() - index;
            ui.label(RichText::new(format!("+{left}")).color(colors.text_weak));
            break;
        }
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let y = rect.center().y;
        let swatch = egui::Stroke::new(3.0, line_color(ui.ctx(), index));
        ui.painter()
            .hline(rect.left()..=rect.left() + 14.0, y, swatch);
        let at = egui::pos2(rect.left() + 19.0, y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, color);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &line.label));
        response.on_hover_text(about(view, index));
    }
}

/// What a line is.
fn about(view: &BoardView<'_>, index: usize) -> String {
    let Some(line) = view.board.lines().get(index) else {
        return String::new();
    };
    let numbers: Vec<String> = view
        .views
        .list()
        .iter()
        .enumerate()
        .filter(|(_, shown)| line.views.contains(&shown.id))
        .map(|(number, _)| (number + 1).to_string())
        .collect();
    let mut text = format!("{}: view {}.", line.label, numbers.join(", "));
    if let Some(failure) = view.board.failure(index) {
        return format!("{text} It cannot be measured: {failure}.");
    }
    if line.is_simulated() {
        text.push_str(
            " Measured as the clip plays from its start; a paused view shows the settled pose unless scrubbing is dynamic.",
        );
    }
    if view.board.every() > 1 {
        let every = view.board.every();
        let _ = write!(
            text,
            " The clip is long: one of {every} frames is measured."
        );
    }
    text
}

/// How much is measured, with a button to cancel or to go on.
fn progress_ui(ui: &mut Ui, view: &BoardView<'_>, actions: &mut Actions) {
    let Some(part) = view.board.progress() else {
        return;
    };
    let colors = theme::colors(ui.ctx());
    if view.board.is_cancelled() {
        let resume = ui
            .button("Go on")
            .on_hover_text("Measures the other frames");
        if resume.clicked() {
            actions.push(Action::Board(BoardAction::Resume));
        }
    } else if icons::plain_button(ui, Icon::Close, "Cancel the measurement")
        .on_hover_text("Cancels the measurement; what is measured stays")
        .clicked()
    {
        actions.push(Action::Board(BoardAction::Cancel));
    }
    let bar = ProgressBar::new(part)
        .desired_width(BAR_WIDTH)
        .desired_height(6.0)
        .fill(colors.accent)
        .animate(false);
    let response = ui.add(bar);
    response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Frames measured"));
    let text = format!("{:>3.0} %", part * 100.0);
    ui.label(
        RichText::new(text)
            .small()
            .monospace()
            .color(colors.text_weak),
    );
}
