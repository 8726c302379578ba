//! Draws colour bars over a picture.

use egui::{Align2, Color32, FontId, Painter, Rect, Stroke, pos2, vec2};

use crate::app::theme;
use crate::render::Legend;

/// Points: width and length of a bar, and of its plate.
const WIDTH: f32 = 12.0;
const LENGTH: f32 = 150.0;
const PADDING: f32 = 10.0;
const GAP: f32 = 8.0;
/// Distance from the edge of the view.
const INSET: f32 = 12.0;
/// Number of colour steps in a bar.
const STEPS: usize = 64;

/// Width at which a title is wrapped, points.
const TITLE: f32 = 128.0;
/// Narrowest strip beside a picture, and the steps in which it grows with long titles, points.
const STRIP: f32 = 112.0;
const STEP: f32 = 32.0;
/// Narrowest picture that has a strip beside it, points.
const LEAST_PICTURE: f32 = 220.0;

/// Width of a strip for bars beside a picture; 0 without bars. It stays for small changes of the titles.
pub fn strip_width(painter: &Painter, legends: &[Legend], before: f32) -> f32 {
    if legends.is_empty() {
        return 0.0;
    }
    let heading = |legend: &Legend| {
        let font = FontId::proportional(12.0);
        let laid_out = painter.layout(legend.heading(), font, Color32::WHITE, TITLE);
        laid_out.size().x + 2.0 * (PADDING + INSET)
    };
    let widest = legends.iter().map(heading).fold(STRIP, f32::max);
    if before >= widest && before < widest + 2.0 * STEP {
        return before;
    }
    STRIP + ((widest - STRIP) / STEP).ceil() * STEP
}

/// The rectangles of a picture and of the strip to its right, if there is room for one of this width.
pub fn split(body: Rect, strip: f32) -> (Rect, Option<Rect>) {
    if strip <= 0.0 || body.width() - strip < LEAST_PICTURE {
        return (body, None);
    }
    let at = body.right() - strip;
    let (mut picture, mut beside) = (body, body);
    (picture.max.x, beside.min.x) = (at, at);
    (picture, Some(beside))
}

/// Draws the bars one below the other at the right edge of a view, below `top` points; bars that do
/// not fit are omitted. Returns their plates.
pub fn draw(painter: &Painter, rect: Rect, top: f32, legends: &[Legend]) -> Vec<Rect> {
    let mut plates = Vec::new();
    let colors = theme::colors(painter.ctx());
    let mut y = rect.top() + top + INSET;
    for legend in legends {
        let heading = painter.layout(
            legend.heading(),
            FontId::proportional(12.0),
            colors.plate_text,
            TITLE,
        );
        let ticks: Vec<_> = legend.ticks();
        let number = |text: &str| {
            painter.layout_no_wrap(
                text.to_owned(),
                FontId::proportional(11.0),
                colors.plate_text,
            )
        };
        let widest = ticks
            .iter()
            .map(|(_, text)| number(text).size().x)
            .fold(0.0, f32::max);
        let width = heading.size().x.max(WIDTH + GAP + widest) + 2.0 * PADDING;
        let height = heading.size().y + LENGTH + 2.0 * PADDING + GAP + 4.0;
        let plate = Rect::from_min_size(pos2(rect.right() - INSET - width, y), vec2(width, height));
        if plate.bottom() > rect.bottom() - INSET || plate.left() < rect.left() + INSET {
            break;
        }
        plates.push(plate);
        painter.rect_filled(plate, 4.0, colors.plate);
        let heading_at = pos2(
            plate.right() - PADDING - heading.size().x,
            plate.top() + PADDING - 2.0,
        );
        let bar_top = heading_at.y + heading.size().y + GAP;
        painter.galley(heading_at, heading, colors.plate_text);
        let bar_right = plate.right() - PADDING - widest - GAP;
        let bar = Rect::from_min_max(
            pos2(bar_right - WIDTH, bar_top),
            pos2(bar_right, bar_top + LENGTH),
        );
        painter.add(gradient(bar, legend));
        for (share, text) in ticks {
            let at = bar.bottom() - LENGTH * share;
            painter.line_segment(
                [pos2(bar.right(), at), pos2(bar.right() + 3.0, at)],
                Stroke::new(1.0, colors.plate_weak),
            );
            painter.text(
                pos2(plate.right() - PADDING, at),
                Align2::RIGHT_CENTER,
                text,
                FontId::proportional(11.0),
                colors.plate_text,
            );
        }
        y = plate.bottom() + GAP;
    }
    plates
}

/// The colours from the highest number (top) to the lowest.
fn gradient(bar: Rect, legend: &Legend) -> egui::Mesh {
    let mut mesh = egui::Mesh::default();
    for step in 0..=STEPS {
        let share = step as f32 / STEPS as f32;
        let [r, g, b] = legend.map.color(share);
        let y = bar.bottom() - bar.height() * share;
        mesh.colored_vertex(pos2(bar.left(), y), Color32::from_rgb(r, g, b));
        mesh.colored_vertex(pos2(bar.right(), y), Color32::from_rgb(r, g, b));
        if step > 0 {
            let first = 2 * step as u32;
            mesh.add_triangle(first - 2, first - 1, first);
            mesh.add_triangle(first - 1, first, first + 1);
        }
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strip_takes_its_width_from_the_picture_unless_that_is_narrow() {
        let body = Rect::from_min_size(pos2(10.0, 20.0), vec2(600.0, 400.0));
        let (picture, strip) = split(body, 120.0);
        let strip = strip.expect("there is room");
        assert_eq!((picture.width(), strip.width()), (480.0, 120.0));
        assert_eq!(
            (picture.right(), strip.right()),
            (strip.left(), body.right())
        );
        assert_eq!(split(body, 0.0), (body, None));
        assert_eq!(
            split(body, 400.0),
            (body, None),
            "the picture would be too narrow"
        );
    }
}
