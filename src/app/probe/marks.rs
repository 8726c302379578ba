//! The probe in a view: a ring around the vertex, and the path of a pinned one.

use egui::{Painter, Shape, Stroke};

use super::Probe;
use crate::app::theme;
use crate::app::viewport::screen_map::ScreenMap;
use crate::session::{Snapshot, ViewId};

/// Radius of the ring, points.
const RING: f32 = 6.0;

/// Draws the probe over a view's picture.
pub fn draw(painter: &Painter, map: &ScreenMap, probe: &Probe, view: ViewId, snapshot: &Snapshot) {
    let Some(vertex) = probe.vertex() else { return };
    let Some(at) = snapshot.positions().get(vertex) else {
        return;
    };
    let colors = theme::colors(painter.ctx());
    if let Some(path) = probe.paths.get(&view) {
        let points: Vec<_> = path
            .points
            .iter()
            .filter_map(|point| map.project(&point.cast::<f64>()))
            .collect();
        if points.len() > 1 {
            painter.add(Shape::line(points, Stroke::new(1.5, colors.accent)));
        }
    }
    let Some(center) = map.project(&at.cast::<f64>()) else {
        return;
    };
    // Dark below light, so that it is seen on any skin.
    painter.circle_stroke(center, RING, Stroke::new(3.5, colors.plate));
    let color = if probe.is_pinned() {
        colors.accent
    } else {
        colors.plate_text
    };
    painter.circle_stroke(center, RING, Stroke::new(1.5, color));
    painter.circle_filled(center, 1.5, color);
}
