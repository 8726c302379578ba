//! Memory traffic and arithmetic of a local/global iteration, to compare measured times with the limits of the machine.

use super::System;
use super::local::{BLOCK_BYTES, CHAIN_FLOPS};
use crate::numerics::lanes::{LANES, Padded};
use crate::numerics::partition::Triangle;
use crate::numerics::tiles::Tile;

/// Bytes and floating-point operations of one iteration, without cache effects.
///
/// Bytes are the sizes of the arrays read and written, each counted once per pass over it. Operations are those on useful `f32`
/// numbers; a fused multiply-add counts as two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Work {
    /// Bytes that the local step reads and writes, including its part of the right-hand side.
    pub local_bytes: u64,
    /// Floating-point operations of the local step.
    pub local_flops: u64,
    /// Bytes that the global step reads and writes.
    pub global_bytes: u64,
    /// Floating-point operations of the global step.
    pub global_flops: u64,
}

/// Floating-point operations of a tile with three right-hand sides.
const TILE_FLOPS: u64 = 2 * 16 * 3;

impl System {
    /// Bytes and floating-point operations of one iteration.
    #[must_use]
    pub fn work(&self) -> Work {
        let partition = &self.partition;
        let mut work = Work::default();
        for (subdomain, elements) in partition.subdomains.iter().zip(&self.blocks) {
            let points = subdomain.unknowns.len() + partition.top.len() + elements.prescribed.len();
            work.local_bytes +=
                (elements.blocks.len() * BLOCK_BYTES + 4 * points * size_of::<Padded>()) as u64;
            work.local_flops += (elements.blocks.len() * LANES * CHAIN_FLOPS) as u64;
            work.add_substitution(&subdomain.triangle);
        }
        work.add_substitution(&partition.top_triangle);
        work
    }
}

impl Work {
    /// Forward substitution reads B, backward substitution D⁻¹ and B. Both gather the rows, and forward substitution also writes
    /// them.
    fn add_substitution(&mut self, triangle: &Triangle) {
        for node in &triangle.supernodes {
            let (columns, rows) = (node.column_tiles(), node.row_tiles());
            let tiles = (columns * (columns + 2 * rows)) as u64;
            self.global_bytes += tiles * size_of::<Tile>() as u64
                + ((3 * rows + 3 * columns) * 4 * size_of::<Padded>()) as u64;
            self.global_flops += tiles * TILE_FLOPS;
        }
    }
}
