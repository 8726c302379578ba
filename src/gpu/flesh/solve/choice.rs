//! Choice of a solver for a character.

use crate::dynamics::Equations;
use crate::gpu::GpuContext;
use crate::numerics::{HybridMatrix, InverseError, InversePlan};

use super::{Kind, Tolerance};

/// Resource limits of a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of constants.
    pub bytes: usize,
}

/// Upper bound for constants of an inverse on any device.
const BUDGET: usize = 512 << 20;

impl Limits {
    /// The limits of a device.
    #[must_use]
    pub fn of(gpu: &GpuContext) -> Self {
        let limits = gpu.device.limits();
        let binding = usize::try_from(
            limits
                .max_storage_buffer_binding_size
                .min(limits.max_buffer_size),
        )
        .unwrap_or(usize::MAX);
        Self {
            bytes: BUDGET.min(binding),
        }
    }
}

/// A kind of solver, with the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The kind.
    pub kind: Kind,
    /// A sentence for the user.
    pub reason: String,
}

impl Choice {
    pub(super) fn of(equations: &Equations, limits: Limits) -> Self {
        let rows = equations.matrix.rows();
        let iterations = Tolerance::default().iterations as usize;
        let bytes = HybridMatrix::bytes_of(&equations.matrix);
        // Vectors and increment are both read and written.
        let gradients =
            InversePlan::estimate(1 + iterations, (1 + iterations) * (bytes + 128 * rows));
        match InversePlan::best(&equations.matrix, &equations.eliminations, limits.bytes) {
            Ok(plan) if plan.micros <= gradients => Self {
                kind: Kind::Inverse,
                reason: format!(
                    "{rows} unknowns are solved exactly in {} by an inverse of {}; conjugate gradients would take {} passes.",
                    passes(plan.passes),
                    megabytes(plan.bytes),
                    1 + iterations
                ),
            },
            Ok(plan) => Self {
                kind: Kind::Gradients,
                reason: format!(
                    "{rows} unknowns are solved by conjugate gradients: {} passes read less than the {} of an inverse.",
                    1 + iterations,
                    megabytes(plan.bytes)
                ),
            },
            Err(InverseError::TooLarge { bytes, .. }) => Self {
                kind: Kind::Gradients,
                reason: format!(
                    "{rows} unknowns are solved by conjugate gradients: an inverse would take {}, more than the {} there are for it.",
                    megabytes(bytes),
                    megabytes(limits.bytes)
                ),
            },
            Err(InverseError::Factor(error)) => Self {
                kind: Kind::Gradients,
                reason: format!("{rows} unknowns are solved by conjugate gradients: {error}."),
            },
        }
    }
}

fn passes(count: usize) -> String {
    if count == 1 {
        "one pass".to_owned()
    } else {
        format!("{count} passes")
    }
}

fn megabytes(bytes: usize) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 10.0 {
        format!("{megabytes:.1} MB")
    } else {
        format!("{megabytes:.0} MB")
    }
}
