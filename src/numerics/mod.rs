//! Sparse linear algebra and vector code, independent of meshes, bones and time.
//!
//! | what                                        | where                                       | for                                    |
//! |---------------------------------------------|---------------------------------------------|----------------------------------------|
//! | symmetric sparse matrices from triplets     | [`SymmetricMatrix`]                          | all solvers                            |
//! | factor once, solve many right-hand sides    | [`Cholesky`], in an [`Ordering`]             | all solvers                            |
//! | real-time solves by threads                 | `partition`, `tiles`, `substitution`, `window`, `compliance` | the global step of simulations |
//! | points of a surface, frame after frame      | `points`                                    | delta mush                             |
//! | inverse factors and matrices for GPUs       | [`InverseFactors`], [`HybridMatrix`], [`LineMatrix`] | solves on devices              |
//! | fixed-point acceleration                    | `anderson`                                   | local/global iterations                |
//! | linear complementarity                      | `complementarity`                            | contacts                               |
//! | sparse rows times points, a row per lane    | `lane_rows`                                  | guidance of the flesh                  |
//! | entering the thread pool once               | `in_pool`                                    | frames                                 |
//! | lanes of `f32`, closest rotations, unit determinants | `lanes`, `polar`, `determinant`     | the local step                         |
//!
//! Matrices are symmetric positive definite unless said otherwise; factorisation is in `f64`, and what is solved at run time is
//! narrowed to `f32` afterwards. No result depends on the number of threads.

pub(crate) mod anderson;
mod cholesky;
pub(crate) mod complementarity;
pub(crate) mod compliance;
pub(crate) mod determinant;
mod error;
mod hybrid;
mod inverse;
pub(crate) mod lane_rows;
pub(crate) mod lanes;
mod lines;
mod matrix;
mod multifrontal;
pub(crate) mod ordering;
pub(crate) mod partition;
pub(crate) mod pattern;
mod points;
pub(crate) mod polar;
mod pool;
mod separator;
pub(crate) mod substitution;
pub(crate) mod tiles;
pub(crate) mod window;

pub use cholesky::{Cholesky, Ordering, Scalar, SolveMemory};
pub use error::FactorError;
pub use hybrid::{Entry, HYBRID_ROWS, HybridMatrix};
pub use inverse::{InverseError, InverseFactors, InversePlan};
pub use lines::{GROUP, LINE, LINE_THREADS, LineBatch, LineColumns, LineGroup, LineMatrix};
pub use matrix::{Elimination, RowMatrix, SymmetricMatrix};
pub(crate) use points::PointSolver;
pub(crate) use pool::in_pool;
