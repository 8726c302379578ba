//! Exact solves of the constant matrix in one, two or three products, for graphics cards: no substitution, nothing waits in between.
//!
//! ```text
//!     P⁻¹ = Wᵀ S W
//! ```
//!
//! | form          | W                                               | S                                | products |
//! |---------------|--------------------------------------------------|----------------------------------|----------|
//! | factors       | V = L⁻¹, rows dense over their subtrees            | 1                                | 2        |
//! | substructures | V of small subtrees, what they add to the top     | inverse Schur complement of the top | 3     |
//! | dense         | 1                                                | P⁻¹                              | 1        |
//!
//! Under nested dissection of a surface of n vertices V has about n^1.5 entries, P⁻¹ n². The *top* is the part of the elimination tree
//! whose subtrees are larger than a threshold; all thresholds are weighed by what they read and by their passes ([`Plan`]). Up to about
//! 1 100 rows the dense inverse is best; 4 000 rows of a body have factors of 3.8 MB (dense: 66), 20 000 of a tube substructures of
//! 33 MB (factors: 50), 60 000 of 130 MB (factors: 256).

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::lines::{GROUP, LINE, LineGroup, LineMatrix};
use super::multifrontal::{Node, Rest, eliminate, tree_of};
use super::{Equations, FactorError};

/// A pass that needs the one before, µs: measured 3 to 6 on graphics cards.
const PASS_US: f64 = 4.0;
/// What a graphics card reads, bytes per µs: less than a data-centre card, more than a laptop.
const BYTES_PER_US: f64 = 1e6;
/// Larger tops take too long to invert.
const MAX_TOP: usize = 4096;

/// W and S of P⁻¹ = Wᵀ S W.
#[derive(Debug, Clone, PartialEq)]
pub struct Inverse {
    /// Unknowns.
    pub rows: usize,
    /// W; no groups where it is the identity.
    pub factor: LineMatrix,
    /// Rows and columns of S on the top; no groups where there is none.
    pub top: LineMatrix,
    /// Whether a row is of the top.
    pub is_top: Vec<bool>,
}

/// A form of the inverse, before any number is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Subtrees of more rows are of the top.
    pub threshold: usize,
    /// Rows of the top.
    pub top: usize,
    /// Bytes on the device.
    pub bytes: usize,
    /// Products, each of which needs the ones before.
    pub passes: usize,
    /// Estimated time of a solve on a graphics card, µs.
    pub micros: f64,
}

/// Why there is no inverse.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InverseError {
    /// The matrix can't be factored.
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

/// Blocks of columns that a range touches.
fn blocks_of(range: std::ops::Range<usize>) -> std::ops::Range<u32> {
    (range.start / LINE) as u32..range.end.div_ceil(LINE) as u32
}

/// A tree with a top.
struct Cut<'a> {
    nodes: &'a [Node],
    threshold: usize,
}

impl Cut<'_> {
    fn is_top(&self, node: &Node) -> bool {
        node.subtree().len() > self.threshold
    }

    /// The roots of subtrees below the top.
    fn subtrees(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|&index| {
            !self.is_top(&self.nodes[index]) && self.nodes[index].parent.is_none_or(|parent| self.is_top(&self.nodes[parent]))
        })
    }

    fn top_nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| self.is_top(node))
    }

    /// Tells all groups of W: first row, rows, blocks of columns.
    fn factor_groups(&self, rows: usize, tell: &mut dyn FnMut(usize, usize, &[u32])) {
        if self.threshold == 0 {
            return;
        }
        let mut touching = vec![Vec::new(); rows];
        for subtree in self.subtrees() {
            for &row in &self.nodes[subtree].below {
                touching[row as usize].push(subtree);
            }
        }
        let mut blocks: Vec<u32> = Vec::new();
        for node in self.nodes {
            for first in node.rows.clone().step_by(GROUP) {
                let group = first..(first + GROUP).min(node.rows.end);
                blocks.clear();
                if self.is_top(node) {
                    blocks.extend(blocks_of(group.clone()));
                    for subtree in group.clone().flat_map(|row| &touching[row]) {
                        blocks.extend(blocks_of(self.nodes[*subtree].subtree()));
                    }
                    blocks.sort_unstable();
                    blocks.dedup();
                } else {
                    blocks.extend(blocks_of(node.begin..group.end));
                }
                tell(first, group.len(), &blocks);
            }
        }
    }

    /// Tells all groups of S.
    fn top_groups(&self, tell: &mut dyn FnMut(usize, usize, &[u32])) {
        let mut blocks: Vec<u32> = self.top_nodes().flat_map(|node| blocks_of(node.rows.clone())).collect();
        blocks.dedup();
        for node in self.top_nodes() {
            for first in node.rows.clone().step_by(GROUP) {
                tell(first, (node.rows.end - first).min(GROUP), &blocks);
            }
        }
    }

    fn plan(&self, rows: usize) -> Plan {
        let top = self.top_nodes().map(|node| node.rows.len()).sum();
        let (mut factor, mut dense) = (0, 0);
        // A line of W is also listed by columns.
        self.factor_groups(rows, &mut |_, rows, blocks| factor += blocks.len() * (rows * (4 * LINE + 8) + 4) + size_of::<LineGroup>());
        self.top_groups(&mut |_, rows, blocks| dense += blocks.len() * (rows * 4 * LINE + 4) + size_of::<LineGroup>());
        let passes = 2 * usize::from(factor > 0) + usize::from(top > 0);
        let micros = Plan::estimate(passes, 2 * factor + dense);
        Plan { threshold: self.threshold, top, bytes: factor + dense, passes, micros }
    }
}

fn tree(equations: &Equations) -> Result<Vec<Node>, FactorError> {
    let unknowns = equations.matrix.starts.len().saturating_sub(1);
    tree_of(&equations.eliminations, unknowns)
        .ok_or_else(|| FactorError::Symbolic { unknowns, reason: "its elimination tree is out of order".to_owned() })
}

impl Plan {
    /// Estimated time of passes that each need the one before and read so many bytes together, µs.
    #[must_use]
    pub fn estimate(passes: usize, bytes: usize) -> f64 {
        PASS_US * passes as f64 + bytes as f64 / BYTES_PER_US
    }

    /// All forms worth a thought: factors first, the dense inverse last.
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the equations' elimination tree is none.
    pub fn all(equations: &Equations) -> Result<Vec<Self>, FactorError> {
        let nodes = tree(equations)?;
        let rows = equations.matrix.starts.len() - 1;
        let halves = std::iter::successors(Some(rows), |&threshold| (threshold > 0).then_some(threshold / 2));
        Ok(halves
            .filter(|&threshold| threshold == 0 || threshold >= LINE)
            .map(|threshold| Cut { nodes: &nodes, threshold }.plan(rows))
            .collect())
    }

    /// The form with the least estimated time, within so many bytes.
    ///
    /// # Errors
    /// [`InverseError`].
    pub fn best(equations: &Equations, limit: usize) -> Result<Self, InverseError> {
        let plans = Self::all(equations)?;
        let fits = |plan: &&Self| plan.bytes <= limit && plan.top <= MAX_TOP;
        plans.iter().filter(fits).min_by(|a, b| a.micros.total_cmp(&b.micros)).copied().ok_or_else(|| InverseError::TooLarge {
            unknowns: equations.matrix.starts.len() - 1,
            bytes: plans.iter().map(|plan| plan.bytes).min().unwrap_or_default(),
            limit,
        })
    }
}

impl Inverse {
    /// Computes it in this form.
    ///
    /// # Errors
    /// [`FactorError`] if the matrix is not positive definite.
    pub fn of(equations: &Equations, plan: &Plan) -> Result<Self, FactorError> {
        let nodes = tree(equations)?;
        let rows = equations.matrix.starts.len() - 1;
        let cut = Cut { nodes: &nodes, threshold: plan.threshold };
        let mut is_top = vec![false; rows];
        for node in cut.top_nodes() {
            is_top[node.rows.clone()].fill(true);
        }
        let mut factor = LineMatrix::default();
        cut.factor_groups(rows, &mut |row, rows, blocks| factor.push(row, rows, blocks));
        let rests = subtrees(equations, &cut, &mut factor)?;
        let mut top = LineMatrix::default();
        cut.top_groups(&mut |row, rows, blocks| top.push(row, rows, blocks));
        fill_top(equations, &cut, &rests, &is_top, &mut top)?;
        fill_boundary(&cut, &rests, &is_top, &mut factor);
        if factor.values.iter().chain(&top.values).all(|value| value.is_finite()) {
            Ok(Self { rows, factor, top, is_top })
        } else {
            Err(FactorError::Numeric { unknowns: rows, reason: "a number of its inverse is not finite".to_owned() })
        }
    }

    /// What the device does: x = Wᵀ S W b.
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

/// Eliminates all subtrees below the top, from the leaves on; writes their rows of V. What the roots leave, by supernode.
fn subtrees(equations: &Equations, cut: &Cut<'_>, factor: &mut LineMatrix) -> Result<Vec<Option<Rest>>, FactorError> {
    let nodes = cut.nodes;
    let mut rests: Vec<Option<Rest>> = nodes.iter().map(|_| None).collect();
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
    let highest = nodes.iter().filter(|node| !cut.is_top(node)).map(|node| node.height).max().unwrap_or(0);
    for height in 0..=highest {
        let mut level = Vec::new();
        for index in (0..nodes.len()).filter(|&index| nodes[index].height == height && !cut.is_top(&nodes[index])) {
            let from: Vec<Rest> = nodes[index].children.iter().filter_map(|&child| rests[child].take()).collect();
            level.push((index, from, owned[index].0, owned[index].1.take().unwrap_or_default()));
        }
        let eliminated = level.into_par_iter().map(|(index, from, groups, values)| {
            let (v, rest) = eliminate(&equations.matrix, nodes, index, &from)?;
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
fn write_rows(node: &Node, v: &DMatrix<f64>, groups: &[LineGroup], values: &mut [f32]) {
    let first_line = groups.first().map_or(0, |group| group.line);
    for group in groups {
        let local = LineGroup { line: group.line - first_line, ..*group };
        for row in 0..group.rows as usize {
            let global = group.row as usize + row;
            let numbers = v.row(global - node.rows.start);
            write(values, &local, row, 0, node.begin, numbers.iter().take(global + 1 - node.begin));
        }
    }
}

/// Writes numbers of a row from a column on, whose block is the group's block number `position`.
fn write<'a>(values: &mut [f32], group: &LineGroup, row: usize, position: usize, column: usize, numbers: impl Iterator<Item = &'a f64>) {
    let first_block = column / LINE;
    for (column, &number) in (column..).zip(numbers) {
        let line = group.line as usize + (position + column / LINE - first_block) * group.rows as usize + row;
        values[LINE * line + column % LINE] = number as f32;
    }
}

/// The inverse of what is left of the matrix on the top.
fn fill_top(
    equations: &Equations,
    cut: &Cut<'_>,
    rests: &[Option<Rest>],
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
    let matrix = &equations.matrix;
    let mut schur = Mat::<f64>::zeros(members.len(), members.len());
    for (k, &row) in members.iter().enumerate() {
        for entry in (matrix.starts[row] as usize..matrix.starts[row + 1] as usize).filter(|&e| is_top[matrix.columns[e] as usize]) {
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
    let refused = |_| FactorError::Numeric { unknowns: is_top.len(), reason: "what is left on the top is not".to_owned() };
    let inverse = Llt::new(schur.as_ref(), Side::Lower).map_err(refused)?.inverse();
    let LineMatrix { groups, blocks, values } = top;
    for group in &*groups {
        let blocks = &blocks[group.block as usize..(group.block + group.blocks) as usize];
        for row in 0..group.rows as usize {
            let k = index[group.row as usize + row];
            for (position, &block) in blocks.iter().enumerate() {
                let line = group.line as usize + position * group.rows as usize + row;
                let columns = block as usize * LINE..((block as usize + 1) * LINE).min(is_top.len());
                for column in columns.filter(|&column| is_top[column]) {
                    values[LINE * line + column % LINE] = inverse[(k, index[column])] as f32;
                }
            }
        }
    }
    Ok(())
}

/// The rows of W on the top: what subtrees add to them, and the identity.
fn fill_boundary(cut: &Cut<'_>, rests: &[Option<Rest>], is_top: &[bool], factor: &mut LineMatrix) {
    let LineMatrix { groups, blocks, values } = factor;
    let position = |group: &LineGroup, column: usize| {
        let own = &blocks[group.block as usize..(group.block + group.blocks) as usize];
        own.partition_point(|&block| (block as usize) < column / LINE)
    };
    let mut group_of = vec![0; is_top.len()];
    for (k, group) in groups.iter().enumerate() {
        group_of[group.row as usize..(group.row + group.rows) as usize].fill(k);
        for row in (0..group.rows as usize).filter(|row| is_top[group.row as usize + row]) {
            let column = group.row as usize + row;
            write(values, group, row, position(group, column), column, [1.0].iter());
        }
    }
    for (node, rest) in cut.nodes.iter().zip(rests) {
        let Some(rest) = rest else { continue };
        for (k, &row) in node.below.iter().enumerate() {
            let group = &groups[group_of[row as usize]];
            let numbers = rest.forward.row(k);
            write(values, group, (row - group.row) as usize, position(group, node.begin), node.begin, numbers.iter());
        }
    }
}
