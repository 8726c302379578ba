//! Small matrices with one matrix a lane, on whatever vector unit there is.

use nalgebra::Matrix3;
use pulp::Simd;

use super::local::LANES;

/// Three columns of three entries; each entry holds one value a lane.
pub(super) type Mat3<S> = [[<S as Simd>::f32s; 3]; 3];
type Vec3s<S> = [<S as Simd>::f32s; 3];

/// How far |det R − 1| + |‖R‖² − 3| may be from 0.
const NOT_A_ROTATION: f32 = 2e-3;
/// Squarings that make the direction of the smallest singular value stand out: a gap of 5 % becomes a factor of 500.
const SQUARINGS: usize = 7;
/// Newton steps at most; only matrices that are flat to rounding need so many.
const MAX_STEPS: usize = 14;
/// Squared Frobenius change below which the quadratic convergence of the step just taken has reached rounding.
const CONVERGED: f32 = 1e-5;

/// Vector instructions under short names.
#[derive(Clone, Copy)]
pub(super) struct Ops<S: Simd>(pub(super) S);

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[expect(clippy::unused_self, reason = "all operations read the same at the call, whether they need the token or not")]
impl<S: Simd> Ops<S> {
    #[inline(always)]
    pub(super) fn splat(self, value: f32) -> S::f32s {
        self.0.splat_f32s(value)
    }

    #[inline(always)]
    pub(super) fn load(self, lanes: &[f32; LANES], part: usize) -> S::f32s {
        S::as_simd_f32s(lanes).0[part]
    }

    #[inline(always)]
    pub(super) fn store(self, lanes: &mut [f32; LANES], part: usize, value: S::f32s) {
        S::as_mut_simd_f32s(lanes).0[part] = value;
    }

    #[inline(always)]
    pub(super) fn lane(self, value: S::f32s, lane: usize) -> f32 {
        let values: &[f32] = bytemuck::cast_slice(std::slice::from_ref(&value));
        values[lane]
    }

    #[inline(always)]
    pub(super) fn set_lane(self, value: &mut S::f32s, lane: usize, entry: f32) {
        let values: &mut [f32] = bytemuck::cast_slice_mut(std::slice::from_mut(value));
        values[lane] = entry;
    }

    #[inline(always)]
    pub(super) fn add(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.add_f32s(a, b)
    }

    #[inline(always)]
    pub(super) fn sub(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.sub_f32s(a, b)
    }

    #[inline(always)]
    pub(super) fn mul(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.mul_f32s(a, b)
    }

    #[inline(always)]
    fn fma(self, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        self.0.mul_add_e_f32s(a, b, c)
    }

    #[inline(always)]
    pub(super) fn add3(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [self.add(a[0], b[0]), self.add(a[1], b[1]), self.add(a[2], b[2])]
    }

    #[inline(always)]
    pub(super) fn sub3(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [self.sub(a[0], b[0]), self.sub(a[1], b[1]), self.sub(a[2], b[2])]
    }

    #[inline(always)]
    fn dot(self, a: Vec3s<S>, b: Vec3s<S>) -> S::f32s {
        self.fma(a[0], b[0], self.fma(a[1], b[1], self.mul(a[2], b[2])))
    }

    #[inline(always)]
    fn cross(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        [
            self.sub(self.mul(a[1], b[2]), self.mul(a[2], b[1])),
            self.sub(self.mul(a[2], b[0]), self.mul(a[0], b[2])),
            self.sub(self.mul(a[0], b[1]), self.mul(a[1], b[0])),
        ]
    }

    #[inline(always)]
    pub(super) fn scaled(self, a: Vec3s<S>, s: S::f32s) -> Vec3s<S> {
        [self.mul(a[0], s), self.mul(a[1], s), self.mul(a[2], s)]
    }

    /// A B.
    #[inline(always)]
    pub(super) fn matmul(self, a: Mat3<S>, b: Mat3<S>) -> Mat3<S> {
        [self.combine(a, b[0]), self.combine(a, b[1]), self.combine(a, b[2])]
    }

    /// A v.
    #[inline(always)]
    fn combine(self, a: Mat3<S>, v: Vec3s<S>) -> Vec3s<S> {
        [
            self.fma(a[0][0], v[0], self.fma(a[1][0], v[1], self.mul(a[2][0], v[2]))),
            self.fma(a[0][1], v[0], self.fma(a[1][1], v[1], self.mul(a[2][1], v[2]))),
            self.fma(a[0][2], v[0], self.fma(a[1][2], v[1], self.mul(a[2][2], v[2]))),
        ]
    }

    /// A Bᵀ.
    #[inline(always)]
    pub(super) fn matmul_transposed(self, a: Mat3<S>, b: Mat3<S>) -> Mat3<S> {
        self.matmul(a, transposed(b))
    }

    /// Columns of the cofactor matrix: det(A) A⁻ᵀ.
    #[inline(always)]
    fn cofactors(self, a: Mat3<S>) -> Mat3<S> {
        [self.cross(a[1], a[2]), self.cross(a[2], a[0]), self.cross(a[0], a[1])]
    }

    #[inline(always)]
    fn norm2(self, a: Mat3<S>) -> S::f32s {
        self.0.add_f32s(self.dot(a[0], a[0]), self.0.add_f32s(self.dot(a[1], a[1]), self.dot(a[2], a[2])))
    }

    /// The rotation closest to each matrix, and whether some lane has none that could be trusted.
    ///
    /// The orthogonal polar factor Q by Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ while it is far off
    /// (Higham, "Computing the Polar Decomposition", 1986). Where F turns space inside out, det Q = −1 and the closest rotation is
    /// Q (I − 2 v vᵀ) with v the direction of the smallest singular value.
    #[inline(always)]
    pub(super) fn closest_rotation(self, f: Mat3<S>) -> (Mat3<S>, bool) {
        let simd = self.0;
        let mut x = self.polar(f);
        let mut determinant = self.dot(x[0], self.cross(x[1], x[2]));
        if simd.reduce_min_f32s(determinant) < 0.0 {
            x = self.reflected(f, x, determinant);
            determinant = self.dot(x[0], self.cross(x[1], x[2]));
        }
        // A rotation has determinant 1 and squared norm 3; rank-one and NaN matrices end elsewhere.
        let off =
            simd.add_f32s(simd.abs_f32s(self.sub(determinant, self.splat(1.0))), simd.abs_f32s(self.sub(self.norm2(x), self.splat(3.0))));
        let worst = simd.reduce_max_f32s(off);
        let sum = simd.reduce_sum_f32s(off);
        (x, worst > NOT_A_ROTATION || !sum.is_finite())
    }

    #[inline(always)]
    fn polar(self, f: Mat3<S>) -> Mat3<S> {
        let simd = self.0;
        let mut x = f;
        let tiny = self.splat(1e-30);
        let half = self.splat(0.5);
        let mut scaled = true;
        for _ in 0..MAX_STEPS {
            let cofactors = self.cofactors(x);
            let determinant = self.dot(x[0], cofactors[0]);
            // A flat matrix has determinant 0: its sign is then a matter of rounding, and both rotations are as close.
            let size = simd.max_f32s(simd.abs_f32s(determinant), tiny);
            let sign = simd.select_f32s(simd.less_than_f32s(determinant, self.splat(0.0)), self.splat(-0.5), half);
            let inverse = simd.div_f32s(sign, size);
            let (keep, add) = if scaled {
                let ratio = simd.div_f32s(simd.div_f32s(self.norm2(cofactors), size), self.mul(size, simd.max_f32s(self.norm2(x), tiny)));
                let gamma = simd.sqrt_f32s(simd.sqrt_f32s(simd.max_f32s(ratio, tiny)));
                (self.mul(half, gamma), simd.div_f32s(inverse, gamma))
            } else {
                (half, inverse)
            };
            let mut change = self.splat(0.0);
            let mut next = x;
            for column in 0..3 {
                for row in 0..3 {
                    next[column][row] = self.fma(keep, x[column][row], self.mul(add, cofactors[column][row]));
                    let step = self.sub(next[column][row], x[column][row]);
                    change = self.fma(step, step, change);
                }
            }
            x = next;
            let worst = simd.reduce_max_f32s(change);
            if worst < CONVERGED {
                break;
            }
            scaled = worst > 0.1;
        }
        x
    }

    /// Q (I − 2 v vᵀ) in the lanes with a negative determinant: v vᵀ is what repeated squaring leaves of the adjugate of H = Qᵀ F,
    /// whose largest eigenvalue belongs to the smallest of H.
    #[inline(always)]
    fn reflected(self, f: Mat3<S>, q: Mat3<S>, determinant: S::f32s) -> Mat3<S> {
        let simd = self.0;
        let h = self.matmul(transposed(q), f);
        let mut p = self.cofactors(h);
        for _ in 0..SQUARINGS {
            let trace = simd.add_f32s(p[0][0], simd.add_f32s(p[1][1], p[2][2]));
            let size = simd.max_f32s(simd.abs_f32s(trace), self.splat(1e-30));
            let scale = simd.div_f32s(self.splat(1.0), size);
            let unit = [self.scaled(p[0], scale), self.scaled(p[1], scale), self.scaled(p[2], scale)];
            p = self.matmul(unit, unit);
        }
        let trace = simd.add_f32s(p[0][0], simd.add_f32s(p[1][1], p[2][2]));
        let scale = simd.div_f32s(self.splat(-2.0), simd.max_f32s(trace, self.splat(1e-30)));
        let qp = self.matmul(q, p);
        let turned = simd.less_than_f32s(determinant, self.splat(0.0));
        let mut result = q;
        for column in 0..3 {
            for row in 0..3 {
                let mirrored = self.fma(qp[column][row], scale, q[column][row]);
                result[column][row] = simd.select_f32s(turned, mirrored, q[column][row]);
            }
        }
        result
    }
}

/// Whether a lane's matrix is a rotation to the accuracy that [`Ops::closest_rotation`] promises.
pub(super) fn is_rotation(matrix: &Matrix3<f64>) -> bool {
    let off = (matrix.determinant() - 1.0).abs() + (matrix.norm_squared() - 3.0).abs();
    off <= 0.5 * f64::from(NOT_A_ROTATION)
}

/// Loads nine consecutive lane arrays, column by column.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
pub(super) fn load_matrix<S: Simd>(ops: Ops<S>, lanes: &[[f32; LANES]], first: usize, part: usize) -> Mat3<S> {
    [load_vector(ops, lanes, first, part), load_vector(ops, lanes, first + 3, part), load_vector(ops, lanes, first + 6, part)]
}

/// Loads three consecutive lane arrays.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
pub(super) fn load_vector<S: Simd>(ops: Ops<S>, lanes: &[[f32; LANES]], first: usize, part: usize) -> Vec3s<S> {
    [ops.load(&lanes[first], part), ops.load(&lanes[first + 1], part), ops.load(&lanes[first + 2], part)]
}

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn transposed<F: Copy>(a: [[F; 3]; 3]) -> [[F; 3]; 3] {
    [[a[0][0], a[1][0], a[2][0]], [a[0][1], a[1][1], a[2][1]], [a[0][2], a[1][2], a[2][2]]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::closest_rotation;
    use pulp::{Arch, WithSimd};

    struct RotationsOf<'a>(&'a [[f32; LANES]; 9]);

    impl WithSimd for RotationsOf<'_> {
        type Output = ([[f32; LANES]; 9], bool);

        #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let ops = Ops(simd);
            let mut out = [[0.0; LANES]; 9];
            let mut any = false;
            for part in 0..LANES / S::F32_LANES {
                let (r, failed) = ops.closest_rotation(load_matrix(ops, self.0, 0, part));
                any |= failed;
                for column in 0..3 {
                    for row in 0..3 {
                        ops.store(&mut out[3 * column + row], part, r[column][row]);
                    }
                }
            }
            (out, any)
        }
    }

    /// Numbers in −1..=1.
    fn random_numbers() -> impl FnMut() -> f64 {
        let mut seed = 7_u64;
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / f64::from(1 << 24) * 2.0 - 1.0
        }
    }

    /// Random matrices of all sizes, half of them inside out: ‖F − R‖ is as small as with singular values.
    #[test]
    #[expect(clippy::needless_range_loop, reason = "a lane goes through nine arrays")]
    fn as_close_as_singular_values() {
        let mut random = random_numbers();
        for _ in 0..1000 {
            let mut lanes = [[0.0_f32; LANES]; 9];
            let mut matrices = Vec::new();
            for lane in 0..LANES {
                let stretch = 10.0_f64.powf(2.0 * random());
                let matrix = Matrix3::from_fn(|_, _| f64::from((random() * stretch) as f32));
                for (entry, value) in matrix.iter().enumerate() {
                    lanes[entry][lane] = *value as f32;
                }
                matrices.push(matrix);
            }
            let (out, failed) = Arch::new().dispatch(RotationsOf(&lanes));
            for (lane, matrix) in matrices.iter().enumerate() {
                let r = Matrix3::from_fn(|row, column| f64::from(out[3 * column + row][lane]));
                if failed && !is_rotation(&r) {
                    continue;
                }
                let (actual, best) = ((matrix - r).norm(), (matrix - closest_rotation(matrix)).norm());
                assert!(actual <= best * (1.0 + 1e-3) + 1e-4, "{matrix} {r} {actual} {best}");
            }
        }
    }

    #[test]
    fn hopeless_matrices_are_reported() {
        for hopeless in [Matrix3::zeros(), Matrix3::from_fn(|r, c| ((r + 1) * (c + 1)) as f64), Matrix3::repeat(f64::NAN)] {
            let mut lanes = [[0.0_f32; LANES]; 9];
            for (entry, value) in hopeless.iter().enumerate() {
                lanes[entry] = [*value as f32; LANES];
            }
            assert!(Arch::new().dispatch(RotationsOf(&lanes)).1);
        }
    }
}
