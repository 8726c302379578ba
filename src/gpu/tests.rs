use super::*;
use crate::gpu::compute::{Kernel, fetch, storage_of};
use crate::gpu::shader::ShaderSource;

/// A device continues after rejected work and reports the error; without a window, an unhandled error ends the program.
#[test]
fn rejected_work_is_an_error() {
    let Some(gpu) = for_tests() else { return };
    let wrong = ShaderSource {
        name: "wrong",
        parts: &[(
            "wrong",
            "@compute @workgroup_size(1) fn main() { nothing(); }",
        )],
    };
    let refused = gpu
        .attempt(|| Kernel::new(&gpu, &wrong, "main", &[]))
        .expect_err("no such function")
        .to_string();
    assert!(
        refused.starts_with("the graphics device does not take it: ")
            && refused.lines().count() == 1,
        "{refused}"
    );
    let size = gpu.device.limits().max_buffer_size + 4;
    let usage = wgpu::BufferUsages::STORAGE;
    let large = wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    };
    assert!(gpu.attempt(|| gpu.device.create_buffer(&large)).is_err());
    let kept = gpu
        .attempt(|| storage_of(&gpu, "kept", &[1_u32, 2, 3]))
        .expect("fits");
    assert_eq!(fetch::<u32>(&gpu, &kept, 3).expect("comes back"), [1, 2, 3]);
}

/// Adapters with too small limits are rejected with the limit; sufficient ones pass.
#[test]
fn an_adapter_without_compute_is_rejected() {
    let Some(gpu) = for_tests() else { return };
    gpu.check_compute().expect("enough for all shaders");
    let limits = wgpu::Limits {
        max_storage_buffers_per_shader_stage: 4,
        ..gpu.device.limits()
    };
    let small =
        GpuContext::open(gpu.instance.clone(), gpu.adapter.clone(), limits, false).expect("opens");
    let error = small
        .check_compute()
        .expect_err("four are too few")
        .to_string();
    assert!(
        error.contains(
            "computes too little: it has 4 storage buffers in a shader, and 8 are needed"
        ),
        "{error}"
    );
}

/// Waiting for a lost device returns at once.
#[test]
fn waiting_for_a_lost_device_returns() {
    let Some(gpu) = for_tests() else { return };
    let kept = storage_of(&gpu, "kept", &[1_u32, 2, 3]);
    gpu.simulate_loss();
    assert!(fetch::<u32>(&gpu, &kept, 3).is_err());
}
