//! Line charts as SVG and as pictures, readable in colour, in black and white, on light and on dark pages.
//!
//! [`Chart`] is laid out once; what it draws on is a [`Canvas`]: `svg` writes the text of a document, `raster` draws pixels.

mod canvas;
mod raster;
mod svg;
mod ticks;

use canvas::{Anchor, COLORS, Canvas, Words, rgb};
use raster::RasterCanvas;
use svg::SvgCanvas;

pub use ticks::Ticks;

/// About this many ticks an axis.
const TICKS: f64 = 5.0;
/// A curve has at most about this many markers.
const MOST_MARKERS: usize = 24;
/// Distance of the plot from the edges, pixels: left, top, right, bottom.
const MARGINS: [f64; 4] = [62.0, 30.0, 14.0, 44.0];
/// Height of a row of the legend, and width of an entry, pixels.
const LEGEND_ROW: f64 = 18.0;
const LEGEND_ENTRY: f64 = 150.0;

/// An axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Axis {
    /// Its label with the unit.
    pub label: String,
}

/// A curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// Which colour, dash and marker it has; equal in all charts of a report.
    pub style: usize,
    /// Points by ascending x; a missing y makes a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A line chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Maps values to pixels.
struct Scale {
    values: [f64; 2],
    pixels: [f64; 2],
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let part = (value - self.values[0]) / (self.values[1] - self.values[0]);
        self.pixels[0] + part * (self.pixels[1] - self.pixels[0])
    }
}

impl Chart {
    /// The chart as an SVG document of a size in CSS pixels.
    ///
    /// Colours are plain attributes, which all programs read; the style sheet of a page overrides them for dark pages.
    #[must_use]
    pub fn svg(&self, size: [u32; 2]) -> String {
        let mut canvas = SvgCanvas::default();
        self.draw(&mut canvas, size.map(f64::from), 0.0);
        canvas.document(size, &self.title)
    }

    /// Draws the chart `top` pixels below the upper edge of the canvas.
    fn draw(&self, canvas: &mut dyn Canvas, [width, height]: [f64; 2], top: f64) {
        let entries = ((width - 20.0) / LEGEND_ENTRY).floor().max(1.0) as usize;
        let legend = self.curves.len().div_ceil(entries) as f64 * LEGEND_ROW;
        let finite = || {
            self.curves
                .iter()
                .flat_map(|curve| &curve.points)
                .filter_map(|(x, y)| Some((*x, (*y)?)))
                .filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        let x_ticks = Ticks::of(finite().map(|(x, _)| x), TICKS);
        let y_ticks = Ticks::of(finite().map(|(_, y)| y), TICKS);
        let x = Scale {
            values: x_ticks.extent(),
            pixels: [MARGINS[0], width - MARGINS[2]],
        };
        let y = Scale {
            values: y_ticks.range(),
            pixels: [top + height - MARGINS[3] - legend, top + MARGINS[1]],
        };
        canvas.text(
            &self.title,
            [width / 2.0, top + 18.0],
            Anchor::Middle,
            Words::Heading,
        );
        self.axes(canvas, (&x, &x_ticks), (&y, &y_ticks));
        for curve in &self.curves {
            draw_curve(canvas, curve, &x, &y);
        }
        self.legend(canvas, top + height - legend, entries);
    }

    /// Grid, tick labels and axis labels.
    fn axes(
        &self,
        canvas: &mut dyn Canvas,
        (x, x_ticks): (&Scale, &Ticks),
        (y, y_ticks): (&Scale, &Ticks),
    ) {
        let ([left, right], [bottom, top]) = (x.pixels, y.pixels);
        for &tick in y_ticks.values() {
            let at = y.at(tick);
            let weight = if tick == 0.0 { 1.2 } else { 0.5 };
            canvas.rule([left, at], [right, at], weight);
            canvas.text(
                &y_ticks.text(tick),
                [left - 6.0, at + 4.0],
                Anchor::End,
                Words::Plain,
            );
        }
        for &tick in x_ticks.values().iter().filter(|tick| {
            let [low, high] = x.values;
            (low - 1e-9..=high + 1e-9).contains(*tick)
        }) {
            let at = x.at(tick);
            canvas.rule([at, bottom], [at, bottom + 4.0], 1.0);
            canvas.text(
                &x_ticks.text(tick),
                [at, bottom + 17.0],
                Anchor::Middle,
                Words::Plain,
            );
        }
        canvas.text(
            &self.x.label,
            [f64::midpoint(left, right), bottom + 34.0],
            Anchor::Middle,
            Words::Plain,
        );
        canvas.text(
            &self.y.label,
            [14.0, f64::midpoint(bottom, top)],
            Anchor::Middle,
            Words::Upwards,
        );
    }

    fn legend(&self, canvas: &mut dyn Canvas, top: f64, entries: usize) {
        for (index, curve) in self.curves.iter().enumerate() {
            let left = 12.0 + (index % entries) as f64 * LEGEND_ENTRY;
            let middle = top + (index / entries) as f64 * LEGEND_ROW + 6.0;
            canvas.sample([left, middle], [left + 26.0, middle], curve.style);
            canvas.marker([left + 13.0, middle], curve.style);
            canvas.text(
                &curve.label,
                [left + 31.0, middle + 4.0],
                Anchor::Start,
                Words::Plain,
            );
        }
    }
}

/// Charts one below the other as one SVG document, each of a size in CSS pixels.
#[must_use]
pub fn charts_svg(charts: &[Chart], size: [u32; 2]) -> String {
    let mut canvas = SvgCanvas::default();
    draw_below_each_other(charts, size, &mut canvas);
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    canvas.document(
        [size[0], size[1] * charts.len().max(1) as u32],
        &titles.join("; "),
    )
}

/// The picture of [`charts_picture`] as the bytes of a PNG file.
///
/// # Errors
/// If the picture is too large to be encoded.
pub fn charts_png(charts: &[Chart], size: [u32; 2], scale: u32) -> std::io::Result<Vec<u8>> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    charts_picture(charts, size, scale)
        .write_to(&mut bytes, image::ImageFormat::Png)
        .map_err(std::io::Error::other)?;
    Ok(bytes.into_inner())
}

/// Charts one below the other as a picture on white, each of a size in CSS pixels; `scale` is the number of pixels of the picture in one
/// of these.
#[must_use]
pub fn charts_picture(charts: &[Chart], size: [u32; 2], scale: u32) -> image::RgbaImage {
    let whole = [size[0], size[1] * charts.len().max(1) as u32];
    let mut canvas = RasterCanvas::new(whole, scale);
    draw_below_each_other(charts, size, &mut canvas);
    canvas.picture()
}

/// Colour of the curves of a style.
#[must_use]
pub fn curve_color(style: usize) -> [u8; 3] {
    rgb(COLORS[style % COLORS.len()])
}

fn draw_below_each_other(charts: &[Chart], size: [u32; 2], canvas: &mut dyn Canvas) {
    for (index, chart) in charts.iter().enumerate() {
        let top = f64::from(size[1]) * index as f64;
        chart.draw(canvas, size.map(f64::from), top);
    }
}

fn draw_curve(canvas: &mut dyn Canvas, curve: &Curve, x: &Scale, y: &Scale) {
    let place = |&(at, value): &(f64, Option<f64>)| {
        let value = value.filter(|value| value.is_finite() && at.is_finite())?;
        Some([x.at(at), y.at(value)])
    };
    let places: Vec<Option<[f64; 2]>> = curve.points.iter().map(place).collect();
    let pieces: Vec<Vec<[f64; 2]>> = places
        .split(Option::is_none)
        .filter(|piece| !piece.is_empty())
        .map(|piece| piece.iter().copied().flatten().collect())
        .collect();
    if !pieces.is_empty() {
        canvas.curve(&pieces, curve.style);
    }
    let every = places.len().div_ceil(MOST_MARKERS).max(1);
    for at in places.into_iter().step_by(every).flatten() {
        canvas.marker(at, curve.style);
    }
}
