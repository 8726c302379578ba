//! A quad in one register: group r of four lanes is slot r.

use std::arch::x86_64::{__m512, __m512i};

use pulp::cast;
use pulp::x86::V4;

use super::{AHEAD, Padded, Quad, Slots, SupernodeTiles, at, prefetch_tile, write_columns};

/// Lane indices that give group r the entry (r, c) of a tile.
const COLUMN: [[u32; 16]; 4] = [
    [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
    [4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7],
    [8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11],
    [
        12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15,
    ],
];

#[inline(always)]
fn column(simd: V4, tile: __m512, c: usize) -> __m512 {
    let index: __m512i = cast(COLUMN[c]);
    simd.avx512f._mm512_permutexvar_ps(index, tile)
}

#[inline(always)]
fn joined(simd: V4, a: Padded, b: Padded, c: Padded, d: Padded) -> __m512 {
    let avx = simd.avx512f;
    let row = avx._mm512_castps128_ps512(cast(a));
    let row = avx._mm512_insertf32x4::<1>(row, cast(b));
    let row = avx._mm512_insertf32x4::<2>(row, cast(c));
    avx._mm512_insertf32x4::<3>(row, cast(d))
}

#[inline(always)]
fn gather(simd: V4, b: &Slots, rows: &[u16; 4]) -> __m512 {
    joined(
        simd,
        b[rows[0] as usize],
        b[rows[1] as usize],
        b[rows[2] as usize],
        b[rows[3] as usize],
    )
}

#[inline(always)]
fn own_columns(simd: V4, b: &Slots, first: usize) -> __m512 {
    joined(
        simd,
        at(b, first),
        at(b, first + 1),
        at(b, first + 2),
        at(b, first + 3),
    )
}

#[inline(always)]
fn split(simd: V4, v: __m512) -> Quad {
    let avx = simd.avx512f;
    [
        cast(avx._mm512_castps512_ps128(v)),
        cast(avx._mm512_extractf32x4_ps::<1>(v)),
        cast(avx._mm512_extractf32x4_ps::<2>(v)),
        cast(avx._mm512_extractf32x4_ps::<3>(v)),
    ]
}

#[inline(always)]
fn spread(simd: V4, slot: Padded) -> __m512 {
    simd.avx512f._mm512_broadcast_f32x4(cast(slot))
}

#[inline(always)]
pub(super) fn forward(simd: V4, node: &SupernodeTiles<'_>, b: &mut Slots, scratch: &mut [Quad]) {
    if node.column_tiles == 1 {
        let x = spread_columns(simd, b, node.first);
        for (rows, tile) in node.rows.iter().zip(node.column(0).1) {
            prefetch_tile(simd, tile, AHEAD);
            let sum = multiply_add(simd, cast(tile.0), &x, gather(simd, b, rows));
            scatter(simd, b, rows, sum);
        }
        return;
    }
    let sums = &mut scratch[..node.rows.len()];
    for (sum, rows) in sums.iter_mut().zip(node.rows) {
        *sum = cast(gather(simd, b, rows));
    }
    for p in 0..node.column_tiles {
        let x = spread_columns(simd, b, node.first + 4 * p);
        for (sum, tile) in sums.iter_mut().zip(node.column(p).1) {
            prefetch_tile(simd, tile, AHEAD);
            *sum = cast(multiply_add(simd, cast(tile.0), &x, cast(*sum)));
        }
    }
    for (sum, rows) in sums.iter().zip(node.rows) {
        scatter(simd, b, rows, cast(*sum));
    }
}

#[inline(always)]
fn spread_columns(simd: V4, b: &Slots, k: usize) -> [__m512; 4] {
    [
        spread(simd, at(b, k)),
        spread(simd, at(b, k + 1)),
        spread(simd, at(b, k + 2)),
        spread(simd, at(b, k + 3)),
    ]
}

#[inline(always)]
fn multiply_add(simd: V4, tile: __m512, x: &[__m512; 4], sum: __m512) -> __m512 {
    let avx = simd.avx512f;
    let even = avx._mm512_fmadd_ps(column(simd, tile, 0), x[0], sum);
    let odd = avx._mm512_mul_ps(column(simd, tile, 1), x[1]);
    let even = avx._mm512_fmadd_ps(column(simd, tile, 2), x[2], even);
    let odd = avx._mm512_fmadd_ps(column(simd, tile, 3), x[3], odd);
    avx._mm512_add_ps(even, odd)
}

#[inline(always)]
fn scatter(simd: V4, b: &mut Slots, rows: &[u16; 4], values: __m512) {
    let values = split(simd, values);
    b[rows[0] as usize] = values[0];
    b[rows[1] as usize] = values[1];
    b[rows[2] as usize] = values[2];
    b[rows[3] as usize] = values[3];
}

#[inline(always)]
pub(super) fn backward(simd: V4, node: &SupernodeTiles<'_>, b: &mut Slots, scratch: &mut [Quad]) {
    let zero = simd.avx512f._mm512_setzero_ps();
    if node.column_tiles == 1 {
        let (diagonal, below) = node.column(0);
        let mut sums = [zero; 4];
        for (rows, tile) in node.rows.iter().zip(below).rev() {
            prefetch_tile(simd, tile, -AHEAD);
            sums = add_columns(simd, cast(tile.0), gather(simd, b, rows), sums);
        }
        prefetch_tile(simd, &diagonal[0], -AHEAD);
        sums = add_columns(
            simd,
            cast(diagonal[0].0),
            own_columns(simd, b, node.first),
            sums,
        );
        let sums = split(simd, over_groups(simd, sums));
        write_columns(b, node, 0, sums);
        return;
    }
    let (own, others) =
        scratch[..node.column_tiles + node.rows.len()].split_at_mut(node.column_tiles);
    for (p, quad) in own.iter_mut().enumerate() {
        *quad = cast(own_columns(simd, b, node.first + 4 * p));
    }
    for (quad, rows) in others.iter_mut().zip(node.rows) {
        *quad = cast(gather(simd, b, rows));
    }
    for p in (0..node.column_tiles).rev() {
        let (diagonal, below) = node.column(p);
        let mut sums = [zero; 4];
        for (tile, x) in below.iter().zip(&*others).rev() {
            prefetch_tile(simd, tile, -AHEAD);
            sums = add_columns(simd, cast(tile.0), cast(*x), sums);
        }
        for (tile, x) in diagonal.iter().zip(&*own).rev() {
            prefetch_tile(simd, tile, -AHEAD);
            sums = add_columns(simd, cast(tile.0), cast(*x), sums);
        }
        let sums = split(simd, over_groups(simd, sums));
        write_columns(b, node, p, sums);
    }
}

#[inline(always)]
fn add_columns(simd: V4, tile: __m512, x: __m512, sums: [__m512; 4]) -> [__m512; 4] {
    let avx = simd.avx512f;
    [
        avx._mm512_fmadd_ps(column(simd, tile, 0), x, sums[0]),
        avx._mm512_fmadd_ps(column(simd, tile, 1), x, sums[1]),
        avx._mm512_fmadd_ps(column(simd, tile, 2), x, sums[2]),
        avx._mm512_fmadd_ps(column(simd, tile, 3), x, sums[3]),
    ]
}

/// Group c of the result is the sum of the groups of `sums[c]`.
#[inline(always)]
fn over_groups(simd: V4, sums: [__m512; 4]) -> __m512 {
    let avx = simd.avx512f;
    let first = pair(simd, sums[0], sums[1]);
    let second = pair(simd, sums[2], sums[3]);
    avx._mm512_add_ps(
        avx._mm512_shuffle_f32x4::<0x88>(first, second),
        avx._mm512_shuffle_f32x4::<0xDD>(first, second),
    )
}

#[inline(always)]
fn pair(simd: V4, low: __m512, high: __m512) -> __m512 {
    let avx = simd.avx512f;
    avx._mm512_add_ps(
        avx._mm512_shuffle_f32x4::<0x44>(low, high),
        avx._mm512_shuffle_f32x4::<0xEE>(low, high),
    )
}
