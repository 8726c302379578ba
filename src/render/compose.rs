//! Arranges several pictures in one of a given size, each with a caption.

use image::{Rgba, RgbaImage};

use super::scene::ink_on;
use super::text::{draw_text, fitted, text_width};

/// Colours of the sheet: sRGB.
const PAPER: [u8; 4] = [255, 255, 255, 255];
/// Line height of a caption, relative to the font size.
const LINE: f32 = 1.9;
/// Maximum number of pictures in one row; more are arranged in a grid.
const ROW: usize = 4;

/// Layout of a picture sheet.
///
/// ```
/// use sinew::render::PictureSheet;
/// let sheet = PictureSheet::new([1000, 500], 3);
/// let widths: u32 = (0..3).map(|cell| sheet.cell(cell)[0]).sum();
/// assert_eq!(widths, 1000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSheet {
    size: [u32; 2],
    columns: u32,
    rows: u32,
}

impl PictureSheet {
    /// A sheet of `size` pixels (at least one each way) for `count` pictures: up to four in one
    /// row, more in the grid whose cells are closest to squares.
    #[must_use]
    pub fn new(size: [u32; 2], count: usize) -> Self {
        let size = size.map(|side| side.max(1));
        let count = count.max(1);
        let off = |columns: usize| {
            let shape = (size[0] as f32 / columns as f32)
                / (size[1] as f32 / count.div_ceil(columns) as f32);
            shape.ln().abs()
        };
        let columns = if count <= ROW {
            count
        } else {
            (1..=count)
                .min_by(|&a, &b| off(a).total_cmp(&off(b)))
                .unwrap_or(ROW)
        };
        Self {
            size,
            columns: columns as u32,
            rows: count.div_ceil(columns) as u32,
        }
    }

    /// A sheet of `size` pixels with a table of cells, at least one each way.
    #[must_use]
    pub fn table(size: [u32; 2], [columns, rows]: [usize; 2]) -> Self {
        Self {
            size: size.map(|side| side.max(1)),
            columns: columns.max(1) as u32,
            rows: rows.max(1) as u32,
        }
    }

    /// The size of a sheet whose `count` pictures have about the size `cell`.
    #[must_use]
    pub fn around(cell: [u32; 2], count: usize) -> [u32; 2] {
        let columns = if count <= ROW {
            count.max(1)
        } else {
            (count as f32).sqrt().ceil() as usize
        };
        [
            cell[0].saturating_mul(columns as u32),
            cell[1].saturating_mul(count.max(1).div_ceil(columns) as u32),
        ]
    }

    /// Width and height of the whole, in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Width and height of the picture with this index, in pixels, at least one each way.
    #[must_use]
    pub fn cell(&self, index: usize) -> [u32; 2] {
        let [left, top, right, bottom] = self.edges(index);
        [(right - left).max(1), (bottom - top).max(1)]
    }

    /// Fraction of a cell's height, at its lower edge, for the caption.
    #[must_use]
    pub fn caption_share(&self) -> f32 {
        (LINE * self.letters() / self.cell(0)[1] as f32).min(0.5)
    }

    /// Arranges the pictures, each with its caption inside at the lower edge. Missing labels or
    /// pictures are left blank, surplus ones ignored; a picture whose size differs from its cell's
    /// is cropped or leaves white.
    #[must_use]
    pub fn compose(&self, pictures: &[RgbaImage], labels: &[&str]) -> RgbaImage {
        let mut sheet = RgbaImage::from_pixel(self.size[0], self.size[1], Rgba(PAPER));
        let letters = self.letters();
        for (index, picture) in pictures
            .iter()
            .enumerate()
            .take((self.columns * self.rows) as usize)
        {
            let [left, top, right, bottom] = self.edges(index);
            let [width, height] = self.cell(index);
            let cut = image::imageops::crop_imm(
                picture,
                0,
                0,
                width.min(picture.width()),
                height.min(picture.height()),
            );
            image::imageops::replace(&mut sheet, &*cut, i64::from(left), i64::from(top));
            if let Some(label) = labels.get(index) {
                let label = fitted(label, letters, width as f32 * 0.94);
                let inset = (width as f32 - text_width(&label, letters)) / 2.0;
                let behind = sheet
                    .get_pixel((left + 2).min(right - 1), bottom.saturating_sub(3))
                    .0;
                let ink = if behind[3] < 128 {
                    ink_on([255; 3])
                } else {
                    ink_on([behind[0], behind[1], behind[2]])
                };
                draw_text(
                    &mut sheet,
                    &label,
                    left as f32 + inset,
                    bottom as f32 - letters * 0.6,
                    letters,
                    ink,
                );
            }
            self.rule(&mut sheet, [left, top, right, bottom]);
        }
        sheet
    }

    /// Left, top, right and lower edge of a cell; adjacent cells share edges.
    fn edges(&self, index: usize) -> [u32; 4] {
        let (column, row) = (
            index as u32 % self.columns,
            (index as u32 / self.columns).min(self.rows - 1),
        );
        let at = |side: usize, index: u32, count: u32| {
            (u64::from(self.size[side]) * u64::from(index) / u64::from(count)) as u32
        };
        [
            at(0, column, self.columns),
            at(1, row, self.rows),
            at(0, column + 1, self.columns),
            at(1, row + 1, self.rows),
        ]
    }

    /// Font size of a caption, pixels.
    fn letters(&self) -> f32 {
        let [width, height] = self.cell(0);
        ((width as f32 * height as f32).sqrt() * 0.035).clamp(13.0, 56.0)
    }

    /// Draws thin separators on the left and above.
    fn rule(&self, sheet: &mut RgbaImage, [left, top, right, bottom]: [u32; 4]) {
        let thickness = (self.size[0].min(self.size[1]) / 300).max(1);
        let mut fill = |from: [u32; 2], to: [u32; 2]| {
            for y in from[1]..to[1].min(self.size[1]) {
                for x in from[0]..to[0].min(self.size[0]) {
                    sheet.put_pixel(x, y, Rgba(PAPER));
                }
            }
        };
        if left > 0 {
            fill([left, top], [(left + thickness).min(right), bottom]);
        }
        if top > 0 {
            fill([left, top], [right, (top + thickness).min(bottom)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(size: [u32; 2], value: u8) -> RgbaImage {
        RgbaImage::from_pixel(size[0], size[1], Rgba([value, 0, 0, 255]))
    }

    #[test]
    fn a_sheet_has_the_requested_size_and_its_cells_fill_it() {
        for count in 1..=9 {
            for size in [[600, 150], [301, 299], [97, 1000], [16, 16], [1, 1]] {
                let sheet = PictureSheet::new(size, count);
                let pictures: Vec<_> = (0..count)
                    .map(|index| plain(sheet.cell(index), 1 + index as u8))
                    .collect();
                let whole = sheet.compose(&pictures, &[]);
                assert_eq!(whole.dimensions(), (size[0], size[1]));
                if count == 1 {
                    assert!(whole.pixels().all(|p| p.0[0] == 1));
                }
                if size[0] > 90 {
                    for value in 1..=count as u8 {
                        assert!(
                            whole.pixels().any(|p| p.0[0] == value),
                            "{value} of {count} at {size:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn up_to_four_stand_in_one_row() {
        for size in [[600, 150], [150, 600]] {
            for count in 1..=4 {
                assert_eq!(PictureSheet::new(size, count).cell(0)[1], size[1]);
            }
        }
        assert_eq!(PictureSheet::new([600, 400], 6).cell(5), [200, 200]);
    }

    #[test]
    fn captions_are_drawn_within_their_area() {
        let sheet = PictureSheet::new([600, 150], 3);
        let pictures: Vec<_> = (0..3)
            .map(|index| RgbaImage::from_pixel(sheet.cell(index)[0], 150, Rgba([200; 4])))
            .collect();
        let whole = sheet.compose(&pictures, &["lbs", "dqs", "pd"]);
        let dark = |(_, y, p): (u32, u32, &Rgba<u8>)| (p.0[1] < 110).then_some(y);
        let ink: Vec<u32> = whole.enumerate_pixels().filter_map(dark).collect();
        assert!(ink.len() > 20, "only {} dark pixels of captions", ink.len());
        let highest = 150.0 * (1.0 - sheet.caption_share());
        assert!(
            ink.iter().all(|&y| y as f32 >= highest),
            "captions stay below {highest}"
        );
    }

    #[test]
    fn a_long_caption_is_shortened_to_its_cell() {
        let short = fitted(
            "a name that is far too long for such a small picture",
            14.0,
            90.0,
        );
        assert!(
            short.ends_with('…') && text_width(&short, 14.0) <= 90.0,
            "{short}"
        );
        assert_eq!(fitted("pd", 14.0, 90.0), "pd");
    }
}
