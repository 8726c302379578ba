//! Peaks of a curve: the frames where a method is worst.

use crate::metrics::Quantity;
use crate::report::{badness, printed};

/// A curve has at most this many peaks.
const MOST: usize = 3;
/// A peak rises by at least this part of the curve's range above its surroundings.
const PROMINENCE: f64 = 0.25;

/// A frame where a curve is worse than around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Its frame.
    pub frame: u32,
    /// The value there, in the unit of the quantity.
    pub value: f64,
}

/// The worst frame of a curve and up to two more that stand out, the worst first; none of a curve whose printed values are all equal.
/// `points` are frames in ascending order, with their values.
///
/// How far a peak stands out is its topographic prominence: its height above the higher of the two lowest points on the ways to the next
/// higher points, or to the ends of the curve.
#[must_use]
pub(super) fn peaks_of(points: &[(u32, f64)], quantity: &Quantity) -> Vec<Peak> {
    let height = |index: usize| badness(points[index].1, quantity.better);
    let by_height = |a: &usize, b: &usize| height(*a).total_cmp(&height(*b)).then(b.cmp(a));
    let worst = (0..points.len()).max_by(by_height);
    let best = (0..points.len()).min_by(by_height);
    let Some((worst, best)) = worst.zip(best) else {
        return Vec::new();
    };
    if printed(points[worst].1, quantity) == printed(points[best].1, quantity) {
        return Vec::new();
    }
    let least = PROMINENCE * (height(worst) - height(best));
    // Lowest height from a point until a higher one; a plateau belongs to its first point.
    let valley = |from: f64, way: &mut dyn Iterator<Item = usize>, or_equal: bool| {
        let mut lowest = from;
        for index in way {
            let here = height(index);
            if here > from || (or_equal && here == from) {
                break;
            }
            lowest = lowest.min(here);
        }
        lowest
    };
    let stands_out = |&index: &usize| {
        let here = height(index);
        let before = valley(here, &mut (0..index).rev(), true);
        let after = valley(here, &mut (index + 1..points.len()), false);
        // The curve goes on beyond its ends, nobody knows how.
        let inside = index > 0 && index + 1 < points.len();
        inside && here - before.max(after) >= least
    };
    let high = |index: &usize| *index != worst && height(*index) - height(best) >= least;
    let mut others: Vec<usize> = (0..points.len()).filter(high).filter(stands_out).collect();
    others.sort_unstable_by(|a, b| by_height(b, a));
    std::iter::once(worst)
        .chain(others)
        .take(MOST)
        .map(|index| Peak {
            frame: points[index].0,
            value: points[index].1,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::quantity;

    fn frames(values: &[f64], id: &str) -> Vec<u32> {
        let points: Vec<(u32, f64)> = (0..).zip(values.iter().copied()).collect();
        let (_, quantity) = quantity(id).unwrap();
        let peaks = peaks_of(&points, quantity);
        peaks.iter().map(|peak| peak.frame).collect()
    }

    #[test]
    fn the_worst_frame_comes_first_and_ripples_are_none() {
        let values = [
            0.0, 10.0, 0.0, 0.5, 0.2, 6.0, 6.0, 1.0, 20.0, 19.9, 20.0, 0.0,
        ];
        assert_eq!(frames(&values, "roughness_deg"), [8, 1, 5]);
        assert_eq!(
            frames(&[0.0, 1.0, 2.0, 3.0], "roughness_deg"),
            [3],
            "at the end"
        );
        assert_eq!(frames(&[], "roughness_deg"), [0_u32; 0]);
    }

    #[test]
    fn losses_are_as_bad_as_gains_and_constant_curves_have_no_peak() {
        assert_eq!(frames(&[0.0, -0.3, 0.0, 0.2, 0.0], "volume_change"), [1, 3]);
        assert_eq!(frames(&[1.0, 0.5, 1.0], "stretch_p99"), [1]);
        assert_eq!(frames(&[0.1, 0.1 + 1e-9, 0.1], "volume_change"), [0_u32; 0]);
    }
}
