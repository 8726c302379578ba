//! The rotations closest to many matrices, on vector units.

use pulp::{Arch, Simd, WithSimd};

use crate::numerics::lanes::{LANES, Lanes, Ops, load_matrix};

/// Matrices in a batch.
pub(in crate::methods) const BATCH: usize = 3 * LANES;

/// Three matrices in every lane, column by column.
#[derive(Clone)]
pub(in crate::methods) struct RotationBatch([[Lanes; 9]; 3]);

impl RotationBatch {
    /// Identities.
    pub(in crate::methods) fn new() -> Self {
        let mut batch = Self([[[0.0; LANES]; 9]; 3]);
        for k in 0..BATCH {
            batch.set(k, &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        }
        batch
    }

    /// Sets the columns of the k-th matrix.
    pub(in crate::methods) fn set(&mut self, k: usize, columns: &[[f32; 3]; 3]) {
        let (lanes, lane) = (&mut self.0[k / LANES], k % LANES);
        for (entry, &value) in lanes.iter_mut().zip(columns.as_flattened()) {
            entry[lane] = value;
        }
    }

    /// The columns of the k-th matrix.
    pub(in crate::methods) fn get(&self, k: usize) -> [[f32; 3]; 3] {
        let (lanes, lane) = (&self.0[k / LANES], k % LANES);
        [0, 3, 6].map(|first| [0, 1, 2].map(|row| lanes[first + row][lane]))
    }

    /// Replaces all matrices by the rotations (determinant 1) closest to them.
    pub(in crate::methods) fn rotate(&mut self) {
        Arch::new().dispatch(Closest(&mut self.0));
    }
}

struct Closest<'a>(&'a mut [[Lanes; 9]; 3]);

impl WithSimd for Closest<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (ops, packed) = (Ops(simd), self.0);
        for part in 0..LANES / S::F32_LANES {
            let f = [
                load_matrix(ops, &packed[0], part),
                load_matrix(ops, &packed[1], part),
                load_matrix(ops, &packed[2], part),
            ];
            let mut rotations = ops.closest_rotations(&f);
            if rotations.doubtful {
                ops.repair(&f, &mut rotations);
            }
            let scale = ops.splat(rotations.scale);
            for (lanes, matrix) in packed.iter_mut().zip(&rotations.matrices) {
                for (entry, lanes) in lanes.iter_mut().enumerate() {
                    let value = ops.mul(matrix[entry / 3][entry % 3], scale);
                    ops.store(lanes, part, value);
                }
            }
        }
    }
}
