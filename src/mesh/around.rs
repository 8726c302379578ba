//! The triangles incident to every vertex.

use crate::math::Vec3;

/// Incident triangles of every vertex, ascending, in compressed sparse rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VertexTriangles {
    offsets: Vec<u32>,
    triangles: Vec<u32>,
}

impl VertexTriangles {
    /// # Panics
    /// If a triangle has a vertex that is not there.
    pub(crate) fn of(vertices: usize, mesh_triangles: &[[u32; 3]]) -> Self {
        let mut offsets = vec![0_u32; vertices + 1];
        for &v in mesh_triangles.as_flattened() {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..vertices {
            offsets[v + 1] += offsets[v];
        }
        let mut cursor = offsets.clone();
        let mut triangles = vec![0_u32; mesh_triangles.len() * 3];
        for (index, triangle) in mesh_triangles.iter().enumerate() {
            for &v in triangle {
                triangles[cursor[v as usize] as usize] = index as u32;
                cursor[v as usize] += 1;
            }
        }
        Self { offsets, triangles }
    }

    /// The triangles at a vertex.
    #[inline]
    pub(crate) fn vertex(&self, vertex: u32) -> &[u32] {
        &self.triangles
            [self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize]
    }

    /// The sum of the values of the triangles at a vertex, in ascending order.
    #[inline]
    pub(crate) fn sum_at(&self, vertex: u32, values: &[Vec3]) -> Vec3 {
        let triangles = self.vertex(vertex).iter();
        triangles.map(|&triangle| values[triangle as usize]).sum()
    }
}
