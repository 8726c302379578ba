//! The worst place of a frame, marked on the skin in a view; and the colour of a view's line.

use egui::{Color32, Painter, Rect, Stroke, vec2};

use super::BoardPanel;
use super::plots::{line_color, text_of};
use crate::app::viewport::label::label;
use crate::app::viewport::screen_map::ScreenMap;
use crate::metrics::{Place, Quantity, quantity};
use crate::report::shown;
use crate::session::{Session, Snapshot, ViewId};

/// Radius of the ring, points.
const RADIUS: f32 = 9.0;
/// Height of the stripe below a view's header.
const STRIPE: f32 = 3.0;

/// Index of the line of a view's own method.
fn line_of(session: &Session, id: ViewId) -> Option<usize> {
    let method = session.views().get(id)?.method;
    let mut lines = session.board().lines().iter();
    lines.position(|line| line.method == method && line.views.contains(&id))
}

/// Draws the colour of a view's line along the upper edge of its picture.
pub(in crate::app) fn draw_stripe(painter: &Painter, body: Rect, session: &Session, id: ViewId) {
    if let Some(line) = line_of(session, id) {
        let stripe = Rect::from_min_size(body.min, vec2(body.width(), STRIPE));
        painter.rect_filled(stripe, 0.0, line_color(painter.ctx(), line));
    }
}

/// Draws a ring around the worst place of the frame shown, with the value there, while the clock stands. Nothing for quantities without a
/// place.
pub(in crate::app) fn draw_mark(
    painter: &Painter,
    map: &ScreenMap,
    session: &Session,
    id: ViewId,
    snapshot: &Snapshot,
    panel: &BoardPanel,
) {
    let Some((quantity, place, line)) = place_of(session, id, panel) else {
        return;
    };
    let position = place
        .spot
        .position(snapshot.positions(), &snapshot.world_from_joint);
    let Some((position, at)) = position.and_then(|p| Some((p, map.project(&p)?))) else {
        return;
    };
    if !map.rect().contains(at) {
        return;
    }
    // The skin there may face away: the ring is then behind the body.
    let vertex = place.spot.vertices().first();
    let normal = vertex.and_then(|&vertex| snapshot.normals().get(vertex as usize));
    let is_behind = normal.is_some_and(|n| n.cast::<f64>().dot(&map.towards_eye(&position)) < 0.0);
    let color = line_color(painter.ctx(), line);
    let color = if is_behind {
        color.gamma_multiply(0.6)
    } else {
        color
    };
    painter.circle_stroke(at, RADIUS, Stroke::new(4.5, Color32::from_black_alpha(170)));
    painter.circle_stroke(at, RADIUS, Stroke::new(2.2, color));
    let of_place = Quantity {
        unit: place.unit,
        ..*quantity
    };
    let mut text = text_of(shown(place.value, &of_place).0, &of_place);
    if is_behind {
        text.push_str(" (behind)");
    }
    let colors = crate::app::theme::colors(painter.ctx());
    label(
        painter,
        map.rect(),
        at + vec2(RADIUS + 9.0, 0.0),
        &text,
        colors.plate_text,
    );
}

/// The marked quantity, its worst place in the frame that a view shows, and the view's line.
fn place_of(
    session: &Session,
    id: ViewId,
    panel: &BoardPanel,
) -> Option<(&'static Quantity, Place, usize)> {
    let (_, quantity) = quantity(panel.marked()?)?;
    let playback = session.channel_of(id)?.playback();
    if playback.playing || playback.clip.is_none() {
        return None;
    }
    let line = line_of(session, id)?;
    let frame = (playback.time_secs * session.board().fps())
        .round()
        .max(0.0);
    let (_, place) = session.board().at(line, quantity.id, frame as u32)?;
    Some((quantity, place?, line))
}
