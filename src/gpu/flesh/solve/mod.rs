//! The global step: P Δ = b for the constant matrix P of a character, x, y and z at once, any number of instances at once.
//!
//! | kind                | passes         | read in a solve                      | exact          |
//! |---------------------|----------------|--------------------------------------|----------------|
//! | [`Kind::Gradients`] | 1 + iterations | matrix and six vectors an iteration  | to a tolerance |
//! | [`Kind::Inverse`]   | 1, 2 or 3      | twice an inverse factor of n^1.5 entries, or less | to `f32` |
//!
//! | lifetime       | type                                                      |
//! |----------------|-----------------------------------------------------------|
//! | per character  | [`GlobalSolver`]: kernels and constants                    |
//! | per crowd      | [`BoundSolver`]: vectors of its instances, and dispatches  |
//!
//! b and Δ are row arrays: `array<vec4<f32>>`, instance-major, with a stride of [`row_stride`]. Pad rows must be finite; b
//! is read-only.

mod choice;
mod gradients;
mod inverse;

pub use choice::{Choice, Limits};
pub use gradients::{SolveProgress, Tolerance};

use gradients::{BoundGradients, Gradients};
use inverse::InverseProducts;

use crate::dynamics::Equations;
use crate::gpu::compute::Dispatch;
use crate::gpu::{GpuContext, GpuError, StructLayout};
use crate::numerics::{InverseError, InverseFactors, InversePlan};

/// How the global step is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Conjugate gradients.
    Gradients,
    /// Products with inverse factors.
    Inverse,
}

/// Kernels and constants of a character.
#[derive(Debug)]
pub struct GlobalSolver {
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Gradients(Gradients),
    Inverse(Box<InverseProducts>),
}

/// A solver bound to the vectors of some instances.
#[derive(Debug)]
pub struct BoundSolver {
    inner: BoundKind,
}

#[derive(Debug)]
enum BoundKind {
    Gradients(BoundGradients),
    Inverse(Vec<Dispatch>),
}

/// Why a system cannot be solved on this device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// There is no inverse, or none that fits.
    #[error(transparent)]
    Inverse(#[from] InverseError),
    /// A table is larger than the device can bind.
    #[error(
        "the global step needs a table of {bytes} bytes, and the graphics device binds at most {limit}; simplify the simulated mesh"
    )]
    TooLarge {
        /// Of the largest table.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A pass would have more workgroups than the device starts.
    #[error(
        "the global step needs {workgroups} workgroups at once, and the graphics device starts at most {limit}; simplify the simulated mesh"
    )]
    TooMany {
        /// Of the largest pass.
        workgroups: usize,
        /// The device's limit.
        limit: u32,
    },
}

/// Stride between the rows of consecutive instances.
#[must_use]
pub fn row_stride(rows: usize) -> usize {
    rows.next_multiple_of(64)
}

/// Checks that the device can bind tables of this size.
fn check_size(gpu: &GpuContext, bytes: usize) -> Result<(), SolveError> {
    let limits = gpu.device.limits();
    let (bytes, limit) = (
        bytes as u64,
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size),
    );
    if bytes > limit {
        Err(SolveError::TooLarge { bytes, limit })
    } else {
        Ok(())
    }
}

/// Checks that the device can start this many workgroups.
fn check_groups(gpu: &GpuContext, workgroups: usize) -> Result<(), SolveError> {
    let limit = gpu.device.limits().max_compute_workgroups_per_dimension;
    if workgroups > limit as usize {
        Err(SolveError::TooMany { workgroups, limit })
    } else {
        Ok(())
    }
}

impl GlobalSolver {
    /// Compiles the passes and uploads the constants.
    ///
    /// # Errors
    /// [`SolveError`].
    pub fn new(gpu: &GpuContext, equations: &Equations, kind: Kind) -> Result<Self, SolveError> {
        let inner = match kind {
            Kind::Gradients => {
                Inner::Gradients(Gradients::new(gpu, equations, Tolerance::default())?)
            }
            Kind::Inverse => {
                let plan = InversePlan::best(
                    &equations.matrix,
                    &equations.eliminations,
                    Limits::of(gpu).bytes,
                )?;
                let inverse = InverseFactors::of(&equations.matrix, &equations.eliminations, &plan)
                    .map_err(InverseError::from)?;
                Inner::Inverse(Box::new(InverseProducts::new(gpu, &inverse)?))
            }
        };
        Ok(Self { inner })
    }

    /// The kind that suits these equations, with the reason. Computes sizes only.
    #[must_use]
    pub fn choose(equations: &Equations, limits: Limits) -> Choice {
        Choice::of(equations, limits)
    }

    /// Products with an inverse that was computed elsewhere, in any of its forms.
    ///
    /// # Errors
    /// [`SolveError::TooLarge`].
    pub fn inverse(gpu: &GpuContext, inverse: &InverseFactors) -> Result<Self, SolveError> {
        Ok(Self {
            inner: Inner::Inverse(Box::new(InverseProducts::new(gpu, inverse)?)),
        })
    }

    /// Conjugate gradients with other stopping criteria.
    ///
    /// # Errors
    /// [`SolveError`].
    pub fn gradients(
        gpu: &GpuContext,
        equations: &Equations,
        tolerance: Tolerance,
    ) -> Result<Self, SolveError> {
        Ok(Self {
            inner: Inner::Gradients(Gradients::new(gpu, equations, tolerance)?),
        })
    }

    /// The kind of solver.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match &self.inner {
            Inner::Gradients(_) => Kind::Gradients,
            Inner::Inverse(_) => Kind::Inverse,
        }
    }

    /// Bytes of its constants on the device.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.inner {
            Inner::Gradients(gradients) => gradients.bytes(),
            Inner::Inverse(products) => products.bytes(),
        }
    }

    /// Bytes that a solve of one instance moves; by conjugate gradients at most, since they may stop early.
    #[must_use]
    pub fn bytes_per_solve(&self) -> usize {
        match &self.inner {
            Inner::Gradients(gradients) => gradients.bytes_per_solve(),
            Inner::Inverse(products) => products.bytes_per_solve(),
        }
    }

    /// Maximum number of instances per binding on this device.
    #[must_use]
    pub(crate) fn most_instances(&self, gpu: &GpuContext) -> usize {
        let limits = gpu.device.limits();
        let (bytes, shared) = match &self.inner {
            Inner::Gradients(gradients) => (gradients.bytes_per_instance(), 1),
            Inner::Inverse(products) => (products.bytes_per_instance(), inverse::SHARED),
        };
        let fit = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
            / bytes.max(1) as u64;
        usize::try_from(fit)
            .unwrap_or(usize::MAX)
            .min(shared * limits.max_compute_workgroups_per_dimension as usize)
    }

    /// Binds right-hand sides and results of a number of instances.
    #[must_use]
    pub fn on(
        &self,
        gpu: &GpuContext,
        instances: usize,
        b: &wgpu::Buffer,
        increment: &wgpu::Buffer,
    ) -> BoundSolver {
        let inner = match &self.inner {
            Inner::Gradients(gradients) => {
                BoundKind::Gradients(gradients.on(gpu, instances, b, increment))
            }
            Inner::Inverse(products) => {
                BoundKind::Inverse(products.on(gpu, instances, b, increment))
            }
        };
        BoundSolver { inner }
    }
}

impl BoundSolver {
    /// The passes of a solve, in order; each depends on the ones before.
    #[must_use]
    pub fn dispatches(&self) -> &[Dispatch] {
        match &self.inner {
            BoundKind::Gradients(bound) => &bound.dispatches,
            BoundKind::Inverse(dispatches) => dispatches,
        }
    }

    /// Progress of the last solve of every instance. Waits for all work submitted before. Empty for exact solvers.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn progress(&self, gpu: &GpuContext) -> Result<Vec<SolveProgress>, GpuError> {
        match &self.inner {
            BoundKind::Gradients(bound) => bound.progress(gpu),
            BoundKind::Inverse(_) => Ok(Vec::new()),
        }
    }
}

/// Struct layouts that the shaders read.
pub(in crate::gpu) fn layouts() -> Vec<StructLayout> {
    [vec![gradients::layout()], inverse::layouts()].concat()
}
