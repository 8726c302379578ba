//! Colours for numbers.
//!
//! All maps but [`ColorMap::BlueRed`] are those of `ColorBrewer`, d3 and matplotlib, from the crate `colorous`: their lightness changes
//! evenly, so that equal steps of a number look equally large, in grey prints and to colour-blind eyes, too.
//!
//! | map         | of `colorous`        | for                                            |
//! |-------------|----------------------|------------------------------------------------|
//! | `Even`      | `VIRIDIS`            | amounts: violet, blue, green, yellow           |
//! | `Heat`      | `YELLOW_ORANGE_RED`  | errors: zero is pale, much is dark red         |
//! | `Gray`      | `GREYS`, reversed    | prints                                         |
//! | `Diverging` | `RED_BLUE`, reversed | signed amounts: blue below, red above zero     |
//! | `BlueRed`   | –, hue 240° → 0°     | weights, as animation programs show them       |

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

/// Number of colours of a table.
const STEPS: usize = 256;
type Table = [[u8; 3]; STEPS];

static TABLES: LazyLock<[Table; ColorMap::ALL.len()]> = LazyLock::new(|| ColorMap::ALL.map(table));

impl ColorMap {
    /// All maps.
    pub const ALL: [Self; 5] = [
        Self::Even,
        Self::BlueRed,
        Self::Heat,
        Self::Gray,
        Self::Diverging,
    ];
    /// Maps for amounts that start at zero.
    pub const SEQUENTIAL: [Self; 4] = [Self::Even, Self::BlueRed, Self::Heat, Self::Gray];

    /// Identifier in files and on the command line.
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

    /// Display name.
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
    #[cfg(test)]
    pub(crate) fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.id() == id)
    }

    /// The sRGB colour of a number, clamped to 0..=1; NaN is shown as 0.
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

/// One of many distinguishable colours; neighbours in number are far apart in hue.
pub(super) fn category(index: usize) -> [u8; 3] {
    // The golden angle, as a share of the full circle.
    const TURN: f64 = 0.381_966;
    colorous::SINEBOW
        .eval_continuous((index as f64 * TURN).fract())
        .as_array()
}

fn table(map: ColorMap) -> Table {
    let last = STEPS - 1;
    let of = |gradient: colorous::Gradient, step| gradient.eval_rational(step, STEPS).as_array();
    std::array::from_fn(|step| match map {
        ColorMap::Even => of(colorous::VIRIDIS, step),
        ColorMap::Heat => of(colorous::YELLOW_ORANGE_RED, step),
        ColorMap::Gray => of(colorous::GREYS, last - step),
        ColorMap::Diverging => of(colorous::RED_BLUE, last - step),
        ColorMap::BlueRed => hue(240.0 * (1.0 - step as f32 / last as f32)),
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

/// The 8-bit sRGB value of a linear one.
pub(super) fn encoded(linear: f32) -> u8 {
    let v = linear.clamp(0.0, 1.0);
    let srgb = if v <= 0.003_130_8 {
        v * 12.92
    } else {
        1.055 * v.powf(1.0 / 2.4) - 0.055
    };
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
        (0..STEPS)
            .map(|step| luminance(map.color(step as f32 / (STEPS - 1) as f32)))
            .collect()
    }

    #[test]
    fn even_maps_are_monotonic_in_luminance() {
        for (map, sign) in [
            (ColorMap::Even, 1.0),
            (ColorMap::Gray, 1.0),
            (ColorMap::Heat, -1.0),
        ] {
            let all = luminances(map);
            // Rounding to 8 bits may cost half a step of one channel.
            assert!(
                all.windows(2)
                    .all(|pair| (pair[1] - pair[0]) * sign > -2e-3),
                "{map:?} is not monotonic"
            );
            assert!(
                (all[STEPS - 1] - all[0]) * sign > 0.5,
                "{map:?} spans {} to {}",
                all[0],
                all[STEPS - 1]
            );
        }
    }

    #[test]
    fn the_diverging_map_is_palest_in_the_middle_and_symmetric() {
        let all = luminances(ColorMap::Diverging);
        assert!(
            all[..STEPS / 2]
                .windows(2)
                .all(|pair| pair[1] - pair[0] > -2e-3)
        );
        assert!(
            all[STEPS / 2..]
                .windows(2)
                .all(|pair| pair[0] - pair[1] > -2e-3)
        );
        // Equal lightness of Oklab is nearly, not exactly, equal luminance.
        assert!(
            (all[0] - all[STEPS - 1]).abs() < 0.08,
            "{} and {}",
            all[0],
            all[STEPS - 1]
        );
    }

    #[test]
    fn blue_to_red_follows_the_convention_of_animation_programs() {
        let at = |share: f32| ColorMap::BlueRed.color(share);
        assert_eq!([at(0.0), at(1.0)], [[0, 0, 255], [255, 0, 0]]);
        let [red, green, blue] = at(0.5);
        assert!(green == 255 && red.max(blue) <= 3, "the middle is green");
        assert_eq!(at(f32::NAN), at(0.0));
        assert_eq!([at(-3.0), at(7.0)], [at(0.0), at(1.0)]);
    }

    #[test]
    fn ids_round_trip() {
        for map in ColorMap::ALL {
            assert_eq!(ColorMap::from_id(map.id()), Some(map));
        }
    }
}
