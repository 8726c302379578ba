//! The part of `sinew bench` about the device that simulates or skins.

use std::time::Instant;

use serde::Serialize;

use super::FrameSample;
use super::report::quantile;
use crate::cli::options::Options;
use crate::cli::{Failure, stderr};
use crate::gpu::GpuContext;
use crate::gpu::actor;
use crate::gpu::actor::{DeviceChoice, DeviceDecision, decide_device};
use crate::methods::{Actor, DeviceTimes};

/// The device and its statistics.
#[derive(Debug, Serialize)]
pub(super) struct DeviceReport {
    runs: DeviceChoice,
    why: String,
    adapter: Option<String>,
    /// The measurement that decided, with frames that are not waited for.
    measured: Option<actor::Measured>,
    /// Compute passes of a step, including the base.
    passes_step: usize,
    /// Compute passes of the surface, once per frame.
    passes_surface: usize,
    /// Constants of global steps and of the surface; instances share them.
    constant_bytes: u64,
    /// Set-up: the adapter, kernels, constants, and the deciding measurement.
    setup_ms: f64,
    /// CPU time per frame, median: uploads, encoding, submission; without contact detection and waiting.
    host_ms: f64,
    /// Medians by the device's clock; absent if it has none.
    stages_ms: Option<DeviceTimes>,
}

/// Chooses the device that simulates or skins, and gives it to the actor.
pub(super) fn choose(bound: &mut Actor, options: &Options) -> Result<DeviceReport, Failure> {
    let start = Instant::now();
    let choice = options.device.unwrap_or_default();
    let gpu = if choice == DeviceChoice::Cpu {
        None
    } else {
        Some(stderr::without_wayland_errors(GpuContext::headless))
    };
    let opened = gpu.as_ref().map_or_else(
        || Err(String::new()),
        |gpu| gpu.as_ref().map_err(ToString::to_string),
    );
    let DeviceDecision {
        device,
        measured,
        why,
    } = decide_device(
        choice,
        opened.as_ref().copied().map_err(String::as_str),
        bound,
    );
    if choice == DeviceChoice::Gpu && device.is_none() {
        return Err(Failure::Undone(format!("--device gpu: {why}")));
    }
    let adapter = opened.ok().map(GpuContext::description);
    let runs = if device.is_some() {
        DeviceChoice::Gpu
    } else {
        DeviceChoice::Cpu
    };
    let setup_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut report = DeviceReport {
        runs,
        why,
        adapter,
        measured,
        passes_step: 0,
        passes_surface: 0,
        constant_bytes: 0,
        setup_ms,
        host_ms: 0.0,
        stages_ms: None,
    };
    if let Some(mut device) = device {
        device.set_profiled(true);
        (report.passes_step, report.passes_surface) = device.passes();
        report.constant_bytes = device.constant_bytes();
        device.give_to(bound);
    }
    bound.reset();
    Ok(report)
}

impl DeviceReport {
    /// Whether the graphics device is used.
    pub(super) fn is_gpu(&self) -> bool {
        self.runs == DeviceChoice::Gpu
    }

    /// Medians of the total local and global time of a step.
    pub(super) fn local_and_global_ms(&self) -> [Option<f64>; 2] {
        [
            self.stages_ms.map(|times| times.local_ms),
            self.stages_ms.map(|times| times.global_ms),
        ]
    }

    /// Adds the times of the frames.
    pub(super) fn with(mut self, frames: &[FrameSample]) -> Self {
        let median =
            |of: fn(&DeviceTimes) -> f64| quantile(frames, 0.5, |frame| of(&frame.times.device));
        let times = DeviceTimes {
            anchors_ms: median(|t| t.anchors_ms),
            step_ms: median(|t| t.step_ms),
            local_ms: median(|t| t.local_ms),
            global_ms: median(|t| t.global_ms),
            contacts_ms: median(|t| t.contacts_ms),
            surface_ms: median(|t| t.surface_ms),
            total_ms: median(|t| t.total_ms),
        };
        self.stages_ms = (times.total_ms > 0.0).then_some(times);
        self.host_ms = quantile(frames, 0.5, |frame| frame.times.host_ms);
        self
    }

    /// The report as text.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("device     {}", self.why)];
        if self.runs == DeviceChoice::Gpu {
            let megabytes = self.constant_bytes as f64 / 1e6;
            let passes = match (self.passes_step, self.passes_surface) {
                (0, surface) => format!("{surface} passes a frame"),
                (step, surface) => format!("{step} passes a step, {surface} a frame after it"),
            };
            lines.push(format!(
                "           {passes}; {megabytes:.1} MB of constants"
            ));
            lines.push(format!("  set-up {:12.2} ms", self.setup_ms));
            lines.push(format!(
                "  host     {:9.3} ms (a frame: uploads, encoding, submission)",
                self.host_ms
            ));
        }
        lines.extend(self.stages_ms.iter().flat_map(stage_lines));
        lines
    }
}

/// The stages of a frame as text.
pub(super) fn stage_lines(times: &DeviceTimes) -> [String; 7] {
    let stage = |name: &str, ms: f64| format!("  {name:9}{ms:9.3} ms (on the device)");
    [
        stage("anchors", times.anchors_ms),
        stage("local", times.local_ms),
        stage("global", times.global_ms),
        stage("contacts", times.contacts_ms),
        stage("step", times.step_ms),
        stage("surface", times.surface_ms),
        stage("all", times.total_ms),
    ]
}
