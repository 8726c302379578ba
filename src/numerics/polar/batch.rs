//! Closest rotations of many matrices.

use pulp::{Arch, Simd, WithSimd};

use super::super::lanes::{LANES, Lanes, Ops, load_matrix};

/// One matrix in every lane: nine entries, column by column.
pub(crate) type LaneMatrix = [Lanes; 9];

/// Matrices that are worked on together, to hide the latency of divisions.
const TOGETHER: usize = 3;

/// Replaces the matrix in every lane by the rotation closest to it.
pub(crate) fn closest_rotations(matrices: &mut [LaneMatrix]) {
    Arch::new().dispatch(Batch(matrices));
}

struct Batch<'a>(&'a mut [LaneMatrix]);

impl WithSimd for Batch<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ops = Ops(simd);
        for some in self.0.chunks_mut(TOGETHER) {
            let last = some.len() - 1;
            for part in 0..LANES / S::F32_LANES {
                let f = [
                    load_matrix(ops, &some[0], part),
                    load_matrix(ops, &some[last.min(1)], part),
                    load_matrix(ops, &some[last], part),
                ];
                let mut r = ops.closest_rotations(&f);
                if r.doubtful {
                    ops.repair(&f, &mut r);
                }
                let scale = ops.splat(r.scale);
                // The last of fewer than three stands for the others, too.
                for (matrix, rotation) in some.iter_mut().zip(&r.matrices) {
                    for (entry, lanes) in matrix.iter_mut().enumerate() {
                        let value = ops.mul(rotation[entry / 3][entry % 3], scale);
                        ops.store(lanes, part, value);
                    }
                }
            }
        }
    }
}
