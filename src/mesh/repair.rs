//! Repairs a mesh for simulation: face orientation and duplicate faces. Vertices are unchanged.

use std::collections::HashSet;

use super::checkup::{EdgeFaces, repeats, volumes};
use super::{Topology, TriMesh};

/// A repaired mesh and the changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repaired {
    /// The same vertices; triangles removed or reversed, otherwise in order.
    pub mesh: TriMesh,
    /// Number of removed faces: degenerate or duplicate.
    pub left_out: usize,
    /// Number of reversed faces.
    pub turned: usize,
}

/// Removes degenerate and duplicate faces, and orients the others: neighbours consistently, closed
/// components outwards, open components like the majority of their area. A face is kept if it is
/// the only one of a vertex. At non-manifold edges and on non-orientable components (Möbius strip),
/// neighbours may remain inconsistent.
///
/// # Panics
/// If a triangle index is out of range.
#[must_use]
pub fn repair(mesh: &TriMesh) -> Repaired {
    let kept = without_useless(mesh);
    let left_out = mesh.triangles.len() - kept.len();
    let mut repaired = TriMesh {
        positions: mesh.positions.clone(),
        triangles: kept,
    };
    let turn = faces_to_turn(&repaired);
    for (triangle, _) in repaired
        .triangles
        .iter_mut()
        .zip(&turn)
        .filter(|(_, turn)| **turn)
    {
        triangle.swap(1, 2);
    }
    Repaired {
        mesh: repaired,
        left_out,
        turned: turn.iter().filter(|&&turn| turn).count(),
    }
}

fn without_useless(mesh: &TriMesh) -> Vec<[u32; 3]> {
    let mut uses = vec![0_u32; mesh.positions.len()];
    mesh.triangles
        .iter()
        .flatten()
        .for_each(|&v| uses[v as usize] += 1);
    let mut seen = HashSet::with_capacity(mesh.triangles.len());
    let mut keep = |triangle: &[u32; 3]| {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        let useless = repeats(*triangle) || !seen.insert(sorted);
        let alone = triangle
            .iter()
            .any(|&v| uses[v as usize] <= triangle.iter().filter(|&&w| w == v).count() as u32);
        if useless && !alone {
            for &v in triangle {
                uses[v as usize] -= 1;
            }
        }
        !useless || alone
    };
    mesh.triangles.iter().filter(|t| keep(t)).copied().collect()
}

/// Which faces to reverse.
fn faces_to_turn(mesh: &TriMesh) -> Vec<bool> {
    let count = mesh.triangles.len();
    let edges = EdgeFaces::of(mesh);
    let mut neighbors: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for ([a, b], agree) in edges.pairs() {
        neighbors[a as usize].push((b, agree));
        neighbors[b as usize].push((a, agree));
    }
    let area = |face: usize| {
        let [a, b, c] = mesh.corners(face).map(nalgebra::OPoint::cast::<f64>);
        let area = (b - a).cross(&(c - a)).norm();
        if area.is_finite() { area } else { 0.0 }
    };
    let mut turn: Vec<Option<bool>> = vec![None; count];
    let mut patch = Vec::new();
    for seed in 0..count {
        if turn[seed].is_some() {
            continue;
        }
        turn[seed] = Some(false);
        patch.clear();
        patch.push(seed);
        let mut next = 0;
        while next < patch.len() {
            let face = patch[next];
            next += 1;
            for &(other, agree) in &neighbors[face] {
                if turn[other as usize].is_none() {
                    turn[other as usize] = turn[face].map(|turned| turned == agree);
                    patch.push(other as usize);
                }
            }
        }
        // The orientation of most of the area is kept.
        let (mut turned, mut all) = (0.0, 0.0);
        for &face in &patch {
            turned += if turn[face] == Some(true) {
                area(face)
            } else {
                0.0
            };
            all += area(face);
        }
        if turned > 0.5 * all {
            for &face in &patch {
                turn[face] = turn[face].map(|turned| !turned);
            }
        }
    }
    let mut turn: Vec<bool> = turn.into_iter().map(Option::unwrap_or_default).collect();
    turn_closed_outwards(mesh, &edges, &mut turn);
    turn
}

/// Closed components that are inside out after `turn` are reversed as a whole.
fn turn_closed_outwards(mesh: &TriMesh, edges: &EdgeFaces, turn: &mut [bool]) {
    let topology = Topology::of(mesh);
    let mut closed = vec![true; topology.components];
    for [a, _] in edges.boundary().chain(edges.non_manifold()) {
        closed[topology.component_of[a as usize] as usize] = false;
    }
    let swapped = |(t, turn): (&[u32; 3], &bool)| if *turn { [t[0], t[2], t[1]] } else { *t };
    let turned = TriMesh {
        positions: mesh.positions.clone(),
        triangles: mesh.triangles.iter().zip(&*turn).map(swapped).collect(),
    };
    let volumes = volumes(&turned, &topology);
    for (turn, triangle) in turn.iter_mut().zip(&mesh.triangles) {
        let part = topology.component_of[triangle[0] as usize] as usize;
        *turn ^= closed[part] && volumes[part] < 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{ball, joined, tube};
    use super::*;
    use crate::math::Point;

    #[test]
    fn a_valid_mesh_is_unchanged() {
        for mesh in [
            ball(Point::origin(), 1.0, 8, 12),
            tube(0.1, 1.0, 4, 9, false),
            TriMesh::default(),
        ] {
            assert_eq!(
                repair(&mesh),
                Repaired {
                    mesh,
                    left_out: 0,
                    turned: 0
                }
            );
        }
    }

    #[test]
    fn reversed_faces_and_components_are_corrected() {
        let sound = joined(&[
            ball(Point::origin(), 1.0, 8, 12),
            ball(Point::new(3.0, 0.0, 0.0), 1.0, 8, 12),
            tube(0.1, 1.0, 4, 9, false),
        ]);
        let mut broken = sound.clone();
        let half = ball(Point::origin(), 1.0, 8, 12).triangles.len();
        for triangle in &mut broken.triangles[..half] {
            triangle.swap(1, 2);
        }
        let last = broken.triangles.len() - 5;
        for face in [half + 3, half + 40, last] {
            broken.triangles[face].swap(1, 2);
        }
        let repaired = repair(&broken);
        assert_eq!((repaired.mesh, repaired.turned), (sound, half + 3));
    }

    #[test]
    fn degenerate_faces_are_removed_unless_a_vertex_needs_them() {
        let mut mesh = ball(Point::origin(), 1.0, 8, 12);
        let sound = mesh.triangles.clone();
        let [a, b, c] = mesh.triangles[10];
        mesh.triangles.extend([[a, c, b], [a, a, b], [b, c, a]]);
        let repaired = repair(&mesh);
        assert_eq!((repaired.mesh.triangles, repaired.left_out), (sound, 3));
        let unused = TriMesh {
            positions: vec![Point::origin(); 2],
            triangles: vec![[0, 1, 1]],
        };
        assert_eq!(repair(&unused).left_out, 0);
    }

    #[test]
    fn a_moebius_strip_keeps_its_faces() {
        let mut strip = TriMesh::default();
        let count = 12_u32;
        for k in 0..count {
            let angle = std::f32::consts::TAU * k as f32 / count as f32;
            for side in [-0.3, 0.3_f32] {
                let radius = 1.0 + side * (angle / 2.0).cos();
                strip.positions.push(Point::new(
                    radius * angle.cos(),
                    side * (angle / 2.0).sin(),
                    radius * angle.sin(),
                ));
            }
        }
        for k in 0..count {
            let (a, b) = (2 * k, 2 * k + 1);
            let (c, d) = if k + 1 < count {
                (a + 2, b + 2)
            } else {
                (1, 0)
            };
            strip.triangles.extend([[a, b, c], [c, b, d]]);
        }
        let repaired = repair(&strip);
        assert_eq!(
            (repaired.mesh.triangles.len(), repaired.left_out),
            (strip.triangles.len(), 0)
        );
    }
}
