//! Colour quantisation of a frame: median cut (Heckbert 1982) over a coarse histogram, and ordered
//! dithering.
//!
//! The dithering pattern is fixed in screen space, so that static parts of the picture do not
//! flicker.

use image::{Rgba, RgbaImage};

/// Palette entries besides the transparent one.
const COLORS: usize = 255;
/// Bits per channel in the histogram and in the nearest-colour table.
const BITS: u32 = 5;
const TABLE_BITS: u32 = 6;
/// Alpha below this value becomes transparent.
const OPAQUE: u8 = 128;
/// Amplitude of the dithering, of 255, in either direction.
const DITHER: i32 = 5;
/// Thresholds of the 8 × 8 ordered dithering matrix (Bayer 1973).
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

/// The palette of one frame, with its nearest-colour table.
pub(super) struct FramePalette {
    colors: Vec<[u8; 3]>,
}

/// One histogram bin.
#[derive(Debug, Clone, Copy, Default)]
struct HistogramBin {
    count: u64,
    sum: [u64; 3],
}

impl HistogramBin {
    fn mean(&self, channel: usize) -> f64 {
        self.sum[channel] as f64 / self.count.max(1) as f64
    }
}

impl FramePalette {
    /// Chooses at most 255 colours for a frame.
    pub(super) fn of(picture: &RgbaImage) -> Self {
        let mut bins = vec![HistogramBin::default(); 1 << (3 * BITS)];
        for &Rgba([r, g, b, a]) in picture.pixels() {
            if a >= OPAQUE {
                let place = |c: u8| usize::from(c >> (8 - BITS));
                let bin = &mut bins[(place(r) << (2 * BITS)) | (place(g) << BITS) | place(b)];
                bin.count += 1;
                bin.sum
                    .iter_mut()
                    .zip([r, g, b])
                    .for_each(|(sum, c)| *sum += u64::from(c));
            }
        }
        bins.retain(|bin| bin.count > 0);
        let mut boxes = vec![bins];
        while boxes.len() < COLORS {
            let Some((index, _)) = boxes
                .iter()
                .enumerate()
                .map(|(index, bins)| (index, spread(bins).1))
                .max_by(|a, b| a.1.total_cmp(&b.1))
            else {
                break;
            };
            if boxes[index].len() < 2 {
                break;
            }
            let whole = boxes.swap_remove(index);
            boxes.extend(halves(whole));
        }
        Self {
            colors: boxes
                .iter()
                .filter(|bins| !bins.is_empty())
                .map(|bins| middle(bins))
                .collect(),
        }
    }

    /// Maps the frame to palette indices; every pixel becomes opaque or transparent.
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
            let key = color.iter().fold(0, |key, c| {
                (key << TABLE_BITS) | usize::from(c >> (8 - TABLE_BITS))
            });
            if nearest[key] == UNKNOWN {
                nearest[key] = self.nearest(color) as u16;
            }
            let [r, g, b] = self.colors[usize::from(nearest[key])];
            result.put_pixel(x, y, Rgba([r, g, b, 255]));
        }
        result
    }

    fn nearest(&self, color: [u8; 3]) -> usize {
        // Table cells are compared by their centre, so that the result does not depend on pixel
        // order.
        let half = 1 << (7 - TABLE_BITS);
        let cell = color.map(|c| i32::from(c >> (8 - TABLE_BITS) << (8 - TABLE_BITS)) + half);
        let distance = |other: &[u8; 3]| {
            let [r, g, b] = std::array::from_fn(|k| cell[k] - i32::from(other[k]));
            // The eye is most sensitive to green.
            2 * r * r + 4 * g * g + b * b
        };
        (0..self.colors.len())
            .min_by_key(|&index| distance(&self.colors[index]))
            .unwrap_or_default()
    }
}

/// The longest channel of a box, and the priority of splitting the box along it.
fn spread(bins: &[HistogramBin]) -> (usize, f64) {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    let width = |channel: usize| {
        let [low, high] =
            bins.iter()
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], bin| {
                    let mean = bin.mean(channel);
                    [low.min(mean), high.max(mean)]
                });
        (high - low).max(0.0)
    };
    let (channel, longest) = (0..3)
        .map(|c| (c, width(c)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or_default();
    // The priority balances extent against pixel count.
    (channel, longest * (count as f64).sqrt())
}

/// Splits a box into two with about equal pixel counts; with two bins or more neither part is
/// empty.
fn halves(mut bins: Vec<HistogramBin>) -> [Vec<HistogramBin>; 2] {
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

fn middle(bins: &[HistogramBin]) -> [u8; 3] {
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
    fn few_colours_are_kept_exactly() {
        let picture = RgbaImage::from_fn(16, 16, |x, y| {
            Rgba([
                (x / 4 * 60) as u8,
                7,
                (y / 8 * 200) as u8,
                if x == 15 { 20 } else { 255 },
            ])
        });
        let palette = FramePalette::of(&picture);
        assert_eq!(palette.colors.len(), 8);
        let result = palette.dithered(&picture);
        for (a, b) in result.pixels().zip(picture.pixels()) {
            assert!(
                if b[3] < OPAQUE { a[3] == 0 } else { a == b },
                "{a:?} for {b:?}"
            );
        }
    }

    #[test]
    fn empty_and_single_pixel_frames_are_quantised() {
        for picture in [
            RgbaImage::new(0, 0),
            RgbaImage::new(5, 5),
            RgbaImage::from_pixel(1, 1, Rgba([1, 2, 3, 255])),
        ] {
            assert_eq!(FramePalette::of(&picture).dithered(&picture), picture);
        }
    }

    #[test]
    fn dithering_preserves_the_mean_of_a_gradient() {
        let picture = RgbaImage::from_fn(256, 256, |x, y| {
            Rgba([x as u8, y as u8, u32::midpoint(x, y) as u8, 255])
        });
        let palette = FramePalette::of(&picture);
        assert_eq!(palette.colors.len(), COLORS);
        let result = palette.dithered(&picture);
        for channel in 0..3 {
            let mean = |picture: &RgbaImage| {
                picture.pixels().map(|p| f64::from(p[channel])).sum::<f64>() / 65536.0
            };
            assert!(
                (mean(&result) - mean(&picture)).abs() < 1.5,
                "{} for {}",
                mean(&result),
                mean(&picture)
            );
        }
    }
}
