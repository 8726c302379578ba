//! A step of the fast `f32` solver is a step of projective dynamics: it agrees with a plain `f64` one.

use std::sync::Arc;

use sinew::character::Character;
use sinew::dynamics::{Params, Preset, Simulation};
use sinew::math::{Affine, Point, Quat, Vec3};
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::tissue::BaseFrame;

use crate::common::on_bones::on_bones;
use crate::common::skip;
use crate::exact::{ExactSolver, State};

/// Rounding of `f32`: 6e-8 of a coordinate, some dozen times over in ten iterations.
const TOLERANCE: f64 = 1e-5;

/// How a state comes about in which the two are compared.
struct Case {
    name: &'static str,
    /// Angle of all joints in step k of 4.
    angle: fn(u32) -> f64,
    /// Skin vertices are thrown about by this part of the size before the last step.
    noise: f32,
    stiffness_pa: f64,
    step_secs: f64,
}

const CASES: [Case; 7] = [
    Case {
        name: "moving",
        angle: |k| 0.02 * k as f64,
        noise: 0.0,
        stiffness_pa: 2e4,
        step_secs: 1.0 / 60.0,
    },
    Case {
        name: "jelly",
        angle: |k| 0.1 * k as f64,
        noise: 0.0,
        stiffness_pa: 2e3,
        step_secs: 1.0 / 60.0,
    },
    Case {
        name: "a jump",
        angle: |k| if k < 4 { 0.0 } else { 1.5 },
        noise: 0.0,
        stiffness_pa: 2e4,
        step_secs: 1.0 / 30.0,
    },
    Case {
        name: "stiff",
        angle: |k| 0.2 * k as f64,
        noise: 0.0,
        stiffness_pa: 2e7,
        step_secs: 1.0 / 15.0,
    },
    Case {
        name: "soft",
        angle: |k| 0.2 * k as f64,
        noise: 0.0,
        stiffness_pa: 20.0,
        step_secs: 1.0 / 240.0,
    },
    Case {
        name: "rumpled",
        angle: |k| 0.1 * k as f64,
        noise: 0.003,
        stiffness_pa: 2e4,
        step_secs: 1.0 / 60.0,
    },
    Case {
        name: "crumpled",
        angle: |k| 0.1 * k as f64,
        noise: 0.02,
        stiffness_pa: 2e4,
        step_secs: 1.0 / 60.0,
    },
];

/// Every joint turned, each about its own axis.
fn bases(subject: &Subject, case: &Case) -> Vec<Vec<Point>> {
    let flesh = subject.flesh().expect("has flesh");
    let skeleton = &subject.character.skeleton;
    let at = |step: u32| {
        let mut pose = skeleton.rest_pose();
        for (joint, local) in pose.locals.iter_mut().enumerate() {
            let (phase, angle) = (joint as f64, (case.angle)(step));
            local.rotation *= Quat::from_euler_angles(
                angle * phase.sin(),
                0.5 * angle * phase.cos(),
                angle * (2.3 * phase).sin(),
            );
        }
        let world: Vec<Affine> = skeleton.world_from_joint(&pose);
        let mut base = vec![Point::origin(); flesh.tissue.anchors.len()];
        flesh
            .tissue
            .anchors
            .place(&world, &mut BaseFrame::default(), &mut base);
        base
    };
    (0..=4).map(at).collect()
}

/// Largest distance between the two after the last step, in parts of the size.
fn difference(subject: &Subject, case: &Case) -> f64 {
    let preset = Preset::Natural.params();
    let gravity_m_s2 = [0.0, -9.81, 0.0];
    let own = Params {
        stiffness_pa: case.stiffness_pa,
        time_step_secs: case.step_secs,
        gravity_m_s2,
        ..preset
    };
    let params = Params {
        acceleration: 0,
        iterations: 10,
        human_sized: false,
        ..own
    };
    let flesh = subject.flesh().expect("has flesh");
    let bases = bases(subject, case);
    let skin = subject.sim().mesh.positions.clone();
    let mut fast = Simulation::new(
        flesh.system.clone(),
        &params,
        skin,
        bases[0].clone(),
        subject.size,
    )
    .expect("factors");
    for base in &bases[1..4] {
        fast.step(base);
    }
    let h = params.time_step_secs;
    let mut base_velocity: Vec<_> = bases[3]
        .iter()
        .zip(&bases[2])
        .map(|(a, b)| (a.cast::<f64>() - b.cast::<f64>()) / h)
        .collect();
    if case.noise > 0.0 {
        fast.step(&bases[3]);
        base_velocity.fill(nalgebra::Vector3::zeros());
        let wild = |v: usize| {
            Vec3::from_fn(|c, _| ((v * 3 + c) as f32 * 12.9898).sin() * case.noise * subject.size)
        };
        let thrown: Vec<Point> = fast
            .positions()
            .iter()
            .enumerate()
            .map(|(v, p)| p + wild(v))
            .collect();
        fast.set_positions(&thrown, &bases[3]);
    }
    let mut state = State {
        position: fast.positions().iter().map(|p| p.cast::<f64>()).collect(),
        velocity: fast.velocities().iter().map(|v| v.cast::<f64>()).collect(),
        base: bases[3].iter().map(|p| p.cast::<f64>()).collect(),
        base_velocity,
    };
    fast.step(&bases[4]);
    let base: Vec<_> = bases[4].iter().map(|p| p.cast::<f64>()).collect();
    ExactSolver::new(subject, &params).step(&mut state, &base);
    let size = f64::from(subject.size);
    let distances = fast
        .positions()
        .iter()
        .zip(&state.position)
        .map(|(a, b)| (a.cast::<f64>() - b).norm() / size);
    let positions = distances.max_by(f64::total_cmp).unwrap_or(f64::NAN);
    let speeds = fast
        .velocities()
        .iter()
        .zip(&state.velocity)
        .map(|(a, b)| (a.cast::<f64>() - b).norm() * h / size);
    positions.max(speeds.max_by(f64::total_cmp).unwrap_or(f64::NAN))
}

fn agrees(character: Character) {
    let subject = Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds");
    let mut wrong = Vec::new();
    for case in &CASES {
        let difference = difference(&subject, case);
        println!(
            "{}, {}: {difference:e} of the size",
            subject.character.name, case.name
        );
        if difference >= TOLERANCE || difference.is_nan() {
            wrong.push(format!(
                "{}, {}: {difference:e} of the size",
                subject.character.name, case.name
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn built_in(name: &str) -> Character {
    sinew::io::builtin::load_builtin(name).expect("built in")
}

#[test]
fn the_cylinder_agrees() {
    agrees(built_in("cylinder"));
}

#[test]
fn the_arm_agrees() {
    agrees(built_in("arm"));
}

#[test]
fn the_gecko_agrees() {
    agrees(built_in("gecko"));
}

#[test]
fn the_armadillo_agrees() {
    let Some(data) = skip::data() else {
        return;
    };
    agrees(
        sinew::io::load(
            &[data.join("E_fps/armadillo/armadillo.ini")],
            &Progress::new(),
        )
        .expect("loads"),
    );
}

/// Whatever the number of threads, and after any jump: the same bits.
#[test]
fn results_are_independent_of_threads() {
    for name in ["cylinder", "gecko", "mannequin"] {
        let subject =
            Subject::build(Arc::new(on_bones(built_in(name))), &Progress::new()).expect("builds");
        let flesh = subject.flesh().expect("has flesh");
        let bases = bases(&subject, &CASES[2]);
        let play = |threads: usize, acceleration: u32| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            pool.install(|| {
                let params = Params {
                    acceleration,
                    ..Preset::Natural.params()
                };
                let skin = subject.sim().mesh.positions.clone();
                let mut simulation = Simulation::new(
                    flesh.system.clone(),
                    &params,
                    skin,
                    bases[0].clone(),
                    subject.size,
                )
                .expect("factors");
                for base in bases.iter().rev() {
                    simulation.step(base);
                }
                simulation.settle().expect("factors");
                simulation.step(&bases[2]);
                simulation.positions().to_vec()
            })
        };
        for acceleration in [0, 3] {
            let one = play(1, acceleration);
            for threads in [2, 3, 4] {
                assert!(
                    one == play(threads, acceleration),
                    "{name} with {threads} threads, acceleration {acceleration}"
                );
            }
        }
    }
}
