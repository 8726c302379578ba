//! `sinew bench`: the time of every stage on this machine, compared with the machine's limits.

mod crowd;
mod gpu;
mod limits;
mod report;
mod suite;

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;

use self::gpu::DeviceReport;
use self::limits::IterationReport;
use self::report::{
    BenchReport, CharacterSize, FrameReport, Machine, Setup, StepCost, peak_memory_mb,
};
use self::suite::Scale;
use super::calibration::Calibration;
use super::options::{CharacterOptions, Options, method_help, parse_method};
use super::weights::WeightsOption;
use super::{CommandResult, Failure, print_json, print_lines, stderr};
use crate::cache::Cache;
use crate::dynamics::Params;
use crate::math::{Affine, Quat, Vec64};
use crate::methods::{Actor, Frame, MethodId, SetupTimes, StepTimes, Subject};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::session::{Source, load, set_rotation_from_rest};

/// Warm-up steps before measuring.
const WARM_UP: usize = 30;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Bench {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, value_parser = parse_method, default_value = "pd", help = method_help(""))]
    method: MethodId,
    #[command(flatten)]
    weights: WeightsOption,
    /// Steps to measure.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    steps: u32,
    /// Measure N instances of the character at once on the graphics device. A crowd has no collisions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    crowd: Option<u32>,
    /// Measure everything about the graphics card (with --device gpu): agreement with the CPU, flesh in several sizes, crowds, the other
    /// methods. At most eight minutes; with --json a line of JSON for every measurement as soon as it is made. --suite=large measures
    /// only the large sizes of flesh; --suite=tiny tries all of it on tiny characters in seconds.
    #[arg(
        long,
        value_name = "full|large|tiny",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full",
        value_parser = Scale::parse,
        conflicts_with_all = ["files", "method", "crowd", "steps"]
    )]
    suite: Option<Scale>,
    /// Print a JSON report.
    #[arg(long)]
    json: bool,
}

/// One measured frame.
#[derive(Debug, Clone, Copy)]
struct FrameSample {
    /// Sampling the motion and computing joint transforms.
    pose_ms: f64,
    /// The actor's times.
    times: StepTimes,
}

impl Bench {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        if let Some(scale) = self.suite {
            return self.run_suite(scale, options);
        }
        if let Some(count) = self.crowd {
            return self.run_crowd(count as usize, options);
        }
        let source = self.character.source(options);
        let report = stderr::with_progress(options, "Measuring", |progress| {
            self.measure(&source, options, progress)
        })?;
        if self.json {
            return print_json(&report);
        }
        print_lines(report.lines())
    }

    fn measure(
        &self,
        source: &Source,
        options: &Options,
        progress: &Progress,
    ) -> Result<BenchReport, Failure> {
        let start = Instant::now();
        let since = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
        let character = Arc::new(load(source, progress)?);
        let load_ms = since(start);
        // The cache is off unless a folder is given, so that all work is measured.
        let cache = if options.cache.is_some() {
            options.cache()
        } else {
            Cache::none()
        };
        let unusable = |error| Failure::Undone(format!("{source}: {error}"));
        let subject = Arc::new(Subject::build_with(character, &cache, progress).map_err(unusable)?);
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let options = &options.with_saved(saved.as_ref());
        let binding = Instant::now();
        let params = options.params_for(&subject);
        let mut actor = Actor::bind(&subject, self.method, &params, progress).map_err(unusable)?;
        let SetupTimes {
            weld_ms,
            weights_ms,
            reduce_ms,
            upsample_ms,
            tissue_ms,
            assemble_ms,
        } = subject.setup();
        let bind_ms = assemble_ms + since(binding);
        let setup_ms = Setup {
            load: load_ms,
            weld: weld_ms + weights_ms,
            reduce: reduce_ms,
            tissue: tissue_ms,
            upsample: upsample_ms,
            bind: bind_ms,
            total: since(start),
        };
        let device = gpu::choose(&mut actor, options)?;
        actor.set_reads_back(false);
        let frames = self.frames(&mut actor, params.time_step_secs, progress)?;
        if let Some(fault) = actor.take_fault() {
            return Err(Failure::Undone(fault.to_string()));
        }
        // Before the calibration allocates its own memory.
        let memory_mb = peak_memory_mb();
        Ok(self.report(
            &subject,
            &params,
            setup_ms,
            &frames,
            memory_mb,
            device.with(&frames),
        ))
    }

    fn report(
        &self,
        subject: &Subject,
        params: &Params,
        setup_ms: Setup,
        frames: &[FrameSample],
        memory_mb: f64,
        device: DeviceReport,
    ) -> BenchReport {
        let threads = rayon::current_num_threads();
        let calibration = Calibration::measure();
        let mut step = StepCost::of(frames, params, threads);
        if device.is_gpu() {
            [step.local_ms, step.global_ms] = device.local_and_global_ms();
        }
        // The limits apply to local and global steps on the CPU only.
        let has_local_steps = step.local_ms.is_some_and(|ms| ms > 0.0);
        let flesh = subject
            .flesh_if_made()
            .and_then(Result::ok)
            .filter(|_| has_local_steps && !device.is_gpu());
        let iteration = flesh.map(|flesh| {
            // Mean number of iterations per step.
            let iterations = f64::from(step.done.max(1)) / frames.len().max(1) as f64;
            let ms = [step.local_ms, step.global_ms].map(|ms| ms.unwrap_or(0.0) / iterations);
            IterationReport::of(&flesh.system.work(), ms, threads, &calibration)
        });
        BenchReport {
            machine: Machine::new(threads, calibration),
            character: CharacterSize::of(subject, self.method),
            method: self.method,
            setup_ms,
            step,
            iteration,
            frame: FrameReport::of(frames),
            device,
            memory_mb,
        }
    }

    /// Times of frames of one step each while the character moves.
    fn frames(
        &self,
        actor: &mut Actor,
        dt_secs: f64,
        progress: &Progress,
    ) -> Result<Vec<FrameSample>, Failure> {
        let subject = actor.subject().clone();
        let mut world: Vec<Affine> = Vec::new();
        let mut frames = Vec::with_capacity(self.steps as usize);
        let all = WARM_UP + self.steps as usize;
        for step in 0..all {
            progress.report(step as f32 / all as f32, "Stepping");
            let start = Instant::now();
            let pose = moving_pose(&subject, step as f64 * dt_secs);
            subject
                .character
                .skeleton
                .world_from_joint_into(&pose, &mut world);
            let pose_ms = start.elapsed().as_secs_f64() * 1e3;
            let dt_secs = if step == 0 { 0.0 } else { dt_secs };
            actor.set_morphs(&pose.morphs);
            actor.advance(&Frame {
                world_from_joint: &world,
                dt_secs,
            })?;
            if step >= WARM_UP {
                frames.push(FrameSample {
                    pose_ms,
                    times: actor.times(),
                });
            }
        }
        Ok(frames)
    }
}

/// The first clip in a loop; without clips, all joints sway, each with its own phase.
fn moving_pose(subject: &Subject, time_secs: f64) -> Pose {
    let character = &subject.character;
    let skeleton = &character.skeleton;
    if let Some(clip) = character.clips.iter().find(|clip| clip.duration_secs > 0.0) {
        return clip.sample(skeleton, time_secs.rem_euclid(clip.duration_secs));
    }
    let mut pose = skeleton.rest_pose();
    for joint in 0..skeleton.len() {
        let phase = time_secs + joint as f64 * 0.37;
        let axis_angle = Vec64::new(
            (TAU * phase).sin(),
            (TAU * 0.7 * phase).sin(),
            (TAU * 1.3 * phase).sin(),
        ) * 0.15;
        set_rotation_from_rest(
            skeleton,
            &mut pose,
            joint,
            &Quat::from_scaled_axis(axis_angle),
        );
    }
    pose
}
