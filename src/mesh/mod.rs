//! Triangle meshes: the mesh type, welding, topology, normals, closest points, decimation, checks
//! and repair.

mod around;
mod bending;
pub mod checkup;
mod closest;
pub mod decimate;
mod laplacian;
mod mirror;
mod normals;
mod repair;
#[cfg(test)]
pub(crate) mod shapes;
mod sim_mesh;
mod skin_mesh;
mod smooth_normals;
mod thickness;
mod topology;
mod triangle_tree;
mod weld;
mod winding;

pub(crate) use around::VertexTriangles;
pub use bending::Bending;
pub use checkup::MeshCheckup;
pub use closest::{closest_on_segment, closest_on_triangle};
pub use laplacian::{cotangent_laplacian, vertex_areas};
pub(crate) use mirror::MirrorPairs;
pub use normals::vertex_normals_into;
pub use repair::{Repaired, repair};
pub use sim_mesh::SimMesh;
pub use skin_mesh::{SkinMesh, WELD_TOLERANCE};
pub use smooth_normals::NormalGroups;
pub(crate) use thickness::thickness;
pub use topology::Topology;
pub use triangle_tree::{Closest, Crossing, TriangleTree};
pub use weld::{Weld, weld};

use crate::math::{Point, Vec3};

/// An indexed triangle mesh.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TriMesh {
    /// Vertex positions.
    pub positions: Vec<Point>,
    /// Counter-clockwise corner indices into `positions`.
    pub triangles: Vec<[u32; 3]>,
}

/// An axis-aligned box; empty while `min > max`.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// Smallest coordinates.
    pub min: Point,
    /// Largest coordinates.
    pub max: Point,
}

impl Bounds {
    /// The smallest box around the points; empty for none. Non-finite points are ignored.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Self {
        let mut bounds = Self {
            min: Point::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
            max: Point::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
        };
        for point in points {
            if point.iter().all(|c| c.is_finite()) {
                bounds.min = bounds.min.inf(point);
                bounds.max = bounds.max.sup(point);
            }
        }
        bounds
    }

    /// Whether the box is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// Edge lengths; zero for an empty box.
    #[must_use]
    pub fn extent(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::zeros()
        } else {
            self.max - self.min
        }
    }

    /// Length of the diagonal: *the size* of a shape, to which tolerances in this crate are
    /// relative.
    #[must_use]
    pub fn size(&self) -> f32 {
        self.extent().norm()
    }

    /// The centre; the origin for an empty box.
    #[must_use]
    pub fn center(&self) -> Point {
        if self.is_empty() {
            Point::origin()
        } else {
            nalgebra::center(&self.min, &self.max)
        }
    }
}

impl TriMesh {
    /// Bounding box of the vertices.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds::of(&self.positions)
    }

    /// The three corners of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: usize) -> [Point; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize])
    }
}
