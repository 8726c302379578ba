//! A crowd on the device is many single characters. Needs an adapter (software Vulkan will do).

use std::sync::Arc;

use crate::common::on_bones::on_bones;
use crate::common::{moved, on_device};
use crate::surfaces::{BLEND_NORMAL_TOL, choices_of_normals};
use sinew::character::{Character, FleshSettings, SimVertices};
use sinew::dynamics::{Collisions, Params};
use sinew::gpu::actor::{CrowdError, GpuCrowd};
use sinew::math::{Affine, Point, Quat, Vec3, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::session::{CrowdMotion, Motion};

/// Flesh over half a second, as a part of the size.
const FLESH_TOLERANCE: f32 = 1e-3;
/// What depends on the pose alone.
const BLENDED_TOLERANCE: f32 = 1e-5;
const FRAMES: usize = 30;
const DT: f64 = 1.0 / 60.0;

fn subject(name: &str, sim_vertices: usize) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    let flesh = FleshSettings {
        sim_vertices: SimVertices::About(sim_vertices),
        ..character.flesh.clone()
    };
    Arc::new(
        Subject::build(
            Arc::new(on_bones(Character { flesh, ..character })),
            &Progress::new(),
        )
        .expect("builds"),
    )
}

fn params() -> Params {
    Params {
        collisions: Collisions::Off,
        ..Params::default()
    }
}

fn bind(subject: &Arc<Subject>, method: MethodId) -> Actor {
    Actor::bind(subject, method, &params(), &Progress::new()).expect("binds")
}

/// Every joint but the first swings about z, each instance ahead of the one before.
fn poses(subject: &Subject, instances: usize, time_secs: f64) -> Vec<Vec<Affine>> {
    let skeleton = &subject.character.skeleton;
    let pose = |instance: usize| {
        let mut pose = skeleton.rest_pose();
        for local in pose.locals.iter_mut().skip(1) {
            let angle = 0.5 * (5.0 * time_secs + 1.1 * instance as f64).sin();
            local.rotation *= Quat::from_axis_angle(&Vec64::z_axis(), angle);
        }
        skeleton.world_from_joint(&pose)
    };
    (0..instances).map(pose).collect()
}

fn places(count: usize, size: f32) -> Vec<Vec3> {
    (0..count)
        .map(|k| Vec3::new(k as f32 * size, 0.0, -0.5 * k as f32 * size))
        .collect()
}

/// Farthest that one instance is from a character that stands where it does.
fn apart(all: &[Point], instance: usize, actor: &Actor, place: &Vec3) -> f32 {
    let count = actor.positions().len();
    let own = &all[instance * count..(instance + 1) * count];
    let distance = |(a, b): (&Point, &Point)| (a - (b + place)).norm();
    own.iter()
        .zip(actor.positions())
        .map(distance)
        .max_by(f32::total_cmp)
        .unwrap_or_default()
        / actor.subject().size
}

/// Plays a crowd and as many characters on the processor, some frames with no step in them, some with two. Returns how far apart they
/// ever were.
fn played(method: MethodId, dt_secs: f64) -> Option<f32> {
    let gpu = on_device::gpu()?;
    let subject = subject("cylinder", 300);
    let places = places(3, subject.size);
    let mut crowd = GpuCrowd::new(gpu, bind(&subject, method), &places).expect("fits");
    let mut actors: Vec<Actor> = (0..3).map(|_| bind(&subject, method)).collect();
    let mut worst = 0.0_f32;
    for frame in 0..FRAMES {
        let poses = poses(&subject, 3, frame as f64 * dt_secs);
        let dt_secs = if frame == 0 { 0.0 } else { dt_secs };
        crowd.advance(&poses, dt_secs).expect("goes on");
        crowd.present().expect("is there");
        let (positions, normals) = crowd.fetch().expect("comes back");
        assert!(normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-3));
        for (instance, (actor, pose)) in actors.iter_mut().zip(&poses).enumerate() {
            actor
                .advance(&Frame {
                    world_from_joint: pose,
                    dt_secs,
                })
                .expect("goes on");
            worst = worst.max(apart(&positions, instance, actor, &places[instance]));
            if choices_of_normals(method).len() > 1 {
                let own = &normals[instance * actor.normals().len()..];
                let pairs = own.iter().zip(actor.normals());
                let turned = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
                assert!(turned <= BLEND_NORMAL_TOL, "{method:?}: {turned}");
            }
        }
        let box_of_all = crowd.bounds();
        assert!(
            positions
                .iter()
                .all(|p| (0..3).all(|k| p[k] >= box_of_all.min[k] && p[k] <= box_of_all.max[k])),
            "outside of its box"
        );
    }
    assert_eq!(crowd.recovered(), 0);
    Some(worst)
}

#[test]
fn flesh_of_a_crowd_agrees_with_single_characters() {
    let step_secs = params().time_step_secs;
    for dt_secs in [step_secs, 0.6 * step_secs, 1.7 * step_secs] {
        let Some(worst) = played(MethodId::PD, dt_secs) else {
            return;
        };
        assert!(
            worst < FLESH_TOLERANCE,
            "frames of {dt_secs} s: {worst} of the size apart"
        );
    }
}

#[test]
fn blended_crowds_agree_with_single_characters() {
    let methods = [
        MethodId::RIGID,
        MethodId::LBS,
        MethodId::DQS,
        MethodId::COR,
        MethodId::SWING_TWIST,
    ];
    for method in methods {
        let Some(worst) = played(method, 1.0 / 60.0) else {
            return;
        };
        assert!(
            worst < BLENDED_TOLERANCE,
            "{method:?}: {worst} of the size apart"
        );
    }
}

/// One instance is given velocities that are no numbers: it is settled anew, and the others are the same to the last bit as if nothing
/// had been.
#[test]
fn a_diverged_instance_does_not_affect_others() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder", 300);
    let places = places(3, subject.size);
    let crowd = || GpuCrowd::new(gpu, bind(&subject, MethodId::PD), &places).expect("fits");
    let (mut sound, mut hurt) = (crowd(), crowd());
    let step_secs = params().time_step_secs;
    let count = subject.bind_positions.len();
    for frame in 0..FRAMES {
        let poses = poses(&subject, 3, frame as f64 * step_secs);
        if frame == 5 {
            let mut state = bind(&subject, MethodId::PD)
                .settled_in(&poses[1])
                .expect("settles")
                .expect("simulates")
                .state;
            state.velocity.fill(Vec3::repeat(f32::NAN));
            hurt.set_state(1, &state).expect("is its own");
        }
        for crowd in [&mut sound, &mut hurt] {
            crowd
                .advance(&poses, if frame == 0 { 0.0 } else { step_secs })
                .expect("goes on");
            crowd.present().expect("is there");
        }
        let [sound, hurt] = [&sound, &hurt].map(|crowd| crowd.fetch().expect("comes back").0);
        assert!(
            hurt.iter().all(|p| p.iter().all(|c| c.is_finite())),
            "frame {frame}: what is no number is shown"
        );
        for instance in [0, 2] {
            let range = instance * count..(instance + 1) * count;
            assert!(
                sound[range.clone()] == hurt[range],
                "frame {frame}: instance {instance} notices"
            );
        }
    }
    assert_eq!(
        (sound.recovered(), hurt.recovered()),
        (0, 1),
        "exactly one begins anew, once"
    );
    // It is about where it would be anyway: what is left is jiggling.
    let [sound, hurt] = [&sound, &hurt].map(|crowd| crowd.fetch().expect("comes back").0);
    let apart = moved::worst(&sound, &hurt) / subject.size;
    assert!(apart < 0.05, "{apart} of the size from where it should be");
}

/// One jumps to another pose: it is settled there, and nothing explodes.
#[test]
fn an_instance_that_jumps_is_settled() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder", 300);
    let places = places(2, subject.size);
    let mut crowd = GpuCrowd::new(gpu, bind(&subject, MethodId::PD), &places).expect("fits");
    let step_secs = params().time_step_secs;
    let rest = subject
        .character
        .skeleton
        .world_from_joint(&subject.character.skeleton.rest_pose());
    crowd
        .advance(&[rest.clone(), rest.clone()], 0.0)
        .expect("goes on");
    let mut turned = subject.character.skeleton.rest_pose();
    for local in turned.locals.iter_mut().skip(1) {
        local.rotation *= Quat::from_axis_angle(&Vec64::z_axis(), 1.9);
    }
    let turned = subject.character.skeleton.world_from_joint(&turned);
    let mut settled = bind(&subject, MethodId::PD);
    settled
        .advance(&Frame {
            world_from_joint: &turned,
            dt_secs: 0.0,
        })
        .expect("settles");
    for _ in 0..4 {
        crowd
            .advance(&[rest.clone(), turned.clone()], 3.0 * step_secs)
            .expect("goes on");
        crowd.present().expect("is there");
        let (positions, _) = crowd.fetch().expect("comes back");
        let apart = apart(&positions, 1, &settled, &places[1]);
        assert!(apart < FLESH_TOLERANCE, "{apart} of the size apart");
    }
    assert_eq!(crowd.recovered(), 1);
}

#[test]
fn too_many_instances_are_rejected_with_the_maximum() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder", 300);
    for method in [MethodId::LBS, MethodId::PD] {
        let crowd =
            |count: usize| GpuCrowd::new(gpu, bind(&subject, method), &vec![Vec3::zeros(); count]);
        let Err(error @ CrowdError::TooMany { .. }) = crowd(10_000_000) else {
            panic!("ten million fit")
        };
        let CrowdError::TooMany { most, .. } = error else {
            unreachable!()
        };
        assert!(
            most > 10 && error.to_string().contains(&most.to_string()),
            "{error}"
        );
        assert!(matches!(crowd(0), Err(CrowdError::Nobody)));
        let mut crowd = crowd(2).expect("two fit");
        assert!(matches!(
            crowd.advance(&[], 0.0),
            Err(CrowdError::Poses {
                actual: 0,
                expected: 2
            })
        ));
    }
}

/// A crowd whose device is lost with frames under way says so, and lets nobody wait.
#[test]
fn a_lost_device_is_an_error_of_the_crowd() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder", 300);
    let mut crowd =
        GpuCrowd::new(&gpu, bind(&subject, MethodId::PD), &places(2, subject.size)).expect("fits");
    for frame in 0..6_u8 {
        crowd
            .advance(&poses(&subject, 2, f64::from(frame) * DT), DT)
            .expect("goes on");
        crowd.present().expect("goes on");
    }
    gpu.simulate_loss();
    assert!(matches!(crowd.submitted(), Err(CrowdError::Gpu(_))));
    assert!(matches!(
        crowd.advance(&poses(&subject, 2, 1.0), DT),
        Err(CrowdError::Gpu(_))
    ));
    assert!(matches!(crowd.wait(), Err(CrowdError::Gpu(_))));
}

/// However many there are, a frame has as many passes.
#[test]
fn the_number_of_passes_is_independent_of_instances() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder", 300);
    for method in [MethodId::LBS, MethodId::PD] {
        let size = |count: usize| {
            GpuCrowd::new(gpu, bind(&subject, method), &places(count, 1.0))
                .expect("fits")
                .size()
        };
        let (one, many) = (size(1), size(9));
        assert_eq!(
            (one.passes_step, one.passes_surface),
            (many.passes_step, many.passes_surface)
        );
        assert_eq!(
            (one.constant_bytes, one.instance_bytes),
            (many.constant_bytes, many.instance_bytes)
        );
        assert_eq!(9 * one.bytes_up_step, many.bytes_up_step);
    }
}

#[test]
fn a_crowd_stands_on_a_grid_without_overlap() {
    let subject = subject("mannequin", 500);
    let clip = subject
        .character
        .clips
        .iter()
        .position(|clip| clip.duration_secs > 0.0)
        .expect("has a clip");
    for count in [1, 2, 7, 25, 100] {
        let motion = CrowdMotion::new(&subject, Motion::Clip(clip), count);
        assert_eq!(motion.places().len(), count);
        let middle = motion.places().iter().sum::<Vec3>() / count as f32;
        assert!(
            middle.norm() < subject.size,
            "{count}: around where the character stands, not {middle}"
        );
        for (k, a) in motion.places().iter().enumerate() {
            assert!(a.dot(&motion.up()).abs() < 1e-6, "all stand on the floor");
            assert!(
                motion.places()[..k]
                    .iter()
                    .all(|b| (a - b).norm() > 0.3 * subject.size),
                "{count}: two are too close"
            );
        }
        let poses = motion.poses_at(&subject.character, 0.3);
        assert!(
            count < 2 || poses[0] != poses[1],
            "neighbours move differently"
        );
    }
}
