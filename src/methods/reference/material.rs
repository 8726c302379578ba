//! The material: stable neo-Hookean elasticity.
//!
//! Smith, de Goes, Kim, "Stable Neo-Hookean Flesh Simulation", ACM TOG 37(2), 2018. Energy density of a deformation gradient F with
//! I = ‖F‖² and J = det F, and stress; the eigensystem of the second derivative is from the same paper:
//!
//! ```text
//!     Ψ = μ/2 (I − 3) + λ/2 (J − α)² − μ/2 log(I + 1),     α = 1 + 3μ / 4λ
//!     P = μ (1 − 1/(I + 1)) F + λ (J − α) cof F
//! ```
//!
//! For small strains it is Hooke's law if μ = 4/3 μ̂ and λ = λ̂ + 5/6 μ̂ of Lamé's parameters μ̂ and λ̂. The equilibrium of
//! prescribed displacements depends on their ratio alone, that is on Poisson's ratio; μ̂ is 1 here, so that energies are in units of
//! the shear modulus times a cubic world unit.

use nalgebra::{Matrix3, SymmetricEigen};

use crate::math::{Vec64, cofactor};

/// Parameters of the energy density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeoHookean {
    mu: f64,
    lambda: f64,
    alpha: f64,
    at_rest: f64,
}

/// The second derivative of the energy density at one F:
/// `a 1 + c f fᵀ + λ g gᵀ + b ∂²J/∂F²` with f = vec F, g = vec cof F.
#[derive(Debug, Clone, Copy)]
pub(super) struct DensityHessian {
    pub a: f64,
    pub b: f64,
    pub c: f64,
    pub lambda: f64,
    pub cofactor: Matrix3<f64>,
}

impl NeoHookean {
    /// Shear modulus 1 and this Poisson's ratio, 0 ≤ ν < ½.
    #[must_use]
    pub fn new(poisson: f64) -> Self {
        let lame = 2.0 * poisson / (1.0 - 2.0 * poisson);
        let (mu, lambda) = (4.0 / 3.0, lame + 5.0 / 6.0);
        let alpha = 1.0 + 0.75 * mu / lambda;
        let mut material = Self {
            mu,
            lambda,
            alpha,
            at_rest: 0.0,
        };
        material.at_rest = material.energy(&Matrix3::identity());
        material
    }

    /// Energy density, 0 at rest.
    #[must_use]
    pub fn energy(&self, f: &Matrix3<f64>) -> f64 {
        let square = f.norm_squared();
        let volume = f.determinant() - self.alpha;
        0.5 * self.mu * (square - 3.0 - (square + 1.0).ln()) + 0.5 * self.lambda * volume * volume
            - self.at_rest
    }

    /// First Piola–Kirchhoff stress, the derivative of the energy density.
    #[must_use]
    pub fn stress(&self, f: &Matrix3<f64>) -> Matrix3<f64> {
        let tangent = self.tangent(f);
        f * tangent.a + tangent.cofactor * tangent.b
    }

    pub(super) fn tangent(&self, f: &Matrix3<f64>) -> DensityHessian {
        let inverse = 1.0 / (f.norm_squared() + 1.0);
        DensityHessian {
            a: self.mu * (1.0 - inverse),
            b: self.lambda * (f.determinant() - self.alpha),
            c: 2.0 * self.mu * inverse * inverse,
            lambda: self.lambda,
            cofactor: cofactor(f),
        }
    }

    /// Eigenvalues and unit eigenmatrices of the second derivative, negative eigenvalues replaced by 0.
    ///
    /// With F = U Σ Vᵀ, U and V rotations: three twists and three flips with a ± b σᵢ, three scalings from a 3 × 3 matrix.
    pub(super) fn projected(&self, f: &Matrix3<f64>) -> [(f64, Matrix3<f64>); 9] {
        let (u, sigma, v) = rotations_and_stretches(f);
        let tangent = self.tangent(f);
        let (a, b) = (tangent.a, tangent.b);
        let mut modes = [(0.0, Matrix3::zeros()); 9];
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            for (slot, sign) in [(i, -1.0), (i + 3, 1.0)] {
                let direction = u.column(k) * v.column(j).transpose()
                    + u.column(j) * v.column(k).transpose() * sign;
                modes[slot] = (a - sign * b * sigma[i], direction * half);
            }
        }
        let volume = Vec64::new(sigma.y * sigma.z, sigma.z * sigma.x, sigma.x * sigma.y);
        let mut scaling =
            sigma * sigma.transpose() * tangent.c + volume * volume.transpose() * tangent.lambda;
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            scaling[(i, i)] += a;
            scaling[(j, k)] += b * sigma[i];
            scaling[(k, j)] += b * sigma[i];
        }
        let eigen = SymmetricEigen::new(scaling);
        for k in 0..3 {
            let weights = eigen.eigenvectors.column(k).into_owned();
            let direction = u * Matrix3::from_diagonal(&weights) * v.transpose();
            modes[6 + k] = (eigen.eigenvalues[k], direction);
        }
        for mode in &mut modes {
            mode.0 = mode.0.max(0.0);
        }
        modes
    }
}

/// F = U Σ Vᵀ with U and V rotations; of an F with a negative determinant one stretch is negative.
fn rotations_and_stretches(f: &Matrix3<f64>) -> (Matrix3<f64>, Vec64, Matrix3<f64>) {
    let svd = f.svd(true, true);
    let mut u = svd.u.unwrap_or_else(Matrix3::identity);
    let mut v = svd.v_t.unwrap_or_else(Matrix3::identity).transpose();
    let mut sigma = svd.singular_values;
    let least = sigma.imin();
    if u.determinant() < 0.0 {
        u.column_mut(least).neg_mut();
        sigma[least] = -sigma[least];
    }
    if v.determinant() < 0.0 {
        v.column_mut(least).neg_mut();
        sigma[least] = -sigma[least];
    }
    (u, sigma, v)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deformations() -> impl Iterator<Item = Matrix3<f64>> {
        (0..20).map(|k| {
            let t = f64::from(k);
            Matrix3::from_fn(|row, column| {
                f64::from(u8::from(row == column))
                    + 0.9 * (1.7 * t + 2.3 * row as f64 + 3.1 * column as f64).sin()
            })
        })
    }

    #[test]
    fn the_eigensystem_is_that_of_the_second_derivative() {
        let material = NeoHookean::new(0.45);
        for f in deformations() {
            for (value, direction) in material.projected(&f) {
                let step = 1e-5;
                let change = (material.stress(&(f + direction * step))
                    - material.stress(&(f - direction * step)))
                    / (2.0 * step);
                let quotient = change.dot(&direction);
                assert!(
                    value == 0.0 && quotient < 1e-6
                        || (change - direction * value).norm() < 1e-5 * (1.0 + value),
                    "{value} {quotient}"
                );
            }
        }
    }

    #[test]
    fn small_strains_follow_hooke() {
        let (poisson, step) = (0.3, 1e-6);
        let lame = 2.0 * poisson / (1.0 - 2.0 * poisson);
        for strain in deformations() {
            let stress =
                NeoHookean::new(poisson).stress(&(Matrix3::identity() + strain * step)) / step;
            let hooke = strain + strain.transpose() + Matrix3::identity() * (lame * strain.trace());
            assert!((stress - hooke).norm() < 1e-4, "{stress} {hooke}");
        }
    }
}
