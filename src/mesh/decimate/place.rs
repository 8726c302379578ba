//! Projects the vertices of the coarse mesh onto the fine one.

use super::SurfacePoint;
use crate::math::Point64;
use crate::mesh::around::VertexTriangles;
use crate::mesh::{TriMesh, closest_on_triangle};

/// Finds surface points on the fine mesh.
pub(super) struct SurfaceFinder<'a> {
    mesh: &'a TriMesh,
    around: VertexTriangles,
}

impl<'a> SurfaceFinder<'a> {
    pub(super) fn new(mesh: &'a TriMesh) -> Self {
        Self {
            mesh,
            around: VertexTriangles::of(mesh.positions.len(), &mesh.triangles),
        }
    }

    /// The surface point at a vertex, which must have a triangle.
    pub(super) fn at_vertex(&self, vertex: u32) -> SurfacePoint {
        let triangle = self
            .around
            .vertex(vertex)
            .first()
            .copied()
            .unwrap_or_default();
        let corner = self.mesh.triangles[triangle as usize]
            .iter()
            .position(|&corner| corner == vertex);
        SurfacePoint {
            triangle,
            barycentric: one_at(corner.unwrap_or_default()),
        }
    }

    /// The surface point closest to `point`, found by descent from `start` along vertex neighbours:
    /// it stays on the connected component and does not jump to another sheet.
    pub(super) fn near(&self, point: &Point64, start: u32) -> SurfacePoint {
        let distance =
            |v: u32| (self.mesh.positions[v as usize].cast::<f64>() - point).norm_squared();
        let (mut vertex, mut least) = (start, distance(start));
        loop {
            let before = vertex;
            for &t in self.around.vertex(before) {
                for corner in self.mesh.triangles[t as usize] {
                    let to_corner = distance(corner);
                    if to_corner < least {
                        (vertex, least) = (corner, to_corner);
                    }
                }
            }
            if vertex == before {
                break;
            }
        }
        let mut best = (f64::INFINITY, self.at_vertex(vertex));
        for &t in self.around.vertex(vertex) {
            for corner in self.mesh.triangles[t as usize] {
                for &candidate in self.around.vertex(corner) {
                    self.closer(point, candidate, &mut best);
                }
            }
        }
        best.1
    }

    fn closer(&self, point: &Point64, triangle: u32, best: &mut (f64, SurfacePoint)) {
        let corners = self
            .mesh
            .corners(triangle as usize)
            .map(nalgebra::OPoint::cast::<f64>);
        let [a, b, c] = &corners;
        let closest = closest_on_triangle(point, a, b, c);
        let distance = (closest - point).norm_squared();
        if distance < best.0 {
            *best = (
                distance,
                SurfacePoint {
                    triangle,
                    barycentric: barycentric(&closest, &corners),
                },
            );
        }
    }
}

/// Barycentric coordinates of a point of a triangle: non-negative, sum 1; those of the nearest
/// corner if the triangle has no area.
fn barycentric(point: &Point64, [a, b, c]: &[Point64; 3]) -> [f32; 3] {
    let normal = (b - a).cross(&(c - a));
    let area = normal.norm_squared();
    let part =
        |p: &Point64, q: &Point64| ((p - point).cross(&(q - point)).dot(&normal) / area).max(0.0);
    let [u, v, w] = [part(b, c), part(c, a), part(a, b)];
    let sum = u + v + w;
    if area > 0.0 && sum.is_finite() && sum > 0.5 {
        return [u, v, w].map(|share| (share / sum) as f32);
    }
    let distances = [a, b, c].map(|corner| (corner - point).norm_squared());
    let nearest = (0..3).fold(0, |best, k| {
        if distances[k] < distances[best] {
            k
        } else {
            best
        }
    });
    one_at(nearest)
}

/// The barycentric coordinates of a corner.
fn one_at(corner: usize) -> [f32; 3] {
    std::array::from_fn(|k| if k == corner { 1.0 } else { 0.0 })
}
