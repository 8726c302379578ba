//! Vertex normals.

use super::TriMesh;
use crate::math::{Point, Vec3};

/// Writes area-weighted unit vertex normals of `triangles` at `positions` into `normals` (one per position); a vertex without
/// area gets +Y. Allocates nothing.
pub fn vertex_normals_into(positions: &[Point], triangles: &[[u32; 3]], normals: &mut [Vec3]) {
    normals.fill(Vec3::zeros());
    for &[a, b, c] in triangles {
        let [a, b, c] = [a as usize, b as usize, c as usize];
        let twice_area = (positions[b] - positions[a]).cross(&(positions[c] - positions[a]));
        normals[a] += twice_area;
        normals[b] += twice_area;
        normals[c] += twice_area;
    }
    for normal in normals {
        *normal = normal.try_normalize(1e-30).unwrap_or_else(Vec3::y);
    }
}

impl TriMesh {
    /// Area-weighted unit vertex normals.
    #[must_use]
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::zeros(); self.positions.len()];
        vertex_normals_into(&self.positions, &self.triangles, &mut normals);
        normals
    }
}
