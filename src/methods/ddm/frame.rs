//! One frame: a rotation and a translation of every vertex from its matrices Ω and the joints.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::omega::Omegas;
use crate::math::Point;
use crate::methods::smoothing::{BATCH, BindJoints, Padded, RotationBatch, product, stretched};

/// Moves all vertices of the skin. Allocates nothing; the result does not depend on the number of threads.
pub(super) fn move_skin(omegas: &Omegas, joints: &BindJoints, skin: &mut [Point]) {
    skin.par_chunks_mut(BATCH)
        .with_min_len(16)
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
    fn with_simd<S: Simd>(self, _: S) {
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
            let at = placed(&joints.columns[main as usize], &rest.position);
            let per_length = 1.0 / rest.length;
            // Columns of Q, and q.
            let mut sums = [[0.0_f32; 4]; 4];
            for (&joint, omega) in own.iter().zip(matrices) {
                let m = &joints.columns[joint as usize];
                let mut t = placed(m, &rest.position);
                for c in 0..4 {
                    t[c] = (t[c] - at[c]) * per_length;
                }
                let [xx, xy, xz, yy, yz, zz, x, y, z, w] = *omega;
                let rows = [
                    [xx, xy, xz, x],
                    [xy, yy, yz, y],
                    [xz, yz, zz, z],
                    [x, y, z, w],
                ];
                for (sum, [a, b, c, d]) in sums.iter_mut().zip(rows) {
                    for r in 0..4 {
                        sum[r] += m[0][r] * a + m[1][r] * b + m[2][r] * c + t[r] * d;
                    }
                }
            }
            let [q0, q1, q2, q] = sums;
            let mut f = [[0.0; 3]; 3];
            for (c, (column, from)) in f.iter_mut().zip([q0, q1, q2]).enumerate() {
                *column = [0, 1, 2].map(|r| from[r] - q[r] * rest.offset[c]);
            }
            if joints.has_stretch {
                part.stretch = blended_stretch(own, matrices, joints);
                f = stretched(&f, &part.stretch);
            }
            rotations.set(k, &f);
            part.at = [at[0], at[1], at[2]];
            part.moved = [q[0], q[1], q[2]];
        }
    }
}

/// A point moved by a joint.
#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
fn placed(m: &[Padded; 4], v: &[f32; 3]) -> Padded {
    let mut at = m[3];
    for r in 0..4 {
        at[r] += m[0][r] * v[0] + m[1][r] * v[1] + m[2][r] * v[2];
    }
    at
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
