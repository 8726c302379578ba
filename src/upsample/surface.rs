//! A mesh prepared for the propagation of fronts.

use crate::math::Point;
use crate::mesh::TriMesh;

/// Opposite edges around each vertex, and its component.
pub(super) struct FrontMesh<'a> {
    pub(super) positions: &'a [Point],
    offsets: Vec<u32>,
    /// For every vertex the two other corners of each of its triangles.
    opposite_edges: Vec<[u32; 2]>,
    /// For every vertex its connected component; a vertex without a triangle is a component of its own.
    pub(super) part_of: Vec<u32>,
    pub(super) parts: usize,
}

impl<'a> FrontMesh<'a> {
    pub(super) fn new(mesh: &'a TriMesh) -> Self {
        let n = mesh.positions.len();
        let mut offsets = vec![0_u32; n + 1];
        for &v in mesh.triangles.as_flattened() {
            offsets[v as usize + 1] += 1;
        }
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        let mut cursor = offsets.clone();
        let mut opposite_edges = vec![[0; 2]; mesh.triangles.len() * 3];
        for &[a, b, c] in &mesh.triangles {
            for (v, opposite_edge) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                opposite_edges[cursor[v as usize] as usize] = opposite_edge;
                cursor[v as usize] += 1;
            }
        }
        let (part_of, parts) = parts(n, &mesh.triangles);
        Self {
            positions: &mesh.positions,
            offsets,
            opposite_edges,
            part_of,
            parts,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn opposite_edges(&self, vertex: u32) -> &[[u32; 2]] {
        &self.opposite_edges
            [self.offsets[vertex as usize] as usize..self.offsets[vertex as usize + 1] as usize]
    }

    /// The distance at `w` of a front with distance `at_v` at `v` and, if finite, `at_o` at `o`. It is the straight
    /// distance through the edge `v o` of the unfolded triangle `v o w`, if the front passes there; otherwise that
    /// along the edge `v w`.
    pub(super) fn propagated(&self, v: u32, at_v: f32, o: u32, at_o: f32, w: u32) -> f32 {
        let from = self.positions[v as usize];
        let to_w = self.positions[w as usize] - from;
        let along = at_v + to_w.norm();
        if !at_o.is_finite() {
            return along;
        }
        let edge = self.positions[o as usize] - from;
        let length = edge.norm();
        if length <= 0.0 {
            return along;
        }
        // The plane of the triangle with v at the origin, o on the x axis and w above it; the
        // source is below, at the given distances from v and o.
        let w_x = to_w.dot(&edge) / length;
        let w_y = (to_w.norm_squared() - w_x * w_x).max(0.0).sqrt();
        let source_x = (length * length + (at_v - at_o) * (at_v + at_o)) / (2.0 * length);
        let below2 = at_v * at_v - source_x * source_x;
        if below2 < 0.0 {
            return along;
        }
        let below = below2.sqrt();
        let crossing = source_x * w_y + w_x * below;
        if crossing < 0.0 || crossing > length * (w_y + below) {
            return along;
        }
        let (across, through) = (w_x - source_x, w_y + below);
        (across * across + through * through).sqrt().min(along)
    }
}

/// Connected components by union-find, numbered by their first vertex.
pub(super) fn parts(n: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, usize) {
    let mut root: Vec<u32> = (0..n as u32).collect();
    let find = |root: &mut [u32], mut v: u32| {
        while root[v as usize] != v {
            root[v as usize] = root[root[v as usize] as usize];
            v = root[v as usize];
        }
        v
    };
    for &[a, b, c] in triangles {
        for other in [b, c] {
            let (one, two) = (find(&mut root, a), find(&mut root, other));
            root[one.max(two) as usize] = one.min(two);
        }
    }
    let mut count = 0;
    let mut part_of = vec![0; n];
    for v in 0..n as u32 {
        let first = find(&mut root, v);
        part_of[v as usize] = if first == v {
            count += 1;
            count - 1
        } else {
            part_of[first as usize]
        };
    }
    (part_of, count as usize)
}
