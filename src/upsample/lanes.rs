//! SIMD code that processes eight vertices at a time, for the available instruction set.
//!
//! Closures here must not call intrinsics: they would not be inlined into the function that enables
//! the instructions.

#[cfg(target_arch = "x86_64")]
use std::any::Any;

use pulp::Simd;

use super::frames::PaddedPoint;

/// Number of lanes.
pub(super) const LANES: usize = 8;
/// One number per lane.
pub(super) type Numbers = [f32; LANES];
/// One vector per lane, coordinate by coordinate.
pub(super) type Vectors = [Numbers; 3];

/// Vector instructions by short names.
#[derive(Clone, Copy)]
pub(super) struct VertexOps<S: Simd>(pub(super) S);

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
impl<S: Simd> VertexOps<S> {
    /// a b + c.
    #[inline(always)]
    pub(super) fn fma(self, a: Numbers, b: Numbers, c: Numbers) -> Numbers {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = as_v3(self.0) {
            return pulp::cast(
                v3.fma
                    ._mm256_fmadd_ps(pulp::cast(a), pulp::cast(b), pulp::cast(c)),
            );
        }
        each(|lane| a[lane] * b[lane] + c[lane])
    }

    /// a s + b.
    #[inline(always)]
    pub(super) fn fma3(self, a: Vectors, s: Numbers, b: Vectors) -> Vectors {
        [
            self.fma(a[0], s, b[0]),
            self.fma(a[1], s, b[1]),
            self.fma(a[2], s, b[2]),
        ]
    }

    /// Σ cₖ vₖ.
    #[inline(always)]
    pub(super) fn combine(self, v: &[Vectors; 3], c: [Numbers; 3]) -> Vectors {
        self.fma3(v[0], c[0], self.fma3(v[1], c[1], scaled(v[2], c[2])))
    }

    /// a b − c d.
    #[inline(always)]
    fn difference(self, a: Numbers, b: Numbers, c: Numbers, d: Numbers) -> Numbers {
        self.fma(a, b, each(|lane| -(c[lane] * d[lane])))
    }

    #[inline(always)]
    pub(super) fn cross(self, a: Vectors, b: Vectors) -> Vectors {
        [
            self.difference(a[1], b[2], a[2], b[1]),
            self.difference(a[2], b[0], a[0], b[2]),
            self.difference(a[0], b[1], a[1], b[0]),
        ]
    }

    #[inline(always)]
    pub(super) fn norm(self, a: Vectors) -> Numbers {
        let square = self.fma(
            a[0],
            a[0],
            self.fma(a[1], a[1], each(|lane| a[2][lane] * a[2][lane])),
        );
        each(|lane| square[lane].sqrt())
    }

    /// 16-bit integers converted to `f32`.
    #[inline(always)]
    pub(super) fn widened(self, a: [i16; LANES]) -> Numbers {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = as_v3(self.0) {
            return pulp::cast(
                v3.avx
                    ._mm256_cvtepi32_ps(v3.avx2._mm256_cvtepi16_epi32(pulp::cast(a))),
            );
        }
        each(|lane| f32::from(a[lane]))
    }

    /// Loads points, coordinate by coordinate.
    #[inline(always)]
    pub(super) fn gathered(self, slots: [PaddedPoint; LANES]) -> Vectors {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = as_v3(self.0) {
            let avx = v3.avx;
            let mut rows = [avx._mm256_setzero_ps(); 4];
            for (k, row) in rows.iter_mut().enumerate() {
                *row = avx._mm256_insertf128_ps::<1>(
                    avx._mm256_castps128_ps256(pulp::cast(slots[k])),
                    pulp::cast(slots[k + 4]),
                );
            }
            let [r0, r1, r2, r3] = rows;
            let (low01, low23) = (
                avx._mm256_unpacklo_ps(r0, r1),
                avx._mm256_unpacklo_ps(r2, r3),
            );
            let (high01, high23) = (
                avx._mm256_unpackhi_ps(r0, r1),
                avx._mm256_unpackhi_ps(r2, r3),
            );
            let x = avx._mm256_unpacklo_pd(pulp::cast(low01), pulp::cast(low23));
            let y = avx._mm256_unpackhi_pd(pulp::cast(low01), pulp::cast(low23));
            let z = avx._mm256_unpacklo_pd(pulp::cast(high01), pulp::cast(high23));
            return [pulp::cast(x), pulp::cast(y), pulp::cast(z)];
        }
        [
            each(|lane| slots[lane][0]),
            each(|lane| slots[lane][1]),
            each(|lane| slots[lane][2]),
        ]
    }

    /// Stores points.
    #[inline(always)]
    pub(super) fn scattered(self, v: Vectors) -> [PaddedPoint; LANES] {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = as_v3(self.0) {
            let avx = v3.avx;
            let zero = avx._mm256_setzero_ps();
            let (x, y, z) = (pulp::cast(v[0]), pulp::cast(v[1]), pulp::cast(v[2]));
            let (low, high) = (avx._mm256_unpacklo_ps(x, y), avx._mm256_unpackhi_ps(x, y));
            let (low_z, high_z) = (
                avx._mm256_unpacklo_ps(z, zero),
                avx._mm256_unpackhi_ps(z, zero),
            );
            let rows = [
                avx._mm256_unpacklo_pd(pulp::cast(low), pulp::cast(low_z)),
                avx._mm256_unpackhi_pd(pulp::cast(low), pulp::cast(low_z)),
                avx._mm256_unpacklo_pd(pulp::cast(high), pulp::cast(high_z)),
                avx._mm256_unpackhi_pd(pulp::cast(high), pulp::cast(high_z)),
            ];
            let mut slots = [[0.0; 4]; LANES];
            for (k, row) in rows.into_iter().enumerate() {
                slots[k] = pulp::cast(avx._mm256_castps256_ps128(pulp::cast(row)));
                slots[k + 4] = pulp::cast(avx._mm256_extractf128_ps::<1>(pulp::cast(row)));
            }
            return slots;
        }
        let mut slots = [[0.0; 4]; LANES];
        for (lane, slot) in slots.iter_mut().enumerate() {
            *slot = [v[0][lane], v[1][lane], v[2][lane], 0.0];
        }
        slots
    }
}

/// One number a lane.
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
pub(super) fn each(f: impl Fn(usize) -> f32) -> Numbers {
    let mut out = [0.0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = f(lane);
    }
    out
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
pub(super) fn scaled(a: Vectors, s: Numbers) -> Vectors {
    [
        each(|lane| a[0][lane] * s[lane]),
        each(|lane| a[1][lane] * s[lane]),
        each(|lane| a[2][lane] * s[lane]),
    ]
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
pub(super) fn plus(a: Vectors, b: Vectors) -> Vectors {
    [
        each(|lane| a[0][lane] + b[0][lane]),
        each(|lane| a[1][lane] + b[1][lane]),
        each(|lane| a[2][lane] + b[2][lane]),
    ]
}

#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
pub(super) fn minus(a: Vectors, b: Vectors) -> Vectors {
    [
        each(|lane| a[0][lane] - b[0][lane]),
        each(|lane| a[1][lane] - b[1][lane]),
        each(|lane| a[2][lane] - b[2][lane]),
    ]
}

/// The token for AVX2 and FMA if `simd` has them.
#[cfg(target_arch = "x86_64")]
#[expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]
#[inline(always)]
fn as_v3<S: Simd>(simd: S) -> Option<pulp::x86::V3> {
    let any = &simd as &dyn Any;
    match any.downcast_ref::<pulp::x86::V4>() {
        Some(v4) => Some(**v4),
        None => any.downcast_ref::<pulp::x86::V3>().copied(),
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    struct All;

    impl WithSimd for All {
        type Output = (Vec<Numbers>, [PaddedPoint; LANES]);

        #[expect(
            clippy::inline_always,
            reason = "vector code must be inlined into the function that enables the instructions"
        )]
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let ops = VertexOps(simd);
            let slot = |k: usize| [k as f32, 10.0 + k as f32 * k as f32, 1.5 - k as f32, 7.0];
            let a = ops.gathered(std::array::from_fn(slot));
            let b = ops.gathered(std::array::from_fn(|k| slot((3 * k) % LANES)));
            let whole = ops.widened([-3500, -2500, -1500, -500, 500, 1500, 2500, 32767]);
            let mut out = vec![ops.norm(a), whole, ops.fma(a[0], b[1], a[2])];
            out.extend(ops.cross(a, b));
            out.extend(ops.combine(&[a, b, a], [a[0], whole, b[2]]));
            out.extend(minus(a, b));
            (out, ops.scattered(b))
        }
    }

    #[test]
    fn every_instruction_set_matches_scalar_code() {
        let (expected, slots) = pulp::Simd::vectorize(pulp::Scalar::new(), All);
        let (found, there) = Arch::new().dispatch(All);
        assert!(slots.iter().flatten().eq(there.iter().flatten()));
        for (expected, found) in expected.iter().flatten().zip(found.iter().flatten()) {
            assert!(
                (expected - found).abs() <= 1e-6 * expected.abs().max(1.0),
                "{expected} {found}"
            );
        }
    }
}
