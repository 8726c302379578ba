//! Figures for papers: several pictures on a white page, with letters, names, notes and colour bars below them, as PNG and as SVG.
//!
//! A figure is laid out once, as a list of marks in pixels; PNG and SVG draw the same list. In the SVG the pictures are embedded,
//! while text and colour bars remain text and shapes, so that they can be edited.

use std::fmt::Write;
use std::io::Cursor;

use base64::Engine;
use image::{Rgba, RgbaImage, imageops};

use super::escape::html;
use crate::render::{ColorMap, Legend, draw_text, fitted, text_width};

/// Height of a label's letters, relative to the geometric mean of a picture's sides; and its bounds, pixels.
const LETTERS: f32 = 0.034;
const LETTER_PIXELS: [f32; 2] = [12.0, 96.0];
/// Height of the letters of notes and colour bars, relative to those of labels.
const SMALL: f32 = 0.78;
/// Height of a line of text, relative to its letters.
const LINE: f32 = 1.35;
/// Distance between pictures and from the edges, relative to the letters.
const GAP: f32 = 0.9;
/// Width of a colour bar relative to the picture's, and its height relative to the letters of notes.
const BAR_WIDTH: f32 = 0.62;
const BAR_HEIGHT: f32 = 0.7;
/// Colours of text: that of labels, and that of notes.
const INK: [u8; 3] = [20, 20, 20];
const WEAK_INK: [u8; 3] = [80, 80, 80];
/// Colours of a bar in SVG; between them it is linear.
const STOPS: usize = 16;

/// One picture of a figure.
#[derive(Debug, Clone)]
pub struct FigurePanel {
    /// The picture; all of a figure have the same size.
    pub picture: RgbaImage,
    /// What it shows; empty for no label.
    pub label: String,
    /// Lines of numbers below the label.
    pub notes: Vec<String>,
    /// Colour bars below the numbers.
    pub legends: Vec<Legend>,
}

/// Several pictures in rows.
#[derive(Debug, Clone)]
pub struct Figure {
    /// The pictures, row by row.
    pub panels: Vec<FigurePanel>,
    /// Number of pictures in a row, at least one.
    pub columns: usize,
    /// Whether nothing is behind the pictures; otherwise the page is white.
    pub transparent: bool,
}

/// Something that is drawn; positions in pixels from the upper left corner, of text in the middle of its base line.
enum Mark {
    Picture {
        panel: usize,
        at: [f32; 2],
    },
    Text {
        text: String,
        at: [f32; 2],
        pixels: f32,
        color: [u8; 3],
    },
    Bar {
        map: ColorMap,
        at: [f32; 2],
        size: [f32; 2],
    },
}

impl Figure {
    /// "(a) " for the first of several labelled pictures, then "(b) "; "(27) " after "(z) ".
    fn letter(&self, panel: usize) -> String {
        if self.panels.len() < 2 {
            return String::new();
        }
        u8::try_from(panel)
            .ok()
            .filter(|panel| *panel < 26)
            .map_or_else(
                || format!("({}) ", panel + 1),
                |panel| format!("({}) ", char::from(b'a' + panel)),
            )
    }

    /// Width and height of a picture, pixels.
    fn cell(&self) -> [f32; 2] {
        self.panels.first().map_or([1.0; 2], |panel| {
            [panel.picture.width() as f32, panel.picture.height() as f32]
        })
    }

    fn letters(&self) -> f32 {
        let [width, height] = self.cell();
        ((width * height).sqrt() * LETTERS).clamp(LETTER_PIXELS[0], LETTER_PIXELS[1])
    }

    /// Height of everything below a picture.
    fn height_below(&self, panel: &FigurePanel) -> f32 {
        let (letters, small) = (self.letters(), self.letters() * SMALL);
        let label = if panel.label.is_empty() {
            0.0
        } else {
            LINE * letters
        };
        let bar = (2.0 * LINE + BAR_HEIGHT + 0.5) * small;
        label + panel.notes.len() as f32 * LINE * small + panel.legends.len() as f32 * bar
    }

    /// The marks, and the size of the page in pixels.
    fn lay_out(&self) -> (Vec<Mark>, [u32; 2]) {
        let ([width, height], letters) = (self.cell(), self.letters());
        let gap = (GAP * letters).round();
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let (mut marks, mut top) = (Vec::new(), gap);
        for (row, panels) in self.panels.chunks(columns).enumerate() {
            let below = panels
                .iter()
                .map(|panel| self.height_below(panel))
                .fold(0.0, f32::max);
            for (column, panel) in panels.iter().enumerate() {
                let left = gap + column as f32 * (width + gap);
                let index = row * columns + column;
                marks.push(Mark::Picture {
                    panel: index,
                    at: [left, top],
                });
                self.captions(index, panel, [left, top + height], &mut marks);
            }
            top += height + below.ceil() + gap;
        }
        let page_width = gap + columns as f32 * (width + gap);
        (marks, [page_width, top].map(|side| side as u32))
    }

    /// Label, notes and colour bars below a picture whose lower left corner is at `corner`.
    fn captions(&self, index: usize, panel: &FigurePanel, corner: [f32; 2], marks: &mut Vec<Mark>) {
        let (letters, [width, _]) = (self.letters(), self.cell());
        let small = letters * SMALL;
        let middle = corner[0] + width / 2.0;
        let mut y = corner[1];
        let line =
            |marks: &mut Vec<Mark>, text: String, pixels: f32, color: [u8; 3], y: &mut f32| {
                *y += LINE * pixels;
                marks.push(Mark::Text {
                    text: fitted(&text, pixels, width),
                    at: [middle, *y - 0.25 * pixels],
                    pixels,
                    color,
                });
            };
        if !panel.label.is_empty() {
            let text = format!("{}{}", self.letter(index), panel.label);
            line(marks, text, letters, INK, &mut y);
        }
        for note in &panel.notes {
            line(marks, note.clone(), small, WEAK_INK, &mut y);
        }
        for legend in &panel.legends {
            line(marks, legend.heading(), small, WEAK_INK, &mut y);
            let bar = [BAR_WIDTH * width, BAR_HEIGHT * small];
            let left = middle - bar[0] / 2.0;
            y += 0.25 * small;
            marks.push(Mark::Bar {
                map: legend.map,
                at: [left, y],
                size: bar,
            });
            y += bar[1] + LINE * small;
            for (share, text) in legend.ticks() {
                marks.push(Mark::Text {
                    text,
                    at: [left + share * bar[0], y - 0.25 * small],
                    pixels: small,
                    color: WEAK_INK,
                });
            }
            y += 0.25 * small;
        }
    }

    /// Width and height of the page in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.lay_out().1
    }

    /// The figure as a picture.
    #[must_use]
    pub fn picture(&self) -> RgbaImage {
        let (marks, [width, height]) = self.lay_out();
        let alpha = if self.transparent { 0 } else { 255 };
        let mut page = RgbaImage::from_pixel(width, height, Rgba([255, 255, 255, alpha]));
        for mark in marks {
            match mark {
                Mark::Picture { panel, at } => {
                    let picture = &self.panels[panel].picture;
                    let [x, y] = at.map(|c| c as i64);
                    if self.transparent {
                        imageops::replace(&mut page, picture, x, y);
                    } else {
                        imageops::overlay(&mut page, picture, x, y);
                    }
                }
                Mark::Text {
                    text,
                    at,
                    pixels,
                    color,
                } => {
                    let left = at[0] - 0.5 * text_width(&text, pixels);
                    draw_text(&mut page, &text, left, at[1], pixels, color);
                }
                Mark::Bar { map, at, size } => {
                    let [left, top] = at.map(|c| c as u32);
                    for x in 0..size[0] as u32 {
                        let [r, g, b] = map.color((x as f32 + 0.5) / size[0]);
                        for y in 0..size[1].max(1.0) as u32 {
                            if let Some(pixel) = page.get_pixel_mut_checked(left + x, top + y) {
                                *pixel = Rgba([r, g, b, 255]);
                            }
                        }
                    }
                }
            }
        }
        page
    }

    /// The figure as an SVG document: pictures are embedded as PNG.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub fn svg(&self, title: &str) -> Result<String, image::ImageError> {
        let (marks, [width, height]) = self.lay_out();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"Ubuntu, Inter, system-ui, sans-serif\"><title>{}</title>\n",
            html(title)
        );
        if !self.transparent {
            svg.push_str("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
        }
        for (number, mark) in marks.into_iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match mark {
                Mark::Picture { panel, at: [x, y] } => {
                    let picture = &self.panels[panel].picture;
                    let (width, height) = picture.dimensions();
                    let mut png = Cursor::new(Vec::new());
                    picture.write_to(&mut png, image::ImageFormat::Png)?;
                    let data = base64::engine::general_purpose::STANDARD.encode(png.into_inner());
                    writeln!(
                        svg,
                        "<image x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" href=\"data:image/png;base64,{data}\"/>"
                    )
                }
                Mark::Text {
                    text,
                    at: [x, y],
                    pixels,
                    color: [r, g, b],
                } => {
                    // `pixels` is the height of a line; that of the font is about 0.87 of it.
                    let size = pixels * 0.87;
                    writeln!(
                        svg,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"{size:.1}\" fill=\"rgb({r},{g},{b})\">{}</text>",
                        html(&text)
                    )
                }
                Mark::Bar { map, at, size } => {
                    svg.push_str(&bar_svg(number, map, at, size));
                    Ok(())
                }
            };
        }
        svg.push_str("</svg>\n");
        Ok(svg)
    }
}

/// A rectangle with the gradient of a map.
fn bar_svg(number: usize, map: ColorMap, [x, y]: [f32; 2], [width, height]: [f32; 2]) -> String {
    let mut stops = String::new();
    for stop in 0..=STOPS {
        let share = stop as f32 / STOPS as f32;
        let [r, g, b] = map.color(share);
        // Writing to a string does not fail.
        let _ = write!(
            stops,
            "<stop offset=\"{share:.4}\" stop-color=\"rgb({r},{g},{b})\"/>"
        );
    }
    format!(
        "<linearGradient id=\"bar{number}\">{stops}</linearGradient>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"url(#bar{number})\"/>\n"
    )
}

#[cfg(test)]
mod tests;
