//! Triangles in a tree of boxes, to find the one that fits a point best.

use crate::math::{Point, Point64, Vec3};
use crate::mesh::{TriMesh, closest_on_triangle};

/// Triangles in a leaf, at most.
const LEAF: usize = 6;

/// A tree over the triangles of a mesh that have finite corners.
pub(super) struct Tree<'a> {
    mesh: &'a TriMesh,
    /// Unit normals of all triangles; zero for those without area.
    normals: Vec<Vec3>,
    /// Triangles, leaf by leaf.
    order: Vec<u32>,
    nodes: Vec<Node>,
}

struct Node {
    min: Point,
    max: Point,
    /// Of a leaf: its range in `order`. Of an inner node: its right child; the left one comes right after it.
    start: u32,
    /// Triangles of a leaf; 0 for an inner node.
    count: u32,
}

/// Where a point was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) triangle: u32,
    /// The closest point of the triangle.
    pub(super) point: Point64,
    /// Distance from there.
    pub(super) distance: f64,
    /// Distance and penalty.
    pub(super) score: f64,
}

impl<'a> Tree<'a> {
    pub(super) fn new(mesh: &'a TriMesh) -> Self {
        let finite = |triangle: &[u32; 3]| triangle.iter().all(|&v| mesh.positions[v as usize].iter().all(|c| c.is_finite()));
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).filter(|&t| finite(&mesh.triangles[t as usize])).collect();
        let middle = |[a, b, c]: [Point; 3]| Point::from((a.coords + b.coords + c.coords) / 3.0);
        let middles: Vec<Point> = (0..mesh.triangles.len()).map(|t| middle(mesh.corners(t))).collect();
        let normal = |[a, b, c]: [Point; 3]| (b - a).cross(&(c - a)).try_normalize(f32::MIN_POSITIVE).unwrap_or_else(Vec3::zeros);
        let normals = (0..mesh.triangles.len()).map(|t| normal(mesh.corners(t))).collect();
        let mut nodes = Vec::with_capacity(order.len() / 2 + 1);
        // Left subtrees come first, so that a left child follows its parent; a right one is entered into its parent when it is made.
        let mut open = vec![(0, order.len(), None::<usize>)];
        while let Some((start, end, parent)) = open.pop() {
            if let Some(parent) = parent {
                let here = nodes.len() as u32;
                let parent: &mut Node = &mut nodes[parent];
                parent.start = here;
            }
            let range = &mut order[start..end];
            let (min, max) = box_of(range.iter().flat_map(|&t| mesh.corners(t as usize)));
            if range.len() <= LEAF {
                nodes.push(Node { min, max, start: start as u32, count: range.len() as u32 });
                continue;
            }
            let (low, high) = box_of(range.iter().map(|&t| middles[t as usize]));
            let axis = (high - low).imax();
            let half = range.len() / 2;
            range.select_nth_unstable_by(half, |&a, &b| middles[a as usize][axis].total_cmp(&middles[b as usize][axis]).then(a.cmp(&b)));
            open.push((start + half, end, Some(nodes.len())));
            open.push((start, start + half, None));
            nodes.push(Node { min, max, start: 0, count: 0 });
        }
        Self { mesh, normals, order, nodes }
    }

    /// The triangle with the smallest sum of distance and penalty; a penalty is never negative, and infinite for triangles that are
    /// out of question. `None` if all are, or the point is not finite.
    pub(super) fn best(&self, point: &Point, penalty: impl Fn(u32, &Vec3) -> f64) -> Option<Hit> {
        if self.order.is_empty() || !point.iter().all(|c| c.is_finite()) {
            return None;
        }
        let at = point.cast::<f64>();
        let mut best: Option<Hit> = None;
        let mut stack = vec![(0_usize, 0.0_f64)];
        while let Some((index, bound)) = stack.pop() {
            if best.is_some_and(|best| bound >= best.score) {
                continue;
            }
            let node = &self.nodes[index];
            if node.count == 0 {
                let (left, right) = (index + 1, node.start as usize);
                let (to_left, to_right) = (self.distance_to_box(left, &at), self.distance_to_box(right, &at));
                if to_left <= to_right {
                    stack.extend([(right, to_right), (left, to_left)]);
                } else {
                    stack.extend([(left, to_left), (right, to_right)]);
                }
                continue;
            }
            for &triangle in &self.order[node.start as usize..(node.start + node.count) as usize] {
                let [a, b, c] = self.mesh.corners(triangle as usize).map(|corner| corner.cast::<f64>());
                let closest = closest_on_triangle(&at, &a, &b, &c);
                let distance = (closest - at).norm();
                if best.is_some_and(|best| distance > best.score) {
                    continue;
                }
                let score = distance + penalty(triangle, &self.normals[triangle as usize]);
                let better = |best: Hit| score < best.score || (score == best.score && triangle < best.triangle);
                if score.is_finite() && best.is_none_or(better) {
                    best = Some(Hit { triangle, point: closest, distance, score });
                }
            }
        }
        best
    }

    fn distance_to_box(&self, node: usize, point: &Point64) -> f64 {
        let Node { min, max, .. } = &self.nodes[node];
        let outside = |axis: usize| (f64::from(min[axis]) - point[axis]).max(point[axis] - f64::from(max[axis])).max(0.0);
        (outside(0).powi(2) + outside(1).powi(2) + outside(2).powi(2)).sqrt()
    }
}

fn box_of(points: impl Iterator<Item = Point>) -> (Point, Point) {
    let everything = (Point::from(Vec3::repeat(f32::INFINITY)), Point::from(Vec3::repeat(f32::NEG_INFINITY)));
    points.fold(everything, |(min, max), point| (min.inf(&point), max.sup(&point)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_finds_what_a_search_of_all_finds() {
        let noise = |k: u32| (f32::from((k.wrapping_mul(2_654_435_761) >> 16) as u16) / 65536.0 - 0.5) * 2.0;
        let positions: Vec<Point> = (0..300).map(|k| Point::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2))).collect();
        let triangles: Vec<[u32; 3]> = (0..298).map(|k| [k, k + 1, k + 2]).collect();
        let mesh = TriMesh { positions, triangles };
        let tree = Tree::new(&mesh);
        for k in 0..100 {
            let point = Point::new(noise(1000 + k), noise(2000 + k), noise(3000 + k));
            let penalty = |_: u32, normal: &Vec3| f64::from(0.3 * (1.0 - normal.y));
            let found = tree.best(&point, penalty).unwrap();
            let score = |t: usize| {
                let [a, b, c] = mesh.corners(t).map(|corner| corner.cast::<f64>());
                let at = point.cast::<f64>();
                (closest_on_triangle(&at, &a, &b, &c) - at).norm() + penalty(0, &tree.normals[t])
            };
            let expected = (0..298).map(score).fold(f64::INFINITY, f64::min);
            assert!((found.score - expected).abs() < 1e-12, "{} {expected}", found.score);
        }
        assert!(tree.best(&Point::new(f32::NAN, 0.0, 0.0), |_, _| 0.0).is_none());
        assert!(tree.best(&Point::origin(), |_, _| f64::INFINITY).is_none());
    }
}
