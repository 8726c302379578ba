//! The triangles incident to every vertex.

use super::TriMesh;

/// Incident triangles of every vertex, ascending, in compressed sparse rows.
#[derive(Debug, Clone)]
pub(crate) struct VertexTriangles {
    offsets: Vec<u32>,
    triangles: Vec<u32>,
}

impl VertexTriangles {
    pub(crate) fn of(mesh: &TriMesh) -> Self {
        let mut offsets = vec![0_u32; mesh.positions.len() + 1];
        for &v in mesh.triangles.as_flattened() {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..mesh.positions.len() {
            offsets[v + 1] += offsets[v];
        }
        let mut cursor = offsets.clone();
        let mut triangles = vec![0_u32; mesh.triangles.len() * 3];
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for &v in triangle {
                triangles[cursor[v as usize] as usize] = index as u32;
                cursor[v as usize] += 1;
            }
        }
        Self { offsets, triangles }
    }

    /// The triangles at a vertex.
    pub(crate) fn vertex(&self, vertex: u32) -> &[u32] {
        &self.triangles
            [self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize]
    }
}
