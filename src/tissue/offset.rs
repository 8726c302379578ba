//! The base of flesh that is guided by weights: the skin, moved inwards by a part of its depth.
//!
//! Every vertex goes towards its foot point. The ways there are averaged over the surface, so that neighbours go the same way, and cut
//! short where tets would be flat or inside out: flesh has no inverted element at rest.

use super::foot::FootPoints;
use super::layer::edge_matrix;
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh};

/// The base lies at this part of the averaged way to the foot points.
const DEPTH: f64 = 0.6;
/// Averagings of the ways…
const SMOOTHINGS: usize = 10;
/// …by this part towards the mean of the neighbours.
const RELAXATION: f64 = 0.5;
/// A way leads inwards by at least this part of its length.
const INWARDS: f64 = 0.3;
/// A tet has at least this part of the volume that it would have in a straight prism.
const SOUND: f64 = 0.15;
/// Ways around a flat tet are made this much shorter, again and again…
const SHORTER: f64 = 0.8;
/// …at most so many times; then they go along the normal, and are this long.
const SHORTENINGS: usize = 14;
/// Flesh is never thinner than this part of the size.
const THINNEST: f64 = 1e-4;

/// Base vertices, world space.
pub(super) fn base(mesh: &TriMesh, topology: &Topology, feet: &FootPoints) -> Vec<Point64> {
    let least = THINNEST * f64::from(mesh.bounds().size());
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let normals: Vec<Vec64> = mesh
        .vertex_normals()
        .iter()
        .map(|normal| normal.cast::<f64>())
        .collect();
    let mut ways: Vec<Vec64> = skin
        .iter()
        .zip(&feet.points)
        .map(|(skin, foot)| foot - skin)
        .collect();
    for _ in 0..SMOOTHINGS {
        ways = averaged(&ways, topology);
    }
    for (way, normal) in ways.iter_mut().zip(&normals) {
        *way = inwards(&(*way * DEPTH), normal, least);
    }
    for round in 0..=SHORTENINGS {
        let flat = at_flat_tets(mesh, &skin, &ways);
        if !flat.contains(&true) {
            break;
        }
        for (vertex, way) in ways.iter_mut().enumerate().filter(|(v, _)| flat[*v]) {
            let length = (way.norm() * SHORTER).max(least);
            *way = if round < SHORTENINGS {
                way.normalize() * length
            } else {
                -normals[vertex] * least.max(0.5 * length)
            };
        }
    }
    skin.iter()
        .zip(&ways)
        .map(|(skin, way)| skin + way)
        .collect()
}

fn averaged(ways: &[Vec64], topology: &Topology) -> Vec<Vec64> {
    ways.iter()
        .enumerate()
        .map(|(vertex, own)| {
            let neighbours = topology.neighbors(vertex);
            if neighbours.is_empty() {
                return *own;
            }
            let sum: Vec64 = neighbours.iter().map(|&other| ways[other as usize]).sum();
            own + (sum / neighbours.len() as f64 - own) * RELAXATION
        })
        .collect()
}

/// The way, turned towards the inside if it leads outwards or along the surface.
fn inwards(way: &Vec64, normal: &Vec64, least: f64) -> Vec64 {
    let length = way.norm();
    if !length.is_finite() || length < least {
        return -normal * least;
    }
    let depth = -way.dot(normal) / length;
    if depth >= INWARDS || normal.norm() < 0.5 {
        return *way;
    }
    let along = way / length + normal * depth;
    let along = along.try_normalize(1e-9).unwrap_or_else(Vec64::zeros);
    (along * (1.0 - INWARDS * INWARDS).sqrt() - normal * INWARDS) * length
}

/// Which vertices belong to a tet that is flat or inside out.
fn at_flat_tets(mesh: &TriMesh, skin: &[Point64], ways: &[Vec64]) -> Vec<bool> {
    let mut flat = vec![false; skin.len()];
    for triangle in &mesh.triangles {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        let [a, b, c] = *triangle;
        let sign = if [[a, b, c], [b, c, a], [c, a, b]].contains(&sorted) {
            -1.0
        } else {
            1.0
        };
        let [i, j, k] = sorted.map(|v| v as usize);
        let under = |v: usize| skin[v] + ways[v];
        let chain = [skin[i], skin[j], skin[k], under(i), under(j), under(k)];
        let area = (skin[j] - skin[i]).cross(&(skin[k] - skin[i])).norm();
        let depth = (ways[i].norm() + ways[j].norm() + ways[k].norm()) / 3.0;
        let sound = (0..3).all(|first| {
            let points = std::array::from_fn(|corner| chain[first + corner]);
            sign * edge_matrix(&points).determinant() >= SOUND * area * depth
        });
        if !sound {
            for &vertex in triangle {
                flat[vertex as usize] = true;
            }
        }
    }
    flat
}
