//! Charts as pictures: antialiased lines and markers, by the distance of a pixel's centre from a shape.

use image::{Rgba, RgbaImage, imageops};

use super::canvas::{
    Anchor, COLORS, CURVE_WIDTH, Canvas, DASHES, FONT_SIZE, MARKERS, RADIUS, RULE, TEXT, Words, rgb,
};
use crate::render::{draw_text, text_width};

/// A picture on white.
pub(super) struct RasterCanvas {
    picture: RgbaImage,
    /// Pixels of the picture in one CSS pixel.
    scale: f64,
    /// Coverage by the shape that is being drawn; all zero between shapes.
    coverage: Vec<f32>,
}

impl RasterCanvas {
    /// An empty picture of a size in CSS pixels.
    pub(super) fn new(size: [u32; 2], scale: u32) -> Self {
        let [width, height] = size.map(|side| side * scale.max(1));
        Self {
            picture: RgbaImage::from_pixel(width, height, Rgba([255; 4])),
            scale: f64::from(scale.max(1)),
            coverage: vec![0.0; width as usize * height as usize],
        }
    }

    pub(super) fn picture(self) -> RgbaImage {
        self.picture
    }

    /// Covers the pixels within half a pixel of where `outside`, a distance in pixels that is negative inside the shape, is zero; all
    /// within the box from `low` to `high`.
    fn cover(&mut self, low: [f64; 2], high: [f64; 2], outside: impl Fn([f64; 2]) -> f64) {
        let (width, height) = self.picture.dimensions();
        let range = |low: f64, high: f64, side: u32| {
            let side = f64::from(side);
            (low - 1.0).clamp(0.0, side) as u32..(high + 2.0).clamp(0.0, side) as u32
        };
        for y in range(low[1], high[1], height) {
            for x in range(low[0], high[0], width) {
                let distance = outside([f64::from(x) + 0.5, f64::from(y) + 0.5]);
                let share = (0.5 - distance).clamp(0.0, 1.0) as f32;
                let pixel = &mut self.coverage[y as usize * width as usize + x as usize];
                *pixel = pixel.max(share);
            }
        }
    }

    /// Blends a colour over what is covered, and clears the coverage.
    fn fill(&mut self, color: [u8; 3]) {
        for (pixel, share) in self.picture.pixels_mut().zip(&mut self.coverage) {
            if *share > 0.0 {
                for (below, above) in pixel.0.iter_mut().zip(color) {
                    let mixed = f32::from(*below) * (1.0 - *share) + f32::from(above) * *share;
                    *below = mixed.round() as u8;
                }
                *share = 0.0;
            }
        }
    }

    /// Covers a straight line of a width in CSS pixels.
    fn cover_line(&mut self, from: [f64; 2], to: [f64; 2], width: f64) {
        let [a, b] = [from, to].map(|point| point.map(|c| c * self.scale));
        // A line thinner than a pixel would be broken.
        let half = (width * self.scale / 2.0).max(0.5);
        let low = [a[0].min(b[0]) - half, a[1].min(b[1]) - half];
        let high = [a[0].max(b[0]) + half, a[1].max(b[1]) + half];
        self.cover(low, high, |p| distance(p, a, b) - half);
    }

    /// Covers a line with dashes, which go on from piece to piece of the line.
    fn cover_dashed(&mut self, points: &[[f64; 2]], dashes: &[f64]) {
        let (mut dash, mut used) = (0, 0.0);
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let length = (to[0] - from[0]).hypot(to[1] - from[1]);
            let at = |part: f64| {
                let t = if length > 0.0 { part / length } else { 0.0 };
                [
                    from[0] + (to[0] - from[0]) * t,
                    from[1] + (to[1] - from[1]) * t,
                ]
            };
            let mut done = 0.0;
            while done < length || length == 0.0 {
                let left = dashes.get(dash).map_or(f64::INFINITY, |dash| dash - used);
                let step = left.min(length - done);
                // Ink and gaps take turns.
                if dash % 2 == 0 {
                    self.cover_line(at(done), at(done + step), CURVE_WIDTH);
                }
                done += step;
                used += step;
                if step >= left {
                    (dash, used) = ((dash + 1) % dashes.len(), 0.0);
                }
                if length == 0.0 {
                    break;
                }
            }
        }
    }
}

impl Canvas for RasterCanvas {
    fn rule(&mut self, from: [f64; 2], to: [f64; 2], width: f64) {
        self.cover_line(from, to, width);
        self.fill(rgb(RULE));
    }

    fn curve(&mut self, pieces: &[Vec<[f64; 2]>], style: usize) {
        for piece in pieces {
            self.cover_dashed(piece, DASHES[style % DASHES.len()]);
        }
        self.fill(rgb(COLORS[style % COLORS.len()]));
    }

    fn sample(&mut self, from: [f64; 2], to: [f64; 2], style: usize) {
        self.curve(&[vec![from, to]], style);
    }

    fn marker(&mut self, at: [f64; 2], style: usize) {
        let scale = self.scale;
        let center = at.map(|c| c * scale);
        let corners = MARKERS[style % MARKERS.len()];
        let reach = 4.2 * scale;
        let (low, high) = (center.map(|c| c - reach), center.map(|c| c + reach));
        let from_center = |p: [f64; 2]| [p[0] - center[0], p[1] - center[1]];
        if corners.is_empty() {
            self.cover(low, high, |p| {
                let [x, y] = from_center(p);
                x.hypot(y) - RADIUS * scale
            });
        } else {
            self.cover(low, high, |p| {
                outside_convex(from_center(p), corners, scale)
            });
        }
        self.fill(rgb(COLORS[style % COLORS.len()]));
    }

    fn text(&mut self, text: &str, at: [f64; 2], anchor: Anchor, words: Words) {
        let heading = words == Words::Heading;
        let height = FONT_SIZE * self.scale * if heading { 1.08 } else { 1.0 };
        let pixels = (height * 1.15) as f32;
        let width = f64::from(text_width(text, pixels));
        let left = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let [x, y] = at.map(|c| c * self.scale);
        if words != Words::Upwards {
            draw_text(
                &mut self.picture,
                text,
                (x + left) as f32,
                y as f32,
                pixels,
                rgb(TEXT),
            );
            return;
        }
        let base = height.ceil();
        let size = [width.ceil() as u32 + 2, (1.5 * height).ceil() as u32 + 2];
        let mut line = RgbaImage::new(size[0], size[1]);
        draw_text(&mut line, text, 1.0, base as f32, pixels, rgb(TEXT));
        let turned = imageops::rotate270(&line);
        let top = y + left + width + 1.0 - f64::from(turned.height());
        imageops::overlay(
            &mut self.picture,
            &turned,
            (x - base) as i64,
            top.max(0.0) as i64,
        );
    }
}

/// Distance of a point from a line between two points.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (along, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let squared = along[0] * along[0] + along[1] * along[1];
    let t = if squared > 0.0 {
        ((to[0] * along[0] + to[1] * along[1]) / squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (to[0] - along[0] * t).hypot(to[1] - along[1] * t)
}

/// Largest distance of a point from the lines through the edges of a convex polygon, positive outside of it. Corners follow each other
/// clockwise on the screen, and are scaled.
fn outside_convex(p: [f64; 2], corners: &[[f64; 2]], scale: f64) -> f64 {
    let edges = corners.iter().zip(corners.iter().cycle().skip(1));
    edges
        .map(|(a, b)| {
            let along = [b[0] - a[0], b[1] - a[1]];
            let to = [p[0] - a[0] * scale, p[1] - a[1] * scale];
            (along[1] * to[0] - along[0] * to[1]) / along[0].hypot(along[1])
        })
        .fold(f64::NEG_INFINITY, f64::max)
}
