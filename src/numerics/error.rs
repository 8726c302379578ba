//! Errors of factorisations.

use faer::linalg::cholesky::llt::factor::LltError;
use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};

/// Why a matrix could not be factored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// The pattern of the matrix cannot be ordered or analysed.
    #[error("the system of {unknowns} unknowns could not be analysed: {reason}")]
    Symbolic {
        /// Rows.
        unknowns: usize,
        /// What the solver reported.
        reason: String,
    },
    /// An entry of the matrix is NaN or infinite.
    #[error("the system's entry ({row}, {column}) is {value}, not a finite number")]
    NotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A pivot is zero, negative or NaN: an unknown that nothing holds, or a matrix that is indefinite.
    #[error(
        "the system of {unknowns} unknowns is not positive definite: the pivot of unknown {unknown} is not positive"
    )]
    NotPositiveDefinite {
        /// Rows.
        unknowns: usize,
        /// Unknown whose pivot it is, in the caller's numbering.
        unknown: usize,
    },
    /// The factor cannot be represented.
    #[error("the system of {unknowns} unknowns could not be factored: {reason}")]
    Numeric {
        /// Rows.
        unknowns: usize,
        /// What the solver reported.
        reason: String,
    },
}

impl FactorError {
    /// The solver's error with the pivot's unknown in the caller's numbering.
    pub(crate) fn not_positive_definite(error: LltError, symbolic: &SymbolicCholesky<u32>) -> Self {
        let LltError::NonPositivePivot { index } = error;
        // faer counts the columns of simplicial factors from 1.
        let index = match symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(_) => index.saturating_sub(1),
            SymbolicCholeskyRaw::Supernodal(_) => index,
        };
        let unknown = match symbolic.perm() {
            Some(permutation) => permutation
                .arrays()
                .0
                .get(index)
                .map_or(index, |&unknown| unknown as usize),
            None => index,
        };
        Self::NotPositiveDefinite {
            unknowns: symbolic.nrows(),
            unknown,
        }
    }
}
