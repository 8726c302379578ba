//! Solid cells of a grid, their corners and edges.

use rayon::prelude::*;

use crate::math::{Point64, Vec64};
use crate::numerics::SymmetricMatrix;

/// A grid of cubic cells, parallel to the axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Lowest corner, in the units of the mesh.
    pub origin: Point64,
    /// Edge of a cell, in the units of the mesh.
    pub edge: f64,
    /// Number of cells along each axis.
    pub cells: [u32; 3],
}

impl Grid {
    /// The position of a grid point, which may have fractions; whole numbers are corners of cells.
    #[must_use]
    pub fn position(&self, at: [f64; 3]) -> Point64 {
        self.origin + Vec64::from(at) * self.edge
    }

    /// Where a position lies on the grid, in cells from the lowest corner.
    #[must_use]
    pub fn coordinates(&self, position: &Point64) -> [f64; 3] {
        ((position - self.origin) / self.edge).into()
    }
}

/// An edge between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Its nodes, the one with the lower coordinate first.
    pub nodes: [u32; 2],
    /// How many solid cells have it, 1 to 4.
    pub cells: u8,
}

/// Solid cells of a grid. Nodes are the corners of solid cells.
#[derive(Debug, Clone, PartialEq)]
pub struct VoxelDomain {
    /// The grid.
    pub grid: Grid,
    /// Coordinates of the solid cells, sorted by z, y, x.
    pub cells: Vec<[u32; 3]>,
    /// Nodes of every solid cell; corner k is at +1 along x, y, z where bits 0, 1, 2 of k are set.
    pub corners: Vec<[u32; 8]>,
    /// Coordinates of the nodes, sorted by z, y, x.
    pub nodes: Vec<[u32; 3]>,
    /// Edges of solid cells, sorted by their nodes.
    pub edges: Vec<Edge>,
    /// For every node the connected part it belongs to, numbered from 0 by their first nodes.
    pub part_of_node: Vec<u32>,
}

impl VoxelDomain {
    /// The domain of these solid cells, in any order. Cells named twice count once.
    #[must_use]
    pub fn from_cells(grid: Grid, mut cells: Vec<[u32; 3]>) -> Self {
        let by_zyx = |&[x, y, z]: &[u32; 3]| [z, y, x];
        cells.sort_unstable_by_key(by_zyx);
        cells.dedup();
        let corner = |&[x, y, z]: &[u32; 3], k: u32| [x + (k & 1), y + (k >> 1 & 1), z + (k >> 2)];
        let mut nodes: Vec<[u32; 3]> = cells
            .iter()
            .flat_map(|cell| (0..8).map(move |k| corner(cell, k)))
            .collect();
        nodes.par_sort_unstable_by_key(by_zyx);
        nodes.dedup();
        // Cells and nodes are sorted alike: corner k of the cells never goes back in the list of nodes.
        let mut next = [0; 8];
        let corners: Vec<[u32; 8]> = cells
            .iter()
            .map(|cell| {
                for (k, next) in next.iter_mut().enumerate() {
                    let sought = corner(cell, k as u32);
                    while nodes[*next] != sought {
                        *next += 1;
                    }
                }
                next.map(|node| node as u32)
            })
            .collect();
        let edges = edges(&corners);
        let part_of_node = parts(nodes.len(), &edges);
        Self {
            grid,
            cells,
            corners,
            nodes,
            edges,
            part_of_node,
        }
    }

    /// The position of a node.
    #[must_use]
    pub fn position(&self, node: usize) -> Point64 {
        self.grid.position(self.nodes[node].map(f64::from))
    }

    /// The graph Laplacian, n × n for n nodes: Σ over cells and their twelve edges of e eᵀ. No unit; multiplied by the edge of a cell it
    /// is the Laplacian of finite elements up to a factor. Symmetric positive semi-definite, rows sum to 0.
    #[must_use]
    pub fn laplacian(&self) -> SymmetricMatrix {
        let entries = self.edges.iter().flat_map(|edge| {
            let ([a, b], count) = (edge.nodes.map(|n| n as usize), f64::from(edge.cells));
            [(a, a, count), (b, b, count), (a, b, -count)]
        });
        SymmetricMatrix::from_triplets(self.nodes.len(), entries)
    }
}

/// The twelve edges of every cell, counted.
fn edges(corners: &[[u32; 8]]) -> Vec<Edge> {
    let mut pairs: Vec<[u32; 2]> = corners
        .iter()
        .flat_map(|corners| {
            (0..8usize).flat_map(move |from| {
                [1, 2, 4]
                    .into_iter()
                    .filter(move |axis| from & axis == 0)
                    .map(move |axis| [corners[from], corners[from | axis]])
            })
        })
        .collect();
    pairs.par_sort_unstable();
    let same = pairs.chunk_by(|a, b| a == b);
    same.map(|same| Edge {
        nodes: same[0],
        cells: same.len() as u8,
    })
    .collect()
}

/// The connected part of every node.
fn parts(nodes: usize, edges: &[Edge]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    for edge in edges {
        let [a, b] = edge.nodes.map(|node| root(&mut parent, node));
        // The lower number is the root, so that parts are numbered by their first nodes.
        parent[a.max(b) as usize] = a.min(b);
    }
    // A root comes before the other nodes of its part.
    let mut parts = Vec::with_capacity(nodes);
    let mut count = 0;
    for node in 0..nodes as u32 {
        let root = root(&mut parent, node);
        if root == node {
            parts.push(count);
            count += 1;
        } else {
            parts.push(parts[root as usize]);
        }
    }
    parts
}

fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}
