//! Layouts of the structs that shaders read.

use super::contact_kernel::{ContactKernelDims, KernelContact};
use crate::gpu::StructLayout;
use crate::gpu::layout::layout;

/// Chains per workgroup of the local step.
pub(super) const CHAINS: usize = 32;
/// Tets per workgroup of the local step, one thread each.
pub(super) const TETS: usize = 3 * CHAINS;
/// Rows per workgroup of all other passes; strides are multiples of it.
pub(super) const ROWS: usize = 64;
/// Numbers per tet: Ē⁻¹ and its weight.
pub(super) const NUMBERS: usize = 10;
/// Row arrays in the kernels' history buffer besides the differences.
pub(super) const REMEMBERED: usize = 7;
/// Index of the velocities in that buffer, followed by those of the base.
pub(super) const VELOCITY: usize = 0;
/// See [`VELOCITY`].
pub(super) const BASE_VELOCITY: usize = 1;
/// Index of the previous step's base points of rows in that buffer.
pub(super) const BASE: usize = 2;
/// Dot products of a group of rows, four at a time.
pub(super) const VECTORS: usize = 5;
/// Energies of even iterations, of odd ones, and of rejected ones.
pub(super) const REGIONS: usize = 3;

/// Sizes and strides of the buffers of a character and its instances, in elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Dims {
    /// Unknowns.
    pub rows: u32,
    /// Stride between the rows of consecutive instances.
    pub row_stride: u32,
    /// Prescribed points.
    pub base_points: u32,
    /// Stride between the prescribed points of consecutive instances.
    pub base_stride: u32,
    /// Chains of up to three tets.
    pub chains: u32,
    /// A multiple of the chains per workgroup.
    pub chain_stride: u32,
    /// Instances.
    pub instances: u32,
    /// Differences kept by Anderson acceleration; 0 for plain iterations.
    pub memory: u32,
    /// Points of a chain that forces act on: the first 3 if all others are prescribed, otherwise all 6.
    pub pulled: u32,
    pub(super) unused_a: u32,
    pub(super) unused_b: u32,
    pub(super) unused_c: u32,
}

/// Parameters common to all rows.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct MotionUniform {
    /// h² g.
    pub(super) gravity: [f32; 3],
    pub(super) step_secs: f32,
    pub(super) fastest: f32,
    pub(super) volume: f32,
    pub(super) energy_floor: f32,
    pub(super) unused: f32,
}

/// The index of the iteration in its step.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct IterationUniform {
    pub(super) iteration: u32,
    pub(super) unused_a: u32,
    pub(super) unused_b: u32,
    pub(super) unused_c: u32,
}

/// State of Anderson acceleration. The host does not read it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AndersonState {
    count: u32,
    slot: u32,
    started: u32,
    rejected: u32,
    rejected_so_far: u32,
    unused: u32,
    norm: f32,
    energy: f32,
    gamma: [f32; 8],
    gram: [f32; 64],
}

/// Statistics of an instance's last step, in the device's layout.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct StepStatistics {
    /// Largest displacement of a vertex relative to its base in the step, world units.
    pub farthest: f32,
    /// Largest displacement of a vertex in the last iteration, world units.
    pub last_change: f32,
    /// Not 0 if a value was not finite in this step or any since the state was uploaded.
    pub broken: u32,
    /// Accelerated iterates that were rejected because their energy increased.
    pub rejected: u32,
    /// Contacts that the device found, also those beyond [`super::MOST_CONTACTS`]; 0 if it did not search.
    pub watched: u32,
    /// Those with a load.
    pub pressing: u32,
    /// Their largest depth, world units.
    pub deepest: f32,
    pub(super) unused: u32,
}

/// Layouts for the test that compares them with the shaders'.
pub(in crate::gpu) fn struct_layouts() -> Vec<StructLayout> {
    vec![
        layout!("Dims", Dims: rows, row_stride, base_points, base_stride, chains, chain_stride, instances, memory, pulled, unused_a, unused_b, unused_c),
        layout!("Motion", MotionUniform: gravity, step_secs, fastest, volume, energy_floor, unused),
        layout!("Turn", IterationUniform: iteration, unused_a, unused_b, unused_c),
        layout!("Anderson", AndersonState: count, slot, started, rejected, rejected_so_far, unused, norm, energy, gamma, gram),
        layout!("StepStatistics", StepStatistics: farthest, last_change, broken, rejected, watched, pressing, deepest, unused),
        layout!(ContactKernelDims: row_stride, contact_stride, matrix_stride, spread_stride),
        layout!(KernelContact: rows, weights, normal_target, stiffness, count, slot, unused),
    ]
}
