//! The compiled passes of a step, and what each binds.

use super::layout::{PRISMS, ROWS};
use super::model::FleshModel;
use super::state::FleshState;
use crate::dynamics::{Equations, MAX_ACCELERATION};
use crate::gpu::GpuContext;
use crate::gpu::compute::{Dispatch, Kernel};
use crate::gpu::shader::{self, ShaderSource};

/// Numbers in group 0, the same in all shaders.
pub(super) mod binding {
    pub(in super::super) const DIMS: u32 = 0;
    pub(in super::super) const MOTION: u32 = 1;
    pub(in super::super) const TURN: u32 = 2;
    pub(in super::super) const CHAINS: u32 = 3;
    pub(in super::super) const ELEMENTS: u32 = 4;
    pub(in super::super) const BASE: u32 = 5;
    pub(in super::super) const FORCES: u32 = 6;
    pub(in super::super) const X: u32 = 7;
    pub(in super::super) const INCREMENT: u32 = 8;
    pub(in super::super) const B: u32 = 9;
    pub(in super::super) const ROWS: u32 = 10;
    pub(in super::super) const LINKS: u32 = 11;
    pub(in super::super) const MEMORY: u32 = 12;
    pub(in super::super) const STATES: u32 = 13;
    pub(in super::super) const ENERGIES: u32 = 14;
    pub(in super::super) const SUMS: u32 = 15;
    pub(in super::super) const WATCH: u32 = 16;
}
use binding as n;

/// A pass, what it binds, and whether its threads are tets or rows.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    kernel: Kernel,
    bindings: &'static [u32],
    by_tets: bool,
}

impl Pass {
    /// The pass on all instances of a state.
    pub(super) fn on(&self, gpu: &GpuContext, model: &FleshModel, state: &FleshState, turn: &wgpu::Buffer) -> Dispatch {
        let buffer = |number: u32| if number == n::TURN { Some(turn) } else { model.buffer(number).or_else(|| state.buffer(number)) };
        let bound: Vec<_> = self.bindings.iter().filter_map(|&number| Some((number, buffer(number)?))).collect();
        let dims = state.dims();
        let groups = if self.by_tets { dims.prism_stride / PRISMS as u32 } else { dims.row_stride / ROWS as u32 };
        self.kernel.on(gpu, &bound, [groups, dims.instances, 1])
    }
}

/// What kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KernelKind {
    /// Differences that the acceleration remembers; 0 for plain iterations.
    pub(super) memory: u32,
    /// Whether changes of volume are resisted.
    volume: bool,
}

impl KernelKind {
    pub(super) fn of(equations: &Equations) -> Self {
        Self { memory: equations.acceleration.min(MAX_ACCELERATION), volume: equations.volume > 0.0 }
    }
}

/// The passes for equations with or without acceleration.
#[derive(Debug, Clone)]
pub(super) struct Kernels {
    pub(super) kind: KernelKind,
    pub(super) predict: Pass,
    pub(super) local: Pass,
    pub(super) gather: Pass,
    pub(super) finish: Pass,
    /// With acceleration.
    pub(super) accelerated: Option<Accelerated>,
}

/// What acceleration needs besides.
#[derive(Debug, Clone)]
pub(super) struct Accelerated {
    pub(super) local: Pass,
    pub(super) gather: Pass,
    pub(super) local_again: Pass,
    pub(super) gather_again: Pass,
    pub(super) record: Pass,
}

impl Kernels {
    pub(super) fn new(gpu: &GpuContext, kind: KernelKind) -> Self {
        let KernelKind { memory, volume } = kind;
        let energy = ("ENERGY", f64::from(u8::from(memory > 0)));
        let local = [energy, ("VOLUME", f64::from(u8::from(volume)))];
        let remembered = ("MEMORY", f64::from(memory));
        let mixed = [energy, local[1], remembered];
        let pass = |source: &ShaderSource, entry: &'static str, constants: &[(&str, f64)], bindings| Pass {
            kernel: Kernel::new(gpu, source, entry, constants),
            bindings,
            by_tets: entry.starts_with("local"),
        };
        let accelerated = || Accelerated {
            local: pass(&shader::FLESH_LOCAL_MIXED, "local_mixed", &mixed, LOCAL_MIXED),
            gather: pass(&shader::FLESH_GATHER_MIXED, "gather_mixed", &[energy], GATHER_MIXED),
            local_again: pass(&shader::FLESH_LOCAL_AGAIN, "local_again", &local, LOCAL_AGAIN),
            gather_again: pass(&shader::FLESH_GATHER_AGAIN, "gather_again", &[energy], GATHER_MIXED),
            record: pass(&shader::FLESH_RECORD, "record", &[remembered], RECORD),
        };
        Self {
            kind,
            predict: pass(&shader::FLESH_PREDICT, "predict", &[], PREDICT),
            local: pass(&shader::FLESH_LOCAL_PLAIN, "local_plain", &local, LOCAL_PLAIN),
            gather: pass(&shader::FLESH_GATHER_PLAIN, "gather_plain", &[energy], GATHER_PLAIN),
            finish: pass(&shader::FLESH_FINISH, "finish", &[], FINISH),
            accelerated: (memory > 0).then(accelerated),
        }
    }
}

const PREDICT: &[u32] = &[n::DIMS, n::MOTION, n::BASE, n::X, n::INCREMENT, n::ROWS, n::MEMORY, n::STATES, n::ENERGIES, n::WATCH];
const LOCAL_PLAIN: &[u32] = &[n::DIMS, n::MOTION, n::TURN, n::CHAINS, n::ELEMENTS, n::BASE, n::FORCES, n::X, n::INCREMENT, n::ENERGIES];
const LOCAL_MIXED: &[u32] =
    &[n::DIMS, n::MOTION, n::TURN, n::CHAINS, n::ELEMENTS, n::BASE, n::FORCES, n::MEMORY, n::STATES, n::ENERGIES, n::SUMS];
const LOCAL_AGAIN: &[u32] = &[n::DIMS, n::MOTION, n::TURN, n::CHAINS, n::ELEMENTS, n::BASE, n::FORCES, n::MEMORY, n::STATES, n::ENERGIES];
const GATHER_PLAIN: &[u32] = &[n::DIMS, n::TURN, n::FORCES, n::X, n::INCREMENT, n::B, n::ROWS, n::LINKS, n::MEMORY, n::ENERGIES];
const GATHER_MIXED: &[u32] = &[n::DIMS, n::TURN, n::FORCES, n::X, n::B, n::ROWS, n::LINKS, n::MEMORY, n::STATES, n::ENERGIES];
const RECORD: &[u32] = &[n::DIMS, n::TURN, n::X, n::INCREMENT, n::MEMORY, n::STATES, n::SUMS];
const FINISH: &[u32] = &[n::DIMS, n::MOTION, n::TURN, n::X, n::INCREMENT, n::ROWS, n::MEMORY, n::STATES, n::WATCH];
