//! Thickness of the body under its skin.
//!
//! Shapira, Shamir, Cohen-Or, "Consistent mesh partitioning and skeletonisation using the shape diameter function", The Visual
//! Computer 24(4), 2008: the median length of rays inwards, within a cone about the normal.

use rayon::prelude::*;

use super::{Topology, TriMesh, TriangleTree};
use crate::math::{Point64, Vec64};

/// Tangent of the angle between the normal and the rays around it.
const CONE: f64 = 0.45;
/// Number of smoothing iterations over neighbours.
const ROUNDS: usize = 2;

/// Thickness under every vertex, from that many rays besides the normal, world units; the mesh's size where no triangle is opposite.
pub(crate) fn thickness(
    mesh: &TriMesh,
    topology: &Topology,
    tree: &TriangleTree,
    rays: usize,
) -> Vec<f64> {
    let size = f64::from(mesh.bounds().size());
    let raw: Vec<f64> = (0..mesh.triangles.len())
        .into_par_iter()
        .map(|triangle| under(mesh, tree, triangle, size, rays))
        .collect();
    let mut logs = vec![0.0; mesh.positions.len()];
    let mut counts = vec![0.0; mesh.positions.len()];
    for (corners, thickness) in mesh.triangles.iter().zip(&raw) {
        for &v in corners {
            logs[v as usize] += thickness.ln();
            counts[v as usize] += 1.0;
        }
    }
    for (log, count) in logs.iter_mut().zip(&counts) {
        *log /= f64::max(*count, 1.0);
    }
    for _ in 0..ROUNDS {
        let before = logs.clone();
        for (vertex, log) in logs.iter_mut().enumerate() {
            let around = topology.neighbors(vertex);
            let sum: f64 = around.iter().map(|&v| before[v as usize]).sum();
            *log = (before[vertex] + sum) / (1.0 + around.len() as f64);
        }
    }
    logs.into_iter().map(f64::exp).collect()
}

fn under(mesh: &TriMesh, tree: &TriangleTree, triangle: usize, size: f64, rays: usize) -> f64 {
    let [a, b, c]: [Point64; 3] = mesh.corners(triangle).map(nalgebra::OPoint::cast);
    let Some(inwards) = (c - a).cross(&(b - a)).try_normalize(1e-300) else {
        return size;
    };
    let centre = Point64::from((a.coords + b.coords + c.coords) / 3.0);
    let (u, v) = across(&inwards);
    let mut lengths: Vec<f64> = Vec::with_capacity(rays + 1);
    let around = (0..rays).map(|ray| {
        let angle = ray as f64 / rays as f64 * std::f64::consts::TAU;
        (inwards + (u * angle.cos() + v * angle.sin()) * CONE).normalize()
    });
    for direction in around.chain([inwards]) {
        let mut nearest = size;
        tree.crossings(&centre, &direction, [1e-6 * size, size], |crossing| {
            if crossing.outward && crossing.triangle as usize != triangle {
                nearest = nearest.min(crossing.t);
            }
        });
        lengths.push(nearest);
    }
    lengths.sort_unstable_by(f64::total_cmp);
    lengths[lengths.len() / 2].max(1e-6 * size)
}

/// Two unit vectors perpendicular to a unit vector and to each other.
fn across(axis: &Vec64) -> (Vec64, Vec64) {
    let other = if axis.x.abs() < 0.8 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let u = axis.cross(&other).normalize();
    (u, axis.cross(&u))
}
