//! The matrix closest to F with determinant 1: the projection of a volume constraint.
//!
//! Komaritzan's thesis, section 2.2.1, projects the singular values; here Newton steps along the gradient of the determinant, its
//! cofactor matrix,
//!
//! ```text
//!     F ← F + (1 − det F) / ‖cof F‖² · cof F
//! ```
//!
//! need no decomposition and run on vector units. They end on det F = 1 close to the closest such matrix, and at it where F
//! is not far away.

use nalgebra::Matrix3;

/// Newton steps.
pub(crate) const STEPS: usize = 4;
/// Bound on the norm of a step: the cofactors of a flat F vanish, which would make steps arbitrarily long.
pub(crate) const LONGEST: f64 = 0.5;

/// A matrix near `f` with determinant 1, as nearly as [`STEPS`] steps get; the scalar twin of the solver's vector code.
pub(crate) fn project_volume(f: &Matrix3<f64>) -> Matrix3<f64> {
    let mut f = *f;
    for _ in 0..STEPS {
        let cofactors = cofactors(&f);
        let determinant = f.column(0).dot(&cofactors.column(0));
        let square = cofactors.norm_squared();
        let step = (1.0 - determinant) / square.max(1e-12);
        // |step| · ‖cof F‖ is how far it goes.
        let length = step.abs() * square.sqrt();
        f += cofactors * (step * (LONGEST / length.max(LONGEST)));
    }
    f
}

/// The derivative of the determinant: columns b × c, c × a, a × b of the columns a, b, c.
fn cofactors(f: &Matrix3<f64>) -> Matrix3<f64> {
    let [a, b, c] = [0, 1, 2].map(|k| f.column(k).into_owned());
    Matrix3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)])
}

#[cfg(test)]
mod tests {
    use nalgebra::{Rotation3, Vector3};

    use super::*;

    fn rotation(seed: f64) -> Matrix3<f64> {
        Rotation3::from_euler_angles(
            seed.sin() * 3.0,
            (seed * 1.7).cos() * 1.5,
            (seed * 2.3).sin() * 3.0,
        )
        .into_inner()
    }

    /// Moderate deformations: a factor 2 in volume either way.
    #[test]
    fn the_determinant_becomes_one() {
        for seed in 0..50 {
            let seed = f64::from(seed);
            let sigma = Vector3::new(
                1.0 + 0.4 * seed.sin(),
                1.0 + 0.3 * (2.0 * seed).cos(),
                1.0 + 0.2 * (3.0 * seed).sin(),
            );
            let f =
                rotation(seed) * Matrix3::from_diagonal(&sigma) * rotation(seed + 0.5).transpose();
            let projected = project_volume(&f);
            assert!(
                (projected.determinant() - 1.0).abs() < 1e-3,
                "{} from {}",
                projected.determinant(),
                f.determinant()
            );
        }
    }

    #[test]
    fn rotations_are_unchanged() {
        for seed in 0..20 {
            let r = rotation(f64::from(seed));
            assert!((project_volume(&r) - r).norm() < 1e-12);
        }
    }

    /// Near the constraint the step is along its normal: no point of it is closer, to second order.
    #[test]
    fn nearby_matrices_map_to_the_closest() {
        let f =
            rotation(0.3) * Matrix3::from_diagonal(&Vector3::new(1.05, 0.98, 1.02)) * rotation(1.1);
        let projected = project_volume(&f);
        let moved = projected - f;
        let normal = cofactors(&projected);
        let along = moved.dot(&normal) / normal.norm();
        assert!(
            (moved.norm() - along.abs()).abs() < 1e-2 * moved.norm(),
            "{} along {along}",
            moved.norm()
        );
    }

    /// Turning in or out of the projection is the same.
    #[test]
    fn the_result_rotates_with_the_matrix() {
        let f = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.7, 0.2, 0.1, -0.2, 0.9);
        let (left, right) = (rotation(0.7), rotation(1.9));
        assert!(
            (project_volume(&(left * f * right)) - left * project_volume(&f) * right).norm()
                < 1e-12
        );
    }

    /// Flat, squeezed to a line or to nothing, inverted, huge: finite, and never farther away than steps can go.
    #[test]
    fn extreme_singular_values_are_tolerated() {
        for sigma in [
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0; 3],
            [1.0, 1.0, -1.0],
            [1e-3, 1e-3, -1e-3],
            [50.0, 0.1, 1e-6],
            [-5.0, 3.0, 2.0],
        ] {
            let f = rotation(2.0) * Matrix3::from_diagonal(&Vector3::from(sigma));
            let projected = project_volume(&f);
            assert!(projected.iter().all(|c| c.is_finite()), "{sigma:?}");
            assert!(
                (projected - f).norm() <= STEPS as f64 * LONGEST * (1.0 + 1e-12),
                "{sigma:?}"
            );
        }
    }
}
