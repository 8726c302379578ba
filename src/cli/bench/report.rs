//! The report of `sinew bench`, as text and as JSON.

use serde::Serialize;

use super::FrameSample;
use super::gpu::DeviceReport;
use super::limits::IterationReport;
use crate::cli::calibration::Calibration;
use crate::dynamics::Params;
use crate::methods::{MethodId, Requirement, StepTimes, Subject};
use crate::report::cpu_name;

/// The whole report.
#[derive(Debug, Serialize)]
pub(super) struct BenchReport {
    pub(super) machine: Machine,
    pub(super) character: CharacterSize,
    pub(super) method: MethodId,
    pub(super) setup_ms: Setup,
    pub(super) step: StepCost,
    /// Absent for methods without simulation.
    pub(super) iteration: Option<IterationReport>,
    pub(super) frame: FrameReport,
    pub(super) device: DeviceReport,
    pub(super) memory_mb: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Machine {
    cpu: String,
    threads: usize,
    #[serde(flatten)]
    calibration: Calibration,
}

#[derive(Debug, Serialize)]
pub(super) struct CharacterSize {
    pub(super) name: String,
    pub(super) source_vertices: usize,
    pub(super) simulated_vertices: usize,
    pub(super) tets: usize,
    pub(super) unknowns: usize,
}

impl CharacterSize {
    /// For methods without simulation only source vertices are counted.
    pub(super) fn of(subject: &Subject, method: MethodId) -> Self {
        let flesh = subject
            .flesh_if_made()
            .and_then(Result::ok)
            .filter(|_| method.needs(Requirement::Tissue));
        Self {
            name: subject.character.name.clone(),
            source_vertices: subject.character.source_vertices(),
            simulated_vertices: subject.sim().mesh.positions.len(),
            tets: flesh.map_or(0, |flesh| flesh.tissue.quality.tets),
            unknowns: flesh.map_or(0, |flesh| flesh.system.unknowns()),
        }
    }
}

/// Set-up times in milliseconds.
#[derive(Debug, Default, Serialize)]
pub(super) struct Setup {
    pub(super) load: f64,
    pub(super) weld: f64,
    pub(super) reduce: f64,
    pub(super) tissue: f64,
    /// While the tissue is made.
    pub(super) upsample: f64,
    pub(super) bind: f64,
    pub(super) total: f64,
}

/// One simulation step: prediction, iterations, velocities. For methods without a simulation: moving the vertices.
#[derive(Debug, Serialize)]
pub(super) struct StepCost {
    iterations: u32,
    acceleration: u32,
    threads: usize,
    steps: usize,
    median_ms: f64,
    p99_ms: f64,
    /// Total local time of a step, median; global likewise. By the device's clock if a device computes the steps; absent if
    /// it has none.
    pub(super) local_ms: Option<f64>,
    pub(super) global_ms: Option<f64>,
    /// Total iterations of all steps; fewer than requested if there is a time budget.
    #[serde(skip)]
    pub(super) done: u32,
    /// As in [`FrameReport`]; not part of a step.
    anchors_ms: f64,
    normals_ms: f64,
}

/// From the clock's time to positions and normals: pose, anchors, step, upsampling, normals. Medians.
#[derive(Debug, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "the unit is part of the names in the report"
)]
pub(super) struct FrameReport {
    median_ms: f64,
    p99_ms: f64,
    pose_ms: f64,
    anchors_ms: f64,
    step_ms: f64,
    upsampling_ms: f64,
    normals_ms: f64,
}

/// The value at a quantile.
pub(super) fn quantile(
    frames: &[FrameSample],
    part: f64,
    value: impl Fn(&FrameSample) -> f64,
) -> f64 {
    let mut values: Vec<f64> = frames.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values
        .get((values.len() as f64 * part) as usize)
        .or(values.last())
        .copied()
        .unwrap_or(0.0)
}

impl StepCost {
    pub(super) fn of(frames: &[FrameSample], params: &Params, threads: usize) -> Self {
        let per_step = |part: fn(&StepTimes) -> f64| {
            move |frame: &FrameSample| part(&frame.times) / f64::from(frame.times.steps.max(1))
        };
        Self {
            iterations: params.iterations,
            acceleration: params.acceleration,
            threads,
            steps: frames.len(),
            median_ms: quantile(frames, 0.5, per_step(|t| t.step_ms)),
            p99_ms: quantile(frames, 0.99, per_step(|t| t.step_ms)),
            local_ms: Some(quantile(frames, 0.5, per_step(|t| t.local_ms))),
            global_ms: Some(quantile(frames, 0.5, per_step(|t| t.global_ms))),
            done: frames.iter().map(|frame| frame.times.iterations).sum(),
            anchors_ms: quantile(frames, 0.5, per_step(|t| t.anchors_ms)),
            normals_ms: quantile(frames, 0.5, per_step(|t| t.normals_ms)),
        }
    }
}

impl FrameReport {
    pub(super) fn of(frames: &[FrameSample]) -> Self {
        let all = |frame: &FrameSample| frame.pose_ms + frame.times.total_ms;
        Self {
            median_ms: quantile(frames, 0.5, all),
            p99_ms: quantile(frames, 0.99, all),
            pose_ms: quantile(frames, 0.5, |frame| frame.pose_ms),
            anchors_ms: quantile(frames, 0.5, |frame| frame.times.anchors_ms),
            step_ms: quantile(frames, 0.5, |frame| frame.times.step_ms),
            upsampling_ms: quantile(frames, 0.5, |frame| frame.times.upsampling_ms),
            normals_ms: quantile(frames, 0.5, |frame| frame.times.normals_ms),
        }
    }
}

impl BenchReport {
    /// The report as text.
    pub(super) fn lines(&self) -> Vec<String> {
        let Self {
            machine,
            character,
            setup_ms,
            step,
            frame,
            ..
        } = self;
        let ms = |name: &str, ms: f64| format!("  {name:9}{ms:9.3} ms");
        let mut lines = machine.lines().to_vec();
        lines.extend([
            format!("character  {}, method {}", character.name, self.method.id()),
            format!(
                "           {} source vertices, {} simulated, {} tets, {} unknowns",
                character.source_vertices,
                character.simulated_vertices,
                character.tets,
                character.unknowns
            ),
            format!("set-up     {:9.2} ms", setup_ms.total),
            format!("  load     {:9.2} ms", setup_ms.load),
            format!("  weld     {:9.2} ms", setup_ms.weld),
            format!("  reduce   {:9.2} ms", setup_ms.reduce),
            format!("  tissue   {:9.2} ms", setup_ms.tissue),
            format!(
                "  upsample {:9.2} ms (beside the tissue)",
                setup_ms.upsample
            ),
            format!("  bind     {:9.2} ms", setup_ms.bind),
            format!(
                "step       {:9.3} ms (median of {}, {} iterations)",
                step.median_ms, step.steps, step.iterations
            ),
            ms("slowest", step.p99_ms) + " (99 %)",
        ]);
        let elsewhere = self.device.is_gpu();
        if !elsewhere {
            lines.extend(step.local_ms.map(|local| ms("local", local)));
            lines.extend(step.global_ms.map(|global| ms("global", global)));
        }
        lines.extend(self.iteration.iter().flat_map(IterationReport::lines));
        lines.extend([
            format!("frame      {:9.3} ms (median)", frame.median_ms),
            ms("slowest", frame.p99_ms) + " (99 %)",
            ms("pose", frame.pose_ms),
            ms("anchors", frame.anchors_ms),
            ms("step", frame.step_ms),
        ]);
        if !elsewhere {
            lines.extend([
                ms("upsample", frame.upsampling_ms),
                ms("normals", frame.normals_ms),
            ]);
        }
        lines.extend(self.device.lines());
        lines.extend([format!("memory     {:9.1} MB at most", self.memory_mb)]);
        lines
    }
}

impl Machine {
    pub(super) fn new(threads: usize, calibration: Calibration) -> Self {
        Self {
            cpu: cpu_name(),
            threads,
            calibration,
        }
    }

    fn lines(&self) -> [String; 3] {
        let Calibration {
            l2_read_gb_s,
            l3_read_gb_s,
            memory_read_gb_s,
            f32_fma_gflop_s,
            caches,
        } = self.calibration;
        let (l2_mb, l3_mb) = (
            caches.l2_bytes as f64 / f64::from(1 << 20),
            caches.l3_bytes as f64 / f64::from(1 << 20),
        );
        [
            format!("machine    {}, {} threads", self.cpu, self.threads),
            format!(
                "           a thread reads {l2_read_gb_s:.1} GB/s from L2 ({l2_mb:.1} MiB), {l3_read_gb_s:.1} from L3 ({l3_mb:.0} MiB),"
            ),
            format!(
                "           {memory_read_gb_s:.1} from memory; {f32_fma_gflop_s:.1} GFLOP/s of f32 FMA"
            ),
        ]
    }
}

/// Peak memory of this process, 0 if the system does not report it.
pub(super) fn peak_memory_mb() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = told
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<f64>().ok())
        .map_or(0.0, |kilobytes| kilobytes / 1024.0)
}
