//! Text over a picture.

use egui::{Color32, FontId, Painter, Pos2, Rect, vec2};

use crate::app::theme;

/// Text on a dark plate that stays inside the viewport.
pub(in crate::app) fn label(painter: &Painter, inside: Rect, at: Pos2, text: &str, color: Color32) {
    label_beside(painter, inside, at, text, color, None);
}

/// The same, below another plate that it would cover. Returns its own plate.
pub(in crate::app) fn label_beside(
    painter: &Painter,
    inside: Rect,
    at: Pos2,
    text: &str,
    color: Color32,
    other: Option<Rect>,
) -> Rect {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(12.5), color);
    let plate = Rect::from_min_size(at - vec2(0.0, galley.size().y / 2.0), galley.size())
        .expand2(vec2(6.0, 3.0));
    let shift = vec2(
        (inside.right() - 4.0 - plate.right()).min(0.0),
        (inside.top() + 4.0 - plate.top()).max(0.0),
    );
    let mut plate = plate.translate(shift);
    if let Some(other) = other.filter(|other| other.intersects(plate)) {
        plate = plate.translate(vec2(0.0, other.bottom() + 2.0 - plate.top()));
    }
    painter.rect_filled(plate, 4.0, theme::colors(painter.ctx()).plate);
    painter.galley(plate.min + vec2(6.0, 3.0), galley, color);
    plate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_joints_that_are_near_do_not_cover_each_other() {
        let ctx = egui::Context::default();
        let _ = ctx.run_ui(egui::RawInput::default(), |ui| {
            let inside = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0));
            let color = Color32::WHITE;
            for offset in [vec2(0.0, 0.0), vec2(-12.0, 5.0), vec2(390.0, -90.0)] {
                let at = Pos2::new(100.0, 100.0);
                let plate =
                    |at, text, other| label_beside(ui.painter(), inside, at, text, color, other);
                let first = plate(at, "hips", None);
                let second = plate(at + offset, "little.3.R", Some(first));
                assert!(
                    !first.intersects(second) && inside.contains_rect(second),
                    "{offset}"
                );
            }
        });
    }
}
