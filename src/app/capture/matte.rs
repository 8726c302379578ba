//! Pictures as files want them: straight alpha, and the colour bar in the picture.

use image::{Rgba, RgbaImage};

use crate::render::{Legend, draw_text, text_width};

/// Divides the colours by their opacity, in light: the device draws them multiplied.
pub(super) fn unmultiply(picture: &mut RgbaImage) {
    for Rgba([r, g, b, a]) in picture.pixels_mut() {
        if *a == 0 {
            (*r, *g, *b) = (0, 0, 0);
        } else if *a < 255 {
            let part = f32::from(*a) / 255.0;
            for c in [r, g, b] {
                *c = encoded(decoded(*c) / part);
            }
        }
    }
}

fn decoded(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn encoded(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let v = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (v * 255.0).round() as u8
}

/// Puts the colour bar with its numbers into the lower right corner, on a dark plate, if there is room.
pub(super) fn add_legend(picture: &mut RgbaImage, legend: &Legend) {
    const PLATE: Rgba<u8> = Rgba([30, 31, 34, 255]);
    const INK: [u8; 3] = [232, 233, 236];
    let letters = (picture.height() as f32 * 0.018).clamp(11.0, 40.0);
    let ticks = legend.ticks();
    let heading = legend.heading();
    let numbers = ticks.iter().map(|(_, text)| text_width(text, letters)).fold(0.0, f32::max);
    let (bar_width, bar_height, pad) = (letters * 1.2, letters * 11.0, letters * 0.8);
    let width = (bar_width + letters * 0.5 + numbers).max(text_width(&heading, letters)) + 2.0 * pad;
    let height = bar_height + letters * 2.6 + pad;
    let (left, top) = (picture.width() as f32 - width - pad, picture.height() as f32 - height - pad);
    if left < 0.0 || top < 0.0 {
        return;
    }
    fill(picture, [left, top, left + width, top + height], |_| PLATE);
    draw_text(picture, &heading, left + pad, top + letters * 1.5, letters, INK);
    let bar = [left + pad, top + letters * 2.3, left + pad + bar_width, top + letters * 2.3 + bar_height];
    fill(picture, bar, |y| {
        let [r, g, b] = legend.map.color(1.0 - (y - bar[1]) / bar_height);
        Rgba([r, g, b, 255])
    });
    for (share, text) in ticks {
        let baseline = bar[3] - share * bar_height + letters * 0.35;
        draw_text(picture, &text, bar[2] + letters * 0.5, baseline, letters, INK);
    }
}

/// Fills a rectangle (left, top, right, lower edge) row by row.
fn fill(picture: &mut RgbaImage, [left, top, right, bottom]: [f32; 4], color: impl Fn(f32) -> Rgba<u8>) {
    let (width, height) = picture.dimensions();
    for y in top.max(0.0) as u32..(bottom.max(0.0) as u32).min(height) {
        let color = color(y as f32 + 0.5);
        for x in left.max(0.0) as u32..(right.max(0.0) as u32).min(width) {
            picture.put_pixel(x, y, color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmultiplied_colours_are_those_that_were_multiplied() {
        for color in [0, 40, 128, 255] {
            for alpha in [64, 128, 200, 255] {
                let part = f32::from(alpha as u8) / 255.0;
                let stored = encoded(decoded(color) * part);
                let mut picture = RgbaImage::from_pixel(1, 1, Rgba([stored, stored, stored, alpha as u8]));
                unmultiply(&mut picture);
                assert!(picture.get_pixel(0, 0)[0].abs_diff(color) <= 3, "{color} at {alpha}: {:?}", picture.get_pixel(0, 0));
            }
        }
        let mut nothing = RgbaImage::from_pixel(1, 1, Rgba([9, 9, 9, 0]));
        unmultiply(&mut nothing);
        assert_eq!(nothing.get_pixel(0, 0), &Rgba([0; 4]));
    }

    #[test]
    fn the_colour_bar_fits_or_is_left_out() {
        let legend = Legend { title: "Distance".into(), unit: "mm", range: [0.0, 5.0], map: crate::render::ColorMap::default() };
        let mut small = RgbaImage::new(40, 40);
        add_legend(&mut small, &legend);
        assert_eq!(small, RgbaImage::new(40, 40));
        let mut large = RgbaImage::new(800, 600);
        add_legend(&mut large, &legend);
        let colors: std::collections::HashSet<_> = large.pixels().collect();
        assert!(colors.len() > 50, "a bar of many colours");
        assert!(large.pixels().filter(|p| p[3] == 255).count() < 800 * 600 / 6, "in a corner");
    }
}
