//! Methods with tables of their own on the device (centres of rotation, deformers, direct delta mush) beside the CPU, in the poses that are
//! hard for them. Software Vulkan will do.

use std::sync::Arc;

use sinew::gpu::GpuContext;
use sinew::gpu::actor::{DeviceChoice, GpuDevice, decide_device};
use sinew::math::{Affine, Quat, Vec64, affine};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;

use crate::common::moved::{bent, worst};
use crate::common::on_device;
use crate::surface::{dressed, lengthened, sheared};
use crate::surfaces::{assert_agrees, bound, position_tol};

const METHODS: [MethodId; 3] = [MethodId::COR, MethodId::SWING_TWIST, MethodId::DDM];

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

fn on_gpu(subject: &Arc<Subject>, method: MethodId, gpu: &GpuContext) -> Actor {
    let mut actor = bound(subject, method);
    let device = GpuDevice::new(gpu, &actor).expect("fits");
    device.give_to(&mut actor);
    assert!(actor.is_on_device());
    actor
}

#[test]
fn hard_poses_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let subjects = ["cylinder", "arm", "gecko"].map(subject);
    for subject in subjects.into_iter().chain([dressed()]) {
        for method in METHODS {
            let (mut cpu, mut device) = (bound(&subject, method), on_gpu(&subject, method, gpu));
            let recipe = cpu.recipe().expect("has a form on the device");
            for (pose, world_from_joint) in poses(&subject) {
                advance(&mut cpu, &world_from_joint);
                advance(&mut device, &world_from_joint);
                let what = format!("{}, {method:?}, {pose}", subject.character.name);
                assert_agrees(
                    &what,
                    &recipe,
                    subject.size,
                    position_tol(method),
                    (device.positions(), device.normals()),
                    (cpu.positions(), cpu.normals()),
                );
            }
            assert!(device.take_fault().is_none());
        }
    }
}

/// Tables that a parameter changes are of no use: the CPU goes on until a device has the new ones.
#[test]
fn changed_tables_leave_the_device() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let mut actor = on_gpu(&subject, MethodId::DDM, gpu);
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

/// Normals that a device does not compute keep the frame on the CPU, and the choice says so.
#[test]
fn other_normals_stay_on_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let mut actor = bound(&subject, MethodId::COR);
    assert!(
        decide_device(DeviceChoice::Gpu, Ok(gpu), &mut actor)
            .device
            .is_some()
    );
    actor
        .set_values(&ParamValues::default())
        .expect("exact normals");
    let decision = decide_device(DeviceChoice::Gpu, Ok(gpu), &mut actor);
    assert!(
        decision.device.is_none() && decision.why.contains("normals=triangles"),
        "{}",
        decision.why
    );
}
