//! Pose-independent data of collision detection: wedges, adjacency, patches, and excluded pairs.

use super::base_separation::JointPlanes;
use super::bone_cells::{BoneCells, bone_cells};
use super::{Detector, PosedFootPoints};
use crate::math::{Point, Point64, Vec3, Vec64};
use crate::mesh::{Topology, TriMesh, VertexTriangles};
use crate::tissue::Tissue;

/// Largest number of vertices per patch.
const MAX_PATCH_VERTICES: usize = 40;
/// Pairs within this many local edge lengths along the surface are neighbours and do not collide.
pub(super) const NEIGHBOR_EDGES: f32 = 1.5;
/// A pair that intersects at rest excludes all pairs within this many local edge lengths, too.
const REST_PAIR_EDGES: f32 = 5.0;
/// Largest number of vertices visited when [`NEIGHBOR_EDGES`] is tested.
const MAX_VISITS: usize = 96;

/// A group of nearby vertices, the leaf of the broad phase.
#[derive(Debug, Clone, Default)]
pub(super) struct Patch {
    /// The bone of the vertices' foot points.
    pub(super) bone: u32,
    pub(super) vertices: Vec<u32>,
}

/// The skin as a collision object against itself. Immutable; built once per tissue.
#[derive(Debug, Clone)]
pub struct CollisionBody {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Per triangle, its corners sorted by index. This is the order of the wedge's tets, as in [`crate::tissue::layer`].
    pub(super) sorted_corners: Vec<[u32; 3]>,
    /// Per triangle, the sign of the volume of its wedge's tets at rest.
    pub(super) orientation: Vec<f32>,
    pub(super) rest: Vec<Point>,
    pub(super) foot_bones: Vec<u32>,
    pub(super) foot_points: Vec<Point64>,
    /// Per vertex, the unit vector from its foot point to its rest position.
    pub(super) outward: Vec<Vec3>,
    /// Per vertex, the mean length of its edges at rest, world units.
    pub(super) edge_at: Vec<f32>,
    pub(super) patches: Vec<Patch>,
    pub(super) bones: Vec<BoneCells>,
    /// Per triangle, whether its foot points belong to several bones.
    pub(super) mixed: Vec<bool>,
    /// Per vertex, the triangles whose wedge contains it at rest: `ignored[ignored_offsets[v]..ignored_offsets[v + 1]]`.
    ignored_offsets: Vec<u32>,
    ignored: Vec<u32>,
    /// The triangles adjacent to every vertex.
    fans: VertexTriangles,
    /// Per triangle, its neighbours across the edges (0,1), (1,2), (2,0); [`NO_TRIANGLE`] at a boundary.
    pub(super) edge_neighbors: Vec<[u32; 3]>,
    pub(super) joint_planes: JointPlanes,
    /// Per bone, whether its skin may touch itself: true if the bone is shorter than its flesh is thick.
    pub(super) may_fold: Vec<bool>,
    pub(super) topology: Topology,
    mean_edge: f32,
}

/// Opposite sides of a limb are at most this many times their summed flesh thickness apart.
const MAX_THICKNESS_RATIO: f32 = 1.3;
/// A side lies behind the other if the cosine between the direction to it and the inward direction is at least this.
const MIN_BEHIND_COSINE: f32 = 0.4;

/// Marks a missing triangle.
pub(super) const NO_TRIANGLE: u32 = u32::MAX;

impl CollisionBody {
    /// Builds the collision object of a tissue's skin, and records the pairs that intersect at rest.
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
        let sorted_corners: Vec<[u32; 3]> = mesh
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
            .zip(&sorted_corners)
            .map(|(&[a, b, c], sorted)| {
                let even = [[a, b, c], [b, c, a], [c, a, b]].contains(sorted);
                if even { -1.0 } else { 1.0 }
            })
            .collect();
        let fans = VertexTriangles::of(mesh.positions.len(), &mesh.triangles);
        let edge_neighbors = edge_neighbors(&mesh.triangles, &fans);
        let mixed = sorted_corners
            .iter()
            .map(|t| {
                t.iter()
                    .any(|&v| tissue.foot_bones[v as usize] != tissue.foot_bones[t[0] as usize])
            })
            .collect();
        let bones = bone_cells(mesh, tissue, &sorted_corners, mean_edge);
        let outward = mesh.positions.iter().zip(&tissue.foot_points);
        let outward = outward
            .map(|(x, s)| {
                (x.cast::<f64>() - s)
                    .try_normalize(1e-30)
                    .unwrap_or_else(Vec64::y)
                    .cast::<f32>()
            })
            .collect();
        let (joint_planes, may_fold) = JointPlanes::of(mesh, tissue);
        let mut body = Self {
            triangles: mesh.triangles.clone(),
            sorted_corners,
            orientation,
            rest: mesh.positions.clone(),
            foot_bones: tissue.foot_bones.clone(),
            foot_points: tissue.foot_points.clone(),
            outward,
            edge_at,
            patches: patches(mesh, &tissue.foot_bones),
            bones,
            mixed,
            ignored_offsets: vec![0; n + 1],
            ignored: Vec::new(),
            fans,
            edge_neighbors,
            joint_planes,
            may_fold,
            topology,
            mean_edge,
        };
        body.record_rest_intersections();
        body
    }

    /// Mean edge length of the skin at rest, world units.
    #[must_use]
    pub fn mean_edge(&self) -> f32 {
        self.mean_edge
    }

    /// Number of vertices of the skin.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.rest.len()
    }

    /// Positions at rest, by vertex, world units.
    #[must_use]
    pub fn rest_positions(&self) -> &[Point] {
        &self.rest
    }

    /// Corners of a triangle, counter-clockwise.
    #[must_use]
    pub fn triangle(&self, triangle: u32) -> [u32; 3] {
        self.triangles[triangle as usize]
    }

    /// Mean edge length of the corners of a triangle, at rest.
    #[must_use]
    pub fn local_edge(&self, triangle: u32) -> f32 {
        self.triangle(triangle)
            .iter()
            .map(|&v| self.edge_at[v as usize])
            .sum::<f32>()
            / 3.0
    }

    /// The triangles adjacent to a vertex.
    pub(super) fn fan(&self, vertex: u32) -> &[u32] {
        self.fans.vertex(vertex)
    }

    pub(super) fn ignored_of(&self, vertex: u32) -> &[u32] {
        &self.ignored[self.ignored_offsets[vertex as usize] as usize
            ..self.ignored_offsets[vertex as usize + 1] as usize]
    }

    fn record_rest_intersections(&mut self) {
        let mut detector = Detector::default();
        let mut hits: Vec<[u32; 2]> = Vec::new();
        let foot_points = PosedFootPoints::at_rest(self);
        hits.extend(
            detector
                .detect(self, &self.rest, &foot_points)
                .iter()
                .map(|hit| [hit.vertex, hit.triangle]),
        );
        hits.sort_unstable();
        for &[vertex, triangle] in &hits {
            self.ignored_offsets[vertex as usize + 1] += 1;
            self.ignored.push(triangle);
        }
        for v in 0..self.rest.len() {
            self.ignored_offsets[v + 1] += self.ignored_offsets[v];
        }
    }

    /// Whether a vertex and a triangle never collide: they are neighbours on the surface, or intersect at rest.
    #[must_use]
    pub fn is_excluded(&self, vertex: u32, triangle: u32) -> bool {
        self.are_neighbors(vertex, triangle) || self.is_ignored(vertex, triangle)
    }

    /// Whether a vertex and a point of a triangle are opposite sides of the same limb at rest: each lies behind the other, and
    /// their distance is at most the thickness of the flesh. A contact between them would invert the flesh.
    #[must_use]
    pub fn are_opposite_sides(&self, vertex: u32, corners: [u32; 3], weights: [f32; 3]) -> bool {
        let mut thickness = self.thickness(vertex);
        let mut offset = self.rest[vertex as usize].coords;
        let mut outward = Vec3::zeros();
        for (&corner, weight) in corners.iter().zip(weights) {
            offset -= self.rest[corner as usize].coords * weight;
            outward += self.outward[corner as usize] * weight;
            thickness += self.thickness(corner) * weight;
        }
        let least = MIN_BEHIND_COSINE * offset.norm();
        offset.norm() <= MAX_THICKNESS_RATIO * thickness
            && -offset.dot(&outward) >= least
            && offset.dot(&self.outward[vertex as usize]) >= least
    }

    /// Distance of a vertex from its foot point on the bone line at rest, world units.
    #[must_use]
    pub fn thickness(&self, vertex: u32) -> f32 {
        (self.rest[vertex as usize] - self.foot_points[vertex as usize].cast::<f32>()).norm()
    }

    pub(super) fn are_neighbors(&self, vertex: u32, triangle: u32) -> bool {
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
        // The triangle is a neighbour if a path along edges inside the ball connects it to the vertex.
        let mut visited = [vertex; MAX_VISITS];
        let (mut count, mut next) = (1, 0);
        while next < count {
            let here = visited[next];
            next += 1;
            if corners.contains(&here) {
                return true;
            }
            for &neighbor in self.topology.neighbors(here as usize) {
                let inside = (self.rest[neighbor as usize] - start).norm() <= reach;
                if inside && count < MAX_VISITS && !visited[..count].contains(&neighbor) {
                    visited[count] = neighbor;
                    count += 1;
                }
            }
        }
        false
    }

    fn is_ignored(&self, vertex: u32, triangle: u32) -> bool {
        if self.ignored.is_empty() {
            return false;
        }
        let reach = REST_PAIR_EDGES
            * self.edge_at[vertex as usize]
                .max(self.local_edge(triangle))
                .max(0.5 * self.mean_edge);
        let center = self.rest_center(triangle);
        let near = |v: u32| {
            self.ignored_of(v)
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

    pub(super) fn rest_center(&self, triangle: u32) -> Point {
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

/// Per triangle, the neighbour across each edge; [`NO_TRIANGLE`] at boundaries, the first one found at non-manifold edges.
fn edge_neighbors(triangles: &[[u32; 3]], fans: &VertexTriangles) -> Vec<[u32; 3]> {
    let over = |triangle: usize, a: u32, b: u32| {
        fans.vertex(a)
            .iter()
            .copied()
            .find(|&t| t as usize != triangle && triangles[t as usize].contains(&b))
            .unwrap_or(NO_TRIANGLE)
    };
    triangles
        .iter()
        .enumerate()
        .map(|(t, &[a, b, c])| [over(t, a, b), over(t, b, c), over(t, c, a)])
        .collect()
}

/// Splits the vertices of every bone at the median of the longest axis until each patch has at most [`MAX_PATCH_VERTICES`].
fn patches(mesh: &TriMesh, foot_bones: &[u32]) -> Vec<Patch> {
    let mut order: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    order.sort_by_key(|&v| foot_bones[v as usize]);
    let mut patches = Vec::new();
    for bone in order.chunk_by_mut(|&a, &b| foot_bones[a as usize] == foot_bones[b as usize]) {
        split_patch(bone, foot_bones, &mesh.positions, &mut patches);
    }
    patches
}

fn split_patch(
    vertices: &mut [u32],
    foot_bones: &[u32],
    positions: &[Point],
    patches: &mut Vec<Patch>,
) {
    if vertices.len() <= MAX_PATCH_VERTICES {
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
    split_patch(low, foot_bones, positions, patches);
    split_patch(high, foot_bones, positions, patches);
}
