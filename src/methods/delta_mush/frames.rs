//! How the surroundings of every vertex turned since the bind pose.

use rayon::prelude::*;

use super::smoother::Rings;
use crate::math::Point;
use crate::mesh::TriMesh;
use crate::methods::smoothing::{BATCH, BindJoints, Padded, RotationBatch, product, stretched};
use crate::weights::SkinWeights;

/// The normal counts as much as this part of all edges of a vertex.
const NORMAL: f32 = 0.5;

/// The surroundings of all vertices in the smoothed bind pose.
pub(super) struct Frames {
    rings: Rings,
    /// Smoothed bind positions.
    smoothed: Vec<Padded>,
    /// Triangles around every vertex: the two other corners, in order.
    fan_starts: Vec<u32>,
    fans: Vec<[u32; 2]>,
    /// The normal times the weight of the normal; zero where there is none.
    normals: Vec<[f32; 3]>,
    /// 1 over the sum of the squared edges, with their weights.
    inverse_scales: Vec<f32>,
    /// v̄ − s̄.
    deltas: Vec<[f32; 3]>,
}

/// What a frame is computed from.
pub(super) struct Posed<'a> {
    /// Smoothed positions relative to `origin`.
    pub(super) smoothed: &'a [Padded],
    /// Where the positions are relative to, world space.
    pub(super) origin: nalgebra::Point3<f64>,
    pub(super) joints: &'a BindJoints,
    pub(super) weights: &'a SkinWeights,
}

impl Frames {
    /// `bind` are the bind positions relative to the same point as the smoothed ones.
    pub(super) fn of(mesh: &TriMesh, rings: Rings, bind: &[Padded], smoothed: Vec<Padded>) -> Self {
        let count = bind.len();
        let mut fan_starts = vec![0_u32; count + 1];
        for &vertex in mesh.triangles.as_flattened() {
            fan_starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..count {
            fan_starts[vertex + 1] += fan_starts[vertex];
        }
        let mut next = fan_starts.clone();
        let mut fans = vec![[0; 2]; mesh.triangles.len() * 3];
        for &[a, b, c] in &mesh.triangles {
            for (corner, others) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                fans[next[corner as usize] as usize] = others;
                next[corner as usize] += 1;
            }
        }
        let deltas = bind
            .iter()
            .zip(&smoothed)
            .map(|(v, s)| [0, 1, 2].map(|c| v[c] - s[c]));
        let mut frames = Self {
            deltas: deltas.collect(),
            rings,
            smoothed,
            fan_starts,
            fans,
            normals: vec![[0.0; 3]; count],
            inverse_scales: vec![0.0; count],
        };
        for vertex in 0..count {
            let own = frames.smoothed[vertex];
            let squared = |&(next, weight): &(u32, f32)| {
                let edge = difference(&frames.smoothed[next as usize], &own);
                weight * dot(&edge, &edge)
            };
            let sum: f32 = frames.rings.around(vertex).iter().map(squared).sum();
            frames.inverse_scales[vertex] = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            let normal = frames.normal(vertex, &frames.smoothed);
            frames.normals[vertex] = normal.map(|c| NORMAL * c);
        }
        frames
    }

    /// The normal of a vertex, weighted by areas; 1 long where the surface is flat, shorter where it is folded, zero where it has no
    /// side.
    #[expect(clippy::inline_always, reason = "inner loop of every frame")]
    #[inline(always)]
    fn normal(&self, vertex: usize, at: &[Padded]) -> [f32; 3] {
        let own = &at[vertex];
        let (mut sum, mut area) = ([0.0_f32; 3], 0.0);
        let range = self.fan_starts[vertex] as usize..self.fan_starts[vertex + 1] as usize;
        for &[b, c] in &self.fans[range] {
            let (u, v) = (
                difference(&at[b as usize], own),
                difference(&at[c as usize], own),
            );
            let cross = [
                u[1] * v[2] - u[2] * v[1],
                u[2] * v[0] - u[0] * v[2],
                u[0] * v[1] - u[1] * v[0],
            ];
            for c in 0..3 {
                sum[c] += cross[c];
            }
            area += dot(&cross, &cross).sqrt();
        }
        let scale = if area > 0.0 { 1.0 / area } else { 0.0 };
        sum.map(|c| c * scale)
    }

    /// Adds back to every vertex what smoothing removed, turned as its surroundings are. Allocates nothing.
    pub(super) fn restore(&self, posed: &Posed<'_>, skin: &mut [Point]) {
        skin.par_chunks_mut(BATCH)
            .with_min_len(16)
            .enumerate()
            .for_each(|(chunk, out)| {
                let first = chunk * BATCH;
                let mut rotations = RotationBatch::new();
                for k in 0..out.len() {
                    if let Some(f) = self.gradient(first + k, posed) {
                        rotations.set(k, &f);
                    }
                }
                rotations.rotate();
                for (k, out) in out.iter_mut().enumerate() {
                    let vertex = first + k;
                    let mut delta = self.deltas[vertex];
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

    /// Σ k e' ēᵀ over the edges of a vertex, plus its normal; `None` where there is neither.
    #[expect(clippy::inline_always, reason = "inner loop of every frame")]
    #[inline(always)]
    fn gradient(&self, vertex: usize, posed: &Posed<'_>) -> Option<[[f32; 3]; 3]> {
        let scale = self.inverse_scales[vertex];
        if scale <= 0.0 {
            return None;
        }
        let (own, own_rest) = (posed.smoothed[vertex], self.smoothed[vertex]);
        let mut f = [[0.0_f32; 3]; 3];
        for &(next, weight) in self.rings.around(vertex) {
            let now = difference(&posed.smoothed[next as usize], &own);
            let rest = difference(&self.smoothed[next as usize], &own_rest);
            for (column, rest) in f.iter_mut().zip(rest) {
                let factor = weight * scale * rest;
                for r in 0..3 {
                    column[r] += now[r] * factor;
                }
            }
        }
        let (mut rest, now) = (self.normals[vertex], self.normal(vertex, posed.smoothed));
        if posed.joints.has_stretch {
            let stretch = stretch_of(vertex, posed);
            f = stretched(&f, &stretch);
            rest = stretched_normal(&stretch, rest);
        }
        for (column, rest) in f.iter_mut().zip(rest) {
            for r in 0..3 {
                column[r] += now[r] * rest;
            }
        }
        Some(f)
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
    let (length, wanted) = (dot(&turned, &turned), dot(&normal, &normal));
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

#[expect(clippy::inline_always, reason = "inner loop of every frame")]
#[inline(always)]
fn difference(a: &Padded, b: &Padded) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[expect(clippy::inline_always, reason = "inner loop of every frame")]
#[inline(always)]
fn dot(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
