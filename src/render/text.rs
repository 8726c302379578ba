//! Antialiased text in pictures, in the window's font.

use ab_glyph::{Font, FontRef, ScaleFont};

/// Draws one line of text into a picture: left edge at `left`, baseline at `baseline`, in an sRGB
/// colour. Text outside the picture is clipped; unknown characters are drawn as the font's box.
pub fn draw_text(
    image: &mut image::RgbaImage,
    text: &str,
    left: f32,
    baseline: f32,
    pixels: f32,
    color: [u8; 3],
) {
    let Some(font) = font() else { return };
    let font = font.as_scaled(pixels);
    let mut x = left;
    let mut previous = None;
    for character in text.chars() {
        let id = font.glyph_id(character);
        x += previous.map_or(0.0, |previous| font.kern(previous, id));
        let glyph = id.with_scale_and_position(pixels, ab_glyph::point(x, baseline));
        x += font.h_advance(id);
        previous = Some(id);
        if let Some(outline) = font.outline_glyph(glyph) {
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, coverage| {
                blend(
                    image,
                    corner.x as i64 + i64::from(dx),
                    corner.y as i64 + i64::from(dy),
                    color,
                    coverage,
                );
            });
        }
    }
}

/// Width of a line of text in pixels.
#[must_use]
pub fn text_width(text: &str, pixels: f32) -> f32 {
    let Some(font) = font() else { return 0.0 };
    let font = font.as_scaled(pixels);
    let ids: Vec<_> = text
        .chars()
        .map(|character| font.glyph_id(character))
        .collect();
    let kerning: f32 = ids.windows(2).map(|pair| font.kern(pair[0], pair[1])).sum();
    ids.iter().map(|&id| font.h_advance(id)).sum::<f32>() + kerning
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

fn font() -> Option<FontRef<'static>> {
    FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).ok()
}

fn blend(image: &mut image::RgbaImage, x: i64, y: i64, color: [u8; 3], coverage: f32) {
    let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else {
        return;
    };
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
