//! Text over a picture.

use egui::{Color32, FontId, Painter, Pos2, Rect, vec2};

use crate::app::theme;

/// Text on a dark plate that stays inside the viewport.
pub(in crate::app) fn label(painter: &Painter, inside: Rect, at: Pos2, text: &str, color: Color32) {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(12.5), color);
    let plate = Rect::from_min_size(at - vec2(0.0, galley.size().y / 2.0), galley.size())
        .expand2(vec2(6.0, 3.0));
    let shift = vec2(
        (inside.right() - 4.0 - plate.right()).min(0.0),
        (inside.top() + 4.0 - plate.top()).max(0.0),
    );
    let plate = plate.translate(shift);
    painter.rect_filled(plate, 4.0, theme::colors(painter.ctx()).plate);
    painter.galley(plate.min + vec2(6.0, 3.0), galley, color);
}
