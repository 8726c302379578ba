//! The rotations closest to the deformation gradients of three tets, one prism a lane.
//!
//! The orthogonal polar factor by Newton's iteration X ← ½ (γ X + X⁻ᵀ/γ), scaled by γ² = ‖X⁻¹‖/‖X‖ where something is far off (Higham,
//! "Computing the Polar Decomposition", 1986). After the first step no singular value is below 1, so that the determinant bounds the
//! error: the iteration stops when it comes close to 1. The halving is put off to the end: X ← X + 4ᵏ X⁻ᵀ. Where F turns space inside
//! out, the closest rotation is Q (I − 2 v vᵀ) with v the direction of the smallest singular value.

use nalgebra::Matrix3;
use pulp::Simd;

use super::lanes::{Mat3, Ops, transposed};
use super::volume::{LONGEST, STEPS};
use crate::math::closest_rotation;

/// How far |det R − 1| + |‖R‖² − 3| may be from 0.
const NOT_A_ROTATION: f32 = 2e-3;
/// Squarings that make the direction of the smallest singular value stand out: a gap of 5 % becomes a factor of 500.
const SQUARINGS: usize = 7;
/// Newton steps at most; only matrices that are flat to rounding need so many.
const MAX_STEPS: usize = 14;
/// Squared determinants outside of this range need a scaled step.
const FAR: [f32; 2] = [0.16, 6.0];
/// A step that began with a squared determinant below this is the last: its error is then below 1e-6.
const CLOSE: f32 = 1.004;

/// Three rotations, to be multiplied by a power of two.
pub(super) struct Rotations<S: Simd> {
    pub(super) matrices: [Mat3<S>; 3],
    pub(super) scale: f32,
    /// Whether some lane may be no rotation: look at each.
    pub(super) doubtful: bool,
}

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
impl<S: Simd> Ops<S> {
    /// The rotations closest to the matrices of the three tets of a prism.
    #[inline(always)]
    pub(super) fn closest_rotations(self, f: &[Mat3<S>; 3]) -> Rotations<S> {
        // Written out, since loops over large arrays of vectors end as copies in memory.
        let c = [self.cofactors(f[0]), self.cofactors(f[1]), self.cofactors(f[2])];
        let d = [self.dot(f[0][0], c[0][0]), self.dot(f[1][0], c[1][0]), self.dot(f[2][0], c[2][0])];
        let (mut inside_out, mut far) = (false, false);
        for determinant in d {
            let squared = self.mul(determinant, determinant);
            inside_out |= self.any_less(determinant, self.splat(0.0));
            far |= self.any_less(squared, self.splat(FAR[0])) | self.any_less(self.splat(FAR[1]), squared);
        }
        let mut x = if far {
            [
                self.scaled_step(&f[0], &c[0], d[0], 1.0),
                self.scaled_step(&f[1], &c[1], d[1], 1.0),
                self.scaled_step(&f[2], &c[2], d[2], 1.0),
            ]
        } else {
            [self.step(&f[0], &c[0], d[0], 1.0), self.step(&f[1], &c[1], d[1], 1.0), self.step(&f[2], &c[2], d[2], 1.0)]
        };
        let (mut power4, mut power2) = (4.0_f32, 2.0_f32);
        let mut converged = false;
        for _ in 1..MAX_STEPS {
            let limit = self.splat(power4 * power4 * power4 * CLOSE);
            let rescale = far && power4 == 4.0;
            let mut more = false;
            for x in &mut x {
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
                converged = true;
                break;
            }
        }
        let mut rotations = Rotations { matrices: x, scale: 1.0 / power2, doubtful: !converged };
        if inside_out {
            self.turn_right_side_out(f, &d, &mut rotations);
        }
        rotations
    }

    /// X + 4ᵏ X⁻ᵀ.
    #[inline(always)]
    fn step(self, x: &Mat3<S>, cofactors: &Mat3<S>, determinant: S::f32s, power4: f32) -> Mat3<S> {
        let s = self.div(self.splat(power4), determinant);
        [self.fma3(cofactors[0], s, x[0]), self.fma3(cofactors[1], s, x[1]), self.fma3(cofactors[2], s, x[2])]
    }

    /// γ X + 4ᵏ X⁻ᵀ/γ with γ² = 2ᵏ·2ᵏ ‖X⁻¹‖/‖X‖.
    #[inline(always)]
    fn scaled_step(self, x: &Mat3<S>, cofactors: &Mat3<S>, determinant: S::f32s, power4: f32) -> Mat3<S> {
        let simd = self.0;
        let ratio = simd.sqrt_f32s(self.div(self.norm2(*cofactors), self.norm2(*x)));
        let gamma2 = self.div(self.mul(self.splat(power4), ratio), simd.abs_f32s(determinant));
        let gamma = simd.sqrt_f32s(gamma2);
        let s = self.div(self.splat(power4), self.mul(gamma, determinant));
        let (c, x) = (cofactors, x);
        [
            self.fma3(c[0], s, self.scaled(x[0], gamma)),
            self.fma3(c[1], s, self.scaled(x[1], gamma)),
            self.fma3(c[2], s, self.scaled(x[2], gamma)),
        ]
    }

    /// Matrices near `f` with determinant 1: see [`super::volume::project_volume`].
    #[inline(always)]
    pub(super) fn project_volume(self, f: &Mat3<S>) -> Mat3<S> {
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
    fn turn_right_side_out(self, f: &[Mat3<S>; 3], determinants: &[S::f32s; 3], rotations: &mut Rotations<S>) {
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
                let Self { f, determinants, rotations, ops } = self;
                let scale = ops.splat(rotations.scale);
                for tet in 0..3 {
                    let x = rotations.matrices[tet];
                    let q = [ops.scaled(x[0], scale), ops.scaled(x[1], scale), ops.scaled(x[2], scale)];
                    let r = ops.reflected(&f[tet], &q, determinants[tet]);
                    rotations.doubtful |= ops.any_not_rotation(&r);
                    rotations.matrices[tet] = r;
                }
                rotations.scale = 1.0;
            }
        }
        Simd::vectorize(self.0, Nullary(Turn { f, determinants, rotations, ops: self }));
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
            let unit = [self.scaled(p[0], scale), self.scaled(p[1], scale), self.scaled(p[2], scale)];
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
        let off = self.add(simd.abs_f32s(self.sub(determinant, self.splat(1.0))), simd.abs_f32s(self.sub(self.norm2(*r), self.splat(3.0))));
        self.any_not_less_or_equal(off, self.splat(NOT_A_ROTATION))
    }

    /// Replaces what came out as no rotation (tets squeezed flat or into a line) by exact ones.
    #[inline(never)]
    pub(super) fn mend(self, f: &[Mat3<S>; 3], rotations: &mut Rotations<S>) {
        let scale = f64::from(rotations.scale);
        for (f, matrix) in f.iter().zip(&mut rotations.matrices) {
            for lane in 0..S::F32_LANES {
                let of = |m: &Mat3<S>| Matrix3::from_fn(|row, column| f64::from(self.lane(m[column][row], lane)));
                if is_rotation(&(of(matrix) * scale)) {
                    continue;
                }
                let rotation = closest_rotation(&of(f)) / scale;
                for column in 0..3 {
                    for row in 0..3 {
                        self.set_lane(&mut matrix[column][row], lane, rotation[(row, column)] as f32);
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

    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
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
mod tests {
    use super::*;
    use crate::dynamics::lanes::{LANES, Lanes, load_matrix};
    use crate::dynamics::volume::project_volume;
    use pulp::{Arch, WithSimd};

    type Packed = [[Lanes; 9]; 3];

    /// Rotations, their scale, doubt, and matrices of determinant 1.
    struct Results {
        rotations: Packed,
        doubtful: bool,
        projected: Packed,
    }

    struct Of<'a>(&'a Packed);

    impl WithSimd for Of<'_> {
        type Output = Results;

        #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Results {
            let ops = Ops(simd);
            let empty = [[[0.0; LANES]; 9]; 3];
            let mut results = Results { rotations: empty, doubtful: false, projected: empty };
            for part in 0..LANES / S::F32_LANES {
                let f = [load_matrix(ops, &self.0[0], part), load_matrix(ops, &self.0[1], part), load_matrix(ops, &self.0[2], part)];
                let mut r = ops.closest_rotations(&f);
                results.doubtful |= r.doubtful;
                if r.doubtful {
                    ops.mend(&f, &mut r);
                }
                for (tet, f) in f.iter().enumerate() {
                    let v = ops.project_volume(f);
                    for entry in 0..9 {
                        let scaled = ops.mul(r.matrices[tet][entry / 3][entry % 3], ops.splat(r.scale));
                        ops.store(&mut results.rotations[tet][entry], part, scaled);
                        ops.store(&mut results.projected[tet][entry], part, v[entry / 3][entry % 3]);
                    }
                }
            }
            results
        }
    }

    /// The same on every vector unit that this machine has.
    fn everywhere(packed: &Packed) -> Vec<Results> {
        let mut results = vec![Arch::new().dispatch(Of(packed)), Simd::vectorize(pulp::Scalar::new(), Of(packed))];
        #[cfg(target_arch = "x86_64")]
        results.extend(pulp::x86::V3::try_new().map(|v3| Simd::vectorize(v3, Of(packed))));
        results
    }

    fn pack(matrices: &[Matrix3<f64>]) -> Packed {
        let mut packed = [[[0.0; LANES]; 9]; 3];
        for tet in 0..3 {
            for lane in 0..LANES {
                for (entry, value) in matrices[(tet * LANES + lane) % matrices.len()].iter().enumerate() {
                    packed[tet][entry][lane] = *value as f32;
                }
            }
        }
        packed
    }

    fn unpack(packed: &Packed, index: usize) -> Matrix3<f64> {
        let (tet, lane) = (index / LANES, index % LANES);
        Matrix3::from_fn(|row, column| f64::from(packed[tet][3 * column + row][lane]))
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
    fn as_close_as_singular_values() {
        let mut random = random_numbers();
        for round in 0..700 {
            let matrices: Vec<Matrix3<f64>> = (0..3 * LANES)
                .map(|_| {
                    // Near rotations, anything, and nearly flat.
                    let stretch = 10.0_f64.powf(2.0 * random());
                    let any = Matrix3::from_fn(|_, _| random() * stretch);
                    match round % 3 {
                        0 => any,
                        1 => closest_rotation(&any) + Matrix3::from_fn(|_, _| 0.05 * random()),
                        _ => any * Matrix3::from_diagonal(&nalgebra::Vector3::new(1.0, 1.0, 1e-4 * random())),
                    }
                })
                .collect();
            for results in everywhere(&pack(&matrices)) {
                for (index, matrix) in matrices.iter().enumerate() {
                    let r = unpack(&results.rotations, index);
                    assert!((r.determinant() - 1.0).abs() < 5e-3, "{matrix} {r}");
                    let (actual, best) = ((matrix - r).norm(), (matrix - closest_rotation(matrix)).norm());
                    let tolerance = if round % 3 == 1 { 2e-5 } else { 1e-3 * best + 1e-4 };
                    assert!(actual <= best + tolerance, "{matrix} {r} {actual} {best}");
                }
            }
        }
    }

    /// Zero, rank one and NaN are noticed, and end as rotations all the same.
    #[test]
    fn hopeless_matrices_are_mended() {
        for hopeless in [Matrix3::zeros(), Matrix3::from_fn(|r, c| ((r + 1) * (c + 1)) as f64), Matrix3::repeat(f64::NAN)] {
            for results in everywhere(&pack(&[hopeless])) {
                assert!(results.doubtful);
                assert!(is_rotation(&unpack(&results.rotations, 5)), "{}", unpack(&results.rotations, 5));
            }
        }
    }

    #[test]
    fn volume_as_in_f64() {
        let mut random = random_numbers();
        for _ in 0..100 {
            let matrices: Vec<Matrix3<f64>> =
                (0..3 * LANES).map(|_| Matrix3::identity() + Matrix3::from_fn(|_, _| 0.6 * random())).collect();
            for results in everywhere(&pack(&matrices)) {
                for (index, matrix) in matrices.iter().enumerate() {
                    let (actual, expected) = (unpack(&results.projected, index), project_volume(&matrix.map(|e| f64::from(e as f32))));
                    assert!((actual - expected).norm() < 1e-3, "{matrix} {actual} {expected}");
                }
            }
        }
    }
}
