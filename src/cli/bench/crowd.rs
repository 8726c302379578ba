//! `sinew bench --crowd`: many instances of one character.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::Bench;
use super::gpu::stage_lines;
use super::report::CharacterSize;
use crate::cli::options::Options;
use crate::cli::{CommandResult, Failure, crowd, print_json, print_lines, stderr};
use crate::dynamics::Params;
use crate::gpu::GpuContext;
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
pub(super) struct CrowdReport {
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
        let amount = Amount {
            frames: self.steps,
            longest: None,
        };
        measured(&gpu, actor, count, amount, start, progress)
    }
}

/// How much to measure: so many frames, or fewer in so much time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount {
    pub(super) frames: u32,
    pub(super) longest: Option<Duration>,
}

/// Measures a crowd of what an actor is bound to, whose setting up began at that time.
pub(super) fn measured(
    gpu: &GpuContext,
    actor: Actor,
    count: usize,
    amount: Amount,
    start: Instant,
    progress: &Progress,
) -> Result<CrowdReport, Failure> {
    let (subject, method) = (actor.subject().clone(), actor.method());
    let step_secs = actor.projective().map_or_else(
        || Params::default().time_step_secs,
        |flesh| flesh.simulation().params().time_step_secs,
    );
    let motion = CrowdMotion::new(&subject, Motion::Rest, count);
    let mut crowd = GpuCrowd::new(gpu, actor, motion.places())
        .map_err(|error| Failure::Undone(format!("--crowd {count}: {error}")))?;
    let setup_ms = since(start);
    let start = Instant::now();
    let poses = |frame: u32| motion.poses_at(&subject.character, f64::from(frame) * step_secs);
    crowd.advance(&poses(0), 0.0)?;
    let settle_ms = since(start);
    let mut frame = 0;
    let mut next = |crowd: &mut GpuCrowd| {
        frame += 1;
        crowd.advance(&poses(frame), step_secs)
    };
    for _ in 0..WARM_UP {
        next(&mut crowd)?;
        crowd.present()?;
    }
    crowd.wait()?;
    let start = Instant::now();
    let (mut frames, mut processor_ms) = (0, 0.0);
    let is_late = || {
        amount
            .longest
            .is_some_and(|longest| start.elapsed() > longest)
    };
    while frames < amount.frames && (frames == 0 || !is_late()) {
        progress.report(frames as f32 / amount.frames as f32, "Stepping");
        let begin = Instant::now();
        next(&mut crowd)?;
        processor_ms += since(begin);
        crowd.present()?;
        frames += 1;
    }
    crowd.wait()?;
    let frame_ms = since(start) / f64::from(frames);
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
        character: CharacterSize::of(&subject, method),
        method,
        state_bytes: size.instance_bytes * count as u64,
        crowd: size,
        solver: crowd.solver_reason().map(str::to_owned),
        collisions: false,
        setup_ms,
        settle_ms,
        frames,
        frames_per_s: 1e3 / frame_ms.max(1e-6),
        frame_ms,
        processor_ms: processor_ms / f64::from(frames),
        stages_ms: medians(&profiled),
        recovered: crowd.recovered(),
    })
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The median of every stage; `None` if nothing was measured.
pub(super) fn medians(times: &[DeviceTimes]) -> Option<DeviceTimes> {
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
    /// The report in one line.
    pub(super) fn line(&self) -> String {
        let stages = self.stages_ms.map_or_else(String::new, |ms| {
            format!(
                "; device {:.3} ms: base {:.3}, local {:.3}, global {:.3}, surface {:.3}",
                ms.total_ms, ms.anchors_ms, ms.local_ms, ms.global_ms, ms.surface_ms
            )
        });
        format!(
            "{:4} characters {:8.1} frames/s, {:.3} ms a frame, processor {:.3} ms, {} passes a step{stages}; {:.1} MB of state",
            self.crowd.instances,
            self.frames_per_s,
            self.frame_ms,
            self.processor_ms,
            self.crowd.passes_step,
            self.state_bytes as f64 / 1e6
        )
    }

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
