//! Small matrices with one matrix a lane, on whatever vector unit there is.

use nalgebra::Matrix3;
use pulp::Simd;

use super::local::LANES;

/// Three columns of three entries; each entry holds one value a lane.
pub(super) type Mat3<S> = [[<S as Simd>::f32s; 3]; 3];
type Vec3s<S> = [<S as Simd>::f32s; 3];

/// det F / ‖F‖³ from which on Newton's iteration is used; below it, and for inverted matrices, the exact way.
const EASY: f32 = 1e-3;
/// Newton steps at most; matrices that pass [`EASY`] need fewer.
const MAX_STEPS: usize = 12;
/// Squared Frobenius change below which the quadratic convergence of the step just taken has reached rounding.
const CONVERGED: f32 = 1e-5;

/// Vector instructions under short names.
#[derive(Clone, Copy)]
pub(super) struct Ops<S: Simd>(pub(super) S);

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
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
        std::array::from_fn(|c| self.0.add_f32s(a[c], b[c]))
    }

    #[inline(always)]
    pub(super) fn sub3(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        std::array::from_fn(|c| self.sub(a[c], b[c]))
    }

    #[inline(always)]
    fn dot(self, a: Vec3s<S>, b: Vec3s<S>) -> S::f32s {
        self.fma(a[0], b[0], self.fma(a[1], b[1], self.mul(a[2], b[2])))
    }

    #[inline(always)]
    fn cross(self, a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
        let entry = |i: usize, j: usize| self.sub(self.mul(a[i], b[j]), self.mul(a[j], b[i]));
        [entry(1, 2), entry(2, 0), entry(0, 1)]
    }

    /// A B.
    #[inline(always)]
    pub(super) fn matmul(self, a: Mat3<S>, b: Mat3<S>) -> Mat3<S> {
        std::array::from_fn(|column| {
            std::array::from_fn(|row| {
                let sum = self.mul(a[2][row], b[column][2]);
                self.fma(a[0][row], b[column][0], self.fma(a[1][row], b[column][1], sum))
            })
        })
    }

    /// A Bᵀ.
    #[inline(always)]
    pub(super) fn matmul_transposed(self, a: Mat3<S>, b: Mat3<S>) -> Mat3<S> {
        std::array::from_fn(|column| {
            std::array::from_fn(|row| {
                let sum = self.mul(a[2][row], b[2][column]);
                self.fma(a[0][row], b[0][column], self.fma(a[1][row], b[1][column], sum))
            })
        })
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

    /// The orthogonal polar factor by Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ while it is far off
    /// (Higham, "Computing the Polar Decomposition", 1986). True if some lane is flat or inverted: its value is then unusable.
    #[inline(always)]
    pub(super) fn polar(self, f: Mat3<S>) -> (Mat3<S>, bool) {
        let simd = self.0;
        let mut x = f;
        let mut cofactors = self.cofactors(x);
        let mut determinant = self.dot(x[0], cofactors[0]);
        let norm2 = self.norm2(x);
        let limit = self.mul(self.splat(EASY), self.mul(norm2, simd.sqrt_f32s(norm2)));
        let failed =
            simd.reduce_min_f32s(self.sub(determinant, limit)).is_nan() || simd.reduce_min_f32s(self.sub(determinant, limit)) <= 0.0;
        let tiny = self.splat(1e-30);
        let half = self.splat(0.5);
        let mut scaled = true;
        for _ in 0..MAX_STEPS {
            // Failed lanes must not slow the others down by NaN: keep their determinant away from 0.
            let safe = simd.max_f32s(simd.abs_f32s(determinant), tiny);
            let inverse = simd.div_f32s(half, safe);
            let (keep, add) = if scaled {
                let ratio = simd.div_f32s(self.norm2(cofactors), self.mul(self.mul(safe, safe), simd.max_f32s(self.norm2(x), tiny)));
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
            cofactors = self.cofactors(x);
            determinant = self.dot(x[0], cofactors[0]);
        }
        (x, failed)
    }
}

/// Loads nine consecutive lane arrays, column by column.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
pub(super) fn load_matrix<S: Simd>(ops: Ops<S>, lanes: &[[f32; LANES]], first: usize, part: usize) -> Mat3<S> {
    std::array::from_fn(|column| std::array::from_fn(|row| ops.load(&lanes[first + 3 * column + row], part)))
}

/// Whether Newton's iteration is good for a matrix; with a margin, so that rounding can't make two ways disagree.
pub(super) fn is_easy(matrix: &Matrix3<f64>) -> bool {
    matrix.determinant() > 1.01 * f64::from(EASY) * matrix.norm().powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::closest_rotation;
    use pulp::{Arch, WithSimd};

    struct PolarOf<'a>(&'a [[f32; LANES]; 9]);

    impl WithSimd for PolarOf<'_> {
        type Output = ([[f32; LANES]; 9], bool);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let ops = Ops(simd);
            let mut out = [[0.0; LANES]; 9];
            let mut any = false;
            for part in 0..LANES / S::F32_LANES {
                let (r, failed) = ops.polar(load_matrix(ops, self.0, 0, part));
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

    #[test]
    fn newton_agrees_with_singular_values() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / f64::from(1 << 24) * 2.0 - 1.0
        };
        let mut tested = 0;
        for _ in 0..400 {
            let mut lanes = [[0.0_f32; LANES]; 9];
            let mut matrices = Vec::new();
            for lane in 0..LANES {
                let matrix = loop {
                    let stretch = 10.0_f64.powf(2.0 * random());
                    let m = Matrix3::from_fn(|_, _| random() * stretch);
                    if is_easy(&m) {
                        break m;
                    }
                };
                for (entry, value) in matrix.iter().enumerate() {
                    lanes[entry][lane] = *value as f32;
                }
                matrices.push(matrix);
            }
            let (out, failed) = Arch::new().dispatch(PolarOf(&lanes));
            assert!(!failed);
            for (lane, matrix) in matrices.iter().enumerate() {
                let r = Matrix3::from_fn(|row, column| f64::from(out[3 * column + row][lane]));
                // The rotation of a matrix with σ₂ + σ₃ ≪ σ₁ is ill-conditioned in f32: error ~ ε σ₁ / (σ₂ + σ₃).
                let sigma = matrix.singular_values();
                let tolerance = 5e-5 + 2e-6 * sigma.max() / (sigma.sum() - sigma.max());
                assert!((r - closest_rotation(matrix)).norm() < tolerance, "{matrix} {r}");
                tested += 1;
            }
        }
        assert_eq!(tested, 400 * LANES);
    }
}
