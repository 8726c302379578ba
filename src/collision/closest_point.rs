//! Closest points on the skin by local search: step to an adjacent triangle as long as it is closer.

use super::CollisionBody;
use super::body::NO_TRIANGLE;
use crate::math::{Point, Vec3};

/// Largest number of steps of a search.
const MAX_STEPS: usize = 24;

/// The point of the skin closest to a query point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoint {
    /// The triangle that contains the point.
    pub triangle: u32,
    /// Barycentric coordinates in the triangle.
    pub weights: [f32; 3],
    /// World position.
    pub point: Point,
    /// Unit normal, interpolated between the vertex normals.
    pub normal: Vec3,
}

impl CollisionBody {
    /// The point of the skin closest to `p`, by local search from the triangle `start`. The result may be a local minimum.
    pub(super) fn closest_point_from(
        &self,
        p: &Point,
        start: u32,
        positions: &[Point],
    ) -> ClosestPoint {
        self.closest_allowed_point_from(p, start, positions, |_| true)
    }

    /// As [`Self::closest_point_from`], but steps only to allowed triangles. `start` must be allowed.
    pub(super) fn closest_allowed_point_from(
        &self,
        p: &Point,
        start: u32,
        positions: &[Point],
        allowed: impl Fn(u32) -> bool,
    ) -> ClosestPoint {
        let closest = |triangle: u32| {
            let corners = self.triangle(triangle).map(|v| positions[v as usize] - p);
            let weights = closest_to_origin(&corners);
            let offset =
                corners[0] * weights[0] + corners[1] * weights[1] + corners[2] * weights[2];
            (offset.norm_squared(), weights, offset)
        };
        let mut triangle = start;
        let mut best = closest(start);
        for _ in 0..MAX_STEPS {
            let mut next = None;
            // Only triangles adjacent to the vertex or edge that contains the closest point can be closer.
            for candidate in self.adjacent_triangles(triangle, &best.1) {
                let found = closest(candidate);
                if found.0 < best.0 * (1.0 - 1e-6) && allowed(candidate) {
                    (best, next) = (found, Some(candidate));
                }
            }
            let Some(found) = next else { break };
            triangle = found;
        }
        let (_, weights, offset) = best;
        ClosestPoint {
            triangle,
            weights,
            point: p + offset,
            normal: self.smooth_normal(triangle, &weights, positions),
        }
    }

    /// Triangles adjacent to the vertex or edge on which a point lies; none for an interior point.
    fn adjacent_triangles(
        &self,
        triangle: u32,
        weights: &[f32; 3],
    ) -> impl Iterator<Item = u32> + '_ {
        let corners = self.triangle(triangle);
        let zero = weights.map(|w| w <= 0.0);
        let count = zero.iter().filter(|&&z| z).count();
        let fan: &[u32] = match (count, zero) {
            (2, [false, ..]) => self.fan(corners[0]),
            (2, [_, false, _]) => self.fan(corners[1]),
            (2, _) => self.fan(corners[2]),
            _ => &[],
        };
        // Corner 0 is opposite to the edge (1, 2), and so on.
        let across = match (count, zero) {
            (1, [true, ..]) => self.edge_neighbors[triangle as usize][1],
            (1, [_, true, _]) => self.edge_neighbors[triangle as usize][2],
            (1, _) => self.edge_neighbors[triangle as usize][0],
            _ => NO_TRIANGLE,
        };
        let across = (across != NO_TRIANGLE).then_some(across);
        fan.iter()
            .copied()
            .filter(move |&t| t != triangle)
            .chain(across)
    }

    /// Unit normal at a point of a triangle, interpolated between the vertex normals.
    pub(super) fn smooth_normal(
        &self,
        triangle: u32,
        weights: &[f32; 3],
        positions: &[Point],
    ) -> Vec3 {
        let corners = self.triangle(triangle);
        let mut sum = Vec3::zeros();
        for (v, &w) in corners.into_iter().zip(weights) {
            if w > 0.0 {
                sum += self
                    .area_normal(v, positions)
                    .try_normalize(1e-30)
                    .unwrap_or_else(Vec3::zeros)
                    * w;
            }
        }
        sum.try_normalize(1e-6)
            .unwrap_or_else(|| self.flat_normal(triangle, positions))
    }

    fn flat_normal(&self, triangle: u32, positions: &[Point]) -> Vec3 {
        let [a, b, c] = self.triangle(triangle).map(|v| positions[v as usize]);
        (b - a)
            .cross(&(c - a))
            .try_normalize(1e-30)
            .unwrap_or_else(Vec3::y)
    }
}

/// Barycentric coordinates of the point of a triangle closest to the origin (Ericson, "Real-Time Collision Detection", 5.1.5).
fn closest_to_origin([a, b, c]: &[Vec3; 3]) -> [f32; 3] {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        [va / sum, vb / sum, vc / sum]
    } else {
        [1.0, 0.0, 0.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    #[test]
    fn agrees_with_the_exact_closest_point() {
        for k in 0..500 {
            let t = k as f32;
            let at = |s: f32| {
                Vec3::new(
                    (t * 1.1 + s).sin(),
                    (t * 0.7 + 2.0 * s).cos(),
                    (t * 0.3 - s).sin(),
                ) * (1.0 + s)
            };
            let corners = [at(0.0), at(1.0), at(2.5)];
            let w = closest_to_origin(&corners);
            assert!(w.iter().all(|&w| w >= 0.0) && (w.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            let ours = (corners[0] * w[0] + corners[1] * w[1] + corners[2] * w[2]).norm();
            let [a, b, c] = corners.map(|v| Point64::from(v.cast::<f64>()));
            let exact = crate::mesh::closest_on_triangle(&Point64::origin(), &a, &b, &c)
                .coords
                .norm();
            assert!((f64::from(ours) - exact).abs() < 1e-5, "{ours} {exact}");
        }
    }
}
