//! Conjugate gradients with one pass an iteration: twin of [`HybridMatrix::gradients`].
//!
//! A pass over n rows reads the matrix (8 bytes per entry, about 7 entries per row), reads and writes 48 bytes of vectors
//! and 16 of the increment per row, and gathers three vectors of every neighbour, mostly from caches. For 5 000 rows that is
//! under a megabyte: the pass takes as long as its launch. All threads of a workgroup read its CRS entries in sequence.
//! Every workgroup sums the partial sums itself, which saves a pass.
//!
//! # Contacts
//! A second matrix of 3 × 3 blocks κ u uᵀ ⊗ n nᵀ can be added: every pass binds at most seven of the eight storage buffers
//! that all devices have. Binding 10 is free for one `array<u32>` with the row starts followed by (column, six numbers) for
//! each block. `product` would read it like the CRS part, and diagonal blocks would be added to `diagonal`. Since it couples
//! x, y and z, α and β would become scalars: `dot(γ, 1)` in `quotient`. The buffer would have room for the largest number of
//! pairs and be written before a step; without pairs the starts are zeros.

use bytemuck::{Pod, Zeroable};

use super::{SolveError, row_stride};
use crate::dynamics::Equations;
use crate::gpu::compute::{Dispatch, Kernel, fetch, storage, storage_of, uniform_of, workgroups};
use crate::gpu::layout::layout;
use crate::gpu::shader::{SOLVE_BEGIN, SOLVE_ITERATE};
use crate::gpu::{GpuContext, GpuError, StructLayout};
use crate::numerics::{HYBRID_ROWS, HybridMatrix};

/// Stopping criteria of conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Maximum number of iterations: the passes that are submitted.
    pub iterations: u32,
    /// Bound of √(r·D⁻¹r) of the residual r, relative to that of b; later passes do nothing.
    pub residual: f32,
}

/// Makes a step of ten local/global iterations exact to 1e-5 of the size for moving characters with up to 20 000 rows: the
/// worst of nine characters reached 7e-6 (`examples/global_solvers.rs`).
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
    /// Iterations used.
    pub iterations: u32,
    /// √(r·D⁻¹r) before the last iteration, relative to that of b.
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

/// Statistics of an instance after the partial sums of its workgroups, in vectors.
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
    /// Results of the last pass.
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

    /// The matrix in every pass; of every row six vectors and the increment, read and written.
    pub(super) fn bytes_per_solve(&self) -> usize {
        (1 + self.iterations) * (self.bytes + 128 * self.dims.rows as usize)
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
