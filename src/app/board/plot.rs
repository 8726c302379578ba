//! One plot of the scoreboard: grid, lines, peaks, cursor; the pointer shows values and goes to frames.

use std::fmt::Write;

use egui::{
    Align2, CornerRadius, FontId, Painter, PointerButton, Pos2, Rect, Response, Role, Sense, Shape,
    Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::BoardView;
use super::plots::{Plot, line_color, text_of};
use crate::app::actions::Actions;
use crate::app::theme;
use crate::app::timeline::{TimeAxis, TimeStrip, steps};
use crate::report::{printed_unit, shown};
use crate::session::{Command, Gesture, Peak};

/// Height of the frame numbers under the plots while the timeline's ruler is folded, points.
pub(super) const FOOT: f32 = 16.0;
/// Space above and below the lines.
const MARGIN: f32 = 7.0;
/// Width of the numbers beside the grid.
const NUMBERS: f32 = 40.0;
/// A peak is hit within this distance.
const REACH: f32 = 8.0;

/// Where a plot is.
pub(super) struct PlotArea {
    /// Name of the quantity.
    names: Rect,
    /// The plot.
    plot: Rect,
}

impl PlotArea {
    pub(super) fn of(rect: Rect, strip: &TimeStrip) -> Self {
        let rect = rect.shrink2(vec2(0.0, 2.0));
        let left = strip.times.left();
        Self {
            names: Rect::from_min_max(rect.min, pos2(left - NUMBERS, rect.bottom())),
            plot: Rect::from_min_max(
                pos2(left, rect.top()),
                pos2(strip.times.right(), rect.bottom()),
            ),
        }
    }

    /// Height on the screen of a value in the shown unit.
    fn y(&self, value: f64, plot: &Plot) -> f32 {
        let [low, high] = plot.ticks.range();
        let part = ((value - low) / (high - low)) as f32;
        let inner = self.plot.shrink2(vec2(0.0, MARGIN));
        inner.bottom() - part * inner.height()
    }
}

/// Draws a plot and handles the pointer. Returns whether a frame was chosen in it.
pub(super) fn plot_ui(
    ui: &Ui,
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    axis: &mut TimeAxis,
    is_marked: bool,
    actions: &mut Actions,
) -> bool {
    let id = ui.scope_id().with(("plot", plot.quantity.id));
    let response = ui.interact(area.plot, id, Sense::click_and_drag());
    let label = format!("{} over time", plot.quantity.label);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &label));
    axis.zoom_and_pan(ui, &response, view.timeline.duration_secs());
    name_ui(ui, area, plot, is_marked);
    let painter = ui
        .painter()
        .with_clip_rect(ui.clip_rect().intersect(area.plot));
    grid(ui.painter(), &painter, area, view, plot, axis);
    for line in 0..plot.lines.len() {
        draw_line(&painter, area, view, plot, line, axis);
    }
    if !plot.has_values {
        nothing_yet(&painter, area, view);
    }
    let mut chosen = false;
    let mut over_peak = false;
    for line in 0..plot.lines.len() {
        for (rank, peak) in plot.lines[line].peaks.iter().enumerate() {
            let peak_response = peak_ui(ui, &painter, area, view, plot, (line, rank, peak), axis);
            over_peak |= peak_response.contains_pointer();
            if peak_response.clicked() {
                go_to(view, peak.frame, Gesture::Once, actions);
                chosen = true;
            }
        }
    }
    if !over_peak {
        chosen |= hover(&painter, area, view, plot, axis, &response, actions);
    }
    chosen
}

/// Goes to a frame; the clock stops there.
fn go_to(view: &BoardView<'_>, frame: u32, gesture: Gesture, actions: &mut Actions) {
    if view.timeline.playing {
        actions.once(Command::SetPlaying(false));
    }
    let time_secs = f64::from(frame) / view.board.fps();
    actions.send(Command::Scrub { time_secs }, gesture);
}

/// Name and unit of the quantity, with its sentence.
fn name_ui(ui: &Ui, area: &PlotArea, plot: &Plot, is_marked: bool) {
    let colors = theme::colors(ui.ctx());
    let color = if is_marked {
        colors.accent
    } else {
        colors.text
    };
    let unit = printed_unit(plot.quantity);
    let text = if unit.is_empty() {
        plot.quantity.label.to_owned()
    } else {
        format!("{}, {unit}", plot.quantity.label)
    };
    let galley = ui.painter().layout(
        text.clone(),
        FontId::proportional(11.5),
        color,
        area.names.width() - 4.0,
    );
    let names = area.names.intersect(ui.clip_rect());
    let painter = ui.painter().with_clip_rect(names);
    painter.galley(area.names.min + vec2(0.0, 4.0), galley, color);
    let id = ui.scope_id().with(("name", plot.quantity.id));
    let response = ui.interact(names, id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    response.on_hover_text(plot.quantity.doc);
}

/// Ground, grid with its numbers, and the cursor of the clock.
fn grid(
    outside: &Painter,
    painter: &Painter,
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    axis: &TimeAxis,
) {
    let colors = theme::colors(painter.ctx());
    painter.rect_filled(area.plot, CornerRadius::same(3), colors.sunken);
    let [from, to] = view
        .timeline
        .range_secs
        .unwrap_or([0.0, view.timeline.duration_secs()]);
    let inside = Rect::from_x_y_ranges(axis.x(from)..=axis.x(to), area.plot.y_range());
    painter.rect_filled(inside, CornerRadius::ZERO, colors.panel);
    if plot.has_values {
        let values = plot.ticks.values();
        // Numbers that would touch are left out.
        let gap = (area.y(values[0], plot) - area.y(values[1], plot)).abs();
        let every = (12.0 / gap.max(0.1)).ceil() as usize;
        for (index, &tick) in values.iter().enumerate() {
            let y = area.y(tick, plot);
            let width = if tick == 0.0 { 1.2 } else { 0.6 };
            painter.hline(area.plot.x_range(), y, Stroke::new(width, colors.line));
            if index.is_multiple_of(every.max(1)) {
                outside.text(
                    pos2(area.plot.left() - 5.0, y),
                    Align2::RIGHT_CENTER,
                    plot.ticks.text(tick),
                    FontId::proportional(10.0),
                    colors.text_weak,
                );
            }
        }
    }
    let x = axis.x(view.timeline.time_secs);
    painter.vline(x, area.plot.y_range(), Stroke::new(1.5, colors.accent));
}

/// Says why a plot is empty.
fn nothing_yet(painter: &Painter, area: &PlotArea, view: &BoardView<'_>) {
    let text = if view.board.progress().is_some() && !view.board.is_cancelled() {
        "Measuring…"
    } else if view.board.is_cancelled() {
        "Cancelled"
    } else {
        "None of the methods shown has this"
    };
    painter.text(
        area.plot.center(),
        Align2::CENTER_CENTER,
        text,
        FontId::proportional(11.5),
        theme::colors(painter.ctx()).text_weak,
    );
}

fn place(
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    axis: &TimeAxis,
    frame: u32,
    value: f64,
) -> Pos2 {
    let secs = f64::from(frame) / view.board.fps();
    pos2(axis.x(secs), area.y(value, plot))
}

fn draw_line(
    painter: &Painter,
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    line: usize,
    axis: &TimeAxis,
) {
    let color = line_color(painter.ctx(), line);
    let points = &plot.lines[line].points;
    for piece in points.split(|(_, value)| value.is_none()) {
        let places: Vec<Pos2> = piece
            .iter()
            .filter_map(|(frame, value)| Some(place(area, view, plot, axis, *frame, (*value)?)))
            .collect();
        match places[..] {
            [] => {}
            [alone] => {
                painter.circle_filled(alone, 1.8, color);
            }
            _ => {
                painter.add(Shape::line(places, Stroke::new(1.6, color)));
            }
        }
    }
}

/// Draws a peak, the worst of a line filled, and returns its response.
fn peak_ui(
    ui: &Ui,
    painter: &Painter,
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    (line, rank, peak): (usize, usize, &Peak),
    axis: &TimeAxis,
) -> Response {
    let value = shown(peak.value, plot.quantity).0;
    let at = place(area, view, plot, axis, peak.frame, value);
    let reach = Rect::from_center_size(at, vec2(2.0 * REACH, 2.0 * REACH));
    let id = ui.scope_id().with(("peak", plot.quantity.id, line, rank));
    let response = ui.interact(reach.intersect(painter.clip_rect()), id, Sense::click());
    let method = view.board.lines().get(line).map_or("", |line| &line.label);
    let text = format!(
        "Peak of {method}, frame {}: {}",
        peak.frame,
        text_of(value, plot.quantity)
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
    let lit = response.hovered() || response.has_focus();
    let radius = if lit { 5.5 } else { 3.8 };
    let color = line_color(painter.ctx(), line);
    let ground = theme::colors(painter.ctx()).panel;
    let fill = if rank == 0 { color } else { ground };
    painter.circle(at, radius, fill, Stroke::new(1.6, color));
    if lit {
        ui.ctx().set_cursor_icon(egui::CursorIcon::PointingHand);
    }
    let known = view.board.at(line, plot.quantity.id, peak.frame);
    let does = match known.and_then(|(_, place)| place) {
        Some(_) => "A click goes there and marks the worst place.",
        None => "A click goes there.",
    };
    response.on_hover_text(format!("{text}. {does}"))
}

/// Shows the values under the pointer; a click or a drag goes to that frame. Returns whether one was chosen.
fn hover(
    painter: &Painter,
    area: &PlotArea,
    view: &BoardView<'_>,
    plot: &Plot,
    axis: &TimeAxis,
    response: &Response,
    actions: &mut Actions,
) -> bool {
    let dragged = response.dragged_by(PointerButton::Primary);
    let pointer = response
        .hover_pos()
        .or_else(|| response.interact_pointer_pos().filter(|_| dragged));
    let Some(pointer) = pointer else {
        return false;
    };
    let fps = view.board.fps();
    let last = (view.timeline.duration_secs() * fps + 1e-6).floor();
    let frame = (axis.secs(pointer.x) * fps).round().clamp(0.0, last);
    let goes = response.clicked() || dragged;
    if goes {
        go_to(view, frame as u32, Gesture::Once, actions);
    }
    let Some(measured) = plot.nearest(frame) else {
        return goes;
    };
    let colors = theme::colors(painter.ctx());
    let x = axis.x(f64::from(measured) / fps);
    painter.vline(x, area.plot.y_range(), Stroke::new(1.0, colors.text_weak));
    let mut text = format!("Frame {measured}, {:.2} s", f64::from(measured) / fps);
    for (index, line) in view.board.lines().iter().enumerate() {
        let Some(value) = plot.value(index, measured) else {
            continue;
        };
        let at = place(area, view, plot, axis, measured, value);
        painter.circle_filled(at, 3.0, line_color(painter.ctx(), index));
        let value = text_of(value, plot.quantity);
        let _ = write!(text, "\n{}: {value}", line.label);
    }
    response.clone().on_hover_text_at_pointer(text);
    goes
}

/// Frame numbers under the plots, while the timeline does not show them.
pub(super) fn foot_ui(ui: &Ui, rect: Rect, view: &BoardView<'_>, axis: &TimeAxis) {
    let colors = theme::colors(ui.ctx());
    let fps = view.timeline.fps();
    let (label, _) = steps(axis.points_per_sec() / fps as f32, fps);
    let first =
        (axis.secs(rect.left()) * fps).max(0.0) as u64 / u64::from(label) * u64::from(label);
    for frame in (first..).step_by(label as usize) {
        let x = axis.x(frame as f64 / fps);
        if x > rect.right() {
            break;
        }
        if x < rect.left() {
            continue;
        }
        ui.painter().text(
            pos2(x, rect.center().y),
            Align2::CENTER_CENTER,
            frame.to_string(),
            FontId::proportional(10.5),
            colors.text_weak,
        );
    }
}
