//! Exact solves by products with inverse factors: twin of [`InverseFactors::solve`].
//!
//! | form          | passes                                           |
//! |---------------|--------------------------------------------------|
//! | factors       | y = V b by rows; Δ = Vᵀ y by columns              |
//! | substructures | y = W b by rows; z = S y at the top; Δ = Wᵀ (y, z) |
//! | dense         | Δ = P⁻¹ b by rows                                |
//!
//! V and Vᵀ share one array, stored in lines of sixteen columns. By rows: 16 to 256 threads for up to four rows, more for
//! longer rows, so that each thread reads at most a few dozen lines; sums over threads take two steps in workgroup memory.
//! By columns: one workgroup per sixteen columns, whose lines lie on a path of ancestors. With several instances, a thread
//! multiplies each value that it reads for four of them.
//!
//! # Contacts
//! With contacts at rows c the matrix becomes P + U C Uᵀ, where U has few columns. Δ = Δ₀ − P⁻¹U (C⁻¹ + UᵀP⁻¹U)⁻¹ Uᵀ Δ₀
//! needs the columns P⁻¹U, which these passes can compute with one instance per three contacts whenever pairs change; each
//! solve then needs two thin products after the last pass. Alternatively forces are added to b and the passes run again
//! ([`super::super::ContactKernel`]), which costs two more passes.

use bytemuck::{Pod, Zeroable};

use crate::gpu::compute::{Dispatch, Kernel, storage, storage_of, uniform_of};
use crate::gpu::layout::layout;
use crate::gpu::shader::{SOLVE_COLUMNS, SOLVE_ROWS};
use crate::gpu::{GpuContext, StructLayout};
use crate::numerics::{InverseFactors, LINE, LineBatch, LineGroup, LineMatrix};

use super::{SolveError, check_groups, check_size, row_stride};

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct LineDims {
    rows: u32,
    row_stride: u32,
    instances: u32,
    padding: u32,
}

pub(super) fn layouts() -> Vec<StructLayout> {
    vec![
        layout!(LineDims: rows, row_stride, instances, padding),
        layout!(LineGroup: row, rows, line, block, blocks),
        layout!(LineBatch: first, groups, threads),
    ]
}

/// Marks rows of the top in the lists of lines.
const TOP: u32 = 1 << 31;
/// Instances that share one read of the matrix.
pub(super) const SHARED: usize = 4;

/// A matrix on the device in lines, by rows.
#[derive(Debug)]
struct DeviceLines {
    values: wgpu::Buffer,
    groups: wgpu::Buffer,
    batches: wgpu::Buffer,
    blocks: wgpu::Buffer,
    workgroups: u32,
}

/// The same lines by columns.
#[derive(Debug)]
struct Columns {
    starts: wgpu::Buffer,
    lines: wgpu::Buffer,
}

#[derive(Debug)]
pub(super) struct InverseProducts {
    /// By rows and by columns; each in a variant for one instance and one for several.
    rows: [Kernel; 2],
    columns: [Kernel; 2],
    factor: Option<(DeviceLines, Columns)>,
    top: Option<DeviceLines>,
    unknowns: usize,
    bytes: usize,
    /// What the passes of a solve read of them: the factor by rows and by columns.
    read: usize,
}

impl DeviceLines {
    fn new(gpu: &GpuContext, matrix: &LineMatrix) -> Result<Option<Self>, SolveError> {
        if matrix.groups.is_empty() {
            return Ok(None);
        }
        check_size(gpu, size_of_val(&matrix.values[..]))?;
        let (groups, batches) = matrix.batches();
        check_groups(gpu, batches.len())?;
        Ok(Some(Self {
            values: storage_of(gpu, "inverse: values", &matrix.values),
            groups: storage_of(gpu, "inverse: groups of rows", &groups),
            batches: storage_of(gpu, "inverse: batches", &batches),
            blocks: storage_of(gpu, "inverse: blocks of columns", &matrix.blocks),
            workgroups: batches.len() as u32,
        }))
    }
}

/// The instances that one product multiplies.
struct InstanceBatch<'a> {
    gpu: &'a GpuContext,
    instances: usize,
    dims: wgpu::Buffer,
}

impl InstanceBatch<'_> {
    /// Index of the kernel variant, and the number of workgroups for all instances.
    fn shape(&self) -> (usize, u32) {
        if self.instances == 1 {
            (0, 1)
        } else {
            (1, self.instances.div_ceil(SHARED) as u32)
        }
    }
}

impl InverseProducts {
    pub(super) fn new(gpu: &GpuContext, inverse: &InverseFactors) -> Result<Self, SolveError> {
        let mut bytes = inverse.top.bytes() + inverse.factor.bytes();
        let mut read = bytes + inverse.factor.bytes();
        let mut factor = None;
        if let Some(lines) = DeviceLines::new(gpu, &inverse.factor)? {
            check_groups(gpu, inverse.rows.div_ceil(LINE))?;
            let mut columns = inverse.factor.columns(inverse.rows);
            check_size(gpu, size_of_val(&columns.lines[..]))?;
            for [row, _] in &mut columns.lines {
                *row |= if inverse.is_top[*row as usize] {
                    TOP
                } else {
                    0
                };
            }
            bytes += size_of_val(&columns.lines[..]);
            read += size_of_val(&columns.lines[..]);
            let starts = storage_of(gpu, "inverse: blocks of columns", &columns.starts);
            factor = Some((
                lines,
                Columns {
                    starts,
                    lines: storage_of(gpu, "inverse: lines by columns", &columns.lines),
                },
            ));
        }
        let kernels = |source, entries: [&'static str; 2]| {
            entries.map(|entry| Kernel::new(gpu, source, entry, &[]))
        };
        Ok(Self {
            rows: kernels(&SOLVE_ROWS, ["rows_one", "rows_four"]),
            columns: kernels(&SOLVE_COLUMNS, ["columns_one", "columns_four"]),
            factor,
            top: DeviceLines::new(gpu, &inverse.top)?,
            unknowns: inverse.rows,
            bytes,
            read,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The inverse, and of every row the right-hand side and the increment.
    pub(super) fn bytes_per_solve(&self) -> usize {
        self.read + 32 * self.unknowns
    }

    /// Of the largest buffer.
    pub(super) fn bytes_per_instance(&self) -> usize {
        size_of::<[f32; 4]>() * row_stride(self.unknowns)
    }

    pub(super) fn on(
        &self,
        gpu: &GpuContext,
        instances: usize,
        b: &wgpu::Buffer,
        increment: &wgpu::Buffer,
    ) -> Vec<Dispatch> {
        let row_stride = row_stride(self.unknowns);
        let dims = LineDims {
            rows: self.unknowns as u32,
            row_stride: row_stride as u32,
            instances: instances as u32,
            padding: 0,
        };
        let crowd = InstanceBatch {
            gpu,
            instances,
            dims: uniform_of(gpu, "inverse: dimensions", &dims),
        };
        let scratch =
            || storage::<[f32; 4]>(gpu, "inverse: between passes", instances * row_stride);
        match (&self.factor, &self.top) {
            (None, None) => Vec::new(),
            (None, Some(top)) => vec![self.by_rows(&crowd, top, b, increment)],
            (Some((lines, columns)), None) => {
                let y = scratch();
                vec![
                    self.by_rows(&crowd, lines, b, &y),
                    self.by_columns(&crowd, (lines, columns), [&y, &y], increment),
                ]
            }
            (Some((lines, columns)), Some(top)) => {
                let (y, z) = (scratch(), scratch());
                let forward = [
                    self.by_rows(&crowd, lines, b, &y),
                    self.by_rows(&crowd, top, &y, &z),
                ];
                forward
                    .into_iter()
                    .chain([self.by_columns(&crowd, (lines, columns), [&y, &z], increment)])
                    .collect()
            }
        }
    }

    fn by_rows(
        &self,
        crowd: &InstanceBatch<'_>,
        lines: &DeviceLines,
        of: &wgpu::Buffer,
        result: &wgpu::Buffer,
    ) -> Dispatch {
        let (kernel, y) = crowd.shape();
        let constants = [
            (0, &crowd.dims),
            (1, &lines.values),
            (2, &lines.groups),
            (3, &lines.batches),
            (4, &lines.blocks),
        ];
        self.rows[kernel].on(
            crowd.gpu,
            &[&constants[..], &[(5, of), (6, result)]].concat(),
            [lines.workgroups, y, 1],
        )
    }

    fn by_columns(
        &self,
        crowd: &InstanceBatch<'_>,
        (lines, columns): (&DeviceLines, &Columns),
        of: [&wgpu::Buffer; 2],
        result: &wgpu::Buffer,
    ) -> Dispatch {
        let (kernel, y) = crowd.shape();
        let constants = [
            (0, &crowd.dims),
            (1, &lines.values),
            (2, &columns.starts),
            (3, &columns.lines),
        ];
        let blocks = self.unknowns.div_ceil(LINE) as u32;
        self.columns[kernel].on(
            crowd.gpu,
            &[&constants[..], &[(4, of[0]), (5, of[1]), (6, result)]].concat(),
            [blocks, y, 1],
        )
    }
}
