//! Anderson acceleration of the fixed-point iteration x ← G(x) that local and global steps together are.
//!
//! Walker & Ni, "Anderson Acceleration for Fixed-Point Iterations", SIAM J. Numer. Anal. 2011 (type II); used for projective
//! dynamics by Peng et al., "Anderson Acceleration for Geometry Optimization and Physics Simulation", SIGGRAPH 2018. With residuals
//! fₖ = G(xₖ) − xₖ and differences ΔX, ΔF of the last few iterations:
//!
//! ```text
//!     γ = argmin ‖fₖ − ΔF γ‖,     xₖ₊₁ = xₖ + fₖ − (ΔX + ΔF) γ
//! ```
//!
//! # Departures
//! - The history is dropped when the residual grows, instead of a test of the energy, which would cost more than the step.

use nalgebra::{DMatrix, DVector};

use crate::math::{Point, Vec3};

/// Iterations remembered.
const MEMORY: usize = 6;
/// Relative regularisation of the normal equations.
const REGULARIZATION: f64 = 1e-10;
/// A residual that grew by this factor means that the history misleads.
const GROWTH: f64 = 1.5;

/// Memory of the last iterations.
#[derive(Debug, Default)]
pub(super) struct Anderson {
    position: Vec<Point>,
    residual: Vec<Vec3>,
    residual_norm: f64,
    position_differences: Vec<Vec<Vec3>>,
    residual_differences: Vec<Vec<Vec3>>,
    started: bool,
    /// Which of the remembered differences is overwritten next.
    slot: usize,
}

impl Anderson {
    /// Takes xₖ (`before`) and G(xₖ) (`position`), and puts xₖ₊₁ into `position`.
    pub(super) fn accelerate(&mut self, before: &[Point], position: &mut [Point]) {
        let residual: Vec<Vec3> = position.iter().zip(before).map(|(g, x)| g - x).collect();
        let norm = dot(&residual, &residual).sqrt();
        if self.started && norm > GROWTH * self.residual_norm {
            self.position_differences.clear();
            self.residual_differences.clear();
            self.slot = 0;
        } else if self.started {
            let dx: Vec<Vec3> = before.iter().zip(&self.position).map(|(a, b)| a - b).collect();
            let df: Vec<Vec3> = residual.iter().zip(&self.residual).map(|(a, b)| a - b).collect();
            self.remember(dx, df);
        }
        self.position.clear();
        self.position.extend_from_slice(before);
        if let Some(gamma) = self.coefficients(&residual) {
            for ((dx, df), &g) in self.position_differences.iter().zip(&self.residual_differences).zip(gamma.iter()) {
                let g = g as f32;
                for ((position, dx), df) in position.iter_mut().zip(dx).zip(df) {
                    *position -= (dx + df) * g;
                }
            }
        }
        self.residual = residual;
        self.residual_norm = norm;
        self.started = true;
    }

    fn remember(&mut self, dx: Vec<Vec3>, df: Vec<Vec3>) {
        if self.position_differences.len() < MEMORY {
            self.position_differences.push(dx);
            self.residual_differences.push(df);
        } else {
            self.position_differences[self.slot] = dx;
            self.residual_differences[self.slot] = df;
        }
        self.slot = (self.slot + 1) % MEMORY;
    }

    /// γ by the regularised normal equations; `None` without history or if they can't be solved.
    fn coefficients(&self, residual: &[Vec3]) -> Option<DVector<f64>> {
        let count = self.residual_differences.len();
        if count == 0 {
            return None;
        }
        let mut matrix = DMatrix::zeros(count, count);
        for i in 0..count {
            for j in 0..=i {
                let product = dot(&self.residual_differences[i], &self.residual_differences[j]);
                matrix[(i, j)] = product;
                matrix[(j, i)] = product;
            }
        }
        let scale = matrix.trace();
        for i in 0..count {
            matrix[(i, i)] += REGULARIZATION * scale;
        }
        let rhs = DVector::from_iterator(count, self.residual_differences.iter().map(|df| dot(df, residual)));
        let gamma = matrix.cholesky()?.solve(&rhs);
        gamma.iter().all(|g| g.is_finite()).then_some(gamma)
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    // Blocks in f32 lanes would lose what the normal equations need.
    a.iter().zip(b).map(|(a, b)| f64::from(a.x) * f64::from(b.x) + f64::from(a.y) * f64::from(b.y) + f64::from(a.z) * f64::from(b.z)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a linear contraction the accelerated iteration reaches the fixed point far sooner.
    #[test]
    fn a_slow_contraction_becomes_fast() {
        let rates = [0.99_f32, 0.9, 0.5, -0.3];
        let step =
            |x: &[Point]| -> Vec<Point> { x.iter().zip(rates).map(|(p, r)| Point::from((p.coords - Vec3::x()) * r + Vec3::x())).collect() };
        let error = |x: &[Point]| x.iter().map(|p| (p.coords - Vec3::x()).norm()).fold(0.0, f32::max);
        let mut x = vec![Point::new(5.0, -3.0, 2.0); 4];
        let mut anderson = Anderson::default();
        for _ in 0..20 {
            let mut next = step(&x);
            anderson.accelerate(&x, &mut next);
            x = next;
        }
        assert!(error(&x) < 1e-4, "{}", error(&x));
    }
}
