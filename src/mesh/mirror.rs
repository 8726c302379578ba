//! Vertices that are mirror images of each other.

use std::collections::HashMap;

use super::TriMesh;
use crate::math::{Point64, Vec64};

/// Vertices at mirrored positions count as partners up to this fraction of the size.
const TOLERANCE: f64 = 1e-5;
/// Fraction of the vertices that must have partners.
const LEAST_SHARE: f64 = 0.9;

/// The mirror partners of the vertices of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MirrorPairs {
    /// For every vertex its partner; the vertex itself on the plane, and where there is none.
    partner: Vec<u32>,
    /// Whether a vertex has a partner or lies on the plane.
    paired: Vec<bool>,
    axis: usize,
    /// Coordinate of the plane along the axis.
    at: f64,
}

impl MirrorPairs {
    /// The partners of a mesh that is symmetric about the plane through the middle of its bounds, across x, z or y; `None` if more than a
    /// tenth of its vertices have no partner.
    pub(crate) fn of(mesh: &TriMesh) -> Option<Self> {
        [0, 2, 1]
            .into_iter()
            .find_map(|axis| Self::across(mesh, axis))
    }

    fn across(mesh: &TriMesh, axis: usize) -> Option<Self> {
        let points: Vec<Point64> = mesh.positions.iter().map(|p| p.cast()).collect();
        let along = || points.iter().map(|point| point[axis]);
        let (low, high) = along().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let tolerance = TOLERANCE * f64::from(mesh.bounds().size());
        if !(low.is_finite() && high.is_finite() && tolerance > 0.0) {
            return None;
        }
        let mut pairs = Self {
            partner: (0..points.len() as u32).collect(),
            paired: vec![false; points.len()],
            axis,
            at: 0.5 * (low + high),
        };
        let cells = Cells::of(&points, tolerance);
        for (vertex, point) in points.iter().enumerate() {
            let found = cells.nearest(&points, &pairs.mirrored(point));
            pairs.paired[vertex] = found.is_some();
            pairs.partner[vertex] = found.unwrap_or(vertex as u32);
        }
        // Of coincident vertices each needs a partner of its own, or none.
        for vertex in 0..points.len() {
            let partner = pairs.partner[vertex] as usize;
            if pairs.partner[partner] as usize != vertex {
                (pairs.partner[vertex], pairs.paired[vertex]) = (vertex as u32, false);
            }
        }
        let count = pairs.paired.iter().filter(|paired| **paired).count();
        (count as f64 >= LEAST_SHARE * points.len() as f64).then_some(pairs)
    }

    /// The mirror image of a point.
    pub(crate) fn mirrored(&self, point: &Point64) -> Point64 {
        let mut image = *point;
        image[self.axis] = 2.0 * self.at - image[self.axis];
        image
    }

    /// The mirror image of a direction.
    pub(crate) fn mirrored_direction(&self, direction: &Vec64) -> Vec64 {
        let mut image = *direction;
        image[self.axis] = -image[self.axis];
        image
    }

    /// The partner of a vertex, itself on the plane; `None` if it has none.
    pub(crate) fn partner(&self, vertex: usize) -> Option<usize> {
        self.paired[vertex].then(|| self.partner[vertex] as usize)
    }

    /// An order of the vertices in which partners follow each other: triangles and their mirror images, without an edge across the plane,
    /// have their corners in the same order.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let partners = self.partner.iter().zip(0..);
        partners
            .map(|(&partner, vertex)| 2 * partner.min(vertex) + u32::from(partner < vertex))
            .collect()
    }
}

/// Points by cells of a grid as wide as the tolerance.
struct Cells {
    tolerance: f64,
    points: HashMap<[i64; 3], Vec<u32>>,
}

impl Cells {
    fn of(points: &[Point64], tolerance: f64) -> Self {
        let mut cells = Self {
            tolerance,
            points: HashMap::new(),
        };
        for (vertex, point) in (0..).zip(points) {
            let cell = cells.cell(point);
            cells.points.entry(cell).or_default().push(vertex);
        }
        cells
    }

    fn cell(&self, point: &Point64) -> [i64; 3] {
        [0, 1, 2].map(|axis| (point[axis] / self.tolerance).floor() as i64)
    }

    /// The nearest point within the tolerance; the one with the lowest number of several.
    fn nearest(&self, points: &[Point64], to: &Point64) -> Option<u32> {
        let [x, y, z] = self.cell(to);
        let mut best = (self.tolerance, None);
        for offset in 0..27 {
            let cell = [
                x + offset % 3 - 1,
                y + offset / 3 % 3 - 1,
                z + offset / 9 - 1,
            ];
            for &vertex in self.points.get(&cell).into_iter().flatten() {
                let distance = (points[vertex as usize] - to).norm();
                let is_first = best.1.is_none_or(|other| vertex < other);
                if distance < best.0 || (distance <= best.0 && is_first) {
                    best = (distance, Some(vertex));
                }
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;
    use crate::mesh::shapes::tube;

    #[test]
    fn partners_are_mirror_images() {
        let mesh = tube(1.0, 4.0, 6, 16, true);
        let pairs = MirrorPairs::of(&mesh).expect("a tube is symmetric");
        for vertex in 0..mesh.positions.len() {
            let partner = pairs.partner(vertex).expect("a partner");
            assert_eq!(pairs.partner(partner), Some(vertex));
            let image = pairs.mirrored(&mesh.positions[vertex].cast());
            assert!((image - mesh.positions[partner].cast::<f64>()).norm() < 1e-5);
        }
        let mut ranks = pairs.ranks();
        ranks.sort_unstable();
        ranks.dedup();
        assert_eq!(ranks.len(), mesh.positions.len());
    }

    #[test]
    fn shapes_without_a_plane_have_no_partners() {
        let mut mesh = tube(1.0, 4.0, 6, 16, true);
        for (vertex, position) in mesh.positions.iter_mut().enumerate() {
            let shift = (vertex * vertex % 17) as f32 * 0.01;
            *position += nalgebra::Vector3::new(shift, 0.3 * shift, 0.7 * shift);
        }
        assert_eq!(MirrorPairs::of(&mesh), None);
        let nowhere = TriMesh {
            positions: vec![Point::new(f32::NAN, 0.0, 0.0)],
            triangles: Vec::new(),
        };
        assert_eq!(MirrorPairs::of(&nowhere), None);
    }
}
