//! The rotations closest to three matrices in every lane: polar decomposition on vector units.
//!
//! The orthogonal polar factor by Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ for matrices far from orthogonal (Higham,
//! "Computing the Polar Decomposition", 1986). After the first step no singular value is below 1, so that the determinant bounds the
//! error: the iteration stops when it comes close to 1. The factor ½ is applied at the end: X ← X + 4ᵏ X⁻ᵀ. If det F < 0,
//! the closest rotation is Q (I − 2 v vᵀ) with v the direction of the smallest singular value.

mod batch;

use nalgebra::Matrix3;
use pulp::Simd;

pub(crate) use batch::{LaneMatrix, closest_rotations};

use super::determinant::{LONGEST, STEPS};
use super::lanes::{Mat3, Ops, transposed};
use crate::math::closest_rotation;

/// How far |det R − 1| + |‖R‖² − 3| may be from 0.
const NOT_A_ROTATION: f32 = 2e-3;
/// Squarings that isolate the direction of the smallest singular value: a gap of 5 % becomes a factor of 500.
const SQUARINGS: usize = 7;
/// Largest number of Newton steps; only numerically singular matrices need this many.
const MAX_STEPS: usize = 14;
/// Squared determinants outside of this range need a scaled step.
const FAR: [f32; 2] = [0.16, 6.0];
/// A step that began with a squared determinant below this is the last: its error is then below 1e-6.
const CLOSE: f32 = 1.004;

/// Three rotations up to a power of two.
pub(crate) struct Rotations<S: Simd> {
    pub(crate) matrices: [Mat3<S>; 3],
    pub(crate) scale: f32,
    /// Whether some lane may not be a rotation and must be checked.
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
            self.reflect_negative(f, &d, &mut rotations);
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

    /// Q (I − 2 v vᵀ) in the lanes with a negative determinant.
    #[inline(never)]
    fn reflect_negative(
        self,
        f: &[Mat3<S>; 3],
        determinants: &[S::f32s; 3],
        rotations: &mut Rotations<S>,
    ) {
        struct Turn<'a, S: Simd> {
            f: &'a [Mat3<S>; 3],
            determinants: &'a [S::f32s; 3],
            rotations: &'a mut Rotations<S>,
            ops: Ops<S>,
        }
        impl<S: Simd> pulp::NullaryFnOnce for Turn<'_, S> {
            type Output = ();
            #[inline(always)]
            fn call(self) {
                let Self {
                    f,
                    determinants,
                    rotations,
                    ops,
                } = self;
                let scale = ops.splat(rotations.scale);
                for k in 0..3 {
                    let x = rotations.matrices[k];
                    let q = [
                        ops.scaled(x[0], scale),
                        ops.scaled(x[1], scale),
                        ops.scaled(x[2], scale),
                    ];
                    let r = ops.reflected(&f[k], &q, determinants[k]);
                    rotations.doubtful |= ops.any_not_rotation(&r);
                    rotations.matrices[k] = r;
                }
                rotations.scale = 1.0;
            }
        }
        Simd::vectorize(
            self.0,
            Nullary(Turn {
                f,
                determinants,
                rotations,
                ops: self,
            }),
        );
    }

    /// v vᵀ is what repeated squaring leaves of the adjugate of H = Qᵀ F, whose largest eigenvalue belongs to the smallest of H.
    #[inline(always)]
    fn reflected(self, f: &Mat3<S>, q: &Mat3<S>, determinant: S::f32s) -> Mat3<S> {
        let simd = self.0;
        let h = self.matmul(transposed(*q), *f);
        let mut p = self.cofactors(h);
        for _ in 0..SQUARINGS {
            let trace = self.add(p[0][0], self.add(p[1][1], p[2][2]));
            let size = simd.max_f32s(simd.abs_f32s(trace), self.splat(1e-30));
            let scale = self.div(self.splat(1.0), size);
            let unit = [
                self.scaled(p[0], scale),
                self.scaled(p[1], scale),
                self.scaled(p[2], scale),
            ];
            p = self.matmul(unit, unit);
        }
        let trace = self.add(p[0][0], self.add(p[1][1], p[2][2]));
        let scale = self.div(self.splat(-2.0), simd.max_f32s(trace, self.splat(1e-30)));
        let qp = self.matmul(*q, p);
        let turned = simd.less_than_f32s(determinant, self.splat(0.0));
        let mut result = *q;
        for column in 0..3 {
            for row in 0..3 {
                let mirrored = self.fma(qp[column][row], scale, q[column][row]);
                result[column][row] = simd.select_f32s(turned, mirrored, q[column][row]);
            }
        }
        result
    }

    /// A rotation has determinant 1 and squared norm 3; rank-one and NaN matrices end elsewhere.
    #[inline(always)]
    fn any_not_rotation(self, r: &Mat3<S>) -> bool {
        let simd = self.0;
        let determinant = self.dot(r[0], self.cofactors(*r)[0]);
        let off = self.add(
            simd.abs_f32s(self.sub(determinant, self.splat(1.0))),
            simd.abs_f32s(self.sub(self.norm2(*r), self.splat(3.0))),
        );
        self.any_not_less_or_equal(off, self.splat(NOT_A_ROTATION))
    }

    /// Replaces invalid results (for matrices of rank 0 or 1) by exact rotations.
    #[inline(never)]
    pub(crate) fn repair(self, f: &[Mat3<S>; 3], rotations: &mut Rotations<S>) {
        let scale = f64::from(rotations.scale);
        for (f, matrix) in f.iter().zip(&mut rotations.matrices) {
            for lane in 0..S::F32_LANES {
                let of = |m: &Mat3<S>| {
                    Matrix3::from_fn(|row, column| f64::from(self.lane(m[column][row], lane)))
                };
                if is_rotation(&(of(matrix) * scale)) {
                    continue;
                }
                let rotation = closest_rotation(&of(f)) / scale;
                for column in 0..3 {
                    for row in 0..3 {
                        self.set_lane(
                            &mut matrix[column][row],
                            lane,
                            rotation[(row, column)] as f32,
                        );
                    }
                }
            }
        }
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
