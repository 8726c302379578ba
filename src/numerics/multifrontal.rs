//! Multifrontal factorisation in `f64`: factor, inverse factor and Schur complements, from the leaves of the elimination tree up.
//!
//! Duff, Reid, "The Multifrontal Solution of Indefinite Sparse Symmetric Linear Equations", ACM TOMS 9(3), 1983. A supernode with the
//! rows c assembles the Schur complements of its children on c and on its rows below R, and eliminates c:
//!
//! ```text
//!     A_cc = L L ᵀ,   B = A_Rc L⁻ᵀ,     Schur complement:  A_RR − B Bᵀ
//!     V_c  = L⁻¹ F_c,  F_R − B V_c,      where F = the identity on c, and the updates of the children
//! ```
//!
//! `V_c` are the rows c of the inverse factor: dense over the subtree, whose rows all lie together. `F_R` is what forward substitution in
//! the subtree adds to the rows below it.

use nalgebra::{Cholesky, DMatrix};

use super::{Elimination, FactorError, RowMatrix};

/// A supernode in its tree.
#[derive(Debug, Clone)]
pub(crate) struct EliminationFront {
    /// Its rows.
    pub(crate) rows: std::ops::Range<usize>,
    /// First row of its subtree, which ends with its own.
    pub(crate) begin: usize,
    pub(crate) below: Vec<u32>,
    pub(crate) children: Vec<usize>,
    pub(crate) parent: Option<usize>,
    /// 0 for leaves, else one more than the highest child.
    pub(crate) height: usize,
}

impl EliminationFront {
    /// Rows of its subtree.
    pub(crate) fn subtree(&self) -> std::ops::Range<usize> {
        self.begin..self.rows.end
    }
}

/// The supernodes, children before parents; `None` if they are not those of a factor.
pub(crate) fn tree_of(eliminations: &[Elimination], rows: usize) -> Option<Vec<EliminationFront>> {
    let mut nodes: Vec<EliminationFront> = Vec::with_capacity(eliminations.len());
    let mut owner = vec![usize::MAX; rows];
    for (index, elimination) in eliminations.iter().enumerate() {
        let first = elimination.first as usize;
        let end = first + elimination.count as usize;
        let in_order =
            nodes.last().map_or(0, |last| last.rows.end) == first && end > first && end <= rows;
        let ascends = elimination.below.is_sorted()
            && elimination
                .below
                .iter()
                .all(|&row| (end..rows).contains(&(row as usize)));
        if !in_order || !ascends {
            return None;
        }
        owner[first..end].fill(index);
        nodes.push(EliminationFront {
            rows: first..end,
            begin: first,
            below: elimination.below.clone(),
            children: Vec::new(),
            parent: None,
            height: 0,
        });
    }
    if nodes.last().map_or(0, |last| last.rows.end) != rows {
        return None;
    }
    for index in 0..nodes.len() {
        // Children lie right before, one behind the other.
        for child in std::mem::take(&mut nodes[index].children).into_iter().rev() {
            if nodes[child].rows.end != nodes[index].begin {
                return None;
            }
            nodes[index].begin = nodes[child].begin;
            nodes[index].height = nodes[index].height.max(nodes[child].height + 1);
            nodes[index].children.push(child);
        }
        nodes[index].children.reverse();
        if let Some(&row) = nodes[index].below.first() {
            let parent = owner[row as usize];
            nodes[index].parent = Some(parent);
            nodes[parent].children.push(index);
        }
    }
    Some(nodes)
}

/// Update of a subtree to the rows below it.
#[derive(Debug)]
pub(crate) struct Remainder {
    /// Added to the matrix there: as many rows and columns as there are rows below.
    pub(crate) schur: DMatrix<f64>,
    /// Added to the right-hand side there, times that of the subtree's rows.
    pub(crate) forward: DMatrix<f64>,
}

/// The rows of the inverse factor of a supernode over its subtree, and its update, given those of its children.
pub(crate) fn eliminate(
    matrix: &RowMatrix,
    nodes: &[EliminationFront],
    index: usize,
    rests: &[Remainder],
) -> Result<(DMatrix<f64>, Remainder), FactorError> {
    let node = &nodes[index];
    let (count, below) = (node.rows.len(), node.below.len());
    let refused = |reason: &str| FactorError::Numeric {
        unknowns: matrix.rows(),
        reason: reason.to_owned(),
    };
    let unknown = || refused("it is coupled where its factor is empty");
    let mut front = DMatrix::zeros(count + below, count + below);
    for row in node.rows.clone() {
        for k in matrix.starts[row] as usize..matrix.starts[row + 1] as usize {
            let other = matrix.columns[k] as usize;
            if other >= row {
                front[(
                    place(node, other).ok_or_else(unknown)?,
                    row - node.rows.start,
                )] += matrix.values[k];
            }
        }
    }
    let mut own = DMatrix::zeros(count, node.subtree().len());
    let mut forward = DMatrix::zeros(below, node.subtree().len());
    for (&child, rest) in node.children.iter().zip(rests) {
        let child = &nodes[child];
        let places = child
            .below
            .iter()
            .map(|&row| place(node, row as usize))
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(unknown)?;
        let columns = child.begin - node.begin..child.rows.end - node.begin;
        for (k, &a) in places.iter().enumerate() {
            for (l, &b) in places.iter().enumerate().take(k + 1) {
                front[(a.max(b), a.min(b))] += rest.schur[(k, l)];
            }
            let (target, row) = if a < count {
                (&mut own, a)
            } else {
                (&mut forward, a - count)
            };
            target
                .view_mut((row, columns.start), (1, columns.len()))
                .copy_from(&rest.forward.row(k));
        }
    }
    let factor = Cholesky::new(front.view((0, 0), (count, count)).into_owned())
        .ok_or_else(|| refused("a pivot is not positive"))?;
    let inverse = factor
        .l()
        .solve_lower_triangular(&DMatrix::identity(count, count))
        .ok_or_else(|| refused("a pivot is too small"))?;
    let coupled = front.view((count, 0), (below, count)) * inverse.transpose();
    let before = node.rows.start - node.begin;
    let mut v = DMatrix::zeros(count, node.subtree().len());
    v.columns_mut(0, before)
        .gemm(1.0, &inverse, &own.columns(0, before), 0.0);
    v.columns_mut(before, count).copy_from(&inverse);
    forward.gemm(-1.0, &coupled, &v, 1.0);
    let mut schur = front.view((count, count), (below, below)).into_owned();
    schur.gemm(-1.0, &coupled, &coupled.transpose(), 1.0);
    if v.iter().chain(schur.iter()).all(|value| value.is_finite()) {
        Ok((v, Remainder { schur, forward }))
    } else {
        Err(refused("a number is not finite"))
    }
}

/// Where a row is in the front of a supernode.
fn place(node: &EliminationFront, row: usize) -> Option<usize> {
    if node.rows.contains(&row) {
        return Some(row - node.rows.start);
    }
    node.below
        .binary_search(&(row as u32))
        .ok()
        .map(|k| node.rows.len() + k)
}
