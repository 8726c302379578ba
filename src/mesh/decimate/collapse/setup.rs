//! Connected components, and the initial quadric of every vertex.

use super::{BENT_COST, Collapser, ComponentState, LARGE, Vertex, cross};
use crate::math::Vec64;
use crate::mesh::TriMesh;
use crate::mesh::decimate::kind::{VertexKind, kinds};
use crate::mesh::decimate::live::{EdgeTriangles, LiveMesh};
use crate::mesh::decimate::quadric::{PointQuadric, Quadric};
use crate::mesh::decimate::queue::CandidateQueue;
use crate::mesh::decimate::{ENOUGH, LEAST, SMALL_SHARE};

/// Weight of the boundary planes relative to a triangle's plane, per squared length of the boundary
/// edge.
const BOUNDARY: f64 = 10.0;

impl Collapser {
    /// Takes a mesh with `positions` normalised to be centred at the origin with size about 1.
    /// `importance` is the weight of the errors around each vertex; `evenness` is the weight of the
    /// squared distance to the input's points relative to that to its planes.
    pub(in crate::mesh::decimate) fn new(
        mesh: &TriMesh,
        positions: &[Vec64],
        importance: &[f64],
        evenness: f64,
    ) -> Self {
        let live = LiveMesh::of(mesh);
        let n = positions.len();
        let kinds = kinds(&live, n);
        let vertex = |v: usize| Vertex {
            position: positions[v],
            planes: Quadric::default(),
            points: PointQuadric::default(),
            area: Vec64::zeros(),
            // Non-finite vertices have no error.
            kind: if positions[v].iter().all(|c| c.is_finite()) {
                kinds[v]
            } else {
                VertexKind::Fixed
            },
            part: 0,
            stamp: 0,
            origin: v as u32,
            moved: false,
        };
        let count = (0..n as u32).filter(|&v| live.degree(v) > 0).count();
        let mut collapser = Self {
            vertices: (0..n).map(vertex).collect(),
            live,
            merged_into: (0..n as u32).collect(),
            parts: Vec::new(),
            count,
            evenness,
            queue: CandidateQueue::default(),
            edge: EdgeTriangles::default(),
            neighbors: Vec::new(),
        };
        collapser.find_parts();
        collapser.add_surface(importance);
        collapser.add_boundaries(importance);
        collapser
    }

    /// Number of vertices that every connected component keeps when `target` are wanted in total.
    pub(in crate::mesh::decimate) fn floor(&self, target: usize) -> u32 {
        let each = SMALL_SHARE * target as f64 / self.parts.len().max(1) as f64;
        (each as u32).clamp(LEAST, ENOUGH)
    }

    fn find_parts(&mut self) {
        let mut stack = Vec::new();
        let mut seen = vec![false; self.vertices.len()];
        for seed in 0..self.vertices.len() as u32 {
            if seen[seed as usize] || self.live.degree(seed) == 0 {
                continue;
            }
            let part = self.parts.len() as u32;
            let mut size = 0;
            seen[seed as usize] = true;
            stack.push(seed);
            while let Some(v) = stack.pop() {
                size += 1;
                self.vertices[v as usize].part = part;
                for w in self.live.ring(v).flat_map(|(_, pair)| pair) {
                    if !std::mem::replace(&mut seen[w as usize], true) {
                        stack.push(w);
                    }
                }
            }
            self.parts.push(ComponentState {
                size,
                area: 0.0,
                bent_cost: 0.0,
            });
        }
    }

    /// Every triangle adds to each of its corners a third of the distances to its plane and to its
    /// points.
    fn add_surface(&mut self, importance: &[f64]) {
        for triangle in self.live.triangles() {
            let corners = triangle.map(|v| self.vertices[v as usize].position);
            let twice_area = cross(&corners);
            let length = twice_area.norm();
            if !(length.is_finite() && length > 0.0) {
                continue;
            }
            let center = corners.iter().sum::<Vec64>() / 3.0;
            let spread = corners
                .iter()
                .map(|corner| (corner - center).norm_squared())
                .sum::<f64>()
                / 12.0;
            let mean = triangle
                .iter()
                .map(|&v| importance[v as usize])
                .sum::<f64>()
                / 3.0;
            let weight = mean * length / 6.0;
            let plane = Quadric::plane(&(twice_area / length), &center, weight);
            let points = PointQuadric::at_point(&center, spread, weight);
            for v in triangle {
                let vertex = &mut self.vertices[v as usize];
                vertex.planes += &plane;
                vertex.points += &points;
                vertex.area += twice_area / 6.0;
            }
            self.parts[self.vertices[triangle[0] as usize].part as usize].area += length / 2.0;
        }
        let total: f64 = self.parts.iter().map(|part| part.area).sum();
        for part in self.parts.iter_mut().filter(|part| part.area > 0.0) {
            part.bent_cost = BENT_COST * (part.area / (LARGE * total)).min(1.0).sqrt();
        }
    }

    /// Boundary edges add to their ends planes perpendicular to the surface (Garland & Heckbert,
    /// "Surface simplification using quadric error metrics", SIGGRAPH 1997, section 6).
    fn add_boundaries(&mut self, importance: &[f64]) {
        for u in 0..self.vertices.len() as u32 {
            if self.vertices[u as usize].kind == VertexKind::Regular {
                continue;
            }
            self.live.neighbors_into(u, &mut self.neighbors);
            for &v in &self.neighbors {
                self.live.edge_into(u, v, &mut self.edge);
                let &[(_, opposite)] = self.edge.faces.as_slice() else {
                    continue;
                };
                if u > v {
                    continue;
                }
                let [a, b, c] = [u, v, opposite].map(|w| self.vertices[w as usize].position);
                let along = b - a;
                let across = (c - a) - along * (along.dot(&(c - a)) / along.norm_squared());
                let Some(normal) = across
                    .try_normalize(0.0)
                    .filter(|normal| normal.iter().all(|c| c.is_finite()))
                else {
                    continue;
                };
                let mean = f64::midpoint(importance[u as usize], importance[v as usize]);
                let quadric =
                    Quadric::plane(&normal, &a, BOUNDARY / 2.0 * mean * along.norm_squared());
                self.vertices[u as usize].planes += &quadric;
                self.vertices[v as usize].planes += &quadric;
            }
        }
    }
}
