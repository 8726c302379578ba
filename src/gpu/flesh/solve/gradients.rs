//! Conjugate gradients with one pass an iteration: twin of [`HybridMatrix::gradients`].
//!
//! A pass of n rows reads the matrix (8 bytes an entry, about 7 entries a row), reads and writes 48 bytes of vectors and 16 of the
//! increment a row, and gathers three vectors of every neighbour, mostly from caches. Of 5 000 rows that is under a megabyte: the pass
//! takes as long as its launch. Entries of a workgroup's CRS part are read one after the other by all of its threads; every workgroup
//! adds up the partial sums of all for itself, so that nothing waits for a pass between.
//!
//! # Contacts
//! A second matrix, of 3 × 3 blocks κ u uᵀ ⊗ n nᵀ, fits beside: every pass binds at most seven of the eight storage buffers that all
//! devices have, and binding 10 is free for one `array<u32>` with the starts of its rows and behind them
//! (column, six numbers) for each block, read in `product` as the CRS part is, and the diagonal blocks go into `diagonal`.
//! It couples x, y and z, and α and β must then be one number: `dot(γ, 1)` in `quotient`. Its buffer has room for the most pairs and is
//! written before a step; without pairs the starts are zeros.

use bytemuck::{Pod, Zeroable};

use super::{SolveError, row_stride};
use crate::dynamics::Equations;
use crate::gpu::compute::{Dispatch, Kernel, fetch, storage, storage_of, uniform_of, workgroups};
use crate::gpu::layout::layout;
use crate::gpu::shader::{SOLVE_BEGIN, SOLVE_ITERATE};
use crate::gpu::{GpuContext, GpuError, StructLayout};
use crate::numerics::{HYBRID_ROWS, HybridMatrix};

/// When conjugate gradients stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Iterations at most: the passes that are submitted.
    pub iterations: u32,
    /// √(r·D⁻¹r) of the residual r over that of b: no pass works on after that.
    pub residual: f32,
}

/// What makes a step of ten local/global iterations exact to 1e-5 of the size, for characters in motion with up to 20 000 rows: the worst
/// of nine came to 7e-6 (`examples/global_solvers.rs`).
impl Default for Tolerance {
    fn default() -> Self {
        Self {
            iterations: 60,
            residual: 1e-4,
        }
    }
}

/// Iterations and residual of a finished solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveProgress {
    /// Iterations done.
    pub iterations: u32,
    /// √(r·D⁻¹r) before the last of them, over that of b.
    pub residual: f32,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct HybridDims {
    rows: u32,
    row_stride: u32,
    stride: u32,
    width: u32,
    rest: u32,
    groups: u32,
    tolerance2: f32,
    unused: u32,
}

pub(super) fn layout() -> StructLayout {
    layout!(HybridDims: rows, row_stride, stride, width, rest, groups, tolerance2, unused)
}

/// Numbers of an instance behind the sums of its workgroups, in vectors.
const PROGRESS: usize = 3;

#[derive(Debug)]
pub(super) struct Gradients {
    begin: Kernel,
    iterate: Kernel,
    dims: HybridDims,
    uniform: wgpu::Buffer,
    entries: wgpu::Buffer,
    starts: wgpu::Buffer,
    iterations: usize,
    bytes: usize,
}

#[derive(Debug)]
pub(super) struct BoundGradients {
    pub(super) dispatches: Vec<Dispatch>,
    /// What the last pass wrote.
    sums: wgpu::Buffer,
    instances: usize,
    groups: usize,
}

impl Gradients {
    pub(super) fn new(
        gpu: &GpuContext,
        equations: &Equations,
        tolerance: Tolerance,
    ) -> Result<Self, SolveError> {
        let matrix = HybridMatrix::of(&equations.matrix);
        super::check_size(gpu, 8 * (matrix.ell.len() + matrix.crs.len()))?;
        super::check_groups(gpu, matrix.rows.div_ceil(HYBRID_ROWS))?;
        let dims = HybridDims {
            rows: matrix.rows as u32,
            row_stride: row_stride(matrix.rows) as u32,
            stride: matrix.stride as u32,
            width: matrix.width as u32,
            rest: matrix.ell.len() as u32,
            groups: workgroups(matrix.rows, HYBRID_ROWS),
            tolerance2: tolerance.residual.max(0.0).powi(2),
            unused: 0,
        };
        let entries: Vec<_> = matrix.ell.iter().chain(&matrix.crs).copied().collect();
        Ok(Self {
            begin: Kernel::new(gpu, &SOLVE_BEGIN, "begin", &[]),
            iterate: Kernel::new(gpu, &SOLVE_ITERATE, "iterate", &[]),
            dims,
            uniform: uniform_of(gpu, "hybrid matrix: dimensions", &dims),
            entries: storage_of(gpu, "hybrid matrix: entries", &entries),
            starts: storage_of(gpu, "hybrid matrix: rows", &matrix.starts),
            iterations: tolerance.iterations as usize,
            bytes: matrix.bytes(),
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Of the largest buffer.
    pub(super) fn bytes_per_instance(&self) -> usize {
        let sums = 2 * self.dims.groups as usize + PROGRESS;
        size_of::<[f32; 4]>() * sums.max(3 * self.dims.stride as usize)
    }

    pub(super) fn on(
        &self,
        gpu: &GpuContext,
        instances: usize,
        b: &wgpu::Buffer,
        increment: &wgpu::Buffer,
    ) -> BoundGradients {
        let groups = self.dims.groups as usize;
        let vectors = [(); 2].map(|()| {
            storage::<[f32; 4]>(
                gpu,
                "gradients: vectors",
                3 * instances * self.dims.stride as usize,
            )
        });
        let sums = [(); 2].map(|()| {
            storage::<[f32; 4]>(gpu, "gradients: sums", instances * (2 * groups + PROGRESS))
        });
        let size = [self.dims.groups, instances as u32, 1];
        let with = |buffers: &[(u32, &wgpu::Buffer)], kernel: &Kernel| {
            let constants = [(0, &self.uniform), (1, &self.entries), (2, &self.starts)];
            kernel.on(gpu, &[&constants[..], buffers].concat(), size)
        };
        let begin = with(
            &[(4, &vectors[0]), (5, increment), (7, &sums[0]), (8, b)],
            &self.begin,
        );
        let turns = [[0, 1], [1, 0]].map(|[from, to]| {
            let buffers = [
                (3, &vectors[from]),
                (4, &vectors[to]),
                (5, increment),
                (6, &sums[from]),
                (7, &sums[to]),
            ];
            with(&buffers, &self.iterate)
        });
        BoundGradients {
            dispatches: std::iter::once(begin)
                .chain(turns.iter().cycle().take(self.iterations).cloned())
                .collect(),
            sums: sums[self.iterations % 2].clone(),
            instances,
            groups,
        }
    }
}

impl BoundGradients {
    pub(super) fn progress(&self, gpu: &GpuContext) -> Result<Vec<SolveProgress>, GpuError> {
        let stride = 2 * self.groups + PROGRESS;
        let numbers: Vec<[f32; 4]> = fetch(gpu, &self.sums, self.instances * stride)?;
        let of = |numbers: &[[f32; 4]]| {
            let [.., alpha, _, done] = numbers else {
                return None;
            };
            Some(SolveProgress {
                iterations: done[0] as u32,
                residual: done[1].sqrt(),
                converged: alpha[3] > 0.0,
            })
        };
        Ok(numbers.chunks_exact(stride).filter_map(of).collect())
    }
}
