//! Fewer influences per vertex, fitted to the motion by all of them.
//!
//! With x the place of a vertex by joint j alone in pose f, and y its place by all joints, the error of other weights that sum to 1 is a
//! quadratic form of them:
//!
//! ```text
//!     x_jf = T_jf p,    y_f = Σⱼ wⱼ x_jf,    b_jf = x_jf − y_f
//!     Σ_f |Σⱼ vⱼ b_jf|² = vᵀ B v,    B_ij = Σ_f b_if · b_jf
//! ```
//!
//! It is minimised under vⱼ ≥ 0 and Σⱼ vⱼ = 1 on the joints that are kept. As in Le and Deng, "Smooth Skinning Decomposition with Rigid
//! Bones", SIGGRAPH Asia 2012, section 4.1, but joints are left out one by one, each time the one whose loss costs least.
//!
//! # Departures
//! - μ |v − v₀|² is added, with v₀ the largest weights made to sum to 1: where the poses don't tell joints apart, the weights of the file
//!   decide. μ is [`DAMPING`] of the mean diagonal of B.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::SkinWeights;
use crate::math::{Affine, Point, Vec64, transform_point};

/// Part of the mean diagonal of B that holds weights at those of the file.
const DAMPING: f64 = 1e-6;

/// What was lost by leaving influences out. Lengths in units of the poses.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct RefitReport {
    /// All vertices.
    pub vertices: usize,
    /// Vertices that had more influences than are kept.
    pub cut: usize,
    /// Most influences of a vertex.
    pub most: usize,
    /// Root mean square over all vertices and poses of the distance to the place by all influences.
    pub rms: f64,
    /// Largest distance.
    pub max: f64,
    /// The same for the largest weights made to sum to 1, without fitting.
    pub plain_rms: f64,
    /// Its largest distance.
    pub plain_max: f64,
    /// Sum of squares over vertices and poses, fitted and plain.
    #[serde(skip)]
    squares: [f64; 2],
    #[serde(skip)]
    samples: usize,
}

impl RefitReport {
    /// The same with lengths in another unit.
    #[must_use]
    pub fn in_units(mut self, factor: f64) -> Self {
        for length in [
            &mut self.rms,
            &mut self.max,
            &mut self.plain_rms,
            &mut self.plain_max,
        ] {
            *length *= factor;
        }
        self.squares = self.squares.map(|sum| sum * factor * factor);
        self
    }

    /// The report of two meshes together.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        self.vertices += other.vertices;
        self.cut += other.cut;
        self.most = self.most.max(other.most);
        self.samples += other.samples;
        self.squares = [0, 1].map(|i| self.squares[i] + other.squares[i]);
        let [rms, plain] = self
            .squares
            .map(|sum| (sum / self.samples.max(1) as f64).sqrt());
        (self.rms, self.plain_rms) = (rms, plain);
        self.max = self.max.max(other.max);
        self.plain_max = self.plain_max.max(other.plain_max);
        self
    }
}

/// A row of weights, and sum of squares and maximum of its error, fitted and plain.
type RefitRow = (Vec<(u32, f32)>, [f64; 4]);

/// Limits the influences of every vertex to `influences`. `positions` are those of the mesh; each pose has the transform of the mesh by
/// every joint. Vertices with fewer influences are unchanged.
#[must_use]
pub fn refit_influences(
    weights: &SkinWeights,
    positions: &[Point],
    poses: &[Vec<Affine>],
    influences: usize,
) -> (SkinWeights, RefitReport) {
    let influences = influences.max(1);
    let fitted: Vec<RefitRow> = (0..weights.len())
        .into_par_iter()
        .map(|vertex| {
            let row = weights.row(vertex);
            if row.len() <= influences {
                return (row, [0.0; 4]);
            }
            refit(&row, &positions[vertex], poses, influences)
        })
        .collect();
    let mut report = RefitReport {
        vertices: weights.len(),
        samples: weights.len() * poses.len(),
        ..RefitReport::default()
    };
    for (vertex, (_, [squares, max, plain_squares, plain_max])) in fitted.iter().enumerate() {
        let count = weights.of(vertex).count();
        report.most = report.most.max(count);
        report.cut += usize::from(count > influences);
        report.squares = [
            report.squares[0] + squares,
            report.squares[1] + plain_squares,
        ];
        report.max = report.max.max(*max);
        report.plain_max = report.plain_max.max(*plain_max);
    }
    let report = report.with(&RefitReport::default());
    let rows = fitted.into_iter().map(|(row, _)| row);
    (SkinWeights::from_rows(rows).0, report)
}

/// The row with fewer influences, and sum of squares and maximum of its error, fitted and plain.
fn refit(
    row: &[(u32, f32)],
    position: &Point,
    poses: &[Vec<Affine>],
    influences: usize,
) -> RefitRow {
    let mut row = row.to_vec();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let total: f64 = row.iter().map(|&(_, weight)| f64::from(weight)).sum();
    let full: Vec<f64> = (row.iter())
        .map(|&(_, weight)| f64::from(weight) / total)
        .collect();
    // The offsets b, pose after pose.
    let offsets: Vec<Vec<Vec64>> = poses
        .iter()
        .map(|pose| {
            let place = |&(joint, _): &(u32, f32)| {
                transform_point(&pose[joint as usize], position)
                    .coords
                    .cast::<f64>()
            };
            let places: Vec<Vec64> = row.iter().map(place).collect();
            let blended: Vec64 = places.iter().zip(&full).map(|(x, w)| x * *w).sum();
            places.into_iter().map(|x| x - blended).collect()
        })
        .collect();
    let count = row.len();
    let products = DMatrix::from_fn(count, count, |i, j| {
        offsets.iter().map(|b| b[i].dot(&b[j])).sum()
    });
    let plain = normalised(&full, influences);
    let fitted = eliminate(&products, &full, influences);
    let [plain_error, fitted_error] = [&plain, &fitted].map(|v| error(&offsets, v));
    let (kept, kept_error) = if fitted_error[0] < plain_error[0] {
        (fitted, fitted_error)
    } else {
        (plain, plain_error)
    };
    let weights = row
        .iter()
        .zip(&kept)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(&(joint, _), &weight)| (joint, weight as f32))
        .collect();
    let errors = [kept_error[0], kept_error[1], plain_error[0], plain_error[1]];
    (weights, errors)
}

/// The first weights, made to sum to 1, and zeros.
fn normalised(full: &[f64], influences: usize) -> Vec<f64> {
    let sum: f64 = full[..influences].iter().sum();
    let kept = |(place, weight): (usize, &f64)| {
        if place < influences {
            weight / sum
        } else {
            0.0
        }
    };
    full.iter().enumerate().map(kept).collect()
}

/// Leaves out joints one by one.
fn eliminate(products: &DMatrix<f64>, full: &[f64], influences: usize) -> Vec<f64> {
    let mut kept: Vec<usize> = (0..full.len()).collect();
    let mut best = full.to_vec();
    while kept.len() > influences {
        let without = |left_out: usize| {
            let rest: Vec<usize> = kept.iter().copied().filter(|&j| j != left_out).collect();
            let weights = constrained(products, full, rest);
            let v = DVector::from_column_slice(&weights);
            ((v.transpose() * products * &v)[0], left_out, weights)
        };
        // Of equal losses the smallest weight, which comes last.
        let least = (kept.iter().rev().map(|&joint| without(joint)))
            .min_by(|(a, ..), (b, ..)| a.total_cmp(b));
        let Some((_, left_out, weights)) = least else {
            break;
        };
        kept.retain(|&joint| joint != left_out);
        best = weights;
    }
    best
}

/// Weights on some joints that minimise vᵀ B v + μ |v − v₀|², not negative and of sum 1; by leaving out the most negative until none is.
fn constrained(products: &DMatrix<f64>, full: &[f64], mut kept: Vec<usize>) -> Vec<f64> {
    let mut weights = vec![0.0; full.len()];
    let damping = DAMPING * products.trace() / full.len() as f64 + f64::MIN_POSITIVE;
    let sum: f64 = kept.iter().map(|&joint| full[joint]).sum();
    while !kept.is_empty() {
        let count = kept.len();
        let system = DMatrix::from_fn(count, count, |i, j| {
            products[(kept[i], kept[j])] + if i == j { damping } else { 0.0 }
        });
        let target = DVector::from_fn(count, |i, _| {
            damping * full[kept[i]] / sum.max(f64::MIN_POSITIVE)
        });
        let Some(factor) = system.cholesky() else {
            break;
        };
        let (towards, ones) = (
            factor.solve(&target),
            factor.solve(&DVector::from_element(count, 1.0)),
        );
        let multiplier = (1.0 - towards.sum()) / ones.sum();
        let solution = towards + ones * multiplier;
        let most_negative = (0..count)
            .filter(|&i| solution[i] < 0.0)
            .min_by(|&a, &b| solution[a].total_cmp(&solution[b]));
        if let Some(negative) = most_negative {
            kept.remove(negative);
            continue;
        }
        for (&joint, &weight) in kept.iter().zip(&solution) {
            weights[joint] = weight;
        }
        return weights;
    }
    // Without a solution the largest weight takes all.
    weights[0] = 1.0;
    weights
}

/// Sum of squares and maximum over the poses.
fn error(offsets: &[Vec<Vec64>], weights: &[f64]) -> [f64; 2] {
    offsets.iter().fold([0.0, 0.0], |[squares, max], offsets| {
        let off: Vec64 = offsets.iter().zip(weights).map(|(b, v)| b * *v).sum();
        [squares + off.norm_squared(), f64::max(max, off.norm())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use nalgebra::Translation3;

    /// Joints that turn and move at random, with one that is the mean of two others.
    fn poses(count: usize) -> Vec<Vec<Affine>> {
        let wave = |a: usize, b: usize| ((a * 7 + b * 13 + 5) as f64 * 0.37).sin();
        let joint = |pose: usize, joint: usize| {
            let turn = Quat::from_euler_angles(wave(pose, joint), wave(joint, pose + 1), 0.2);
            let shift = Translation3::new(wave(pose + 3, joint), wave(joint, pose), 0.0);
            nalgebra::convert(shift * turn)
        };
        (0..count)
            .map(|pose| {
                let mut joints: Vec<Affine> = (0..5).map(|j| joint(pose, j)).collect();
                let mean = (joints[0].matrix() + joints[1].matrix()) / 2.0;
                joints.push(Affine::from_matrix_unchecked(mean));
                joints
            })
            .collect()
    }

    #[test]
    fn what_other_joints_can_do_costs_nothing() {
        // The last joint has the smallest weight, yet its motion is that of the first two.
        let weights = SkinWeights::from_rows([vec![(0, 0.3), (1, 0.3), (2, 0.25), (5, 0.15)]]).0;
        let (fitted, report) =
            refit_influences(&weights, &[Point::new(0.4, 0.2, 0.1)], &poses(20), 3);
        let mut row = fitted.row(0);
        row.sort_by_key(|&(joint, _)| joint);
        let expected = [(0, 0.375), (1, 0.375), (2, 0.25)];
        for ((joint, weight), (other, wanted)) in row.iter().zip(expected) {
            assert!(*joint == other && (weight - wanted).abs() < 1e-4, "{row:?}");
        }
        assert!(report.rms < 1e-5 && report.plain_rms > 1e-2, "{report:?}");
        assert_eq!((report.cut, report.most, report.vertices), (1, 4, 1));
    }

    #[test]
    fn the_fit_is_never_worse_than_the_largest_weights_and_stays_a_partition() {
        let value = |vertex: usize, joint: usize| {
            (1.3 + (vertex * 5 + joint * 3) as f32).sin().abs() + 0.01
        };
        let rows =
            (0..40).map(|vertex| (0..6).map(move |joint| (joint as u32, value(vertex, joint))));
        let weights = SkinWeights::from_rows(rows).0;
        let positions: Vec<Point> = (0..40)
            .map(|v| Point::new((v as f32).sin(), (v as f32).cos(), v as f32 * 0.02))
            .collect();
        let poses = poses(12);
        for influences in [1, 2, 4] {
            let (fitted, report) = refit_influences(&weights, &positions, &poses, influences);
            assert!(
                report.rms <= report.plain_rms && report.cut == 40,
                "{report:?}"
            );
            for vertex in 0..40 {
                let row = fitted.row(vertex);
                let sum: f32 = row.iter().map(|(_, weight)| weight).sum();
                assert!(
                    row.len() <= influences && (sum - 1.0).abs() < 1e-5,
                    "{row:?}"
                );
                assert!(row.iter().all(|(_, weight)| *weight >= 0.0));
            }
        }
        let (same, report) = refit_influences(&weights, &positions, &poses, 6);
        assert_eq!((same, report.cut, report.max), (weights, 0, 0.0));
    }

    #[test]
    fn without_motion_the_largest_weights_are_kept() {
        let weights = SkinWeights::from_rows([vec![(0, 0.5), (1, 0.3), (2, 0.2)]]).0;
        for poses in [Vec::new(), vec![vec![Affine::identity(); 3]]] {
            let (fitted, report) = refit_influences(&weights, &[Point::origin()], &poses, 2);
            let expected = SkinWeights::from_rows([vec![(0, 0.625), (1, 0.375)]]).0;
            assert_eq!((fitted, report.max), (expected, 0.0));
        }
    }
}
