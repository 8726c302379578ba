//! How much a step of flesh on the device is: passes, and bytes by the tables of [`crate::gpu::flesh`].

use serde::Serialize;

use super::{GpuFlesh, GpuModel, STEPS};
use crate::gpu::flesh::solve::Kind;
use crate::gpu::flesh::{Dims, FleshState};

/// Sizes of a character's flesh on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ModelSize {
    /// Unknown vertices.
    pub rows: u32,
    /// Chains of up to three tets.
    pub chains: u32,
    /// Local/global iterations of a step.
    pub iterations: u32,
    /// Constants of local steps.
    pub flesh_bytes: u64,
    /// Constants of global steps.
    pub solver_bytes: u64,
    /// Constants of the surface.
    pub surface_bytes: u64,
    /// State of one instance, without the solver's vectors.
    pub state_bytes: u64,
}

/// Bytes that a step of one instance moves at least: every array counts once a pass, whatever the caches keep. Contacts and the base are
/// not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StepBytes {
    /// Constants of local steps, and which forces act on which row.
    pub constants: u64,
    /// Positions, forces, temporaries and the memory of the acceleration.
    pub state: u64,
    /// Global steps. Conjugate gradients may stop early: then it is less.
    pub solver: u64,
}

impl StepBytes {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.constants + self.state + self.solver
    }

    /// Of local steps, by the tables of the module; `solve` bytes are moved by a global step.
    fn of(dims: &Dims, iterations: u32, solve: u64) -> Self {
        let [rows, chains, memory, pulled] =
            [dims.rows, dims.chains, dims.memory, dims.pulled].map(u64::from);
        let iterations = u64::from(iterations);
        let constants = 144 * chains + 4 * pulled * chains + 4 * rows;
        // Forces are written and read; corners are read once a row.
        let forces = 2 * 16 * pulled * chains;
        let plain = forces + (80 + 32) * rows;
        let accelerated = forces + (64 + 16 * memory + 16 * (1 + memory)) * rows;
        let record = (112 + 16 * memory) * rows;
        let state = if memory == 0 {
            iterations * plain
        } else {
            plain + iterations.saturating_sub(1) * (accelerated + record)
        };
        Self {
            constants: iterations * constants,
            state,
            solver: iterations * solve,
        }
    }
}

impl GpuModel {
    /// How its global steps are solved.
    #[must_use]
    pub fn solver_kind(&self) -> Kind {
        self.solver.kind()
    }

    /// Its sizes on the device.
    #[must_use]
    pub fn size(&self) -> ModelSize {
        let dims = self.flesh.dims(1);
        let surface = self.surface.bytes_per_instance(dims.row_stride as usize)[0];
        let base = STEPS as u64 * self.base.bytes_per_step();
        ModelSize {
            rows: dims.rows,
            chains: dims.chains,
            iterations: self.flesh.equations().iterations,
            flesh_bytes: self.flesh.constant_bytes(),
            solver_bytes: self.solver.bytes() as u64,
            surface_bytes: self.surface.constant_bytes(),
            state_bytes: surface + base + FleshState::bytes_per_instance(&self.flesh)[0],
        }
    }

    /// What a step of one instance moves.
    #[must_use]
    pub fn step_bytes(&self) -> StepBytes {
        StepBytes::of(
            &self.flesh.dims(1),
            self.flesh.equations().iterations.max(1),
            self.solver.bytes_per_solve() as u64,
        )
    }
}

impl GpuFlesh {
    /// Compute passes of a step with contacts, including the base: every global step is solved again with them.
    #[must_use]
    pub fn passes_with_contacts(&self) -> usize {
        let iterations = self.model.flesh.equations().iterations.max(1) as usize;
        self.passes().0 + iterations * (1 + self.solver.dispatches().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the table's text: 5 000 rows and 10 000 chains.
    #[test]
    fn bytes_are_those_of_the_table() {
        let mut dims: Dims = bytemuck::Zeroable::zeroed();
        (dims.rows, dims.chains, dims.pulled) = (5_000, 10_000, 3);
        let megabytes = |bytes: u64| (bytes as f64 / 1e5).round() / 10.0;
        let plain = StepBytes::of(&dims, 10, 7);
        assert_eq!(megabytes(plain.constants / 10), 1.6);
        assert_eq!(megabytes(plain.state / 10), 1.5);
        assert_eq!(plain.solver, 70);
        assert_eq!(plain.total(), plain.constants + plain.state + 70);
        dims.memory = 3;
        let accelerated = StepBytes::of(&dims, 7, 0);
        // The first iteration is a plain one.
        let of_one = (accelerated.state - plain.state / 10) / 6;
        assert_eq!(megabytes(of_one), 2.6);
    }
}
