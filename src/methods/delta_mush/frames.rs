//! How the surroundings of every vertex turned since the bind pose.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::rings::Rings;
use crate::math::Point;
use crate::mesh::TriMesh;
use crate::methods::quads::{multiply_add, xyz};
use crate::methods::smoothing::{BATCH, BindJoints, Padded, RotationBatch, product, stretched};
use crate::numerics::lanes::{add, dot, scaled, sub};
use crate::weights::SkinWeights;

/// The normal counts as much as this part of all edges of a vertex.
const NORMAL: f32 = 0.5;
/// Triangles of one task.
const CHUNK: usize = 2048;

/// The surroundings of all vertices in the smoothed bind pose.
pub(super) struct Frames {
    triangles: Vec<[u32; 3]>,
    /// Normals times twice the areas of the triangles in the last frame, with the lengths of these in the fourth place.
    faces: Vec<Padded>,
    /// `edge_starts[v]..edge_starts[v + 1]` are the edges of vertex v.
    edge_starts: Vec<u32>,
    /// The other end of every edge.
    ends: Vec<u32>,
    /// ē times the conductance over the sum of conductances times squared lengths of the vertex.
    edges: Vec<[f32; 3]>,
    /// `face_starts[v]..face_starts[v + 1]` are the triangles around vertex v.
    face_starts: Vec<u32>,
    face_of: Vec<u32>,
    /// The normal in the bind pose times its weight; zero where there is none.
    normals: Vec<[f32; 3]>,
    /// v̄ − s̄.
    deltas: Vec<[f32; 3]>,
}

/// What a frame is computed from.
#[derive(Clone, Copy)]
pub(super) struct Posed<'a> {
    /// Smoothed positions relative to `origin`.
    pub(super) smoothed: &'a [Padded],
    /// Where the positions are relative to, world space.
    pub(super) origin: nalgebra::Point3<f64>,
    pub(super) joints: &'a BindJoints,
    pub(super) weights: &'a SkinWeights,
}

impl Frames {
    /// `bind` are the bind positions relative to the same point as the smoothed ones; `rings` have the conductances of edges.
    pub(super) fn of(mesh: &TriMesh, rings: &Rings, bind: &[Padded], smoothed: &[Padded]) -> Self {
        let count = bind.len();
        let mut face_starts = vec![0_u32; count + 1];
        for &vertex in mesh.triangles.as_flattened() {
            face_starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..count {
            face_starts[vertex + 1] += face_starts[vertex];
        }
        let mut next = face_starts.clone();
        let mut face_of = vec![0; mesh.triangles.len() * 3];
        for (face, triangle) in mesh.triangles.iter().enumerate() {
            for &corner in triangle {
                face_of[next[corner as usize] as usize] = face as u32;
                next[corner as usize] += 1;
            }
        }
        let mut frames = Self {
            faces: vec![[0.0; 4]; mesh.triangles.len()],
            triangles: mesh.triangles.clone(),
            edge_starts: vec![0],
            ends: Vec::new(),
            edges: Vec::new(),
            face_starts,
            face_of,
            normals: Vec::with_capacity(count),
            deltas: bind
                .iter()
                .zip(smoothed)
                .map(|(v, s)| xyz(sub(*v, *s)))
                .collect(),
        };
        frames.find_faces(smoothed);
        for vertex in 0..count {
            let edge = |next: u32| sub(smoothed[next as usize], smoothed[vertex]);
            let squared = |&(next, weight): &(u32, f32)| weight * dot(edge(next), edge(next));
            let sum: f32 = rings.around(vertex).iter().map(squared).sum();
            if sum > 0.0 {
                for &(next, weight) in rings.around(vertex) {
                    frames.ends.push(next);
                    frames.edges.push(xyz(scaled(edge(next), weight / sum)));
                }
            }
            frames.edge_starts.push(frames.ends.len() as u32);
            frames
                .normals
                .push(frames.normal(vertex).map(|c| NORMAL * c));
        }
        frames
    }

    /// Normals and areas of the triangles.
    fn find_faces(&mut self, at: &[Padded]) {
        self.faces
            .par_chunks_mut(CHUNK)
            .zip(self.triangles.par_chunks(CHUNK))
            .for_each(|(faces, triangles)| {
                for (face, &[a, b, c]) in faces.iter_mut().zip(triangles) {
                    let own = at[a as usize];
                    let (u, v) = (sub(at[b as usize], own), sub(at[c as usize], own));
                    let normal = [
                        u[1] * v[2] - u[2] * v[1],
                        u[2] * v[0] - u[0] * v[2],
                        u[0] * v[1] - u[1] * v[0],
                        0.0,
                    ];
                    let length = dot(normal, normal).sqrt();
                    *face = [normal[0], normal[1], normal[2], length];
                }
            });
    }

    /// The normal of a vertex, weighted by areas; 1 long where the surface is flat, shorter where it is folded, zero where it has no
    /// side.
    #[expect(clippy::inline_always, reason = "called in vector code")]
    #[inline(always)]
    fn normal(&self, vertex: usize) -> [f32; 3] {
        let range = self.face_starts[vertex] as usize..self.face_starts[vertex + 1] as usize;
        let mut sum = [0.0; 4];
        for &face in &self.face_of[range] {
            sum = add(sum, self.faces[face as usize]);
        }
        let scale = if sum[3] > 0.0 { 1.0 / sum[3] } else { 0.0 };
        [sum[0] * scale, sum[1] * scale, sum[2] * scale]
    }

    /// Adds back to every vertex what smoothing removed, turned as its surroundings are. Allocates nothing.
    pub(super) fn restore(&mut self, posed: &Posed<'_>, skin: &mut [Point]) {
        self.find_faces(posed.smoothed);
        let frames = &*self;
        skin.par_chunks_mut(BATCH)
            .with_min_len(8)
            .enumerate()
            .for_each(|(chunk, out)| {
                let first = chunk * BATCH;
                let mut rotations = RotationBatch::new();
                Arch::new().dispatch(Gradients {
                    frames,
                    posed: *posed,
                    vertices: first..first + out.len(),
                    rotations: &mut rotations,
                });
                rotations.rotate();
                for (k, out) in out.iter_mut().enumerate() {
                    let vertex = first + k;
                    let mut delta = frames.deltas[vertex];
                    if posed.joints.has_stretch {
                        delta = times(&stretch_of(vertex, posed), delta);
                    }
                    let turned = product(&rotations.get(k), delta);
                    let s = &posed.smoothed[vertex];
                    let at = |c: usize| f64::from(s[c] + turned[c]) + posed.origin[c];
                    *out = Point::new(at(0) as f32, at(1) as f32, at(2) as f32);
                }
            });
    }
}

/// Σ k e' ēᵀ over the edges of every vertex, plus its normal; the identity where there is neither.
struct Gradients<'a> {
    frames: &'a Frames,
    posed: Posed<'a>,
    vertices: std::ops::Range<usize>,
    rotations: &'a mut RotationBatch,
}

impl WithSimd for Gradients<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            frames,
            posed,
            vertices,
            rotations,
        } = self;
        for (k, vertex) in vertices.enumerate() {
            let range =
                frames.edge_starts[vertex] as usize..frames.edge_starts[vertex + 1] as usize;
            if range.is_empty() {
                continue;
            }
            let own = posed.smoothed[vertex];
            let mut columns = [[0.0_f32; 4]; 3];
            for (&end, edge) in frames.ends[range.clone()].iter().zip(&frames.edges[range]) {
                let now = sub(posed.smoothed[end as usize], own);
                for (column, &entry) in columns.iter_mut().zip(edge) {
                    *column = multiply_add(simd, entry, now, *column);
                }
            }
            let mut f = columns.map(xyz);
            let mut rest = frames.normals[vertex];
            if posed.joints.has_stretch {
                let stretch = stretch_of(vertex, &posed);
                f = stretched(&f, &stretch);
                rest = stretched_normal(&stretch, rest);
            }
            let now = frames.normal(vertex);
            for (column, rest) in f.iter_mut().zip(rest) {
                for (entry, now) in column.iter_mut().zip(now) {
                    *entry += now * rest;
                }
            }
            rotations.set(k, &f);
        }
    }
}

/// The stretches of the joints of a vertex, blended by its weights.
fn stretch_of(vertex: usize, posed: &Posed<'_>) -> [f32; 6] {
    let mut blended = [0.0; 6];
    for (joint, weight) in posed.weights.of(vertex) {
        for (sum, entry) in blended.iter_mut().zip(&posed.joints.stretches[joint]) {
            *sum += weight * entry;
        }
    }
    blended
}

/// The normal of a surface that S stretched: its cofactors times the normal, with the length of the normal.
fn stretched_normal(s: &[f32; 6], normal: [f32; 3]) -> [f32; 3] {
    let largest = s.iter().fold(0.0_f32, |m, c| m.max(c.abs()));
    if largest <= 0.0 {
        return normal;
    }
    let [xx, xy, xz, yy, yz, zz] = s.map(|entry| entry / largest);
    let cofactors = [
        yy * zz - yz * yz,
        xz * yz - xy * zz,
        xy * yz - xz * yy,
        xx * zz - xz * xz,
        xy * xz - xx * yz,
        xx * yy - xy * xy,
    ];
    let turned = times(&cofactors, normal);
    let square = |v: [f32; 3]| v.iter().map(|c| c * c).sum::<f32>();
    let (length, wanted) = (square(turned), square(normal));
    if length > 0.0 {
        let scale = (wanted / length).sqrt();
        turned.map(|c| c * scale)
    } else {
        normal
    }
}

/// S v.
fn times(s: &[f32; 6], v: [f32; 3]) -> [f32; 3] {
    let [xx, xy, xz, yy, yz, zz] = *s;
    product(&[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], v)
}
