//! The compiled passes of a step and their bindings.

use super::contact_kernel::ContactKernelBuffers;
use super::layout::{CHAINS, ROWS};
use super::model::FleshModel;
use super::state::FleshState;
use crate::dynamics::{Equations, MAX_ACCELERATION};
use crate::gpu::GpuContext;
use crate::gpu::compute::{Dispatch, Kernel};
use crate::gpu::shader::{self, ShaderSource};

/// Binding numbers in group 0, the same in all shaders.
pub(super) mod binding {
    pub(in super::super) const DIMS: u32 = 0;
    pub(in super::super) const MOTION: u32 = 1;
    pub(in super::super) const TURN: u32 = 2;
    pub(in super::super) const CONSTANTS: u32 = 3;
    pub(in super::super) const BASE: u32 = 5;
    pub(in super::super) const FORCES: u32 = 6;
    pub(in super::super) const X: u32 = 7;
    pub(in super::super) const INCREMENT: u32 = 8;
    pub(in super::super) const B: u32 = 9;
    pub(in super::super) const ROWS: u32 = 10;
    pub(in super::super) const MEMORY: u32 = 12;
    pub(in super::super) const STATES: u32 = 13;
    pub(in super::super) const ENERGIES: u32 = 14;
    pub(in super::super) const SUMS: u32 = 15;
    pub(in super::super) const STATISTICS: u32 = 16;
    pub(in super::super) const PRESS_DIMS: u32 = 17;
    pub(in super::super) const CONTACTS: u32 = 18;

    // The bindings of each pass.
    pub(super) const PREDICT: &[u32] = &[
        DIMS, MOTION, BASE, X, INCREMENT, ROWS, MEMORY, STATES, ENERGIES, STATISTICS,
    ];
    pub(super) const LOCAL_PLAIN: &[u32] = &[
        DIMS, MOTION, TURN, CONSTANTS, BASE, FORCES, X, INCREMENT, ENERGIES,
    ];
    pub(super) const LOCAL_MIXED: &[u32] = &[
        DIMS, MOTION, TURN, CONSTANTS, BASE, FORCES, MEMORY, STATES, ENERGIES,
    ];
    pub(super) const LOCAL_TOUCHING: &[u32] = &[
        DIMS, MOTION, TURN, CONSTANTS, BASE, FORCES, MEMORY, STATES, ENERGIES, PRESS_DIMS, CONTACTS,
    ];
    pub(super) const MIX: &[u32] = &[DIMS, TURN, STATES, ENERGIES, SUMS];
    pub(super) const GATHER_PLAIN: &[u32] = &[
        DIMS, TURN, CONSTANTS, FORCES, X, INCREMENT, B, MEMORY, ENERGIES,
    ];
    pub(super) const GATHER_MIXED: &[u32] = &[
        DIMS, MOTION, TURN, CONSTANTS, BASE, FORCES, X, B, MEMORY, STATES, ENERGIES,
    ];
    pub(super) const RECORD: &[u32] = &[DIMS, TURN, X, INCREMENT, MEMORY, STATES, SUMS];
    pub(super) const FINISH: &[u32] = &[
        DIMS, MOTION, TURN, X, INCREMENT, ROWS, MEMORY, STATES, STATISTICS,
    ];
}

/// What the threads of a pass are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    Tets,
    Rows,
    /// One workgroup an instance.
    Instances,
}

/// A pass and its bindings.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    kernel: Kernel,
    bindings: &'static [u32],
    threads: Threads,
}

/// The buffers that passes can bind.
#[derive(Clone, Copy)]
pub(super) struct PassBuffers<'a> {
    pub(super) model: &'a FleshModel,
    pub(super) state: &'a FleshState,
    pub(super) contacts: Option<&'a ContactKernelBuffers>,
    pub(super) turn: &'a wgpu::Buffer,
}

impl PassBuffers<'_> {
    fn buffer(&self, number: u32) -> Option<&wgpu::Buffer> {
        if number == binding::TURN {
            return Some(self.turn);
        }
        let of_contacts = || self.contacts.and_then(|contacts| contacts.buffer(number));
        self.model
            .buffer(number)
            .or_else(|| self.state.buffer(number))
            .or_else(of_contacts)
    }
}

impl Pass {
    /// The pass over all instances of a state.
    pub(super) fn on(&self, gpu: &GpuContext, to: PassBuffers<'_>) -> Dispatch {
        let bound: Vec<_> = self
            .bindings
            .iter()
            .filter_map(|&number| Some((number, to.buffer(number)?)))
            .collect();
        let dims = to.state.dims();
        let groups = match self.threads {
            Threads::Tets => dims.chain_stride / CHAINS as u32,
            Threads::Rows => dims.row_stride / ROWS as u32,
            Threads::Instances => 1,
        };
        self.kernel.on(gpu, &bound, [groups, dims.instances, 1])
    }
}

/// The passes of a step with or without acceleration.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) predict: Pass,
    pub(super) local: Pass,
    pub(super) gather: Pass,
    pub(super) finish: Pass,
    /// With acceleration.
    pub(super) accelerated: Option<Accelerated>,
}

/// Additional passes of accelerated steps.
#[derive(Debug)]
pub(super) struct Accelerated {
    pub(super) mix: Pass,
    pub(super) local: Pass,
    /// Passes of steps with contacts.
    pub(super) touching: Pass,
    pub(super) gather: Pass,
    pub(super) record: Pass,
}

/// Differences kept by Anderson acceleration; 0 for plain iterations.
pub(super) fn memory_of(equations: &Equations) -> u32 {
    equations.acceleration.min(MAX_ACCELERATION)
}

impl Kernels {
    pub(super) fn new(gpu: &GpuContext, equations: &Equations) -> Self {
        let memory = memory_of(equations);
        let energy = ("ENERGY", f64::from(u8::from(memory > 0)));
        let volume = ("VOLUME", f64::from(u8::from(equations.volume > 0.0)));
        let remembered = ("MEMORY", f64::from(memory));
        let mixed = [energy, volume];
        let pass = |source: &ShaderSource,
                    entry: &'static str,
                    constants: &[(&str, f64)],
                    bindings| Pass {
            kernel: Kernel::new(gpu, source, entry, constants),
            bindings,
            threads: match entry {
                "mix_iterates" => Threads::Instances,
                _ if entry.starts_with("local") => Threads::Tets,
                _ => Threads::Rows,
            },
        };
        let accelerated = || Accelerated {
            mix: pass(
                &shader::FLESH_MIX,
                "mix_iterates",
                &[remembered],
                binding::MIX,
            ),
            local: pass(
                &shader::FLESH_LOCAL_MIXED,
                "local_mixed",
                &mixed,
                binding::LOCAL_MIXED,
            ),
            touching: pass(
                &shader::FLESH_LOCAL_TOUCHING,
                "local_mixed",
                &mixed,
                binding::LOCAL_TOUCHING,
            ),
            gather: pass(
                &shader::FLESH_GATHER_MIXED,
                "gather_mixed",
                &[volume],
                binding::GATHER_MIXED,
            ),
            record: pass(
                &shader::FLESH_RECORD,
                "record",
                &[remembered],
                binding::RECORD,
            ),
        };
        Self {
            predict: pass(&shader::FLESH_PREDICT, "predict", &[], binding::PREDICT),
            local: pass(
                &shader::FLESH_LOCAL_PLAIN,
                "local_plain",
                &[energy, volume],
                binding::LOCAL_PLAIN,
            ),
            gather: pass(
                &shader::FLESH_GATHER_PLAIN,
                "gather_plain",
                &[energy],
                binding::GATHER_PLAIN,
            ),
            finish: pass(&shader::FLESH_FINISH, "finish", &[], binding::FINISH),
            accelerated: (memory > 0).then(accelerated),
        }
    }
}
