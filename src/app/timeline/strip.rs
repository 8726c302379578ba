//! The strip over the ruler: which frames were simulated, of the range or while the clip played.

use egui::{CornerRadius, Painter, Pos2, Rect, pos2};

use super::{TimelineState, TimelineView};
use crate::app::theme::Colors;
use crate::session::{RecordedFrame, RecordedFrames, Scrubbing};

/// Height, points.
const HEIGHT: f32 = 4.0;
/// Strength of frames that are simulated again from an earlier one.
const DERIVED: f32 = 0.5;

/// A stretch of recorded frames of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// From the first to the last frame, seconds.
    pub secs: [f64; 2],
    /// Whether their states are kept.
    pub kept: bool,
}

/// The stretches of frames in order of time. Frames further apart than one of the clip's are in different ones. Where states
/// alternate with frames that are simulated from them, the stretch is of the latter.
pub(super) fn stretches(frames: &[RecordedFrame], fps: f64) -> Vec<Stretch> {
    let reach_secs = 1.5 / fps;
    let mut all: Vec<Stretch> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let near = |other: Option<&RecordedFrame>| {
            other.is_none_or(|other| {
                other.kept || (other.time_secs - frame.time_secs).abs() > reach_secs
            })
        };
        let before = at.checked_sub(1).and_then(|before| frames.get(before));
        let kept = frame.kept && near(before) && near(frames.get(at + 1));
        match all.last_mut() {
            Some(last) if last.kept == kept && frame.time_secs - last.secs[1] <= reach_secs => {
                last.secs[1] = frame.time_secs;
            }
            _ => all.push(Stretch {
                secs: [frame.time_secs; 2],
                kept,
            }),
        }
    }
    all
}

/// The use of memory, and what the recording is for; `None` if nothing is recorded.
pub(super) fn tip(recorded: &RecordedFrames) -> Option<String> {
    let count = recorded.frames.len();
    if count == 0 {
        return None;
    }
    let kept = recorded.frames.iter().filter(|frame| frame.kept).count();
    let again = if kept == count {
        String::new()
    } else {
        format!(
            ", {} of them simulated again from the one before",
            count - kept
        )
    };
    let budget = recorded.budget_bytes >> 20;
    Some(format!(
        "{count} frames are recorded{again}: scrubbing shows what was simulated there, playing goes on from it, and Reset simulation settles \
         instead. {:.0} of {budget} MB; the settings have the limit under Recorded frames.",
        megabytes(recorded)
    ))
}

/// Hint where the strip is.
pub(super) fn hint(pointer: Pos2, ruler: Rect, view: &TimelineView<'_>) -> Option<String> {
    let on_strip = pointer.y <= ruler.top() + 2.0 * HEIGHT;
    tip(view.recorded).filter(|_| on_strip && view.scrubbing == Scrubbing::Settled)
}

/// Memory used, rounded up.
pub(super) fn megabytes(recorded: &RecordedFrames) -> f64 {
    (recorded.bytes as f64 / f64::from(1 << 20)).ceil()
}

/// Draws the strip.
pub(super) fn paint(
    painter: &Painter,
    ruler: Rect,
    view: &TimelineView<'_>,
    state: &TimelineState,
    colors: &Colors,
) {
    let x = |secs: f64| state.axis.x(secs);
    let bar = |from: f64, to: f64| {
        let (left, right) = (x(from), x(to).max(x(from) + 1.0));
        Rect::from_min_max(pos2(left, ruler.top()), pos2(right, ruler.top() + HEIGHT))
    };
    if view.scrubbing == Scrubbing::Settled {
        for Stretch { secs, kept } in stretches(&view.recorded.frames, view.fps()) {
            let color = if kept {
                colors.mended
            } else {
                colors.mended.gamma_multiply(DERIVED)
            };
            // A frame is as wide as on the ruler, so that a single one is seen.
            let half = 0.5 / view.fps();
            let bar = bar((secs[0] - half).max(0.0), secs[1] + half);
            painter.rect_filled(bar, CornerRadius::ZERO, color);
        }
        return;
    }
    let Some(frames) = view.simulated.filter(|frames| frames.total > 0) else {
        return;
    };
    let secs = |frame: u32| frames.from_secs + f64::from(frame) / frames.fps;
    let to = |frame: u32| bar(secs(0), secs(frame));
    painter.rect_filled(to(frames.total - 1), CornerRadius::ZERO, colors.line);
    if frames.done > 0 {
        painter.rect_filled(to(frames.done - 1), CornerRadius::ZERO, colors.mended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time_secs: f64, kept: bool) -> RecordedFrame {
        RecordedFrame { time_secs, kept }
    }

    #[test]
    fn stretches_end_at_gaps_and_where_frames_are_simulated_again() {
        let frames = [
            frame(0.0, true),
            frame(0.1, false),
            frame(0.2, true),
            frame(0.3, true),
            frame(0.4, true),
            frame(0.9, true),
        ];
        let all = stretches(&frames, 10.0);
        let expected = [([0.0, 0.2], false), ([0.3, 0.4], true), ([0.9, 0.9], true)];
        let expected = expected.map(|(secs, kept)| Stretch { secs, kept });
        assert_eq!(all, expected);
        assert!(stretches(&[], 30.0).is_empty());
    }

    #[test]
    fn the_tip_tells_frames_and_memory() {
        let mut recorded = RecordedFrames {
            budget_bytes: 8 << 20,
            ..RecordedFrames::default()
        };
        assert_eq!(tip(&recorded), None);
        recorded.frames = vec![frame(0.0, true), frame(0.1, false)];
        recorded.bytes = 5 << 19;
        let tip = tip(&recorded).unwrap();
        assert!(tip.starts_with("2 frames are recorded, 1 of them simulated again"));
        assert!(tip.contains("3 of 8 MB"), "{tip}");
    }
}
