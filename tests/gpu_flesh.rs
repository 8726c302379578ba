//! Time steps on the device are those of the processor.

use std::sync::Arc;

use sinew::character::{Character, FleshSettings, SimVertices};
use sinew::dynamics::{Collisions, Params, Preset, Simulation, State, StepReport};
use sinew::gpu::GpuContext;
use sinew::gpu::flesh::{FleshModel, FleshState, FleshStep, Watch, Watcher};
use sinew::math::{Affine, Point, Quat, Vec3};
use sinew::progress::Progress;
use sinew::skin::Subject;
use sinew::tissue::BaseFrame;

mod on_device;
mod random;
mod rotations;
mod skip;
mod stepping;

use stepping::Device;

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

/// How a state comes about in which the two are compared.
struct Case {
    name: &'static str,
    /// Angle of all joints in step k of 4.
    angle: fn(u32) -> f64,
    /// Skin vertices are thrown about by this part of the size before the last step.
    noise: f32,
    stiffness_pa: f64,
}

const CASES: [Case; 4] = [
    Case { name: "calm", angle: |k| 0.02 * k as f64, noise: 0.0, stiffness_pa: 2e4 },
    Case { name: "lively", angle: |k| 0.2 * k as f64, noise: 0.0, stiffness_pa: 2e4 },
    Case { name: "a jump", angle: |k| if k < 4 { 0.0 } else { 1.5 }, noise: 0.0, stiffness_pa: 2e4 },
    Case { name: "crumpled jelly", angle: |k| 0.1 * k as f64, noise: 0.02, stiffness_pa: 2e3 },
];

/// Moves all skin vertices by up to this part of the size.
fn throw_about(subject: &Subject, simulation: &mut Simulation, noise: f32) {
    let mut state = simulation.state();
    for (v, p) in state.position.iter_mut().enumerate() {
        *p += Vec3::from_fn(|c, _| ((v * 3 + c) as f32 * 12.9898).sin() * noise * subject.size);
    }
    simulation.set_state(&state);
}

/// Step and state of both after the same step from the same state.
fn both(gpu: &'static GpuContext, subject: &Subject, case: &Case, way: Way) -> (StepReport, State, Watch, State) {
    let mut simulation = simulation(subject, &Params { stiffness_pa: case.stiffness_pa, ..params(way) });
    for k in 1..4 {
        simulation.step(&turned(subject, (case.angle)(k)));
    }
    if case.noise > 0.0 {
        throw_about(subject, &mut simulation, case.noise);
    }
    let device = Device::like(gpu, &simulation);
    let base = turned(subject, (case.angle)(4));
    let report = simulation.step(&base);
    device.step(&base);
    (report, simulation.state(), device.watch(), device.download())
}

#[test]
fn one_step_is_that_of_the_processor() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut wrong = Vec::new();
    for name in ["cylinder", "arm", "mannequin"] {
        let subject = subject(name);
        for way in [Way::Plain, Way::Accelerated, Way::Bulging] {
            for case in &CASES {
                let (report, expected, watch, actual) = both(gpu, &subject, case, way);
                let difference = difference(&subject, &expected, &actual, params(way).time_step_secs as f32);
                let farthest = (watch.farthest - report.farthest).abs() / subject.size;
                let change = (watch.last_change - report.last_change).abs() / subject.size;
                let said = format!("{name}, {way:?}, {}: {difference:e}, {farthest:e}, {change:e} of the size, {watch:?}", case.name);
                println!("{said}");
                let good = difference < STEP_TOLERANCE && farthest < STEP_TOLERANCE && change < STEP_TOLERANCE && watch.broken == 0;
                if !good || watch.taken_back as usize != report.taken_back {
                    wrong.push(format!("{said}, {report:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Thrown about wildly, some accelerated iterates have a higher energy: the device takes the same ones back, and ends where the
/// processor does.
#[test]
fn the_same_iterates_are_taken_back() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let mut compared = 0;
    for (stiffness_pa, noise, acceleration) in
        [2e2, 2e4, 2e6].iter().flat_map(|&s| [0.02, 0.1, 0.3].iter().flat_map(move |&n| [1, 3, 8].map(move |m| (s, n, m))))
    {
        let wild = Params { stiffness_pa, acceleration, iterations: 12, ..params(Way::Accelerated) };
        let mut simulation = simulation(&subject, &wild);
        throw_about(&subject, &mut simulation, noise);
        let before = simulation.state();
        let base = turned(&subject, 1.0);
        let report = simulation.step(&base);
        if report.taken_back == 0 || compared == 4 {
            continue;
        }
        let device = Device::like(gpu, &simulation);
        device.state.upload(gpu, 0, &before).expect("fits");
        device.step(&base);
        let (watch, actual) = (device.watch(), device.download());
        let difference = difference(&subject, &simulation.state(), &actual, wild.time_step_secs as f32);
        println!("{stiffness_pa} Pa, {noise} thrown, {acceleration} remembered: {difference:e} of the size, {watch:?}, {report:?}");
        assert!(difference < STEP_TOLERANCE, "{difference:e} of the size: {watch:?}, {report:?}");
        assert_eq!(watch.taken_back as usize, report.taken_back, "{difference:e} of the size");
        compared += 1;
    }
    assert!(compared > 0, "taking back was never put to the test");
}

/// What the module promises: 2 + K (2 + S) passes, and K − 1 more with acceleration.
#[test]
fn passes_are_counted() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    for (way, expected) in [(Way::Plain, 2 + 10 * 3), (Way::Accelerated, 2 + 7 * 3 + 6)] {
        let device = Device::like(gpu, &simulation(&subject, &params(way)));
        assert_eq!(device.step.dispatches().len(), expected, "{way:?}");
    }
}

/// A clip, or where there is none, joints that swing.
fn clip_base(subject: &Subject, frame: u32) -> Vec<Point> {
    let time = f64::from(frame) / 60.0;
    let character = &subject.character;
    match character.clips.first() {
        Some(clip) => place(subject, &character.skeleton.world_from_joint(&clip.sample(&character.skeleton, time % clip.duration_secs))),
        None => turned(subject, 0.4 * (3.0 * time).sin()),
    }
}

#[test]
fn hundreds_of_steps_are_those_of_the_processor() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut wrong = Vec::new();
    for (name, way, frames) in [("cylinder", Way::Plain, 100), ("arm", Way::Accelerated, 100), ("mannequin", Way::Accelerated, 300)] {
        let subject = subject(name);
        let mut simulation = simulation(&subject, &params(way));
        let device = Device::like(gpu, &simulation);
        let mut worst = 0.0_f32;
        for frame in 0..frames {
            let base = clip_base(&subject, frame);
            simulation.step(&base);
            device.step(&base);
            if frame % 50 == 49 {
                let (expected, actual) = (simulation.state(), device.download());
                worst = worst.max(difference(&subject, &expected, &actual, params(way).time_step_secs as f32));
            }
        }
        println!("{name}, {way:?}: {worst:e} of the size in {frames} steps");
        if worst >= CLIP_TOLERANCE || worst.is_nan() {
            wrong.push(format!("{name}, {way:?}: {worst:e} of the size"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// No pose, no forces, no motion.
#[test]
fn rest_stays_at_rest() {
    let Some(gpu) = on_device::gpu() else { return };
    for way in [Way::Plain, Way::Accelerated] {
        let subject = subject("arm");
        let simulation = simulation(&subject, &Params { gravity_m_s2: [0.0; 3], ..params(way) });
        let device = Device::like(gpu, &simulation);
        for _ in 0..60 {
            device.step_again();
        }
        let moved = distance(&device.download().position, simulation.positions()) / subject.size;
        assert!(moved < 1e-6, "{way:?}: {moved:e} of the size");
    }
}

/// A base that glides and turns as a whole carries a skin that goes with it from the start, step by step, where it belongs.
#[test]
fn what_moves_as_a_whole_keeps_its_shape() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let simulation = simulation(&subject, &Params { gravity_m_s2: [0.0; 3], ..params(Way::Accelerated) });
    let turn = nalgebra::Rotation3::from_euler_angles(0.5_f32, -1.2, 2.0);
    let way = Vec3::new(0.01, -0.004, 0.007) * subject.size;
    let moved = |points: &[Point], steps: f32| points.iter().map(|p| turn * p + way * steps).collect::<Vec<Point>>();
    let rest = simulation.state();
    let velocity = vec![way / params(Way::Accelerated).time_step_secs as f32; rest.position.len()];
    let device = Device::like(gpu, &simulation);
    let begin =
        State { position: moved(&rest.position, 0.0), velocity: velocity.clone(), base_velocity: velocity, base: moved(&rest.base, 0.0) };
    device.state.upload(gpu, 0, &begin).expect("fits");
    for step in 1..=20_u8 {
        device.step(&moved(&rest.base, f32::from(step)));
    }
    let off = distance(&device.download().position, &moved(&rest.position, 20.0)) / subject.size;
    assert!(off < STEP_TOLERANCE, "{off:e} of the size");
}

/// Instances know nothing of each other, and the same steps give the same bits.
#[test]
fn a_crowd_is_many_single_ones() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("mannequin");
    let simulation = simulation(&subject, &params(Way::Accelerated));
    let equations = Arc::new(simulation.equations());
    let inverse = on_device::inverse(&equations);
    let base = |instance: u32, step: u32| turned(&subject, 0.1 * f64::from(step) * f64::from(instance + 1));
    let run = |instances: &[u32]| -> Vec<State> {
        let crowd = Device::new(gpu, &equations, &inverse, instances.len() as u32);
        for place in 0..instances.len() as u32 {
            crowd.state.upload(gpu, place, &simulation.state()).expect("fits");
        }
        for step in 1..=3 {
            for (place, &instance) in (0..).zip(instances) {
                crowd.state.move_base(gpu, place, &base(instance, step)).expect("fits");
            }
            crowd.step.run(gpu);
        }
        (0..instances.len() as u32).map(|place| crowd.state.download(gpu, place).expect("comes back")).collect()
    };
    let together = run(&[0, 1, 0]);
    assert_eq!(together[..1], run(&[0]));
    assert_eq!(together[1..2], run(&[1]));
    assert_eq!(together[0], together[2]);
    assert_ne!(together[0].position, together[1].position);
}

/// A NaN raises the flag of its instance, which stays up until a good state is put in; nothing of it is left then.
#[test]
fn nonsense_is_noticed() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let simulation = simulation(&subject, &params(Way::Accelerated));
    let equations = Arc::new(simulation.equations());
    let crowd = Device::new(gpu, &equations, &on_device::inverse(&equations), 2);
    let good = simulation.state();
    let mut bad = good.clone();
    bad.position[7].y = f32::NAN;
    crowd.state.upload(gpu, 0, &good).expect("fits");
    crowd.state.upload(gpu, 1, &bad).expect("fits");
    let mut watcher = Watcher::new(gpu, &crowd.state);
    let mut broken = || {
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        crowd.step.encode(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
        watcher.copy(&mut encoder, &crowd.state);
        gpu.queue.submit([encoder.finish()]);
        watcher.submitted();
        // Only a test waits for it.
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("works");
        watcher.poll(gpu).expect("works").iter().map(|watch| watch.broken).collect::<Vec<u32>>()
    };
    assert_eq!(broken(), [0, 1]);
    assert_eq!(broken(), [0, 1]);
    for instance in 0..2 {
        crowd.state.upload(gpu, instance, &good).expect("fits");
    }
    for base in [0.1, 0.2].map(|angle| turned(&subject, angle)) {
        (0..2).for_each(|instance| crowd.state.move_base(gpu, instance, &base).expect("fits"));
        assert_eq!(broken(), [0, 0]);
    }
    let [sound, mended] = [0, 1].map(|instance| crowd.state.download(gpu, instance).expect("comes back"));
    assert_ne!(sound.position, good.position);
    assert_eq!(sound, mended);
}

/// A device that has compiled kernels for other parameters makes the steps of one that begins with these.
#[test]
fn parameters_may_change() {
    let Some(used) = on_device::own() else { return };
    let subject = subject("cylinder");
    for way in [Way::Plain, Way::Accelerated, Way::Bulging, Way::Plain] {
        let simulation = simulation(&subject, &Params { stiffness_pa: 3e3, ..params(way) });
        let equations = Arc::new(simulation.equations());
        let inverse = on_device::inverse(&equations);
        let after_a_step = |gpu: &GpuContext| {
            let model = FleshModel::new(gpu, equations.clone()).expect("fits");
            let state = FleshState::new(gpu, &model, 1).expect("fits");
            state.upload(gpu, 0, &simulation.state()).expect("fits");
            state.move_base(gpu, 0, &turned(&subject, 0.2)).expect("fits");
            FleshStep::new(gpu, &model, &state, &on_device::dense_solver(gpu, &inverse, &state)).run(gpu);
            state.download(gpu, 0).expect("comes back")
        };
        let fresh = on_device::own().expect("there was one before");
        assert_eq!(after_a_step(&used), after_a_step(&fresh), "{way:?}");
    }
}

/// What does not fit is refused in words.
#[test]
fn wrong_states_are_refused() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let simulation = simulation(&subject, &params(Way::Plain));
    let device = Device::like(gpu, &simulation);
    let mut short = simulation.state();
    short.velocity.pop();
    assert!(device.state.upload(gpu, 0, &short).expect_err("too short").to_string().contains("vertices"));
    assert!(device.state.upload(gpu, 1, &simulation.state()).expect_err("only one").to_string().contains("no character 1"));
    assert!(device.state.move_base(gpu, 0, &[]).expect_err("no base").to_string().contains("base points"));
    let model = FleshModel::new(gpu, Arc::new(simulation.equations())).expect("fits");
    assert!(FleshState::new(gpu, &model, 0).is_err());
    assert!(FleshState::new(gpu, &model, u32::MAX).is_err());
}
