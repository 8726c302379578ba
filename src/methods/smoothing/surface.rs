//! The skin as a discrete surface: areas of vertices and conductances of edges.

use crate::math::Point64;
use crate::mesh::{TriMesh, cotangent_laplacian, vertex_areas};
use crate::numerics::SymmetricMatrix;

/// Least conductance of an edge: a tenth of that between two equilateral triangles.
pub(super) const LEAST_CONDUCTANCE: f64 = 0.05;
/// Least area of a vertex as a part of the mean.
const LEAST_AREA: f64 = 1e-6;

/// An edge that heat flows along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::methods) struct Edge {
    /// Its vertices, the smaller first.
    pub(in crate::methods) ends: [u32; 2],
    /// Half the sum of the cotangents opposite it, no unit.
    pub(in crate::methods) conductance: f64,
}

impl Edge {
    /// The mean of the values at its ends.
    pub(in crate::methods) fn mean_of(&self, values: &[f64]) -> f64 {
        let [a, b] = self.ends.map(|v| values[v as usize]);
        0.5 * (a + b)
    }
}

/// The welded skin in the bind pose.
pub(in crate::methods) struct Surface {
    /// Positions relative to `center`; the origin for those that are not finite.
    pub(in crate::methods) positions: Vec<Point64>,
    /// The centre of the bounding box, world space.
    pub(in crate::methods) center: Point64,
    /// Diagonal of the bounding box; 1 if there is none.
    pub(in crate::methods) size: f64,
    /// Edges, sorted. Vertices whose position is not finite have none.
    pub(in crate::methods) edges: Vec<Edge>,
    /// Area of every vertex, positive.
    pub(in crate::methods) areas: Vec<f64>,
}

impl Surface {
    pub(in crate::methods) fn of(mesh: &TriMesh) -> Self {
        let bounds = mesh.bounds();
        let center: Point64 = bounds.center().cast();
        let place = |position: &crate::math::Point| {
            let relative = position.cast::<f64>() - center;
            let finite = relative.iter().all(|c| c.is_finite());
            Point64::from(if finite { relative } else { nalgebra::zero() })
        };
        let edges = cotangent_laplacian(mesh)
            .entries()
            .filter(|(row, column, _)| row != column)
            .map(|(row, column, value)| Edge {
                ends: [column as u32, row as u32],
                conductance: (-value).max(LEAST_CONDUCTANCE),
            })
            .collect();
        let size = f64::from(bounds.size());
        Self {
            positions: mesh.positions.iter().map(place).collect(),
            center,
            size: if size > 0.0 { size } else { 1.0 },
            edges,
            areas: positive(vertex_areas(mesh)),
        }
    }

    /// How many vertices there are.
    pub(in crate::methods) fn len(&self) -> usize {
        self.positions.len()
    }

    /// `M + L_τ` for a squared length τ a vertex.
    pub(in crate::methods) fn implicit(&self, times: &[f64]) -> SymmetricMatrix {
        let of_edge = |edge: &Edge| edge.conductance * edge.mean_of(times);
        laplacian(self.len(), &self.edges, of_edge).plus_diagonal(&self.areas)
    }
}

/// The Laplacian of a graph with weighted edges: positive semi-definite, rows that sum to 0.
pub(super) fn laplacian(
    vertices: usize,
    edges: &[Edge],
    weight: impl Fn(&Edge) -> f64,
) -> SymmetricMatrix {
    let triplets = edges.iter().flat_map(|edge| {
        let ([a, b], weight) = (edge.ends.map(|v| v as usize), weight(edge));
        [(a, a, weight), (b, b, weight), (a, b, -weight)]
    });
    SymmetricMatrix::from_triplets(vertices, triplets)
}

impl Surface {
    /// `D + λ L` and D for L with the conductances of edges and D its diagonal (1 for a vertex without edge): smoothing that counts
    /// edges.
    pub(in crate::methods) fn by_edges(&self, lambda: f64) -> (SymmetricMatrix, Vec<f64>) {
        let mut degrees = vec![0.0; self.len()];
        for edge in &self.edges {
            for vertex in edge.ends {
                degrees[vertex as usize] += edge.conductance;
            }
        }
        for degree in degrees.iter_mut().filter(|degree| **degree == 0.0) {
            *degree = 1.0;
        }
        let scaled = |edge: &Edge| lambda * edge.conductance;
        let matrix = laplacian(self.len(), &self.edges, scaled).plus_diagonal(&degrees);
        (matrix, degrees)
    }
}

/// Areas that are too small for a system to be solved count as a small part of the mean.
fn positive(mut areas: Vec<f64>) -> Vec<f64> {
    let sum: f64 = areas.iter().sum();
    let mean = sum / areas.len().max(1) as f64;
    let least = if mean > 0.0 { LEAST_AREA * mean } else { 1.0 };
    for area in &mut areas {
        *area = area.max(least);
    }
    areas
}
