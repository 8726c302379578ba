//! Time steps on the device are those of the processor.

use std::sync::Arc;

use sinew::character::{Character, FleshSettings, SimVertices};
use sinew::dynamics::{Collisions, Equations, Params, Preset, Simulation, State};
use sinew::gpu::GpuContext;
use sinew::gpu::compute::fetch;
use sinew::gpu::flesh::{FleshModel, FleshState, FleshStep, Watch, Watcher};
use sinew::math::{Affine, Point, Quat, Vec3};
use sinew::progress::Progress;
use sinew::skin::Subject;
use sinew::tissue::BaseFrame;

mod on_device;
mod random;
mod rotations;
mod skip;

/// One step: rounding of `f32`, 6e-8 of a coordinate, some dozen times over.
const STEP_TOLERANCE: f32 = 1e-5;
/// Hundreds of steps.
const CLIP_TOLERANCE: f32 = 1e-3;

/// A built-in character with a few hundred simulated vertices.
fn subject(name: &str) -> Subject {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    reduced(character)
}

fn reduced(character: Character) -> Subject {
    let subject = Subject::build(Arc::new(character), &Progress::new()).expect("builds");
    let settings = FleshSettings { sim_vertices: SimVertices::About(400), ..FleshSettings::default() };
    subject.with_settings(&settings, &Progress::new()).expect("reduces")
}

fn simulation(subject: &Subject, params: &Params) -> Simulation {
    let flesh = subject.tissue.as_ref().expect("has flesh");
    let position = subject.sim().mesh.positions.clone();
    Simulation::new(flesh.system.clone(), params, position, flesh.tissue.anchors.at_rest(), subject.size).expect("factors")
}

fn place(subject: &Subject, world: &[Affine]) -> Vec<Point> {
    let anchors = &subject.tissue.as_ref().expect("has flesh").tissue.anchors;
    let mut base = vec![Point::origin(); anchors.len()];
    anchors.place(world, &mut BaseFrame::default(), &mut base);
    base
}

/// Every joint turned by about so much, each about its own axis.
fn turned(subject: &Subject, angle: f64) -> Vec<Point> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = joint as f64;
        local.rotation *= Quat::from_euler_angles(angle * phase.sin(), 0.5 * angle * phase.cos(), angle * (2.3 * phase).sin());
    }
    place(subject, &skeleton.world_from_joint(&pose))
}

/// Without contacts, in gravity.
fn params(way: Way) -> Params {
    let natural = Params { collisions: Collisions::Off, gravity_m_s2: [0.0, -9.81, 0.0], ..Preset::Natural.params() };
    match way {
        Way::Plain => Params { acceleration: 0, iterations: 10, ..natural },
        Way::Accelerated => natural,
        Way::Bulging => Params { volume: 1.0, ..natural },
    }
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Plain,
    Accelerated,
    Bulging,
}

/// Steps of a crowd on the device.
struct Device {
    gpu: &'static GpuContext,
    state: FleshState,
    step: FleshStep,
}

impl Device {
    fn new(gpu: &'static GpuContext, equations: &Arc<Equations>, inverse: &[f32], instances: u32) -> Self {
        let model = FleshModel::new(gpu, equations.clone()).expect("fits");
        let state = FleshState::new(gpu, &model, instances).expect("fits");
        let step = FleshStep::new(gpu, &model, &state, &on_device::dense_solver(gpu, inverse, &state));
        Self { gpu, state, step }
    }

    /// One instance in the state of a simulation.
    fn like(gpu: &'static GpuContext, simulation: &Simulation) -> Self {
        let equations = Arc::new(simulation.equations());
        let device = Self::new(gpu, &equations, &on_device::inverse(&equations), 1);
        device.state.upload(gpu, 0, &simulation.state()).expect("fits");
        device
    }

    fn step(&self, base: &[Point]) {
        self.state.move_base(self.gpu, 0, base).expect("fits");
        self.step.run(self.gpu);
    }

    fn download(&self) -> State {
        self.state.download(self.gpu, 0).expect("comes back")
    }

    fn watch(&self) -> Watch {
        fetch(self.gpu, self.state.watch(), 1).expect("comes back")[0]
    }
}

/// Largest distance, NaN if there is one.
fn worst<'a>(pairs: impl Iterator<Item = (&'a Vec3, &'a Vec3)>) -> f32 {
    pairs.map(|(a, b)| (a - b).norm()).max_by(f32::total_cmp).unwrap_or(0.0)
}

fn distance(a: &[Point], b: &[Point]) -> f32 {
    worst(a.iter().map(|p| &p.coords).zip(b.iter().map(|p| &p.coords)))
}

/// Largest difference of positions, and of the ways that velocities make in a step, in parts of the size.
fn difference(subject: &Subject, a: &State, b: &State, step_secs: f32) -> f32 {
    let speed = worst(a.velocity.iter().zip(&b.velocity)).max(worst(a.base_velocity.iter().zip(&b.base_velocity)));
    distance(&a.position, &b.position).max(speed * step_secs) / subject.size
}

#[test]
fn one_step_is_that_of_the_processor() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut wrong = Vec::new();
    for name in ["cylinder", "arm", "mannequin"] {
        let subject = subject(name);
        for way in [Way::Plain, Way::Accelerated, Way::Bulging] {
            for (what, angle) in [("calm", 0.02), ("lively", 0.2)] {
                let mut simulation = simulation(&subject, &params(way));
                for k in 1..4 {
                    simulation.step(&turned(&subject, angle * f64::from(k)));
                }
                let device = Device::like(gpu, &simulation);
                let base = turned(&subject, 4.0 * angle);
                let report = simulation.step(&base);
                device.step(&base);
                let step_secs = simulation.equations().step_secs;
                let difference = difference(&subject, &simulation.state(), &device.download(), step_secs);
                let watch = device.watch();
                println!("{name}, {way:?}, {what}: {difference:e} of the size; {report:?}; {watch:?}");
                let farthest = (watch.farthest - report.farthest).abs() / subject.size;
                if !(difference < STEP_TOLERANCE && farthest < STEP_TOLERANCE && watch.broken == 0) {
                    wrong.push(format!("{name}, {way:?}, {what}: {difference:e} and {farthest:e} of the size, {watch:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
