//! Cholesky factors of sparse symmetric positive definite matrices: factor once, solve for many right-hand sides.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky};
use faer::{Conj, MatMut, Par, Side, Spec};
use rayon::prelude::*;

use super::ordering::{elimination_order, minimum_degree};
use super::pattern::Pattern;
use super::{FactorError, SymmetricMatrix};

/// Right-hand sides that are solved together; fixed, so that results do not depend on the number of threads.
const COLUMNS: usize = 8;

/// The order in which unknowns are eliminated; it decides how much the factor fills in, not what the solution is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordering {
    /// Recursive vertex separators, minimum degree on the pieces: least fill for meshes and grids.
    #[default]
    NestedDissection,
    /// Approximate minimum degree: quicker to find, for small or irregular systems.
    MinimumDegree,
    /// As the unknowns are numbered.
    Natural,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The numbers of a factor and of right-hand sides: `f64` for preprocessing, `f32` for solves at run time.
pub trait Scalar: sealed::Sealed + faer::traits::ComplexField + Copy {
    /// The nearest number of this type.
    fn of(value: f64) -> Self;
    /// Whether it is neither NaN nor infinite.
    fn finite(self) -> bool;
}

impl Scalar for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Scalar for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }

    fn finite(self) -> bool {
        self.is_finite()
    }
}

/// `A = Pᵀ L Lᵀ P` of a sparse symmetric positive definite A, n × n. Factored in `f64`, kept as `T`.
///
/// Chen, Davis, Hager, Rajamanickam, "Algorithm 887: CHOLMOD", ACM TOMS 35(3), 2008, as faer has it.
pub struct Cholesky<T: Scalar> {
    pattern: Pattern,
    symbolic: SymbolicCholesky<u32>,
    lower: Vec<T>,
}

/// The memory that [`Cholesky::solve_one`] works in.
pub struct SolveMemory(MemBuffer);

impl<T: Scalar> Cholesky<T> {
    /// Orders, analyses and factors a matrix.
    ///
    /// # Errors
    /// [`FactorError`] if an entry is not finite, or the matrix is not positive definite.
    pub fn factor(matrix: &SymmetricMatrix, ordering: Ordering) -> Result<Self, FactorError> {
        let pattern = matrix.pattern().clone();
        let unknowns = pattern.unknowns();
        let refused = |reason: String| FactorError::Symbolic { unknowns, reason };
        let order = match ordering {
            Ordering::NestedDissection => elimination_order(&pattern.graph()),
            Ordering::MinimumDegree => minimum_degree(&pattern.graph()),
            Ordering::Natural => Some((0..unknowns as u32).collect()),
        };
        let order = order.ok_or_else(|| refused("it can't be ordered".to_owned()))?;
        let symbolic = pattern
            .analyse_in(&order, SupernodalThreshold::AUTO)
            .map_err(refused)?;
        let mut factor = Self {
            pattern,
            symbolic,
            lower: Vec::new(),
        };
        factor.set_values(matrix)?;
        Ok(factor)
    }

    /// Factors another matrix in place of the first; its pattern is analysed again only where it differs.
    ///
    /// # Errors
    /// [`FactorError`]; the old factor then stays.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<(), FactorError> {
        if *matrix.pattern() == self.pattern {
            return self.set_values(matrix);
        }
        *self = Self::factor(matrix, Ordering::default())?;
        Ok(())
    }

    fn set_values(&mut self, matrix: &SymmetricMatrix) -> Result<(), FactorError> {
        for (row, column, value) in matrix.entries() {
            if !value.is_finite() {
                return Err(FactorError::NotFinite { row, column, value });
            }
        }
        let symbolic = &self.symbolic;
        let mut lower = vec![0.0_f64; symbolic.len_val()];
        let mut memory = MemBuffer::new(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default()),
        );
        symbolic
            .factorize_numeric_llt(
                &mut lower,
                SparseColMatRef::new(self.pattern.symbolic(), matrix.values()),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|error| FactorError::not_positive_definite(error, symbolic))?;
        let lower: Vec<T> = lower.into_iter().map(T::of).collect();
        if lower.iter().any(|value| !value.finite()) {
            return Err(FactorError::Numeric {
                unknowns: symbolic.nrows(),
                reason: "an entry of the factor overflows".to_owned(),
            });
        }
        self.lower = lower;
        Ok(())
    }

    /// Rows of the matrix.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.symbolic.nrows()
    }

    /// Entries of the factor that are stored.
    #[cfg(test)]
    pub(crate) fn stored(&self) -> usize {
        self.lower.len()
    }

    /// Memory for [`Cholesky::solve_one`], of this or an equal factor.
    #[must_use]
    pub fn memory(&self) -> SolveMemory {
        SolveMemory(MemBuffer::new(
            self.symbolic.solve_in_place_scratch::<T>(1, Par::Seq),
        ))
    }

    /// Replaces one right-hand side by the solution. Allocates nothing.
    ///
    /// # Panics
    /// If there are not as many numbers as rows, or the memory is that of a larger system.
    pub fn solve_one(&self, column: &mut [T], memory: &mut SolveMemory) {
        assert_eq!(column.len(), self.unknowns(), "one number a row");
        LltRef::<'_, u32, T>::new(&self.symbolic, &self.lower).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(column, self.unknowns(), 1),
            Par::Seq,
            MemStack::new(&mut memory.0),
        );
    }

    /// Replaces right-hand sides by solutions: n × k numbers, one right-hand side after the other. Blocks of columns are solved at the
    /// same time; the result does not depend on the number of threads.
    ///
    /// # Panics
    /// If the length is no multiple of the number of rows.
    pub fn solve(&self, columns: &mut [T]) {
        let unknowns = self.unknowns();
        if unknowns == 0 {
            assert!(
                columns.is_empty(),
                "a system without unknowns has no values"
            );
            return;
        }
        assert!(
            columns.len().is_multiple_of(unknowns),
            "{} numbers are no right-hand sides of {unknowns} rows",
            columns.len()
        );
        columns
            .par_chunks_mut(COLUMNS * unknowns)
            .for_each(|block| {
                let count = block.len() / unknowns;
                let mut memory =
                    MemBuffer::new(self.symbolic.solve_in_place_scratch::<T>(count, Par::Seq));
                LltRef::<'_, u32, T>::new(&self.symbolic, &self.lower).solve_in_place_with_conj(
                    Conj::No,
                    MatMut::from_column_major_slice_mut(block, unknowns, count),
                    Par::Seq,
                    MemStack::new(&mut memory),
                );
            });
    }
}

#[cfg(test)]
mod tests;
