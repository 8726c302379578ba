//! The score line of a view: four numbers in columns that never jump.

use egui::{Color32, FontId, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::session::ViewScore;

/// What is shown before the first score.
const NONE: &str = "–";

/// The line: volume change, new self-intersections, the most stretched edges, milliseconds; always equally wide.
///
/// ```text
/// vol  −3.2 %  cuts    12  stretch 1.34×   2.1 ms
/// ```
#[must_use]
pub fn score_text(score: Option<&ViewScore>) -> String {
    let [volume, cuts, stretch, ms] = match score {
        None => [NONE; 4].map(str::to_owned),
        Some(ViewScore { score, frame_ms, .. }) => [
            score.volume_change.map_or_else(|| NONE.to_owned(), percent),
            count(score.new_pairs),
            format!("{:.2}×", score.stretch_p99.min(99.99)),
            format!("{:.1}", frame_ms.min(9999.9)),
        ],
    };
    format!("vol {volume:>6} %  cuts {cuts:>5}  stretch {stretch:>6}  {ms:>6} ms")
}

/// With a sign, and one digit after the point as long as that fits.
fn percent(part: f64) -> String {
    let percent = (part * 100.0).clamp(-9999.0, 9999.0);
    let text = if percent.abs() < 99.95 { format!("{:.1}", percent.abs()) } else { format!("{:.0}", percent.abs()) };
    // Not −0.0.
    let sign = if text == "0.0" {
        "±"
    } else if percent < 0.0 {
        "−"
    } else {
        "+"
    };
    format!("{sign}{text}")
}

fn count(pairs: usize) -> String {
    if pairs < 100_000 { pairs.to_string() } else { format!("{}k", (pairs / 1000).min(9999)) }
}

/// What the numbers mean.
#[must_use]
pub fn score_tooltip(score: Option<&ViewScore>) -> String {
    let Some(ViewScore { score, frame_ms, method, .. }) = score else {
        return "Scores against the bind pose: they are measured now.".to_owned();
    };
    let volume = score.volume_change.map_or_else(|| "the skin encloses no volume".to_owned(), |part| format!("volume {} %", percent(part)));
    format!(
        "{} against the bind pose: {volume}; {} pairs of triangles cut each other, {} of them not in the bind pose; 98 % of the edges \
         have {:.2} to {:.2} times their length; the last frame took {frame_ms:.2} ms.",
        method.label(),
        score.intersecting_pairs,
        score.new_pairs,
        score.stretch_p1,
        score.stretch_p99
    )
}

/// Draws the line over the lower left corner of a view, with its tooltip; a view that is too narrow shows nothing.
pub fn overlay_ui(ui: &Ui, view: Rect, score: Option<&ViewScore>) {
    let font = FontId::monospace(11.0);
    let galley = ui.painter().layout_no_wrap(score_text(score), font, Color32::from_white_alpha(190));
    let plate = Rect::from_min_size(pos2(view.left() + 8.0, view.bottom() - galley.size().y - 14.0), galley.size() + vec2(12.0, 6.0));
    if plate.right() > view.right() - 8.0 || plate.top() < view.top() + view.height() / 2.0 {
        return;
    }
    let response = ui.interact(plate, ui.scope_id().with(("score", view.left() as i32, view.top() as i32)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, "Score"));
    let painter = ui.painter().with_clip_rect(view);
    painter.rect_filled(plate, 4.0, Color32::from_black_alpha(if response.hovered() { 170 } else { 110 }));
    painter.galley(plate.min + vec2(6.0, 3.0), galley, Color32::WHITE);
    response.on_hover_text(score_tooltip(score));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skin::{Method, Score};

    fn view(volume_change: Option<f64>, new_pairs: usize, stretch_p99: f64, frame_ms: f64) -> ViewScore {
        let score = Score { volume_change, intersecting_pairs: new_pairs, new_pairs, stretch_p1: 0.5, stretch_p99 };
        ViewScore { score, sequence: 1, method: Method::Pd, frame_ms }
    }

    #[test]
    fn the_line_is_as_wide_whatever_it_says() {
        let wide = score_text(None).chars().count();
        for score in [
            view(Some(-0.0321), 12, 1.34, 2.06),
            view(Some(0.000_01), 0, 1.0, 0.0),
            view(None, 99_999, 99.0, 9999.0),
            view(Some(1e9), usize::MAX, f64::INFINITY, f64::INFINITY),
            view(Some(-1.2), 250_000, 12.0, 123.4),
        ] {
            let text = score_text(Some(&score));
            assert_eq!(text.chars().count(), wide, "{text}");
        }
        assert_eq!(score_text(Some(&view(Some(-0.0321), 12, 1.34, 2.06))), "vol   −3.2 %  cuts    12  stretch  1.34×     2.1 ms");
        assert!(score_text(Some(&view(Some(-1e-9), 0, 1.0, 0.0))).contains("±0.0 %"));
    }
}
