//! Small props move rigidly: by the rigid motion that best fits the adjacent surface.

use nalgebra::Matrix3;

use super::BindTarget;
use crate::math::{Point, Point64, Vec64, closest_rotation};

/// Vertices of a cluster whose distance to the surface is sampled.
const SAMPLES: usize = 64;
/// Maximum number of vertices of a patch.
pub const PATCH: usize = 192;
/// Minimum number.
const FEWEST: usize = 8;

/// A cluster of small parts and the patch of surface that it follows.
#[derive(Debug, Clone)]
pub struct Stiff {
    /// Of the skin.
    pub vertices: Vec<u32>,
    /// Relative to the patch's centroid.
    pub rest: Vec<Vec64>,
    /// At most [`PATCH`] points.
    pub patch: Vec<PatchPoint>,
}

/// A vertex of the surface that a cluster follows.
#[derive(Debug, Clone)]
pub struct PatchPoint {
    /// Of the skin.
    pub vertex: u32,
    /// Sums to 1 over the patch.
    pub weight: f64,
    /// Relative to the patch's centroid.
    pub rest: Vec64,
}

impl Stiff {
    pub(super) fn bind(ground: &BindTarget<'_>, vertices: &[u32]) -> Self {
        let positions = &ground.mesh.positions;
        let at = |v: u32| positions[v as usize].cast::<f64>();
        let step = (vertices.len() / SAMPLES).max(1);
        let samples: Vec<(u32, Point64)> =
            vertices.iter().step_by(step).map(|&v| (v, at(v))).collect();
        let middle = Point64::from(
            samples.iter().map(|(_, p)| p.coords).sum::<Vec64>() / samples.len().max(1) as f64,
        );
        let radius = samples
            .iter()
            .map(|(_, p)| (p - middle).norm())
            .fold(0.0, f64::max);
        let accept = |triangle: u32| ground.carries(ground.mesh.triangles[triangle as usize][0]);
        let nearest = |p: &Point64| {
            ground
                .tree
                .closest(p, f64::INFINITY, accept)
                .map_or(0.0, |closest| closest.distance)
        };
        let least = samples
            .iter()
            .map(|(_, p)| nearest(p))
            .fold(f64::INFINITY, f64::min);
        let mut reach = least + (0.5 * radius).max(0.01 * ground.size);
        let mut patch = Vec::new();
        // A patch with area: wide enough to have vertices on more than one line.
        for _ in 0..12 {
            patch = gather(ground, &samples, reach);
            if patch.len() >= FEWEST && spreads(&patch, positions) {
                break;
            }
            reach = 1.5 * reach + 1e-3 * ground.size;
        }
        Self::of_patch(ground, vertices, &thinned(patch))
    }

    fn of_patch(ground: &BindTarget<'_>, vertices: &[u32], patch: &[(u32, f64)]) -> Self {
        let at = |v: u32| ground.mesh.positions[v as usize].cast::<f64>();
        let total: f64 = patch.iter().map(|&(_, weight)| weight).sum();
        let middle: Vec64 = patch
            .iter()
            .map(|&(v, weight)| at(v).coords * (weight / total))
            .sum();
        let patch = patch.iter().map(|&(vertex, weight)| PatchPoint {
            vertex,
            weight: weight / total,
            rest: at(vertex).coords - middle,
        });
        Self {
            vertices: vertices.to_vec(),
            rest: vertices.iter().map(|&v| at(v).coords - middle).collect(),
            patch: patch.collect(),
        }
    }

    pub(super) fn place(&self, positions: &mut [Point]) {
        let middle: Vec64 = self
            .patch
            .iter()
            .map(|p| positions[p.vertex as usize].coords.cast::<f64>() * p.weight)
            .sum();
        let mut fit = Matrix3::zeros();
        for point in &self.patch {
            let offset = positions[point.vertex as usize].coords.cast::<f64>() - middle;
            fit += offset * (point.rest * point.weight).transpose();
        }
        let rotation = closest_rotation(&fit);
        for (&vertex, rest) in self.vertices.iter().zip(&self.rest) {
            positions[vertex as usize] = Point::from((middle + rotation * rest).cast::<f32>());
        }
    }
}

/// The vertices of the surface within `reach` of the samples, with weights that fall smoothly to 0 there.
fn gather(ground: &BindTarget<'_>, samples: &[(u32, Point64)], reach: f64) -> Vec<(u32, f64)> {
    let mut bounds = crate::mesh::Bounds::of(
        &samples
            .iter()
            .map(|(_, p)| p.cast::<f32>())
            .collect::<Vec<_>>(),
    );
    let margin = crate::math::Vec3::repeat(reach as f32);
    (bounds.min, bounds.max) = (bounds.min - margin, bounds.max + margin);
    let mut near = Vec::new();
    ground.tree.meeting(&bounds, |triangle| {
        near.extend(ground.mesh.triangles[triangle as usize]);
    });
    near.sort_unstable();
    near.dedup();
    let weigh = |vertex: u32| {
        let p = ground.mesh.positions[vertex as usize].cast::<f64>();
        let (distance, sample) = samples
            .iter()
            .map(|(v, q)| ((p - q).norm(), *v))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let fall = (1.0 - (distance / reach).powi(2)).max(0.0).powi(2);
        let alike = 0.02 + f64::from(ground.motion_similarity(sample, vertex));
        let weight = fall
            * alike
            * (f64::from(ground.area[vertex as usize]) + 1e-9 * ground.size * ground.size);
        (weight > 0.0).then_some((vertex, weight))
    };
    near.into_iter()
        .filter(|&v| ground.carries(v))
        .filter_map(weigh)
        .collect()
}

/// Whether a patch is more than a line.
fn spreads(patch: &[(u32, f64)], positions: &[Point]) -> bool {
    let at = |v: u32| positions[v as usize].coords.cast::<f64>();
    let total: f64 = patch.iter().map(|&(_, weight)| weight).sum();
    let middle: Vec64 = patch
        .iter()
        .map(|&(v, weight)| at(v) * (weight / total))
        .sum();
    let spread: Matrix3<f64> = patch
        .iter()
        .map(|&(v, weight)| (at(v) - middle) * ((at(v) - middle) * (weight / total)).transpose())
        .sum();
    let mut values: [f64; 3] = spread.symmetric_eigenvalues().into();
    values.sort_by(f64::total_cmp);
    values[1] > 1e-3 * values[2]
}

/// At most [`PATCH`] of the vertices, evenly.
fn thinned(patch: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    let step = patch.len().div_ceil(PATCH).max(1);
    patch.into_iter().step_by(step).collect()
}
