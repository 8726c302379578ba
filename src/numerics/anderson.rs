//! Anderson acceleration of a fixed-point iteration x ← G(x).
//!
//! Walker & Ni, "Anderson Acceleration for Fixed-Point Iterations", SIAM J. Numer. Anal. 2011 (type II); for iterations that descend
//! an energy see Peng et al., "Anderson Acceleration for Geometry Optimization and Physics Simulation", SIGGRAPH 2018. With residuals
//! fₖ = G(xₖ) − xₖ and differences ΔX, ΔF of the last few iterations:
//!
//! ```text
//!     γ = argmin ‖fₖ − ΔF γ‖,     xₖ₊₁ = xₖ + fₖ − (ΔX + ΔF) γ
//! ```
//!
//! The caller rejects an iterate whose energy is higher than the last one's and replaces it by the plain G(xₖ).

use nalgebra::{SMatrix, SVector};

/// Differences between iterations remembered at most.
pub(crate) const MAX_MEMORY: usize = 8;
/// Relative regularisation of the normal equations.
const REGULARIZATION: f64 = 1e-10;
/// A residual that grows by this factor resets the history.
const GROWTH: f64 = 1.5;

/// Scalar products that the acceleration needs: of the newest difference with all, and of all with the increment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Products {
    pub(crate) newest: [f64; MAX_MEMORY],
    pub(crate) increment: [f64; MAX_MEMORY],
    /// ‖f‖².
    pub(crate) norm2: f64,
}

impl Products {
    pub(crate) fn add(&mut self, other: &Self) {
        for k in 0..MAX_MEMORY {
            self.newest[k] += other.newest[k];
            self.increment[k] += other.increment[k];
        }
        self.norm2 += other.norm2;
    }
}

/// Which differences are remembered, and their products; the differences themselves are the caller's.
#[derive(Debug, Clone)]
pub(crate) struct Anderson {
    memory: usize,
    /// Differences remembered.
    count: usize,
    /// The one that is overwritten next.
    slot: usize,
    started: bool,
    norm: f64,
    gram: SMatrix<f64, MAX_MEMORY, MAX_MEMORY>,
}

/// Coefficients of the stored differences; empty for a plain step.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gamma {
    values: [f32; MAX_MEMORY],
    count: usize,
}

impl Gamma {
    pub(crate) fn values(&self) -> &[f32] {
        &self.values[..self.count]
    }
}

impl Anderson {
    pub(crate) fn new(memory: usize) -> Self {
        Self {
            memory: memory.min(MAX_MEMORY),
            count: 0,
            slot: 0,
            started: false,
            norm: f64::INFINITY,
            gram: SMatrix::zeros(),
        }
    }

    /// Whether acceleration is on.
    pub(crate) fn is_on(&self) -> bool {
        self.memory > 0
    }

    /// Index at which to store the next difference, if there is one, and the number stored including it.
    pub(crate) fn next(&self) -> (Option<usize>, usize) {
        if self.started {
            (Some(self.slot), (self.count + 1).min(self.memory))
        } else {
            (None, self.count)
        }
    }

    /// Forgets all differences, but not the last iterate.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
        self.slot = 0;
    }

    /// Sets the scalar products for [`Self::next`]; returns γ.
    pub(crate) fn coefficients(&mut self, products: &Products) -> Gamma {
        let (slot, count) = self.next();
        let norm = products.norm2.sqrt();
        if norm > GROWTH * self.norm {
            self.forget();
            self.norm = norm;
            return Gamma::default();
        }
        self.norm = norm;
        self.started = true;
        let Some(slot) = slot else {
            return Gamma::default();
        };
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
        let Some(solution) = matrix
            .cholesky()
            .map(|c| c.solve(&rhs))
            .filter(|s| s.iter().all(|g| g.is_finite()))
        else {
            return Gamma::default();
        };
        let mut gamma = Gamma {
            values: [0.0; MAX_MEMORY],
            count,
        };
        for k in 0..count {
            gamma.values[k] = solution[k] as f32;
        }
        gamma
    }
}
