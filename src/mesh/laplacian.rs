//! The cotangent Laplacian and the areas of vertices.
//!
//! Pinkall, Polthier, "Computing Discrete Minimal Surfaces and Their Conjugates", Experimental Mathematics 2(1), 1993: for values u at
//! the vertices, `uᵀ L u = ½ Σ_triangles Σ_corners cot θ (u_j − u_k)²`, where j and k are the other two corners.
//!
//! # Departures
//! - A triangle with an angle whose cotangent exceeds [`LARGEST`], or without an area, counts with its cotangents clamped to
//!   0..=[`LARGEST`]. L then stays positive semi-definite, and its entries finite. Triangles with a corner that is not finite are left
//!   out.

use super::TriMesh;
use crate::math::Point64;
use crate::numerics::SymmetricMatrix;

/// Largest absolute cotangent of a triangle that is used as it is: an angle of 0.57°.
const LARGEST: f64 = 100.0;

/// The cotangent Laplacian, n × n for n vertices, symmetric positive semi-definite; its rows sum to 0. No unit: it does not change when
/// the mesh is scaled.
#[must_use]
pub fn cotangent_laplacian(mesh: &TriMesh) -> SymmetricMatrix {
    let mut triplets = Vec::with_capacity(mesh.triangles.len() * 9);
    for (triangle, corners) in mesh.triangles.iter().zip(corners(mesh)) {
        let Some(cotangents) = corners.map(|corners| cotangents(&corners)) else {
            continue;
        };
        for (corner, cotangent) in cotangents.into_iter().enumerate() {
            let [j, k] = [(corner + 1) % 3, (corner + 2) % 3].map(|c| triangle[c] as usize);
            let half = 0.5 * cotangent;
            triplets.extend([(j, j, half), (k, k, half)]);
            // An edge between a vertex and itself has no length to weigh.
            if j == k {
                triplets.push((j, j, -cotangent));
            } else {
                triplets.push((j, k, -half));
            }
        }
    }
    SymmetricMatrix::from_triplets(mesh.positions.len(), triplets)
}

/// A third of the areas of the triangles around each vertex; they sum to the area of the mesh.
#[must_use]
pub fn vertex_areas(mesh: &TriMesh) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.positions.len()];
    for (triangle, corners) in mesh.triangles.iter().zip(corners(mesh)) {
        if let Some([a, b, c]) = corners {
            let sixth = (b - a).cross(&(c - a)).norm() / 6.0;
            for &vertex in triangle {
                areas[vertex as usize] += sixth;
            }
        }
    }
    areas
}

/// The corners of every triangle, `None` where one is not finite.
fn corners(mesh: &TriMesh) -> impl Iterator<Item = Option<[Point64; 3]>> + '_ {
    (0..mesh.triangles.len()).map(|triangle| {
        let corners = mesh.corners(triangle).map(nalgebra::OPoint::cast::<f64>);
        corners
            .iter()
            .all(|corner| corner.iter().all(|c| c.is_finite()))
            .then_some(corners)
    })
}

fn cotangents(corners: &[Point64; 3]) -> [f64; 3] {
    let twice_area = (corners[1] - corners[0])
        .cross(&(corners[2] - corners[0]))
        .norm();
    let cotangents = [0, 1, 2].map(|i| {
        let [to_j, to_k] = [1, 2].map(|step| corners[(i + step) % 3] - corners[i]);
        to_j.dot(&to_k) / twice_area
    });
    if cotangents
        .iter()
        .all(|cotangent| cotangent.abs() <= LARGEST)
    {
        return cotangents;
    }
    // 0 / 0 where corners coincide.
    cotangents.map(|cotangent| {
        if cotangent.is_nan() {
            0.0
        } else {
            cotangent.clamp(0.0, LARGEST)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::mesh::shapes::{ball, tube};

    #[test]
    fn rows_sum_to_zero_and_areas_to_the_area() {
        let mesh = ball(Point::origin(), 2.0, 24, 32);
        let rows = cotangent_laplacian(&mesh).multiply(&vec![1.0; mesh.positions.len()]);
        assert!(rows.iter().all(|row| row.abs() < 1e-9));
        let area: f64 = vertex_areas(&mesh).iter().sum();
        let sphere = 4.0 * std::f64::consts::PI * 4.0;
        assert!(area < sphere && area > 0.98 * sphere, "{area}");
    }

    /// A linear function on a plane is harmonic: its Laplacian vanishes inside, whatever the triangles.
    #[test]
    fn a_linear_function_on_a_plane_is_harmonic() {
        let n = 9_u32;
        let mut mesh = TriMesh::default();
        for row in 0..n {
            for column in 0..n {
                let inside = row % (n - 1) != 0 && column % (n - 1) != 0;
                let shift = if inside { 0.3 } else { 0.0 };
                let [x, y] = [column, row].map(|c| c as f32);
                let at = Point::new(
                    x + shift * (3.0 * y).sin(),
                    y + shift * (5.0 * x).cos(),
                    0.0,
                );
                mesh.positions.push(at);
            }
        }
        for row in 0..n - 1 {
            for column in 0..n - 1 {
                let [a, b, c, d] = [(0, 0), (0, 1), (1, 0), (1, 1)]
                    .map(|(up, right)| (row + up) * n + column + right);
                mesh.triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        let linear: Vec<f64> = mesh
            .positions
            .iter()
            .map(|p| 2.0 * f64::from(p.x) - 3.0 * f64::from(p.y) + 1.0)
            .collect();
        let result = cotangent_laplacian(&mesh).multiply(&linear);
        for row in 1..n - 1 {
            for column in 1..n - 1 {
                let value = result[(row * n + column) as usize];
                assert!(value.abs() < 1e-9, "{row}, {column}: {value}");
            }
        }
    }

    #[test]
    fn bad_triangles_leave_it_finite_and_semi_definite() {
        let mut mesh = tube(1.0, 3.0, 6, 8, true);
        mesh.positions.push(mesh.positions[3]);
        mesh.positions.push(Point::new(f32::NAN, 0.0, 0.0));
        let [twin, broken] = [2, 1].map(|k| (mesh.positions.len() - k) as u32);
        mesh.triangles
            .extend([[3, twin, 5], [3, 3, 4], [3, twin, 3], [broken, 1, 2]]);
        let matrix = cotangent_laplacian(&mesh);
        assert!(matrix.entries().all(|(_, _, value)| value.is_finite()));
        let rows = matrix.multiply(&vec![1.0; mesh.positions.len()]);
        assert!(rows.iter().all(|row| row.abs() < 1e-9));
        for seed in 1..20_u32 {
            let values: Vec<f64> = (0..mesh.positions.len())
                .map(|v| f64::from(seed * 37 + v as u32 * 11).sin())
                .collect();
            let energy: f64 = matrix
                .multiply(&values)
                .iter()
                .zip(&values)
                .map(|(row, value)| row * value)
                .sum();
            assert!(energy >= -1e-9, "{energy}");
        }
    }
}
