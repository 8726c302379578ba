//! Mapping between seconds and points along the timeline.

use egui::{PointerButton, Response, Ui};

/// The visible time range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct TimeAxis {
    left: f32,
    width: f32,
    from_secs: f64,
    /// Length of the visible range.
    span_secs: f64,
}

/// Shortest and longest visible range, seconds.
const SPANS: [f64; 2] = [0.05, 72_000.0];

impl Default for TimeAxis {
    fn default() -> Self {
        Self {
            left: 0.0,
            width: 1.0,
            from_secs: 0.0,
            span_secs: 2.0,
        }
    }
}

impl TimeAxis {
    /// Position on the screen.
    pub(super) fn lay_out(&mut self, left: f32, width: f32) {
        (self.left, self.width) = (left, width.max(1.0));
    }

    /// Shows the whole clip.
    pub(super) fn fit(&mut self, duration_secs: f64) {
        (self.from_secs, self.span_secs) = (0.0, duration_secs.clamp(1.0 / 30.0, SPANS[1]));
    }

    pub(in crate::app) fn x(&self, secs: f64) -> f32 {
        self.left + ((secs - self.from_secs) / self.span_secs) as f32 * self.width
    }

    pub(in crate::app) fn secs(&self, x: f32) -> f64 {
        self.from_secs + f64::from((x - self.left) / self.width) * self.span_secs
    }

    pub(in crate::app) fn points_per_sec(&self) -> f32 {
        self.width / self.span_secs as f32
    }

    /// The wheel zooms at the pointer, and pans sideways or with Shift; the middle button pans. A
    /// double click on an empty area shows the whole clip.
    pub(in crate::app) fn zoom_and_pan(
        &mut self,
        ui: &Ui,
        response: &Response,
        duration_secs: f64,
    ) {
        if response.dragged_by(PointerButton::Middle) {
            self.from_secs -= f64::from(response.drag_delta().x / self.points_per_sec());
        }
        let Some(pointer) = response.hover_pos() else {
            return;
        };
        let (scroll, zoom) = ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
        let factor = f64::from(zoom * (scroll.y * 0.004).exp());
        if (factor - 1.0).abs() > 1e-6 {
            let at = self.secs(pointer.x);
            let span = (self.span_secs / factor).clamp(SPANS[0], SPANS[1]);
            self.from_secs = at - (at - self.from_secs) * span / self.span_secs;
            self.span_secs = span;
        }
        self.pan(scroll.x, duration_secs);
    }

    /// Scrolls by points to the right.
    pub(super) fn pan(&mut self, points: f32, duration_secs: f64) {
        self.from_secs -= f64::from(points / self.points_per_sec());
        // The clip always remains partly visible.
        self.from_secs = self.from_secs.clamp(
            -0.9 * self.span_secs,
            (duration_secs - 0.1 * self.span_secs).max(0.0),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_points_round_trip() {
        let mut axis = TimeAxis::default();
        axis.lay_out(100.0, 500.0);
        axis.fit(4.0);
        assert!((axis.x(0.0) - 100.0).abs() < 1e-3 && (axis.x(4.0) - 600.0).abs() < 1e-3);
        assert!((axis.secs(axis.x(1.25)) - 1.25).abs() < 1e-5);
        axis.fit(f64::NAN.max(0.0));
        assert!(axis.points_per_sec().is_finite());
    }
}
