//! Several pictures in one, each with a caption.

use image::{Rgba, RgbaImage};

use super::text::{draw_text, fitted, text_width};

/// Looks of the sheet: sRGB.
const PAPER: [u8; 4] = [255, 255, 255, 255];
const INK: [u8; 3] = [34, 37, 42];

/// Puts pictures beside each other, in rows that make the sheet about as wide as tall pictures allow, with a caption under each.
/// A picture without a caption gets an empty one; no picture at all gives a single white pixel.
#[must_use]
pub fn compose_grid(images: &[RgbaImage], labels: &[&str]) -> RgbaImage {
    let (Some(width), Some(height)) = (images.iter().map(RgbaImage::width).max(), images.iter().map(RgbaImage::height).max()) else {
        return RgbaImage::from_pixel(1, 1, Rgba(PAPER));
    };
    let columns = columns(images.len(), width, height);
    let rows = images.len().div_ceil(columns) as u32;
    let columns = columns as u32;
    let gap = (width.min(height) / 60).clamp(2, 24);
    let pixels = caption_pixels(width, height);
    let caption = if labels.is_empty() { 0 } else { (pixels * 1.9) as u32 };
    let mut sheet = RgbaImage::from_pixel(columns * (width + gap) + gap, rows * (height + caption + gap) + gap, Rgba(PAPER));
    for (index, picture) in (0_u32..).zip(images) {
        let (column, row) = (index % columns, index / columns);
        let (left, top) = (gap + column * (width + gap), gap + row * (height + caption + gap));
        image::imageops::replace(&mut sheet, picture, i64::from(left), i64::from(top));
        if let Some(label) = labels.get(index as usize) {
            let label = fitted(label, pixels, width as f32);
            let inset = (width as f32 - text_width(&label, pixels)) / 2.0;
            draw_text(&mut sheet, &label, left as f32 + inset, (top + height) as f32 + pixels * 1.35, pixels, INK);
        }
    }
    sheet
}

/// Size of a caption's letters for a cell of this size.
fn caption_pixels(width: u32, height: u32) -> f32 {
    (width.min(height) as f32 * 0.042).clamp(13.0, 56.0)
}

/// Up to four pictures stand in one row unless they are very wide; more are spread so that the sheet is nearest to 16 : 9.
fn columns(count: usize, width: u32, height: u32) -> usize {
    if count <= 4 && width <= 2 * height {
        return count;
    }
    let shape = |columns: usize| (columns as f32 * width as f32) / (count.div_ceil(columns) as f32 * height as f32);
    let off = |columns: &usize| (shape(*columns) / (16.0 / 9.0)).ln().abs();
    (1..=count).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: u8) -> RgbaImage {
        RgbaImage::from_pixel(200, 150, Rgba([value, 0, 0, 255]))
    }

    #[test]
    fn every_picture_is_there_whole_and_captions_leave_ink_below_it() {
        let images: Vec<_> = [10, 20, 30].map(plain).into();
        let sheet = compose_grid(&images, &["lbs", "dqs", "pd"]);
        for value in [10, 20, 30] {
            assert_eq!(sheet.pixels().filter(|p| p.0 == [value, 0, 0, 255]).count(), 200 * 150);
        }
        let dark = |p: &&Rgba<u8>| p.0.iter().take(3).all(|&c| c < 110);
        let ink = sheet.pixels().filter(|p| p.0[1] > 0).filter(dark).count();
        assert!(ink > 20, "only {ink} dark pixels of captions");
        assert!(compose_grid(&images, &[]).height() < sheet.height());
    }

    #[test]
    fn a_long_caption_is_shortened_to_its_cell() {
        let short = fitted("a name that is far too long for such a small picture", 14.0, 90.0);
        assert!(short.ends_with('…') && text_width(&short, 14.0) <= 90.0, "{short}");
        assert_eq!(fitted("pd", 14.0, 90.0), "pd");
    }

    #[test]
    fn no_pictures_and_odd_counts_are_sheets_too() {
        assert_eq!(compose_grid(&[], &["x"]).dimensions(), (1, 1));
        for count in 1..=9 {
            let images = vec![plain(1); count];
            let sheet = compose_grid(&images, &[]);
            assert_eq!(sheet.pixels().filter(|p| p.0[0] == 1).count(), count * 200 * 150);
        }
    }
}
