//! Colours for numbers.
//!
//! All tables but [`ColorMap::BlueRed`] are computed here in Oklab (Ottosson 2020, "A perceptual color space for image processing"):
//! lightness is a straight line over the map, hue turns evenly, and chroma is as asked for or the most that sRGB can show at that
//! lightness and hue. Equal steps of a number therefore look equally large, in grey prints and to colour-blind eyes, too.
//!
//! | map         | lightness          | hue, degrees     | for                                            |
//! |-------------|--------------------|------------------|------------------------------------------------|
//! | `Even`      | 0.30 → 0.93        | 305 → 105        | amounts: violet, blue, green, yellow           |
//! | `Heat`      | 0.96 → 0.36        | 105 → 15         | errors: nothing is pale, much is dark red      |
//! | `Gray`      | 0.20 → 0.96        | –                | prints                                         |
//! | `Diverging` | 0.52 → 0.95 → 0.52 | 255, then 27     | signed amounts: blue below, red above nothing  |
//! | `BlueRed`   | not even           | 240 → 0 of HSV   | weights, as animation programs show them       |

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A way to show a number from 0 to 1 as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColorMap {
    /// Violet, blue, green, yellow, in even steps.
    #[default]
    Even,
    /// Blue, green, yellow, red: what animators know for weights.
    BlueRed,
    /// Pale, orange, dark red, in even steps.
    Heat,
    /// Dark to light grey, in even steps.
    Gray,
    /// Blue below a half, pale at a half, red above.
    Diverging,
}

/// Colours of a table.
const STEPS: usize = 256;
type Table = [[u8; 3]; STEPS];

static TABLES: LazyLock<[Table; ColorMap::ALL.len()]> = LazyLock::new(|| ColorMap::ALL.map(table));

impl ColorMap {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Even, Self::BlueRed, Self::Heat, Self::Gray, Self::Diverging];
    /// Those for amounts that begin at nothing.
    pub const SEQUENTIAL: [Self; 4] = [Self::Even, Self::BlueRed, Self::Heat, Self::Gray];

    /// Key in files and on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::BlueRed => "blue-red",
            Self::Heat => "heat",
            Self::Gray => "gray",
            Self::Diverging => "diverging",
        }
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Even => "Violet to yellow",
            Self::BlueRed => "Blue to red",
            Self::Heat => "Pale to dark red",
            Self::Gray => "Grey",
            Self::Diverging => "Blue, pale, red",
        }
    }

    /// The map with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.id() == id)
    }

    /// The sRGB colour of a number; below 0 and above 1 as at the ends, not a number as 0.
    #[must_use]
    pub fn color(self, share: f32) -> [u8; 3] {
        let step = (share.clamp(0.0, 1.0) * (STEPS - 1) as f32).round();
        TABLES[self as usize][step as usize]
    }

    /// As [`ColorMap::color`], opaque: for vertex colours.
    #[must_use]
    pub fn rgba(self, share: f32) -> [u8; 4] {
        let [r, g, b] = self.color(share);
        [r, g, b, 255]
    }
}

/// One of many colours that are told from each other: neighbours in number are far apart in hue.
pub(super) fn category(index: usize) -> [u8; 3] {
    // The golden angle; every second colour is a little darker.
    const TURN: f32 = 137.508;
    oklch(if index.is_multiple_of(2) { 0.78 } else { 0.68 }, 0.13, (index % 4096) as f32 * TURN)
}

fn table(map: ColorMap) -> Table {
    std::array::from_fn(|step| {
        let t = step as f32 / (STEPS - 1) as f32;
        let mix = |from: f32, to: f32| from + (to - from) * t;
        match map {
            ColorMap::Even => oklch(mix(0.30, 0.93), 0.155, mix(305.0, 105.0)),
            ColorMap::Heat => oklch(mix(0.96, 0.36), 0.02 + 0.17 * (t * 1.6).min(1.0), mix(105.0, 15.0)),
            ColorMap::Gray => oklch(mix(0.20, 0.96), 0.0, 0.0),
            ColorMap::Diverging => {
                let away = 2.0 * t - 1.0;
                oklch(0.95 - 0.43 * away.abs(), 0.19 * away.abs(), if away < 0.0 { 255.0 } else { 27.0 })
            }
            ColorMap::BlueRed => hue(240.0 * (1.0 - t)),
        }
    })
}

/// A fully saturated colour of HSV.
fn hue(degrees: f32) -> [u8; 3] {
    let at = |offset: f32| {
        let sector = (degrees / 60.0 + offset).rem_euclid(6.0);
        let share = (2.0 - (sector - 3.0).abs()).clamp(0.0, 1.0);
        (255.0 * (1.0 - share)).round() as u8
    };
    // Red is full around 0°, green around 120°, blue around 240°.
    [at(0.0), at(4.0), at(2.0)]
}

/// The sRGB colour of lightness, chroma and hue in degrees of Oklab; chroma is lowered until the colour exists.
fn oklch(lightness: f32, chroma: f32, hue: f32) -> [u8; 3] {
    let (sin, cos) = hue.to_radians().sin_cos();
    let at = |chroma: f32| linear_of_oklab([lightness, chroma * cos, chroma * sin]);
    let exists = |linear: [f32; 3]| linear.iter().all(|c| (-1e-4..=1.0001).contains(c));
    let (mut low, mut high) = (0.0, chroma);
    if exists(at(chroma)) {
        low = chroma;
    } else {
        for _ in 0..20 {
            let middle = f32::midpoint(low, high);
            if exists(at(middle)) { low = middle } else { high = middle }
        }
    }
    at(low).map(encoded)
}

fn linear_of_oklab([lightness, a, b]: [f32; 3]) -> [f32; 3] {
    let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
}

/// The 8-bit sRGB value of a linear one.
pub(super) fn encoded(linear: f32) -> u8 {
    let v = linear.clamp(0.0, 1.0);
    let srgb = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (srgb * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::linear_from_srgb;

    fn luminance(color: [u8; 3]) -> f32 {
        let [r, g, b] = linear_from_srgb(color);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Luminances over the map, by rising number.
    fn luminances(map: ColorMap) -> Vec<f32> {
        (0..STEPS).map(|step| luminance(map.color(step as f32 / (STEPS - 1) as f32))).collect()
    }

    #[test]
    fn even_maps_get_lighter_or_darker_all_the_way() {
        for (map, sign) in [(ColorMap::Even, 1.0), (ColorMap::Gray, 1.0), (ColorMap::Heat, -1.0)] {
            let all = luminances(map);
            // Rounding to 8 bits may cost half a step of one channel.
            assert!(all.windows(2).all(|pair| (pair[1] - pair[0]) * sign > -2e-3), "{map:?} turns back");
            assert!((all[STEPS - 1] - all[0]) * sign > 0.5, "{map:?} spans {} to {}", all[0], all[STEPS - 1]);
        }
    }

    #[test]
    fn the_diverging_map_is_palest_in_the_middle_and_alike_on_both_sides() {
        let all = luminances(ColorMap::Diverging);
        assert!(all[..STEPS / 2].windows(2).all(|pair| pair[1] - pair[0] > -2e-3));
        assert!(all[STEPS / 2..].windows(2).all(|pair| pair[0] - pair[1] > -2e-3));
        // Equal lightness of Oklab is nearly, not exactly, equal luminance.
        assert!((all[0] - all[STEPS - 1]).abs() < 0.08, "{} and {}", all[0], all[STEPS - 1]);
    }

    #[test]
    fn blue_to_red_has_its_colours_where_animators_expect_them() {
        let at = |share: f32| ColorMap::BlueRed.color(share);
        assert_eq!([at(0.0), at(1.0)], [[0, 0, 255], [255, 0, 0]]);
        let [red, green, blue] = at(0.5);
        assert!(green == 255 && red.max(blue) <= 3, "the middle is green");
        assert_eq!(at(f32::NAN), at(0.0));
        assert_eq!([at(-3.0), at(7.0)], [at(0.0), at(1.0)]);
    }

    #[test]
    fn ids_are_read_back() {
        for map in ColorMap::ALL {
            assert_eq!(ColorMap::from_id(map.id()), Some(map));
        }
    }
}
