//! Left and right of a symmetric character: what mirrored poses need to give mirrored flesh.
//!
//! Foot points at branchings of the bones depend on rounding: the smallest difference between the sides decides to which of several bones a
//! region belongs. And the cut of prisms into tets follows the numbers of the vertices. Here both become the same on both sides.

use super::BoneGraph;
use crate::math::{Point64, Vec64};
use crate::mesh::{MirrorPairs, TriMesh};

/// Ends of mirrored bones coincide up to this fraction of the size.
const TOLERANCE: f64 = 1e-3;

/// The mirror partners of the vertices of a simulation mesh, if it and its bones are symmetric.
pub(super) struct Sides {
    pairs: Option<MirrorPairs>,
    /// An order of the vertices, the same on both sides.
    pub(super) ranks: Vec<u32>,
}

impl Sides {
    /// Finds the partners.
    pub(super) fn of(mesh: &TriMesh, graph: &BoneGraph) -> Self {
        let tolerance = TOLERANCE * f64::from(mesh.bounds().size());
        let pairs = MirrorPairs::of(mesh).filter(|pairs| are_mirrored(graph, pairs, tolerance));
        let ranks = match &pairs {
            Some(pairs) => pairs.ranks(),
            None => (0..mesh.positions.len() as u32).collect(),
        };
        Self { pairs, ranks }
    }

    /// Moves points of partners to mirrored positions, by the mean of both.
    pub(super) fn balance_points(&self, points: &mut [Point64]) {
        self.each(|pairs, vertex, partner| {
            let image = pairs.mirrored(&points[partner]);
            points[vertex] = nalgebra::center(&points[vertex], &image);
            points[partner] = pairs.mirrored(&points[vertex]);
        });
    }

    /// The same for directions.
    pub(super) fn balance_directions(&self, directions: &mut [Vec64]) {
        self.each(|pairs, vertex, partner| {
            let image = pairs.mirrored_direction(&directions[partner]);
            directions[vertex] = (directions[vertex] + image) * 0.5;
            directions[partner] = pairs.mirrored_direction(&directions[vertex]);
        });
    }

    /// Marks both of two partners where one is marked.
    pub(super) fn share(&self, marks: &mut [bool]) {
        self.each(|_, vertex, partner| {
            let any = marks[vertex] || marks[partner];
            (marks[vertex], marks[partner]) = (any, any);
        });
    }

    /// Every pair once, and every vertex on the plane with itself.
    fn each(&self, mut pair: impl FnMut(&MirrorPairs, usize, usize)) {
        let Some(pairs) = &self.pairs else { return };
        for vertex in 0..self.ranks.len() {
            if let Some(partner) = pairs.partner(vertex).filter(|partner| vertex <= *partner) {
                pair(pairs, vertex, partner);
            }
        }
    }
}

/// Whether the bones are mirror images of each other.
fn are_mirrored(graph: &BoneGraph, pairs: &MirrorPairs, tolerance: f64) -> bool {
    let near = |a: &Point64, b: &Point64| (a - b).norm() <= tolerance;
    (0..graph.bones.len()).all(|bone| {
        let [from, to] = graph.segment(bone).map(|end| pairs.mirrored(&end));
        (0..graph.bones.len()).any(|other| {
            let [a, b] = graph.segment(other);
            near(&a, &from) && near(&b, &to)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::tube;
    use crate::tissue::graph;

    #[test]
    fn balanced_points_are_mirror_images() {
        let mesh = tube(1.0, 6.0, 8, 12, true);
        let skeleton = crate::rig::Skeleton::from_positions(&[
            ("root".to_owned(), None, Point64::new(0.0, 1.0, 0.0)),
            ("tip".to_owned(), Some(0), Point64::new(0.0, 5.0, 0.0)),
        ])
        .expect("a chain");
        let (graph, _) = graph::build(&mesh, &skeleton, None).expect("bones");
        let sides = Sides::of(&mesh, &graph);
        let pairs = sides.pairs.as_ref().expect("symmetric");
        let mut points: Vec<Point64> = mesh.positions.iter().map(|p| p.cast()).collect();
        for (vertex, point) in points.iter_mut().enumerate() {
            point.x += 1e-3 * (vertex % 5) as f64;
        }
        sides.balance_points(&mut points);
        for (vertex, point) in points.iter().enumerate() {
            let partner = pairs.partner(vertex).expect("a partner");
            assert!((pairs.mirrored(point) - points[partner]).norm() < 1e-12);
        }
    }

    #[test]
    fn bones_on_one_side_have_no_partners() {
        let mesh = tube(1.0, 6.0, 8, 12, true);
        let skeleton = crate::rig::Skeleton::from_positions(&[
            ("root".to_owned(), None, Point64::new(0.3, 1.0, 0.0)),
            ("tip".to_owned(), Some(0), Point64::new(0.3, 5.0, 0.0)),
        ])
        .expect("a chain");
        let (graph, _) = graph::build(&mesh, &skeleton, None).expect("bones");
        assert!(Sides::of(&mesh, &graph).pairs.is_none());
    }
}
