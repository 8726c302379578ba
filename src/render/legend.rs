//! Legends of colours: the colour bar, and a steady range.

use image::{Rgba, RgbaImage};

use super::colormap::ColorMap;
use super::text::{draw_text, text_width};

/// A colour bar: the numbers at the ends of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Legend {
    /// The quantity, as "Weight of forearm.L".
    pub title: String,
    /// Unit of the numbers; empty for none.
    pub unit: &'static str,
    /// Numbers at the ends of the map.
    pub range: [f32; 2],
    /// The colour map.
    pub map: ColorMap,
}

impl Legend {
    /// Positions of ticks beside the bar (0 at its lower end, 1 at its upper) and their labels,
    /// from below.
    #[must_use]
    pub(crate) fn ticks(&self) -> Vec<(f32, String)> {
        const PARTS: usize = 4;
        let [low, high] = self.range;
        let decimals = decimals_of((high - low) / PARTS as f32);
        let signed = low < 0.0 && high > 0.0;
        let tick = |part: usize| {
            let share = part as f32 / PARTS as f32;
            let value = low + (high - low) * share;
            let value = if value == 0.0 { 0.0 } else { value };
            (
                share,
                if signed && value > 0.0 {
                    format!("+{value:.decimals$}")
                } else {
                    format!("{value:.decimals$}")
                },
            )
        };
        (0..=PARTS).map(tick).collect()
    }

    /// Title with the unit, as "Distance, mm".
    #[must_use]
    pub(crate) fn heading(&self) -> String {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{}, {}", self.title, self.unit)
        }
    }
}

/// Sizes of bars in written pictures, relative to the picture's height.
mod bar {
    pub(crate) const LETTERS: f32 = 0.0185;
    pub(crate) const FEWEST_LETTER_PIXELS: f32 = 11.0;
    pub(crate) const WIDTH: f32 = 0.017;
    pub const HEIGHT: f32 = 0.34;
    pub(crate) const MARGIN: f32 = 0.03;
    pub(crate) const GAP: f32 = 0.075;
}

impl Legend {
    /// Draws bars with their numbers at the right edge of a picture, one below the other.
    pub fn draw(legends: &[&Self], image: &mut RgbaImage, ink: [u8; 3]) {
        let height = image.height() as f32;
        let count = legends.len().max(1) as f32;
        let length = (bar::HEIGHT * height).min((height * 0.86) / count - bar::GAP * height);
        for (index, legend) in (0_u8..).zip(legends) {
            legend.draw_at(
                image,
                height * 0.09 + f32::from(index) * (length + bar::GAP * height),
                length.max(8.0),
                ink,
            );
        }
    }

    fn draw_at(&self, image: &mut RgbaImage, top: f32, length: f32, ink: [u8; 3]) {
        let (width, height) = (image.width() as f32, image.height() as f32);
        let letters = (bar::LETTERS * height).max(bar::FEWEST_LETTER_PIXELS);
        let ticks = self.ticks();
        let widest = ticks
            .iter()
            .map(|(_, text)| text_width(text, letters))
            .fold(0.0, f32::max);
        let right = width - bar::MARGIN * height;
        let bar_right = right - widest - letters * 0.5;
        let bar_left = bar_right - bar::WIDTH * height;
        let heading = super::text::fitted(&self.heading(), letters, right - letters);
        draw_text(
            image,
            &heading,
            right - text_width(&heading, letters),
            top - letters * 0.9,
            letters,
            ink,
        );
        for y in top as u32..((top + length) as u32).min(image.height()) {
            let [r, g, b] = self.map.color(1.0 - (y as f32 - top) / length);
            for x in bar_left.max(0.0) as u32..(bar_right.max(0.0) as u32).min(image.width()) {
                image.put_pixel(x, y, Rgba([r, g, b, 255]));
            }
        }
        for (share, text) in ticks {
            let y = top + length * (1.0 - share);
            draw_text(
                image,
                &text,
                right - text_width(&text, letters),
                y + letters * 0.34,
                letters,
                ink,
            );
        }
    }
}

/// Number of decimals that distinguishes numbers `step` apart; quarters of 1, 2 and 5 are
/// distinguished.
fn decimals_of(step: f32) -> usize {
    let mut scaled = step;
    for decimals in 0..6 {
        if scaled >= 0.999 && (scaled - scaled.round()).abs() < 1e-3 * scaled {
            return decimals;
        }
        scaled *= 10.0;
    }
    6
}

/// A range from 0 (or from its negative) that follows the data without flicker: it extends at once to
/// the next round number, and shrinks only after the data was far smaller for some time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SteadyRange {
    top: f32,
    smaller_frames: u32,
}

/// Fraction of the range below which the data counts as far smaller.
const FAR_LESS: f32 = 0.3;
/// Number of frames before the range shrinks.
const WHILE: u32 = 90;

impl SteadyRange {
    /// The range for a frame with the maximum `largest`; at least `least`.
    pub fn follow(&mut self, largest: f32, least: f32) -> f32 {
        let wanted = round_up(if largest.is_finite() {
            largest.max(least)
        } else {
            least
        });
        if wanted > self.top {
            (self.top, self.smaller_frames) = (wanted, 0);
        } else if largest < self.top * FAR_LESS && wanted < self.top {
            self.smaller_frames += 1;
            if self.smaller_frames > WHILE {
                (self.top, self.smaller_frames) = (wanted, 0);
            }
        } else {
            self.smaller_frames = 0;
        }
        self.top
    }

    /// Resets the range: another character, another quantity.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten; 1 for invalid input.
#[must_use]
pub fn round_up(value: f32) -> f32 {
    let Some((digit, power)) = digit_and_power(value) else {
        return 1.0;
    };
    let digit = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|&round| digit <= round * (1.0 + 1e-5))
        .unwrap_or(10.0);
    (digit * power) as f32
}

/// Rounds down to 1, 2 or 5 times a power of ten; 1 for invalid input.
#[must_use]
pub(crate) fn round_down(value: f32) -> f32 {
    let Some((digit, power)) = digit_and_power(value) else {
        return 1.0;
    };
    let digit = [10.0, 5.0, 2.0]
        .into_iter()
        .find(|&round| digit >= round * (1.0 - 1e-5))
        .unwrap_or(1.0);
    (digit * power) as f32
}

fn digit_and_power(value: f32) -> Option<(f64, f64)> {
    let value = f64::from(value);
    let power = 10.0_f64.powf(value.log10().floor());
    (value.is_finite() && value > 0.0 && power > 0.0).then(|| (value / power, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_up_to_one_two_or_five() {
        for (value, expected) in [
            (0.9, 1.0),
            (1.0, 1.0),
            (1.1, 2.0),
            (3.0, 5.0),
            (7.0, 10.0),
            (0.003, 0.005),
            (40.0, 50.0),
        ] {
            assert!(
                (round_up(value) / expected - 1.0).abs() < 1e-5,
                "{value} became {}",
                round_up(value)
            );
        }
        for odd in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(round_up(odd), 1.0);
        }
    }

    #[test]
    fn a_steady_range_grows_at_once_and_shrinks_late() {
        let mut range = SteadyRange::default();
        assert_eq!(range.follow(3.0, 0.1), 5.0);
        for _ in 0..WHILE {
            assert_eq!(range.follow(0.4, 0.1), 5.0);
        }
        assert_eq!(range.follow(0.4, 0.1), 0.5);
        assert_eq!(range.follow(80.0, 0.1), 100.0);
        for _ in 0..1000 {
            assert_eq!(
                range.follow(40.0, 0.1),
                100.0,
                "a slightly smaller value does not shrink the range"
            );
        }
        assert_eq!(range.follow(f32::NAN, 0.1), 100.0);
    }

    #[test]
    fn ticks_have_sufficient_decimals() {
        let ticks = |range| {
            Legend {
                title: String::new(),
                unit: "mm",
                range,
                map: ColorMap::Even,
            }
            .ticks()
        };
        let texts = |range| {
            ticks(range)
                .into_iter()
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
        };
        assert_eq!(texts([0.0, 1.0]), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(texts([0.0, 20.0]), ["0", "5", "10", "15", "20"]);
        assert_eq!(
            texts([-0.5, 0.5]),
            ["-0.50", "-0.25", "0.00", "+0.25", "+0.50"]
        );
        assert_eq!(ticks([0.0, 2.0])[4].0, 1.0);
    }
}
