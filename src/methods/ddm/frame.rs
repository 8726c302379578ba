//! One frame: a rotation and a translation of every vertex from its matrices Ω and the joints.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::omega::Omegas;
use crate::math::Point;
use crate::methods::quads::{moved_by, multiply_add, xyz};
use crate::methods::smoothing::{BATCH, BindJoints, RotationBatch, product, stretched};
use crate::numerics::lanes::sub;

/// Moves all vertices of the skin. Allocates nothing; the result does not depend on the number of threads.
pub(super) fn move_skin(omegas: &Omegas, joints: &BindJoints, skin: &mut [Point]) {
    skin.par_chunks_mut(BATCH)
        .with_min_len(8)
        .enumerate()
        .for_each(|(index, out)| {
            let mut rotations = RotationBatch::new();
            let mut parts = [Motion::default(); BATCH];
            let batch = Batch {
                omegas,
                joints,
                first: index * BATCH,
                parts: &mut parts[..out.len()],
                rotations: &mut rotations,
            };
            Arch::new().dispatch(batch);
            rotations.rotate();
            let rests = &omegas.rests[index * BATCH..];
            for (k, ((out, part), rest)) in out.iter_mut().zip(&parts).zip(rests).enumerate() {
                let s = &part.stretch;
                let delta = [[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]];
                let delta = product(&delta, rest.offset);
                let turned = product(&rotations.get(k), delta);
                let at = |c: usize| {
                    f64::from(part.at[c] + rest.length * (part.moved[c] - turned[c]))
                        + joints.origin[c]
                };
                *out = Point::new(at(0) as f32, at(1) as f32, at(2) as f32);
            }
        });
}

/// A batch of vertices before their rotations are known.
struct Batch<'a> {
    omegas: &'a Omegas,
    joints: &'a BindJoints,
    first: usize,
    parts: &'a mut [Motion],
    rotations: &'a mut RotationBatch,
}

/// A vertex before its rotation is known.
#[derive(Clone, Copy)]
struct Motion {
    /// Where its first joint takes it.
    at: [f32; 3],
    /// q relative to that, in the unit of length of the vertex.
    moved: [f32; 3],
    /// Blended stretch.
    stretch: [f32; 6],
}

impl Default for Motion {
    fn default() -> Self {
        Self {
            at: [0.0; 3],
            moved: [0.0; 3],
            stretch: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
        }
    }
}

impl WithSimd for Batch<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            omegas,
            joints,
            first,
            parts,
            rotations,
        } = self;
        for (k, part) in parts.iter_mut().enumerate() {
            let vertex = first + k;
            let rest = &omegas.rests[vertex];
            let range = omegas.starts[vertex] as usize..omegas.starts[vertex + 1] as usize;
            let (own, matrices) = (&omegas.joints[range.clone()], &omegas.matrices[range]);
            let Some(&main) = own.first() else {
                continue;
            };
            let at = moved_by(simd, &joints.columns[main as usize], &rest.position);
            let per_length = 1.0 / rest.length;
            // Columns of Q, and q.
            let mut sums = [[0.0_f32; 4]; 4];
            for (&joint, omega) in own.iter().zip(matrices) {
                let m = &joints.columns[joint as usize];
                let t = sub(moved_by(simd, m, &rest.position), at);
                let t = multiply_add(simd, per_length, t, [0.0; 4]);
                let [xx, xy, xz, yy, yz, zz, x, y, z, w] = *omega;
                let columns = [
                    [xx, xy, xz, x],
                    [xy, yy, yz, y],
                    [xz, yz, zz, z],
                    [x, y, z, w],
                ];
                for (sum, [a, b, c, d]) in sums.iter_mut().zip(columns) {
                    let low = multiply_add(simd, b, m[1], multiply_add(simd, a, m[0], *sum));
                    *sum = multiply_add(simd, d, t, multiply_add(simd, c, m[2], low));
                }
            }
            let [q0, q1, q2, q] = sums;
            let p = &rest.offset;
            let mut f = [
                xyz(multiply_add(simd, -p[0], q, q0)),
                xyz(multiply_add(simd, -p[1], q, q1)),
                xyz(multiply_add(simd, -p[2], q, q2)),
            ];
            if joints.has_stretch {
                part.stretch = blended_stretch(own, matrices, joints);
                f = stretched(&f, &part.stretch);
            }
            rotations.set(k, &f);
            part.at = xyz(at);
            part.moved = xyz(q);
        }
    }
}

/// The stretches of the joints, blended by the smoothed weights.
fn blended_stretch(own: &[u32], matrices: &[[f32; 10]], joints: &BindJoints) -> [f32; 6] {
    let mut blended = [0.0; 6];
    for (&joint, omega) in own.iter().zip(matrices) {
        let stretch = &joints.stretches[joint as usize];
        for (sum, entry) in blended.iter_mut().zip(stretch) {
            *sum += omega[9] * entry;
        }
    }
    blended
}
