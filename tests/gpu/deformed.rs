//! Methods that only follow joints on the device beside the CPU, in the poses that are hard for them, with all kinds of normals. Software
//! Vulkan will do.

use std::sync::Arc;

use sinew::gpu::GpuContext;
use sinew::gpu::actor::GpuDevice;
use sinew::math::{Affine, Quat, Vec64, affine};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;

use crate::common::moved::{bent, worst};
use crate::common::on_device;
use crate::surface::{dressed, lengthened, sheared};
use crate::surfaces::{assert_agrees, bound, bound_with, choices_of_normals, position_tol};

const METHODS: [MethodId; 5] = [
    MethodId::LBS,
    MethodId::DQS,
    MethodId::COR,
    MethodId::SWING_TWIST,
    MethodId::DDM,
];

/// Positions agree to this part of the size where the character is some sizes away from the origin.
const FAR_TOL: f32 = 1e-5;

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine]) {
    let dt_secs = 1.0 / 60.0;
    let frame = Frame {
        world_from_joint,
        dt_secs,
    };
    actor.advance(&frame).expect("moves");
}

/// Joints that turn about the way to their child, and that scale.
fn twisted(subject: &Subject, angle: f64, scale: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let child = skeleton.children(joint).first();
        let along = child.map_or_else(Vec64::y, |&child| {
            skeleton.rest_pose().locals[child].translation
        });
        let Some(axis) = nalgebra::Unit::try_new(along, 1e-9) else {
            continue;
        };
        local.rotation *= Quat::from_axis_angle(&axis, angle);
        local.scale *= scale;
    }
    skeleton.world_from_joint(&pose)
}

/// Every joint moved by a motion of the world.
fn by(motion: &Affine, pose: &[Affine]) -> Vec<Affine> {
    pose.iter().map(|joint| motion * joint).collect()
}

fn poses(subject: &Subject) -> Vec<(&'static str, Vec<Affine>)> {
    let far = affine(
        &nalgebra::Matrix3::identity(),
        &(Vec64::new(3.0, -2.0, 4.0) * f64::from(subject.size)),
    );
    let mirror = affine(
        &nalgebra::Matrix3::from_diagonal(&Vec64::new(-1.0, 1.0, 1.0)),
        &Vec64::zeros(),
    );
    vec![
        ("rest", subject.character.skeleton.bind_transforms()),
        ("bent", bent(subject, 0.9)),
        ("bent far", bent(subject, 2.4)),
        ("twisted", twisted(subject, 1.3, 1.0)),
        ("twisted far", twisted(subject, 3.0, 1.0)),
        ("scaled", twisted(subject, 0.6, 1.15)),
        ("sheared", sheared(subject)),
        ("lengthened", lengthened(subject, 1.6)),
        ("mirrored", by(&mirror, &bent(subject, 0.7))),
        ("far away", by(&far, &bent(subject, 0.7))),
    ]
}

fn on_gpu(mut actor: Actor, gpu: &GpuContext) -> Actor {
    let device = GpuDevice::new(gpu, &actor).expect("fits");
    device.give_to(&mut actor);
    assert!(actor.is_on_device());
    actor
}

#[test]
fn hard_poses_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    for subject in [subject("arm"), dressed()] {
        let choices = |method| {
            choices_of_normals(method)
                .into_iter()
                .map(move |c| (method, c))
        };
        for (method, normals) in METHODS.into_iter().flat_map(choices) {
            let [mut cpu, device] = [(); 2].map(|()| bound_with(&subject, method, normals));
            let mut device = on_gpu(device, gpu);
            let recipe = cpu.recipe().expect("has a form on the device");
            for (pose, world_from_joint) in poses(&subject) {
                advance(&mut cpu, &world_from_joint);
                advance(&mut device, &world_from_joint);
                let what = format!(
                    "{}, {method:?}, {normals:?}, {pose}",
                    subject.character.name
                );
                let tolerance = if pose == "far away" {
                    position_tol(method).max(FAR_TOL)
                } else {
                    position_tol(method)
                };
                assert_agrees(
                    &what,
                    &recipe,
                    subject.size,
                    tolerance,
                    (device.positions(), device.normals()),
                    (cpu.positions(), cpu.normals()),
                );
            }
            assert!(device.take_fault().is_none());
        }
    }
}

/// Where joints collapse the skin, or scale it beyond what squares of `f32` hold, normals are unit vectors.
#[test]
fn normals_of_collapsed_skin_are_unit_vectors() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let bind = subject.character.skeleton.bind_transforms();
    for method in METHODS {
        for normals in ["exact", "blended"] {
            let mut device = on_gpu(bound_with(&subject, method, Some(normals)), gpu);
            for diagonal in [
                [0.0; 3],
                [1.0, 0.0, 1.0],
                [1.0, 0.0, 0.0],
                [1e-25; 3],
                [1e14; 3],
                [1e-12, 1.0, 1e12],
            ] {
                let linear = nalgebra::Matrix3::from_diagonal(&Vec64::from(diagonal));
                let scaled = by(&affine(&linear, &Vec64::zeros()), &bind);
                // All joints, and one of them.
                let mut one = bind.clone();
                one[1] = scaled[1];
                for pose in [scaled, one] {
                    advance(&mut device, &pose);
                    for (vertex, normal) in device.normals().iter().enumerate() {
                        assert!(
                            (normal.norm() - 1.0).abs() < 1e-5,
                            "{method:?}, {normals:?}, {diagonal:?}, {vertex}: {normal}"
                        );
                    }
                }
            }
        }
    }
}

/// Tables that a parameter changes are of no use: the CPU goes on until a device has the new ones.
#[test]
fn changed_tables_leave_the_device() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let mut actor = on_gpu(bound(&subject, MethodId::DDM), gpu);
    let spec = MethodId::DDM.descriptor().params.first().expect("has some");
    let mut values = ParamValues::default();
    values.set(spec, spec.default);
    actor.set_values(&values).expect("are those that it has");
    assert!(actor.is_on_device());
    let other = if spec.default == spec.range[0] {
        spec.range[1]
    } else {
        spec.range[0]
    };
    values.set(spec, other);
    actor.set_values(&values).expect("are in range");
    assert!(!actor.has_device() && actor.take_fault().is_none());
    let device = GpuDevice::new(gpu, &actor).expect("fits");
    device.give_to(&mut actor);
    let pose = bent(&subject, 0.8);
    advance(&mut actor, &pose);
    let there = actor.positions().to_vec();
    actor.set_device(None);
    advance(&mut actor, &pose);
    let apart = worst(&there, actor.positions()) / subject.size;
    assert!(apart < position_tol(MethodId::DDM), "{apart} of the size");
}

/// Another choice of normals leaves the device; the next one computes them.
#[test]
fn changed_normals_leave_the_device() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let pose = bent(&subject, 0.8);
    for method in METHODS {
        let mut actor = on_gpu(bound(&subject, method), gpu);
        for name in ["blended", "triangles", "exact"] {
            let mut values = ParamValues::default();
            values
                .set_text(method.descriptor().params, "normals", name)
                .expect("a name");
            actor.set_values(&values).expect("are in range");
            assert!(!actor.has_device() && actor.take_fault().is_none());
            actor = on_gpu(actor, gpu);
            advance(&mut actor, &pose);
            let mut cpu = bound_with(&subject, method, Some(name));
            advance(&mut cpu, &pose);
            let pairs = actor.normals().iter().zip(cpu.normals());
            let apart = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
            let tolerance = if method == MethodId::DDM { 5e-3 } else { 1e-3 };
            assert!(apart < tolerance, "{method:?}, {name}: {apart}");
        }
    }
}
