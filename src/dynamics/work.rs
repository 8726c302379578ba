//! What one local/global iteration has to touch and to compute, to compare measured times with what the machine can do.

use faer::Side;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMat, Triplet};

use super::System;
use super::local::LANES;

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

/// Bytes of a block of prisms: corners, three inverse rest matrices, weights, and switches.
const BLOCK_BYTES: u64 = 4 * (3 + 27 + 3 + 3) * LANES as u64;
/// Bytes of a block's forces; written once, gathered once.
const FORCE_BYTES: u64 = 4 * 9 * LANES as u64;
/// Edges 9, F 45, closest rotation about 240 (three Newton steps), stress 18, forces 45, sums 15.
const TET_FLOPS: u64 = 372;

impl System {
    /// What one iteration touches. Analyses the matrix: milliseconds.
    #[must_use]
    pub fn work(&self) -> Work {
        let prisms = self.blocks.len() as u64;
        let blocks = prisms.div_ceil(LANES as u64);
        let vertices = self.unknowns() as u64;
        // Three right-hand sides: residual, predicted, position in and out, base.
        let vectors = 12 * vertices;
        let entries = self.factor_entries();
        Work {
            local_bytes: blocks * (BLOCK_BYTES + 2 * FORCE_BYTES) + 4 * vectors,
            local_flops: 3 * prisms * TET_FLOPS,
            // Forward and backward each read the factor once, and the three columns twice.
            global_bytes: 2 * (4 * entries + 2 * vectors),
            global_flops: 2 * 3 * 2 * entries,
        }
    }

    /// Stored entries of the Cholesky factor.
    fn factor_entries(&self) -> u64 {
        let n = self.unknowns();
        let triplets: Vec<Triplet<u32, u32, f64>> =
            self.stiffness.triplet_iter().map(|(row, column, &value)| Triplet::new(row as u32, column as u32, value)).collect();
        let Ok(matrix) = SparseColMat::try_new_from_triplets(n, n, &triplets) else { return 0 };
        let params = CholeskySymbolicParams::default();
        let symbolic = factorize_symbolic_cholesky(matrix.symbolic(), Side::Lower, SymmetricOrdering::Amd, params);
        symbolic.map_or(0, |symbolic| symbolic.len_val() as u64)
    }
}
