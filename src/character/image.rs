//! Images of textures, with their mip levels.

use std::sync::LazyLock;

use rayon::prelude::*;

/// A decoded image, 8-bit sRGB with straight alpha, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// `width · height · 4` bytes.
    pub rgba: Vec<u8>,
    /// Mip levels down to one pixel, the largest first; computed while reading, so that drawing
    /// does not wait. Their own lists are empty.
    pub(crate) halvings: Vec<Image>,
}

impl Image {
    /// An image with its mip levels; colours are averaged linearly, weighted by alpha so that
    /// transparent pixels do not contribute. An image whose byte count does not match its size gets
    /// none.
    #[must_use]
    pub fn new(width: u32, height: u32, rgba: Vec<u8>) -> Self {
        let mut image = Self {
            width,
            height,
            rgba,
            halvings: Vec::new(),
        };
        let mut last = &image;
        let mut halvings: Vec<Self> = Vec::new();
        while last.is_sound() && (last.width > 1 || last.height > 1) {
            let next = last.halved();
            halvings.push(next);
            last = &halvings[halvings.len() - 1];
        }
        image.halvings = halvings;
        image
    }

    /// The same with mip levels of plain averages: for data that are no colours, as normals.
    #[must_use]
    pub(crate) fn of_data(mut self) -> Self {
        let mut halvings: Vec<Self> = Vec::new();
        for _ in 0..self.halvings.len() {
            let next = halvings.last().unwrap_or(&self).averaged();
            halvings.push(next);
        }
        self.halvings = halvings;
        self
    }

    /// Half the size, each number the mean of four.
    fn averaged(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let at = |dx: u32, dy: u32| {
                let x = (2 * x + dx).min(self.width - 1) as usize;
                let y = (2 * y + dy).min(self.height - 1) as usize;
                (y * self.width as usize + x) * 4
            };
            let four = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
            let sum = |c: usize| {
                four.iter()
                    .map(|at| u32::from(self.rgba[at + c]))
                    .sum::<u32>()
            };
            rgba.extend((0..4).map(|c| ((sum(c) + 2) / 4) as u8));
        }
        Self {
            width,
            height,
            rgba,
            halvings: Vec::new(),
        }
    }

    /// Whether it has pixels, and as many as its size requires.
    #[must_use]
    pub(crate) fn is_sound(&self) -> bool {
        self.width > 0
            && self.height > 0
            && self.rgba.len() as u128 == u128::from(self.width) * u128::from(self.height) * 4
    }

    fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = vec![0; width as usize * height as usize * 4];
        let tables = &*TABLES;
        rgba.par_chunks_exact_mut(width as usize * 4)
            .enumerate()
            .for_each(|(y, row)| {
                let y = y as u32;
                for (pixel, x) in row.chunks_exact_mut(4).zip(0_u32..) {
                    let mut sum = [0.0_f32; 4];
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let (sx, sy) = (
                            (2 * x + dx).min(self.width - 1),
                            (2 * y + dy).min(self.height - 1),
                        );
                        let at = (sy as usize * self.width as usize + sx as usize) * 4;
                        let alpha = f32::from(self.rgba[at + 3]) + 0.01;
                        for (sum, value) in sum.iter_mut().zip(&self.rgba[at..at + 3]) {
                            *sum += tables.linear[usize::from(*value)] * alpha;
                        }
                        sum[3] += alpha;
                    }
                    for c in 0..3 {
                        pixel[c] = tables.srgb[(sum[c] / sum[3] * LAST).round() as usize];
                    }
                    pixel[3] = (sum[3] / 4.0).min(255.0) as u8;
                }
            });
        Self {
            width,
            height,
            rgba,
            halvings: Vec::new(),
        }
    }
}

/// The last index of [`Tables::srgb`]: fine enough that every 8-bit colour round-trips.
const LAST: f32 = 16_384.0;

/// sRGB-to-linear table, and its inverse.
struct Tables {
    linear: [f32; 256],
    srgb: Vec<u8>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let light = |v: f32| {
        if v <= 0.040_45 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    };
    let value = |v: f32| {
        if v <= 0.003_130_8 {
            v * 12.92
        } else {
            1.055 * v.powf(1.0 / 2.4) - 0.055
        }
    };
    Tables {
        linear: std::array::from_fn(|v| light(v as f32 / 255.0)),
        srgb: (0..=LAST as u32)
            .map(|v| (value(v as f32 / LAST) * 255.0).round().clamp(0.0, 255.0) as u8)
            .collect(),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mip_levels_of_one_colour_have_that_colour() {
        for value in 0..=255_u8 {
            let color = [value, 255 - value, value / 2, 255];
            let image = Image::new(5, 3, color.repeat(15));
            assert_eq!(
                image
                    .halvings
                    .iter()
                    .map(|l| (l.width, l.height))
                    .collect::<Vec<_>>(),
                [(2, 1), (1, 1)]
            );
            for half in image.halvings {
                assert!(
                    half.is_sound() && half.rgba.chunks(4).all(|p| p == color),
                    "{half:?}"
                );
            }
        }
    }

    #[test]
    fn transparent_pixels_do_not_affect_colours_of_mip_levels() {
        let image = Image::new(2, 1, vec![200, 30, 90, 255, 0, 255, 0, 0]);
        let [red, green, blue, alpha] = image.halvings[0].rgba[..] else {
            panic!("{image:?}")
        };
        assert!(
            red.abs_diff(200) <= 1 && green.abs_diff(30) <= 1 && blue.abs_diff(90) <= 1,
            "{image:?}"
        );
        assert_eq!(alpha, 127);
    }

    #[test]
    fn mip_levels_of_data_are_plain_means() {
        let image = Image::new(
            2,
            2,
            vec![
                0, 10, 255, 255, 100, 10, 255, 255, 0, 30, 255, 0, 100, 30, 255, 255,
            ],
        );
        let data = image.of_data();
        assert_eq!(data.halvings.len(), 1);
        assert_eq!(data.halvings[0].rgba, [50, 20, 255, 191]);
    }

    #[test]
    fn a_wrong_byte_count_gives_no_mip_levels() {
        for (width, height, bytes) in [(0, 0, 0), (2, 2, 15), (u32::MAX, u32::MAX, 16)] {
            let image = Image::new(width, height, vec![0; bytes]);
            assert!(!image.is_sound() && image.halvings.is_empty());
        }
    }
}
