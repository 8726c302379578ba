//! Drawing of curves.

use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2,
};

use super::layout::{CurveKey, GraphLayout, keys_of};
use crate::app::theme;
use crate::app::timeline::{TimelineState, TimelineView};
use crate::rig::{JointCurve, JointNumber, Side};

/// Half the width of a key, and of the end of a handle, points.
const KEY: f32 = 3.5;
const KNOB: f32 = 3.0;
/// Distance of samples of a curve, points.
const STEP: f32 = 2.5;
/// Smallest distance of lines of values, points.
const GAP: f64 = 24.0;

impl GraphLayout {
    /// The distance of the lines of values: 1, 2 or 5 times a power of ten.
    fn step(&self) -> f64 {
        let least = GAP / self.points_per_value();
        let power = 10_f64.powf(least.log10().floor());
        let choices = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        choices
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(10.0 * power)
    }

    /// Digits after the point with which neighbouring lines differ.
    pub(super) fn digits(&self) -> usize {
        (-self.step().log10().floor()).clamp(0.0, 6.0) as usize
    }
}

/// Draws lines of values, curves, keys and handles.
pub(super) fn paint(ui: &Ui, layout: &GraphLayout, view: &TimelineView<'_>, state: &TimelineState) {
    let colors = theme::colors(ui.ctx());
    let painter = ui
        .painter()
        .with_clip_rect(ui.clip_rect().intersect(layout.rect));
    let graph = &state.graph;
    if graph.curves.curves.is_empty() {
        if view.take().is_some() {
            let text = if view.selected.is_empty() {
                "Select a joint to see its curves."
            } else {
                "The selected joint has no keys: turn it and press K."
            };
            let at = layout.rect.left_top() + vec2(10.0, 10.0);
            painter.text(
                at,
                Align2::LEFT_TOP,
                text,
                FontId::proportional(12.0),
                colors.text_weak,
            );
        }
        return;
    }
    paint_values(&painter, layout, graph.moves);
    for (at, (_, curve)) in graph.curves.curves.iter().enumerate() {
        for number in graph.numbers() {
            let color = shade(colors.axes[number.axis()], at);
            paint_curve(&painter, layout, view, curve, number, color);
        }
    }
    for (at, (joint, curve)) in graph.curves.curves.iter().enumerate() {
        for number in graph.numbers() {
            let color = shade(colors.axes[number.axis()], at);
            for key in keys_of(*joint, curve, number) {
                let selected = state.selected.contains(&key.key);
                if selected {
                    paint_handles(&painter, layout, &key, colors.text_weak);
                }
                let area = Rect::from_center_size(layout.at(&key), vec2(2.0, 2.0) * KEY);
                let ring = if selected {
                    colors.text_strong
                } else {
                    colors.panel
                };
                let stroke = Stroke::new(if selected { 1.5 } else { 1.0 }, ring);
                painter.rect(
                    area,
                    CornerRadius::same(1),
                    color,
                    stroke,
                    StrokeKind::Outside,
                );
            }
        }
    }
    let frame = |pointer| graph.drag.as_ref()?.frame(pointer);
    if let Some(area) = ui.ctx().pointer_latest_pos().and_then(frame) {
        let fill = colors.accent.gamma_multiply(0.12);
        let stroke = Stroke::new(1.0, colors.accent);
        painter.rect(area, CornerRadius::ZERO, fill, stroke, StrokeKind::Inside);
    }
}

/// The colour of the further joints is paler.
fn shade(color: Color32, joint: usize) -> Color32 {
    color.gamma_multiply(0.72_f32.powf(joint as f32))
}

fn paint_values(painter: &Painter, layout: &GraphLayout, moves: bool) {
    let colors = theme::colors(painter.ctx());
    let (step, digits) = (layout.step(), layout.digits());
    let first = (layout.range[0] / step).ceil() as i64;
    let last = (layout.range[1] / step).floor() as i64;
    for line in first..=last.min(first + 100) {
        let value = line as f64 * step;
        let y = layout.y(value);
        let strength = if line == 0 { 1.0 } else { 0.5 };
        let stroke = Stroke::new(1.0, colors.line.gamma_multiply(strength));
        painter.hline(layout.rect.x_range(), y, stroke);
        let unit = if moves { "" } else { "°" };
        painter.text(
            pos2(layout.rect.left() + 3.0, y - 1.0),
            Align2::LEFT_BOTTOM,
            format!("{value:.digits$}{unit}"),
            FontId::proportional(10.0),
            colors.text_weak,
        );
    }
}

fn paint_curve(
    painter: &Painter,
    layout: &GraphLayout,
    view: &TimelineView<'_>,
    curve: &JointCurve,
    number: JointNumber,
    color: Color32,
) {
    let from = layout.axis.secs(layout.rect.left()).max(0.0);
    let to = layout
        .axis
        .secs(layout.rect.right())
        .min(view.duration_secs());
    let count =
        (f64::from(layout.axis.x(to) - layout.axis.x(from)) / f64::from(STEP)).clamp(1.0, 4000.0);
    let count = count as usize;
    let mut times: Vec<f64> = (0..=count)
        .map(|index| from + (to - from) * index as f64 / count as f64)
        .collect();
    // Corners of steps, exactly at their keys.
    let keys = curve
        .times_secs()
        .iter()
        .filter(|time| (from..=to).contains(*time));
    times.extend(keys.flat_map(|time| [time - 2e-5, *time]));
    times.sort_by(f64::total_cmp);
    let numbers = curve.numbers(times.iter().copied());
    let points = times
        .iter()
        .zip(&numbers)
        .map(|(time, numbers)| pos2(layout.axis.x(*time), layout.y(numbers[number.index()])));
    painter.add(Shape::line(points.collect(), Stroke::new(1.6, color)));
}

fn paint_handles(painter: &Painter, layout: &GraphLayout, key: &CurveKey, color: Color32) {
    for side in [Side::Before, Side::After] {
        if let Some(end) = layout.handle(key, side) {
            painter.line_segment([layout.at(key), end], Stroke::new(1.0, color));
            painter.circle_filled(end, KNOB, color);
        }
    }
}
