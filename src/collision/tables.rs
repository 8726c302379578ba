//! The data of a detection as plain tables, for detection on another device.

use rayon::prelude::*;

use super::body::NEIGHBOR_EDGES;
use super::{CollisionBody, PlaneSide};
use crate::math::{Point, Vec3};

/// What detection reads of a vertex at rest.
#[derive(Debug, Clone)]
pub struct VertexTable {
    /// The bone of its foot point.
    pub bone: u32,
    /// Whether the skin of that bone may touch itself.
    pub may_fold: bool,
    /// Mean length of its edges, world units.
    pub edge: f32,
    /// The foot point.
    pub foot_point: Point,
    /// Unit vector from the foot point to the vertex.
    pub outward: Vec3,
    /// Its adjacent triangles, ascending.
    pub fan: Vec<u32>,
    /// Neighbouring triangles, with which it never collides, ascending.
    pub neighbors: Vec<u32>,
    /// Triangles whose wedge contains it or one of its neighbours at rest: it never collides with triangles near these.
    pub ignored: Vec<u32>,
    /// The planes that its base point is kept on its own side of, in order.
    pub planes: Vec<PlaneSide>,
}

/// What detection reads of a triangle at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleTable {
    /// Corners, counter-clockwise.
    pub corners: [u32; 3],
    /// Corners in the order of the wedge's tets.
    pub sorted_corners: [u32; 3],
    /// Sign of the volume of those tets at rest.
    pub orientation: f32,
    /// Neighbours across the edges (0, 1), (1, 2), (2, 0); `u32::MAX` at a boundary.
    pub neighbors: [u32; 3],
    /// Mean edge length of the corners, world units.
    pub edge: f32,
    /// The mean of the corners.
    pub center: Point,
}

impl CollisionBody {
    /// Per vertex, what detection reads of it. Searches all neighbourhoods, which takes a while for large meshes.
    #[must_use]
    pub fn vertex_tables(&self) -> Vec<VertexTable> {
        let mut planes = vec![Vec::new(); self.vertices()];
        for (vertex, side) in self.joint_planes.sides() {
            planes[vertex as usize].push(side);
        }
        let longest = (0..self.triangles.len() as u32)
            .map(|triangle| self.local_edge(triangle))
            .fold(0.0, f32::max);
        let table = |(vertex, planes): (usize, Vec<PlaneSide>)| {
            let bone = self.foot_bones[vertex];
            let vertex_id = vertex as u32;
            let around = self.topology.neighbors(vertex);
            let ignored = around.iter().chain([&vertex_id]);
            VertexTable {
                bone,
                may_fold: self.may_fold[bone as usize],
                edge: self.edge_at[vertex],
                foot_point: self.foot_points[vertex].cast::<f32>(),
                outward: self.outward[vertex],
                fan: self.fan(vertex_id).to_vec(),
                neighbors: self.neighbor_triangles(vertex_id, longest),
                ignored: sorted(ignored.flat_map(|&v| self.ignored_of(v)).copied()),
                planes,
            }
        };
        planes.into_par_iter().enumerate().map(table).collect()
    }

    /// Per triangle, what detection reads of it.
    #[must_use]
    pub fn triangle_tables(&self) -> Vec<TriangleTable> {
        (0..self.triangles.len())
            .map(|t| TriangleTable {
                corners: self.triangles[t],
                sorted_corners: self.sorted_corners[t],
                orientation: self.orientation[t],
                neighbors: self.edge_neighbors[t],
                edge: self.local_edge(t as u32),
                center: self.rest_center(t as u32),
            })
            .collect()
    }

    /// Groups of nearby vertices with the bone of their foot points. Those that follow each other are near each other, too.
    pub fn patches(&self) -> impl Iterator<Item = (u32, &[u32])> {
        self.patches.iter().map(|p| (p.bone, p.vertices.as_slice()))
    }

    /// The triangles that [`CollisionBody::is_excluded`] calls neighbours of a vertex, ascending. `longest`: the largest local edge
    /// length of a triangle.
    fn neighbor_triangles(&self, vertex: u32, longest: f32) -> Vec<u32> {
        let start = self.rest[vertex as usize];
        let reach = NEIGHBOR_EDGES * longest.max(self.edge_at[vertex as usize]);
        let mut visited = vec![vertex];
        let mut next = 0;
        while let Some(&here) = visited.get(next) {
            next += 1;
            for &neighbor in self.topology.neighbors(here as usize) {
                if (self.rest[neighbor as usize] - start).norm() <= reach
                    && !visited.contains(&neighbor)
                {
                    visited.push(neighbor);
                }
            }
        }
        let mut near = sorted(visited.iter().flat_map(|&v| self.fan(v)).copied());
        near.retain(|&triangle| self.are_neighbors(vertex, triangle));
        near
    }
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
