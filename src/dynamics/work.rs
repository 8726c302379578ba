//! What one local/global iteration has to touch and to compute, to compare measured times with what the machine can do.

use super::System;
use super::factor::Tile;
use super::lanes::{LANES, Slot};
use super::local::{BLOCK_BYTES, PRISM_FLOPS};
use super::structure::Triangle;

/// Bytes and operations of one iteration, without what caches save or waste.
///
/// Bytes are the sizes of the arrays read and written, each counted once a pass over it; operations are those of useful `f32`
/// numbers, a fused multiply-add counting as two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Work {
    /// Bytes that the local step, with its part of the right-hand side, reads and writes.
    pub local_bytes: u64,
    /// Operations of the local step.
    pub local_flops: u64,
    /// Bytes that the global step reads and writes.
    pub global_bytes: u64,
    /// Operations of the global step.
    pub global_flops: u64,
}

/// Operations of a tile and three right-hand sides.
const TILE_FLOPS: u64 = 2 * 16 * 3;

impl System {
    /// What one iteration touches.
    #[must_use]
    pub fn work(&self) -> Work {
        let structure = &self.structure;
        let mut work = Work::default();
        for part in &structure.parts {
            let points = part.vertices.len() + structure.top.len() + part.base.len();
            work.local_bytes += (part.blocks.len() * BLOCK_BYTES + 4 * points * size_of::<Slot>()) as u64;
            work.local_flops += (part.blocks.len() * LANES * PRISM_FLOPS) as u64;
            work.add_substitution(&part.triangle);
        }
        work.add_substitution(&structure.top_triangle);
        work
    }
}

impl Work {
    /// Forward reads B, backward D⁻¹ and B; both gather the rows, forward writes them as well.
    fn add_substitution(&mut self, triangle: &Triangle) {
        for node in &triangle.supernodes {
            let (columns, rows) = (node.column_tiles(), node.row_tiles());
            let tiles = (columns * (columns + 2 * rows)) as u64;
            self.global_bytes += tiles * size_of::<Tile>() as u64 + ((3 * rows + 3 * columns) * 4 * size_of::<Slot>()) as u64;
            self.global_flops += tiles * TILE_FLOPS;
        }
    }
}
