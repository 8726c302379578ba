//! Corrective morphs: displacements of the bind pose that the pose drives, fitted to what driven helpers leave over.
//!
//! What is left of frame f at vertex v is pulled back to the bind pose through the linear part L of its blended transform M:
//!
//! ```text
//!     d_fv = L⁻¹ (x_fv − M p_v)        M = Σ_b w_vb T_bf
//! ```
//!
//! With X the entries of R − I of all driving joints, a frame per row, ridge regression predicts D̂ = H D with
//! H = X Xᵀ (X Xᵀ + λ I)⁻¹. The morphs are the leading right singular vectors of D̂, so that N of them with linearly driven weights leave
//! the least square error of the regression (reduced-rank regression). λ is chosen by cross-validation over runs of frames. There is no
//! constant term: in the rest pose all weights are 0.

use nalgebra::{DMatrix, DVector, Matrix3x4, SymmetricEigen};
use rayon::prelude::*;

use super::drive::{PER_JOINT, entries};
use super::frames::{Delta, deltas_of, moved};
use super::{Decomposition, DecompositionError, SimulatedFrame};
use crate::math::{Point, Quat, Vec3, Vec64};
use crate::progress::Progress;
use crate::rig::Pose;

/// Frames, evenly spread, to which morphs are fitted.
const SAMPLES: usize = 160;
/// Runs of frames that are left out in turn.
const FOLDS: usize = 8;
/// Candidates of λ, as parts of the mean of the squares of a frame's numbers.
const RIDGES: [f64; 6] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2];
/// A blend that shrinks volume below this part is turned back instead of inverted.
const LEAST_VOLUME: f64 = 0.2;

/// A morph, and how the pose drives it.
#[derive(Debug, Clone)]
pub struct DrivenMorph {
    /// Displacement of each vertex at weight 1, world, bind pose. Morphs are orthogonal to each other.
    pub offsets: Vec<Vec3>,
    /// Its weight in a pose.
    pub driver: WeightDriver,
}

/// A weight as a linear function of the pose: of the entries of R − I, with R the rotations from rest of some joints.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightDriver {
    pub(super) joints: Vec<(usize, Quat)>,
    pub(super) coefficients: Vec<f64>,
}

impl WeightDriver {
    /// The weight in a pose.
    #[must_use]
    pub fn weight(&self, pose: &Pose) -> f64 {
        self.weight_by(|joint| pose.locals.get(joint).map(|local| local.rotation))
    }

    /// The weight for the local rotations of joints; those without one are at rest.
    #[must_use]
    pub fn weight_by(&self, rotation: impl Fn(usize) -> Option<Quat>) -> f64 {
        let numbers =
            (self.joints.iter()).flat_map(|&(joint, rest)| entries(rotation(joint), rest));
        numbers.zip(&self.coefficients).map(|(x, c)| x * c).sum()
    }
}

impl Decomposition {
    /// The weights of the morphs as the drivers set them in a pose.
    #[must_use]
    pub fn driven_weights(&self, pose: &Pose) -> Vec<f64> {
        self.morphs
            .iter()
            .map(|morph| morph.driver.weight(pose))
            .collect()
    }

    /// The weights of the morphs that are nearest to simulated positions, with joints and helpers in a pose.
    #[must_use]
    pub fn fitted_weights(&self, bind: &[Point], pose: &Pose, positions: &[Point]) -> Vec<f64> {
        if self.morphs.is_empty() {
            return Vec::new();
        }
        let left = self.pulled_back(bind, pose, positions);
        let weight = |morph: &DrivenMorph| {
            let offsets = || {
                morph
                    .offsets
                    .iter()
                    .flat_map(|offset| offset.iter().copied())
            };
            let along: f64 = left
                .iter()
                .zip(offsets())
                .map(|(a, b)| f64::from(a * b))
                .sum();
            let square: f64 = offsets().map(|x| f64::from(x * x)).sum();
            along / square.max(f64::MIN_POSITIVE)
        };
        self.morphs.par_iter().map(weight).collect()
    }

    /// The bind pose, displaced by morphs.
    #[must_use]
    pub fn displaced(&self, bind: &[Point], weights: &[f64]) -> Vec<Point> {
        let mut made = bind.to_vec();
        for (morph, weight) in self.morphs.iter().zip(weights) {
            for (point, offset) in made.iter_mut().zip(&morph.offsets) {
                *point += offset * *weight as f32;
            }
        }
        made
    }

    /// Fits at most `count` morphs to what the driven helpers leave over.
    ///
    /// # Errors
    /// [`DecompositionError::Cancelled`].
    pub fn add_morphs(
        &mut self,
        bind: &[Point],
        frames: &[SimulatedFrame],
        count: usize,
        progress: &Progress,
    ) -> Result<(), DecompositionError> {
        if count == 0 || frames.is_empty() || self.inputs.is_empty() {
            return Ok(());
        }
        progress.report(0.0, "Fitting morphs");
        let step = frames.len().div_ceil(SAMPLES);
        let samples: Vec<&SimulatedFrame> = frames.iter().step_by(step).collect();
        let mut left = Vec::with_capacity(samples.len());
        for (done, frame) in samples.iter().enumerate() {
            progress.set_fraction(0.6 * done as f32 / samples.len() as f32);
            progress.check()?;
            let driven = self.driven(&frame.pose);
            left.push(self.pulled_back(bind, &driven, &frame.positions));
        }
        let numbers = |frame: &&SimulatedFrame| -> Vec<f64> {
            let locals = &frame.pose.locals;
            let of_joint = |&(joint, rest): &(usize, Quat)| {
                entries(locals.get(joint).map(|local| local.rotation), rest)
            };
            self.inputs.iter().flat_map(of_joint).collect()
        };
        let rows: Vec<Vec<f64>> = samples.iter().map(numbers).collect();
        let (gram, inputs) = (gram_of(&left), gram_of(&rows));
        progress.check()?;
        let ridge = best_ridge(&inputs, &gram);
        let Some(shapes) = leading(&inputs, &gram, ridge, count) else {
            return Ok(());
        };
        for shape in shapes {
            progress.check()?;
            self.morphs.push(DrivenMorph {
                offsets: combined(&left, &shape.frames),
                driver: WeightDriver {
                    joints: self.inputs.clone(),
                    coefficients: weighted_sum(&rows, &shape.inputs),
                },
            });
        }
        Ok(())
    }

    /// What a pose leaves over of simulated positions, in the bind pose; three numbers a vertex.
    fn pulled_back(&self, bind: &[Point], pose: &Pose, positions: &[Point]) -> Vec<f32> {
        let deltas = deltas_of(&self.skeleton, &self.skeleton.world_from_joint(pose));
        let of_vertex = |vertex: usize| -> [f32; 3] {
            let mut blended: Delta = Matrix3x4::zeros();
            for (bone, weight) in self.weights.of(vertex) {
                blended += deltas[bone] * f64::from(weight);
            }
            let linear = blended.fixed_columns::<3>(0).into_owned();
            let place: Vec64 = bind[vertex].coords.cast();
            let left = positions[vertex].coords.cast::<f64>() - moved(&blended, &place);
            let inverse = (linear.determinant() > LEAST_VOLUME).then(|| linear.try_inverse());
            let back = inverse.flatten().unwrap_or_else(|| linear.transpose());
            (back * left).cast::<f32>().into()
        };
        let all: Vec<[f32; 3]> = (0..bind.len()).into_par_iter().map(of_vertex).collect();
        all.into_iter().flatten().collect()
    }
}

/// Inner products of all pairs of rows.
fn gram_of<T: Copy + Into<f64> + Sync>(rows: &[Vec<T>]) -> DMatrix<f64> {
    let count = rows.len();
    let product = |index: usize| -> f64 {
        let (i, j) = (index / count, index % count);
        if i < j {
            return 0.0;
        }
        let pairs = rows[i].iter().zip(&rows[j]);
        let products = pairs.map(|(&a, &b)| {
            let (a, b): (f64, f64) = (a.into(), b.into());
            a * b
        });
        products.sum()
    };
    let lower: Vec<f64> = (0..count * count).into_par_iter().map(product).collect();
    DMatrix::from_fn(count, count, |i, j| lower[i.max(j) * count + i.min(j)])
}

/// λ for a candidate.
fn ridge_of(inputs: &DMatrix<f64>, part: f64) -> f64 {
    (inputs.trace() / inputs.nrows() as f64).max(f64::MIN_POSITIVE) * part
}

/// The candidate of λ with the least square error in runs of frames that were left out.
fn best_ridge(inputs: &DMatrix<f64>, gram: &DMatrix<f64>) -> f64 {
    let count = inputs.nrows();
    let fold = count.div_ceil(FOLDS);
    let error = |part: f64| -> f64 {
        let ridge = ridge_of(inputs, part);
        let of_fold = |first: usize| -> f64 {
            let held: Vec<usize> = (first..(first + fold).min(count)).collect();
            let kept: Vec<usize> = (0..count).filter(|frame| !held.contains(frame)).collect();
            let pick = |matrix: &DMatrix<f64>, rows: &[usize], columns: &[usize]| {
                DMatrix::from_fn(rows.len(), columns.len(), |i, j| {
                    matrix[(rows[i], columns[j])]
                })
            };
            let mut system = pick(inputs, &kept, &kept);
            (0..kept.len()).for_each(|i| system[(i, i)] += ridge);
            let Some(factor) = system.cholesky() else {
                return f64::INFINITY;
            };
            // A row per held frame: how the kept ones predict it.
            let by = factor.solve(&pick(inputs, &kept, &held)).transpose();
            let cross = (&by * pick(gram, &kept, &held)).trace();
            let square = (&by * pick(gram, &kept, &kept) * by.transpose()).trace();
            pick(gram, &held, &held).trace() - 2.0 * cross + square
        };
        (0..count).step_by(fold).map(of_fold).sum()
    };
    let errors: Vec<f64> = RIDGES.into_par_iter().map(error).collect();
    let best = (0..RIDGES.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    ridge_of(inputs, RIDGES[best.unwrap_or(RIDGES.len() - 1)])
}

/// A morph as a combination of the frames' remainders, and its coefficients as one of the frames' numbers.
struct Combination {
    frames: DVector<f64>,
    inputs: DVector<f64>,
}

/// The leading singular vectors of the prediction, scaled so that the largest weight in a frame is 1.
fn leading(
    inputs: &DMatrix<f64>,
    gram: &DMatrix<f64>,
    ridge: f64,
    count: usize,
) -> Option<Vec<Combination>> {
    let frames = inputs.nrows();
    let factor = (inputs + DMatrix::identity(frames, frames) * ridge).cholesky()?;
    // The system and the products commute, so that H is symmetric.
    let hat = factor.solve(inputs);
    let predicted = &hat * gram * hat.transpose();
    let symmetric = (&predicted + predicted.transpose()) * 0.5;
    let eigen = SymmetricEigen::try_new(symmetric, f64::EPSILON, 10_000)?;
    let mut order: Vec<usize> = (0..frames).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let least = gram.trace() * 1e-9;
    let shapes = order.into_iter().take(count);
    let shapes = shapes.filter(|&k| eigen.eigenvalues[k] > least.max(f64::MIN_POSITIVE));
    let combination = |k: usize| {
        let vector = eigen.eigenvectors.column(k);
        let size = eigen.eigenvalues[k].sqrt();
        let mut combined = hat.tr_mul(&vector) / size;
        let mut coefficients = factor.solve(&(gram * &combined));
        let largest = vector.amax() * size;
        combined *= largest;
        coefficients /= largest;
        Combination {
            frames: combined,
            inputs: coefficients,
        }
    };
    Some(shapes.map(combination).collect())
}

/// The sum of all frames' remainders with these factors.
fn combined(left: &[Vec<f32>], factors: &DVector<f64>) -> Vec<Vec3> {
    let numbers = left.first().map_or(0, Vec::len);
    let number = |i: usize| -> f64 {
        left.iter()
            .zip(factors.iter())
            .map(|(row, f)| f64::from(row[i]) * f)
            .sum()
    };
    let vertex = |v: usize| Vec3::from([0, 1, 2].map(|axis| number(3 * v + axis) as f32));
    (0..numbers / 3).into_par_iter().map(vertex).collect()
}

fn weighted_sum(rows: &[Vec<f64>], factors: &DVector<f64>) -> Vec<f64> {
    let mut sum = vec![0.0; rows.first().map_or(0, Vec::len)];
    debug_assert!(sum.len().is_multiple_of(PER_JOINT));
    for (row, factor) in rows.iter().zip(factors.iter()) {
        for (sum, number) in sum.iter_mut().zip(row) {
            *sum += number * factor;
        }
    }
    sum
}
