//! Data of collision detection that do not depend on the pose: wedges, neighbours, patches, and the pairs that are ignored.

use super::bone_cells::{BoneCells, bone_cells};
use super::part::Meetings;
use super::{Detector, Feet};
use crate::math::{Point, Point64, Vec3, Vec64};
use crate::mesh::{Topology, TriMesh};
use crate::tissue::Tissue;

/// Vertices of a patch.
const PATCH: usize = 40;
/// Pairs closer along the surface than so many local edges are neighbours and don't collide.
const NEIGHBOR_EDGES: f32 = 1.5;
/// A pair learnt at rest stands for all within so many local edges.
const LEARNT_EDGES: f32 = 5.0;
/// Vertices that the search for a neighbour may visit.
const VISITS: usize = 96;

/// A group of vertices near each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch {
    /// The bone of all of its vertices' foot points.
    pub(super) bone: u32,
    pub(super) vertices: Vec<u32>,
}

/// The skin as an obstacle for itself. Immutable; made once per tissue.
#[derive(Debug, Clone)]
pub struct CollisionBody {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Corners sorted by index: the chain of the wedge's tets, as in [`crate::tissue::layer`].
    pub(super) chains: Vec<[u32; 3]>,
    /// The sign of the volume of the wedge's tets while they are not turned inside out.
    pub(super) orientation: Vec<f32>,
    pub(super) rest: Vec<Point>,
    pub(super) foot_bones: Vec<u32>,
    pub(super) foot_points: Vec<Point64>,
    /// Unit vectors from the foot points to the skin, at rest.
    pub(super) outward: Vec<Vec3>,
    /// Mean length of the edges at each vertex, at rest.
    pub(super) edge_at: Vec<f32>,
    pub(super) patches: Vec<Patch>,
    pub(super) bones: Vec<BoneCells>,
    /// Whether the feet of a triangle are on several bones.
    pub(super) mixed: Vec<bool>,
    /// Per vertex the triangles whose wedge holds it at rest.
    learnt_offsets: Vec<u32>,
    learnt: Vec<u32>,
    /// Per vertex the triangles around it.
    fan_offsets: Vec<u32>,
    fans: Vec<u32>,
    /// Per triangle its neighbours over the edges (0,1), (1,2), (2,0).
    pub(super) across: Vec<[u32; 3]>,
    pub(super) meetings: Meetings,
    /// Per bone whether its skin may fold onto itself: it is shorter than its flesh is deep.
    pub(super) folds: Vec<bool>,
    topology: Topology,
    mean_edge: f32,
}

/// No triangle.
pub(super) const NONE: u32 = u32::MAX;

impl CollisionBody {
    /// Prepares the skin of a tissue, and learns which pairs lie in each other at rest.
    #[must_use]
    pub fn new(mesh: &TriMesh, tissue: &Tissue) -> Self {
        let topology = Topology::of(mesh);
        let n = mesh.positions.len();
        let mut edge_at = vec![0.0_f32; n];
        let mut total = 0.0_f64;
        for (vertex, edge) in edge_at.iter_mut().enumerate() {
            let neighbors = topology.neighbors(vertex);
            let sum: f32 = neighbors
                .iter()
                .map(|&v| (mesh.positions[v as usize] - mesh.positions[vertex]).norm())
                .sum();
            *edge = sum / neighbors.len().max(1) as f32;
            total += f64::from(sum);
        }
        let mean_edge = (total / (2 * topology.edges.len()).max(1) as f64) as f32;
        let chains: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|&triangle| {
                let mut sorted = triangle;
                sorted.sort_unstable();
                sorted
            })
            .collect();
        let orientation = mesh
            .triangles
            .iter()
            .zip(&chains)
            .map(|(&[a, b, c], sorted)| {
                let even = [[a, b, c], [b, c, a], [c, a, b]].contains(sorted);
                if even { -1.0 } else { 1.0 }
            })
            .collect();
        let (fan_offsets, fans) = fans(&mesh.triangles, n);
        let across = across(&mesh.triangles, &fan_offsets, &fans);
        let mixed = chains
            .iter()
            .map(|t| {
                t.iter()
                    .any(|&v| tissue.foot_bones[v as usize] != tissue.foot_bones[t[0] as usize])
            })
            .collect();
        let bones = bone_cells(mesh, tissue, &chains, mean_edge);
        let outward = mesh.positions.iter().zip(&tissue.foot_points);
        let outward = outward
            .map(|(x, s)| {
                (x.cast::<f64>() - s)
                    .try_normalize(1e-30)
                    .unwrap_or_else(Vec64::y)
                    .cast::<f32>()
            })
            .collect();
        let (meetings, folds) = Meetings::of(mesh, tissue);
        let mut body = Self {
            triangles: mesh.triangles.clone(),
            chains,
            orientation,
            rest: mesh.positions.clone(),
            foot_bones: tissue.foot_bones.clone(),
            foot_points: tissue.foot_points.clone(),
            outward,
            edge_at,
            patches: patches(mesh, &tissue.foot_bones),
            bones,
            mixed,
            learnt_offsets: vec![0; n + 1],
            learnt: Vec::new(),
            fan_offsets,
            fans,
            across,
            meetings,
            folds,
            topology,
            mean_edge,
        };
        body.learn();
        body
    }

    /// Mean length of an edge of the skin at rest, world units.
    #[must_use]
    pub fn mean_edge(&self) -> f32 {
        self.mean_edge
    }

    /// How many vertices the skin has.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.rest.len()
    }

    /// Corners of a triangle, counter-clockwise.
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Mean length of the edges around a triangle, at rest.
    #[must_use]
    pub fn local_edge(&self, triangle: u32) -> f32 {
        self.triangle(triangle)
            .iter()
            .map(|&v| self.edge_at[v as usize])
            .sum::<f32>()
            / 3.0
    }

    /// How many vertices lie in a wedge of another part of the skin at rest; their pairs are ignored.
    #[must_use]
    pub fn learnt_pairs(&self) -> usize {
        self.learnt.len()
    }

    /// The triangles around a vertex.
    pub(super) fn fan(&self, vertex: u32) -> &[u32] {
        &self.fans[self.fan_offsets[vertex as usize] as usize
            ..self.fan_offsets[vertex as usize + 1] as usize]
    }

    fn learnt_of(&self, vertex: u32) -> &[u32] {
        &self.learnt[self.learnt_offsets[vertex as usize] as usize
            ..self.learnt_offsets[vertex as usize + 1] as usize]
    }

    fn learn(&mut self) {
        let mut detector = Detector::default();
        let mut hits: Vec<[u32; 2]> = Vec::new();
        let feet = Feet::at_rest(self);
        hits.extend(
            detector
                .detect(self, &self.rest, &feet)
                .iter()
                .map(|hit| [hit.vertex, hit.triangle]),
        );
        hits.sort_unstable();
        for &[vertex, triangle] in &hits {
            self.learnt_offsets[vertex as usize + 1] += 1;
            self.learnt.push(triangle);
        }
        for v in 0..self.rest.len() {
            self.learnt_offsets[v + 1] += self.learnt_offsets[v];
        }
    }

    /// Whether a vertex and a triangle belong together: neighbours on the surface, or in each other at rest.
    #[must_use]
    pub fn is_left_alone(&self, vertex: u32, triangle: u32) -> bool {
        self.are_neighbors(vertex, triangle) || self.is_learnt(vertex, triangle)
    }

    fn are_neighbors(&self, vertex: u32, triangle: u32) -> bool {
        let corners = self.triangle(triangle);
        let own = self.edge_at[vertex as usize].max(self.local_edge(triangle));
        let reach = NEIGHBOR_EDGES * own;
        let start = self.rest[vertex as usize];
        let nearest = corners
            .iter()
            .map(|&c| (self.rest[c as usize] - start).norm())
            .fold(f32::INFINITY, f32::min);
        if nearest > reach {
            return false;
        }
        // A walk from the vertex that stays in the ball reaches the triangle.
        let mut visited = [vertex; VISITS];
        let (mut count, mut next) = (1, 0);
        while next < count {
            let here = visited[next];
            next += 1;
            if corners.contains(&here) {
                return true;
            }
            for &neighbor in self.topology.neighbors(here as usize) {
                let inside = (self.rest[neighbor as usize] - start).norm() <= reach;
                if inside && count < VISITS && !visited[..count].contains(&neighbor) {
                    visited[count] = neighbor;
                    count += 1;
                }
            }
        }
        false
    }

    fn is_learnt(&self, vertex: u32, triangle: u32) -> bool {
        if self.learnt.is_empty() {
            return false;
        }
        let reach = LEARNT_EDGES
            * self.edge_at[vertex as usize]
                .max(self.local_edge(triangle))
                .max(0.5 * self.mean_edge);
        let center = self.rest_center(triangle);
        let near = |v: u32| {
            self.learnt_of(v)
                .iter()
                .any(|&t| t == triangle || (self.rest_center(t) - center).norm() <= reach)
        };
        near(vertex)
            || self
                .topology
                .neighbors(vertex as usize)
                .iter()
                .any(|&v| near(v))
    }

    fn rest_center(&self, triangle: u32) -> Point {
        let [a, b, c] = self
            .triangle(triangle)
            .map(|v| self.rest[v as usize].coords);
        Point::from((a + b + c) / 3.0)
    }

    /// Area-weighted normal of a vertex at the given positions, not normalised.
    #[must_use]
    pub fn area_normal(&self, vertex: u32, positions: &[Point]) -> Vec3 {
        let mut sum = Vec3::zeros();
        for &triangle in self.fan(vertex) {
            let [a, b, c] = self.triangle(triangle).map(|v| positions[v as usize]);
            sum += (b - a).cross(&(c - a));
        }
        sum
    }
}

/// Triangles around every vertex, ascending.
fn fans(triangles: &[[u32; 3]], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; vertices + 1];
    for &v in triangles.as_flattened() {
        offsets[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        offsets[v + 1] += offsets[v];
    }
    let mut cursor = offsets.clone();
    let mut fans = vec![0; triangles.len() * 3];
    for (triangle, corners) in triangles.iter().enumerate() {
        for &v in corners {
            fans[cursor[v as usize] as usize] = triangle as u32;
            cursor[v as usize] += 1;
        }
    }
    (offsets, fans)
}

/// The neighbour over every edge; [`NONE`] at boundaries, the first found where more than two meet.
fn across(triangles: &[[u32; 3]], offsets: &[u32], fans: &[u32]) -> Vec<[u32; 3]> {
    let over = |triangle: usize, a: u32, b: u32| {
        let fan = &fans[offsets[a as usize] as usize..offsets[a as usize + 1] as usize];
        fan.iter()
            .copied()
            .find(|&t| t as usize != triangle && triangles[t as usize].contains(&b))
            .unwrap_or(NONE)
    };
    triangles
        .iter()
        .enumerate()
        .map(|(t, &[a, b, c])| [over(t, a, b), over(t, b, c), over(t, c, a)])
        .collect()
}

/// Cuts the vertices of every bone in halves along their longest extent until the parts are small.
fn patches(mesh: &TriMesh, foot_bones: &[u32]) -> Vec<Patch> {
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.sort_by_key(|&v| foot_bones[v as usize]);
    let mut patches = Vec::new();
    for bone in order.chunk_by_mut(|&a, &b| foot_bones[a as usize] == foot_bones[b as usize]) {
        halve(bone, foot_bones, &mesh.positions, &mut patches);
    }
    patches
}

fn halve(vertices: &mut [u32], foot_bones: &[u32], positions: &[Point], patches: &mut Vec<Patch>) {
    if vertices.len() <= PATCH {
        vertices.sort_unstable();
        patches.push(Patch {
            bone: foot_bones[vertices[0] as usize],
            vertices: vertices.to_vec(),
        });
        return;
    }
    let extent = crate::mesh::Bounds::of(vertices.iter().map(|&v| &positions[v as usize])).extent();
    let axis = extent.imax();
    vertices.sort_by(|&a, &b| {
        positions[a as usize][axis]
            .total_cmp(&positions[b as usize][axis])
            .then(a.cmp(&b))
    });
    let (low, high) = vertices.split_at_mut(vertices.len() / 2);
    halve(low, foot_bones, positions, patches);
    halve(high, foot_bones, positions, patches);
}
