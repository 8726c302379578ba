//! Long runs, rest, and motions of the whole.

use sinew::dynamics::{Params, State};
use sinew::math::{Point, Vec3};
use sinew::methods::Subject;

use super::{
    STEP_TOLERANCE, Way, difference, distance, params, place, simulation, subject, turned,
};
use crate::common::on_device;
use crate::stepping::Device;

/// Hundreds of steps.
const CLIP_TOLERANCE: f32 = 1e-3;

/// A clip, or where there is none, joints that swing.
fn clip_base(subject: &Subject, frame: u32) -> Vec<Point> {
    let time = f64::from(frame) / 60.0;
    let character = &subject.character;
    match character.clips.first() {
        Some(clip) => place(
            subject,
            &character
                .skeleton
                .world_from_joint(&clip.sample(&character.skeleton, time % clip.duration_secs)),
        ),
        None => turned(subject, 0.4 * (3.0 * time).sin()),
    }
}

#[test]
fn hundreds_of_steps_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let mut wrong = Vec::new();
    for (name, way, frames) in [
        ("cylinder", Way::Plain, 100),
        ("arm", Way::Accelerated, 100),
        ("mannequin", Way::Accelerated, 300),
    ] {
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
                worst = worst.max(difference(
                    &subject,
                    &expected,
                    &actual,
                    params(way).time_step_secs as f32,
                ));
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
        let simulation = simulation(
            &subject,
            &Params {
                gravity_m_s2: [0.0; 3],
                ..params(way)
            },
        );
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
fn rigid_motions_keep_the_shape() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let simulation = simulation(
        &subject,
        &Params {
            gravity_m_s2: [0.0; 3],
            ..params(Way::Accelerated)
        },
    );
    let turn = nalgebra::Rotation3::from_euler_angles(0.5_f32, -1.2, 2.0);
    let way = Vec3::new(0.01, -0.004, 0.007) * subject.size;
    let moved = |points: &[Point], steps: f32| {
        points
            .iter()
            .map(|p| turn * p + way * steps)
            .collect::<Vec<Point>>()
    };
    let rest = simulation.state();
    let velocity = vec![way / params(Way::Accelerated).time_step_secs as f32; rest.position.len()];
    let device = Device::like(gpu, &simulation);
    let begin = State {
        position: moved(&rest.position, 0.0),
        velocity: velocity.clone(),
        base_velocity: velocity,
        base: moved(&rest.base, 0.0),
    };
    device.state.upload(gpu, 0, &begin).expect("fits");
    for step in 1..=20_u8 {
        device.step(&moved(&rest.base, f32::from(step)));
    }
    let off = distance(&device.download().position, &moved(&rest.position, 20.0)) / subject.size;
    assert!(off < STEP_TOLERANCE, "{off:e} of the size");
}
