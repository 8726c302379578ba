//! Exact solves in one, two or three matrix-vector products, for GPUs, where the dependent steps of substitution are slow.
//!
//! ```text
//!     P⁻¹ = Wᵀ S W
//! ```
//!
//! | form          | W                                               | S                                | products |
//! |---------------|--------------------------------------------------|----------------------------------|----------|
//! | factors       | V = L⁻¹, rows dense over their subtrees            | 1                                | 2        |
//! | substructures | V of small subtrees, updates to the top     | inverse Schur complement of the top | 3     |
//! | dense         | 1                                                | P⁻¹                              | 1        |
//!
//! Under nested dissection of a surface of n vertices V has about n^1.5 entries, P⁻¹ n². The *top* is the part of the elimination tree
//! whose subtrees are larger than a threshold; all thresholds are weighed by what they read and by their passes ([`InversePlan`]). Up to about
//! 1 100 rows the dense inverse is best; 4 000 rows of a body have factors of 3.8 MB (dense: 66), 20 000 of a tube substructures of
//! 33 MB (factors: 50), 60 000 of 130 MB (factors: 256).

mod plan;

pub use plan::InversePlan;

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};
use nalgebra::DMatrix;
use rayon::prelude::*;

use plan::{Truncation, tree};

use super::lines::{GROUP, LINE, LineGroup, LineMatrix};
use super::multifrontal::{EliminationFront, Remainder, eliminate};
use super::{Elimination, FactorError, RowMatrix};

/// W and S of P⁻¹ = Wᵀ S W.
#[derive(Debug, Clone, PartialEq)]
pub struct InverseFactors {
    /// Unknowns.
    pub rows: usize,
    /// W; no groups where it is the identity.
    pub factor: LineMatrix,
    /// Rows and columns of S on the top; no groups where there is none.
    pub top: LineMatrix,
    /// Whether a row is of the top.
    pub is_top: Vec<bool>,
}

/// Why there is no inverse.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InverseError {
    /// The matrix cannot be factored.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// No form of it fits.
    #[error(
        "the inverse of a system of {unknowns} unknowns takes {bytes} bytes, more than the {limit} allowed; solve by conjugate gradients"
    )]
    TooLarge {
        /// Rows.
        unknowns: usize,
        /// Of the smallest form.
        bytes: usize,
        /// What was allowed.
        limit: usize,
    },
}

impl InverseFactors {
    /// Computes it in this form.
    ///
    /// # Errors
    /// [`FactorError`] if the matrix is not positive definite.
    pub fn of(
        matrix: &RowMatrix,
        eliminations: &[Elimination],
        plan: &InversePlan,
    ) -> Result<Self, FactorError> {
        let nodes = tree(matrix, eliminations)?;
        let rows = matrix.rows();
        let cut = Truncation {
            nodes: &nodes,
            threshold: plan.threshold,
        };
        let mut is_top = vec![false; rows];
        for node in cut.top_nodes() {
            is_top[node.rows.clone()].fill(true);
        }
        let mut factor = LineMatrix::default();
        cut.factor_groups(rows, &mut |row, rows, blocks| {
            factor.push(row, rows, blocks);
        });
        let rests = subtrees(matrix, &cut, &mut factor)?;
        let mut top = LineMatrix::default();
        cut.top_groups(&mut |row, rows, blocks| top.push(row, rows, blocks));
        fill_top(matrix, &cut, &rests, &is_top, &mut top)?;
        fill_boundary(&cut, &rests, &is_top, &mut factor);
        if factor
            .values
            .iter()
            .chain(&top.values)
            .all(|value| value.is_finite())
        {
            Ok(Self {
                rows,
                factor,
                top,
                is_top,
            })
        } else {
            Err(FactorError::Numeric {
                unknowns: rows,
                reason: "a number of its inverse is not finite".to_owned(),
            })
        }
    }

    /// CPU twin of the device's products: x = Wᵀ S W b.
    ///
    /// # Panics
    /// If b has another length than there are rows.
    #[must_use]
    pub fn solve(&self, b: &[[f32; 3]]) -> Vec<[f32; 3]> {
        assert_eq!(b.len(), self.rows, "one right-hand side a row");
        let mut y = b.to_vec();
        y.resize(self.rows.next_multiple_of(LINE), [0.0; 3]);
        let mut x = y.clone();
        self.factor.multiply(&x, &mut y);
        let mut z = y.clone();
        self.top.multiply(&y, &mut z);
        if self.factor.groups.is_empty() {
            x = z;
        } else {
            self.factor.multiply_transposed(&z, &mut x);
        }
        x.truncate(self.rows);
        x
    }
}

/// Eliminates all subtrees below the top, from the leaves on; writes their rows of V. Returns the updates of their roots, by supernode.
fn subtrees(
    matrix: &RowMatrix,
    cut: &Truncation<'_>,
    factor: &mut LineMatrix,
) -> Result<Vec<Option<Remainder>>, FactorError> {
    let nodes = cut.nodes;
    let mut rests: Vec<Option<Remainder>> = nodes.iter().map(|_| None).collect();
    if cut.threshold == 0 {
        return Ok(rests);
    }
    let LineMatrix { groups, values, .. } = factor;
    let mut owned: Vec<(&[LineGroup], Option<&mut [f32]>)> = Vec::with_capacity(nodes.len());
    let (mut groups, mut values) = (&groups[..], &mut values[..]);
    for node in nodes {
        let (own, others) = groups.split_at(node.rows.len().div_ceil(GROUP));
        let lines: u32 = own.iter().map(|group| group.rows * group.blocks).sum();
        let (numbers, more) = std::mem::take(&mut values).split_at_mut(lines as usize * LINE);
        owned.push((own, Some(numbers)));
        (groups, values) = (others, more);
    }
    let highest = nodes
        .iter()
        .filter(|node| !cut.is_top(node))
        .map(|node| node.height)
        .max()
        .unwrap_or(0);
    for height in 0..=highest {
        let mut level = Vec::new();
        for index in (0..nodes.len())
            .filter(|&index| nodes[index].height == height && !cut.is_top(&nodes[index]))
        {
            let from: Vec<Remainder> = nodes[index]
                .children
                .iter()
                .filter_map(|&child| rests[child].take())
                .collect();
            level.push((
                index,
                from,
                owned[index].0,
                owned[index].1.take().unwrap_or_default(),
            ));
        }
        let eliminated = level.into_par_iter().map(|(index, from, groups, values)| {
            let (v, rest) = eliminate(matrix, nodes, index, &from)?;
            write_rows(&nodes[index], &v, groups, values);
            Ok((index, rest))
        });
        for (index, rest) in eliminated.collect::<Result<Vec<_>, FactorError>>()? {
            rests[index] = Some(rest);
        }
    }
    Ok(rests)
}

/// Rows of V of a supernode into its groups; `values` are only those of these.
fn write_rows(node: &EliminationFront, v: &DMatrix<f64>, groups: &[LineGroup], values: &mut [f32]) {
    let first_line = groups.first().map_or(0, |group| group.line);
    for group in groups {
        let local = LineGroup {
            line: group.line - first_line,
            ..*group
        };
        for row in 0..group.rows as usize {
            let global = group.row as usize + row;
            let numbers = v.row(global - node.rows.start);
            write(
                values,
                &local,
                row,
                0,
                node.begin,
                numbers.iter().take(global + 1 - node.begin),
            );
        }
    }
}

/// Writes numbers of a row from a column on, whose block is the group's block number `position`.
fn write<'a>(
    values: &mut [f32],
    group: &LineGroup,
    row: usize,
    position: usize,
    column: usize,
    numbers: impl Iterator<Item = &'a f64>,
) {
    let first_block = column / LINE;
    for (column, &number) in (column..).zip(numbers) {
        let line = group.line as usize
            + (position + column / LINE - first_block) * group.rows as usize
            + row;
        values[LINE * line + column % LINE] = number as f32;
    }
}

/// Inverse of the Schur complement on the top.
fn fill_top(
    matrix: &RowMatrix,
    cut: &Truncation<'_>,
    rests: &[Option<Remainder>],
    is_top: &[bool],
    top: &mut LineMatrix,
) -> Result<(), FactorError> {
    let members: Vec<usize> = (0..is_top.len()).filter(|&row| is_top[row]).collect();
    if members.is_empty() {
        return Ok(());
    }
    let mut index = vec![0; is_top.len()];
    for (k, &row) in members.iter().enumerate() {
        index[row] = k;
    }
    let mut schur = Mat::<f64>::zeros(members.len(), members.len());
    for (k, &row) in members.iter().enumerate() {
        for entry in (matrix.starts[row] as usize..matrix.starts[row + 1] as usize)
            .filter(|&e| is_top[matrix.columns[e] as usize])
        {
            schur[(k, index[matrix.columns[entry] as usize])] += matrix.values[entry];
        }
    }
    for (node, rest) in cut.nodes.iter().zip(rests) {
        let Some(rest) = rest else { continue };
        for (k, &a) in node.below.iter().enumerate() {
            for (l, &b) in node.below.iter().enumerate() {
                schur[(index[a as usize], index[b as usize])] += rest.schur[(k, l)];
            }
        }
    }
    let refused = |_| FactorError::Numeric {
        unknowns: is_top.len(),
        reason: "what is left on the top is not".to_owned(),
    };
    let inverse = Llt::new(schur.as_ref(), Side::Lower)
        .map_err(refused)?
        .inverse();
    let LineMatrix {
        groups,
        blocks,
        values,
    } = top;
    for group in &*groups {
        let blocks = &blocks[group.block as usize..(group.block + group.blocks) as usize];
        for row in 0..group.rows as usize {
            let k = index[group.row as usize + row];
            for (position, &block) in blocks.iter().enumerate() {
                let line = group.line as usize + position * group.rows as usize + row;
                let columns =
                    block as usize * LINE..((block as usize + 1) * LINE).min(is_top.len());
                for column in columns.filter(|&column| is_top[column]) {
                    values[LINE * line + column % LINE] = inverse[(k, index[column])] as f32;
                }
            }
        }
    }
    Ok(())
}

/// The rows of W on the top: the updates of subtrees, and the identity.
fn fill_boundary(
    cut: &Truncation<'_>,
    rests: &[Option<Remainder>],
    is_top: &[bool],
    factor: &mut LineMatrix,
) {
    let LineMatrix {
        groups,
        blocks,
        values,
    } = factor;
    let position = |group: &LineGroup, column: usize| {
        let own = &blocks[group.block as usize..(group.block + group.blocks) as usize];
        own.partition_point(|&block| (block as usize) < column / LINE)
    };
    let mut group_of = vec![0; is_top.len()];
    for (k, group) in groups.iter().enumerate() {
        group_of[group.row as usize..(group.row + group.rows) as usize].fill(k);
        for row in (0..group.rows as usize).filter(|row| is_top[group.row as usize + row]) {
            let column = group.row as usize + row;
            write(
                values,
                group,
                row,
                position(group, column),
                column,
                [1.0].iter(),
            );
        }
    }
    for (node, rest) in cut.nodes.iter().zip(rests) {
        let Some(rest) = rest else { continue };
        for (k, &row) in node.below.iter().enumerate() {
            let group = &groups[group_of[row as usize]];
            let numbers = rest.forward.row(k);
            write(
                values,
                group,
                (row - group.row) as usize,
                position(group, node.begin),
                node.begin,
                numbers.iter(),
            );
        }
    }
}
