//! How the skin around a joint spreads its bend: where along the way from one limb to the other its weights change.

use std::f64::consts::{PI, TAU};

use crate::math::Vec64;

/// Sectors about the limb.
const SECTORS: usize = 8;
/// Classes of the angle to the limb.
const CLASSES: usize = 18;
/// Where a smooth step is a quarter; it is three quarters as far from its end.
const QUARTER: f64 = 0.326;
/// Skin that the limb below shares, and the least part of what moves with that above or beyond it that must move with that above.
const MIXED: std::ops::Range<f64> = 0.1..0.9;
const LEAST_OWN: f64 = 0.75;
/// The narrowest change, rad.
const NARROWEST: f64 = 40.0 * PI / 180.0;

/// Around a joint, by direction, the angles between which the skin changes from one limb to the other; 0 is opposite to the limb below.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    /// Unit vectors across the limb: to the first sector, and a quarter turn further.
    sides: [Vec64; 2],
    sectors: [[f64; 2]; SECTORS],
}

/// A vertex near a joint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighed {
    /// From the joint.
    pub(super) from: Vec64,
    /// The parts of it that the limb below, that above, and what that hangs at move, 0 to 1.
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) beyond: f64,
}

impl Weighed {
    /// Whether both limbs move it.
    pub(super) fn is_shared(&self) -> bool {
        MIXED.contains(&self.below)
    }
}

impl Spread {
    /// The same all around.
    pub(super) fn even(along: Vec64) -> Self {
        let axis = if along.x.abs() < 0.6 {
            Vec64::x()
        } else {
            Vec64::y()
        };
        let side = along.cross(&axis).normalize();
        Self {
            sides: [side, along.cross(&side)],
            sectors: [[0.0, PI]; SECTORS],
        }
    }

    /// That of skin; `None` where much of it moves with parts beyond the limb above, as at a shoulder. `along`: unit vector along the limb below.
    pub(super) fn of(along: Vec64, skin: &[Weighed]) -> Option<Self> {
        let shared = skin.iter().filter(|vertex| vertex.is_shared());
        let sum = |[a, b]: [f64; 2], v: &Weighed| [a + v.above, b + v.beyond];
        let [above, beyond] = shared.fold([0.0; 2], sum);
        if above < LEAST_OWN * (above + beyond) {
            return None;
        }
        let mut spread = Self::even(along);
        for sector in 0..SECTORS {
            let (sin, cos) = (TAU * sector as f64 / SECTORS as f64).sin_cos();
            let side = spread.sides[0] * cos + spread.sides[1] * sin;
            let mut sums = [[0.0_f64; 2]; CLASSES];
            for vertex in skin {
                let across = vertex.from - along * vertex.from.dot(&along);
                let Some(direction) = across.try_normalize(1e-12) else {
                    continue;
                };
                let share = direction.dot(&side).max(0.0).powi(4);
                let angle = vertex.from.angle(&-along);
                let class = ((angle / PI * CLASSES as f64) as usize).min(CLASSES - 1);
                sums[class][0] += share;
                sums[class][1] += share * vertex.below;
            }
            spread.sectors[sector] = between(&sums);
        }
        Some(spread)
    }

    /// The angles between which the skin in a direction changes from one limb to the other.
    pub(super) fn toward(&self, direction: &Vec64) -> [f64; 2] {
        let [x, y] = self.sides.map(|side| side.dot(direction));
        let at = y.atan2(x).rem_euclid(TAU) / TAU * SECTORS as f64;
        let (first, part) = (at as usize % SECTORS, at.fract());
        let [a, b] = [first, (first + 1) % SECTORS].map(|sector| self.sectors[sector]);
        [0, 1].map(|k| a[k] + part * (b[k] - a[k]))
    }
}

/// The beginning and the end of the change, from sums of shares and of weights by class of the angle.
fn between(sums: &[[f64; 2]; CLASSES]) -> [f64; 2] {
    let middle = |class: usize| (class as f64 + 0.5) * PI / CLASSES as f64;
    // The angles at which the part reaches a quarter and three quarters, on straight lines between the classes with skin.
    let (mut last, mut largest) = ((0.0, 0.0), 0.0_f64);
    let mut crossed = [None; 2];
    let classes = sums.iter().enumerate().filter(|(_, sum)| sum[0] > 1e-3);
    let points = classes.map(|(class, sum)| (middle(class), sum[1] / sum[0]));
    for (angle, part) in points.chain([(PI, 1.0)]) {
        largest = largest.max(part);
        for (crossed, level) in crossed.iter_mut().zip([0.25, 0.75]) {
            if crossed.is_none() && largest >= level {
                let (before, had): (f64, f64) = last;
                let share = (level - had) / (largest - had).max(1e-9);
                *crossed = Some(before + share.clamp(0.0, 1.0) * (angle - before));
            }
        }
        last = (angle, largest);
    }
    let [quarter, three_quarters] = crossed.map(|angle| angle.unwrap_or(0.5 * PI));
    let center = 0.5 * (quarter + three_quarters);
    let width = (three_quarters - quarter) / (1.0 - 2.0 * QUARTER);
    let width = width.clamp(NARROWEST, PI);
    let from = (center - 0.5 * width).clamp(0.0, PI - width);
    [from, from + width]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_is_where_the_weights_change() {
        // Weights change between 100° and 150° below the limb, between 30° and 80° above it.
        let weighed = |angle: f64, up: bool| {
            let [from, until] = if up { [30.0, 80.0] } else { [100.0, 150.0] };
            let below = crate::math::smoothstep([from, until], angle);
            let (sin, cos) = angle.to_radians().sin_cos();
            let side = if up { sin } else { -sin };
            Weighed {
                from: Vec64::new(-cos, side, 0.0),
                below,
                above: 1.0 - below,
                beyond: 0.0,
            }
        };
        let skin: Vec<Weighed> = (1..180)
            .flat_map(|angle| [true, false].map(|up| weighed(f64::from(angle), up)))
            .collect();
        let spread = Spread::of(Vec64::x(), &skin).expect("is shared");
        for (direction, from, until) in [(Vec64::y(), 30.0, 80.0), (-Vec64::y(), 100.0, 150.0)] {
            let [a, b] = spread.toward(&direction).map(f64::to_degrees);
            assert!((a - from).abs() < 8.0 && (b - until).abs() < 8.0, "{a} {b}");
        }
    }

    #[test]
    fn skin_that_moves_with_others_spreads_nothing() {
        let vertex = Weighed {
            from: Vec64::y(),
            below: 0.5,
            above: 0.2,
            beyond: 0.3,
        };
        assert!(Spread::of(Vec64::x(), &[vertex]).is_none());
    }

    #[test]
    fn skin_of_one_limb_alone_leaves_the_rest_to_the_other() {
        let spread = Spread::of(Vec64::z(), &[]).expect("nothing is not shared");
        let [from, until] = spread.toward(&Vec64::x());
        assert!(0.0 <= from && from < until && until <= PI);
    }
}
