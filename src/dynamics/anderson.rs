//! Anderson acceleration of the fixed-point iteration x ← G(x) that local and global steps together are.
//!
//! Walker & Ni, "Anderson Acceleration for Fixed-Point Iterations", SIAM J. Numer. Anal. 2011 (type II); used for projective
//! dynamics by Peng et al., "Anderson Acceleration for Geometry Optimization and Physics Simulation", SIGGRAPH 2018. With residuals
//! fₖ = G(xₖ) − xₖ, which are the increments of the global step, and differences ΔX, ΔF of the last few iterations:
//!
//! ```text
//!     γ = argmin ‖fₖ − ΔF γ‖,     xₖ₊₁ = xₖ + fₖ − (ΔX + ΔF) γ
//! ```
//!
//! An iterate whose energy is higher than the last one's is taken back, and replaced by the plain G(xₖ), which never is.

use nalgebra::{SMatrix, SVector};

use super::rows::{MAX_MEMORY, Products};

/// Relative regularisation of the normal equations.
const REGULARIZATION: f64 = 1e-10;
/// A residual that grew by this factor means that the history misleads.
const GROWTH: f64 = 1.5;

/// The small part: which differences are remembered, and their products.
#[derive(Debug, Clone)]
pub(super) struct Anderson {
    memory: usize,
    /// Differences remembered.
    count: usize,
    /// The one that is overwritten next.
    slot: usize,
    started: bool,
    norm: f64,
    gram: SMatrix<f64, MAX_MEMORY, MAX_MEMORY>,
}

/// How much of each remembered difference to take away; nothing for a plain step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gamma {
    values: [f32; MAX_MEMORY],
    count: usize,
}

impl Gamma {
    pub(super) fn values(&self) -> &[f32] {
        &self.values[..self.count]
    }
}

impl Anderson {
    pub(super) fn new(memory: usize) -> Self {
        Self { memory: memory.min(MAX_MEMORY), count: 0, slot: 0, started: false, norm: f64::INFINITY, gram: SMatrix::zeros() }
    }

    /// Whether anything is accelerated at all.
    pub(super) fn is_on(&self) -> bool {
        self.memory > 0
    }

    /// Where the next difference goes, if there is one, and how many there are with it.
    pub(super) fn next(&self) -> (Option<usize>, usize) {
        if self.started { (Some(self.slot), (self.count + 1).min(self.memory)) } else { (None, self.count) }
    }

    /// Forgets all differences, but not the last iterate.
    pub(super) fn forget(&mut self) {
        self.count = 0;
        self.slot = 0;
    }

    /// Takes the products that belong to [`Self::next`]; returns γ.
    pub(super) fn coefficients(&mut self, products: &Products) -> Gamma {
        let (slot, count) = self.next();
        let norm = products.norm2.sqrt();
        if norm > GROWTH * self.norm {
            self.forget();
            self.norm = norm;
            return Gamma::default();
        }
        self.norm = norm;
        self.started = true;
        let Some(slot) = slot else { return Gamma::default() };
        self.count = count;
        self.slot = (slot + 1) % self.memory;
        for k in 0..count {
            self.gram[(slot, k)] = products.newest[k];
            self.gram[(k, slot)] = products.newest[k];
        }
        // Unused rows are those of the identity.
        let mut matrix = SMatrix::<f64, MAX_MEMORY, MAX_MEMORY>::identity();
        let mut rhs = SVector::<f64, MAX_MEMORY>::zeros();
        let scale = REGULARIZATION * (0..count).map(|k| self.gram[(k, k)]).sum::<f64>();
        for i in 0..count {
            for j in 0..count {
                matrix[(i, j)] = self.gram[(i, j)];
            }
            matrix[(i, i)] += scale;
            rhs[i] = products.increment[i];
        }
        let Some(solution) = matrix.cholesky().map(|c| c.solve(&rhs)).filter(|s| s.iter().all(|g| g.is_finite())) else {
            return Gamma::default();
        };
        let mut gamma = Gamma { values: [0.0; MAX_MEMORY], count };
        for k in 0..count {
            gamma.values[k] = solution[k] as f32;
        }
        gamma
    }
}
