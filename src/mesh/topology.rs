//! Connectivity of a mesh.

use super::TriMesh;

/// Edges, neighbours and connected parts of a mesh; computed once, independent of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// Each undirected edge once, smaller index first, sorted.
    pub edges: Vec<[u32; 2]>,
    /// Number of triangles at the edge of the same index: 2 in the interior, 1 on a boundary, more
    /// if non-manifold.
    pub edge_faces: Vec<u32>,
    /// For every vertex the index of its connected component; vertices without a triangle are
    /// components of one vertex.
    pub component_of: Vec<u32>,
    /// Number of connected components.
    pub components: usize,
    offsets: Vec<u32>,
    neighbors: Vec<u32>,
}

impl Topology {
    /// Computes the connectivity of a mesh.
    #[must_use]
    pub fn of(mesh: &TriMesh) -> Self {
        let n = mesh.positions.len();
        let mut all: Vec<[u32; 2]> = mesh
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                [
                    [a.min(b), a.max(b)],
                    [b.min(c), b.max(c)],
                    [c.min(a), c.max(a)],
                ]
            })
            .collect();
        all.sort_unstable();
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(all.len() / 2 + 1);
        let mut edge_faces: Vec<u32> = Vec::with_capacity(all.len() / 2 + 1);
        for edge in all {
            if edges.last() == Some(&edge) {
                if let Some(last) = edge_faces.last_mut() {
                    *last += 1;
                }
            } else {
                edges.push(edge);
                edge_faces.push(1);
            }
        }
        let (offsets, neighbors) = adjacency(n, &edges);
        let mut topology = Self {
            edges,
            edge_faces,
            component_of: vec![u32::MAX; n],
            components: 0,
            offsets,
            neighbors,
        };
        topology.find_components();
        topology
    }

    /// The neighbours of `vertex`, ascending.
    #[must_use]
    pub fn neighbors(&self, vertex: usize) -> &[u32] {
        &self.neighbors[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// The marked vertices, breadth-first from the first one of every connected part, so that neighbours are near each other.
    #[must_use]
    pub fn breadth_first(&self, mut marked: Vec<bool>) -> Vec<u32> {
        let mut order: Vec<u32> = Vec::new();
        for first in 0..marked.len() {
            let mut next = order.len();
            if std::mem::take(&mut marked[first]) {
                order.push(first as u32);
            }
            while let Some(&vertex) = order.get(next) {
                next += 1;
                for &other in self.neighbors(vertex as usize) {
                    if std::mem::take(&mut marked[other as usize]) {
                        order.push(other);
                    }
                }
            }
        }
        order
    }

    /// Number of boundary edges: exactly one triangle.
    #[must_use]
    pub fn boundary_edges(&self) -> usize {
        self.edge_faces.iter().filter(|&&faces| faces == 1).count()
    }

    /// Number of edges with more than two triangles.
    #[must_use]
    pub fn non_manifold_edges(&self) -> usize {
        self.edge_faces.iter().filter(|&&faces| faces > 2).count()
    }

    fn find_components(&mut self) {
        let mut stack = Vec::new();
        let mut count = 0_u32;
        for seed in 0..self.component_of.len() {
            if self.component_of[seed] != u32::MAX {
                continue;
            }
            self.component_of[seed] = count;
            stack.push(seed);
            while let Some(vertex) = stack.pop() {
                let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
                for &next in &self.neighbors[range] {
                    if self.component_of[next as usize] == u32::MAX {
                        self.component_of[next as usize] = count;
                        stack.push(next as usize);
                    }
                }
            }
            count += 1;
        }
        self.components = count as usize;
    }
}

/// Neighbours in compressed rows, ascending within a row.
fn adjacency(n: usize, edges: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; n + 1];
    for &[a, b] in edges {
        offsets[a as usize + 1] += 1;
        offsets[b as usize + 1] += 1;
    }
    for i in 0..n {
        offsets[i + 1] += offsets[i];
    }
    let mut cursor = offsets.clone();
    let mut neighbors = vec![0_u32; edges.len() * 2];
    for &[a, b] in edges {
        for (from, to) in [(a, b), (b, a)] {
            neighbors[cursor[from as usize] as usize] = to;
            cursor[from as usize] += 1;
        }
    }
    for i in 0..n {
        neighbors[offsets[i] as usize..offsets[i + 1] as usize].sort_unstable();
    }
    (offsets, neighbors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    #[test]
    fn two_triangles_and_an_isolated_vertex() {
        let mesh = TriMesh {
            positions: vec![Point::origin(); 5],
            triangles: vec![[0, 1, 2], [2, 1, 3]],
        };
        let topology = Topology::of(&mesh);
        assert_eq!(topology.edges.len(), 5);
        assert_eq!(topology.boundary_edges(), 4);
        assert_eq!(topology.neighbors(1), [0, 2, 3]);
        assert_eq!(topology.components, 2);
    }

    #[test]
    fn breadth_first_order_has_every_marked_vertex_once() {
        // A strip 0 1 2 3 4 5 and a triangle 6 7 8.
        let mesh = TriMesh {
            positions: vec![Point::origin(); 9],
            triangles: vec![[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5], [6, 7, 8]],
        };
        let topology = Topology::of(&mesh);
        let all = topology.breadth_first(vec![true; 9]);
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let mut marked = vec![true; 9];
        marked[2] = false;
        marked[3] = false;
        assert_eq!(topology.breadth_first(marked), [0, 1, 4, 5, 6, 7, 8]);
    }
}
