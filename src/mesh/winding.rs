//! Generalised winding numbers: inside/outside classification.
//!
//! Jacobson, Kavan, Sorkine-Hornung, "Robust Inside-Outside Segmentation using Generalized Winding
//! Numbers", SIGGRAPH 2013, equation 6: the sum of the solid angles of all triangles over 4π. For
//! meshes with holes the value varies continuously.

use rayon::prelude::*;

use super::TriMesh;
use crate::math::{Point64, Vec64};

impl TriMesh {
    /// The winding number of the mesh at each point: 1 inside and 0 outside of a closed mesh;
    /// intermediate values near holes.
    #[must_use]
    pub fn winding_numbers(&self, points: &[Point64]) -> Vec<f64> {
        points
            .par_iter()
            .map(|point| self.winding_number(point))
            .collect()
    }

    fn winding_number(&self, point: &Point64) -> f64 {
        let mut sum = 0.0;
        for triangle in &self.triangles {
            let [a, b, c]: [Vec64; 3] =
                triangle.map(|v| self.positions[v as usize].cast::<f64>() - point);
            let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
            let numerator = a.dot(&b.cross(&c));
            let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
            sum += numerator.atan2(denominator);
        }
        sum / (2.0 * std::f64::consts::PI)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    #[test]
    fn one_inside_and_zero_outside_a_tetrahedron() {
        let mesh = TriMesh {
            positions: vec![
                Point::origin(),
                Point::new(1.0, 0.0, 0.0),
                Point::new(0.0, 1.0, 0.0),
                Point::new(0.0, 0.0, 1.0),
            ],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        };
        let numbers =
            mesh.winding_numbers(&[Point64::new(0.1, 0.1, 0.1), Point64::new(1.0, 1.0, 1.0)]);
        assert!((numbers[0] - 1.0).abs() < 1e-12 && numbers[1].abs() < 1e-12);
    }
}
