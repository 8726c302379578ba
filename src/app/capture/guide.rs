//! The framing guide: which part of a view is in the picture that the dialog would make.

use egui::{Color32, FontId, Painter, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::app::theme;

/// Distance of the sentence from the upper edge, below tools and axes, points.
const BELOW_AXES: f32 = 122.0;

/// The part of a view that a picture of this size shows: a picture has the view's height, and more or less of its sides.
/// The second value tells whether it shows more than the view on both sides.
#[must_use]
pub fn frame_of(view: Rect, size: [u32; 2]) -> (Rect, bool) {
    let [width, height] = size.map(|side| side.max(1) as f32);
    let wanted = view.height() * width / height;
    let frame =
        Rect::from_center_size(view.center(), vec2(wanted.min(view.width()), view.height()));
    (frame, wanted > view.width() + 0.5)
}

/// Draws the guide over a view: what is not in the picture is darker.
pub fn draw(painter: &Painter, view: Rect, size: [u32; 2]) {
    let painter = painter.with_clip_rect(view);
    let colors = theme::colors(painter.ctx());
    let (frame, is_wider) = frame_of(view, size);
    let shade = Color32::from_black_alpha(120);
    for side in [
        Rect::from_min_max(view.min, pos2(frame.left(), view.bottom())),
        Rect::from_min_max(pos2(frame.right(), view.top()), view.max),
    ] {
        if side.width() > 0.0 {
            painter.rect_filled(side, 0.0, shade);
        }
    }
    let line = Stroke::new(1.5, colors.plate_accent);
    painter.rect_stroke(frame, 0.0, line, StrokeKind::Inside);
    if is_wider {
        let text = painter.layout_no_wrap(
            "The picture shows more on both sides".to_owned(),
            FontId::proportional(12.0),
            colors.plate_text,
        );
        let plate = Rect::from_center_size(
            pos2(frame.center().x, frame.top() + BELOW_AXES),
            text.size() + vec2(14.0, 8.0),
        );
        painter.rect_filled(plate, 4.0, colors.plate);
        painter.galley(plate.center() - text.size() / 2.0, text, colors.plate_text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_has_the_height_of_the_view_and_the_shape_of_the_picture() {
        let view = Rect::from_min_size(pos2(100.0, 50.0), vec2(800.0, 400.0));
        let (frame, is_wider) = frame_of(view, [1080, 1080]);
        assert_eq!(
            (frame.size(), frame.center()),
            (vec2(400.0, 400.0), view.center())
        );
        assert!(!is_wider);
        let (frame, is_wider) = frame_of(view, [4000, 1000]);
        assert_eq!((frame, is_wider), (view, true));
        assert_eq!(frame_of(view, [1600, 800]), (view, false));
    }
}
