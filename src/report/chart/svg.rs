//! Charts as the text of an SVG document.

use std::fmt::Write;

use super::canvas::{
    Anchor, COLORS, CURVE_WIDTH, Canvas, DASHES, FONT_SIZE, MARKERS, RADIUS, RULE, TEXT, Words,
};
use crate::report::escape::html;

/// The elements of a document.
#[derive(Default)]
pub(super) struct SvgCanvas {
    elements: String,
}

impl SvgCanvas {
    /// The document, of a size in CSS pixels.
    pub(super) fn document(self, [width, height]: [u32; 2], title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"system-ui, sans-serif\" font-size=\"{FONT_SIZE}\" fill=\"{TEXT}\"><title>{}</title>{}</svg>",
            html(title),
            self.elements
        )
    }
}

impl Canvas for SvgCanvas {
    fn rule(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], width: f64) {
        let _ = write!(
            self.elements,
            "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" class=\"rule\" stroke=\"{RULE}\" stroke-width=\"{width}\"/>"
        );
    }

    fn curve(&mut self, pieces: &[Vec<[f64; 2]>], style: usize) {
        let mut path = String::new();
        for piece in pieces {
            for (index, [x, y]) in piece.iter().enumerate() {
                let command = if index == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{command}{x:.1} {y:.1}");
            }
        }
        let _ = write!(
            self.elements,
            "<path d=\"{path}\" fill=\"none\" {}/>",
            stroke(style)
        );
    }

    fn sample(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], style: usize) {
        let _ = write!(
            self.elements,
            "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" {}/>",
            stroke(style)
        );
    }

    fn marker(&mut self, [x, y]: [f64; 2], style: usize) {
        let color = COLORS[style % COLORS.len()];
        let corners = MARKERS[style % MARKERS.len()];
        let _ = if corners.is_empty() {
            write!(
                self.elements,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" fill=\"{color}\"/>"
            )
        } else {
            let points = corners
                .iter()
                .map(|[dx, dy]| format!("{:.1},{:.1}", x + dx, y + dy));
            write!(
                self.elements,
                "<polygon points=\"{}\" fill=\"{color}\"/>",
                points.collect::<Vec<_>>().join(" ")
            )
        };
    }

    fn text(&mut self, text: &str, [x, y]: [f64; 2], anchor: Anchor, words: Words) {
        let place = match words {
            Words::Plain => format!("x=\"{x:.1}\" y=\"{y:.1}\""),
            Words::Heading => format!("x=\"{x:.1}\" y=\"{y:.1}\" font-weight=\"600\""),
            Words::Upwards => format!("transform=\"translate({x:.1} {y:.1}) rotate(-90)\""),
        };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(self.elements, "<text {place}{anchor}>{}</text>", html(text));
    }
}

fn stroke(style: usize) -> String {
    let color = COLORS[style % COLORS.len()];
    let dashes = DASHES[style % DASHES.len()];
    // An empty list of dashes is an error for some readers of SVG.
    let dash = if dashes.is_empty() {
        String::new()
    } else {
        let lengths: Vec<String> = dashes.iter().map(ToString::to_string).collect();
        format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
    };
    format!("stroke=\"{color}\" stroke-width=\"{CURVE_WIDTH}\"{dash}")
}
