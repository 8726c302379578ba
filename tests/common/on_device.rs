//! A device for tests, and a global solver for small systems that needs no trust: the dense inverse.

use std::sync::LazyLock;

use nalgebra::DMatrix;
use sinew::dynamics::Equations;
use sinew::gpu::compute::{Dispatch, Kernel, storage_of, workgroups};
use sinew::gpu::flesh::FleshState;
use sinew::gpu::shader::ShaderSource;
use sinew::gpu::{self, GpuContext};

use super::skip;

/// A device of one's own; `None` skips visibly, or fails where a device is promised.
pub fn own() -> Option<GpuContext> {
    match GpuContext::headless() {
        Ok(gpu) => Some(gpu),
        Err(error) if gpu::is_required() => panic!("SINEW_REQUIRE_GPU is set, but {error}"),
        Err(error) => {
            skip::skipped(error);
            None
        }
    }
}

/// One device for all tests of the process, as [`own`].
pub fn gpu() -> Option<&'static GpuContext> {
    static DEVICE: LazyLock<Option<GpuContext>> = LazyLock::new(own);
    DEVICE.as_ref()
}

const DENSE: ShaderSource = ShaderSource {
    name: "dense",
    parts: &[("dense.wgsl", include_str!("dense.wgsl"))],
};

/// The inverse of the matrix, row by row.
pub fn inverse(equations: &Equations) -> Vec<f32> {
    let matrix = &equations.matrix;
    let rows = equations.vertex_of_row.len();
    let mut dense = DMatrix::<f64>::zeros(rows, rows);
    for row in 0..rows {
        for k in matrix.starts[row] as usize..matrix.starts[row + 1] as usize {
            dense[(row, matrix.columns[k] as usize)] = matrix.values[k];
        }
    }
    let inverse = dense.cholesky().expect("positive definite").inverse();
    inverse.iter().map(|&entry| entry as f32).collect()
}

/// Global steps by the dense inverse.
pub fn dense_solver(gpu: &GpuContext, inverse: &[f32], state: &FleshState) -> Vec<Dispatch> {
    let dims = state.dims();
    let inverse = storage_of(gpu, "inverse", inverse);
    let constants = [
        ("COUNT", f64::from(dims.rows)),
        ("STRIDE", f64::from(dims.row_stride)),
    ];
    let kernel = Kernel::new(gpu, &DENSE, "dense", &constants);
    let buffers = [
        (0, &inverse),
        (1, state.right_hand_side()),
        (2, state.increment()),
    ];
    vec![kernel.on(
        gpu,
        &buffers,
        [workgroups(dims.rows as usize, 64), dims.instances, 1],
    )]
}
