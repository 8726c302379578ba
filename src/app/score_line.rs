//! The score line of a view: four numbers in fixed columns, in two lines if the view is narrow.

use egui::{Color32, FontId, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::session::{CrowdFrame, ViewScore};

/// Shown before the first score.
const NONE: &str = "–";
/// Margin between the plate and the edges of the view.
const MARGIN: f32 = 8.0;
/// Padding of the text.
const PADDING: egui::Vec2 = vec2(6.0, 3.0);

/// The line: volume change, new self-intersections, the most stretched edges, milliseconds, and in a clip the time of the
/// frame that was measured; constant width.
///
/// ```text
/// vol  −3.2 %  cuts    12  stretch 1.34×   2.1 ms  at   1.23 s
/// ```
#[must_use]
pub fn score_text(score: Option<&ViewScore>) -> String {
    let [volume, cuts, stretch, ms] = columns(score);
    let time = time_of(score).map_or_else(String::new, |time| format!("  {time}"));
    format!("vol {volume:>6} %  cuts {cuts:>5}  stretch {stretch:>6}  {ms:>6} ms{time}")
}

/// The same in two lines of equal width, and one for the time.
///
/// ```text
/// vol  −3.2 %    cuts    12
/// stretch  1.34×     2.1 ms
/// ```
#[must_use]
pub fn narrow_score_text(score: Option<&ViewScore>) -> String {
    let [volume, cuts, stretch, ms] = columns(score);
    let time = time_of(score).map_or_else(String::new, |time| format!("\n{time}"));
    format!("vol {volume:>6} %   cuts {cuts:>5}\nstretch {stretch:>6}  {ms:>6} ms{time}")
}

/// The time of the frame that was measured.
fn time_of(score: Option<&ViewScore>) -> Option<String> {
    let time_secs = score?.time_secs?.min(9999.99);
    Some(format!("at {time_secs:>7.2} s"))
}

/// The four numbers, each within its column.
fn columns(score: Option<&ViewScore>) -> [String; 4] {
    match score {
        None => [NONE; 4].map(str::to_owned),
        Some(ViewScore {
            score, frame_ms, ..
        }) => [
            score.volume_change.map_or_else(|| NONE.to_owned(), percent),
            count(score.new_pairs),
            format!("{:.2}×", score.stretch_p99.min(99.99)),
            format!("{:.1}", frame_ms.min(9999.9)),
        ],
    }
}

/// With a sign, and one decimal as long as it fits.
pub(super) fn percent(part: f64) -> String {
    let percent = (part * 100.0).clamp(-9999.0, 9999.0);
    let text = if percent.abs() < 99.95 {
        format!("{:.1}", percent.abs())
    } else {
        format!("{:.0}", percent.abs())
    };
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
    if pairs < 100_000 {
        pairs.to_string()
    } else {
        format!("{}k", (pairs / 1000).min(9999))
    }
}

/// Tooltip: meaning of the numbers.
#[must_use]
pub fn score_tooltip(score: Option<&ViewScore>) -> String {
    let Some(ViewScore {
        score,
        frame_ms,
        method,
        time_secs,
        ..
    }) = score
    else {
        return "Scores against the bind pose: they are measured now.".to_owned();
    };
    let volume = score.volume_change.map_or_else(
        || "the skin encloses no volume".to_owned(),
        |part| format!("volume {} %", percent(part)),
    );
    let frame = time_secs.map_or_else(String::new, |time| format!(" at {time:.2} s of the clip"));
    format!(
        "{}{frame} against the bind pose: {volume}; {} pairs of triangles intersect, {} of them not in the bind pose; 98 % of the edges \
         have {:.2} to {:.2} times their length; the last frame took {frame_ms:.2} ms.",
        method.label(),
        score.intersecting_pairs,
        score.new_pairs,
        score.stretch_p1,
        score.stretch_p99
    )
}

/// Draws the line over the lower left corner of a view, with its tooltip; in two lines if the view
/// is too narrow. Returns its rectangle, if there is room.
pub fn overlay_ui(ui: &Ui, view: Rect, score: Option<&ViewScore>) -> Option<Rect> {
    plate_ui(
        ui,
        view,
        [score_text(score), narrow_score_text(score)],
        || score_tooltip(score),
    )
}

/// Number of instances of a crowd, and its speed.
///
/// ```text
///   9 characters ·   12.3 ms a frame ·   60 fps
/// ```
#[must_use]
pub fn crowd_text(count: u32, frame_ms: Option<f64>, frames_per_s: Option<f64>) -> [String; 2] {
    let ms = frame_ms.map_or_else(|| NONE.to_owned(), |ms| format!("{:.1}", ms.min(9999.9)));
    let speed = frames_per_s.map_or_else(
        || NONE.to_owned(),
        |fps| format!("{:.*}", usize::from(fps < 9.95), fps.min(9999.0)),
    );
    [
        format!("{count:>3} characters · {ms:>6} ms a frame · {speed:>5} fps"),
        format!("{count:>3} characters\n{ms:>6} ms · {speed:>5} fps"),
    ]
}

/// Draws the line of a crowd, as [`overlay_ui`].
pub fn crowd_ui(ui: &Ui, view: Rect, crowd: &CrowdFrame) -> Option<Rect> {
    let lines = crowd_text(crowd.skin.instances(), crowd.frame_ms, crowd.frames_per_s);
    let tooltip = || {
        format!(
            "{} by {} on the graphics device: what a frame of all of them takes without drawing it, and how many frames a second there are. \
             Nothing collides in a crowd. The one in the middle moves as the character does by itself; pointer, handles and overlays are for it \
             alone.",
            crowd.skin.instances(),
            crowd.method.label().to_lowercase()
        )
    };
    plate_ui(ui, view, lines, tooltip)
}

/// Text over the lower left corner of a view: the first one, or the second if the first is too
/// wide.
fn plate_ui(
    ui: &Ui,
    view: Rect,
    [wide, narrow]: [String; 2],
    tooltip: impl FnOnce() -> String,
) -> Option<Rect> {
    let laid_out = |text| {
        ui.painter().layout_no_wrap(
            text,
            FontId::monospace(11.0),
            Color32::from_white_alpha(190),
        )
    };
    let room = view.width() - 2.0 * (MARGIN + PADDING.x);
    let one = laid_out(wide);
    let galley = if one.size().x <= room {
        one
    } else {
        laid_out(narrow)
    };
    let size = galley.size() + 2.0 * PADDING;
    let plate = Rect::from_min_size(
        pos2(view.left() + MARGIN, view.bottom() - MARGIN - size.y),
        size,
    );
    if galley.size().x > room || plate.top() < view.top() + view.height() / 2.0 {
        return None;
    }
    let response = ui.interact(
        plate,
        ui.scope_id()
            .with(("score", view.left() as i32, view.top() as i32)),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, "Score"));
    let painter = ui.painter().with_clip_rect(view);
    painter.rect_filled(
        plate,
        4.0,
        Color32::from_black_alpha(if response.hovered() { 170 } else { 110 }),
    );
    painter.galley(plate.min + PADDING, galley, Color32::WHITE);
    response.on_hover_ui(|ui| {
        ui.label(tooltip());
    });
    Some(plate)
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::methods::MethodId;
    use crate::metrics::Score;

    fn view(
        volume_change: Option<f64>,
        new_pairs: usize,
        stretch_p99: f64,
        frame_ms: f64,
    ) -> ViewScore {
        let score = Score {
            volume_change,
            intersecting_pairs: new_pairs,
            new_pairs,
            stretch_p1: 0.5,
            stretch_p99,
        };
        ViewScore {
            score,
            sequence: 1,
            method: MethodId::PD,
            time_secs: None,
            frame_ms,
        }
    }

    #[test]
    fn a_score_carries_its_frame() {
        let score = ViewScore {
            time_secs: Some(1.234),
            ..view(Some(-0.03), 12, 1.3, 2.0)
        };
        assert!(score_text(Some(&score)).ends_with(" ms  at    1.23 s"));
        assert!(narrow_score_text(Some(&score)).ends_with("\nat    1.23 s"));
        assert!(score_tooltip(Some(&score)).contains("at 1.23 s of the clip"));
    }

    #[test]
    fn the_line_has_constant_width() {
        let wide = score_text(None).chars().count();
        let narrow = |text: &str| {
            text.lines()
                .map(|line| line.chars().count())
                .collect::<Vec<_>>()
        };
        assert_eq!(narrow(&narrow_score_text(None)), [25, 25]);
        for score in [
            view(Some(-0.0321), 12, 1.34, 2.06),
            view(Some(0.000_01), 0, 1.0, 0.0),
            view(None, 99_999, 99.0, 9999.0),
            view(Some(1e9), usize::MAX, f64::INFINITY, f64::INFINITY),
            view(Some(-1.2), 250_000, 12.0, 123.4),
        ] {
            let text = score_text(Some(&score));
            assert_eq!(text.chars().count(), wide, "{text}");
            let text = narrow_score_text(Some(&score));
            assert_eq!(narrow(&text), [25, 25], "{text}");
        }
        assert_eq!(
            score_text(Some(&view(Some(-0.0321), 12, 1.34, 2.06))),
            "vol   −3.2 %  cuts    12  stretch  1.34×     2.1 ms"
        );
        assert!(score_text(Some(&view(Some(-1e-9), 0, 1.0, 0.0))).contains("±0.0 %"));
    }

    #[test]
    fn a_crowd_shows_count_and_speed() {
        assert_eq!(
            crowd_text(100, Some(12.34), Some(81.2))[0],
            "100 characters ·   12.3 ms a frame ·    81 fps"
        );
        assert_eq!(
            crowd_text(9, Some(250.0), Some(3.21))[1],
            "  9 characters\n 250.0 ms ·   3.2 fps"
        );
        let wide = |text: [String; 2]| {
            text.map(|text| text.lines().map(|line| line.chars().count()).max())
        };
        for (count, ms, fps) in [
            (2, None, None),
            (200, Some(0.0), Some(0.0)),
            (7, Some(f64::INFINITY), Some(f64::INFINITY)),
        ] {
            assert_eq!(
                wide(crowd_text(count, ms, fps)),
                wide(crowd_text(100, Some(12.34), Some(81.2))),
                "{count} {ms:?} {fps:?}"
            );
        }
    }

    /// Three views side by side in a small window have one each.
    #[test]
    fn a_narrow_view_shows_its_score() {
        for (width, shows) in [(900.0, true), (280.0, true), (200.0, true), (120.0, false)] {
            let mut harness = egui_kittest::Harness::builder()
                .with_size(vec2(1000.0, 500.0))
                .build_ui(|ui| {
                    overlay_ui(
                        ui,
                        Rect::from_min_size(pos2(10.0, 10.0), vec2(width, 400.0)),
                        Some(&view(Some(-0.03), 12, 1.3, 2.0)),
                    );
                });
            harness.run();
            let label = harness.query_by_label("Score");
            assert_eq!(label.is_some(), shows, "{width} points");
            if let Some(label) = label {
                let plate = label.rect();
                assert!(
                    plate.left() >= 10.0
                        && plate.right() <= 10.0 + width
                        && plate.bottom() <= 410.0,
                    "{plate:?} in {width}"
                );
            }
        }
    }
}
