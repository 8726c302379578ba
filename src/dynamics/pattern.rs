//! Which vertices the matrix couples, and the analysis of its factorisation.

use faer::Side;
use faer::perm::PermRef;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::linalg::{SupernodalThreshold, SymbolicSupernodalParams};
use nalgebra_sparse::{CooMatrix, CscMatrix};

use super::local::Element;
use super::ordering::{Graph, elimination_order, inverse_of};

/// Merge adjacent supernodes of so many columns when less than this part of the result is zeros: a zero costs less than a loop.
const RELAX: [(usize, f64); 4] = [(4, 1.0), (16, 0.8), (48, 0.1), (usize::MAX, 0.05)];

/// The lower triangle of the matrix, column by column.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) column_starts: Vec<u32>,
    pub(super) rows: Vec<u32>,
}

impl Pattern {
    /// Couples all vertices of every prism, whichever of its tets are usable.
    pub(super) fn of(elements: &[Element], vertices: usize) -> Self {
        let mut pairs = CooMatrix::new(vertices, vertices);
        for vertex in 0..vertices {
            pairs.push(vertex, vertex, 1.0_f32);
        }
        for element in elements {
            let mut corners = element.corners.map(|v| v as usize);
            corners.sort_unstable();
            let [a, b, c] = corners;
            for (column, row) in [(a, b), (a, c), (b, c)] {
                pairs.push(row, column, 1.0);
            }
        }
        let compressed = CscMatrix::from(&pairs);
        let narrow = |indices: &[usize]| indices.iter().map(|&k| k as u32).collect();
        Self { column_starts: narrow(compressed.col_offsets()), rows: narrow(compressed.row_indices()) }
    }

    /// Where the entry of two vertices is stored; `None` if they are not coupled.
    pub(super) fn entry(&self, a: u32, b: u32) -> Option<usize> {
        let (column, row) = if a < b { (a, b) } else { (b, a) };
        let range = self.column_starts[column as usize] as usize..self.column_starts[column as usize + 1] as usize;
        self.rows[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
    }

    pub(super) fn symbolic(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let n = self.column_starts.len() - 1;
        SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.rows)
    }
    /// Orders and analyses the factorisation; what the solver said if it refuses.
    pub(super) fn analyse(&self) -> Result<SymbolicCholesky<u32>, String> {
        let graph = Graph::of_triangle(&self.column_starts, &self.rows);
        let order = elimination_order(&graph).ok_or("it can't be ordered")?;
        let places = inverse_of(&order);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &places, order.len()));
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            supernodal_params: SymbolicSupernodalParams { relax: Some(&RELAX) },
            ..CholeskySymbolicParams::default()
        };
        factorize_symbolic_cholesky(self.symbolic(), Side::Lower, ordering, params).map_err(|e| format!("{e:?}"))
    }
}
