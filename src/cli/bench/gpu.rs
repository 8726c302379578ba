//! What `sinew bench` says of the device that simulates.

use serde::Serialize;

use super::Measured;
use super::report::quantile;
use crate::cli::options::Options;
use crate::cli::{Failure, Outcome, stderr};
use crate::gpu::GpuContext;
use crate::gpu::actor;
use crate::gpu::actor::{DeviceChoice, Verdict, verdict};
use crate::skin::{Actor, DeviceTimes, Method};

/// What simulates, and what it did.
#[derive(Debug, Serialize)]
pub(super) struct DeviceReport {
    runs: DeviceChoice,
    why: String,
    adapter: Option<String>,
    /// What was measured to decide, with frames that are not waited for.
    measured: Option<actor::Measured>,
    /// Compute passes of a step, with that of the base…
    passes_step: usize,
    /// …and those of the surface, once a frame.
    passes_surface: usize,
    /// Constants of global steps and of the surface; instances share them.
    constant_bytes: u64,
    /// Medians by the device's own clock; nothing where it has none.
    stages_ms: Option<DeviceTimes>,
}

/// Decides what simulates; the actor then does.
pub(super) fn choose(bound: &mut Actor, method: Method, options: &Options) -> Result<Option<DeviceReport>, Failure> {
    if !method.is_simulated() {
        return Ok(None);
    }
    let choice = options.device.unwrap_or_default();
    let gpu = if choice == DeviceChoice::Cpu { None } else { Some(stderr::without_wayland_noise(GpuContext::headless)) };
    let told = gpu.as_ref().map_or_else(|| Err(String::new()), |gpu| gpu.as_ref().map_err(ToString::to_string));
    let Verdict { device, measured, why } = verdict(choice, told.as_ref().copied().map_err(String::as_str), bound);
    if choice == DeviceChoice::Gpu && device.is_none() {
        return refuse(&why);
    }
    let adapter = told.ok().map(GpuContext::description);
    let runs = if device.is_some() { DeviceChoice::Gpu } else { DeviceChoice::Cpu };
    let mut report = DeviceReport { runs, why, adapter, measured, passes_step: 0, passes_surface: 0, constant_bytes: 0, stages_ms: None };
    if let Some(mut device) = device {
        device.set_profiled(true);
        (report.passes_step, report.passes_surface) = device.passes();
        report.constant_bytes = device.constant_bytes();
        bound.set_device(Some(device));
    }
    bound.reset();
    Ok(Some(report))
}

fn refuse(why: &str) -> Result<Option<DeviceReport>, Failure> {
    let refused: Outcome = Err(Failure::Undone(format!("--device gpu: {why}")));
    refused.map(|()| None)
}

impl DeviceReport {
    /// Whether it is the graphics device that simulates.
    pub(super) fn simulates(&self) -> bool {
        self.runs == DeviceChoice::Gpu
    }

    /// With what the frames took.
    pub(super) fn with(mut self, frames: &[Measured]) -> Self {
        let median = |of: fn(&DeviceTimes) -> f64| quantile(frames, 0.5, |frame| of(&frame.times.device));
        let times = DeviceTimes {
            anchors_ms: median(|t| t.anchors_ms),
            step_ms: median(|t| t.step_ms),
            local_ms: median(|t| t.local_ms),
            global_ms: median(|t| t.global_ms),
            surface_ms: median(|t| t.surface_ms),
            total_ms: median(|t| t.total_ms),
        };
        self.stages_ms = (times.total_ms > 0.0).then_some(times);
        self
    }

    /// The report for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("device     {}", self.why)];
        if self.runs == DeviceChoice::Gpu {
            let megabytes = self.constant_bytes as f64 / 1e6;
            let passes = format!("{} passes a step, {} a frame after it", self.passes_step, self.passes_surface);
            lines.push(format!("           {passes}; {megabytes:.1} MB of constants"));
        }
        lines.extend(self.stages_ms.iter().flat_map(stage_lines));
        lines
    }
}

/// The stages of a frame for people.
pub(super) fn stage_lines(times: &DeviceTimes) -> [String; 6] {
    let stage = |name: &str, ms: f64| format!("  {name:9}{ms:9.3} ms (on the device)");
    [
        stage("anchors", times.anchors_ms),
        stage("local", times.local_ms),
        stage("global", times.global_ms),
        stage("step", times.step_ms),
        stage("surface", times.surface_ms),
        stage("all", times.total_ms),
    ]
}
