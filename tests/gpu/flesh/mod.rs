//! Time steps on the device are those of the processor.

mod crowd;
mod invariance;

use std::sync::Arc;

use sinew::character::{Character, FleshBase, FleshSettings, SimVertices};
use sinew::dynamics::{Collisions, Params, Preset, Simulation, State, StepReport};
use sinew::gpu::GpuContext;
use sinew::gpu::flesh::StepStatistics;
use sinew::math::{Affine, Point, Quat, Vec3};
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::tissue::BaseFrame;

use crate::common::on_bones::on_bones;
use crate::common::on_device;
use crate::stepping::Device;

/// One step: rounding of `f32`, 6e-8 of a coordinate, some dozen times over.
const STEP_TOLERANCE: f32 = 1e-5;

/// A built-in character with a few hundred simulated vertices.
fn subject(name: &str) -> Subject {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    reduced(character)
}

fn reduced(character: Character) -> Subject {
    let subject = Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds");
    let settings = FleshSettings {
        sim_vertices: SimVertices::About(400),
        base: FleshBase::Bones,
        ..FleshSettings::default()
    };
    subject.with_settings(&settings)
}

fn simulation(subject: &Subject, params: &Params) -> Simulation {
    let flesh = subject.flesh().expect("has flesh");
    let position = subject.sim().mesh.positions.clone();
    Simulation::new(
        flesh.system.clone(),
        params,
        position,
        flesh.tissue.anchors.at_rest(),
        subject.size,
    )
    .expect("factors")
}

fn place(subject: &Subject, world: &[Affine]) -> Vec<Point> {
    let anchors = &subject.flesh().expect("has flesh").tissue.anchors;
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
        local.rotation *= Quat::from_euler_angles(
            angle * phase.sin(),
            0.5 * angle * phase.cos(),
            angle * (2.3 * phase).sin(),
        );
    }
    place(subject, &skeleton.world_from_joint(&pose))
}

/// Without contacts, in gravity.
fn params(way: Way) -> Params {
    let natural = Params {
        collisions: Collisions::Off,
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..Preset::Natural.params()
    };
    match way {
        Way::Plain => Params {
            acceleration: 0,
            iterations: 10,
            ..natural
        },
        Way::Accelerated => natural,
        Way::Bulging => Params {
            volume: 1.0,
            ..natural
        },
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
    pairs
        .map(|(a, b)| (a - b).norm())
        .max_by(f32::total_cmp)
        .unwrap_or(0.0)
}

fn distance(a: &[Point], b: &[Point]) -> f32 {
    worst(a.iter().map(|p| &p.coords).zip(b.iter().map(|p| &p.coords)))
}

/// Largest difference of positions, and of the ways that velocities make in a step, in parts of the size.
fn difference(subject: &Subject, a: &State, b: &State, step_secs: f32) -> f32 {
    let speed = worst(a.velocity.iter().zip(&b.velocity))
        .max(worst(a.base_velocity.iter().zip(&b.base_velocity)));
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
    Case {
        name: "calm",
        angle: |k| 0.02 * k as f64,
        noise: 0.0,
        stiffness_pa: 2e4,
    },
    Case {
        name: "lively",
        angle: |k| 0.2 * k as f64,
        noise: 0.0,
        stiffness_pa: 2e4,
    },
    Case {
        name: "a jump",
        angle: |k| if k < 4 { 0.0 } else { 1.5 },
        noise: 0.0,
        stiffness_pa: 2e4,
    },
    Case {
        name: "crumpled jelly",
        angle: |k| 0.1 * k as f64,
        noise: 0.02,
        stiffness_pa: 2e3,
    },
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
fn both(
    gpu: &'static GpuContext,
    subject: &Subject,
    case: &Case,
    way: Way,
) -> (StepReport, State, StepStatistics, State) {
    let mut simulation = simulation(
        subject,
        &Params {
            stiffness_pa: case.stiffness_pa,
            ..params(way)
        },
    );
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
    (
        report,
        simulation.state(),
        device.statistics(),
        device.download(),
    )
}

#[test]
fn one_step_agrees_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut wrong = Vec::new();
    for name in ["cylinder", "arm", "mannequin"] {
        let subject = subject(name);
        for way in [Way::Plain, Way::Accelerated, Way::Bulging] {
            for case in &CASES {
                let (report, expected, statistics, actual) = both(gpu, &subject, case, way);
                let difference = difference(
                    &subject,
                    &expected,
                    &actual,
                    params(way).time_step_secs as f32,
                );
                let farthest = (statistics.farthest - report.max_displacement).abs() / subject.size;
                let change = (statistics.last_change - report.last_change).abs() / subject.size;
                let said = format!(
                    "{name}, {way:?}, {}: {difference:e}, {farthest:e}, {change:e} of the size, {statistics:?}",
                    case.name
                );
                println!("{said}");
                let good = difference < STEP_TOLERANCE
                    && farthest < STEP_TOLERANCE
                    && change < STEP_TOLERANCE
                    && statistics.broken == 0;
                if !good || statistics.rejected as usize != report.rejected {
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
fn the_same_iterates_as_on_the_cpu_are_rejected() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let mut compared = 0;
    for (stiffness_pa, noise, acceleration) in [2e2, 2e4, 2e6].iter().flat_map(|&s| {
        [0.02, 0.1, 0.3]
            .iter()
            .flat_map(move |&n| [1, 3, 8].map(move |m| (s, n, m)))
    }) {
        let wild = Params {
            stiffness_pa,
            acceleration,
            iterations: 12,
            ..params(Way::Accelerated)
        };
        let mut simulation = simulation(&subject, &wild);
        throw_about(&subject, &mut simulation, noise);
        let before = simulation.state();
        let base = turned(&subject, 1.0);
        let report = simulation.step(&base);
        if report.rejected == 0 || compared == 4 {
            continue;
        }
        let device = Device::like(gpu, &simulation);
        device.state.upload(gpu, 0, &before).expect("fits");
        device.step(&base);
        let (statistics, actual) = (device.statistics(), device.download());
        let difference = difference(
            &subject,
            &simulation.state(),
            &actual,
            wild.time_step_secs as f32,
        );
        println!(
            "{stiffness_pa} Pa, {noise} thrown, {acceleration} remembered: {difference:e} of the size, {statistics:?}, {report:?}"
        );
        assert!(
            difference < STEP_TOLERANCE,
            "{difference:e} of the size: {statistics:?}, {report:?}"
        );
        assert_eq!(
            statistics.rejected as usize, report.rejected,
            "{difference:e} of the size"
        );
        compared += 1;
    }
    assert!(compared > 0, "taking back was never put to the test");
}

/// What the module promises: 2 + K (2 + S) passes, and 2 (K − 1) more with acceleration.
#[test]
fn passes_are_as_documented() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    for (way, expected) in [(Way::Plain, 2 + 10 * 3), (Way::Accelerated, 2 + 5 * 3 + 8)] {
        let device = Device::like(gpu, &simulation(&subject, &params(way)));
        assert_eq!(device.step.dispatches().len(), expected, "{way:?}");
    }
}
