//! Sparse weights by least squares.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Part of the mean diagonal that holds weights at those to start from.
const DAMPING: f64 = 1e-6;

/// The bones that are left, and their weights.
struct Solution {
    kept: Vec<usize>,
    weights: DVector<f64>,
    factor: Option<Cholesky<f64, Dyn>>,
}

/// Weights that minimise wᵀ G w + μ |w − w₀|² with wᵢ ≥ 0, Σ wᵢ = 1 and at most `most` that are not 0; μ is a small part of the mean diagonal.
///
/// Negative weights are left out one by one, the most negative first. Then, while there are too many, the one whose loss costs least:
/// with Q = G⁻¹ − G⁻¹ 1 1ᵀ G⁻¹ / (1ᵀ G⁻¹ 1), setting wᵢ to 0 under Σ w = 1 adds wᵢ² / Qᵢᵢ to the minimum.
pub(super) fn sparse_weights(products: &DMatrix<f64>, start: &[f64], most: usize) -> Vec<f64> {
    let count = start.len();
    let damping = (DAMPING * products.trace() / count as f64).max(1e-200);
    let system = products + DMatrix::identity(count, count) * damping;
    let mut solution = solve(&system, start, damping, (0..count).collect());
    while solution.kept.len() > most.max(1) {
        let Some(factor) = &solution.factor else {
            break;
        };
        let inverse = factor.inverse();
        let ones: DVector<f64> = inverse.column_sum();
        let total = ones.sum();
        let cost = |place: usize| {
            let free = inverse[(place, place)] - ones[place] * ones[place] / total;
            solution.weights[place].powi(2) / free.max(f64::MIN_POSITIVE)
        };
        let costs: Vec<f64> = (0..solution.kept.len()).map(cost).collect();
        let least = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
        let mut kept = solution.kept.clone();
        kept.remove(least.unwrap_or_default());
        solution = solve(&system, start, damping, kept);
    }
    let mut weights = vec![0.0; count];
    for (&bone, &weight) in solution.kept.iter().zip(&solution.weights) {
        weights[bone] = weight;
    }
    weights
}

/// Weights on some bones that are not negative and sum to 1.
fn solve(system: &DMatrix<f64>, start: &[f64], damping: f64, mut kept: Vec<usize>) -> Solution {
    while !kept.is_empty() {
        let count = kept.len();
        let small = DMatrix::from_fn(count, count, |i, j| system[(kept[i], kept[j])]);
        let target = DVector::from_fn(count, |i, _| damping * start[kept[i]]);
        let Some(factor) = small.cholesky() else {
            break;
        };
        let towards = factor.solve(&target);
        let ones = factor.solve(&DVector::from_element(count, 1.0));
        let weights = &towards + &ones * ((1.0 - towards.sum()) / ones.sum());
        let negative = (0..count)
            .filter(|&i| weights[i] < 0.0 || weights[i].is_nan())
            .min_by(|&a, &b| weights[a].total_cmp(&weights[b]));
        match negative {
            Some(negative) if count > 1 => {
                kept.remove(negative);
            }
            _ => {
                return Solution {
                    kept,
                    weights,
                    factor: Some(factor),
                };
            }
        }
    }
    // Without a solution the bone with the largest weight at the start takes all.
    let largest = (0..start.len())
        .rev()
        .max_by(|&a, &b| start[a].total_cmp(&start[b]));
    Solution {
        kept: vec![largest.unwrap_or_default()],
        weights: DVector::from_element(1, 1.0),
        factor: None,
    }
}
