//! Decodes PNG, JPEG and WebP images into 8-bit RGBA, within a budget of memory.
//!
//! What counts is the decoded size with its mip levels. A picture that is too large is decoded to a
//! smaller size: PNG row by row, so that the full size is never in memory.

use std::io::Cursor;

use image::{DynamicImage, GenericImageView, ImageDecoder};

use crate::character::{Character, Image, Severity};
use crate::io::error::{ParseProblem, Parsed, bad};

/// Maximum bytes of pixels of all images of one character, with mip levels; also of one image while
/// it is decoded.
const BUDGET: u64 = 256 << 20;
/// Maximum width and height of an image that is kept, pixels.
const LARGEST_SIDE: u32 = 16_384;
/// Maximum width × height of a file's image: more takes seconds to decode.
const MOST_PIXELS: u64 = 16_384 * 16_384;
/// Smallest width or height that an image is reduced to, pixels.
const SMALLEST_SIDE: u32 = 16;

/// The images of one character.
#[derive(Debug, Default)]
pub(crate) struct PictureBudget {
    /// Bytes of all images so far.
    spent: u64,
    /// Images that were reduced.
    reduced: usize,
}

impl PictureBudget {
    /// Decodes an image, to a smaller size if it is too large. A problem completes "the texture …".
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Parsed<Image> {
        let (image, step) = if bytes.starts_with(b"\x89PNG") {
            self.png(bytes)?
        } else {
            self.other(bytes)?
        };
        self.spent += with_mip_levels(image.width, image.height);
        self.reduced += usize::from(step > 1);
        Ok(image)
    }

    /// Notes that images were reduced.
    pub(crate) fn note(&self, character: &mut Character) {
        if self.reduced > 0 {
            let text = format!(
                "textures drawn at a lower resolution, because all together may take {} MB: {}",
                BUDGET >> 20,
                self.reduced
            );
            character.note(Severity::Info, self.reduced, text);
        }
    }

    /// By what whole number both sides are divided, so that the image takes at most half of what is
    /// left: later images are not refused because of the first ones.
    fn step_of(&self, width: u32, height: u32) -> Parsed<u32> {
        if width == 0 || height == 0 {
            return bad("has no pixels");
        }
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            return bad(format!(
                "has {width} × {height} pixels, more than a texture can have"
            ));
        }
        // Few large pictures share most of the budget; many of them become small rather than being left out.
        let left = BUDGET.saturating_sub(self.spent);
        let allowed = if left > BUDGET / 4 {
            left / 2
        } else {
            left / 8
        };
        let fits = |step: u32| {
            let (width, height) = (width.div_ceil(step), height.div_ceil(step));
            width.max(height) <= LARGEST_SIDE && with_mip_levels(width, height) <= allowed
        };
        let most = (width.min(height) / SMALLEST_SIDE).max(1);
        match (1..=most).find(|&step| fits(step)) {
            Some(step) => Ok(step),
            None => bad(format!(
                "is left out: the textures take more than {} MB, even reduced",
                BUDGET >> 20
            )),
        }
    }

    fn png(&self, bytes: &[u8]) -> Parsed<(Image, u32)> {
        let unreadable = |error| ParseProblem::new(format!("is not a readable PNG image: {error}"));
        let limits = png::Limits {
            bytes: BUDGET as usize,
        };
        let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().map_err(unreadable)?;
        let (width, height) = reader.info().size();
        let step = self.step_of(width, height)?;
        if reader.info().interlaced {
            return self.other(bytes);
        }
        let channels = reader.output_color_type().0.samples();
        let mut reduced = Reduction::new(width, height, step);
        while let Some(row) = reader.next_row().map_err(unreadable)? {
            reduced.add_row(row.data().chunks_exact(channels).map(rgba_of));
        }
        Ok((reduced.finish(), step))
    }

    /// Formats that are decoded whole.
    fn other(&self, bytes: &[u8]) -> Parsed<(Image, u32)> {
        let unreadable = |error: &dyn std::fmt::Display| {
            ParseProblem::new(format!(
                "is not a readable PNG, JPEG or WebP image: {error}"
            ))
        };
        let mut reader = image::ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| unreadable(&error))?;
        let mut limits = image::Limits::default();
        limits.max_alloc = Some(BUDGET);
        reader.limits(limits);
        let decoder = reader.into_decoder().map_err(|error| unreadable(&error))?;
        let (width, height) = decoder.dimensions();
        let step = self.step_of(width, height)?;
        if decoder.total_bytes() > BUDGET {
            return bad(format!(
                "has {width} × {height} pixels, more than can be decoded in {} MB",
                BUDGET >> 20
            ));
        }
        let decoded = DynamicImage::from_decoder(decoder).map_err(|error| unreadable(&error))?;
        let mut reduced = Reduction::new(width, height, step);
        for y in 0..height {
            reduced.add_row((0..width).map(|x| decoded.get_pixel(x, y).0));
        }
        Ok((reduced.finish(), step))
    }
}

/// Bytes of an image with its mip levels: a third more than its pixels.
fn with_mip_levels(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height) * 16 / 3
}

/// A pixel of 1 to 4 channels: grey, grey and alpha, RGB, RGBA.
fn rgba_of(pixel: &[u8]) -> [u8; 4] {
    match *pixel {
        [grey] => [grey, grey, grey, 255],
        [grey, alpha] => [grey, grey, grey, alpha],
        [r, g, b] => [r, g, b, 255],
        [r, g, b, a] => [r, g, b, a],
        _ => [0, 0, 0, 255],
    }
}

/// An image that is reduced while its rows arrive: each pixel is the mean of `step × step` pixels,
/// colours weighted by alpha.
struct Reduction {
    size: [u32; 2],
    step: u32,
    rgba: Vec<u8>,
    /// For each pixel of the row in work: colours times alpha, alpha, and the number of pixels.
    sums: Vec<[u64; 5]>,
    rows: u32,
}

impl Reduction {
    fn new(width: u32, height: u32, step: u32) -> Self {
        let size = [width.div_ceil(step), height.div_ceil(step)];
        Self {
            size,
            step,
            rgba: Vec::with_capacity(size[0] as usize * size[1] as usize * 4),
            sums: vec![[0; 5]; size[0] as usize],
            rows: 0,
        }
    }

    fn add_row(&mut self, pixels: impl Iterator<Item = [u8; 4]>) {
        if self.step == 1 {
            self.rgba.extend(pixels.flatten());
            return;
        }
        let step = self.step as usize;
        for (x, [r, g, b, a]) in pixels.enumerate() {
            let sum = &mut self.sums[x / step];
            let alpha = u64::from(a);
            for (sum, color) in sum.iter_mut().zip([r, g, b]) {
                *sum += u64::from(color) * alpha;
            }
            sum[3] += alpha;
            sum[4] += 1;
        }
        self.rows += 1;
        if self.rows == self.step {
            self.end_row();
        }
    }

    fn end_row(&mut self) {
        for sum in &mut self.sums {
            let [r, g, b, alpha, count] = std::mem::take(sum);
            let mean = |color: u64| (color / alpha.max(1)) as u8;
            let alpha = (alpha / count.max(1)) as u8;
            self.rgba.extend([mean(r), mean(g), mean(b), alpha]);
        }
        self.rows = 0;
    }

    fn finish(mut self) -> Image {
        if self.rows > 0 {
            self.end_row();
        }
        Image::new(self.size[0], self.size[1], self.rgba)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of one channel that is white in its right half.
    fn grey(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let row: Vec<u8> = (0..width).map(|x| u8::from(2 * x >= width) * 255).collect();
        let mut writer = encoder.write_header().unwrap();
        let mut stream = writer.stream_writer().unwrap();
        for _ in 0..height {
            std::io::Write::write_all(&mut stream, &row).unwrap();
        }
        stream.finish().unwrap();
        drop(writer);
        bytes
    }

    #[test]
    fn pictures_keep_within_their_budget_by_becoming_smaller() {
        let mut budget = PictureBudget::default();
        let large = grey(8192, 8192);
        for _ in 0..8 {
            let image = budget.decode(&large).unwrap();
            assert!(budget.spent <= BUDGET && image.is_sound());
            let (half, white) = (image.width / 2, image.rgba[image.rgba.len() - 4]);
            assert_eq!((image.rgba[0], white, image.rgba[3]), (0, 255, 255));
            assert_eq!(image.rgba[4 * (half as usize + 1)], 255);
        }
        let mut character = Character::default();
        budget.note(&mut character);
        assert_eq!(character.notes[0].count, 8);
        // A small one still fits, at its full size.
        assert_eq!(budget.decode(&grey(4, 2)).unwrap().width, 4);
    }

    #[test]
    fn a_picture_is_decoded_as_it_is_where_it_fits() {
        let mut budget = PictureBudget::default();
        let image = budget.decode(&grey(5, 3)).unwrap();
        assert_eq!((image.width, image.height, budget.reduced), (5, 3, 0));
        assert_eq!(image.rgba[..4], [0, 0, 0, 255]);
        for bad in [&b""[..], b"\x89PNG\r\n\x1a\n", b"GIF89a", b"hello"] {
            assert!(budget.decode(bad).is_err());
        }
    }

    #[test]
    fn transparent_pixels_do_not_color_a_reduced_one() {
        let mut reduced = Reduction::new(2, 2, 2);
        reduced.add_row([[200, 100, 0, 255], [0, 255, 255, 0]].into_iter());
        reduced.add_row([[200, 100, 0, 255], [0, 255, 255, 0]].into_iter());
        let image = reduced.finish();
        assert_eq!(image.rgba, [200, 100, 0, 127]);
    }
}
