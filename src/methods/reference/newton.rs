//! Newton's method for the equilibrium of a lattice with contacts.
//!
//! Steps use the exact second derivative where it is positive definite, so that convergence is quadratic near the
//! solution. Elsewhere they use a positive definite mean of it and the projected one (Smith et al. 2018). A step is
//! shortened until the energy decreases sufficiently (Armijo's rule; Nocedal & Wright, "Numerical Optimization", 2006).
//! Contacts are part of the matrix, whose pattern is analysed again when they change.

use super::contact::PenaltyContacts;
use super::contact_terms::ContactTerms;
use super::elastic::{Elastic, SecondDerivative};
use crate::math::{Point64, Vec64};
use crate::numerics::{Cholesky, FactorError, Ordering, SolveMemory, SymmetricMatrix};

/// Minimum decrease of the energy, as a fraction of that predicted by its slope.
const ARMIJO: f64 = 1e-4;
/// Maximum number of halvings of a step.
const MAX_HALVINGS: usize = 30;
/// Forces count as zero below this fraction of the force of a strain of 1 on a face of the smallest cell.
const NO_FORCE: f64 = 1e-9;
/// Energies count as equal if they differ by less than this fraction: they are sums with many rounding errors.
const EQUAL_ENERGY: f64 = 1e-11;
/// Share of the projected derivative where the exact one is indefinite; its factor of growth until the sum is definite,
/// and of decrease from step to step until it is zero.
const FIRST_SHARE: f64 = 0.1;
const SHARE_GROWTH: f64 = 2.2;
const SHARE_DECAY: f64 = 0.4;
const MIN_SHARE: f64 = 0.03;
/// Shifts of the diagonal of a projected derivative, relative to its entries; the next one if factorisation fails.
const SHIFTS: [f64; 4] = [1e-10, 1e-7, 1e-4, 1e-1];

/// Result of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Solved {
    /// Newton steps.
    pub iterations: usize,
    /// Norm of the forces on free nodes relative to that on prescribed ones.
    pub residual: f64,
    /// Whether the residual reached the tolerance.
    pub converged: bool,
}

/// Stop criterion of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopCriterion {
    /// Maximum relative residual.
    pub tolerance: f64,
    /// Maximum number of Newton steps.
    pub iterations: usize,
}

/// Newton solver for equilibria of one lattice; keeps the symbolic analysis of its matrix.
pub struct Newton {
    elastic: Elastic,
    matrix: SymmetricMatrix,
    contact_terms: ContactTerms,
    factor: Option<(Cholesky<f64>, SolveMemory)>,
}

/// Forces at some positions.
struct NodalForces {
    /// On the unknowns, minus the derivative of the energy.
    free: Vec<f64>,
    residual: f64,
}

impl Newton {
    /// Prepares the solver for an energy.
    #[must_use]
    pub fn new(elastic: Elastic) -> Self {
        Self {
            matrix: elastic.matrix(),
            elastic,
            contact_terms: ContactTerms::default(),
            factor: None,
        }
    }

    /// The elastic energy.
    #[must_use]
    pub fn elastic(&self) -> &Elastic {
        &self.elastic
    }

    /// Moves the free nodes to a minimum of the energy; prescribed nodes are not moved.
    ///
    /// # Errors
    /// [`FactorError`] where positions or their energy are not finite.
    pub fn minimise(
        &mut self,
        nodes: &mut [Point64],
        contacts: &PenaltyContacts,
        until: StopCriterion,
    ) -> Result<Solved, FactorError> {
        if self.contact_terms.couple(contacts, &self.elastic) {
            self.factor = None;
        }
        let mut share = 0.0;
        let mut energy = self.energy(nodes, contacts);
        let mut forces = self.forces(nodes, contacts);
        let mut solved = Solved::default();
        while solved.iterations < until.iterations {
            solved.residual = forces.residual;
            if forces.residual <= until.tolerance {
                solved.converged = true;
                return Ok(solved);
            }
            self.contact_terms.set_active(nodes, contacts);
            share = self.factor_at(nodes, share)?;
            let step = self.solve(&forces.free);
            solved.iterations += 1;
            match self.search(nodes, &step, (energy, &forces), contacts) {
                Some((lower, there)) => {
                    (energy, forces) = (lower, there);
                    share = if share < MIN_SHARE {
                        0.0
                    } else {
                        SHARE_DECAY * share
                    };
                }
                // The exact derivative may give no direction of descent; the projected one is used next.
                None if share < 1.0 => share = 1.0,
                None => break,
            }
        }
        solved.residual = forces.residual;
        solved.converged = forces.residual <= until.tolerance;
        Ok(solved)
    }

    fn energy(&self, nodes: &[Point64], contacts: &PenaltyContacts) -> f64 {
        self.elastic.energy(nodes) + contacts.energy(nodes)
    }

    fn forces(&self, nodes: &[Point64], contacts: &PenaltyContacts) -> NodalForces {
        let mut gradient = self.elastic.gradient(nodes);
        contacts.add_gradient(nodes, &mut gradient);
        let mut free = vec![0.0; 3 * self.elastic.free_nodes().len()];
        for (unknown, &node) in self.elastic.free_nodes().iter().enumerate() {
            let force = std::mem::replace(&mut gradient[node as usize], Vec64::zeros());
            for axis in 0..3 {
                free[3 * unknown + axis] = -force[axis];
            }
        }
        let on_prescribed: f64 = gradient.iter().map(nalgebra::Matrix::norm_squared).sum();
        let squares: f64 = free.iter().map(|force| force * force).sum();
        let none = NO_FORCE * self.elastic.spacing().powi(2);
        let residual = if squares.sqrt() <= none {
            0.0
        } else {
            (squares / on_prescribed.max(none * none)).sqrt()
        };
        NodalForces { free, residual }
    }

    /// Factors the exact second derivative with as large a share of the projected one as makes it positive definite, at least `share`;
    /// returns that share.
    fn factor_at(&mut self, nodes: &[Point64], mut share: f64) -> Result<f64, FactorError> {
        self.elastic
            .hessian(nodes, SecondDerivative::Exact, &mut self.matrix);
        if share == 0.0 {
            match self.factor() {
                Err(FactorError::NotPositiveDefinite { .. }) => share = FIRST_SHARE,
                other => return other.map(|()| 0.0),
            }
        }
        let exact = self.matrix.clone();
        let mut projected = self.matrix.clone();
        self.elastic
            .hessian(nodes, SecondDerivative::Projected, &mut projected);
        while share < 1.0 {
            self.matrix = exact.clone();
            let values = self.matrix.values_mut();
            for (value, projected) in values.iter_mut().zip(projected.values_mut()) {
                *value += share * (*projected - *value);
            }
            match self.factor() {
                Err(FactorError::NotPositiveDefinite { .. }) => share *= SHARE_GROWTH,
                other => return other.map(|()| share),
            }
        }
        self.factor_shifted(&projected)?;
        Ok(1.0)
    }

    /// Factors the projected second derivative. It is only semidefinite, so its diagonal may have to be shifted.
    fn factor_shifted(&mut self, projected: &SymmetricMatrix) -> Result<(), FactorError> {
        let least = 1e-12 * self.elastic.spacing();
        let diagonal: Vec<f64> = (0..projected.unknowns())
            .map(|row| projected.get(row, row).max(least))
            .collect();
        let mut refused = Ok(());
        for shift in SHIFTS {
            let shifts: Vec<f64> = diagonal.iter().map(|entry| shift * entry).collect();
            self.matrix = projected.plus_diagonal(&shifts);
            refused = self.factor();
            if !matches!(refused, Err(FactorError::NotPositiveDefinite { .. })) {
                break;
            }
        }
        refused
    }

    /// Factors the matrix with the contacts that push.
    fn factor(&mut self) -> Result<(), FactorError> {
        // Unknowns are numbered in the order of elimination; with contacts another ordering is needed.
        let ordering = if self.contact_terms.is_empty() {
            Ordering::Natural
        } else {
            Ordering::MinimumDegree
        };
        let matrix = self.contact_terms.with_contacts(&self.matrix);
        if let Some((factor, _)) = &mut self.factor {
            return factor.refactor(matrix);
        }
        let factor = Cholesky::factor(matrix, ordering)?;
        let memory = factor.memory();
        self.factor = Some((factor, memory));
        Ok(())
    }

    /// The Newton step for these forces.
    fn solve(&mut self, forces: &[f64]) -> Vec<f64> {
        let mut step = forces.to_vec();
        if let Some((factor, memory)) = &mut self.factor {
            factor.solve_one(&mut step, memory);
        }
        step
    }

    /// Line search along a step. Near the solution, where energies are equal up to rounding, the forces decide.
    fn search(
        &self,
        nodes: &mut [Point64],
        step: &[f64],
        (energy, forces): (f64, &NodalForces),
        contacts: &PenaltyContacts,
    ) -> Option<(f64, NodalForces)> {
        let slope = -dot(&forces.free, step);
        if slope.is_nan() || slope >= 0.0 {
            return None;
        }
        let before = nodes.to_vec();
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            for (unknown, &node) in self.elastic.free_nodes().iter().enumerate() {
                let along = Vec64::from_column_slice(&step[3 * unknown..3 * unknown + 3]);
                nodes[node as usize] = before[node as usize] + along * length;
            }
            let there = self.energy(nodes, contacts);
            if there <= energy + ARMIJO * length * slope {
                return Some((there, self.forces(nodes, contacts)));
            }
            if (there - energy).abs() <= EQUAL_ENERGY * energy.abs() + self.elastic.rounding() {
                let there_forces = self.forces(nodes, contacts);
                if there_forces.residual < forces.residual {
                    return Some((there, there_forces));
                }
            }
            length *= 0.5;
        }
        nodes.copy_from_slice(&before);
        None
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
