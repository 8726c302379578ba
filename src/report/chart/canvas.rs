//! What charts are drawn on, and the styles of curves.

/// Colours after Okabe and Ito, "Color Universal Design", 2008. The bright ones are darkened, so that the contrast is at least 3 on the
/// white and on the dark page; dashes and markers tell curves apart where the colours do not.
pub(super) const COLORS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#c46a9b", "#a87900", "#2e8fc7", "#777777", "#8a63d2",
];
/// Dashes, for print without colours: lengths of ink and gaps in pixels.
pub(super) const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[8.0, 3.0, 2.0, 3.0]];
/// Shapes of markers; the first is a circle. Their number has no factor in common with that of dashes, so 20 styles differ without colours.
pub(super) const MARKERS: [&[[f64; 2]]; 5] = [
    &[],
    &[[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]],
    &[[0.0, -4.0], [3.8, 3.0], [-3.8, 3.0]],
    &[[0.0, -4.2], [4.2, 0.0], [0.0, 4.2], [-4.2, 0.0]],
    &[[0.0, 4.0], [3.8, -3.0], [-3.8, -3.0]],
];
/// Radius of a round marker, and width of a curve, pixels.
pub(super) const RADIUS: f64 = 3.2;
pub(super) const CURVE_WIDTH: f64 = 2.0;
/// Colour of rules and of text.
pub(super) const RULE: &str = "#bbb";
pub(super) const TEXT: &str = "#222";
/// Height of text, pixels.
pub(super) const FONT_SIZE: f64 = 12.0;

/// Which point of a text is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    Plain,
    Heading,
    /// Turned by 90°, readable from the right.
    Upwards,
}

/// Something to draw a chart on. Places are in CSS pixels from the upper left corner; that of a text is on its base line.
pub(super) trait Canvas {
    /// A line of the grid.
    fn rule(&mut self, from: [f64; 2], to: [f64; 2], width: f64);
    /// A curve of several pieces.
    fn curve(&mut self, pieces: &[Vec<[f64; 2]>], style: usize);
    /// A straight piece of a curve in the legend.
    fn sample(&mut self, from: [f64; 2], to: [f64; 2], style: usize);
    /// The marker of a point.
    fn marker(&mut self, at: [f64; 2], style: usize);
    /// A line of text.
    fn text(&mut self, text: &str, at: [f64; 2], anchor: Anchor, words: Words);
}

/// A colour of three or six hexadecimal digits after `#`; black for anything else.
pub(super) fn rgb(color: &str) -> [u8; 3] {
    let digits: Vec<u8> = color
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    match digits[..] {
        [r, g, b] => [17 * r, 17 * g, 17 * b],
        [r, s, g, h, b, c] => [16 * r + s, 16 * g + h, 16 * b + c],
        _ => [0; 3],
    }
}
