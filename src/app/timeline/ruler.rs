//! The ruler: frame numbers or seconds, range, playhead.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Rect, Shape, Stroke, pos2, vec2};

use super::{TimelineState, TimelineView, strip};
use crate::app::theme;

/// Height of the ruler, points.
pub(super) const HEIGHT: f32 = 24.0;
/// Minimum distance of labels.
const LABEL_GAP: f32 = 56.0;
/// Half the width of a range handle.
pub(super) const HANDLE: f32 = 5.0;

/// Frames between labels, and between lines.
pub(in crate::app) fn steps(points_per_frame: f32, fps: f64) -> (u32, u32) {
    let second = fps.round().clamp(1.0, 1000.0) as u32;
    let mut choices = vec![1, 2, 5, 10];
    choices.extend(
        [15, 20]
            .into_iter()
            .filter(|step| second.is_multiple_of(*step)),
    );
    choices.extend([1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600].map(|secs| secs * second));
    choices.sort_unstable();
    choices.dedup();
    let at_least = |gap: f32| {
        choices
            .iter()
            .copied()
            .find(|step| *step as f32 * points_per_frame >= gap)
            .unwrap_or(36_000 * second)
    };
    let label = at_least(LABEL_GAP);
    let line = choices
        .iter()
        .copied()
        .find(|step| label.is_multiple_of(*step) && *step as f32 * points_per_frame >= 7.0);
    (label, line.unwrap_or(label))
}

/// Draws the outside of the range, lines, labels, and the strip of simulated frames.
pub(super) fn paint(
    painter: &Painter,
    ruler: Rect,
    rows: Rect,
    view: &TimelineView<'_>,
    state: &TimelineState,
) {
    let colors = theme::colors(painter.ctx());
    painter.rect_filled(ruler.union(rows), CornerRadius::same(3), colors.sunken);
    let painter = &painter.with_clip_rect(painter.clip_rect().intersect(ruler.union(rows)));
    let axis = &state.axis;
    let [from, to] = range(view);
    let inside = Rect::from_x_y_ranges(axis.x(from)..=axis.x(to), ruler.top()..=rows.bottom());
    painter.rect_filled(inside, CornerRadius::ZERO, colors.panel);
    let (label, line) = steps(axis.points_per_sec() / view.fps() as f32, view.fps());
    let first = (axis.secs(ruler.left()) * view.fps()).floor().max(0.0) as u64 / u64::from(line)
        * u64::from(line);
    for frame in (first..).step_by(line as usize) {
        let x = axis.x(frame as f64 / view.fps());
        if x > ruler.right() {
            break;
        }
        let labelled = frame.is_multiple_of(u64::from(label));
        let top = if labelled {
            ruler.top() + 4.0
        } else {
            ruler.bottom() - 5.0
        };
        painter.vline(x, top..=ruler.bottom(), Stroke::new(1.0, colors.line));
        // Not under the playhead's plate.
        let hidden = view.clip.is_some() && (-34.0..22.0).contains(&(x - axis.x(view.time_secs)));
        if labelled {
            painter.vline(
                x,
                ruler.bottom()..=rows.bottom(),
                Stroke::new(1.0, colors.line.gamma_multiply(0.5)),
            );
            let text = if state.in_seconds {
                seconds(frame as f64 / view.fps())
            } else {
                frame.to_string()
            };
            if !hidden {
                painter.text(
                    pos2(x + 3.0, ruler.top() + 2.0),
                    Align2::LEFT_TOP,
                    text,
                    FontId::proportional(10.5),
                    colors.text_weak,
                );
            }
        }
    }
    painter.hline(
        ruler.x_range(),
        ruler.bottom(),
        Stroke::new(1.0, colors.line),
    );
    strip::paint(painter, ruler, view, state, colors);
    for (x, side) in [(axis.x(from), 1.0), (axis.x(to), -1.0)] {
        let color = if view.range_secs.is_some() {
            colors.accent
        } else {
            colors.text_weak
        };
        handle(painter, pos2(x, ruler.bottom()), side, color);
    }
}

fn seconds(secs: f64) -> String {
    let text = format!("{secs:.2}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The played range.
pub(super) fn range(view: &TimelineView<'_>) -> [f64; 2] {
    view.range_secs.unwrap_or([0.0, view.duration_secs()])
}

/// A flag at an end of the range.
fn handle(painter: &Painter, foot: egui::Pos2, side: f32, color: Color32) {
    let flag = [
        foot,
        foot - vec2(0.0, 2.0 * HANDLE),
        foot + vec2(side * 1.4 * HANDLE, -HANDLE),
    ];
    painter.add(Shape::convex_polygon(flag.to_vec(), color, Stroke::NONE));
}

/// The playhead with its frame number.
pub(super) fn paint_playhead(
    painter: &Painter,
    ruler: Rect,
    rows: Rect,
    view: &TimelineView<'_>,
    state: &TimelineState,
) {
    let colors = theme::colors(painter.ctx());
    let (time, color) = match view.recording_secs {
        Some(secs) => (secs, colors.error),
        None => (view.time_secs, colors.accent),
    };
    let x = state.axis.x(time);
    if view.clip.is_none() || !ruler.x_range().expand(1.0).contains(x) {
        return;
    }
    painter.vline(x, ruler.top()..=rows.bottom(), Stroke::new(1.5, color));
    let text = if state.in_seconds {
        seconds(time)
    } else {
        format!("{:.0}", time * view.fps())
    };
    let galley = painter.layout_no_wrap(text, FontId::proportional(10.5), colors.bar);
    let plate = Rect::from_center_size(pos2(x, ruler.top() + 8.0), galley.size() + vec2(8.0, 2.0));
    painter.rect_filled(plate, CornerRadius::same(3), color);
    painter.galley(plate.center() - galley.size() / 2.0, galley, colors.bar);
}

#[cfg(test)]
mod tests {
    #[test]
    fn labels_do_not_overlap_and_lines_divide_them() {
        for points in [0.01_f32, 0.3, 1.0, 4.0, 20.0, 90.0] {
            for fps in [24.0, 30.0, 60.0, 120.0] {
                let (label, line) = super::steps(points, fps);
                assert!(
                    label as f32 * points >= 56.0 && label.is_multiple_of(line),
                    "{points} {fps}: {label} {line}"
                );
            }
        }
    }
}
