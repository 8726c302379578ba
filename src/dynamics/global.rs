//! The global step: one constant symmetric positive definite system, solved for x, y and z together.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par, Side, Spec};
use nalgebra_sparse::CscMatrix;

/// Whatever can solve the global step: a factor, an iterative method, a GPU.
pub trait GlobalSolver: Send {
    /// How many unknowns there are, n.
    fn unknowns(&self) -> usize;

    /// Replaces `rhs` (x, y, z of every vertex, and a fourth lane that may be left as it is) by the solution for it as right-hand
    /// side.
    fn solve(&mut self, rhs: &mut [[f32; 4]]);

    /// As [`Self::solve`], for all four lanes.
    fn solve_lanes(&mut self, rhs: &mut [[f32; 4]]);

    /// What the window needs.
    fn window(&mut self) -> &mut Window;

    /// Chooses the vertices of the window: in contact, and wanted often.
    fn set_window(&mut self, vertices: &[u32]) {
        let window = self.window();
        window.vertices.clear();
        window.vertices.extend_from_slice(vertices);
    }

    /// Replaces the values at the window's vertices, as a right-hand side that is zero elsewhere, by the solution there; all four
    /// lanes.
    fn solve_window(&mut self, values: &mut [[f32; 4]]) {
        let unknowns = self.unknowns();
        let mut window = std::mem::take(self.window());
        window.full.clear();
        window.full.resize(unknowns, [0.0; 4]);
        for (&v, value) in window.vertices.iter().zip(values.iter()) {
            window.full[v as usize] = *value;
        }
        self.solve_lanes(&mut window.full);
        for (&v, value) in window.vertices.iter().zip(values) {
            *value = window.full[v as usize];
        }
        *self.window() = window;
    }

    /// As [`Self::solve`], but `push` sees the solution at the window's vertices first and may replace it by forces there: they are
    /// added to the right-hand side if it returns true.
    fn solve_with_window(&mut self, rhs: &mut [[f32; 4]], push: &mut dyn FnMut(&mut [[f32; 4]]) -> bool) {
        let mut window = std::mem::take(self.window());
        window.full.clear();
        window.full.extend_from_slice(rhs);
        self.solve(rhs);
        window.values.clear();
        window.values.extend(window.vertices.iter().map(|&v| rhs[v as usize]));
        if push(&mut window.values) {
            rhs.copy_from_slice(&window.full);
            for (&v, force) in window.vertices.iter().zip(&window.values) {
                for (lane, force) in rhs[v as usize].iter_mut().zip(force) {
                    *lane += force;
                }
            }
            self.solve(rhs);
        }
        *self.window() = window;
    }
}

/// Vertices that are solved for on their own, and scratch for it.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// Which.
    pub vertices: Vec<u32>,
    full: Vec<[f32; 4]>,
    values: Vec<[f32; 4]>,
}

/// Why a matrix could not be factored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// The sparse solver refused the structure.
    #[error("the system of {unknowns} unknowns could not be analysed: {reason}")]
    Symbolic {
        /// Rows.
        unknowns: usize,
        /// What the solver said.
        reason: String,
    },
    /// Not positive definite: a vertex that nothing holds, or a number that is not finite.
    #[error("the system of {unknowns} unknowns is not positive definite: {reason}")]
    Numeric {
        /// Rows.
        unknowns: usize,
        /// What the solver said.
        reason: String,
    },
}

/// faer's sparse Cholesky: factored in `f64`, kept and solved in `f32`.
pub struct Cholesky {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f32>,
    scratch: MemBuffer,
    unknowns: usize,
    columns: Vec<f32>,
    window: Window,
}

impl Cholesky {
    /// Analyses and factors the lower triangle of a symmetric matrix.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn factor(lower: &CscMatrix<f64>) -> Result<Self, FactorError> {
        let matrix = to_faer(lower)?;
        let unknowns = lower.nrows();
        let symbolic =
            factorize_symbolic_cholesky(matrix.symbolic(), Side::Lower, SymmetricOrdering::Amd, CholeskySymbolicParams::default())
                .map_err(|e| FactorError::Symbolic { unknowns, reason: format!("{e:?}") })?;
        let scratch = MemBuffer::new(symbolic.solve_in_place_scratch::<f32>(4, Par::Seq));
        let (columns, window) = (vec![0.0; 4 * unknowns], Window::default());
        let mut factor = Self { symbolic, values: Vec::new(), scratch, unknowns, columns, window };
        factor.numeric(&matrix)?;
        Ok(factor)
    }

    /// Factors another matrix of the same structure.
    ///
    /// # Errors
    /// [`FactorError::Numeric`]; the old factor then stays.
    pub fn refactor(&mut self, lower: &CscMatrix<f64>) -> Result<(), FactorError> {
        let matrix = to_faer(lower)?;
        self.numeric(&matrix)
    }

    fn numeric(&mut self, matrix: &SparseColMat<u32, f64>) -> Result<(), FactorError> {
        let mut values = vec![0.0_f64; self.symbolic.len_val()];
        let mut memory = MemBuffer::new(self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default()));
        self.symbolic
            .factorize_numeric_llt(
                &mut values,
                matrix.as_ref(),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Spec::default(),
            )
            .map_err(|e| FactorError::Numeric { unknowns: self.unknowns, reason: format!("{e:?}") })?;
        if !values.iter().all(|v| v.is_finite()) {
            return Err(FactorError::Numeric { unknowns: self.unknowns, reason: "the factor is not finite".to_owned() });
        }
        self.values = values.iter().map(|&v| v as f32).collect();
        Ok(())
    }
}

impl GlobalSolver for Cholesky {
    fn unknowns(&self) -> usize {
        self.unknowns
    }

    fn solve(&mut self, rhs: &mut [[f32; 4]]) {
        self.solve_some(rhs, 3);
    }

    fn solve_lanes(&mut self, rhs: &mut [[f32; 4]]) {
        self.solve_some(rhs, 4);
    }

    fn window(&mut self) -> &mut Window {
        &mut self.window
    }
}

impl Cholesky {
    #[expect(clippy::needless_range_loop, reason = "a lane goes through arrays of two kinds")]
    fn solve_some(&mut self, rhs: &mut [[f32; 4]], lanes: usize) {
        let n = self.unknowns;
        for (v, value) in rhs.iter().enumerate() {
            for lane in 0..lanes {
                self.columns[lane * n + v] = value[lane];
            }
        }
        let matrix = MatMut::from_column_major_slice_mut(&mut self.columns[..lanes * n], n, lanes);
        LltRef::<u32, f32>::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            matrix,
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
        for (v, value) in rhs.iter_mut().enumerate() {
            for lane in 0..lanes {
                value[lane] = self.columns[lane * n + v];
            }
        }
    }
}

fn to_faer(lower: &CscMatrix<f64>) -> Result<SparseColMat<u32, f64>, FactorError> {
    let unknowns = lower.nrows();
    let triplets: Vec<Triplet<u32, u32, f64>> =
        lower.triplet_iter().map(|(row, column, &value)| Triplet::new(row as u32, column as u32, value)).collect();
    SparseColMat::try_new_from_triplets(unknowns, unknowns, &triplets)
        .map_err(|e| FactorError::Symbolic { unknowns, reason: format!("{e:?}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra_sparse::CooMatrix;

    /// A path graph's Laplacian plus identity: A x = b is checked by multiplying back.
    #[test]
    #[expect(clippy::needless_range_loop, reason = "rows of an equation")]
    fn solves_and_refactors() {
        let n = 40;
        let lower = |diagonal: f64| {
            let mut coo = CooMatrix::new(n, n);
            for i in 0..n {
                coo.push(i, i, diagonal);
                if i + 1 < n {
                    coo.push(i + 1, i, -1.0);
                }
            }
            CscMatrix::from(&coo)
        };
        let mut solver = Cholesky::factor(&lower(3.0)).unwrap();
        for diagonal in [3.0_f32, 5.0] {
            solver.refactor(&lower(f64::from(diagonal))).unwrap();
            let rhs: Vec<[f32; 4]> = (0..n).map(|i| [0, 1, 2, 3].map(|c| ((c * n + i) as f32).sin())).collect();
            let mut x = rhs.clone();
            solver.solve_lanes(&mut x);
            for c in 0..4 {
                for i in 0..n {
                    let at = |k: usize| x[k][c];
                    let mut sum = diagonal * at(i);
                    sum -= if i > 0 { at(i - 1) } else { 0.0 } + if i + 1 < n { at(i + 1) } else { 0.0 };
                    assert!((sum - rhs[i][c]).abs() < 1e-5);
                }
            }
        }
        assert!(matches!(Cholesky::factor(&lower(0.1)), Err(FactorError::Numeric { .. })));
    }
}
