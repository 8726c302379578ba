//! What is known of the adapter, and the rate at which its memory is copied.

use std::time::Instant;

use serde::Serialize;

use super::compute::{Kernel, storage, workgroups};
use super::waiting::{lost_error, wait_for_all};
use super::{GpuContext, GpuError, shader};

/// The adapter and what it offers.
#[derive(Debug, Clone, Serialize)]
pub struct AdapterFacts {
    /// Its name.
    pub name: String,
    /// PCI number of its vendor, or as the backend numbers it.
    pub vendor: u32,
    /// Name of the driver.
    pub driver: String,
    /// Version of the driver.
    pub driver_info: String,
    /// The interface, such as Vulkan.
    pub backend: String,
    /// Discrete, integrated, software, …
    pub device_type: String,
    /// Whether a timestamp can be written between two passes.
    pub timestamps: bool,
    /// Nanoseconds of a tick of the timestamps.
    pub timestamp_period_ns: f32,
    /// Whether shaders may use operations of subgroups.
    pub subgroups: bool,
    /// Least and largest size of a subgroup.
    pub subgroup_sizes: [u32; 2],
    /// Whether shaders may compute with 16-bit numbers.
    pub shader_f16: bool,
    /// Names of all optional features that the adapter offers; few are used.
    pub features: Vec<String>,
    /// What the adapter allows.
    pub offered: ComputeLimits,
    /// What the device was opened with.
    pub limits: ComputeLimits,
}

/// Limits that bound compute passes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ComputeLimits {
    /// Bytes of a buffer.
    pub max_buffer_size: u64,
    /// Bytes of a storage binding.
    pub max_storage_buffer_binding_size: u64,
    /// Storage buffers of a pass.
    pub max_storage_buffers: u32,
    /// Bytes of memory of a workgroup.
    pub max_workgroup_bytes: u32,
    /// Threads of a workgroup.
    pub max_workgroup_threads: u32,
    /// Workgroups along one dimension.
    pub max_workgroups: u32,
}

impl ComputeLimits {
    fn of(limits: &wgpu::Limits) -> Self {
        Self {
            max_buffer_size: limits.max_buffer_size,
            max_storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            max_workgroup_bytes: limits.max_compute_workgroup_storage_size,
            max_workgroup_threads: limits.max_compute_invocations_per_workgroup,
            max_workgroups: limits.max_compute_workgroups_per_dimension,
        }
    }
}

/// A measured rate of copying.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CopyRate {
    /// Bytes of the buffer that is copied.
    pub bytes: u64,
    /// Median time of a copy, ms.
    pub ms: f64,
    /// Bytes read and bytes written, together, per second, in 1e9.
    pub gb_s: f64,
    /// The same of the fastest copies.
    pub best_gb_s: f64,
}

/// Measured submissions.
const ROUNDS: usize = 7;
/// Copies in each of them, so that submitting hardly counts.
const COPIES: usize = 8;
/// Bytes that a workgroup of 256 threads copies: 16 a thread.
const COPIED_BY_GROUP: usize = 256 * 16;

impl GpuContext {
    /// What is known of the adapter.
    #[must_use]
    pub fn facts(&self) -> AdapterFacts {
        let info = self.adapter.get_info();
        let offered = self.adapter.features();
        let stamps =
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        AdapterFacts {
            name: info.name,
            vendor: info.vendor,
            driver: info.driver,
            driver_info: info.driver_info,
            backend: format!("{:?}", info.backend),
            device_type: format!("{:?}", info.device_type),
            timestamps: self.device.features().contains(stamps),
            timestamp_period_ns: self.queue.get_timestamp_period(),
            subgroups: offered.contains(wgpu::Features::SUBGROUP),
            subgroup_sizes: [info.subgroup_min_size, info.subgroup_max_size],
            shader_f16: offered.contains(wgpu::Features::SHADER_F16),
            features: offered
                .iter_names()
                .map(|(name, _)| name.to_owned())
                .collect(),
            offered: ComputeLimits::of(&self.adapter.limits()),
            limits: ComputeLimits::of(&self.device.limits()),
        }
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// [`GpuError::Readback`] if the device was lost.
    pub fn finish(&self) -> Result<(), GpuError> {
        wait_for_all(self)
    }

    /// Measures copies from one buffer of so many bytes (fewer, if the device allows no such buffer) to another, by a compute pass: the
    /// engine that copies buffers may be far slower than memory.
    ///
    /// # Errors
    /// [`GpuError::Refused`] if there is no memory for them, [`GpuError::Readback`] if the device was lost.
    pub fn copy_rate(&self, bytes: u64) -> Result<CopyRate, GpuError> {
        let limits = self.device.limits();
        let most = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        let bytes = (bytes.min(most) / 256 * 256).max(256);
        let (buffers, copies) = self.attempt(|| {
            let buffers =
                ["copied", "copy"].map(|label| storage::<u8>(self, label, bytes as usize));
            let kernel = Kernel::new(self, &shader::COPY_BUFFER, "copy_buffer", &[]);
            let groups = workgroups(bytes as usize, COPIED_BY_GROUP);
            let groups = groups.min(limits.max_compute_workgroups_per_dimension);
            let [one, other] = &buffers;
            let there_and_back = [[one, other], [other, one]]
                .map(|[from, to]| kernel.on(self, &[(0, from), (1, to)], [groups, 1, 1]));
            (buffers, there_and_back)
        })?;
        let copy = || -> Result<f64, GpuError> {
            let mut encoder = self
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                    label: Some("copies"),
                });
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("copies"),
                    timestamp_writes: None,
                });
                for turn in 0..COPIES {
                    copies[turn % 2].encode(&mut pass);
                }
            }
            let commands = encoder.finish();
            let start = Instant::now();
            self.queue.submit([commands]);
            // Nothing else uses the device: waiting inside the driver is the most exact.
            self.device
                .poll(wgpu::PollType::wait_indefinitely())
                .map_err(|error| lost_error(&error))?;
            Ok(start.elapsed().as_secs_f64() * 1e3 / COPIES as f64)
        };
        // The first touches the memory.
        copy()?;
        let mut times = (0..ROUNDS)
            .map(|_| copy())
            .collect::<Result<Vec<f64>, _>>()?;
        times.sort_by(f64::total_cmp);
        for buffer in &buffers {
            buffer.destroy();
        }
        let rate = |ms: f64| 2.0 * bytes as f64 / ms.max(1e-9) * 1e-6;
        Ok(CopyRate {
            bytes,
            ms: times[ROUNDS / 2],
            gb_s: rate(times[ROUNDS / 2]),
            best_gb_s: rate(times[0]),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::gpu::for_tests;

    #[test]
    fn an_adapter_is_described_and_its_copies_are_measured() {
        let Some(gpu) = for_tests() else { return };
        let facts = gpu.facts();
        assert!(!facts.name.is_empty() && !facts.backend.is_empty());
        assert!(facts.offered.max_buffer_size >= facts.limits.max_buffer_size);
        let rate = gpu.copy_rate(1 << 20).expect("there is a megabyte");
        assert_eq!(rate.bytes, 1 << 20);
        assert!(rate.ms > 0.0 && rate.best_gb_s >= rate.gb_s && rate.gb_s > 0.0);
        assert!((rate.gb_s - 2.0 * rate.bytes as f64 / rate.ms * 1e-6).abs() < 1e-6 * rate.gb_s);
        gpu.finish().expect("it works");
    }
}
