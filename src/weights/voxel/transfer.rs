//! Values of nodes at the vertices of the skin.

use rayon::prelude::*;

use super::{Lookup, NodeTree, VoxelDomain};
use crate::math::Point;

/// For every vertex some nodes and their shares: a sparse matrix of vertices × nodes whose rows sum to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transfer {
    /// `offsets[v]..offsets[v + 1]` are the entries of vertex v; one longer than there are vertices.
    pub offsets: Vec<u32>,
    /// Node of each entry.
    pub nodes: Vec<u32>,
    /// Share of each entry, positive.
    pub shares: Vec<f64>,
    /// Vertices outside of all solid cells, ascending: they take the values of the nearest nodes.
    pub outside: Vec<u32>,
}

impl Transfer {
    /// Trilinear interpolation in the cells of the domain. Corners that are no nodes are left out and the others' shares enlarged; a vertex
    /// with no node around takes the mean of the nearest ones. A position that is not finite takes the first node. Rows are empty only if
    /// the domain is.
    #[must_use]
    pub fn to(positions: &[Point], domain: &VoxelDomain) -> Self {
        if domain.nodes.is_empty() {
            let offsets = vec![0; positions.len() + 1];
            let outside = (0..positions.len() as u32).collect();
            return Self {
                offsets,
                outside,
                ..Self::default()
            };
        }
        let lookup = Lookup::of(&domain.nodes);
        let rows: Vec<([(u32, f64); 8], usize)> = positions
            .par_iter()
            .map(|position| trilinear(domain, &lookup, position))
            .collect();
        let mut transfer = Self {
            offsets: vec![0],
            ..Self::default()
        };
        let mut tree = None;
        for (vertex, (row, count)) in rows.into_iter().enumerate() {
            for &(node, share) in &row[..count] {
                transfer.nodes.push(node);
                transfer.shares.push(share);
            }
            if count == 0 {
                transfer.outside.push(vertex as u32);
                let tree =
                    tree.get_or_insert_with(|| NodeTree::of(domain, 0..domain.nodes.len() as u32));
                let mut nearest = domain.nearest_nodes(tree, &positions[vertex].cast());
                if nearest.is_empty() {
                    nearest.push(0);
                }
                let share = 1.0 / nearest.len() as f64;
                transfer
                    .shares
                    .resize(transfer.shares.len() + nearest.len(), share);
                transfer.nodes.extend(nearest);
            }
            transfer.offsets.push(transfer.nodes.len() as u32);
        }
        transfer
    }

    /// The nodes of a vertex and their shares.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        let nodes = self.nodes[range.clone()].iter().map(|&node| node as usize);
        nodes.zip(self.shares[range].iter().copied())
    }

    /// How many vertices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no vertex.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The nodes around a position with their shares, and how many there are.
fn trilinear(
    domain: &VoxelDomain,
    lookup: &Lookup<'_>,
    position: &Point,
) -> ([(u32, f64); 8], usize) {
    let mut row = [(0, 0.0); 8];
    let at = domain.grid.coordinates(&position.cast());
    let inside = (0..3).all(|k| (0.0..=f64::from(domain.grid.cells[k])).contains(&at[k]));
    if !inside {
        return (row, 0);
    }
    let low = [0, 1, 2].map(|k| {
        at[k]
            .floor()
            .min(f64::from(domain.grid.cells[k].max(1) - 1))
    });
    let mut count = 0;
    for k in 0..8 {
        let up = [0, 1, 2].map(|axis| k >> axis & 1 == 1);
        let share: f64 = (0..3)
            .map(|axis| {
                let fraction = at[axis] - low[axis];
                if up[axis] { fraction } else { 1.0 - fraction }
            })
            .product();
        let corner = [0, 1, 2].map(|axis| low[axis] as u32 + u32::from(up[axis]));
        if share > 1e-9
            && let Some(node) = lookup.find(corner)
        {
            row[count] = (node, share);
            count += 1;
        }
    }
    let sum: f64 = row[..count].iter().map(|(_, share)| share).sum();
    for (_, share) in &mut row[..count] {
        *share /= sum;
    }
    (row, count)
}
