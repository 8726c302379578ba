//! Base surface of flesh that is guided by weights: the skin, offset inwards by a fraction of its depth.
//!
//! Every vertex is offset towards its foot point. The offsets are smoothed over the surface, and shortened where tets
//! would be flat or inverted, so that no tet is inverted at rest.

use super::foot::FootPoints;
use super::layer::edge_matrix;
use super::sides::Sides;
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh};

/// Fraction of the smoothed offset to the foot points at which the base lies.
const DEPTH_FRACTION: f64 = 0.6;
/// Smoothing iterations of the offsets…
const SMOOTHING_ITERATIONS: usize = 10;
/// …each by this fraction towards the mean of the neighbours.
const RELAXATION: f64 = 0.5;
/// Minimum cosine between an offset and the inward normal.
const MIN_INWARD_COSINE: f64 = 0.3;
/// Minimum volume of a tet relative to that in a straight prism of the same area and depth.
const MIN_VOLUME_RATIO: f64 = 0.15;
/// Factor by which offsets at flat tets are shortened per round…
const SHORTENING: f64 = 0.8;
/// …in at most this many rounds; after them these offsets go along the normal, with half the length.
const MAX_SHORTENINGS: usize = 14;
/// Minimum thickness of the flesh as a fraction of the size.
const MIN_THICKNESS: f64 = 1e-4;

/// Base vertices, world space.
pub(super) fn base(
    mesh: &TriMesh,
    topology: &Topology,
    feet: &FootPoints,
    sides: &Sides,
) -> Vec<Point64> {
    let min_length = MIN_THICKNESS * f64::from(mesh.bounds().size());
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let normals: Vec<Vec64> = mesh
        .vertex_normals()
        .iter()
        .map(|normal| normal.cast::<f64>())
        .collect();
    let mut feet = feet.points.clone();
    sides.balance_points(&mut feet);
    let mut offsets: Vec<Vec64> = skin
        .iter()
        .zip(&feet)
        .map(|(skin, foot)| foot - skin)
        .collect();
    for _ in 0..SMOOTHING_ITERATIONS {
        offsets = smoothed(&offsets, topology);
    }
    for (offset, normal) in offsets.iter_mut().zip(&normals) {
        *offset = turned_inwards(&(*offset * DEPTH_FRACTION), normal, min_length);
    }
    sides.balance_directions(&mut offsets);
    for round in 0..=MAX_SHORTENINGS {
        let mut flat = at_flat_tets(mesh, &skin, &offsets, &sides.ranks);
        sides.share(&mut flat);
        if !flat.contains(&true) {
            break;
        }
        for (vertex, offset) in offsets.iter_mut().enumerate().filter(|(v, _)| flat[*v]) {
            let length = (offset.norm() * SHORTENING).max(min_length);
            *offset = if round < MAX_SHORTENINGS {
                offset.normalize() * length
            } else {
                -normals[vertex] * min_length.max(0.5 * length)
            };
        }
    }
    skin.iter()
        .zip(&offsets)
        .map(|(skin, offset)| skin + offset)
        .collect()
}

fn smoothed(offsets: &[Vec64], topology: &Topology) -> Vec<Vec64> {
    offsets
        .iter()
        .enumerate()
        .map(|(vertex, own)| {
            let neighbours = topology.neighbors(vertex);
            if neighbours.is_empty() {
                return *own;
            }
            let sum: Vec64 = neighbours
                .iter()
                .map(|&other| offsets[other as usize])
                .sum();
            own + (sum / neighbours.len() as f64 - own) * RELAXATION
        })
        .collect()
}

/// The offset, turned inwards if it points outwards or along the surface.
fn turned_inwards(offset: &Vec64, normal: &Vec64, min_length: f64) -> Vec64 {
    let length = offset.norm();
    if !length.is_finite() || length < min_length {
        return -normal * min_length;
    }
    let depth = -offset.dot(normal) / length;
    if depth >= MIN_INWARD_COSINE || normal.norm() < 0.5 {
        return *offset;
    }
    let along = offset / length + normal * depth;
    let along = along.try_normalize(1e-9).unwrap_or_else(Vec64::zeros);
    (along * (1.0 - MIN_INWARD_COSINE * MIN_INWARD_COSINE).sqrt() - normal * MIN_INWARD_COSINE)
        * length
}

/// For every vertex whether it belongs to a tet that is flat or inverted.
fn at_flat_tets(mesh: &TriMesh, skin: &[Point64], offsets: &[Vec64], ranks: &[u32]) -> Vec<bool> {
    let mut flat = vec![false; skin.len()];
    for triangle in &mesh.triangles {
        let mut sorted = *triangle;
        sorted.sort_unstable_by_key(|&vertex| ranks[vertex as usize]);
        let [a, b, c] = *triangle;
        let sign = if [[a, b, c], [b, c, a], [c, a, b]].contains(&sorted) {
            -1.0
        } else {
            1.0
        };
        let [i, j, k] = sorted.map(|v| v as usize);
        let under = |v: usize| skin[v] + offsets[v];
        let chain = [skin[i], skin[j], skin[k], under(i), under(j), under(k)];
        let area = (skin[j] - skin[i]).cross(&(skin[k] - skin[i])).norm();
        let depth = (offsets[i].norm() + offsets[j].norm() + offsets[k].norm()) / 3.0;
        let is_valid = (0..3).all(|first| {
            let points = std::array::from_fn(|corner| chain[first + corner]);
            sign * edge_matrix(&points).determinant() >= MIN_VOLUME_RATIO * area * depth
        });
        if !is_valid {
            for &vertex in triangle {
                flat[vertex as usize] = true;
            }
        }
    }
    flat
}
