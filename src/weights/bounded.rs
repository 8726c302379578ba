//! Bounded biharmonic weights by ADMM with one factorisation.
//!
//! Jacobson, Baran, Popović, Sorkine, "Bounded Biharmonic Weights for Real-Time Deformation", SIGGRAPH 2011, equations 2 to 5: minimise
//! Σⱼ ½ wⱼᵀ Q wⱼ with given values on handles, w ≥ 0 and Σⱼ wⱼ = 1. With free nodes f, given nodes h and their values B:
//!
//! ```text
//! A = Q_ff + ρ D                        factored once
//! Z = Π( −Q_ff⁻¹ Q_fh B ),  U = 0
//! W = A⁻¹ ( ρ D (Z − U) − Q_fh B )      all columns at once
//! Ŵ = α W + (1 − α) Z;   Z ← Π(Ŵ + U);   U ← U + Ŵ − Z
//! ```
//!
//! | symbol | here                              | shape           | note                                                       |
//! |--------|-----------------------------------|-----------------|------------------------------------------------------------|
//! | Q      | [`FieldSystem::matrix`]           | free × free     | L M⁻¹ L                                                    |
//! | D      | diagonal of Q                     | free            | the steps needed with D = I are ten times as many          |
//! | ρ, α   | [`BoundedSettings`]               | 1               | penalty 0.01, over-relaxation 1.6                          |
//! | Π      | [`Feasible`]                      | row by row      | simplex: the exact problem; box: libigl's relaxed one      |
//! | Z      | [`BoundedSolve::rows`]            | free × columns  | always feasible                                            |
//!
//! Boyd et al., "Distributed Optimization and Statistical Learning via ADMM", 2011, sections 3.1.1 and 3.4.3.
//!
//! # Departures
//! - The paper solves by quadratic programming, and libigl by an active set without Σⱼ wⱼ = 1 and divides by the sum afterwards.

use rayon::prelude::*;

use super::WeightError;
use super::fields::{FieldSystem, solve};
use super::simplex::{project_to_box, project_to_simplex};
use super::voxel::{NodeWeights, VoxelBinding};
use crate::numerics::{Cholesky, FactorError, Scalar};
use crate::progress::Progress;

/// Rows that are handled together.
const ROWS: usize = 64;
/// Right-hand sides that are made together.
const COLUMNS: usize = 8;

/// What rows of weights may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Feasible {
    /// Not negative, with the sum 1.
    #[default]
    Simplex,
    /// From 0 to 1 each.
    Box,
}

impl Feasible {
    /// Replaces a row by the nearest feasible one.
    pub fn project(self, row: &mut [f64]) {
        match self {
            Self::Simplex => project_to_simplex(row),
            Self::Box => project_to_box(row),
        }
    }
}

/// How bounded weights are solved for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedSettings {
    /// Most steps; 0 keeps the projection of the unbounded solution.
    pub steps: usize,
    /// The steps end when no weight changes or is infeasible by more than this.
    pub tolerance: f64,
    /// Weight ρ of the penalty, as a part of the diagonal of Q.
    pub penalty: f64,
    /// Over-relaxation α, from 1 to 2.
    pub relaxation: f64,
    /// What rows may be.
    pub feasible: Feasible,
}

impl Default for BoundedSettings {
    fn default() -> Self {
        Self {
            steps: 10,
            tolerance: 1e-3,
            penalty: 0.01,
            relaxation: 1.6,
            feasible: Feasible::Simplex,
        }
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepChange {
    /// Largest |W − Z|: how far the solution of the linear system is from feasible.
    pub infeasible: f64,
    /// Largest change of a weight.
    pub change: f64,
}

/// A solve in progress; its rows are weights after every step.
pub struct BoundedSolve<T: Scalar> {
    system: FieldSystem,
    settings: BoundedSettings,
    /// The factor of Q at first, of A from the first step on.
    factor: Cholesky<T>,
    is_penalised: bool,
    /// ρ D.
    penalty: Vec<f64>,
    /// Z and U, row by row.
    rows: Vec<T>,
    dual: Vec<T>,
    /// W, column by column.
    solution: Vec<T>,
}

impl<T: Scalar + Into<f64>> BoundedSolve<T> {
    /// Solves without bounds and projects the solution. `None` if the system cannot be factored.
    ///
    /// # Errors
    /// [`WeightError::Cancelled`].
    pub fn start(
        system: FieldSystem,
        settings: &BoundedSettings,
        progress: &Progress,
    ) -> Result<Option<Self>, WeightError> {
        let Ok(factor) = system.factor() else {
            return Ok(None);
        };
        progress.check()?;
        let mut solution: Vec<T> = system.right.iter().map(|&value| T::of(value)).collect();
        solve(&factor, &mut solution, &progress.part(0.5, 1.0))?;
        let (free, columns) = (system.free(), system.columns);
        let penalty = (0..free)
            .map(|k| settings.penalty * system.matrix.get(k, k))
            .collect();
        let mut rows = vec![T::of(0.0); free * columns];
        let feasible = settings.feasible;
        rows.par_chunks_mut((ROWS * columns).max(1))
            .enumerate()
            .for_each(|(chunk, own)| {
                let mut row = vec![0.0; columns];
                for (k, own) in own.chunks_mut(columns).enumerate() {
                    let node = chunk * ROWS + k;
                    for (column, value) in row.iter_mut().enumerate() {
                        *value = solution[column * free + node].into();
                    }
                    feasible.project(&mut row);
                    for (own, value) in own.iter_mut().zip(&row) {
                        *own = T::of(*value);
                    }
                }
            });
        Ok(Some(Self {
            dual: vec![T::of(0.0); rows.len()],
            system,
            settings: *settings,
            factor,
            is_penalised: false,
            penalty,
            rows,
            solution,
        }))
    }

    /// The weights so far, free × columns, row by row; feasible.
    #[must_use]
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The energy of the weights so far.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let rows: Vec<f64> = self.rows.iter().map(|&value| value.into()).collect();
        self.system.energy(&rows)
    }

    /// Whether a step that changed so much was the last.
    #[must_use]
    pub fn is_done(&self, change: StepChange) -> bool {
        change.infeasible.max(change.change) < self.settings.tolerance
    }

    /// One step. After a cancel or a refused factor the weights are those of the step before.
    ///
    /// # Errors
    /// [`WeightError::Cancelled`]. The inner error if Q + ρ D cannot be factored.
    pub fn step(
        &mut self,
        progress: &Progress,
    ) -> Result<Result<StepChange, FactorError>, WeightError> {
        progress.check()?;
        if !self.is_penalised {
            let penalised = self.system.matrix.plus_diagonal(&self.penalty);
            if let Err(error) = self.factor.refactor(&penalised) {
                return Ok(Err(error));
            }
            self.is_penalised = true;
            progress.check()?;
        }
        self.set_right_hand_sides();
        solve(&self.factor, &mut self.solution, progress)?;
        Ok(Ok(self.project()))
    }

    /// ρ D (Z − U) − `Q_fh` B.
    fn set_right_hand_sides(&mut self) {
        let (free, columns) = (self.system.free(), self.system.columns);
        let (rows, dual, penalty, right) =
            (&self.rows, &self.dual, &self.penalty, &self.system.right);
        let blocks = self
            .solution
            .par_chunks_mut((COLUMNS * free).max(1))
            .enumerate();
        blocks.for_each(|(block, own)| {
            for (k, penalty) in penalty.iter().enumerate().take(free) {
                let first = k * columns + block * COLUMNS;
                for (c, place) in (k..own.len()).step_by(free).enumerate() {
                    let (z, u): (f64, f64) = (rows[first + c].into(), dual[first + c].into());
                    own[place] = T::of(penalty * (z - u) + right[block * COLUMNS * free + place]);
                }
            }
        });
    }

    /// Ŵ, Z and U of the solution.
    fn project(&mut self) -> StepChange {
        let (free, columns) = (self.system.free(), self.system.columns);
        let (solution, settings) = (&self.solution, &self.settings);
        let chunk = (ROWS * columns).max(1);
        let chunks = self
            .rows
            .par_chunks_mut(chunk)
            .zip(self.dual.par_chunks_mut(chunk))
            .enumerate();
        let of_chunk = |(chunk, (rows, dual)): (usize, (&mut [T], &mut [T]))| {
            let mut most = StepChange {
                infeasible: 0.0,
                change: 0.0,
            };
            let mut solved = vec![0.0; rows.len()];
            let count = rows.len() / columns;
            for column in 0..columns {
                let first = column * free + chunk * ROWS;
                for (k, value) in solution[first..first + count].iter().enumerate() {
                    solved[k * columns + column] = (*value).into();
                }
            }
            let (mut mixed, mut next) = (vec![0.0; columns], vec![0.0; columns]);
            let rows = rows.chunks_mut(columns).zip(dual.chunks_mut(columns));
            for ((z, u), w) in rows.zip(solved.chunks(columns)) {
                for c in 0..columns {
                    let (z, u): (f64, f64) = (z[c].into(), u[c].into());
                    mixed[c] = settings.relaxation * w[c] + (1.0 - settings.relaxation) * z + u;
                }
                next.copy_from_slice(&mixed);
                settings.feasible.project(&mut next);
                for c in 0..columns {
                    let old: f64 = z[c].into();
                    most.change = most.change.max((next[c] - old).abs());
                    most.infeasible = most.infeasible.max((w[c] - next[c]).abs());
                    z[c] = T::of(next[c]);
                    u[c] = T::of(mixed[c] - next[c]);
                }
            }
            most
        };
        let larger = |a: StepChange, b: StepChange| StepChange {
            infeasible: a.infeasible.max(b.infeasible),
            change: a.change.max(b.change),
        };
        let none = || StepChange {
            infeasible: 0.0,
            change: 0.0,
        };
        chunks.map(of_chunk).reduce(none, larger)
    }
}

/// Bounded biharmonic weights of the nodes of a domain; `None` if the system cannot be factored.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn bounded_weights(
    binding: &VoxelBinding,
    settings: &BoundedSettings,
    progress: &Progress,
) -> Result<Option<NodeWeights>, WeightError> {
    let system = binding.biharmonic_system();
    progress.check()?;
    let solve = BoundedSolve::<f32>::start(system, settings, &progress.part(0.0, 0.4))?;
    let Some(mut solve) = solve else {
        return Ok(None);
    };
    for step in 0..settings.steps {
        let (from, to) = (step as f32, step as f32 + 1.0);
        let share = |at: f32| 0.4 + 0.6 * at / settings.steps as f32;
        // Without the factor of a step the weights so far are still weights.
        let Ok(change) = solve.step(&progress.part(share(from), share(to)))? else {
            break;
        };
        if solve.is_done(change) {
            break;
        }
    }
    Ok(Some(binding.weights_of_rows(solve.rows())))
}
