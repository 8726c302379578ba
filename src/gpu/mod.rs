//! The graphics device: creation with or without a window, buffers, shader assembly, readback of pictures.
//!
//! | lifetime      | type             |
//! |---------------|------------------|
//! | per process   | [`GpuContext`]   |
//! | per capacity  | [`GrowBuffer`]   |
//!
//! Everything that draws or computes takes a [`GpuContext`], which is cheap to clone. wgpu's environment variables apply
//! (`WGPU_BACKEND`, `WGPU_POWER_PREF`, `WGPU_ADAPTER_NAME`).
//!
//! # Assumptions of the shaders
//! They run on Vulkan, Direct3D 12 and Metal; those that draw also on OpenGL ES 3.1. `tests/source/shaders` translates every
//! entry point for each.
//!
//! - **Limits** are WebGPU's defaults: eight storage buffers, 16 KiB and 256 threads per workgroup. No optional feature is
//!   needed.
//! - **Memory**: workgroup memory starts as zeros, and accesses beyond a buffer have no effect, as WGSL guarantees.
//! - **Barriers** are in uniform control flow. If a branch depends on a buffer, the value goes through
//!   `workgroupUniformLoad`, even where WGSL accepts the plain read as uniform: Direct3D's older compiler (FXC), which every
//!   Windows has, may not.
//! - **Writes** to vector components and matrix columns use constant indices: FXC supports no others.
//! - **NaN**: Metal and FXC assume that NaN does not occur, so comparisons do not detect it. Checks for NaN and infinity use
//!   bit patterns. `select` and `max` are only used with finite numbers.
//! - **Rounding** is not specified: products and sums may be fused or reordered, denormals may become zero, quotients and
//!   roots may be off by 3 ulp, sines and cosines by 5e-4. Iterations correct their own errors and converge to the same
//!   result; positions agree with the CPU's up to that. The same device gives bit-equal results: sums are taken in a fixed
//!   order, and the only atomics of numbers are minima and maxima; counts are integers.

pub mod actor;
mod buffer;
pub mod collision;
pub mod compute;
mod facts;
pub mod flesh;
mod layout;
mod readback;
pub mod shader;
pub mod surface;
mod waiting;

pub use buffer::GrowBuffer;
pub use facts::{AdapterFacts, ComputeLimits, CopyRate};
pub use layout::{StructLayout, struct_layouts};
pub use readback::read_rgba;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Errors of the graphics device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter.
    #[error(
        "no graphics adapter was found ({reason}); install a Vulkan, Metal, Direct3D 12 or OpenGL driver, or a software one such as lavapipe"
    )]
    NoAdapter {
        /// What wgpu reported.
        reason: String,
    },
    /// The adapter refused to open a device.
    #[error("the graphics adapter \"{adapter}\" could not be opened: {reason}")]
    NoDevice {
        /// Its name.
        adapter: String,
        /// What wgpu reported.
        reason: String,
    },
    /// A picture is larger than the device can draw, or has no pixels.
    #[error(
        "a picture of {width} x {height} pixels cannot be drawn; expected 1 to {limit} pixels on each side"
    )]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
        /// The device's limit.
        limit: u32,
    },
    /// The adapter has no compute shaders, or too small limits for them.
    #[error(
        "the graphics adapter \"{adapter}\" computes too little: it has {has} {what}, and {needed} are needed"
    )]
    NoCompute {
        /// Its name.
        adapter: String,
        /// The limit that is too small.
        what: &'static str,
        /// Its value.
        has: u32,
        /// The required value.
        needed: u32,
    },
    /// The device is out of memory, or the driver rejected a shader.
    #[error("the graphics device does not take it: {reason}")]
    Refused {
        /// wgpu's message, in one line.
        reason: String,
    },
    /// The device was lost or a result could not be mapped.
    #[error("the graphics device gave nothing back: {reason}")]
    Readback {
        /// What wgpu reported.
        reason: String,
    },
}

/// Optional features, used if the adapter has them.
const OPTIONAL: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);

/// Largest number of storage buffers in a compute pass.
const STORAGE_BUFFERS: u32 = 8;
/// Largest number of threads in a workgroup.
const THREADS: u32 = 256;
/// Largest workgroup memory in bytes.
const WORKGROUP_BYTES: u32 = 16 << 10;

/// A device with its queue.
#[derive(Debug, Clone)]
pub struct GpuContext {
    /// The instance of the adapter; surfaces must be created by the same instance.
    pub instance: wgpu::Instance,
    /// The adapter behind the device.
    pub adapter: wgpu::Adapter,
    /// The logical device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    lost: Arc<AtomicBool>,
    /// Pipelines compiled for this device.
    kernels: Arc<compute::KernelCache>,
}

impl GpuContext {
    /// A device without a window, for pictures on the command line and for tests. OpenGL is tried last: its libraries write
    /// to stderr where there is no display.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] or [`GpuError::NoDevice`].
    pub fn headless() -> Result<Self, GpuError> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env;
        let wanted = descriptor().backends;
        let quiet = wanted - wgpu::Backends::GL;
        if quiet != wanted && !quiet.is_empty() {
            let first = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: quiet,
                ..descriptor()
            });
            if let Ok(context) = Self::request(first, None) {
                return Ok(context);
            }
        }
        Self::request(wgpu::Instance::new(descriptor()), None)
    }

    /// A device that can present to `surface`, which was made by `instance`.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] or [`GpuError::NoDevice`].
    pub fn for_surface(
        instance: wgpu::Instance,
        surface: &wgpu::Surface<'_>,
    ) -> Result<Self, GpuError> {
        Self::request(instance, Some(surface))
    }

    /// Checks that the device's limits allow the compute passes.
    ///
    /// # Errors
    /// [`GpuError::NoCompute`] if not.
    pub(crate) fn check_compute(&self) -> Result<(), GpuError> {
        let limits = self.device.limits();
        let computes = self
            .adapter
            .get_downlevel_capabilities()
            .flags
            .contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
        let needs = [
            ("compute shaders", u32::from(computes), 1),
            (
                "storage buffers in a shader",
                limits.max_storage_buffers_per_shader_stage,
                STORAGE_BUFFERS,
            ),
            (
                "threads in a workgroup",
                limits
                    .max_compute_invocations_per_workgroup
                    .min(limits.max_compute_workgroup_size_x),
                THREADS,
            ),
            (
                "bytes of memory in a workgroup",
                limits.max_compute_workgroup_storage_size,
                WORKGROUP_BYTES,
            ),
        ];
        match needs.into_iter().find(|&(_, has, needed)| has < needed) {
            None => Ok(()),
            Some((what, has, needed)) => Err(GpuError::NoCompute {
                adapter: self.adapter.get_info().name,
                what,
                has,
                needed,
            }),
        }
    }

    /// Runs work that the device may reject: creating buffers and pipelines, or submitting. Errors reported meanwhile become
    /// the result; resources created by failed work must not be used.
    ///
    /// # Errors
    /// [`GpuError::Refused`] with the first error.
    pub(crate) fn attempt<T>(&self, work: impl FnOnce() -> T) -> Result<T, GpuError> {
        // One scope per kind of error; popped in reverse order, also after a panic.
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let made = work();
        let internal = pollster::block_on(internal.pop());
        let memory = pollster::block_on(memory.pop());
        let validation = pollster::block_on(validation.pop());
        // Running out of memory causes validation errors: report the cause first.
        let Some(error) = memory.or(internal).or(validation) else {
            return Ok(made);
        };
        log::warn!("graphics: {error}");
        Err(GpuError::Refused {
            reason: in_a_line(&error),
        })
    }

    fn request(
        instance: wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
    ) -> Result<Self, GpuError> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::from_env()
                .unwrap_or(wgpu::PowerPreference::HighPerformance),
            compatible_surface: surface,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options)).map_err(|error| {
            GpuError::NoAdapter {
                reason: error.to_string(),
            }
        })?;
        // WebGPU's default limits, lowered to the adapter's where they are lower, with the adapter's own picture and buffer
        // sizes.
        let offered = adapter.limits();
        let limits = wgpu::Limits {
            max_buffer_size: offered.max_buffer_size,
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
                .or_worse_values_from(&offered)
                .using_resolution(offered.clone())
        };
        Self::open(instance, adapter, limits, surface.is_some())
    }

    fn open(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        limits: wgpu::Limits,
        has_window: bool,
    ) -> Result<Self, GpuError> {
        let required_features = adapter.features() & OPTIONAL;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_limits: limits,
            required_features,
            ..Default::default()
        };
        let (device, queue) =
            pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
                GpuError::NoDevice {
                    adapter: adapter.get_info().name,
                    reason: error.to_string(),
                }
            })?;
        let lost = watch(&device, has_window);
        Ok(Self {
            instance,
            adapter,
            device,
            queue,
            lost,
            kernels: Arc::default(),
        })
    }

    /// Whether the device is lost: unplugged, reset by its driver, or overloaded. It cannot be used any more.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Simulates a device loss, for tests.
    pub fn simulate_loss(&self) {
        // Another thread may use the device at this moment: its errors are those of a lost one.
        self.lost.store(true, Ordering::Release);
        self.device.destroy();
        // The loss is reported at the next poll.
        let _ = self.device.poll(wgpu::PollType::Poll);
    }

    /// Whether both are the same device, so that resources can be shared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        // wgpu compares numbers that are unique per instance only, so devices of two instances may compare equal.
        Arc::ptr_eq(&self.lost, &other.lost)
    }

    /// Whether the adapter is a software renderer, where every pass is slow.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// A description of the adapter, for logs and reports.
    #[must_use]
    pub fn description(&self) -> String {
        let info = self.adapter.get_info();
        format!("{} ({:?}, {:?})", info.name, info.device_type, info.backend)
    }

    /// Checks that a picture of this size can be drawn.
    ///
    /// # Errors
    /// [`GpuError::Size`] if not.
    pub fn check_size(&self, width: u32, height: u32) -> Result<(), GpuError> {
        let limit = self.device.limits().max_texture_dimension_2d;
        if width == 0 || height == 0 || width > limit || height > limit {
            return Err(GpuError::Size {
                width,
                height,
                limit,
            });
        }
        Ok(())
    }
}

/// Sets the returned flag when the device is lost, and keeps device errors from ending the program: all of them if there is
/// a window, otherwise those caused by the loss.
fn watch(device: &wgpu::Device, has_window: bool) -> Arc<AtomicBool> {
    let lost = Arc::new(AtomicBool::new(false));
    let flag = lost.clone();
    device.set_device_lost_callback(move |reason, words| {
        if reason != wgpu::DeviceLostReason::Destroyed || !flag.load(Ordering::Acquire) {
            log::warn!("the graphics device is lost ({reason:?}): {words}");
        }
        flag.store(true, Ordering::Release);
    });
    let flag = lost.clone();
    device.on_uncaptured_error(Arc::new(move |error| {
        log::error!("graphics: {error}");
        assert!(
            has_window || flag.load(Ordering::Acquire),
            "the graphics device complains: {error}"
        );
    }));
    lost
}

/// The first lines say where it happened and the innermost why; excerpts of shader source are left out.
fn in_a_line(error: &wgpu::Error) -> String {
    let text = error.to_string();
    let mut lines = text
        .lines()
        .rev()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.contains(['│', '┌', '╵', '=']));
    lines
        .next()
        .unwrap_or("it does not say why")
        .trim_end_matches('.')
        .to_owned()
}

/// Whether a missing adapter must fail a test rather than skip it (`SINEW_REQUIRE_GPU=1`).
#[must_use]
pub fn is_required() -> bool {
    std::env::var_os("SINEW_REQUIRE_GPU").is_some_and(|value| !value.is_empty() && value != "0")
}

/// A device for tests. Without one the test fails if one is required; otherwise it is skipped with a message.
#[cfg(test)]
pub(crate) fn for_tests() -> Option<GpuContext> {
    match GpuContext::headless() {
        Ok(gpu) => Some(gpu),
        Err(error) if is_required() => panic!("SINEW_REQUIRE_GPU is set, but {error}"),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests;
