//! Antialiased text in pictures, in the window's font.

use image::RgbaImage;
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use vello_cpu::color::{OpaqueColor, Srgb};
use vello_cpu::kurbo::{Affine, BezPath, Rect, Shape};
use vello_cpu::{Pixmap, RenderContext, Resources};

/// Draws one line of text into a picture: left edge at `left`, baseline at `baseline`, in an sRGB
/// colour. Text outside the picture is clipped; unknown characters are drawn as the font's box.
pub fn draw_text(
    image: &mut RgbaImage,
    text: &str,
    left: f32,
    baseline: f32,
    pixels: f32,
    color: [u8; 3],
) {
    let Some(font) = Font::new(pixels) else {
        return;
    };
    let outline = font.outline(text, left, baseline);
    let picture = Rect::new(0.0, 0.0, image.width().into(), image.height().into());
    // Whole pixels of the picture that the text may touch.
    let drawn = outline.bounding_box().expand().intersect(picture);
    let [width, height] = [drawn.width(), drawn.height()].map(|side| side.max(0.0) as u16);
    if width == 0 || height == 0 {
        return;
    }
    let mut context = RenderContext::new(width, height);
    context.set_transform(Affine::translate((-drawn.x0, -drawn.y0)));
    context.set_paint(OpaqueColor::<Srgb>::WHITE);
    context.fill_path(&outline);
    let mut coverage = Pixmap::new(width, height);
    context.render(&mut coverage, &mut Resources::new());
    let rows = coverage.data().chunks_exact(width.into());
    for (y, row) in (drawn.y0 as u32..).zip(rows) {
        for (x, pixel) in (drawn.x0 as u32..).zip(row) {
            if pixel.a > 0 {
                blend(image, [x, y], color, f32::from(pixel.a) / 255.0);
            }
        }
    }
}

/// Width of a line of text in pixels.
#[must_use]
pub fn text_width(text: &str, pixels: f32) -> f32 {
    Font::new(pixels).map_or(0.0, |font| {
        font.glyphs(text).map(|(_, advance)| advance).sum()
    })
}

/// The text, shortened with an ellipsis until it fits.
#[must_use]
pub fn fitted(text: &str, pixels: f32, width: f32) -> String {
    if text_width(text, pixels) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let shorter = format!("{}…", kept.iter().collect::<String>().trim_end());
        if text_width(&shorter, pixels) <= width {
            return shorter;
        }
    }
    String::new()
}

/// The font in a size.
struct Font {
    font: FontRef<'static>,
    size: Size,
}

impl Font {
    /// The font whose line, from the ascenders to the descenders, has this height in pixels.
    fn new(pixels: f32) -> Option<Self> {
        let font = FontRef::new(epaint_default_fonts::UBUNTU_LIGHT).ok()?;
        let of_one = font.metrics(Size::new(1.0), LocationRef::default());
        let size = Size::new(pixels / (of_one.ascent - of_one.descent));
        Some(Self { font, size })
    }

    /// Glyphs of a line with their advances, pixels.
    fn glyphs(&self, text: &str) -> impl Iterator<Item = (GlyphId, f32)> {
        let characters = self.font.charmap();
        let widths = (self.font).glyph_metrics(self.size, LocationRef::default());
        text.chars().map(move |character| {
            let glyph = characters.map(character).unwrap_or(GlyphId::NOTDEF);
            (glyph, widths.advance_width(glyph).unwrap_or(0.0))
        })
    }

    /// The outline of a line, pixels, y down.
    fn outline(&self, text: &str, left: f32, baseline: f32) -> BezPath {
        let outlines = self.font.outline_glyphs();
        let mut pen = Pen {
            path: BezPath::new(),
            origin: [left, baseline],
        };
        for (glyph, advance) in self.glyphs(text) {
            if let Some(outline) = outlines.get(glyph) {
                let settings = DrawSettings::unhinted(self.size, LocationRef::default());
                // A glyph that can't be drawn is left out; the font is compiled in and whole.
                let _ = outline.draw(settings, &mut pen);
            }
            pen.origin[0] += advance;
        }
        pen.path
    }
}

/// Adds glyphs to a path, with the glyph's origin at a place.
struct Pen {
    path: BezPath,
    origin: [f32; 2],
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f64, f64) {
        let [left, baseline] = self.origin;
        ((left + x).into(), (baseline - y).into())
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.at(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.at(x, y));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.at(cx, cy), self.at(x, y));
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let [first, second, end] = [(cx0, cy0), (cx1, cy1), (x, y)].map(|(x, y)| self.at(x, y));
        self.path.curve_to(first, second, end);
    }

    fn close(&mut self) {
        self.path.close_path();
    }
}

fn blend(image: &mut RgbaImage, [x, y]: [u32; 2], color: [u8; 3], coverage: f32) {
    if let Some(pixel) = image.get_pixel_mut_checked(x, y) {
        // Light text appears thin: slightly more coverage keeps thin strokes legible.
        let share = coverage.clamp(0.0, 1.0).powf(0.8);
        let behind = f32::from(pixel[3]) / 255.0 * (1.0 - share);
        let alpha = share + behind;
        if alpha <= 0.0 {
            return;
        }
        for c in 0..3 {
            let mixed = (f32::from(pixel[c]) * behind + f32::from(color[c]) * share) / alpha;
            pixel[c] = mixed.round() as u8;
        }
        pixel[3] = (alpha * 255.0).round() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: [u8; 3] = [200, 100, 50];

    #[test]
    fn text_lies_between_its_edges_and_is_clipped() {
        let mut image = RgbaImage::new(120, 40);
        draw_text(&mut image, "Hxg 27°", 10.0, 28.0, 20.0, INK);
        let width = text_width("Hxg 27°", 20.0);
        let inked: Vec<[u32; 2]> = image
            .enumerate_pixels()
            .filter(|(_, _, pixel)| pixel[3] > 0)
            .map(|(x, y, _)| [x, y])
            .collect();
        assert!(inked.len() > 100, "{} pixels", inked.len());
        for [x, y] in inked {
            assert!(x >= 9 && (x as f32) < 11.0 + width, "column {x}");
            assert!((8..=34).contains(&y), "row {y}");
        }
        // Opaque in the middle of the thick strokes, in the text's colour.
        let darkest = image.pixels().max_by_key(|pixel| pixel[3]).unwrap();
        assert!(darkest[3] > 200);
        assert_eq!(darkest.0[..3], INK);
        // Nothing of a text beyond the edges, and no panic.
        for (left, baseline) in [(-500.0, 20.0), (500.0, 20.0), (0.0, -50.0), (0.0, 1e6)] {
            let mut empty = RgbaImage::new(60, 30);
            draw_text(&mut empty, "Text", left, baseline, 16.0, INK);
            assert!(empty.pixels().all(|pixel| pixel[3] == 0));
        }
        let mut half = RgbaImage::new(30, 30);
        draw_text(&mut half, "WWWW", -8.0, 20.0, 16.0, INK);
        assert!(half.pixels().any(|pixel| pixel[3] > 0));
    }

    #[test]
    fn long_text_ends_with_an_ellipsis_that_fits() {
        assert_eq!(fitted("short", 14.0, 200.0), "short");
        let text = fitted("a name that is much too long for its place", 14.0, 100.0);
        assert!(
            text.ends_with('…') && text_width(&text, 14.0) <= 100.0,
            "{text}"
        );
        assert_eq!(fitted("long", 14.0, 1.0), "");
    }
}
