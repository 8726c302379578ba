//! The numeric factor: block `LDLᵀ` in tiles, without triangular solves.
//!
//! faer factors A = L Lᵀ by supernodes in `f64`. For a supernode with the lower triangle L₁₁ on its columns c and L₂₁ on its rows R we
//! keep
//!
//! ```text
//!     B = L₂₁ L₁₁⁻¹,   D⁻¹ = (L₁₁ L₁₁ᵀ)⁻¹:    forward  b_R ← b_R − B b_c,    backward  x_c ← D⁻¹ b_c − Bᵀ x_R
//! ```
//!
//! in `f32`, so that all of a solve is multiplication of small dense blocks: nothing waits for a division or for the element before.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::{SymbolicCholeskyRaw, supernodal::SupernodalLltRef};
use faer::{MatRef, Par, Side, Spec};
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::FactorError;
use super::partition::{Partition, Supernode, Triangle};

/// Four by four values, column by column: one line of the cache.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Tile(pub(crate) [f32; 16]);

impl Tile {
    #[expect(clippy::inline_always, reason = "called in vector code")]
    #[inline(always)]
    pub(crate) fn columns(&self) -> &[[f32; 4]] {
        self.0.as_chunks::<4>().0
    }
}

/// The factor of one matrix: tiles of every subdomain, and of the top.
#[derive(Debug)]
pub(crate) struct TiledFactor {
    pub(crate) subdomains: Vec<Vec<Tile>>,
    pub(crate) top: Vec<Tile>,
}

impl TiledFactor {
    /// Factors the matrix with these values (in the order of [`super::pattern::Pattern`]).
    ///
    /// # Errors
    /// [`FactorError::Numeric`] if it is not positive definite.
    pub(crate) fn of(partition: &Partition, values: &[f64]) -> Result<Self, FactorError> {
        let unknowns = partition.unknowns();
        let refused = |reason: String| FactorError::Numeric { unknowns, reason };
        let symbolic = &partition.symbolic;
        let matrix = SparseColMatRef::new(partition.pattern.symbolic(), values);
        let mut lower = vec![0.0_f64; symbolic.len_val()];
        let mut memory = MemBuffer::new(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default()),
        );
        symbolic
            .factorize_numeric_llt(
                &mut lower,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|error| FactorError::not_positive_definite(error, symbolic))?;
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else {
            return Err(refused("no supernodes".to_owned()));
        };
        let lower = SupernodalLltRef::new(nodes, &lower);
        let tiles = |triangle: &Triangle| {
            tiles_of(triangle, |s| lower.supernode(s).val())
                .ok_or_else(|| refused("the factor is not finite".to_owned()))
        };
        let subdomains = partition
            .subdomains
            .par_iter()
            .map(|subdomain| tiles(&subdomain.triangle))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            subdomains,
            top: tiles(&partition.top_triangle)?,
        })
    }
}

/// All tiles of a triangle; `None` if a value is not finite.
fn tiles_of<'a>(
    triangle: &Triangle,
    lower: impl Fn(usize) -> MatRef<'a, f64>,
) -> Option<Vec<Tile>> {
    let mut tiles = Vec::with_capacity(triangle.tiles);
    for node in &triangle.supernodes {
        push_tiles(node, lower(node.source as usize), &mut tiles)?;
    }
    Some(tiles)
}

/// Tile column by tile column: first D⁻¹, then −B.
fn push_tiles(node: &Supernode, lower: MatRef<'_, f64>, tiles: &mut Vec<Tile>) -> Option<()> {
    let (columns, rows) = (node.columns as usize, node.row_count as usize);
    let l11 = DMatrix::from_fn(
        columns,
        columns,
        |r, c| if r >= c { lower[(r, c)] } else { 0.0 },
    );
    let inverse = l11.solve_lower_triangular(&DMatrix::identity(columns, columns))?;
    let d_inverse = inverse.tr_mul(&inverse);
    let b = DMatrix::from_fn(rows, columns, |r, c| lower[(columns + r, c)]) * &inverse;
    let column_tiles = node.column_tiles();
    for tile_column in 0..column_tiles {
        for tile_row in 0..column_tiles + node.row_tiles() {
            let mut tile = [0.0; 16];
            for (k, value) in tile.iter_mut().enumerate() {
                let (r, c) = (k % 4, 4 * tile_column + k / 4);
                let entry = if tile_row < column_tiles {
                    d_inverse.get((4 * tile_row + r, c)).copied()
                } else {
                    b.get((4 * (tile_row - column_tiles) + r, c)).map(|b| -b)
                };
                *value = entry.unwrap_or(0.0) as f32;
                if !value.is_finite() {
                    return None;
                }
            }
            tiles.push(Tile(tile));
        }
    }
    Some(())
}
