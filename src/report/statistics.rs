//! Statistics over poses: medians with their confidence intervals, and which method is the best.

use crate::metrics::{Better, Quantity, Unit};

use super::Comparison;

/// Probability that an interval contains the median of the population.
const CONFIDENCE: f64 = 0.95;

/// Ids of the quantities of short tables, in this order.
const MAIN: [&str; 9] = [
    "volume_change",
    "girth_change_min",
    "stretch_p99",
    "roughness_deg",
    "new_creases",
    "new_pairs",
    "contact_depth_mm",
    "distance_rms_mm",
    "frame_ms",
];

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Median of the values; of an even number of them the mean of the middle two.
    pub median: f64,
    /// 95 % confidence interval of the median; `None` for fewer than six values, which cannot tell.
    pub interval: Option<[f64; 2]>,
    /// The value farthest from the ideal one.
    pub worst: f64,
    /// Number of values.
    pub count: usize,
}

impl Summary {
    /// Summary of some values of a quantity; `None` without values.
    ///
    /// The interval is that of order statistics: with X ~ B(n, ½), the k-th smallest and the k-th largest value are its ends, where k
    /// is the largest number with P(X < k) ≤ 2.5 %. It needs no assumption about the distribution (David and Nagaraja, "Order
    /// Statistics", 2003, 7.1).
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>, better: Better) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let count = sorted.len();
        let middle = *sorted.get(count / 2)?;
        let median = if count % 2 == 1 {
            middle
        } else {
            0.5 * (sorted[count / 2 - 1] + middle)
        };
        let interval = rank_of_interval(count).map(|k| [sorted[k - 1], sorted[count - k]]);
        let worst = sorted
            .iter()
            .copied()
            .max_by(|a, b| badness(*a, better).total_cmp(&badness(*b, better)))?;
        Some(Self {
            median,
            interval,
            worst,
            count,
        })
    }
}

/// How far a value is from the ideal one; smaller is better.
#[must_use]
pub fn badness(value: f64, better: Better) -> f64 {
    match better {
        Better::Lower => value,
        Better::NearZero => value.abs(),
        Better::NearOne => (value - 1.0).abs(),
    }
}

/// The rank k from 1 such that the k-th smallest and the k-th largest of `count` values bound the median with [`CONFIDENCE`].
fn rank_of_interval(count: usize) -> Option<usize> {
    let tail = 0.5 * (1.0 - CONFIDENCE);
    // ln P(X = 0) of the binomial distribution; each further term follows from the one before. As logarithms the terms of many values
    // do not vanish.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let (mut below, mut k) = (0.0, 0);
    while k < count / 2 && below + log_term.exp() <= tail {
        below += log_term.exp();
        log_term += ((count - k) as f64 / (k + 1) as f64).ln();
        k += 1;
    }
    (k > 0).then_some(k)
}

impl Comparison {
    /// Summary of a quantity for a method over the poses in which every method that works has a value, so that methods are compared
    /// over the same poses.
    #[must_use]
    pub fn summary(&self, method: usize, quantity: usize) -> Option<Summary> {
        let better = self.quantities.get(quantity)?.better;
        let common = self.common_poses(quantity);
        Summary::of(
            common
                .into_iter()
                .filter_map(|pose| self.value(method, pose, quantity)),
            better,
        )
    }

    /// The poses in which every method that has this quantity in any pose has it.
    fn common_poses(&self, quantity: usize) -> Vec<usize> {
        let measured: Vec<usize> = (0..self.methods.len())
            .filter(|&method| self.values_of(method, quantity).next().is_some())
            .collect();
        (0..self.poses.len())
            .filter(|&pose| {
                measured
                    .iter()
                    .all(|&method| self.value(method, pose, quantity).is_some())
            })
            .collect()
    }

    /// The methods with the best median of a quantity, as it is printed; several if they are equal. Empty if fewer than two have one.
    #[must_use]
    pub fn best(&self, quantity: usize) -> Vec<usize> {
        self.best_by(quantity, |summary| summary.median)
    }

    /// The methods whose worst pose is the least bad by a quantity, as [`Self::best`].
    #[must_use]
    pub fn best_at_worst(&self, quantity: usize) -> Vec<usize> {
        self.best_by(quantity, |summary| summary.worst)
    }

    fn best_by(&self, quantity: usize, of: fn(&Summary) -> f64) -> Vec<usize> {
        let Some(described) = self.quantities.get(quantity) else {
            return Vec::new();
        };
        let values: Vec<(usize, f64)> = (0..self.methods.len())
            .filter_map(|method| {
                let value = of(&self.summary(method, quantity)?);
                Some((method, badness(rounded(value, described), described.better)))
            })
            .collect();
        let least = values.iter().map(|(_, value)| *value).reduce(f64::min);
        if values.len() < 2 {
            return Vec::new();
        }
        values
            .into_iter()
            .filter(|(_, value)| Some(*value) == least)
            .map(|(method, _)| method)
            .collect()
    }

    /// Indices of the quantities that short tables have, in their order: those of [`MAIN`] that were measured.
    pub(super) fn main_quantities(&self) -> Vec<usize> {
        let index_of = |id: &&str| (self.quantities.iter()).position(|quantity| quantity.id == *id);
        MAIN.iter().filter_map(index_of).collect()
    }
}

/// A value as tables print it: with the number of digits of its unit.
#[must_use]
pub fn printed(value: f64, quantity: &Quantity) -> String {
    let (shown, digits) = shown(value, quantity);
    let text = format!("{shown:.digits$}");
    // "-0.0" is zero.
    if text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.')) {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// Unit of the printed values of a quantity, as in "%"; empty for counts and bare ratios.
#[must_use]
pub fn printed_unit(quantity: &Quantity) -> &'static str {
    match (quantity.unit, quantity.better) {
        (Unit::Ratio, Better::NearZero) => "%",
        (Unit::Ratio | Unit::Count, _) => "",
        (Unit::Millimetres, _) => "mm",
        (Unit::Degrees, _) => "°",
        (Unit::Milliseconds, _) => "ms",
    }
}

/// Name of a quantity with the unit of its printed values, as in "Volume change, %".
pub(super) fn heading(quantity: &Quantity) -> String {
    match printed_unit(quantity) {
        "" => quantity.label.to_owned(),
        unit => format!("{}, {unit}", quantity.label),
    }
}

/// A value in the unit in which it is printed, and the number of digits after the point.
#[must_use]
pub fn shown(value: f64, quantity: &Quantity) -> (f64, usize) {
    match (quantity.unit, quantity.better) {
        // A change, as a part of what it was: per cent.
        (Unit::Ratio, Better::NearZero) => (value * 100.0, 2),
        (Unit::Ratio, _) => (value, 3),
        // Medians of an even number of counts may be halves.
        (Unit::Count, _) => (value, usize::from(value.fract() != 0.0)),
        (Unit::Millimetres | Unit::Degrees | Unit::Milliseconds, _) => (value, 2),
    }
}

/// The value that is printed, in the unit of [`shown`]: methods whose numbers look alike are equally good.
fn rounded(value: f64, quantity: &Quantity) -> f64 {
    printed(value, quantity).parse().unwrap_or(value)
}
