//! Forms of the inverse: which subtrees are inverted densely, what that costs, and which form is best.

use super::InverseError;
use crate::numerics::lines::{GROUP, LINE, LineGroup};
use crate::numerics::multifrontal::{EliminationFront, tree_of};
use crate::numerics::{Elimination, FactorError, RowMatrix};

/// Latency of a dependent pass, µs: 3 to 6 measured on GPUs.
const PASS_US: f64 = 4.0;
/// Memory bandwidth, bytes per µs: between a laptop and a data-centre card.
const BYTES_PER_US: f64 = 1e6;
/// Larger tops take too long to invert.
const MAX_TOP: usize = 4096;

/// A form of the inverse, with its costs, before any number is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InversePlan {
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

/// Blocks of columns that a range touches.
fn blocks_of(range: std::ops::Range<usize>) -> std::ops::Range<u32> {
    (range.start / LINE) as u32..range.end.div_ceil(LINE) as u32
}

/// An elimination tree whose uppermost part is inverted densely.
pub(super) struct Truncation<'a> {
    pub(super) nodes: &'a [EliminationFront],
    pub(super) threshold: usize,
}

impl Truncation<'_> {
    pub(super) fn is_top(&self, node: &EliminationFront) -> bool {
        node.subtree().len() > self.threshold
    }

    /// The roots of subtrees below the top.
    pub(super) fn subtrees(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|&index| {
            !self.is_top(&self.nodes[index])
                && self.nodes[index]
                    .parent
                    .is_none_or(|parent| self.is_top(&self.nodes[parent]))
        })
    }

    pub(super) fn top_nodes(&self) -> impl Iterator<Item = &EliminationFront> {
        self.nodes.iter().filter(|node| self.is_top(node))
    }

    /// Tells all groups of W: first row, rows, blocks of columns.
    pub(super) fn factor_groups(&self, rows: usize, report: &mut dyn FnMut(usize, usize, &[u32])) {
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
                report(first, group.len(), &blocks);
            }
        }
    }

    /// Tells all groups of S.
    pub(super) fn top_groups(&self, report: &mut dyn FnMut(usize, usize, &[u32])) {
        let mut blocks: Vec<u32> = self
            .top_nodes()
            .flat_map(|node| blocks_of(node.rows.clone()))
            .collect();
        blocks.dedup();
        for node in self.top_nodes() {
            for first in node.rows.clone().step_by(GROUP) {
                report(first, (node.rows.end - first).min(GROUP), &blocks);
            }
        }
    }

    fn plan(&self, rows: usize) -> InversePlan {
        let top = self.top_nodes().map(|node| node.rows.len()).sum();
        let (mut factor, mut dense) = (0, 0);
        // A line of W is also listed by columns.
        self.factor_groups(rows, &mut |_, rows, blocks| {
            factor += blocks.len() * (rows * (4 * LINE + 8) + 4) + size_of::<LineGroup>();
        });
        self.top_groups(&mut |_, rows, blocks| {
            dense += blocks.len() * (rows * 4 * LINE + 4) + size_of::<LineGroup>();
        });
        let passes = 2 * usize::from(factor > 0) + usize::from(top > 0);
        let micros = InversePlan::estimate(passes, 2 * factor + dense);
        InversePlan {
            threshold: self.threshold,
            top,
            bytes: factor + dense,
            passes,
            micros,
        }
    }
}

pub(super) fn tree(
    matrix: &RowMatrix,
    eliminations: &[Elimination],
) -> Result<Vec<EliminationFront>, FactorError> {
    let unknowns = matrix.rows();
    tree_of(eliminations, unknowns).ok_or_else(|| FactorError::Symbolic {
        unknowns,
        reason: "its elimination tree is out of order".to_owned(),
    })
}

impl InversePlan {
    /// Estimated time of passes that each need the one before and read so many bytes together, µs.
    #[must_use]
    pub(crate) fn estimate(passes: usize, bytes: usize) -> f64 {
        PASS_US * passes as f64 + bytes as f64 / BYTES_PER_US
    }

    /// The candidate forms: factors first, the dense inverse last.
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the eliminations are not those of a factor of the matrix.
    pub fn all(matrix: &RowMatrix, eliminations: &[Elimination]) -> Result<Vec<Self>, FactorError> {
        let nodes = tree(matrix, eliminations)?;
        let rows = matrix.rows();
        let halves = std::iter::successors(Some(rows), |&threshold| {
            (threshold > 0).then_some(threshold / 2)
        });
        Ok(halves
            .filter(|&threshold| threshold == 0 || threshold >= LINE)
            .map(|threshold| {
                Truncation {
                    nodes: &nodes,
                    threshold,
                }
                .plan(rows)
            })
            .collect())
    }

    /// The form with the least estimated time, within so many bytes.
    ///
    /// # Errors
    /// [`InverseError`].
    pub fn best(
        matrix: &RowMatrix,
        eliminations: &[Elimination],
        limit: usize,
    ) -> Result<Self, InverseError> {
        let mut plans = Self::all(matrix, eliminations)?;
        plans.retain(|plan| plan.top <= MAX_TOP);
        let fitting = plans.iter().filter(|plan| plan.bytes <= limit);
        let smallest = plans.iter().map(|plan| plan.bytes).min();
        fitting
            .min_by(|a, b| a.micros.total_cmp(&b.micros))
            .copied()
            .ok_or(InverseError::TooLarge {
                unknowns: matrix.rows(),
                bytes: smallest.unwrap_or_default(),
                limit,
            })
    }
}
