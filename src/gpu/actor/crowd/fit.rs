//! The number of instances that a device has memory for.

use super::flesh::STEPS;
use crate::gpu::GpuContext;
use crate::gpu::actor::GpuModel;
use crate::gpu::flesh::FleshState;
use crate::gpu::surface::SurfaceModel;

/// Upper bound for the state of a crowd on a discrete graphics card.
const BUDGET: u64 = 16 << 30;
/// The same where the device shares the CPU's memory.
const SOFTWARE_BUDGET: u64 = 768 << 20;

/// Bytes of an instance's state, by buffer; flesh counts as one, with the size of its largest buffer.
fn parts(surface: &SurfaceModel, model: Option<&GpuModel>) -> [u64; 2] {
    let rows = model.map_or(0, |model| model.flesh.dims(1).row_stride as usize);
    let [mut all, mut largest] = surface.bytes_per_instance(rows);
    if let Some(model) = model {
        let [flesh, largest_flesh] = FleshState::bytes_per_instance(&model.flesh);
        let base = STEPS as u64 * model.base.bytes_per_step();
        all += flesh + base;
        largest = largest.max(largest_flesh).max(base);
    }
    [all, largest]
}

/// Bytes of an instance's state without the solver's vectors.
pub(super) fn bytes_per_instance(surface: &SurfaceModel, model: Option<&GpuModel>) -> u64 {
    parts(surface, model)[0]
}

/// The number of instances that fit.
pub(super) fn most(gpu: &GpuContext, surface: &SurfaceModel, model: Option<&GpuModel>) -> usize {
    let limits = gpu.device.limits();
    let [all, largest] = parts(surface, model);
    let budget = if gpu.is_software() {
        SOFTWARE_BUDGET
    } else {
        BUDGET
    };
    let bound = limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size)
        / largest.max(1);
    let fit = bound
        .min(budget / all.max(1))
        .min(u64::from(limits.max_compute_workgroups_per_dimension));
    let solver = model.map_or(usize::MAX, |model| model.solver.most_instances(gpu));
    usize::try_from(fit).unwrap_or(usize::MAX).min(solver)
}
