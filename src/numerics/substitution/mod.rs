//! Forward and backward substitution with the tiles of [`super::tiles`], x, y and z together.
//!
//! Tiles are read in the order of memory, ascending in the forward and descending in the backward substitution, and prefetched: large
//! systems exceed all caches, and hardware prefetchers do not follow the jumps between supernodes.

#![expect(
    clippy::inline_always,
    reason = "vector code must be inlined into the function that enables the instructions"
)]

#[cfg(target_arch = "x86_64")]
mod avx512;

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{Padded, SLOTS, Slots, prefetch};
#[cfg(target_arch = "x86_64")]
use super::lanes::{as_v3, as_v4};
use super::partition::{Supernode, Triangle};
use super::tiles::Tile;

/// Prefetch distance in tiles: longer than the latency of memory.
const AHEAD: isize = 64;

/// Four slots, as one register or four.
type Quad = [Padded; 4];

/// Room for the columns and rows of one supernode.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch(Vec<Quad>);

impl Scratch {
    /// Room for the largest supernode of a triangle.
    pub(crate) fn for_triangle(triangle: &Triangle) -> Self {
        let quads = triangle
            .supernodes
            .iter()
            .map(|node| node.column_tiles() + node.row_tiles())
            .max()
            .unwrap_or(0);
        Self(vec![[[0.0; 4]; 4]; quads])
    }
}

/// `b_R ← b_R − B b_c` for every supernode, or only for some, children first.
pub(crate) fn forward(
    triangle: &Triangle,
    tiles: &[Tile],
    only: Option<&[u32]>,
    b: &mut Slots,
    scratch: &mut Scratch,
) {
    Arch::new().dispatch(Forward(Sweep {
        triangle,
        tiles,
        only,
        b,
        scratch: &mut scratch.0,
    }));
}

/// `x_c ← D⁻¹ b_c − Bᵀ x_R` for every supernode, or only for some, parents first.
pub(crate) fn backward(
    triangle: &Triangle,
    tiles: &[Tile],
    only: Option<&[u32]>,
    b: &mut Slots,
    scratch: &mut Scratch,
) {
    Arch::new().dispatch(Backward(Sweep {
        triangle,
        tiles,
        only,
        b,
        scratch: &mut scratch.0,
    }));
}

/// Slot numbers are below [`SLOTS`] by construction; the mask removes the bounds check.
#[inline(always)]
fn at(slots: &Slots, index: usize) -> Padded {
    slots[index & (SLOTS - 1)]
}

/// Arguments of a substitution.
struct Sweep<'a> {
    triangle: &'a Triangle,
    tiles: &'a [Tile],
    /// Indices of the supernodes, ascending; `None` for all.
    only: Option<&'a [u32]>,
    b: &'a mut Slots,
    scratch: &'a mut [Quad],
}

struct Forward<'a>(Sweep<'a>);

struct Backward<'a>(Sweep<'a>);

impl<'a> Sweep<'a> {
    /// Number of supernodes.
    #[inline(always)]
    fn len(&self) -> usize {
        self.only
            .map_or(self.triangle.supernodes.len(), <[u32]>::len)
    }

    /// The k-th supernode.
    #[inline(always)]
    fn node(&self, k: usize) -> SupernodeTiles<'a> {
        let node = &self.triangle.supernodes[self.only.map_or(k, |only| only[k] as usize)];
        SupernodeTiles::new(node, self.triangle, self.tiles)
    }
}

/// A supernode with its own rows and tiles.
struct SupernodeTiles<'a> {
    first: usize,
    columns: usize,
    column_tiles: usize,
    rows: &'a [[u16; 4]],
    tiles: &'a [Tile],
}

impl<'a> SupernodeTiles<'a> {
    #[inline(always)]
    fn new(node: &Supernode, triangle: &'a Triangle, tiles: &'a [Tile]) -> Self {
        let (columns, rows) = (node.column_tiles(), node.row_tiles());
        Self {
            first: node.first as usize,
            columns: node.columns as usize,
            column_tiles: columns,
            rows: triangle.rows[node.rows as usize..][..4 * rows]
                .as_chunks::<4>()
                .0,
            tiles: &tiles[node.tiles as usize..][..columns * (columns + rows)],
        }
    }

    /// Tiles of D⁻¹ and of −B in tile column p.
    #[inline(always)]
    fn column(&self, p: usize) -> (&'a [Tile], &'a [Tile]) {
        let length = self.column_tiles + self.rows.len();
        self.tiles[p * length..][..length].split_at(self.column_tiles)
    }
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(sweep) = self;
        for k in 0..sweep.len() {
            let node = sweep.node(k);
            #[cfg(target_arch = "x86_64")]
            if let Some(v4) = as_v4(simd) {
                avx512::forward(v4, &node, sweep.b, sweep.scratch);
                continue;
            }
            let sums = &mut sweep.scratch[..node.rows.len()];
            for (sum, rows) in sums.iter_mut().zip(node.rows) {
                *sum = gather(sweep.b, rows);
            }
            for p in 0..node.column_tiles {
                for (sum, tile) in sums.iter_mut().zip(node.column(p).1) {
                    prefetch_tile(simd, tile, AHEAD);
                    for (c, column) in tile.columns().iter().enumerate() {
                        let x = at(sweep.b, node.first + 4 * p + c);
                        for (sum, entry) in sum.iter_mut().zip(column) {
                            *sum = fma(simd, *entry, x, *sum);
                        }
                    }
                }
            }
            for (sum, rows) in sums.iter().zip(node.rows) {
                for (row, value) in rows.iter().zip(sum) {
                    sweep.b[*row as usize] = *value;
                }
            }
        }
    }
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(sweep) = self;
        for k in (0..sweep.len()).rev() {
            let node = sweep.node(k);
            #[cfg(target_arch = "x86_64")]
            if let Some(v4) = as_v4(simd) {
                avx512::backward(v4, &node, sweep.b, sweep.scratch);
                continue;
            }
            let (own, others) = sweep.scratch[..node.column_tiles + node.rows.len()]
                .split_at_mut(node.column_tiles);
            for (p, quad) in own.iter_mut().enumerate() {
                let k = node.first + 4 * p;
                *quad = [
                    at(sweep.b, k),
                    at(sweep.b, k + 1),
                    at(sweep.b, k + 2),
                    at(sweep.b, k + 3),
                ];
            }
            for (quad, rows) in others.iter_mut().zip(node.rows) {
                *quad = gather(sweep.b, rows);
            }
            for p in (0..node.column_tiles).rev() {
                let (diagonal, below) = node.column(p);
                let mut sums = [[0.0; 4]; 4];
                add_columns(simd, below, others, &mut sums);
                add_columns(simd, diagonal, own, &mut sums);
                write_columns(sweep.b, &node, p, sums);
            }
        }
    }
}

/// The columns of tile p; the last tile may have fewer than four.
#[inline(always)]
fn write_columns(b: &mut Slots, node: &SupernodeTiles<'_>, p: usize, values: Quad) {
    let left = node.columns - 4 * p;
    for (c, value) in values.into_iter().enumerate() {
        if c < left {
            b[(node.first + 4 * p + c) & (SLOTS - 1)] = value;
        }
    }
}

#[inline(always)]
fn gather(slots: &Slots, rows: &[u16; 4]) -> Quad {
    [
        slots[rows[0] as usize],
        slots[rows[1] as usize],
        slots[rows[2] as usize],
        slots[rows[3] as usize],
    ]
}

/// Adds Σᵢ Tᵢᵀ xᵢ, last tile first, because memory is read backwards.
#[inline(always)]
fn add_columns<S: Simd>(simd: S, tiles: &[Tile], known: &[Quad], sums: &mut Quad) {
    for (tile, x) in tiles.iter().zip(known).rev() {
        prefetch_tile(simd, tile, -AHEAD);
        for (sum, column) in sums.iter_mut().zip(tile.columns()) {
            for (entry, x) in column.iter().zip(x) {
                *sum = fma(simd, *entry, *x, *sum);
            }
        }
    }
}

/// Prefetches the tile this many tiles ahead.
#[inline(always)]
fn prefetch_tile<S: Simd>(simd: S, tile: &Tile, ahead: isize) {
    prefetch(simd, std::ptr::from_ref(tile).wrapping_offset(ahead));
}

/// t x + a.
#[inline(always)]
fn fma<S: Simd>(simd: S, t: f32, x: Padded, a: Padded) -> Padded {
    #[cfg(target_arch = "x86_64")]
    if let Some(v3) = as_v3(simd) {
        return pulp::cast(v3.fma._mm_fmadd_ps(
            v3.sse._mm_set1_ps(t),
            pulp::cast(x),
            pulp::cast(a),
        ));
    }
    let _ = simd;
    [
        a[0] + t * x[0],
        a[1] + t * x[1],
        a[2] + t * x[2],
        a[3] + t * x[3],
    ]
}

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::super::lanes::zeroed_slots;
    use super::super::partition::Partition;
    use super::super::tiles::TiledFactor;
    use super::super::window::tests::{grid, values};
    use super::*;

    /// Solves with the instructions that `vectorize` is for.
    fn solved(
        partition: &Partition,
        factor: &TiledFactor,
        vectorize: impl Fn(Forward<'_>),
        back: impl Fn(Backward<'_>),
    ) -> Vec<Padded> {
        let (triangle, tiles) = (&partition.subdomains[0].triangle, &factor.subdomains[0][..]);
        let count = partition.subdomains[0].unknowns.len();
        let mut b = zeroed_slots();
        for (k, slot) in b[..count].iter_mut().enumerate() {
            *slot = [(k as f32).sin(), 1.0, (k as f32 * 0.1).cos(), 0.0];
        }
        let mut scratch = Scratch::for_triangle(triangle);
        let mut sweep = |b: &mut Slots, run: &dyn Fn(Sweep<'_>)| {
            run(Sweep {
                triangle,
                tiles,
                only: None,
                b,
                scratch: &mut scratch.0,
            });
        };
        sweep(&mut b, &|sweep| vectorize(Forward(sweep)));
        sweep(&mut b, &|sweep| back(Backward(sweep)));
        b[..count].to_vec()
    }

    #[test]
    fn all_instruction_sets_solve_equally() {
        let partition = Partition::analyse(&grid(30), 900, &|_| 0).expect("a mesh");
        let factor = TiledFactor::of(&partition, &values(&partition)).expect("positive definite");
        let scalar = solved(
            &partition,
            &factor,
            |f| f.with_simd(Scalar),
            |b| b.with_simd(Scalar),
        );
        let chosen = solved(
            &partition,
            &factor,
            |f| Arch::new().dispatch(f),
            |b| Arch::new().dispatch(b),
        );
        let mut all = vec![chosen];
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            all.push(solved(
                &partition,
                &factor,
                |f| Simd::vectorize(v3, f),
                |b| Simd::vectorize(v3, b),
            ));
        }
        for solution in all {
            for (a, b) in solution.iter().flatten().zip(scalar.iter().flatten()) {
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
    }
}
