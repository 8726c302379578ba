//! Theorems about the simulation.

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use crate::common::scaled;
use sinew::dynamics::{Params, Preset, Simulation};
use sinew::math::{Affine, Point, Quat, Vec3};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::tissue::BaseFrame;

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"))
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

/// The base with the last joint that has children turned.
fn bent_base(subject: &Subject, angle: f64) -> Vec<Point> {
    let skeleton = &subject.character.skeleton;
    let joint = (0..skeleton.len())
        .rev()
        .find(|&j| !skeleton.children(j).is_empty())
        .unwrap_or(0);
    let mut pose = skeleton.rest_pose();
    pose.rotate_about_world_axes(
        skeleton,
        joint,
        &Quat::from_euler_angles(0.3 * angle, 0.0, angle),
    );
    place(subject, &skeleton.world_from_joint(&pose))
}

fn place(subject: &Subject, world: &[Affine]) -> Vec<Point> {
    let flesh = subject.flesh().expect("has flesh");
    let mut base = vec![Point::origin(); flesh.tissue.anchors.len()];
    flesh
        .tissue
        .anchors
        .place(world, &mut BaseFrame::default(), &mut base);
    base
}

#[test]
fn the_base_at_rest_is_the_base() {
    let subject = subject("gecko");
    let base = place(&subject, &subject.character.skeleton.bind_transforms());
    let flesh = subject.flesh().expect("has flesh");
    for (placed, rest) in base.iter().zip(&flesh.tissue.base) {
        assert!((placed - rest.cast::<f32>()).norm() < 1e-6 * subject.size);
    }
}

/// Awake, step after step: nothing pulls at rest.
#[test]
fn rest_stays_at_rest_without_sleeping() {
    for name in sinew::io::builtin::NAMES {
        let subject = subject(name);
        let mut simulation = simulation(&subject, &Preset::Natural.params());
        let base = simulation.base().to_vec();
        for _ in 0..100 {
            simulation.step(&base);
        }
        let moved = simulation
            .positions()
            .iter()
            .zip(&subject.sim().mesh.positions)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max);
        assert!(
            moved < 1e-6 * subject.size,
            "{name}: {} of the size",
            moved / subject.size
        );
    }
}

/// Bouaziz et al.: every local and every global step can only lower the energy.
#[test]
fn energy_falls_with_every_iteration() {
    let subject = subject("arm");
    let base = bent_base(&subject, 0.7);
    for preset in [Preset::Firm, Preset::Jelly, Preset::Fps] {
        let mut last = f64::INFINITY;
        for iterations in 1..=12 {
            let mut simulation = simulation(
                &subject,
                &Params {
                    iterations,
                    ..preset.params()
                },
            );
            simulation.step(&base);
            let energy = simulation.energy();
            // Rounding of f32 positions and forces, of the energy that is left.
            assert!(
                energy <= last * (1.0 + 1e-4),
                "{preset:?}, iteration {iterations}: {energy} after {last}"
            );
            last = energy;
        }
    }
}

/// A character that glides has the velocity of its base everywhere, for ever, without any force; so does one in free fall, seen
/// from the falling frame. (In metres as they are: a figure that counts as human-sized falls as fast as a human does, by its size.)
#[test]
fn free_fall_keeps_shape_and_momentum() {
    let subject = subject("arm");
    let params = Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        damping_per_s: 0.0,
        human_sized: false,
        ..Preset::Jelly.params()
    };
    let mut simulation = simulation(&subject, &params);
    let rest_base = simulation.base().to_vec();
    let rest = simulation.positions().to_vec();
    let h = params.time_step_secs as f32;
    let gravity = (9.81 / subject.character.metres_per_unit) as f32;
    let (mut height, mut speed) = (0.0_f32, 0.0_f32);
    for _ in 0..60 {
        // The integrator's own fall: implicit Euler.
        speed -= gravity * h;
        height += speed * h;
        let base: Vec<Point> = rest_base.iter().map(|p| p + Vec3::y() * height).collect();
        simulation.step(&base);
    }
    for ((position, rest), velocity) in simulation
        .positions()
        .iter()
        .zip(&rest)
        .zip(simulation.velocities())
    {
        assert!((position - rest - Vec3::y() * height).norm() < 1e-4 * subject.size);
        assert!((velocity - Vec3::y() * speed).norm() < 1e-3 * speed.abs());
    }
}

/// However the flesh swings, it ends in the equilibrium that the static solve finds.
#[test]
fn swinging_ends_where_settling_does() {
    let subject = subject("arm");
    let base = bent_base(&subject, 0.9);
    let mut swinging = simulation(&subject, &Preset::Natural.params());
    for k in 1..=30 {
        swinging.step(&bent_base(&subject, 0.9 * f64::from(k) / 30.0));
    }
    for _ in 0..300 {
        swinging.step(&base);
    }
    let mut settled = simulation(&subject, &Preset::Natural.params());
    for k in 1..=10 {
        settled
            .step_quasistatic(&bent_base(&subject, 0.09 * f64::from(k)), 5)
            .expect("factors");
    }
    settled.settle().expect("factors");
    let worst = swinging
        .positions()
        .iter()
        .zip(settled.positions())
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(
        worst < 2e-3 * subject.size,
        "{} of the size",
        worst / subject.size
    );
}

/// Stiffness, mass and damping change how the flesh moves, not the equilibrium without gravity.
#[test]
fn the_equilibrium_does_not_depend_on_the_preset() {
    let subject = subject("cylinder");
    let base = bent_base(&subject, 0.8);
    let settle = |preset: Preset| {
        let mut simulation = simulation(&subject, &preset.params());
        simulation.step_quasistatic(&base, 10).expect("factors");
        simulation.settle().expect("factors");
        simulation.positions().to_vec()
    };
    let natural = settle(Preset::Natural);
    for preset in [Preset::Firm, Preset::Jelly, Preset::Fps] {
        let worst = natural
            .iter()
            .zip(&settle(preset))
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max);
        assert!(
            worst < 1e-3 * subject.size,
            "{preset:?}: {}",
            worst / subject.size
        );
    }
}

/// The same gesture on displays of 30, 60 and 144 frames a second.
#[test]
fn the_motion_is_independent_of_the_frame_rate() {
    let subject = subject("arm");
    let skeleton = &subject.character.skeleton;
    let joint = (0..skeleton.len())
        .rev()
        .find(|&j| !skeleton.children(j).is_empty())
        .unwrap_or(0);
    let world_at = |time: f64| {
        let mut pose = skeleton.rest_pose();
        pose.rotate_about_world_axes(
            skeleton,
            joint,
            &Quat::from_euler_angles(0.0, 0.0, 0.6 * (4.0 * time).sin()),
        );
        skeleton.world_from_joint(&pose)
    };
    let play = |rate: u32| {
        let mut actor = Actor::bind(
            &subject,
            MethodId::PD,
            &Preset::Soft.params(),
            &Progress::new(),
        )
        .expect("binds");
        for frame in 0..=rate {
            let time = f64::from(frame) / f64::from(rate);
            actor
                .advance(&Frame {
                    world_from_joint: &world_at(time),
                    dt_secs: 1.0 / f64::from(rate),
                })
                .expect("moves");
        }
        actor.positions().to_vec()
    };
    let reference = play(60);
    let amplitude = reference
        .iter()
        .zip(&subject.character.bind_positions())
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    for rate in [30, 144] {
        let worst = reference
            .iter()
            .zip(&play(rate))
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max);
        assert!(
            worst < 0.01 * amplitude,
            "{rate}: {} of the amplitude",
            worst / amplitude
        );
    }
}

/// Every clip of the mannequin on displays of 30, 60 and 144 frames a second, compared whenever all three show a frame.
#[test]
fn clips_are_independent_of_the_frame_rate() {
    let subject = subject("mannequin");
    let character = &subject.character;
    assert!(!character.clips.is_empty());
    let bind = character.bind_positions();
    let distance = |a: &[Point], b: &[Point]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max)
    };
    for clip in &character.clips {
        let play = |rate: u32| {
            let mut actor = Actor::bind(
                &subject,
                MethodId::PD,
                &Preset::Soft.params(),
                &Progress::new(),
            )
            .expect("binds");
            let mut shown = Vec::new();
            for frame in 0..=rate {
                let pose = clip.sample(&character.skeleton, f64::from(frame) / f64::from(rate));
                let world = character.skeleton.world_from_joint(&pose);
                let dt_secs = if frame == 0 {
                    0.0
                } else {
                    1.0 / f64::from(rate)
                };
                actor
                    .advance(&Frame {
                        world_from_joint: &world,
                        dt_secs,
                    })
                    .expect("moves");
                if frame % (rate / 6) == 0 {
                    shown.push(actor.positions().to_vec());
                }
            }
            shown
        };
        let reference = play(60);
        let amplitude = reference
            .iter()
            .map(|shown| distance(shown, &bind))
            .fold(0.0, f32::max);
        for rate in [30, 144] {
            let worst = reference
                .iter()
                .zip(&play(rate))
                .map(|(a, b)| distance(a, b))
                .fold(0.0, f32::max);
            println!(
                "{} at {rate}: {} of the amplitude",
                clip.name,
                worst / amplitude
            );
            assert!(
                worst < 0.01 * amplitude,
                "{} at {rate}: {} of the amplitude",
                clip.name,
                worst / amplitude
            );
        }
    }
}

/// A character that is carried and turned as a whole jiggles by inertia alone: half the speed, a quarter of the acceleration, a quarter
/// of the jiggle; and none at all in the limit.
#[test]
fn slow_motion_causes_no_jiggle() {
    let subject = subject("arm");
    let bind = subject.character.skeleton.bind_transforms();
    let rest = subject.character.bind_positions();
    let jiggle = |speed: f64| {
        let mut actor = Actor::bind(
            &subject,
            MethodId::PD,
            &Preset::Jelly.params(),
            &Progress::new(),
        )
        .expect("binds");
        let dt_secs = 1.0 / 60.0;
        let frames = (2.0 / speed / dt_secs) as u32;
        let mut worst = 0.0_f32;
        for frame in 0..=frames {
            let phase = speed * f64::from(frame) * dt_secs * std::f64::consts::TAU;
            // Starts and ends without velocity.
            let way = 0.5 - 0.5 * phase.cos();
            let offset = nalgebra::Vector3::new(0.5, 0.2, -0.3) * (way * f64::from(subject.size));
            let motion =
                nalgebra::Isometry3::new(offset, nalgebra::Vector3::new(0.3, 0.5, -0.2) * way);
            let carried: Affine = nalgebra::convert(motion);
            let world: Vec<Affine> = bind.iter().map(|joint| carried * joint).collect();
            let dt_secs = if frame == 0 { 0.0 } else { dt_secs };
            actor
                .advance(&Frame {
                    world_from_joint: &world,
                    dt_secs,
                })
                .expect("moves");
            let off = |(p, rest): (&Point, &Point)| {
                (p - (motion * rest.cast::<f64>()).cast::<f32>()).norm()
            };
            worst = actor
                .positions()
                .iter()
                .zip(&rest)
                .map(off)
                .fold(worst, f32::max);
        }
        worst / subject.size
    };
    let amplitudes = [1.0, 0.5, 0.25, 0.05].map(jiggle);
    println!("jiggle at falling speeds: {amplitudes:?} of the size");
    assert!(
        amplitudes[0] > 1e-3,
        "fast enough to be seen: {amplitudes:?}"
    );
    for pair in amplitudes[..3].windows(2) {
        assert!(pair[1] < 0.4 * pair[0], "{amplitudes:?}");
    }
    assert!(amplitudes[3] < 0.01 * amplitudes[0], "{amplitudes:?}");
}

/// A character a hundred times as large does the same, a hundred times as large.
#[test]
fn scaling_changes_only_the_size() {
    let small = subject("arm");
    let mut character = scaled::scaled(&small.character, 100.0);
    character.metres_per_unit *= 0.01;
    let large =
        Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"));
    let play = |subject: &Arc<Subject>| {
        let mut simulation = simulation(subject, &Preset::Soft.params());
        for k in 1..=20 {
            simulation.step(&bent_base(subject, 0.04 * f64::from(k)));
        }
        simulation.positions().to_vec()
    };
    let (a, b) = (play(&small), play(&large));
    let worst = a
        .iter()
        .zip(&b)
        .map(|(a, b)| (a.coords * 100.0 - b.coords).norm())
        .fold(0.0, f32::max);
    assert!(
        worst < 1e-4 * large.size,
        "{} of the size",
        worst / large.size
    );
}
