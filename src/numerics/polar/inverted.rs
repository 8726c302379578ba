//! What matrices with a negative determinant are projected to.
//!
//! With F = Q H and det Q = −1, the closest rotation is Q (I − 2 v vᵀ), v being the direction of the smallest of the singular values
//! a ≥ b ≥ c of F. Where b and c cross, v jumps by a right angle: one inverted tet that passes there changes its forces at once, and the
//! flesh around it pops. The softened projection takes all three directions V, each with a share x³ of the reflection:
//!
//! ```text
//!     P = Q (I − 2 V diag(x³) Vᵀ),   x = (b c, a c, a b) / ‖(b c, a c, a b)‖
//! ```
//!
//! It is continuous as long as b > 0, and is the closest rotation where tets invert (c = 0). P is the gradient of
//! F·P = a + b + c − 2 (a⁻² + b⁻² + c⁻²)^(−½), in which a smooth function stands for the smallest singular value. So F − P is the gradient
//! of ½ ‖F‖² − F·P + 3/2 = ½ ‖F − P‖² + ½ (3 − ‖P‖²), an energy that is ½ ‖F − R‖² without inversion.

use nalgebra::{Matrix3, Vector3};
use pulp::Simd;

use super::super::lanes::{Mat3, Ops, transposed};
use super::{Nullary, Rotations, is_rotation};
use crate::math::closest_rotation;

/// Squarings that isolate the direction of the smallest singular value: a gap of 5 % becomes a factor of 500.
const SQUARINGS: usize = 7;
/// By how much 3 − ‖R‖² of a rotation in `f32` may differ from 0.
const ROUNDING: f32 = 1e-5;

/// The projection of matrices with a negative determinant; of others it is the closest rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inverted {
    /// The closest rotation, which jumps where the two smallest singular values are equal.
    Rotated,
    /// The continuous projection of the module.
    Softened,
}

impl Inverted {
    /// The projection P of a matrix; the identity if it is not finite.
    pub(crate) fn projection(self, f: &Matrix3<f64>) -> Matrix3<f64> {
        match self {
            Self::Softened if f.determinant() < 0.0 => softened(f),
            _ => closest_rotation(f),
        }
    }

    /// The energy whose gradient is F − P: ½ ‖F − P‖² + ½ (3 − ‖P‖²).
    pub(crate) fn strain_energy(self, f: &Matrix3<f64>) -> f64 {
        let p = self.projection(f);
        0.5 * ((f - p).norm_squared() + (3.0 - p.norm_squared()).max(0.0))
    }
}

/// U diag(1 − 2 x³) Vᵀ with U Vᵀ = Q; the closest rotation where two singular values vanish.
fn softened(f: &Matrix3<f64>) -> Matrix3<f64> {
    let svd = f.svd(true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else {
        return closest_rotation(f);
    };
    let [a, b, c] = svd.singular_values.into();
    let x = Vector3::new(b * c, a * c, a * b);
    let Some(x) = x.try_normalize(f64::MIN_POSITIVE) else {
        return closest_rotation(f);
    };
    u * Matrix3::from_diagonal(&x.map(|x| 1.0 - 2.0 * x * x * x)) * v_t
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl<S: Simd> Ops<S> {
    /// Replaces orthogonal factors with a negative determinant by the projections that `rotations.inverted` asks for.
    #[inline(never)]
    pub(super) fn project_negative(
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
                    let q = ops.scaled_matrix(&rotations.matrices[k], scale);
                    // H = Qᵀ F is symmetric, and its cofactors are its adjugate, with the singular values b c, a c, a b.
                    let adjugate = ops.cofactors(ops.matmul(transposed(q), f[k]));
                    let reflection = match rotations.inverted {
                        Inverted::Rotated => ops.largest_direction(adjugate),
                        Inverted::Softened => ops.cube_of_unit(adjugate),
                    };
                    let p = ops.reflected_where_negative(&q, &reflection, determinants[k]);
                    rotations.doubtful |= match rotations.inverted {
                        Inverted::Rotated => ops.any_not_rotation(&p),
                        Inverted::Softened => ops.any_not_orthogonal(&q),
                    };
                    rotations.matrices[k] = p;
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

    /// v vᵀ with v the eigenvector of the largest eigenvalue: what repeated squaring leaves of a symmetric matrix.
    #[inline(always)]
    fn largest_direction(self, mut p: Mat3<S>) -> Mat3<S> {
        let simd = self.0;
        for _ in 0..SQUARINGS {
            let trace = self.trace(&p);
            let size = simd.max_f32s(simd.abs_f32s(trace), self.splat(1e-30));
            let unit = self.scaled_matrix(&p, self.div(self.splat(1.0), size));
            p = self.matmul(unit, unit);
        }
        let trace = simd.max_f32s(self.trace(&p), self.splat(1e-30));
        self.scaled_matrix(&p, self.div(self.splat(1.0), trace))
    }

    /// (A / ‖A‖)³ of a symmetric matrix.
    #[inline(always)]
    fn cube_of_unit(self, a: Mat3<S>) -> Mat3<S> {
        let simd = self.0;
        let size = simd.sqrt_f32s(simd.max_f32s(self.norm2(a), self.splat(1e-30)));
        let unit = self.scaled_matrix(&a, self.div(self.splat(1.0), size));
        self.matmul(self.matmul(unit, unit), unit)
    }

    /// Q (I − 2 S) in the lanes with a negative determinant, otherwise Q.
    #[inline(always)]
    fn reflected_where_negative(
        self,
        q: &Mat3<S>,
        reflection: &Mat3<S>,
        determinant: S::f32s,
    ) -> Mat3<S> {
        let simd = self.0;
        let (qs, two) = (self.matmul(*q, *reflection), self.splat(2.0));
        let turned = simd.less_than_f32s(determinant, self.splat(0.0));
        let mut result = *q;
        for column in 0..3 {
            for row in 0..3 {
                let mirrored = self.fnma(qs[column][row], two, q[column][row]);
                result[column][row] = simd.select_f32s(turned, mirrored, q[column][row]);
            }
        }
        result
    }

    /// 3 − ‖P‖² of a softened projection, twice the energy that it has beside ½ ‖F − P‖²; 0 for rotations.
    #[inline(always)]
    pub(crate) fn softening(self, p: &Mat3<S>, scale: f32) -> S::f32s {
        let square = self.mul(self.norm2(*p), self.splat(scale * scale));
        let missing = self.sub(self.splat(3.0 - ROUNDING), square);
        self.0.max_f32s(missing, self.splat(0.0))
    }

    /// Replaces invalid results (for matrices of rank 0 or 1) by exact ones. Softened projections are computed anew, too: they are no
    /// rotations and can't be told from invalid ones.
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
                let projection = rotations.inverted.projection(&of(f)) / scale;
                for column in 0..3 {
                    for row in 0..3 {
                        self.set_lane(
                            &mut matrix[column][row],
                            lane,
                            projection[(row, column)] as f32,
                        );
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn trace(self, m: &Mat3<S>) -> S::f32s {
        self.add(m[0][0], self.add(m[1][1], m[2][2]))
    }

    #[inline(always)]
    fn scaled_matrix(self, m: &Mat3<S>, scale: S::f32s) -> Mat3<S> {
        [
            self.scaled(m[0], scale),
            self.scaled(m[1], scale),
            self.scaled(m[2], scale),
        ]
    }

    /// A rotation has determinant 1 and squared norm 3; rank-one and NaN matrices end elsewhere.
    #[inline(always)]
    fn any_not_rotation(self, r: &Mat3<S>) -> bool {
        self.any_off(r, self.dot(r[0], self.cofactors(*r)[0]))
    }

    /// As [`Self::any_not_rotation`] with determinant 1 or −1.
    #[inline(always)]
    fn any_not_orthogonal(self, q: &Mat3<S>) -> bool {
        let determinant = self.dot(q[0], self.cofactors(*q)[0]);
        self.any_off(q, self.0.abs_f32s(determinant))
    }

    /// Whether in some lane the determinant differs from 1 or the squared norm from 3.
    #[inline(always)]
    fn any_off(self, m: &Mat3<S>, determinant: S::f32s) -> bool {
        let simd = self.0;
        let off = self.add(
            simd.abs_f32s(self.sub(determinant, self.splat(1.0))),
            simd.abs_f32s(self.sub(self.norm2(*m), self.splat(3.0))),
        );
        self.any_not_less_or_equal(off, self.splat(super::NOT_A_ROTATION))
    }
}
