//! Gather and scatter for AVX2 and AVX-512: points are gathered by 128-bit loads and transposes, which is several times faster
//! than hardware gathers, and nothing goes through memory a second time.
#![expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]

use std::any::Any;
use std::arch::x86_64::{__m128, __m256, __m512};

use pulp::x86::{V3, V4};
use pulp::{Simd, cast};

use super::{Indices, LANES, Padded, Slots};

/// The token for AVX-512 if `simd` is one.
#[inline(always)]
pub(crate) fn as_v4<S: Simd>(simd: S) -> Option<V4> {
    (&simd as &dyn Any).downcast_ref::<V4>().copied()
}

/// The token for AVX2 if `simd` is one.
#[inline(always)]
pub(crate) fn as_v3<S: Simd>(simd: S) -> Option<V3> {
    (&simd as &dyn Any).downcast_ref::<V3>().copied()
}

/// Between the vector types of a processor and those of the generic code.
pub(super) trait MapTo<U> {
    fn map_to(self) -> [U; 3];
}

impl<T: bytemuck::NoUninit, U: bytemuck::AnyBitPattern> MapTo<U> for [T; 3] {
    #[inline(always)]
    fn map_to(self) -> [U; 3] {
        [
            bytemuck::cast(self[0]),
            bytemuck::cast(self[1]),
            bytemuck::cast(self[2]),
        ]
    }
}

#[inline(always)]
fn quad(slots: &Slots, index: u16) -> __m128 {
    cast(slots[index as usize])
}

#[inline(always)]
pub(super) fn gather_v4(simd: V4, slots: &Slots, indices: &Indices) -> [__m512; 3] {
    let avx = simd.avx512f;
    let rows = [
        four(simd, slots, indices, 0),
        four(simd, slots, indices, 1),
        four(simd, slots, indices, 2),
        four(simd, slots, indices, 3),
    ];
    let low01 = avx._mm512_unpacklo_ps(rows[0], rows[1]);
    let low23 = avx._mm512_unpacklo_ps(rows[2], rows[3]);
    let high01 = avx._mm512_unpackhi_ps(rows[0], rows[1]);
    let high23 = avx._mm512_unpackhi_ps(rows[2], rows[3]);
    [
        cast(avx._mm512_unpacklo_pd(cast(low01), cast(low23))),
        cast(avx._mm512_unpackhi_pd(cast(low01), cast(low23))),
        cast(avx._mm512_unpacklo_pd(cast(high01), cast(high23))),
    ]
}

/// Points k, k + 4, k + 8, k + 12.
#[inline(always)]
fn four(simd: V4, slots: &Slots, indices: &Indices, k: usize) -> __m512 {
    let avx = simd.avx512f;
    let row = avx._mm512_castps128_ps512(quad(slots, indices[k]));
    let row = avx._mm512_insertf32x4::<1>(row, quad(slots, indices[k + 4]));
    let row = avx._mm512_insertf32x4::<2>(row, quad(slots, indices[k + 8]));
    avx._mm512_insertf32x4::<3>(row, quad(slots, indices[k + 12]))
}

#[inline(always)]
pub(super) fn scatter_add_v4(simd: V4, slots: &mut Slots, indices: &Indices, v: [__m512; 3]) {
    let avx = simd.avx512f;
    let zero = avx._mm512_setzero_ps();
    let (low, high) = (
        avx._mm512_unpacklo_ps(v[0], v[1]),
        avx._mm512_unpackhi_ps(v[0], v[1]),
    );
    let (low_z, high_z) = (
        avx._mm512_unpacklo_ps(v[2], zero),
        avx._mm512_unpackhi_ps(v[2], zero),
    );
    // Row k holds the vectors k, k + 4, k + 8, k + 12.
    let rows: [__m512; 4] = [
        cast(avx._mm512_unpacklo_pd(cast(low), cast(low_z))),
        cast(avx._mm512_unpackhi_pd(cast(low), cast(low_z))),
        cast(avx._mm512_unpacklo_pd(cast(high), cast(high_z))),
        cast(avx._mm512_unpackhi_pd(cast(high), cast(high_z))),
    ];
    for k in 0..4 {
        add(simd, slots, indices[k], avx._mm512_castps512_ps128(rows[k]));
        add(
            simd,
            slots,
            indices[k + 4],
            avx._mm512_extractf32x4_ps::<1>(rows[k]),
        );
        add(
            simd,
            slots,
            indices[k + 8],
            avx._mm512_extractf32x4_ps::<2>(rows[k]),
        );
        add(
            simd,
            slots,
            indices[k + 12],
            avx._mm512_extractf32x4_ps::<3>(rows[k]),
        );
    }
}

#[inline(always)]
fn add(simd: V4, slots: &mut Slots, index: u16, v: __m128) {
    let slot: &mut Padded = &mut slots[index as usize];
    *slot = cast(simd.sse._mm_add_ps(cast(*slot), v));
}

#[inline(always)]
pub(super) fn gather_v3(simd: V3, slots: &Slots, indices: &Indices, part: usize) -> [__m256; 3] {
    let avx = simd.avx;
    let indices = &indices.as_chunks::<{ LANES / 2 }>().0[part];
    let mut rows = [avx._mm256_setzero_ps(); 4];
    for (k, row) in rows.iter_mut().enumerate() {
        *row = avx._mm256_insertf128_ps::<1>(
            avx._mm256_castps128_ps256(quad(slots, indices[k])),
            quad(slots, indices[k + 4]),
        );
    }
    let low01 = avx._mm256_unpacklo_ps(rows[0], rows[1]);
    let low23 = avx._mm256_unpacklo_ps(rows[2], rows[3]);
    let high01 = avx._mm256_unpackhi_ps(rows[0], rows[1]);
    let high23 = avx._mm256_unpackhi_ps(rows[2], rows[3]);
    [
        cast(avx._mm256_unpacklo_pd(cast(low01), cast(low23))),
        cast(avx._mm256_unpackhi_pd(cast(low01), cast(low23))),
        cast(avx._mm256_unpacklo_pd(cast(high01), cast(high23))),
    ]
}

#[inline(always)]
pub(super) fn scatter_add_v3(
    simd: V3,
    slots: &mut Slots,
    indices: &Indices,
    part: usize,
    v: [__m256; 3],
) {
    let avx = simd.avx;
    let indices = &indices.as_chunks::<{ LANES / 2 }>().0[part];
    let zero = avx._mm256_setzero_ps();
    let (low, high) = (
        avx._mm256_unpacklo_ps(v[0], v[1]),
        avx._mm256_unpackhi_ps(v[0], v[1]),
    );
    let (low_z, high_z) = (
        avx._mm256_unpacklo_ps(v[2], zero),
        avx._mm256_unpackhi_ps(v[2], zero),
    );
    let rows: [__m256; 4] = [
        cast(avx._mm256_unpacklo_pd(cast(low), cast(low_z))),
        cast(avx._mm256_unpackhi_pd(cast(low), cast(low_z))),
        cast(avx._mm256_unpacklo_pd(cast(high), cast(high_z))),
        cast(avx._mm256_unpackhi_pd(cast(high), cast(high_z))),
    ];
    for k in 0..4 {
        let slot = &mut slots[indices[k] as usize];
        *slot = cast(
            simd.sse
                ._mm_add_ps(cast(*slot), avx._mm256_castps256_ps128(rows[k])),
        );
        let slot = &mut slots[indices[k + 4] as usize];
        *slot = cast(
            simd.sse
                ._mm_add_ps(cast(*slot), avx._mm256_extractf128_ps::<1>(rows[k])),
        );
    }
}
