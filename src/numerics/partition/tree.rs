//! The elimination tree of supernodes, and its distribution over subdomains of about equal cost.

use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};

use crate::numerics::ordering::inverse_of;
use crate::numerics::pattern::Cliques;

/// Cost of a supernode in a solve, in the units of [`CLIQUE_COST`]: measured on AVX-512.
fn supernode_cost(columns: usize, rows: usize) -> f64 {
    let (c, r) = (columns.div_ceil(4) as f64, rows.div_ceil(4) as f64);
    30.0 + 10.0 * c * r + 20.0 * r + 5.0 * c * c
}
/// Cost of the caller's own work for a clique, in the same units.
const CLIQUE_COST: f64 = 50.0;

/// The tree of supernodes, in the order of elimination.
pub(super) struct EliminationTree {
    /// First column of each supernode, and the number of columns at the end.
    pub(super) begin: Vec<usize>,
    pub(super) rows: Vec<Vec<u32>>,
    pub(super) parent: Vec<Option<usize>>,
    pub(super) children: Vec<Vec<usize>>,
    /// Cost of the supernode's own columns.
    pub(super) solve_cost: Vec<f64>,
    /// Cost of the cliques whose first eliminated unknown is a column of the supernode.
    pub(super) clique_cost: Vec<f64>,
    /// Unknown → position in the order of elimination, and back.
    pub(super) position: Vec<u32>,
    pub(super) unknown: Vec<u32>,
}

impl EliminationTree {
    pub(super) fn of(
        symbolic: &SymbolicCholesky<u32>,
        cliques: &Cliques,
        unknowns: usize,
    ) -> Option<Self> {
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else {
            return None;
        };
        let count = nodes.n_supernodes();
        let mut begin: Vec<usize> = nodes
            .supernode_begin()
            .iter()
            .map(|&b| b as usize)
            .collect();
        begin.truncate(count);
        begin.push(unknowns);
        let unknown: Vec<u32> = match symbolic.perm() {
            Some(permutation) => permutation.arrays().0.to_vec(),
            None => (0..unknowns as u32).collect(),
        };
        let position = inverse_of(&unknown);
        let mut supernode = vec![0; unknowns];
        for s in 0..count {
            supernode[begin[s]..begin[s + 1]].fill(s as u32);
        }
        let rows: Vec<Vec<u32>> = (0..count)
            .map(|s| nodes.supernode(s).pattern().to_vec())
            .collect();
        let parent: Vec<Option<usize>> = rows
            .iter()
            .map(|rows| rows.iter().min().map(|&r| supernode[r as usize] as usize))
            .collect();
        let mut children = vec![Vec::new(); count];
        for (s, parent) in parent.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(s);
            }
        }
        let solve_cost = (0..count)
            .map(|s| supernode_cost(begin[s + 1] - begin[s], rows[s].len()))
            .collect();
        let mut clique_cost = vec![0.0; count];
        for clique in cliques.iter() {
            if let Some(first) = clique.iter().map(|&v| position[v as usize]).min() {
                clique_cost[supernode[first as usize] as usize] += CLIQUE_COST;
            }
        }
        Some(Self {
            begin,
            rows,
            parent,
            children,
            solve_cost,
            clique_cost,
            position,
            unknown,
        })
    }

    /// Assigns the supernodes to `wanted` subdomains of about equal cost: the owner of each, and those of the top in order.
    pub(super) fn assign_subdomains(&self, wanted: usize) -> (Vec<u32>, Vec<usize>) {
        let count = self.parent.len();
        let mut subtree: Vec<f64> = (0..count)
            .map(|s| self.solve_cost[s] + self.clique_cost[s])
            .collect();
        for s in 0..count {
            if let Some(parent) = self.parent[s] {
                subtree[parent] += subtree[s];
            }
        }
        let mut roots: Vec<usize> = (0..count).filter(|&s| self.parent[s].is_none()).collect();
        let mut top = Vec::new();
        let mut top_cost = 0.0;
        let mut best: Option<(f64, Vec<Vec<usize>>, Vec<usize>)> = None;
        for _ in 0..16 * wanted {
            let (bins, heaviest) = assign_to_bins(&mut roots, &subtree, wanted);
            let time = heaviest + top_cost;
            if best.as_ref().is_none_or(|(least, ..)| time < *least) {
                best = Some((time, bins, top.clone()));
            }
            // The costliest is split next; only its own columns cannot be shared.
            let Some(&heaviest) = roots.first() else {
                break;
            };
            if wanted == 1 || self.children[heaviest].is_empty() {
                break;
            }
            roots.swap_remove(0);
            roots.extend(&self.children[heaviest]);
            top.push(heaviest);
            top_cost += self.solve_cost[heaviest];
        }
        let (_, bins, mut top) = best.unwrap_or_default();
        top.sort_unstable();
        let mut owners = vec![u32::MAX; count];
        for (part, bin) in bins.iter().enumerate() {
            let mut stack = bin.clone();
            while let Some(s) = stack.pop() {
                owners[s] = part as u32;
                stack.extend(&self.children[s]);
            }
        }
        (owners, top)
    }
}

/// Assigns subtrees, the costliest first, to the least loaded of `wanted` bins; returns the load of the fullest.
fn assign_to_bins(roots: &mut [usize], cost: &[f64], wanted: usize) -> (Vec<Vec<usize>>, f64) {
    roots.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]).then(a.cmp(&b)));
    let mut bins = vec![Vec::new(); wanted];
    let mut loads = vec![0.0; wanted];
    for &root in &*roots {
        let least = (0..wanted)
            .min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b]))
            .unwrap_or(0);
        bins[least].push(root);
        loads[least] += cost[root];
    }
    (bins, loads.into_iter().fold(0.0, f64::max))
}
