//! Sparsity of a symmetric matrix: its stored entries, and the analysis of its factorisation.

use faer::Side;
use faer::perm::PermRef;
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::{SupernodalThreshold, SymbolicSupernodalParams};

use super::ordering::{Graph, elimination_order, inverse_of};

/// Adjacent supernodes of up to so many columns are merged when less than this part of the result is explicit zeros.
const RELAX: [(usize, f64); 4] = [(4, 1.0), (16, 0.8), (48, 0.1), (usize::MAX, 0.05)];

/// The lower triangle of a symmetric matrix with a full diagonal, column by column, rows ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) column_starts: Vec<u32>,
    pub(crate) rows: Vec<u32>,
}

/// Sets of unknowns that are all coupled with each other; one clique an element of a finite-element mesh.
#[derive(Debug, Clone)]
pub(crate) struct Cliques {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Cliques {
    /// One clique a list.
    pub(crate) fn of<'a>(lists: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let (mut starts, mut members) = (vec![0], Vec::new());
        for list in lists {
            members.extend_from_slice(list);
            starts.push(members.len() as u32);
        }
        Self { starts, members }
    }

    /// The unknowns of a clique.
    pub(crate) fn get(&self, index: usize) -> &[u32] {
        &self.members[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.starts.len() - 1).map(|index| self.get(index))
    }
}

impl Pattern {
    /// Couples every unknown with itself and all unknowns of every clique with each other.
    pub(crate) fn of_cliques(cliques: &Cliques, unknowns: usize) -> Self {
        Self::of_pairs(
            unknowns,
            cliques.iter().flat_map(|clique| {
                clique
                    .iter()
                    .enumerate()
                    .flat_map(move |(k, &a)| clique[k + 1..].iter().map(move |&b| [a, b]))
            }),
        )
    }

    /// Couples every unknown with itself and the two of every pair, which may come in either order and more than once.
    pub(crate) fn of_pairs(unknowns: usize, pairs: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut sorted: Vec<[u32; 2]> = (0..unknowns as u32)
            .map(|v| [v, v])
            .chain(pairs.map(|[a, b]| [a.min(b), a.max(b)]))
            .collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut column_starts = vec![0; unknowns + 1];
        for &[column, _] in &sorted {
            column_starts[column as usize + 1] += 1;
        }
        for column in 0..unknowns {
            column_starts[column + 1] += column_starts[column];
        }
        Self {
            column_starts,
            rows: sorted.into_iter().map(|[_, row]| row).collect(),
        }
    }

    /// Rows and columns.
    pub(crate) fn unknowns(&self) -> usize {
        self.column_starts.len() - 1
    }

    /// Where the entries of a column are stored; the diagonal is the first.
    pub(crate) fn column(&self, column: usize) -> std::ops::Range<usize> {
        self.column_starts[column] as usize..self.column_starts[column + 1] as usize
    }

    /// Where the entry of two unknowns is stored; `None` if they are not coupled.
    pub(crate) fn entry(&self, a: u32, b: u32) -> Option<usize> {
        let (column, row) = if a < b { (a, b) } else { (b, a) };
        let range = self.column_starts[column as usize] as usize
            ..self.column_starts[column as usize + 1] as usize;
        self.rows[range.clone()]
            .binary_search(&row)
            .ok()
            .map(|k| range.start + k)
    }

    pub(crate) fn symbolic(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let n = self.column_starts.len() - 1;
        SymbolicSparseColMatRef::new_checked(n, n, &self.column_starts, None, &self.rows)
    }

    /// Orders by nested dissection and analyses the factorisation; what the solver said if it refuses.
    pub(crate) fn analyse(&self) -> Result<SymbolicCholesky<u32>, String> {
        let order = elimination_order(&self.graph()).ok_or("it can't be ordered")?;
        self.analyse_in(&order, SupernodalThreshold::FORCE_SUPERNODAL)
    }

    /// Which unknowns are coupled.
    pub(crate) fn graph(&self) -> Graph {
        Graph::of_triangle(&self.column_starts, &self.rows)
    }

    /// Analyses the factorisation in this order of elimination.
    pub(crate) fn analyse_in(
        &self,
        order: &[u32],
        threshold: SupernodalThreshold,
    ) -> Result<SymbolicCholesky<u32>, String> {
        let places = inverse_of(order);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(order, &places, order.len()));
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: threshold,
            supernodal_params: SymbolicSupernodalParams {
                relax: Some(&RELAX),
            },
            ..CholeskySymbolicParams::default()
        };
        factorize_symbolic_cholesky(self.symbolic(), Side::Lower, ordering, params)
            .map_err(|e| format!("{e:?}"))
    }
}
