//! A bounding-volume hierarchy over triangles: closest points, ray crossings, overlapping boxes.

use std::ops::ControlFlow;

use super::{Bounds, TriMesh, closest_on_triangle};
use crate::math::{Point, Point64, Vec64};

/// Maximum number of triangles in a leaf.
const LEAF: usize = 4;

/// Bounding-volume hierarchy over the triangles of a static mesh. Triangles with a non-finite
/// corner are omitted.
#[derive(Debug, Clone, Default)]
pub struct TriangleTree {
    nodes: Vec<TreeNode>,
    /// Triangles in leaf order.
    order: Vec<u32>,
    corners: Vec<[Point; 3]>,
}

#[derive(Debug, Clone, Copy)]
struct TreeNode {
    bounds: Bounds,
    /// Leaf: first index in `order`. Inner node: second child (the first child follows the node).
    first: u32,
    /// Number of triangles of a leaf; 0 for an inner node.
    count: u32,
}

/// The closest point on the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// Its triangle.
    pub triangle: u32,
    /// Its position.
    pub point: Point64,
    /// Distance from the query point.
    pub distance: f64,
}

/// Intersection of a line with a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The triangle.
    pub triangle: u32,
    /// Multiple of the direction from the origin.
    pub t: f64,
    /// Whether the line leaves the interior here: its direction agrees with the triangle's normal.
    pub outward: bool,
}

impl TriangleTree {
    /// Builds the tree.
    ///
    /// # Panics
    /// If a triangle index is out of range.
    #[must_use]
    pub fn new(mesh: &TriMesh) -> Self {
        let finite = |t: &u32| {
            mesh.corners(*t as usize)
                .iter()
                .all(|p| p.iter().all(|c| c.is_finite()))
        };
        let mut order: Vec<u32> = (0..mesh.triangles.len() as u32).filter(finite).collect();
        let centers: Vec<Point> = (0..mesh.triangles.len())
            .map(|t| {
                Point::from(
                    mesh.corners(t)
                        .iter()
                        .map(|p| p.coords / 3.0)
                        .sum::<crate::math::Vec3>(),
                )
            })
            .collect();
        let mut nodes = Vec::with_capacity(order.len() / 2 + 1);
        if !order.is_empty() {
            split(mesh, &centers, &mut order, 0, &mut nodes);
        }
        let corners = order.iter().map(|&t| mesh.corners(t as usize)).collect();
        Self {
            nodes,
            order,
            corners,
        }
    }

    /// The closest point within `reach` on a triangle that `accept` admits.
    pub fn closest(
        &self,
        point: &Point64,
        reach: f64,
        accept: impl Fn(u32) -> bool,
    ) -> Option<Closest> {
        let mut best: Option<Closest> = None;
        let mut limit = reach * reach;
        let mut stack: Vec<(usize, f64)> = Vec::with_capacity(64);
        if let Some(root) = self.nodes.first() {
            stack.push((0, distance2(&root.bounds, point)));
        }
        while let Some((index, far)) = stack.pop() {
            if far > limit {
                continue;
            }
            let node = &self.nodes[index];
            if node.count == 0 {
                let mut children = [index + 1, node.first as usize]
                    .map(|child| (child, distance2(&self.nodes[child].bounds, point)));
                if children[0].1 < children[1].1 {
                    children.swap(0, 1);
                }
                stack.extend(children);
                continue;
            }
            for place in node.first as usize..(node.first + node.count) as usize {
                let triangle = self.order[place];
                let [a, b, c] = self.corners[place].map(nalgebra::OPoint::cast::<f64>);
                let found = closest_on_triangle(point, &a, &b, &c);
                let squared = (found - point).norm_squared();
                // Ties go to the smaller index, independent of the tree.
                let better = squared < limit
                    || (squared == limit && best.is_none_or(|b| triangle < b.triangle));
                if better && accept(triangle) {
                    limit = squared;
                    best = Some(Closest {
                        triangle,
                        point: found,
                        distance: squared.sqrt(),
                    });
                }
            }
        }
        best
    }

    /// The triangle with the smallest sum of distance and `penalty`, and that sum. Penalties must
    /// be non-negative; infinity excludes a triangle. `None` if all are excluded or the point is
    /// not finite.
    pub fn best(&self, point: &Point64, penalty: impl Fn(u32) -> f64) -> Option<(Closest, f64)> {
        let mut best: Option<(Closest, f64)> = None;
        let mut stack: Vec<(usize, f64)> = Vec::with_capacity(64);
        if let Some(root) = self
            .nodes
            .first()
            .filter(|_| point.iter().all(|c| c.is_finite()))
        {
            stack.push((0, distance2(&root.bounds, point).sqrt()));
        }
        while let Some((index, far)) = stack.pop() {
            if best.is_some_and(|(_, sum)| far > sum) {
                continue;
            }
            let node = &self.nodes[index];
            if node.count == 0 {
                let mut children = [index + 1, node.first as usize]
                    .map(|child| (child, distance2(&self.nodes[child].bounds, point).sqrt()));
                if children[0].1 < children[1].1 {
                    children.swap(0, 1);
                }
                stack.extend(children);
                continue;
            }
            for place in node.first as usize..(node.first + node.count) as usize {
                let triangle = self.order[place];
                let [a, b, c]: [Point64; 3] = self.corners[place].map(nalgebra::OPoint::cast);
                let found = closest_on_triangle(point, &a, &b, &c);
                let distance = (found - point).norm();
                if best.is_some_and(|(_, sum)| distance > sum) {
                    continue;
                }
                let sum = distance + penalty(triangle);
                // Ties go to the smaller index, independent of the tree.
                let better = |(other, least): (Closest, f64)| {
                    sum < least || (sum == least && triangle < other.triangle)
                };
                if sum.is_finite() && best.is_none_or(better) {
                    best = Some((
                        Closest {
                            triangle,
                            point: found,
                            distance,
                        },
                        sum,
                    ));
                }
            }
        }
        best
    }

    /// Calls `visit` for every crossing of the ray from `origin` along `direction` with t in
    /// `from..=to`, unordered.
    pub fn crossings(
        &self,
        origin: &Point64,
        direction: &Vec64,
        [from, to]: [f64; 2],
        mut visit: impl FnMut(Crossing),
    ) {
        let inverse = direction.map(|d| 1.0 / d);
        let mut stack: Vec<usize> = Vec::with_capacity(64);
        stack.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index];
            if !ray_meets(&node.bounds, origin, &inverse, [from, to]) {
                continue;
            }
            if node.count == 0 {
                stack.extend([index + 1, node.first as usize]);
                continue;
            }
            for place in node.first as usize..(node.first + node.count) as usize {
                if let Some((t, outward)) = ray_through(origin, direction, &self.corners[place])
                    && t >= from
                    && t <= to
                {
                    visit(Crossing {
                        triangle: self.order[place],
                        t,
                        outward,
                    });
                }
            }
        }
    }

    /// Calls `visit` for every triangle whose box intersects `bounds`.
    pub fn meeting(&self, bounds: &Bounds, mut visit: impl FnMut(u32)) {
        self.meeting_until(bounds, |triangle| {
            visit(triangle);
            ControlFlow::Continue(())
        });
    }

    /// As [`TriangleTree::meeting`], until `visit` breaks.
    pub fn meeting_until(&self, bounds: &Bounds, mut visit: impl FnMut(u32) -> ControlFlow<()>) {
        let mut stack: Vec<usize> = Vec::with_capacity(64);
        stack.extend((!self.nodes.is_empty()).then_some(0));
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index];
            if !meet(&node.bounds, bounds) {
                continue;
            }
            if node.count == 0 {
                stack.extend([index + 1, node.first as usize]);
                continue;
            }
            for place in node.first as usize..(node.first + node.count) as usize {
                if meet(&Bounds::of(&self.corners[place]), bounds)
                    && visit(self.order[place]).is_break()
                {
                    return;
                }
            }
        }
    }
}

/// Builds the node over `order`, whose first triangle has the index `first`. Splits at the median
/// along the longest side, so that the tree is balanced for any input.
fn split(
    mesh: &TriMesh,
    centers: &[Point],
    order: &mut [u32],
    first: usize,
    nodes: &mut Vec<TreeNode>,
) {
    let corners: Vec<Point> = order
        .iter()
        .flat_map(|&t| mesh.corners(t as usize))
        .collect();
    let bounds = Bounds::of(&corners);
    let index = nodes.len();
    let count = order.len();
    if count <= LEAF {
        nodes.push(TreeNode {
            bounds,
            first: first as u32,
            count: count as u32,
        });
        return;
    }
    let spread = Bounds::of(order.iter().map(|&t| &centers[t as usize])).extent();
    let axis = spread.imax();
    let middle = count / 2;
    order.select_nth_unstable_by(middle, |&a, &b| {
        centers[a as usize][axis]
            .total_cmp(&centers[b as usize][axis])
            .then(a.cmp(&b))
    });
    nodes.push(TreeNode {
        bounds,
        first: 0,
        count: 0,
    });
    let (low, high) = order.split_at_mut(middle);
    split(mesh, centers, low, first, nodes);
    nodes[index].first = nodes.len() as u32;
    split(mesh, centers, high, first + middle, nodes);
}

fn distance2(bounds: &Bounds, point: &Point64) -> f64 {
    (0..3)
        .map(|c| {
            let outside = (f64::from(bounds.min[c]) - point[c])
                .max(point[c] - f64::from(bounds.max[c]))
                .max(0.0);
            outside * outside
        })
        .sum()
}

fn meet(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|c| a.min[c] <= b.max[c] && b.min[c] <= a.max[c])
}

fn ray_meets(
    bounds: &Bounds,
    origin: &Point64,
    inverse: &Vec64,
    [mut from, mut to]: [f64; 2],
) -> bool {
    for c in 0..3 {
        let near = (f64::from(bounds.min[c]) - origin[c]) * inverse[c];
        let far = (f64::from(bounds.max[c]) - origin[c]) * inverse[c];
        // A ray in the plane of a box side gives NaN, which `max` and `min` ignore.
        from = from.max(near.min(far));
        to = to.min(near.max(far));
    }
    from <= to
}

/// Möller & Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection": the parameter, and whether
/// the direction agrees with the normal.
fn ray_through(origin: &Point64, direction: &Vec64, corners: &[Point; 3]) -> Option<(f64, bool)> {
    let [a, b, c] = corners.map(nalgebra::OPoint::cast::<f64>);
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(&ac);
    let determinant = ab.dot(&across);
    if determinant == 0.0 {
        return None;
    }
    let from_a = origin - a;
    let u = from_a.dot(&across) / determinant;
    let turned = from_a.cross(&ab);
    let v = direction.dot(&turned) / determinant;
    // The determinant is −direction · normal.
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0)
        .then(|| (ac.dot(&turned) / determinant, determinant < 0.0))
}

#[cfg(test)]
mod tests;
