//! Temporary edges between the shells of a skin, so that smoothing weights crosses the gaps between them.

use rayon::prelude::*;

use super::{Edge, Surface};
use crate::mesh::{Topology, TriMesh, TriangleTree};
use crate::progress::{Cancelled, Progress};

/// Shells within this part of the size of each other are joined.
const REACH: f64 = 0.01;

/// The edges that join every shell to the shell nearest to it, where that is within [`REACH`] of the size: from each vertex that is
/// nearer to it than to any other, to the nearest corner of the nearest triangle.
///
/// Their conductance for a time τ is that of two sheets that exchange heat over a distance of [`REACH`]: τ times the area of the vertex
/// over the distance squared.
///
/// # Errors
/// [`Cancelled`].
pub(in crate::methods) fn bridges(
    surface: &Surface,
    mesh: &TriMesh,
    progress: &Progress,
) -> Result<Vec<Edge>, Cancelled> {
    let topology = Topology::of(mesh);
    if topology.components < 2 {
        return Ok(Vec::new());
    }
    let (tree, reach) = (TriangleTree::new(mesh), REACH * surface.size);
    let shell_of =
        |triangle: u32| topology.component_of[mesh.triangles[triangle as usize][0] as usize];
    let nearest = |vertex: usize| -> Option<(f64, u32, u32)> {
        let point = mesh.positions[vertex].cast::<f64>();
        if progress.is_cancelled() || !point.iter().all(|c| c.is_finite()) {
            return None;
        }
        let own = topology.component_of[vertex];
        let found = tree.closest(&point, reach, |triangle| shell_of(triangle) != own)?;
        let corners = mesh.triangles[found.triangle as usize];
        let distance = |v: u32| (mesh.positions[v as usize].cast::<f64>() - found.point).norm();
        let [a, b, c] = corners.map(|v| (distance(v), v));
        let corner = [b, c]
            .into_iter()
            .fold(a, |x, y| if y.0 < x.0 { y } else { x });
        Some((found.distance, shell_of(found.triangle), corner.1))
    };
    let found: Vec<_> = (0..surface.len()).into_par_iter().map(nearest).collect();
    progress.check()?;
    // The shell nearest to each.
    let mut targets: Vec<Option<(f64, u32)>> = vec![None; topology.components];
    for (vertex, (distance, shell, _)) in with_vertex(&found) {
        let target = &mut targets[topology.component_of[vertex] as usize];
        if target.is_none_or(|(nearest, _)| distance < nearest) {
            *target = Some((distance, shell));
        }
    }
    let is_target = |vertex: usize, shell: u32| {
        targets[topology.component_of[vertex] as usize].is_some_and(|(_, target)| target == shell)
    };
    let mut edges: Vec<Edge> = with_vertex(&found)
        .filter(|&(vertex, (_, shell, _))| is_target(vertex, shell))
        .map(|(vertex, (_, _, corner))| {
            let vertex = vertex as u32;
            Edge {
                ends: [vertex.min(corner), vertex.max(corner)],
                conductance: surface.areas[vertex as usize] / (reach * reach),
            }
        })
        .collect();
    edges.sort_by_key(|edge| edge.ends);
    Ok(edges)
}

/// Entries with the vertex they belong to.
fn with_vertex<T: Copy>(found: &[Option<T>]) -> impl Iterator<Item = (usize, T)> {
    found
        .iter()
        .enumerate()
        .filter_map(|(vertex, found)| found.map(|found| (vertex, found)))
}
