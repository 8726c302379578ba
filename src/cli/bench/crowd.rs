//! `sinew bench --crowd`: many instances of one character.

use std::time::Instant;

use serde::Serialize;

use super::Bench;
use super::gpu::stage_lines;
use super::report::CharacterSize;
use crate::cli::options::Options;
use crate::cli::{CommandResult, Failure, crowd, print_json, print_lines, stderr};
use crate::gpu::actor::{CrowdSize, GpuCrowd};
use crate::methods::{Actor, DeviceTimes, MethodId};
use crate::progress::Progress;
use crate::session::{CrowdMotion, Motion, open_with};

/// Warm-up frames before measuring.
const WARM_UP: u32 = 3;
/// Frames whose passes are measured individually.
const PROFILED: u32 = 9;

/// Resources and speed of a crowd.
#[derive(Debug, Serialize)]
struct CrowdReport {
    adapter: String,
    character: CharacterSize,
    method: MethodId,
    crowd: CrowdSize,
    /// Of all instances.
    state_bytes: u64,
    /// The global solver; absent for methods that do not simulate.
    solver: Option<String>,
    /// Whether collisions are on; always false in a crowd.
    collisions: bool,
    /// Loading, binding, uploading.
    setup_ms: f64,
    /// Settling all instances in the first pose.
    settle_ms: f64,
    frames: u32,
    /// Of one step each, without drawing.
    frames_per_s: f64,
    frame_ms: f64,
    /// Of these: CPU time for joint and bone transforms, concurrent with the device.
    processor_ms: f64,
    /// Medians by the device's clock; absent if it has none.
    stages_ms: Option<DeviceTimes>,
    /// Number of instances that were settled again because they diverged or jumped.
    recovered: usize,
}

impl Bench {
    /// Measures a crowd.
    pub(super) fn run_crowd(&self, count: usize, options: &Options) -> CommandResult {
        let report = stderr::with_progress(options, "Measuring", |progress| {
            self.measure_crowd(count, options, progress)
        })?;
        if self.json {
            return print_json(&report);
        }
        print_lines(report.lines())
    }

    fn measure_crowd(
        &self,
        count: usize,
        options: &Options,
        progress: &Progress,
    ) -> Result<CrowdReport, Failure> {
        let gpu = crowd::device(options)?;
        let start = Instant::now();
        let source = self.character.source(options);
        let subject = open_with(&source, &options.cache(), progress)?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let params = options.with_saved(saved.as_ref()).params_for(&subject);
        let actor = Actor::bind(&subject, self.method, &params, progress)
            .map_err(|error| Failure::Undone(format!("{source}: {error}")))?;
        let motion = CrowdMotion::new(&subject, Motion::Rest, count);
        let mut crowd = GpuCrowd::new(&gpu, actor, motion.places())
            .map_err(|error| Failure::Undone(format!("--crowd {count}: {error}")))?;
        let setup_ms = since(start);
        let start = Instant::now();
        let poses = |frame: u32| {
            motion.poses_at(&subject.character, f64::from(frame) * params.time_step_secs)
        };
        crowd.advance(&poses(0), 0.0)?;
        let settle_ms = since(start);
        let mut frame = 0;
        let mut next = |crowd: &mut GpuCrowd| {
            frame += 1;
            crowd.advance(&poses(frame), params.time_step_secs)
        };
        for _ in 0..WARM_UP {
            next(&mut crowd)?;
            crowd.present()?;
        }
        crowd.wait()?;
        let start = Instant::now();
        let mut processor_ms = 0.0;
        for step in 0..self.steps {
            progress.report(step as f32 / self.steps as f32, "Stepping");
            let begin = Instant::now();
            next(&mut crowd)?;
            processor_ms += since(begin);
            crowd.present()?;
        }
        crowd.wait()?;
        let frame_ms = since(start) / f64::from(self.steps);
        let mut profiled = Vec::new();
        for _ in 0..PROFILED {
            next(&mut crowd)?;
            let Some(times) = crowd.present_measured()? else {
                break;
            };
            profiled.push(times);
        }
        let size = crowd.size();
        Ok(CrowdReport {
            adapter: gpu.description(),
            character: CharacterSize::of(&subject, self.method),
            method: self.method,
            state_bytes: size.instance_bytes * count as u64,
            crowd: size,
            solver: crowd.solver_reason().map(str::to_owned),
            collisions: false,
            setup_ms,
            settle_ms,
            frames: self.steps,
            frames_per_s: 1e3 / frame_ms.max(1e-6),
            frame_ms,
            processor_ms: processor_ms / f64::from(self.steps),
            stages_ms: medians(&profiled),
            recovered: crowd.recovered(),
        })
    }
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn medians(times: &[DeviceTimes]) -> Option<DeviceTimes> {
    let median = |of: fn(&DeviceTimes) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    (!times.is_empty()).then(|| DeviceTimes {
        anchors_ms: median(|t| t.anchors_ms),
        step_ms: median(|t| t.step_ms),
        local_ms: median(|t| t.local_ms),
        global_ms: median(|t| t.global_ms),
        contacts_ms: median(|t| t.contacts_ms),
        surface_ms: median(|t| t.surface_ms),
        total_ms: median(|t| t.total_ms),
    })
}

impl CrowdReport {
    fn lines(&self) -> Vec<String> {
        let Self {
            crowd, character, ..
        } = self;
        let CrowdSize {
            instances,
            passes_step,
            passes_surface,
            bytes_up_step,
            ..
        } = *crowd;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let mut lines = vec![
            format!("device     {}", self.adapter),
            format!(
                "crowd      {instances} of {}, method {}; nothing collides",
                character.name,
                self.method.id()
            ),
            format!(
                "           {} source vertices, {} simulated each",
                character.source_vertices, character.simulated_vertices
            ),
            format!(
                "           {:.1} MB of constants, {:.1} MB of state ({:.2} each), {:.2} MB up a step",
                megabytes(crowd.constant_bytes),
                megabytes(self.state_bytes),
                megabytes(crowd.instance_bytes),
                megabytes(bytes_up_step as u64)
            ),
            format!(
                "           {passes_step} passes a step, {passes_surface} a frame after it, however many there are"
            ),
        ];
        lines.extend(
            self.solver
                .iter()
                .map(|solver| format!("           {solver}")),
        );
        lines.extend([
            format!("set-up     {:9.2} ms", self.setup_ms),
            format!("settling   {:9.2} ms", self.settle_ms),
            format!(
                "frame      {:9.3} ms, {:.1} frames/s ({} frames of one step, not drawn)",
                self.frame_ms, self.frames_per_s, self.frames
            ),
            format!(
                "  {:9}{:9.3} ms (while the device works)",
                "processor", self.processor_ms
            ),
        ]);
        lines.extend(self.stages_ms.iter().flat_map(stage_lines));
        if self.recovered > 0 {
            lines.push(format!(
                "recovered  {} times one was settled anew",
                self.recovered
            ));
        }
        lines
    }
}
