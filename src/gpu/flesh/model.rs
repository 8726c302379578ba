//! Constants of a character's time steps, on the device.

use std::sync::Arc;

use super::error::FleshError;
use super::kernels::{Kernels, binding, memory_of};
use super::layout::{CHAINS, Dims, MotionUniform, NUMBERS, ROWS, TETS};
use crate::dynamics::{EquationChain, Equations};
use crate::gpu::GpuContext;
use crate::gpu::compute::{storage_of, uniform_of};
use crate::tissue::Corner;

/// Energy differences below this fraction of Σ stiffness · volume are rounding errors.
const ENERGY_FLOOR: f64 = 1e-10;

/// Constants of a character, shared by all of its instances.
#[derive(Debug)]
pub struct FleshModel {
    equations: Arc<Equations>,
    dims: Dims,
    row_of_vertex: Vec<u32>,
    pub(super) kernels: Kernels,
    motion: wgpu::Buffer,
    constants: wgpu::Buffer,
    rows: wgpu::Buffer,
}

impl FleshModel {
    /// Uploads the constants and compiles the passes that the device has not compiled yet.
    ///
    /// # Errors
    /// [`FleshError::TooLarge`] or [`FleshError::Count`] if the device is too small for the character.
    pub fn new(gpu: &GpuContext, equations: Arc<Equations>) -> Result<Self, FleshError> {
        let (rows, chains, base_points) = (
            equations.vertex_of_row.len(),
            equations.chains.len(),
            equations.base_points,
        );
        let limits = gpu.device.limits();
        let limit = limits.max_compute_workgroups_per_dimension as usize;
        for (what, wanted, size) in [("unknowns", rows, ROWS), ("chains of tets", chains, CHAINS)] {
            if wanted == 0 || wanted.div_ceil(size) > limit {
                return Err(FleshError::Count {
                    what,
                    wanted,
                    limit: limit * size,
                });
            }
        }
        let bytes = ((chains.next_multiple_of(CHAINS) * (6 + 3 * NUMBERS + 6) + rows + 1)
            * size_of::<u32>()) as u64;
        let limit = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        if bytes > limit {
            return Err(FleshError::TooLarge {
                what: "its tets",
                bytes,
                limit,
                rows,
                instances: 1,
            });
        }
        let dims = Dims {
            rows: rows as u32,
            row_stride: rows.next_multiple_of(ROWS) as u32,
            base_points: base_points as u32,
            base_stride: base_points.next_multiple_of(ROWS) as u32,
            chains: chains as u32,
            chain_stride: chains.next_multiple_of(CHAINS) as u32,
            instances: 0,
            memory: memory_of(&equations),
            pulled: pulled_points(&equations.chains),
            unused_a: 0,
            unused_b: 0,
            unused_c: 0,
        };
        let mut row_of_vertex = vec![0; rows];
        for (row, &vertex) in equations.vertex_of_row.iter().enumerate() {
            row_of_vertex[vertex as usize] = row as u32;
        }
        Ok(Self {
            kernels: Kernels::new(gpu, &equations),
            motion: uniform_of(gpu, "flesh motion", &motion(&equations)),
            constants: storage_of(
                gpu,
                "flesh constants",
                &constants(&equations.chains, rows, dims.chain_stride),
            ),
            rows: storage_of(gpu, "flesh rows", &row_constants(&equations)),
            equations,
            dims,
            row_of_vertex,
        })
    }

    /// The equations that it was made for.
    #[must_use]
    pub fn equations(&self) -> &Arc<Equations> {
        &self.equations
    }

    /// Bytes of its constants on the device.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        self.constants.size() + self.rows.size()
    }

    /// Sizes and strides of buffers for so many instances.
    #[must_use]
    pub fn dims(&self, instances: u32) -> Dims {
        Dims {
            instances,
            ..self.dims
        }
    }

    /// Row of every unknown.
    #[must_use]
    pub fn row_of_vertex(&self) -> &[u32] {
        &self.row_of_vertex
    }

    pub(super) fn buffer(&self, number: u32) -> Option<&wgpu::Buffer> {
        match number {
            binding::MOTION => Some(&self.motion),
            binding::CONSTANTS => Some(&self.constants),
            binding::ROWS => Some(&self.rows),
            _ => None,
        }
    }
}

fn motion(equations: &Equations) -> MotionUniform {
    let h = equations.step_secs;
    MotionUniform {
        gravity: (equations.gravity * (h * h)).into(),
        step_secs: h,
        fastest: equations.max_speed,
        volume: equations.volume,
        energy_floor: (ENERGY_FLOOR * equations.total_weight) as f32,
        unused: 0.0,
    }
}

/// The number of points of a chain that may be unknown: 3 if only the first three ever are, otherwise 6.
fn pulled_points(chains: &[EquationChain]) -> u32 {
    let first_three_only = chains
        .iter()
        .all(|chain| chain.rows().map(|(point, _)| point).eq(0..3));
    if first_three_only { 3 } else { 6 }
}

/// Constants by chain, in consecutive arrays: points, elements, links.
fn constants(chains: &[EquationChain], rows: usize, chain_stride: u32) -> Vec<u32> {
    let mut constants = points(chains);
    constants.extend(elements(chains).into_iter().map(f32::to_bits));
    constants.extend(links(chains, rows, chain_stride));
    constants
}

/// Groups of 32 chains: their six points, point by point.
fn points(chains: &[EquationChain]) -> Vec<u32> {
    let mut points = vec![0; chains.len().div_ceil(CHAINS) * 2 * TETS];
    for (index, chain) in chains.iter().enumerate() {
        let (group, lane) = (index / CHAINS, index % CHAINS);
        for (k, point) in chain.corners.iter().enumerate() {
            points[(group * 6 + k) * CHAINS + lane] = point.bits();
        }
    }
    points
}

/// Groups of 96 tets: the numbers of each, number by number; the first tets of 32 chains come first, then the second, then the third.
fn elements(chains: &[EquationChain]) -> Vec<f32> {
    let mut elements = vec![0.0; chains.len().div_ceil(CHAINS) * NUMBERS * TETS];
    for (index, chain) in chains.iter().enumerate() {
        let (group, lane) = (index / CHAINS, index % CHAINS);
        for tet in 0..3 {
            let numbers = chain.rest_inverse[tet].iter().chain([&chain.weights[tet]]);
            for (k, &number) in numbers.enumerate() {
                elements[(group * NUMBERS + k) * TETS + tet * CHAINS + lane] = number;
            }
        }
    }
    elements
}

/// Bits of inertia, mass factor and velocity damping, and the prescribed point; the top bit is set for rows that move with
/// their base.
fn row_constants(equations: &Equations) -> Vec<[u32; 4]> {
    let Equations {
        references,
        inertia,
        gravity_scale,
        damping_factor,
        ..
    } = equations;
    let numbers = inertia.iter().zip(gravity_scale).zip(damping_factor);
    let bits =
        |(&point, ((inertia, gravity_scale), damping_factor)): (&u32, ((&f32, &f32), &f32))| {
            [
                inertia.to_bits(),
                gravity_scale.to_bits(),
                damping_factor.to_bits(),
                point,
            ]
        };
    let mut rows: Vec<[u32; 4]> = references.iter().zip(numbers).map(bits).collect();
    for &[row, point] in &equations.carried {
        rows[row as usize][3] = Corner::prescribed(point).bits();
    }
    rows
}

/// Start of each row's list, and the end of the last; then the indices of the forces on it, by chain.
fn links(chains: &[EquationChain], rows: usize, chain_stride: u32) -> Vec<u32> {
    let mut of_row = vec![Vec::new(); rows];
    for (index, chain) in chains.iter().enumerate() {
        for (point, row) in chain.rows() {
            of_row[row as usize].push(point as u32 * chain_stride + index as u32);
        }
    }
    let mut links = Vec::with_capacity(rows + 1 + 6 * chains.len());
    let mut end = rows as u32 + 1;
    links.push(end);
    for places in &of_row {
        end += places.len() as u32;
        links.push(end);
    }
    links.extend(of_row.into_iter().flatten());
    links
}
