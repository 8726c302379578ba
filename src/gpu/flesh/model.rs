//! What a character's steps need and no pose changes, on the device.

use std::sync::Arc;

use super::error::FleshError;
use super::kernels::{Kernels, binding, memory_of};
use super::layout::{Dims, Motion, NUMBERS, PRISMS, ROWS, TETS};
use crate::dynamics::{EquationPrism, Equations};
use crate::gpu::GpuContext;
use crate::gpu::compute::{storage_of, uniform_of};

/// Energies around zero differ by more than this part of the sum of stiffness times volume, or it is rounding.
const ENERGY_FLOOR: f64 = 1e-10;

/// The constants of a character: all of its instances share them.
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
    /// Copies the constants to the device; passes are compiled if it has not done that before.
    ///
    /// # Errors
    /// [`FleshError::TooLarge`] or [`FleshError::Count`] if the device is too small for the character.
    pub fn new(gpu: &GpuContext, equations: Arc<Equations>) -> Result<Self, FleshError> {
        let (rows, prisms, base_points) = (equations.vertex_of_row.len(), equations.prisms.len(), equations.base_points);
        let limits = gpu.device.limits();
        let limit = limits.max_compute_workgroups_per_dimension as usize;
        for (what, wanted, size) in [("skin vertices", rows, ROWS), ("prisms", prisms, PRISMS)] {
            if wanted == 0 || wanted.div_ceil(size) > limit {
                return Err(FleshError::Count { what, wanted, limit: limit * size });
            }
        }
        let bytes = ((prisms.next_multiple_of(PRISMS) * (6 + 3 * NUMBERS + 3) + rows + 1) * size_of::<u32>()) as u64;
        let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        if bytes > limit {
            return Err(FleshError::TooLarge { what: "its tets", bytes, limit, rows, instances: 1 });
        }
        let dims = Dims {
            rows: rows as u32,
            row_stride: rows.next_multiple_of(ROWS) as u32,
            base_points: base_points as u32,
            base_stride: base_points.next_multiple_of(ROWS) as u32,
            prisms: prisms as u32,
            prism_stride: prisms.next_multiple_of(PRISMS) as u32,
            instances: 0,
            memory: memory_of(&equations),
        };
        let mut row_of_vertex = vec![0; rows];
        for (row, &vertex) in equations.vertex_of_row.iter().enumerate() {
            row_of_vertex[vertex as usize] = row as u32;
        }
        Ok(Self {
            kernels: Kernels::new(gpu, &equations),
            motion: uniform_of(gpu, "flesh motion", &motion(&equations)),
            constants: storage_of(gpu, "flesh constants", &constants(&equations.prisms, rows, dims.prism_stride)),
            rows: storage_of(gpu, "flesh rows", &row_constants(&equations)),
            equations,
            dims,
            row_of_vertex,
        })
    }

    /// The equations it solves.
    #[must_use]
    pub fn equations(&self) -> &Arc<Equations> {
        &self.equations
    }

    /// Sizes and strides of buffers for so many instances.
    #[must_use]
    pub fn dims(&self, instances: u32) -> Dims {
        Dims { instances, ..self.dims }
    }

    /// Row of every skin vertex.
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

fn motion(equations: &Equations) -> Motion {
    let h = equations.step_secs;
    Motion {
        gravity: (equations.gravity * (h * h)).into(),
        step_secs: h,
        fastest: equations.fastest,
        volume: equations.volume,
        energy_floor: (ENERGY_FLOOR * equations.total_weight) as f32,
        unused: 0.0,
    }
}

/// All that only prisms tell, one after the other: chains, elements, links.
fn constants(prisms: &[EquationPrism], rows: usize, prism_stride: u32) -> Vec<u32> {
    let mut constants = chains(prisms);
    constants.extend(elements(prisms).into_iter().map(f32::to_bits));
    constants.extend(links(prisms, rows, prism_stride));
    constants
}

/// Groups of 32 prisms: the six points of the chains, point by point.
fn chains(prisms: &[EquationPrism]) -> Vec<u32> {
    let mut chains = vec![0; prisms.len().div_ceil(PRISMS) * 2 * TETS];
    for (index, prism) in prisms.iter().enumerate() {
        let (group, lane) = (index / PRISMS, index % PRISMS);
        for (k, &point) in prism.skin.iter().chain(&prism.base).enumerate() {
            chains[(group * 6 + k) * PRISMS + lane] = point;
        }
    }
    chains
}

/// Groups of 96 tets: the numbers of each, number by number; the first tets of 32 prisms come first, then the second, then the third.
fn elements(prisms: &[EquationPrism]) -> Vec<f32> {
    let mut elements = vec![0.0; prisms.len().div_ceil(PRISMS) * NUMBERS * TETS];
    for (index, prism) in prisms.iter().enumerate() {
        let (group, lane) = (index / PRISMS, index % PRISMS);
        for tet in 0..3 {
            let numbers = prism.rest_inverse[tet].iter().chain([&prism.weights[tet]]);
            for (k, &number) in numbers.enumerate() {
                elements[(group * NUMBERS + k) * TETS + tet * PRISMS + lane] = number;
            }
        }
    }
    elements
}

/// The bits of inertia, heaviness and the part of the velocity that is kept, and the base point.
fn row_constants(equations: &Equations) -> Vec<[u32; 4]> {
    let Equations { vertex_of_row, inertia, heaviness, kept, .. } = equations;
    let numbers = inertia.iter().zip(heaviness).zip(kept);
    let bits = |(&vertex, ((inertia, heaviness), kept)): (&u32, ((&f32, &f32), &f32))| {
        [inertia.to_bits(), heaviness.to_bits(), kept.to_bits(), vertex]
    };
    let mut rows: Vec<[u32; 4]> = vertex_of_row.iter().zip(numbers).map(bits).collect();
    for &[row, point] in &equations.carried {
        rows[row as usize][3] = point;
    }
    rows
}

/// Where the list of each row begins, and the end; then the places of the pulls on it, by prism.
fn links(prisms: &[EquationPrism], rows: usize, prism_stride: u32) -> Vec<u32> {
    let mut of_row = vec![Vec::new(); rows];
    for (index, prism) in prisms.iter().enumerate() {
        for (corner, &row) in prism.skin.iter().enumerate() {
            of_row[row as usize].push(corner as u32 * prism_stride + index as u32);
        }
    }
    let mut links = Vec::with_capacity(rows + 1 + 3 * prisms.len());
    let mut end = rows as u32 + 1;
    links.push(end);
    for places in &of_row {
        end += places.len() as u32;
        links.push(end);
    }
    links.extend(of_row.into_iter().flatten());
    links
}
