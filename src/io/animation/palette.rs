//! A few colours for a picture that has many: median cut (Heckbert 1982) over a coarse histogram, and ordered dithering.
//!
//! The pattern of the dithering stands still from frame to frame, so that nothing crawls over what doesn't move.

use image::{Rgba, RgbaImage};

/// Colours besides the see-through one.
const COLORS: usize = 255;
/// Bits of a channel in the histogram, and in the table of nearest colours.
const BITS: u32 = 5;
const TABLE_BITS: u32 = 6;
/// Opacities below this are see-through.
const OPAQUE: u8 = 128;
/// Differences that the dithering makes at most, upwards and downwards, of 255.
const DITHER: i32 = 5;
/// Ranks of the cells of an 8 × 8 pattern (Bayer 1973).
const PATTERN: [[u8; 8]; 8] = [
    [0, 32, 8, 40, 2, 34, 10, 42],
    [48, 16, 56, 24, 50, 18, 58, 26],
    [12, 44, 4, 36, 14, 46, 6, 38],
    [60, 28, 52, 20, 62, 30, 54, 22],
    [3, 35, 11, 43, 1, 33, 9, 41],
    [51, 19, 59, 27, 49, 17, 57, 25],
    [15, 47, 7, 39, 13, 45, 5, 37],
    [63, 31, 55, 23, 61, 29, 53, 21],
];

/// Colours that stand for all of a picture.
pub(super) struct Palette {
    colors: Vec<[u8; 3]>,
}

/// Pixels of nearly one colour.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    count: u64,
    sum: [u64; 3],
}

impl Bin {
    fn mean(&self, channel: usize) -> f64 {
        self.sum[channel] as f64 / self.count.max(1) as f64
    }
}

impl Palette {
    /// Chooses colours for a picture: at most 255.
    pub(super) fn of(picture: &RgbaImage) -> Self {
        let mut bins = vec![Bin::default(); 1 << (3 * BITS)];
        for &Rgba([r, g, b, a]) in picture.pixels() {
            if a >= OPAQUE {
                let place = |c: u8| usize::from(c >> (8 - BITS));
                let bin = &mut bins[(place(r) << (2 * BITS)) | (place(g) << BITS) | place(b)];
                bin.count += 1;
                bin.sum.iter_mut().zip([r, g, b]).for_each(|(sum, c)| *sum += u64::from(c));
            }
        }
        bins.retain(|bin| bin.count > 0);
        let mut boxes = vec![bins];
        while boxes.len() < COLORS {
            let Some((index, _)) = boxes.iter().enumerate().map(|(index, bins)| (index, spread(bins).1)).max_by(|a, b| a.1.total_cmp(&b.1))
            else {
                break;
            };
            if boxes[index].len() < 2 {
                break;
            }
            let whole = boxes.swap_remove(index);
            boxes.extend(halves(whole));
        }
        Self { colors: boxes.iter().filter(|bins| !bins.is_empty()).map(|bins| middle(bins)).collect() }
    }

    /// The picture in these colours; every pixel is opaque, or nothing.
    pub(super) fn dithered(&self, picture: &RgbaImage) -> RgbaImage {
        const UNKNOWN: u16 = u16::MAX;
        let mut nearest = vec![UNKNOWN; 1 << (3 * TABLE_BITS)];
        let mut result = RgbaImage::new(picture.width(), picture.height());
        for (x, y, &Rgba([r, g, b, a])) in picture.enumerate_pixels() {
            if a < OPAQUE || self.colors.is_empty() {
                continue;
            }
            let rank = i32::from(PATTERN[y as usize % 8][x as usize % 8]);
            let shift = (2 * rank - 63) * DITHER / 63;
            let color = [r, g, b].map(|c| (i32::from(c) + shift).clamp(0, 255) as u8);
            let key = color.iter().fold(0, |key, c| (key << TABLE_BITS) | usize::from(c >> (8 - TABLE_BITS)));
            if nearest[key] == UNKNOWN {
                nearest[key] = self.nearest(color) as u16;
            }
            let [r, g, b] = self.colors[usize::from(nearest[key])];
            result.put_pixel(x, y, Rgba([r, g, b, 255]));
        }
        result
    }

    fn nearest(&self, color: [u8; 3]) -> usize {
        // Cells of the table are compared by their middle, so that the order of pixels does not matter.
        let half = 1 << (7 - TABLE_BITS);
        let cell = color.map(|c| i32::from(c >> (8 - TABLE_BITS) << (8 - TABLE_BITS)) + half);
        let distance = |other: &[u8; 3]| {
            let [r, g, b] = std::array::from_fn(|k| cell[k] - i32::from(other[k]));
            // The eye is keenest for green.
            2 * r * r + 4 * g * g + b * b
        };
        (0..self.colors.len()).min_by_key(|&index| distance(&self.colors[index])).unwrap_or_default()
    }
}

/// The channel along which a box is longest, and how much is to be gained by cutting it there.
fn spread(bins: &[Bin]) -> (usize, f64) {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    let width = |channel: usize| {
        let [low, high] = bins.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], bin| {
            let mean = bin.mean(channel);
            [low.min(mean), high.max(mean)]
        });
        (high - low).max(0.0)
    };
    let (channel, longest) = (0..3).map(|c| (c, width(c))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    // Neither a wide box of a few stray pixels nor a narrow one of half the picture.
    (channel, longest * (count as f64).sqrt())
}

/// Two boxes with about as many pixels each; neither is empty for two bins or more.
fn halves(mut bins: Vec<Bin>) -> [Vec<Bin>; 2] {
    let channel = spread(&bins).0;
    bins.sort_by(|a, b| a.mean(channel).total_cmp(&b.mean(channel)));
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let mut before = 0;
    let cut = bins.iter().position(|bin| {
        before += bin.count;
        before * 2 >= total
    });
    let cut = cut.map_or(1, |index| index + 1).clamp(1, bins.len() - 1);
    let upper = bins.split_off(cut);
    [bins, upper]
}

fn middle(bins: &[Bin]) -> [u8; 3] {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    std::array::from_fn(|channel| {
        let sum: u64 = bins.iter().map(|bin| bin.sum[channel]).sum();
        ((sum + count / 2) / count.max(1)) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let picture = RgbaImage::from_fn(16, 16, |x, y| Rgba([(x / 4 * 60) as u8, 7, (y / 8 * 200) as u8, if x == 15 { 20 } else { 255 }]));
        let palette = Palette::of(&picture);
        assert_eq!(palette.colors.len(), 8);
        let result = palette.dithered(&picture);
        for (a, b) in result.pixels().zip(picture.pixels()) {
            assert!(if b[3] < OPAQUE { a[3] == 0 } else { a == b }, "{a:?} for {b:?}");
        }
    }

    #[test]
    fn nothing_and_one_pixel_are_survived() {
        for picture in [RgbaImage::new(0, 0), RgbaImage::new(5, 5), RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 255]))] {
            assert_eq!(Palette::of(&picture).dithered(&picture), picture);
        }
    }

    #[test]
    fn the_mean_of_a_gradient_stays() {
        let picture = RgbaImage::from_fn(256, 256, |x, y| Rgba([x as u8, y as u8, u32::midpoint(x, y) as u8, 255]));
        let palette = Palette::of(&picture);
        assert_eq!(palette.colors.len(), COLORS);
        let result = palette.dithered(&picture);
        for channel in 0..3 {
            let mean = |picture: &RgbaImage| picture.pixels().map(|p| f64::from(p[channel])).sum::<f64>() / 65536.0;
            assert!((mean(&result) - mean(&picture)).abs() < 1.5, "{} for {}", mean(&result), mean(&picture));
        }
    }
}
