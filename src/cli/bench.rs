//! `sinew bench`: the time of every stage on this machine.

use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::calibration::Calibration;
use super::options::{CharacterOptions, Options, parse_method};
use super::{Failure, Outcome, print_json, print_line, stderr};
use crate::math::{Affine, Quat, Vec64};
use crate::rig::Pose;
use crate::session::{Source, load, set_rotation_from_rest};
use crate::skin::{Actor, Frame, Method, SetupTimes, StepTimes, Subject};

/// Steps before measuring begins.
const WARM_UP: usize = 30;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Bench {
    #[command(flatten)]
    character: CharacterOptions,
    /// The method: rigid, lbs, dqs or pd.
    #[arg(long, value_parser = parse_method, default_value = "pd")]
    method: Method,
    /// Steps to measure.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    steps: u32,
    /// Print a report for machines.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    character: CharacterSize,
    method: Method,
    setup_ms: Setup,
    step: Step,
    memory_mb: f64,
}

#[derive(Debug, Serialize)]
struct Machine {
    cpu: String,
    threads: usize,
    #[serde(flatten)]
    calibration: Calibration,
}

#[derive(Debug, Serialize)]
struct CharacterSize {
    name: String,
    source_vertices: usize,
    simulated_vertices: usize,
    tets: usize,
    unknowns: usize,
}

#[derive(Debug, Default, Serialize)]
struct Setup {
    load: f64,
    weld: f64,
    tissue: f64,
    bind: f64,
    total: f64,
}

#[derive(Debug, Serialize)]
struct Step {
    iterations: u32,
    threads: usize,
    steps: usize,
    median_ms: f64,
    p99_ms: f64,
    local_ms: f64,
    global_ms: f64,
    anchors_ms: f64,
    normals_ms: f64,
}

/// How big the simulation is; nothing for methods without one.
fn simulation_size(subject: &Subject, method: Method) -> (usize, usize) {
    match &subject.tissue {
        Ok(flesh) if method.is_simulated() => (flesh.tissue.prisms.tets, flesh.system.unknowns()),
        _ => (0, 0),
    }
}

impl Bench {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        let source = self.character.source();
        let report = stderr::with_progress(options, "Measuring", |progress| self.measure(&source, options, progress))?;
        if self.json {
            return print_json(&report);
        }
        for line in report.lines() {
            print_line(&line);
        }
        Ok(())
    }

    fn measure(&self, source: &Source, options: &Options, progress: &crate::progress::Progress) -> Result<Report, Failure> {
        let start = Instant::now();
        let since = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
        let character = Arc::new(load(source, progress)?);
        let load_ms = since(start);
        let unusable = |error| Failure::Undone(format!("{source}: {error}"));
        let subject = Arc::new(Subject::build(character, progress).map_err(unusable)?);
        let binding = Instant::now();
        let params = options.params();
        let mut actor = Actor::bind(&subject, self.method, &params, progress).map_err(unusable)?;
        let bind_ms = since(binding);
        let total_ms = since(start);
        let (tets, unknowns) = simulation_size(&subject, self.method);
        let SetupTimes { weld_ms, tissue_ms, assemble_ms } = subject.setup;
        let times = self.steps(&mut actor, params.time_step_secs, progress)?;
        let threads = rayon::current_num_threads();
        Ok(Report {
            machine: Machine { cpu: cpu_name(), threads, calibration: Calibration::measure() },
            character: CharacterSize {
                name: subject.character.name.clone(),
                source_vertices: subject.character.source_vertices(),
                simulated_vertices: subject.sim.mesh.positions.len(),
                tets,
                unknowns,
            },
            method: self.method,
            setup_ms: Setup { load: load_ms, weld: weld_ms, tissue: tissue_ms, bind: assemble_ms + bind_ms, total: total_ms },
            step: Step::of(&times, params.iterations, threads),
            memory_mb: peak_memory_mb(),
        })
    }

    /// Times of single steps of a character that keeps moving.
    fn steps(&self, actor: &mut Actor, dt_secs: f64, progress: &crate::progress::Progress) -> Result<Vec<StepTimes>, Failure> {
        let subject = actor.subject().clone();
        let mut world: Vec<Affine> = Vec::new();
        let mut times = Vec::with_capacity(self.steps as usize);
        let all = WARM_UP + self.steps as usize;
        for step in 0..all {
            progress.report(step as f32 / all as f32, "Stepping");
            let pose = moving_pose(&subject, step as f64 * dt_secs);
            subject.character.skeleton.world_from_joint_into(&pose, &mut world);
            let dt_secs = if step == 0 { 0.0 } else { dt_secs };
            actor.advance(&Frame { world_from_joint: &world, dt_secs })?;
            if step >= WARM_UP {
                times.push(actor.times());
            }
        }
        Ok(times)
    }
}

/// The first clip, over and over; without one, all joints sway, each at its own phase.
fn moving_pose(subject: &Subject, time_secs: f64) -> Pose {
    let character = &subject.character;
    let skeleton = &character.skeleton;
    if let Some(clip) = character.clips.iter().find(|clip| clip.duration_secs > 0.0) {
        return clip.sample(skeleton, time_secs.rem_euclid(clip.duration_secs));
    }
    let mut pose = skeleton.rest_pose();
    for joint in 0..skeleton.len() {
        let phase = time_secs + joint as f64 * 0.37;
        let axis_angle = Vec64::new((TAU * phase).sin(), (TAU * 0.7 * phase).sin(), (TAU * 1.3 * phase).sin()) * 0.15;
        set_rotation_from_rest(skeleton, &mut pose, joint, &Quat::from_scaled_axis(axis_angle));
    }
    pose
}

impl Step {
    fn of(times: &[StepTimes], iterations: u32, threads: usize) -> Self {
        let per_step = |ms: f64, t: &StepTimes| ms / f64::from(t.steps.max(1));
        let sorted = |part: fn(&StepTimes) -> f64| {
            let mut values: Vec<f64> = times.iter().map(|t| per_step(part(t), t)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let at = |values: &[f64], part: f64| values.get((values.len() as f64 * part) as usize).or(values.last()).copied().unwrap_or(0.0);
        let median = |part| at(&sorted(part), 0.5);
        Self {
            iterations,
            threads,
            steps: times.len(),
            median_ms: median(|t| t.total_ms),
            p99_ms: at(&sorted(|t| t.total_ms), 0.99),
            local_ms: median(|t| t.local_ms),
            global_ms: median(|t| t.global_ms),
            anchors_ms: median(|t| t.anchors_ms),
            normals_ms: median(|t| t.normals_ms),
        }
    }
}

impl Report {
    fn lines(&self) -> Vec<String> {
        let Self { machine, character, setup_ms, step, .. } = self;
        let calibration = machine.calibration;
        vec![
            format!("machine    {}, {} threads", machine.cpu, machine.threads),
            format!("           L2 read {:.1} GB/s, f32 FMA {:.1} GFLOP/s", calibration.l2_read_gb_s, calibration.f32_fma_gflop_s),
            format!("character  {}, method {}", character.name, self.method.id()),
            format!(
                "           {} source vertices, {} simulated, {} tets, {} unknowns",
                character.source_vertices, character.simulated_vertices, character.tets, character.unknowns
            ),
            format!("set-up     {:9.2} ms", setup_ms.total),
            format!("  load     {:9.2} ms", setup_ms.load),
            format!("  weld     {:9.2} ms", setup_ms.weld),
            format!("  tissue   {:9.2} ms", setup_ms.tissue),
            format!("  bind     {:9.2} ms", setup_ms.bind),
            format!("step       {:9.3} ms (median of {}, {} iterations)", step.median_ms, step.steps, step.iterations),
            format!("  slowest  {:9.3} ms (99 %)", step.p99_ms),
            format!("  anchors  {:9.3} ms", step.anchors_ms),
            format!("  local    {:9.3} ms", step.local_ms),
            format!("  global   {:9.3} ms", step.global_ms),
            format!("  normals  {:9.3} ms", step.normals_ms),
            format!("memory     {:9.1} MB at most", self.memory_mb),
        ]
    }
}

/// The processor's name, where the system tells it.
fn cpu_name() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = told.lines().find_map(|line| line.strip_prefix("model name")).and_then(|rest| rest.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// Most memory that this process ever held, 0 where the system does not tell.
fn peak_memory_mb() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = told.lines().find_map(|line| line.strip_prefix("VmHWM:")).and_then(|rest| rest.split_whitespace().next());
    kilobytes.and_then(|number| number.parse::<f64>().ok()).map_or(0.0, |kilobytes| kilobytes / 1024.0)
}
