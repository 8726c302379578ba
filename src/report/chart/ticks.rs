//! Round numbers along an axis.

/// Round numbers that contain all values of an axis, and how they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    values: Vec<f64>,
    extent: [f64; 2],
    digits: usize,
}

impl Ticks {
    /// About so many round numbers from below the smallest to above the largest of finite values, 1, 2 or 5 times a power of ten apart.
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64>, about: f64) -> Self {
        let extent = extent(values);
        let values = round_values(extent, about);
        Self {
            digits: digits(&values),
            values,
            extent,
        }
    }

    /// The round numbers, ascending; at least two.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The first and the last round number.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        let last = self.values.len() - 1;
        [self.values[0], self.values[last]]
    }

    /// The smallest and the largest value; a range about a single one.
    #[must_use]
    pub fn extent(&self) -> [f64; 2] {
        self.extent
    }

    /// A number with as many digits as tell its neighbours apart.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        let digits = self.digits;
        format!("{value:.digits$}").replace('-', "−")
    }
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
fn round_values([low, high]: [f64; 2], about: f64) -> Vec<f64> {
    let rough = (high - low) / about;
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
