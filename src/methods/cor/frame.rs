//! One frame: every vertex is turned about its centre, with one vector register for each column of a joint's matrix.

use nalgebra::{Matrix3, Matrix3x4, Vector4};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::CenteredMesh;
use super::turn::Turn;
use crate::math::{Point, Vec3};
use crate::methods::quads::{moved_by, multiply_add, xyz};
use crate::numerics::lanes::Padded;

/// Vertices that are moved by one call of vector code.
const BATCH: usize = 256;

/// What a joint does in a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct JointMotion {
    /// The columns of its matrix and its translation.
    columns: [Padded; 4],
    /// Its rotation: x, y, z, w.
    rotation: Padded,
}

impl JointMotion {
    pub(super) fn identity() -> Self {
        Self::of(&Matrix3x4::identity(), &Turn::identity())
    }

    pub(super) fn of(matrix: &Matrix3x4<f32>, turn: &Turn) -> Self {
        let column = |c| [matrix[(0, c)], matrix[(1, c)], matrix[(2, c)], 0.0];
        Self {
            columns: [0, 1, 2, 3].map(column),
            rotation: turn.rotation.coords.into(),
        }
    }
}

/// Moves all vertices of a mesh. Allocates nothing; the result does not depend on the number of threads.
pub(super) fn move_mesh(mesh: &CenteredMesh, out: &mut [Point]) {
    let arch = Arch::new();
    out.par_chunks_mut(BATCH)
        .with_min_len(8)
        .enumerate()
        .for_each(|(index, out)| {
            arch.dispatch(Batch {
                mesh,
                first: index * BATCH,
                out,
            });
        });
}

/// Some vertices of a mesh.
struct Batch<'a> {
    mesh: &'a CenteredMesh,
    first: usize,
    out: &'a mut [Point],
}

impl WithSimd for Batch<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (k, out) in self.out.iter_mut().enumerate() {
            *out = place(simd, self.mesh, self.first + k);
        }
    }
}

#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
fn place<S: Simd>(simd: S, mesh: &CenteredMesh, vertex: usize) -> Point {
    let (rest, center) = (&mesh.blend.rest[vertex], &mesh.centers[vertex]);
    let arm: Vec3 = rest - center;
    if arm == Vec3::zeros() {
        return mesh.blend.blend(vertex);
    }
    let mut weighted = mesh.blend.weights.of(vertex);
    let Some((joint, weight)) = weighted.next() else {
        return *rest;
    };
    let first = &mesh.motions[joint];
    let mut columns = first
        .columns
        .map(|column| multiply_add(simd, weight, column, [0.0; 4]));
    let mut rotation = multiply_add(simd, weight, first.rotation, [0.0; 4]);
    for (joint, weight) in weighted {
        let motion = &mesh.motions[joint];
        for (sum, column) in columns.iter_mut().zip(motion.columns) {
            *sum = multiply_add(simd, weight, column, *sum);
        }
        let [a, b] = [first.rotation, motion.rotation];
        let cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        // q and −q are the same rotation: blend along the shorter way. So the sum is never short.
        let signed = if cosine < 0.0 { -weight } else { weight };
        rotation = multiply_add(simd, signed, b, rotation);
    }
    let placed = Point::from(xyz(moved_by(simd, &columns, &center.coords.into())));
    let stretch = if mesh.is_rigid {
        Matrix3::identity()
    } else {
        let terms = mesh.blend.weights.of(vertex);
        terms
            .map(|(joint, weight)| mesh.turns[joint].stretch * weight)
            .sum()
    };
    let turn = Turn {
        rotation: Vector4::from(rotation).normalize().into(),
        stretch,
    };
    placed + turn.apply(&arm, mesh.is_rigid)
}
