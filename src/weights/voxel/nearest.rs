//! Nearest nodes of a domain.

use super::VoxelDomain;
use crate::math::Point64;

/// Distances that differ by less than this, in cells, are equal.
const TIE: f64 = 1e-6;
/// Most nodes of a leaf.
const LEAF: usize = 16;

/// A k-d tree over some of the nodes of a domain.
#[derive(Debug, Clone, Default)]
pub struct NodeTree {
    /// Node and its coordinates, in the order of the leaves.
    nodes: Vec<(u32, [f64; 3])>,
}

impl NodeTree {
    /// The tree of these nodes.
    #[must_use]
    pub fn of(domain: &VoxelDomain, nodes: impl IntoIterator<Item = u32>) -> Self {
        let at = |node: u32| domain.nodes[node as usize].map(f64::from);
        let mut nodes: Vec<(u32, [f64; 3])> =
            nodes.into_iter().map(|node| (node, at(node))).collect();
        arrange(&mut nodes, 0);
        Self { nodes }
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Distance to the nearest node, all in cells; infinite without a node.
    #[must_use]
    pub fn distance(&self, at: [f64; 3]) -> f64 {
        let (mut best, mut reach) = (f64::INFINITY, f64::INFINITY);
        visit(&self.nodes, 0, &at, &mut reach, &mut |_, squared| {
            best = best.min(squared);
            best
        });
        best.sqrt()
    }

    /// The nearest nodes, ascending: all that are equally near, so that mirror images have mirrored nearest nodes.
    #[must_use]
    pub fn nearest(&self, at: [f64; 3]) -> Vec<u32> {
        let limit = (self.distance(at) + TIE).powi(2);
        let mut reach = limit;
        let mut found = Vec::new();
        visit(&self.nodes, 0, &at, &mut reach, &mut |node, _| {
            found.push(node);
            limit
        });
        found.sort_unstable();
        found
    }
}

impl VoxelDomain {
    /// The nodes of a tree of this domain that are nearest to a position, ascending.
    #[must_use]
    pub fn nearest_nodes(&self, tree: &NodeTree, position: &Point64) -> Vec<u32> {
        tree.nearest(self.grid.coordinates(position))
    }
}

/// Sorts a k-d tree: the middle node splits the others along an axis; axes take turns.
fn arrange(nodes: &mut [(u32, [f64; 3])], axis: usize) {
    if nodes.len() <= LEAF {
        return;
    }
    let half = nodes.len() / 2;
    nodes.select_nth_unstable_by(half, |a, b| {
        a.1[axis].total_cmp(&b.1[axis]).then(a.0.cmp(&b.0))
    });
    let (near, far) = nodes.split_at_mut(half);
    arrange(near, (axis + 1) % 3);
    arrange(&mut far[1..], (axis + 1) % 3);
}

/// Calls `found` with nodes and their squared distances; it returns up to which squared distance to go on.
fn visit(
    nodes: &[(u32, [f64; 3])],
    axis: usize,
    at: &[f64; 3],
    reach: &mut f64,
    found: &mut impl FnMut(u32, f64) -> f64,
) {
    let mut look = |&(node, place): &(u32, [f64; 3]), reach: &mut f64| {
        let squared = (0..3).map(|k| (place[k] - at[k]).powi(2)).sum();
        if squared <= *reach {
            *reach = found(node, squared);
        }
    };
    if nodes.len() <= LEAF {
        for node in nodes {
            look(node, reach);
        }
        return;
    }
    let half = nodes.len() / 2;
    look(&nodes[half], reach);
    let away = at[axis] - nodes[half].1[axis];
    let (low, high) = (&nodes[..half], &nodes[half + 1..]);
    let (near, far) = if away < 0.0 { (low, high) } else { (high, low) };
    visit(near, (axis + 1) % 3, at, reach, found);
    if away * away <= *reach {
        visit(far, (axis + 1) % 3, at, reach, found);
    }
}
