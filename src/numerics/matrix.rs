//! Sparse symmetric matrices.

use super::pattern::Pattern;

/// A sparse symmetric matrix of n × n real entries, of which the lower triangle is stored.
///
/// ```
/// use sinew::numerics::{Cholesky, Ordering, SymmetricMatrix};
///
/// // The path Laplacian plus the identity.
/// let mut entries = vec![(0, 0, 2.0), (1, 1, 3.0), (2, 2, 2.0)];
/// entries.extend([(0, 1, -1.0), (1, 2, -1.0)]);
/// let matrix = SymmetricMatrix::from_triplets(3, entries);
/// let factor = Cholesky::<f64>::factor(&matrix, Ordering::NestedDissection)?;
/// let mut x = [1.0, 1.0, 1.0];
/// factor.solve(&mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-12));
/// # Ok::<(), sinew::numerics::FactorError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SymmetricMatrix {
    pattern: Pattern,
    values: Vec<f64>,
}

impl SymmetricMatrix {
    /// The matrix whose entries are the sums of the triplets (row, column, value). An entry off the diagonal is named by either order
    /// of its indices and counts for both; the diagonal is always stored.
    ///
    /// # Panics
    /// If an index is not below `unknowns`, or `unknowns` not below 2³².
    #[must_use]
    pub fn from_triplets(
        unknowns: usize,
        triplets: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Self {
        assert!(
            u32::try_from(unknowns).is_ok(),
            "{unknowns} unknowns are too many"
        );
        let triplets: Vec<([u32; 2], f64)> = triplets
            .into_iter()
            .map(|(row, column, value)| {
                assert!(
                    row < unknowns && column < unknowns,
                    "entry ({row}, {column}) lies outside of a matrix of {unknowns} rows"
                );
                ([row as u32, column as u32], value)
            })
            .collect();
        let pattern = Pattern::of_pairs(unknowns, triplets.iter().map(|&(pair, _)| pair));
        let mut values = vec![0.0; pattern.rows.len()];
        for ([row, column], value) in triplets {
            if let Some(entry) = pattern.entry(row, column) {
                values[entry] += value;
            }
        }
        Self { pattern, values }
    }

    /// The symmetric matrix whose lower triangle, diagonal included, is that of `matrix` (n × n). Entries above the diagonal are
    /// ignored, so that a matrix stored in full and one stored by its lower triangle give the same.
    ///
    /// # Panics
    /// If `matrix` is not square.
    #[must_use]
    pub fn from_lower(matrix: &nalgebra_sparse::CscMatrix<f64>) -> Self {
        assert_eq!(matrix.nrows(), matrix.ncols(), "the matrix is not square");
        let lower = matrix
            .triplet_iter()
            .filter(|&(row, column, _)| row >= column)
            .map(|(row, column, &value)| (row, column, value));
        Self::from_triplets(matrix.nrows(), lower)
    }

    /// A matrix of zeros that stores these entries.
    pub(crate) fn zeros(pattern: Pattern) -> Self {
        let values = vec![0.0; pattern.rows.len()];
        Self { pattern, values }
    }

    /// The stored entries, in the order of the pattern.
    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Adds a matrix of the same size whose stored entries this one stores, too.
    pub(crate) fn add(&mut self, other: &Self) {
        for column in 0..other.unknowns() {
            let mut own = self.pattern.column(column).start;
            for entry in other.pattern.column(column) {
                while self.pattern.rows[own] < other.pattern.rows[entry] {
                    own += 1;
                }
                self.values[own] += other.values[entry];
            }
        }
    }

    /// Adds to a stored entry; it counts on both sides of the diagonal.
    pub(crate) fn add_at(&mut self, row: u32, column: u32, value: f64) {
        if let Some(entry) = self.pattern.entry(row, column) {
            self.values[entry] += value;
        }
    }

    /// Rows, and columns.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.pattern.unknowns()
    }

    /// The entry in a row and a column; 0 where none is stored.
    ///
    /// # Panics
    /// If an index is not below [`Self::unknowns`].
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.pattern
            .entry(row as u32, column as u32)
            .map_or(0.0, |entry| self.values[entry])
    }

    /// The stored entries of the lower triangle: (row, column, value) with row ≥ column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        (0..self.unknowns()).flat_map(move |column| {
            let range = self.pattern.column(column);
            self.pattern.rows[range.clone()]
                .iter()
                .zip(&self.values[range])
                .map(move |(&row, &value)| (row as usize, column, value))
        })
    }

    /// The same matrix with `value` added to the diagonal entry of every row.
    ///
    /// # Panics
    /// If there are more or fewer values than rows.
    #[must_use]
    pub fn plus_diagonal(&self, diagonal: &[f64]) -> Self {
        assert_eq!(diagonal.len(), self.unknowns(), "one value a row");
        let mut sum = self.clone();
        for (column, value) in diagonal.iter().enumerate() {
            // The diagonal is the first entry of its column.
            sum.values[self.pattern.column(column).start] += value;
        }
        sum
    }

    /// `y = A x` for a vector x.
    ///
    /// # Panics
    /// If x has another length than there are rows.
    #[must_use]
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.unknowns(), "one value a row");
        let mut y = vec![0.0; x.len()];
        for (row, column, value) in self.entries() {
            y[row] += value * x[column];
            if row != column {
                y[column] += value * x[row];
            }
        }
        y
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A sparse symmetric matrix with all entries of every row: the diagonal first, then ascending columns.
#[derive(Debug, Clone, PartialEq)]
pub struct RowMatrix {
    /// Where each row begins, and the number of entries at the end.
    pub starts: Vec<u32>,
    /// Column of every entry.
    pub columns: Vec<u32>,
    /// Value of every entry.
    pub values: Vec<f64>,
}

impl RowMatrix {
    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

/// Rows of a factor that are eliminated together (a supernode), and the rows below that they reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elimination {
    /// First row.
    pub first: u32,
    /// How many rows.
    pub count: u32,
    /// Later rows that these are coupled with when their turn comes, ascending.
    pub below: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_nalgebra_gives_the_same_product() {
        let mut entries = nalgebra_sparse::CooMatrix::new(3, 3);
        for (row, column, value) in [(0, 0, 4.0), (1, 1, 5.0), (2, 2, 6.0), (1, 0, -1.0)] {
            entries.push(row, column, value);
        }
        let lower = nalgebra_sparse::CscMatrix::from(&entries);
        entries.push(0, 1, -1.0);
        let full = nalgebra_sparse::CscMatrix::from(&entries);
        let matrix = SymmetricMatrix::from_lower(&lower);
        assert_eq!(SymmetricMatrix::from_lower(&full), matrix);
        let dense = nalgebra::DMatrix::from(&full);
        for row in 0..3 {
            for column in 0..3 {
                assert_eq!(matrix.get(row, column), dense[(row, column)]);
            }
        }
    }

    #[test]
    fn triplets_are_summed_in_either_order() {
        let matrix = SymmetricMatrix::from_triplets(
            3,
            [(0, 1, 1.0), (1, 0, 2.0), (2, 2, 5.0), (2, 2, -1.0)],
        );
        assert_eq!(
            [[0, 0], [0, 1], [1, 0], [2, 2], [0, 2]].map(|[row, column]| matrix.get(row, column)),
            [0.0, 3.0, 3.0, 4.0, 0.0]
        );
        assert_eq!(matrix.multiply(&[1.0, 10.0, 100.0]), [30.0, 3.0, 400.0]);
        assert_eq!(matrix.plus_diagonal(&[1.0; 3]).get(0, 0), 1.0);
    }

    #[test]
    #[should_panic(expected = "entry (3, 0) lies outside of a matrix of 3 rows")]
    fn an_index_outside_panics() {
        let _ = SymmetricMatrix::from_triplets(3, [(3, 0, 1.0)]);
    }
}
