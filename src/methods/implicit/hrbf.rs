//! Hermite radial basis functions: a field that vanishes at points and has given gradients there.
//!
//! Macêdo, Gois, Velho, "Hermite Radial Basis Functions Implicits", Computer Graphics Forum 2011, with φ(r) = r³:
//!
//! ```text
//! f(x) = Σ_j α_j r³ + 3 r β_j·d,   ∇f(x) = Σ_j 3 r α_j d + 3 r β_j + 3 (β_j·d) d / r,   d = x − c_j, r = |d|
//! ```

use nalgebra::{DMatrix, DVector};

use crate::math::{Point64, Vec64};

/// Least distance of two samples, as a part of the radius of all of them.
const LEAST_DISTANCE: f64 = 1e-5;
/// Largest error of the conditions that is still a solution.
const LARGEST_ERROR: f64 = 1e-3;

/// A point of a surface and its unit normal, outwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub(super) at: Point64,
    pub(super) normal: Vec64,
}

/// A fitted field: negative inside, with a slope of about 1 at its surface. Grows like a square far outside.
pub(super) struct Hrbf {
    /// c, α, β.
    terms: Vec<(Point64, f64, Vec64)>,
}

impl Hrbf {
    /// The field with f = 0 and ∇f = n at every sample: 4 m × 4 m equations, dense. `None` for fewer than four samples that are apart,
    /// or without a solution.
    pub(super) fn fit(samples: &[Sample]) -> Option<Self> {
        let samples = apart(samples);
        let count = samples.len();
        if count < 4 {
            return None;
        }
        let mut matrix = DMatrix::<f64>::zeros(4 * count, 4 * count);
        let mut side = DVector::<f64>::zeros(4 * count);
        for (i, row) in samples.iter().enumerate() {
            side.fixed_rows_mut::<3>(4 * i + 1).copy_from(&row.normal);
            for (j, column) in samples.iter().enumerate() {
                let d = row.at - column.at;
                let r = d.norm();
                if i == j || r == 0.0 {
                    continue;
                }
                matrix[(4 * i, 4 * j)] = r * r * r;
                let cross = d * (3.0 * r);
                let mut block = d * d.transpose() / r;
                block += nalgebra::Matrix3::identity() * r;
                for a in 0..3 {
                    matrix[(4 * i, 4 * j + 1 + a)] = cross[a];
                    matrix[(4 * i + 1 + a, 4 * j)] = cross[a];
                    for b in 0..3 {
                        matrix[(4 * i + 1 + a, 4 * j + 1 + b)] = 3.0 * block[(a, b)];
                    }
                }
            }
        }
        let solved = matrix.lu().solve(&side)?;
        let terms = samples.iter().enumerate().map(|(k, sample)| {
            let s = |c: usize| solved[4 * k + c];
            (sample.at, s(0), Vec64::new(s(1), s(2), s(3)))
        });
        let fitted = Self {
            terms: terms.collect(),
        };
        samples
            .iter()
            .all(|sample| fitted.error_at(sample) < LARGEST_ERROR)
            .then_some(fitted)
    }

    /// How far the conditions at a sample are from being met, as parts of the slope and of the distance 1; NaN where nothing is.
    fn error_at(&self, sample: &Sample) -> f64 {
        let (value, gradient) = self.at(&sample.at);
        value.abs().max((gradient - sample.normal).norm())
    }

    /// f and ∇f.
    pub(super) fn at(&self, point: &Point64) -> (f64, Vec64) {
        let (mut value, mut gradient) = (0.0, Vec64::zeros());
        for (center, alpha, beta) in &self.terms {
            let d = point - center;
            let squared = d.norm_squared();
            if squared == 0.0 {
                continue;
            }
            let r = squared.sqrt();
            let along = beta.dot(&d);
            value += r * (alpha * squared + 3.0 * along);
            gradient += d * (3.0 * (r * alpha + along / r)) + beta * (3.0 * r);
        }
        (value, gradient)
    }
}

/// The samples without those that lie on an earlier one, or are not finite.
fn apart(samples: &[Sample]) -> Vec<Sample> {
    let finite = |s: &&Sample| s.at.iter().chain(s.normal.iter()).all(|c| c.is_finite());
    let radius = samples
        .iter()
        .filter(finite)
        .map(|s| s.at.coords.norm())
        .fold(0.0, f64::max);
    let mut kept: Vec<Sample> = Vec::with_capacity(samples.len());
    for sample in samples.iter().filter(finite) {
        let is_new = kept
            .iter()
            .all(|other| (other.at - sample.at).norm() > LEAST_DISTANCE * radius);
        if is_new {
            kept.push(*sample);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of a cylinder of radius 1 from z = −2 to 2, spread by golden angles, with a cap at either end.
    fn cylinder(count: usize) -> Vec<Sample> {
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let mut samples: Vec<Sample> = (0..count)
            .map(|k| {
                let (sin, cos) = (golden * k as f64).sin_cos();
                let z = -2.0 + 4.0 * (k as f64 + 0.5) / count as f64;
                Sample {
                    at: Point64::new(cos, sin, z),
                    normal: Vec64::new(cos, sin, 0.0),
                }
            })
            .collect();
        for side in [-1.0, 1.0] {
            samples.push(Sample {
                at: Point64::new(0.0, 0.0, 3.0 * side),
                normal: Vec64::z() * side,
            });
        }
        samples
    }

    /// Largest deviation of the surface from the cylinder over its middle half.
    fn worst(field: &Hrbf) -> f64 {
        let mut worst = 0.0_f64;
        for turn in 0..72 {
            for step in 0..41 {
                let (sin, cos) = (f64::from(turn) * std::f64::consts::TAU / 72.0).sin_cos();
                let z = -1.0 + f64::from(step) * 0.05;
                let (value, gradient) = field.at(&Point64::new(cos, sin, z));
                worst = worst.max((value / gradient.norm()).abs());
            }
        }
        worst
    }

    #[test]
    fn a_cylinder_is_met_as_well_as_it_is_known_to_be() {
        let field = Hrbf::fit(&cylinder(50)).expect("fits");
        assert!(worst(&field) < 0.003, "{}", worst(&field));
        let (on_axis, _) = field.at(&Point64::origin());
        assert!((on_axis + 0.53).abs() < 0.01, "{on_axis}");
        let (outside, _) = field.at(&Point64::new(2.0, 0.0, 0.0));
        assert!((outside - 1.31).abs() < 0.05, "{outside}");
        let coarse = Hrbf::fit(&cylinder(15)).expect("fits");
        assert!(worst(&coarse) > worst(&field));
    }

    #[test]
    fn conditions_hold_and_the_gradient_is_that_of_the_value() {
        let samples = cylinder(30);
        let field = Hrbf::fit(&samples).expect("fits");
        for sample in &samples {
            assert!(field.error_at(sample) < 1e-9);
        }
        let at = Point64::new(0.7, 0.4, 0.9);
        let (_, gradient) = field.at(&at);
        for axis in 0..3 {
            let step = Vec64::ith(axis, 1e-5);
            let change = field.at(&(at + step)).0 - field.at(&(at - step)).0;
            assert!((gradient[axis] - change / 2e-5).abs() < 1e-6);
        }
    }

    #[test]
    fn too_few_or_broken_samples_have_no_field() {
        let samples = cylinder(30);
        assert!(Hrbf::fit(&samples[..3]).is_none());
        assert!(Hrbf::fit(&[samples[0]; 9]).is_none());
        let mut broken = samples.clone();
        broken[4].at.x = f64::NAN;
        assert!(Hrbf::fit(&broken).is_some(), "without the broken one");
    }
}
