//! Forward and backward substitution with the tiles of [`super::factor`], x, y and z together.

use pulp::{Arch, Simd, WithSimd};

use super::factor::Tile;
use super::lanes::{SLOTS, Slot, Slots, prefetch};
#[cfg(target_arch = "x86_64")]
use super::lanes::{as_v3, as_v4};
use super::structure::{Supernode, Triangle};

/// How far ahead, in tiles, memory is asked for: what is worked on meanwhile takes longer than memory does.
const AHEAD: isize = 64;

/// Four slots, as one register or four.
type Quad = [Slot; 4];

/// Room for the columns and rows of one supernode.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch(Vec<Quad>);

impl Scratch {
    /// Room for the largest supernode of a triangle.
    pub(super) fn for_triangle(triangle: &Triangle) -> Self {
        let quads = triangle.supernodes.iter().map(|node| node.column_tiles() + node.row_tiles()).max().unwrap_or(0);
        Self(vec![[[0.0; 4]; 4]; quads])
    }
}

/// `b_R ← b_R − B b_c` for every supernode, or only for some, children first.
pub(super) fn forward(triangle: &Triangle, tiles: &[Tile], only: Option<&[u32]>, b: &mut Slots, scratch: &mut Scratch) {
    Arch::new().dispatch(Forward { triangle, tiles, only, b, scratch: &mut scratch.0 });
}

/// `x_c ← D⁻¹ b_c − Bᵀ x_R` for every supernode, or only for some, parents first.
pub(super) fn backward(triangle: &Triangle, tiles: &[Tile], only: Option<&[u32]>, b: &mut Slots, scratch: &mut Scratch) {
    Arch::new().dispatch(Backward { triangle, tiles, only, b, scratch: &mut scratch.0 });
}

/// Slot numbers are below [`SLOTS`] by construction; saying so spares the check.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn at(slots: &Slots, index: usize) -> Slot {
    slots[index & (SLOTS - 1)]
}

struct Forward<'a> {
    triangle: &'a Triangle,
    tiles: &'a [Tile],
    /// Numbers of the supernodes, ascending; all without.
    only: Option<&'a [u32]>,
    b: &'a mut Slots,
    scratch: &'a mut [Quad],
}

struct Backward<'a> {
    triangle: &'a Triangle,
    tiles: &'a [Tile],
    /// Numbers of the supernodes, ascending; all without.
    only: Option<&'a [u32]>,
    b: &'a mut Slots,
    scratch: &'a mut [Quad],
}

/// A supernode with its own rows and tiles.
struct Node<'a> {
    first: usize,
    columns: usize,
    column_tiles: usize,
    rows: &'a [[u16; 4]],
    tiles: &'a [Tile],
}

impl<'a> Node<'a> {
    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    fn new(node: &Supernode, triangle: &'a Triangle, tiles: &'a [Tile]) -> Self {
        let (columns, rows) = (node.column_tiles(), node.row_tiles());
        Self {
            first: node.first as usize,
            columns: node.columns as usize,
            column_tiles: columns,
            rows: triangle.rows[node.rows as usize..][..4 * rows].as_chunks::<4>().0,
            tiles: &tiles[node.tiles as usize..][..columns * (columns + rows)],
        }
    }

    /// Tiles of D⁻¹ and of −B in tile column p.
    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    fn column(&self, p: usize) -> (&'a [Tile], &'a [Tile]) {
        let length = self.column_tiles + self.rows.len();
        self.tiles[p * length..][..length].split_at(self.column_tiles)
    }
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let count = self.only.map_or(self.triangle.supernodes.len(), <[u32]>::len);
        for k in 0..count {
            let node = &self.triangle.supernodes[self.only.map_or(k, |only| only[k] as usize)];
            let node = Node::new(node, self.triangle, self.tiles);
            #[cfg(target_arch = "x86_64")]
            if let Some(v4) = as_v4(simd) {
                x86::forward(v4, &node, self.b, self.scratch);
                continue;
            }
            let sums = &mut self.scratch[..node.rows.len()];
            for (sum, rows) in sums.iter_mut().zip(node.rows) {
                *sum = gather(self.b, rows);
            }
            for p in 0..node.column_tiles {
                for (sum, tile) in sums.iter_mut().zip(node.column(p).1) {
                    ask_for(simd, tile, AHEAD);
                    for c in 0..4 {
                        let x = at(self.b, node.first + 4 * p + c);
                        for r in 0..4 {
                            sum[r] = fma(simd, tile.0[4 * c + r], x, sum[r]);
                        }
                    }
                }
            }
            for (sum, rows) in sums.iter().zip(node.rows) {
                for (row, value) in rows.iter().zip(sum) {
                    self.b[*row as usize] = *value;
                }
            }
        }
    }
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let count = self.only.map_or(self.triangle.supernodes.len(), <[u32]>::len);
        for k in (0..count).rev() {
            let node = &self.triangle.supernodes[self.only.map_or(k, |only| only[k] as usize)];
            let node = Node::new(node, self.triangle, self.tiles);
            #[cfg(target_arch = "x86_64")]
            if let Some(v4) = as_v4(simd) {
                x86::backward(v4, &node, self.b, self.scratch);
                continue;
            }
            let (own, others) = self.scratch[..node.column_tiles + node.rows.len()].split_at_mut(node.column_tiles);
            for (p, quad) in own.iter_mut().enumerate() {
                let k = node.first + 4 * p;
                *quad = [at(self.b, k), at(self.b, k + 1), at(self.b, k + 2), at(self.b, k + 3)];
            }
            for (quad, rows) in others.iter_mut().zip(node.rows) {
                *quad = gather(self.b, rows);
            }
            for p in (0..node.column_tiles).rev() {
                let (diagonal, below) = node.column(p);
                let mut sums = [[0.0; 4]; 4];
                add_columns(simd, below, others, &mut sums);
                add_columns(simd, diagonal, own, &mut sums);
                write_columns(self.b, &node, p, sums);
            }
        }
    }
}

/// The columns of tile p, which may be fewer than four.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn write_columns(b: &mut Slots, node: &Node<'_>, p: usize, values: Quad) {
    let left = node.columns - 4 * p;
    for (c, value) in values.into_iter().enumerate() {
        if c < left {
            b[(node.first + 4 * p + c) & (SLOTS - 1)] = value;
        }
    }
}

#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn gather(slots: &Slots, rows: &[u16; 4]) -> Quad {
    [slots[rows[0] as usize], slots[rows[1] as usize], slots[rows[2] as usize], slots[rows[3] as usize]]
}

/// Adds Σᵢ Tᵢᵀ xᵢ, the last first: memory is read towards its beginning.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn add_columns<S: Simd>(simd: S, tiles: &[Tile], known: &[Quad], sums: &mut Quad) {
    for (tile, x) in tiles.iter().zip(known).rev() {
        ask_for(simd, tile, -AHEAD);
        for c in 0..4 {
            for r in 0..4 {
                sums[c] = fma(simd, tile.0[4 * c + r], x[r], sums[c]);
            }
        }
    }
}

/// Asks for the tile so many tiles ahead.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn ask_for<S: Simd>(simd: S, tile: &Tile, ahead: isize) {
    prefetch(simd, std::ptr::from_ref(tile).wrapping_offset(ahead));
}

/// t x + a.
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
#[inline(always)]
fn fma<S: Simd>(simd: S, t: f32, x: Slot, a: Slot) -> Slot {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = as_v3(simd) {
        return pulp::cast(v3.fma._mm_fmadd_ps(v3.sse._mm_set1_ps(t), pulp::cast(x), pulp::cast(a)));
    }
    let _ = simd;
    [a[0] + t * x[0], a[1] + t * x[1], a[2] + t * x[2], a[3] + t * x[3]]
}

/// A quad in one register: group r of four lanes is slot r.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::inline_always, reason = "vector code must be inlined into the function that enables the instructions")]
mod x86 {
    use std::arch::x86_64::{__m512, __m512i};

    use pulp::cast;
    use pulp::x86::V4;

    use super::{AHEAD, Node, Quad, Slot, Slots, ask_for, at, write_columns};

    /// Lane indices that give group r the entry (r, c) of a tile.
    const COLUMN: [[u32; 16]; 4] = [
        [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
        [4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7],
        [8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11],
        [12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15],
    ];

    #[inline(always)]
    fn column(simd: V4, tile: __m512, c: usize) -> __m512 {
        let index: __m512i = cast(COLUMN[c]);
        simd.avx512f._mm512_permutexvar_ps(index, tile)
    }

    #[inline(always)]
    fn joined(simd: V4, a: Slot, b: Slot, c: Slot, d: Slot) -> __m512 {
        let avx = simd.avx512f;
        let row = avx._mm512_castps128_ps512(cast(a));
        let row = avx._mm512_insertf32x4::<1>(row, cast(b));
        let row = avx._mm512_insertf32x4::<2>(row, cast(c));
        avx._mm512_insertf32x4::<3>(row, cast(d))
    }

    #[inline(always)]
    fn gather(simd: V4, b: &Slots, rows: &[u16; 4]) -> __m512 {
        joined(simd, b[rows[0] as usize], b[rows[1] as usize], b[rows[2] as usize], b[rows[3] as usize])
    }

    #[inline(always)]
    fn own_columns(simd: V4, b: &Slots, first: usize) -> __m512 {
        joined(simd, at(b, first), at(b, first + 1), at(b, first + 2), at(b, first + 3))
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
    fn spread(simd: V4, slot: Slot) -> __m512 {
        simd.avx512f._mm512_broadcast_f32x4(cast(slot))
    }

    #[inline(always)]
    pub(super) fn forward(simd: V4, node: &Node<'_>, b: &mut Slots, scratch: &mut [Quad]) {
        if node.column_tiles == 1 {
            let x = spread_columns(simd, b, node.first);
            for (rows, tile) in node.rows.iter().zip(node.column(0).1) {
                ask_for(simd, tile, AHEAD);
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
                ask_for(simd, tile, AHEAD);
                *sum = cast(multiply_add(simd, cast(tile.0), &x, cast(*sum)));
            }
        }
        for (sum, rows) in sums.iter().zip(node.rows) {
            scatter(simd, b, rows, cast(*sum));
        }
    }

    #[inline(always)]
    fn spread_columns(simd: V4, b: &Slots, k: usize) -> [__m512; 4] {
        [spread(simd, at(b, k)), spread(simd, at(b, k + 1)), spread(simd, at(b, k + 2)), spread(simd, at(b, k + 3))]
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
    pub(super) fn backward(simd: V4, node: &Node<'_>, b: &mut Slots, scratch: &mut [Quad]) {
        let zero = simd.avx512f._mm512_setzero_ps();
        if node.column_tiles == 1 {
            let (diagonal, below) = node.column(0);
            let mut sums = [zero; 4];
            for (rows, tile) in node.rows.iter().zip(below).rev() {
                ask_for(simd, tile, -AHEAD);
                sums = add_columns(simd, cast(tile.0), gather(simd, b, rows), sums);
            }
            ask_for(simd, &diagonal[0], -AHEAD);
            sums = add_columns(simd, cast(diagonal[0].0), own_columns(simd, b, node.first), sums);
            let sums = split(simd, over_groups(simd, sums));
            write_columns(b, node, 0, sums);
            return;
        }
        let (own, others) = scratch[..node.column_tiles + node.rows.len()].split_at_mut(node.column_tiles);
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
                ask_for(simd, tile, -AHEAD);
                sums = add_columns(simd, cast(tile.0), cast(*x), sums);
            }
            for (tile, x) in diagonal.iter().zip(&*own).rev() {
                ask_for(simd, tile, -AHEAD);
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
        avx._mm512_add_ps(avx._mm512_shuffle_f32x4::<0x88>(first, second), avx._mm512_shuffle_f32x4::<0xDD>(first, second))
    }

    #[inline(always)]
    fn pair(simd: V4, low: __m512, high: __m512) -> __m512 {
        let avx = simd.avx512f;
        avx._mm512_add_ps(avx._mm512_shuffle_f32x4::<0x44>(low, high), avx._mm512_shuffle_f32x4::<0xEE>(low, high))
    }
}
