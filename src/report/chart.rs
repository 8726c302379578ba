//! Line charts as SVG, readable in colour, in black and white, on light and on dark pages.

use std::fmt::Write;

use super::escape::html;

/// Colours after Okabe and Ito, "Color Universal Design", 2008. The bright ones are darkened, so that the contrast is at least 3 on the
/// white and on the dark page; dashes and markers tell curves apart where the colours do not.
const COLORS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#c46a9b", "#a87900", "#2e8fc7", "#777777", "#8a63d2",
];
/// Dashes, for print without colours.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "8 3 2 3"];
/// Number of shapes of markers. It has no factor in common with the number of dashes, so 20 styles differ without colours.
const MARKERS: usize = 5;
/// About this many ticks an axis.
const TICKS: f64 = 5.0;
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
        let [width, height] = size.map(f64::from);
        let entries = ((width - 20.0) / LEGEND_ENTRY).floor().max(1.0) as usize;
        let legend = self.curves.len().div_ceil(entries) as f64 * LEGEND_ROW;
        let finite = || {
            self.curves
                .iter()
                .flat_map(|curve| &curve.points)
                .filter_map(|(x, y)| Some((*x, (*y)?)))
                .filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        let x_ticks = ticks(extent(finite().map(|(x, _)| x)));
        let y_ticks = ticks(extent(finite().map(|(_, y)| y)));
        let x = Scale {
            values: extent(finite().map(|(x, _)| x)),
            pixels: [MARGINS[0], width - MARGINS[2]],
        };
        let y = Scale {
            values: [y_ticks[0], y_ticks[y_ticks.len() - 1]],
            pixels: [height - MARGINS[3] - legend, MARGINS[1]],
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"#222\"><title>{}</title>",
            html(&self.title)
        );
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"18\" text-anchor=\"middle\" font-weight=\"600\">{}</text>",
            width / 2.0,
            html(&self.title)
        );
        self.axes(&mut svg, (&x, &x_ticks), (&y, &y_ticks));
        for curve in &self.curves {
            draw_curve(&mut svg, curve, &x, &y);
        }
        self.legend(&mut svg, height - legend, entries);
        svg.push_str("</svg>");
        svg
    }

    /// Grid, tick labels and axis labels.
    fn axes(
        &self,
        svg: &mut String,
        (x, x_ticks): (&Scale, &[f64]),
        (y, y_ticks): (&Scale, &[f64]),
    ) {
        let ([left, right], [bottom, top]) = (x.pixels, y.pixels);
        let digits = digits(y_ticks);
        for &tick in y_ticks {
            let at = y.at(tick);
            let weight = if tick == 0.0 { "1.2" } else { "0.5" };
            let _ = write!(
                svg,
                "<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" class=\"rule\" stroke=\"#bbb\" stroke-width=\"{weight}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                at + 4.0,
                number(tick, digits)
            );
        }
        let digits = self::digits(x_ticks);
        for &tick in x_ticks.iter().filter(|tick| {
            let [low, high] = x.values;
            (low - 1e-9..=high + 1e-9).contains(*tick)
        }) {
            let at = x.at(tick);
            let _ = write!(
                svg,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom:.1}\" y2=\"{:.1}\" class=\"rule\" stroke=\"#bbb\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 4.0,
                bottom + 17.0,
                number(tick, digits)
            );
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(left, right),
            bottom + 34.0,
            html(&self.x.label),
            f64::midpoint(bottom, top),
            html(&self.y.label)
        );
    }

    fn legend(&self, svg: &mut String, top: f64, entries: usize) {
        for (index, curve) in self.curves.iter().enumerate() {
            let left = 12.0 + (index % entries) as f64 * LEGEND_ENTRY;
            let middle = top + (index / entries) as f64 * LEGEND_ROW + 6.0;
            let _ = write!(
                svg,
                "<line x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" {}/>",
                left + 26.0,
                stroke(curve.style)
            );
            marker(svg, curve.style, left + 13.0, middle);
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                left + 31.0,
                middle + 4.0,
                html(&curve.label)
            );
        }
    }
}

fn draw_curve(svg: &mut String, curve: &Curve, x: &Scale, y: &Scale) {
    let place = |&(at, value): &(f64, Option<f64>)| {
        let value = value.filter(|value| value.is_finite() && at.is_finite())?;
        Some([x.at(at), y.at(value)])
    };
    let mut path = String::new();
    let mut pen_is_up = true;
    for point in curve.points.iter().map(place) {
        if let Some([x, y]) = point {
            let command = if pen_is_up { 'M' } else { 'L' };
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        pen_is_up = point.is_none();
    }
    if !path.is_empty() {
        let _ = write!(
            svg,
            "<path d=\"{path}\" fill=\"none\" {}/>",
            stroke(curve.style)
        );
    }
    for [x, y] in curve.points.iter().filter_map(place) {
        marker(svg, curve.style, x, y);
    }
}

fn stroke(style: usize) -> String {
    let color = COLORS[style % COLORS.len()];
    // An empty list of dashes is an error for some readers of SVG.
    let dash = match DASHES[style % DASHES.len()] {
        "" => String::new(),
        dash => format!(" stroke-dasharray=\"{dash}\""),
    };
    format!("stroke=\"{color}\" stroke-width=\"2\"{dash}")
}

/// A small shape about a point: circle, square, triangle, diamond or triangle on its tip.
fn marker(svg: &mut String, style: usize, x: f64, y: f64) {
    let color = COLORS[style % COLORS.len()];
    let points = |points: &[[f64; 2]]| {
        let points = points
            .iter()
            .map(|[dx, dy]| format!("{:.1},{:.1}", x + dx, y + dy));
        points.collect::<Vec<_>>().join(" ")
    };
    let _ = match style % MARKERS {
        0 => write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{color}\"/>"
        ),
        shape => {
            let shape: &[[f64; 2]] = match shape {
                1 => &[[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]],
                2 => &[[0.0, -4.0], [3.8, 3.0], [-3.8, 3.0]],
                3 => &[[0.0, -4.2], [4.2, 0.0], [0.0, 4.2], [-4.2, 0.0]],
                _ => &[[0.0, 4.0], [3.8, -3.0], [-3.8, -3.0]],
            };
            write!(
                svg,
                "<polygon points=\"{}\" fill=\"{color}\"/>",
                points(shape)
            )
        }
    };
}

/// Smallest and largest value; a range of its own size around a single one.
fn extent(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
        [low.min(value), high.max(value)]
    });
    if low > high {
        return [0.0, 1.0];
    }
    // Differences below what numbers resolve are none.
    let least = 1e-9 * low.abs().max(high.abs());
    if high - low > least.max(1e-12) {
        [low, high]
    } else {
        let half = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        [low - half, high + half]
    }
}

/// Round numbers that contain a range: 1, 2 or 5 times a power of ten apart.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let rough = (high - low) / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(rough);
    let (first, last) = (
        (low / step).floor() as i64,
        (high / step - 1e-9).ceil() as i64,
    );
    (first..=last.max(first + 1))
        .map(|tick| tick as f64 * step)
        .collect()
}

/// Digits after the point that tell ticks apart.
fn digits(ticks: &[f64]) -> usize {
    let step = ticks
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(f64::INFINITY, f64::min);
    if step.is_finite() && step > 0.0 {
        // Differences of ticks are inexact: 0.001 must not count as a little less.
        (-(step.log10() + 1e-6).floor()).clamp(0.0, 9.0) as usize
    } else {
        0
    }
}

fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    text.replace('-', "−")
}
