//! The linear complementarity problem, by conjugate gradients on an active set.
//!
//! ```text
//!     λ ≥ 0,   A λ ≥ b,   λᵀ(A λ − b) = 0,     A symmetric positive definite
//! ```
//! Conjugate gradients run on the active entries; negative ones leave the active set and violated ones join it, until the set stays
//! the same (the active-set method; Nocedal & Wright, "Numerical Optimization", 16.5).

#![expect(
    clippy::needless_range_loop,
    reason = "an index goes through several arrays"
)]

/// Changes of the active set, at most.
const ROUNDS: usize = 10;
/// Iterations of conjugate gradients in a round.
const ITERATIONS: usize = 80;

/// λ and the scratch of the solve.
#[derive(Debug, Clone, Default)]
pub(crate) struct Complementarity {
    /// λ, where the next solve starts from.
    pub(crate) values: Vec<f32>,
    residual: Vec<f32>,
    direction: Vec<f32>,
    product: Vec<f32>,
    free: Vec<bool>,
}

impl Complementarity {
    /// Solves for right-hand side b; `apply` multiplies by A, whose diagonal is given. Ends when A λ = b holds to `tolerance` on the
    /// active set. Returns the number of multiplications.
    pub(crate) fn solve(
        &mut self,
        b: &[f32],
        diagonal: &[f32],
        tolerance: f32,
        mut apply: impl FnMut(&[f32], &mut [f32]),
    ) -> usize {
        let m = b.len();
        for scratch in [
            &mut self.values,
            &mut self.residual,
            &mut self.direction,
            &mut self.product,
        ] {
            scratch.resize(m, 0.0);
        }
        self.free.resize(m, false);
        let mut count = 0;
        for _ in 0..ROUNDS {
            apply(&self.values, &mut self.product);
            count += 1;
            for i in 0..m {
                self.residual[i] = b[i] - self.product[i];
                self.free[i] = self.values[i] > 0.0 || self.residual[i] > 0.0;
            }
            if self.worst() <= tolerance {
                break;
            }
            count += self.conjugate_gradients(diagonal, tolerance, &mut apply);
            let mut clipped = false;
            for value in &mut self.values {
                if *value < 0.0 {
                    *value = 0.0;
                    clipped = true;
                }
            }
            if !clipped && !self.is_violated(tolerance) {
                break;
            }
        }
        count
    }

    /// Largest residual on the active set.
    fn worst(&self) -> f32 {
        self.residual
            .iter()
            .zip(&self.free)
            .filter(|(_, free)| **free)
            .map(|(r, _)| r.abs())
            .fold(0.0, f32::max)
    }

    fn is_violated(&self, tolerance: f32) -> bool {
        self.residual
            .iter()
            .zip(&self.free)
            .any(|(r, free)| !free && *r > tolerance)
    }

    fn conjugate_gradients(
        &mut self,
        diagonal: &[f32],
        tolerance: f32,
        apply: &mut impl FnMut(&[f32], &mut [f32]),
    ) -> usize {
        let m = diagonal.len();
        let mut rz = 0.0_f64;
        for i in 0..m {
            let z = if self.free[i] {
                self.residual[i] / diagonal[i]
            } else {
                0.0
            };
            self.direction[i] = z;
            rz += f64::from(z) * f64::from(self.residual[i]);
        }
        for iteration in 0..ITERATIONS {
            apply(&self.direction, &mut self.product);
            let curvature: f64 = self
                .direction
                .iter()
                .zip(&self.product)
                .map(|(p, q)| f64::from(*p) * f64::from(*q))
                .sum();
            if curvature <= 0.0 || !curvature.is_finite() {
                return iteration + 1;
            }
            let alpha = (rz / curvature) as f32;
            for i in 0..m {
                self.values[i] += alpha * self.direction[i];
                self.residual[i] -= alpha * self.product[i];
            }
            if self.worst() <= 0.5 * tolerance {
                return iteration + 1;
            }
            let mut next = 0.0_f64;
            for i in 0..m {
                if self.free[i] {
                    next += f64::from(self.residual[i] / diagonal[i]) * f64::from(self.residual[i]);
                }
            }
            let beta = (next / rz) as f32;
            rz = next;
            for i in 0..m {
                let z = if self.free[i] {
                    self.residual[i] / diagonal[i]
                } else {
                    0.0
                };
                self.direction[i] = z + beta * self.direction[i];
            }
        }
        ITERATIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// λ ≥ 0, A λ ≥ b and one of the two with equality, on a chain of springs, whichever entries are active.
    #[test]
    fn solutions_are_complementary() {
        let m = 60;
        let apply = |x: &[f32], y: &mut [f32]| {
            for i in 0..m {
                let left = if i > 0 { x[i - 1] } else { 0.0 };
                let right = if i + 1 < m { x[i + 1] } else { 0.0 };
                y[i] = 2.2 * x[i] - left - right;
            }
        };
        let diagonal = vec![2.2; m];
        let mut problem = Complementarity::default();
        for shift in 0..5 {
            let b: Vec<f32> = (0..m)
                .map(|i| ((i + 7 * shift) as f32 * 0.4).sin())
                .collect();
            problem.solve(&b, &diagonal, 1e-5, apply);
            let mut product = vec![0.0; m];
            apply(&problem.values, &mut product);
            for i in 0..m {
                let slack = product[i] - b[i];
                assert!(
                    problem.values[i] >= 0.0
                        && slack > -1e-4
                        && problem.values[i].min(slack.abs()) < 1e-4,
                    "{i}: {} {slack}",
                    problem.values[i]
                );
            }
        }
    }
}
