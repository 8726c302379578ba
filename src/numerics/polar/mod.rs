//! The rotations closest to three matrices in every lane: polar decomposition on vector units.
//!
//! The orthogonal polar factor by Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ for matrices far from orthogonal (Higham,
//! "Computing the Polar Decomposition", 1986). After the first step no singular value is below 1, so that the determinant bounds the
//! error: the iteration stops when it comes close to 1. The factor ½ is applied at the end: X ← X + 4ᵏ X⁻ᵀ. What becomes of matrices
//! with a negative determinant says [`inverted`].

mod batch;
mod inverted;

use nalgebra::Matrix3;
use pulp::Simd;

pub(crate) use batch::{LaneMatrix, closest_rotations};
pub(crate) use inverted::Inverted;

use super::determinant::{LONGEST, STEPS};
use super::lanes::{Mat3, Ops};

/// How far |det R − 1| + |‖R‖² − 3| may be from 0.
const NOT_A_ROTATION: f32 = 2e-3;
/// Largest number of Newton steps; only numerically singular matrices need this many.
const MAX_STEPS: usize = 14;
/// Squared determinants outside of this range need a scaled step.
const FAR: [f32; 2] = [0.16, 6.0];
/// A step that began with a squared determinant below this is the last: its error is then below 1e-6.
const CLOSE: f32 = 1.004;

/// Three rotations, or projections of inverted matrices, up to a power of two.
pub(crate) struct Rotations<S: Simd> {
    pub(crate) matrices: [Mat3<S>; 3],
    pub(crate) scale: f32,
    /// What matrices with a negative determinant were projected to.
    pub(crate) inverted: Inverted,
    /// Whether some lane may be invalid and must be checked.
    pub(crate) doubtful: bool,
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl<S: Simd> Ops<S> {
    /// The rotations closest to three matrices in every lane.
    #[inline(always)]
    pub(crate) fn closest_rotations(self, f: &[Mat3<S>; 3]) -> Rotations<S> {
        self.projections(f, Inverted::Rotated)
    }

    /// The rotations closest to three matrices in every lane, and the projections of inverted ones.
    #[inline(always)]
    pub(crate) fn projections(self, f: &[Mat3<S>; 3], inverted: Inverted) -> Rotations<S> {
        // Unrolled by hand, because loops over large arrays of vectors compile to copies in memory.
        let c = [
            self.cofactors(f[0]),
            self.cofactors(f[1]),
            self.cofactors(f[2]),
        ];
        let d = [
            self.dot(f[0][0], c[0][0]),
            self.dot(f[1][0], c[1][0]),
            self.dot(f[2][0], c[2][0]),
        ];
        let (mut any_negative, mut far) = (false, false);
        for determinant in d {
            let squared = self.mul(determinant, determinant);
            any_negative |= self.any_less(determinant, self.splat(0.0));
            far |= self.any_less(squared, self.splat(FAR[0]))
                | self.any_less(self.splat(FAR[1]), squared);
        }
        // Worked on where they are returned, because they are too many for registers, and moving them takes a call.
        let mut rotations = Rotations {
            matrices: if far {
                [
                    self.scaled_step(&f[0], &c[0], d[0], 1.0),
                    self.scaled_step(&f[1], &c[1], d[1], 1.0),
                    self.scaled_step(&f[2], &c[2], d[2], 1.0),
                ]
            } else {
                [
                    self.step(&f[0], &c[0], d[0], 1.0),
                    self.step(&f[1], &c[1], d[1], 1.0),
                    self.step(&f[2], &c[2], d[2], 1.0),
                ]
            },
            scale: 1.0,
            inverted,
            doubtful: true,
        };
        let (mut power4, mut power2) = (4.0_f32, 2.0_f32);
        for _ in 1..MAX_STEPS {
            let limit = self.splat(power4 * power4 * power4 * CLOSE);
            let rescale = far && power4 == 4.0;
            let mut more = false;
            for x in &mut rotations.matrices {
                let cofactors = self.cofactors(*x);
                let determinant = self.dot(x[0], cofactors[0]);
                more |= self.any_not_less_or_equal(self.mul(determinant, determinant), limit);
                *x = if rescale {
                    self.scaled_step(x, &cofactors, determinant, power4)
                } else {
                    self.step(x, &cofactors, determinant, power4)
                };
            }
            power4 *= 4.0;
            power2 *= 2.0;
            if !more {
                rotations.doubtful = false;
                break;
            }
        }
        rotations.scale = 1.0 / power2;
        if any_negative {
            self.project_negative(f, &d, &mut rotations);
        }
        rotations
    }

    /// X + 4ᵏ X⁻ᵀ.
    #[inline(always)]
    fn step(self, x: &Mat3<S>, cofactors: &Mat3<S>, determinant: S::f32s, power4: f32) -> Mat3<S> {
        let s = self.div(self.splat(power4), determinant);
        [
            self.fma3(cofactors[0], s, x[0]),
            self.fma3(cofactors[1], s, x[1]),
            self.fma3(cofactors[2], s, x[2]),
        ]
    }

    /// γ X + 4ᵏ X⁻ᵀ/γ with γ² = 2ᵏ·2ᵏ ‖X⁻¹‖/‖X‖.
    #[inline(always)]
    fn scaled_step(
        self,
        x: &Mat3<S>,
        cofactors: &Mat3<S>,
        determinant: S::f32s,
        power4: f32,
    ) -> Mat3<S> {
        let simd = self.0;
        let ratio = simd.sqrt_f32s(self.div(self.norm2(*cofactors), self.norm2(*x)));
        let gamma2 = self.div(
            self.mul(self.splat(power4), ratio),
            simd.abs_f32s(determinant),
        );
        let gamma = simd.sqrt_f32s(gamma2);
        let s = self.div(self.splat(power4), self.mul(gamma, determinant));
        let (c, x) = (cofactors, x);
        [
            self.fma3(c[0], s, self.scaled(x[0], gamma)),
            self.fma3(c[1], s, self.scaled(x[1], gamma)),
            self.fma3(c[2], s, self.scaled(x[2], gamma)),
        ]
    }

    /// Matrices near `f` with determinant 1: see [`super::determinant::project_volume`].
    #[inline(always)]
    pub(crate) fn project_volume(self, f: &Mat3<S>) -> Mat3<S> {
        let simd = self.0;
        let longest = self.splat(LONGEST as f32);
        let mut x = *f;
        for _ in 0..STEPS {
            let cofactors = self.cofactors(x);
            let determinant = self.dot(x[0], cofactors[0]);
            let square = simd.max_f32s(self.norm2(cofactors), self.splat(1e-12));
            let step = self.div(self.sub(self.splat(1.0), determinant), square);
            let length = self.mul(simd.abs_f32s(step), simd.sqrt_f32s(square));
            let step = self.mul(step, self.div(longest, simd.max_f32s(length, longest)));
            for column in 0..3 {
                x[column] = self.fma3(cofactors[column], step, x[column]);
            }
        }
        x
    }
}

/// Vector code without a token of its own as vector code with one.
struct Nullary<F>(F);

impl<F: pulp::NullaryFnOnce> pulp::WithSimd for Nullary<F> {
    type Output = F::Output;

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> F::Output {
        self.0.call()
    }
}

/// Whether a lane's matrix is a rotation to the accuracy that [`Ops::closest_rotations`] promises.
fn is_rotation(matrix: &Matrix3<f64>) -> bool {
    let off = (matrix.determinant() - 1.0).abs() + (matrix.norm_squared() - 3.0).abs();
    off <= 0.5 * f64::from(NOT_A_ROTATION)
}

#[cfg(test)]
mod tests;
