//! Cache of a device's compiled kernels.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gpu::GpuContext;
use crate::gpu::shader::ShaderSource;

/// Inputs of a compilation; equal keys give equal pipelines.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KernelKey {
    wgsl: String,
    entry: &'static str,
    /// Values of `override`s, as bits.
    constants: Vec<(String, u64)>,
}

/// The pipelines of one device. A [`GpuContext`] owns the cache and no device resource refers to it: it is dropped with the
/// last context, and a pipeline is never used with another device.
#[derive(Debug, Default)]
pub(in crate::gpu) struct KernelCache {
    kept: Mutex<HashMap<KernelKey, Arc<wgpu::ComputePipeline>>>,
}

impl KernelCache {
    /// The pipeline of an entry point; compiled on the first request. Errors are not cached: a rejected shader fails again
    /// on every request.
    pub(super) fn pipeline(
        &self,
        gpu: &GpuContext,
        source: &ShaderSource,
        entry: &'static str,
        constants: &[(&str, f64)],
    ) -> Arc<wgpu::ComputePipeline> {
        let bits = constants
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_bits()))
            .collect();
        let key = KernelKey {
            wgsl: source.wgsl(),
            entry,
            constants: bits,
        };
        if let Some(kept) = self.lock().get(&key) {
            return kept.clone();
        }
        // The lock is not held during compilation: two concurrent requests may compile the same pipeline twice.
        let compile = || Arc::new(compile(gpu, source, entry, constants));
        match gpu.attempt(compile) {
            Ok(pipeline) => self.lock().entry(key).or_insert(pipeline).clone(),
            Err(_) => compile(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KernelKey, Arc<wgpu::ComputePipeline>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn compile(
    gpu: &GpuContext,
    source: &ShaderSource,
    entry: &'static str,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    let module = source.compile(&gpu.device);
    gpu.device
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: None,
            module: &module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..Default::default()
            },
            cache: None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::compute::Kernel;

    const SET: ShaderSource = ShaderSource {
        name: "set",
        parts: &[(
            "set",
            "override VALUE: f32 = 1.0;
             @group(0) @binding(0) var<storage, read_write> out: array<f32>;
             @compute @workgroup_size(1) fn fill() { out[0] = VALUE; }
             @compute @workgroup_size(1) fn clear() { out[0] = 0.0 * VALUE; }",
        )],
    };

    fn same(a: &Kernel, b: &Kernel) -> bool {
        Arc::ptr_eq(&a.pipeline, &b.pipeline)
    }

    /// Equal sources, entry points and constants share a pipeline; different ones and other devices do not.
    #[test]
    fn the_same_kernel_is_compiled_once() {
        let Some(gpu) = crate::gpu::for_tests() else {
            return;
        };
        let of =
            |gpu: &GpuContext, entry, value| Kernel::new(gpu, &SET, entry, &[("VALUE", value)]);
        let first = of(&gpu, "fill", 2.0);
        assert!(same(&first, &of(&gpu.clone(), "fill", 2.0)));
        assert!(!same(&first, &of(&gpu, "fill", 3.0)));
        assert!(!same(&first, &of(&gpu, "clear", 2.0)));
        assert_eq!(gpu.kernels.lock().len(), 3);
        let other = GpuContext::headless().expect("there was one before");
        assert!(!same(&first, &of(&other, "fill", 2.0)));
    }

    /// A second request for a rejected shader fails again; a valid shader compiles afterwards.
    #[test]
    fn errors_of_compilation_are_not_cached() {
        let Some(gpu) = crate::gpu::for_tests() else {
            return;
        };
        let attempt = || gpu.attempt(|| Kernel::new(&gpu, &SET, "there is no such", &[]));
        assert!(attempt().is_err());
        assert!(attempt().is_err());
        assert_eq!(gpu.kernels.lock().len(), 0);
        assert!(gpu.attempt(|| Kernel::new(&gpu, &SET, "fill", &[])).is_ok());
    }

    /// The cache holds no reference to its context: it is dropped with the last context, also after a device loss.
    #[test]
    fn the_kernel_cache_is_dropped_with_its_device() {
        for is_lost in [false, true] {
            let Some(gpu) = crate::gpu::for_tests() else {
                return;
            };
            let pipeline = Arc::downgrade(&Kernel::new(&gpu, &SET, "fill", &[]).pipeline);
            let again = gpu.clone();
            if is_lost {
                gpu.simulate_loss();
            }
            drop(gpu);
            assert!(pipeline.upgrade().is_some());
            drop(again);
            assert!(pipeline.upgrade().is_none());
        }
    }
}
