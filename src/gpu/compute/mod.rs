//! Compute passes: kernels, their bindings, and lists of dispatches that are created once and encoded every frame.
//!
//! | lifetime       | type                                                                    |
//! |----------------|-------------------------------------------------------------------------|
//! | per device     | [`Kernel`]: one compiled entry point; kept, so that it is compiled once |
//! | per character  | [`Dispatch`]: a kernel with its buffers and number of workgroups        |
//! | per submission | a `wgpu::ComputePass` that they are encoded into                        |

mod fetch;
mod kernels;
mod storage;

pub use fetch::{fetch, fetch_from};
pub(super) use kernels::KernelCache;
pub(super) use storage::filled;
pub use storage::{storage, storage_of, uniform_of};

use std::sync::Arc;

use super::GpuContext;
use super::shader::ShaderSource;

/// A compiled entry point.
#[derive(Debug, Clone)]
pub struct Kernel {
    label: &'static str,
    pipeline: Arc<wgpu::ComputePipeline>,
}

/// A kernel with its bindings and workgroup count.
#[derive(Debug, Clone)]
pub struct Dispatch {
    label: &'static str,
    pipeline: Arc<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
    workgroups: [u32; 3],
}

impl Kernel {
    /// The entry point; compiled unless the device's cache has it. `constants` are values of its `override`s. All bindings
    /// are in group 0.
    #[must_use]
    pub fn new(
        gpu: &GpuContext,
        source: &ShaderSource,
        entry: &'static str,
        constants: &[(&str, f64)],
    ) -> Self {
        Self {
            label: entry,
            pipeline: gpu.kernels.pipeline(gpu, source, entry, constants),
        }
    }

    /// Binds exactly the buffers that the entry point uses, by their number in group 0.
    #[must_use]
    pub fn on(
        &self,
        gpu: &GpuContext,
        buffers: &[(u32, &wgpu::Buffer)],
        workgroups: [u32; 3],
    ) -> Dispatch {
        let entries: Vec<_> = buffers
            .iter()
            .map(|&(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.label),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        Dispatch {
            label: self.label,
            pipeline: self.pipeline.clone(),
            group,
            workgroups,
        }
    }
}

impl Dispatch {
    /// Encodes it. Results of earlier dispatches of the pass are visible to it.
    pub fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        if self.workgroups.contains(&0) {
            return;
        }
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let [x, y, z] = self.workgroups;
        pass.dispatch_workgroups(x, y, z);
    }

    /// The name of its entry point.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.label
    }
}

/// The number of workgroups of `size` threads that `count` threads need.
#[must_use]
pub fn workgroups(threads: usize, size: usize) -> u32 {
    threads.div_ceil(size) as u32
}
