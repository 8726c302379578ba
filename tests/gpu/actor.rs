//! A character that a graphics device simulates: the contract of skinning methods, agreement with the processor, and what happens when
//! the device is lost. Software Vulkan will do.

use std::sync::Arc;

use sinew::dynamics::{Collisions, Params};
use sinew::gpu::GpuContext;
use sinew::gpu::actor::{DeviceChoice, GpuFlesh, GpuModel, decide_device, without_measuring};
use sinew::math::{Affine, Point, Vec64};
use sinew::methods::{
    Actor, AnyDevice, Device, DeviceError, DeviceFrameReport, DeviceStep, Frame, MethodId,
    SkinError, Subject, SurfaceDevice, SurfaceMut,
};
use sinew::progress::Progress;

use crate::common::moved::{bent, worst};
use crate::common::on_bones::on_bones;
use crate::common::on_device;

/// As on the processor: a few dozen roundings of the size.
const REST_TOL: f32 = 1e-5;
/// What a clip may drift apart, of the size.
const CLIP_TOL: f32 = 1e-3;
const DT: f64 = 1.0 / 60.0;

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"))
}

fn params() -> Params {
    Params {
        collisions: Collisions::Off,
        ..Params::default()
    }
}

fn on_cpu(subject: &Arc<Subject>) -> Actor {
    Actor::bind(subject, MethodId::PD, &params(), &Progress::new()).expect("binds")
}

fn on_gpu(subject: &Arc<Subject>, gpu: &GpuContext) -> Actor {
    let mut actor = on_cpu(subject);
    let model = Arc::new(GpuModel::new(gpu, &actor).expect("fits"));
    actor.set_device(Some(AnyDevice::Flesh(Box::new(
        GpuFlesh::new(model).expect("fits"),
    ))));
    assert!(actor.is_on_device());
    actor
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine], dt_secs: f64) {
    actor
        .advance(&Frame {
            world_from_joint,
            dt_secs,
        })
        .expect("moves");
    assert!(actor.is_here(), "read back");
}

#[test]
fn rest_is_still_and_rigid_motions_are_reproduced() {
    let Some(gpu) = on_device::own() else { return };
    let turn = nalgebra::Isometry3::new(Vec64::new(0.4, -0.3, 0.7), Vec64::new(0.5, 1.1, -0.6));
    for name in ["cylinder", "arm"] {
        let subject = subject(name);
        let mut actor = on_gpu(&subject, &gpu);
        let bind = subject.character.skeleton.bind_transforms();
        advance(&mut actor, &bind, 0.0);
        for _ in 0..3 {
            advance(&mut actor, &bind, DT);
        }
        let error = worst(actor.positions(), &subject.bind_positions) / subject.size;
        assert!(error < REST_TOL, "{name} at rest: {error} of the size");
        let motion: Affine = nalgebra::convert(turn);
        let moved: Vec<Affine> = bind.iter().map(|world| motion * world).collect();
        advance(&mut actor, &moved, 0.0);
        let expected: Vec<Point> = subject
            .bind_positions
            .iter()
            .map(|p| (turn * p.cast::<f64>()).cast::<f32>())
            .collect();
        let error = worst(actor.positions(), &expected) / subject.size;
        assert!(error < REST_TOL, "{name} moved: {error} of the size");
    }
}

#[test]
fn equal_frames_are_bit_equal() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("arm");
    let mut actor = on_gpu(&subject, &gpu);
    let mut play = || -> Vec<Vec<Point>> {
        actor.reset();
        let frame = |k: u32| {
            advance(&mut actor, &bent(&subject, 0.04 * f64::from(k)), DT);
            actor.positions().to_vec()
        };
        (0..6).map(frame).collect()
    };
    assert!(play() == play());
}

#[test]
fn a_clip_agrees_on_both_devices() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let (mut cpu, mut device) = (on_cpu(&subject), on_gpu(&subject, &gpu));
    let mut moved = 0.0_f32;
    for frame in 0..40 {
        // Frames that are no whole steps, so that what lies between two steps is compared, too.
        let dt_secs = if frame == 0 { 0.0 } else { 1.3 * DT };
        let pose = bent(&subject, 0.5 * (0.15 * f64::from(frame)).sin());
        advance(&mut cpu, &pose, dt_secs);
        advance(&mut device, &pose, dt_secs);
        let error = worst(cpu.positions(), device.positions()) / subject.size;
        assert!(error < CLIP_TOL, "frame {frame}: {error} of the size");
        let inside = worst(cpu.simulated(), device.simulated()) / subject.size;
        assert!(
            inside < CLIP_TOL,
            "frame {frame}: simulated vertices are off by {inside} of the size"
        );
        let turned = cpu
            .normals()
            .iter()
            .zip(device.normals())
            .map(|(a, b)| (a - b).norm())
            .max_by(f32::total_cmp)
            .expect("has vertices");
        assert!(turned < 0.02, "frame {frame}: normals are off by {turned}");
        moved = moved.max(worst(cpu.positions(), &subject.bind_positions) / subject.size);
    }
    assert!(
        moved > 0.05,
        "it must move for this to mean anything: {moved} of the size"
    );
    assert!(device.is_on_device() && device.take_fault().is_none());
}

#[test]
fn the_state_is_transferred_between_devices() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let (mut cpu, mut device) = (on_cpu(&subject), on_gpu(&subject, &gpu));
    let pose = |k: u32| bent(&subject, 0.05 * f64::from(k));
    for frame in 0..12 {
        if frame == 6 {
            device.set_device(None);
            assert!(!device.is_on_device());
        }
        advance(&mut cpu, &pose(frame), DT);
        advance(&mut device, &pose(frame), DT);
        let error = worst(cpu.positions(), device.positions()) / subject.size;
        assert!(error < CLIP_TOL, "frame {frame}: {error} of the size");
    }
}

#[test]
fn changed_parameters_move_the_state_to_the_cpu() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let mut device = on_gpu(&subject, &gpu);
    advance(&mut device, &bent(&subject, 0.1), DT);
    device
        .set_params(&Params {
            budget_ms: Some(5.0),
            ..params()
        })
        .expect("usable");
    assert!(device.is_on_device(), "the equations are the same");
    device
        .set_params(&Params {
            stiffness_pa: 9_000.0,
            ..params()
        })
        .expect("usable");
    assert!(!device.is_on_device(), "the device has other equations");
    advance(&mut device, &bent(&subject, 0.1), DT);
}

#[test]
fn after_a_device_loss_the_cpu_continues_from_the_last_state() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let (mut cpu, mut device) = (on_cpu(&subject), on_gpu(&subject, &gpu));
    let pose = |frame: u32| bent(&subject, 0.005 * f64::from(frame));
    for actor in [&mut cpu, &mut device] {
        advance(actor, &pose(0), 0.0);
        for frame in 1..=20 {
            advance(actor, &pose(frame), DT);
        }
    }
    let pose = pose(20);
    gpu.simulate_loss();
    for frame in 0..60 {
        for actor in [&mut cpu, &mut device] {
            actor
                .advance(&Frame {
                    world_from_joint: &pose,
                    dt_secs: DT,
                })
                .expect("goes on");
        }
        assert!(!device.is_on_device());
        let jump = worst(cpu.positions(), device.positions()) / subject.size;
        // The last state that came back is a few frames old: it may lag, but nothing may be thrown about.
        assert!(jump < 0.02, "frame {frame}: {jump} of the size");
    }
    let error = worst(cpu.positions(), device.positions()) / subject.size;
    assert!(error < CLIP_TOL, "in the end: {error} of the size");
    assert!(matches!(
        device.take_fault(),
        Some(DeviceError::Lost { .. })
    ));
    assert!(device.take_fault().is_none(), "it is said once");
}

#[test]
fn still_flesh_sleeps_on_the_device() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let mut device = on_gpu(&subject, &gpu);
    let pose = bent(&subject, 0.1);
    advance(&mut device, &pose, 0.0);
    let asleep = (0..400).any(|_| {
        advance(&mut device, &pose, DT);
        device
            .projective()
            .is_some_and(sinew::methods::Projective::is_asleep)
    });
    assert!(asleep);
    let before = device.positions().to_vec();
    advance(&mut device, &pose, DT);
    advance(&mut device, &pose, DT);
    assert!(before == device.positions());
    advance(&mut device, &bent(&subject, 0.2), DT);
    assert!(before != device.positions(), "moving bones wake it");
}

#[test]
fn the_device_choice_has_a_reason() {
    let none = without_measuring(
        DeviceChoice::Auto,
        Err("there is no graphics adapter"),
        MethodId::PD,
    );
    assert_eq!(
        none.as_deref(),
        Some("The CPU simulates: there is no graphics adapter.")
    );
    assert!(
        without_measuring(DeviceChoice::Cpu, Err("no"), MethodId::PD)
            .is_some_and(|why| why.contains("as you chose"))
    );
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let mut actor = on_cpu(&subject);
    let auto = decide_device(DeviceChoice::Auto, Ok(&gpu), &mut actor);
    if gpu.is_software() {
        assert!(
            auto.device.is_none() && auto.measured.is_none() && auto.why.contains("software"),
            "{}",
            auto.why
        );
    } else {
        assert!(auto.measured.is_some(), "{}", auto.why);
    }
    let forced = decide_device(DeviceChoice::Gpu, Ok(&gpu), &mut actor);
    assert!(
        forced.device.is_some() && forced.why.contains("GPU"),
        "{}",
        forced.why
    );
}

/// A device that computes nothing but nonsense, and says so.
struct Broken(u64, Option<DeviceFrameReport>);

impl SurfaceDevice for Broken {
    fn present(&mut self, _joints: &[Affine], _ahead_secs: f32) -> Result<(), DeviceError> {
        let times = sinew::methods::DeviceTimes::default();
        self.1 = Some(DeviceFrameReport {
            steps: self.0,
            farthest: f32::NAN,
            finite: self.0 == 0,
            contacts: None,
            work_ms: times,
            host_ms: 0.0,
        });
        Ok(())
    }

    fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.1.take()
    }

    fn fetch(&mut self, _surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl Device for Broken {
    fn set_state(&mut self, _state: &sinew::dynamics::State) -> Result<(), DeviceError> {
        Ok(())
    }

    fn step(&mut self, _step: DeviceStep<'_>) -> Result<(), DeviceError> {
        self.0 += 1;
        Ok(())
    }

    fn state(&mut self) -> Result<sinew::dynamics::State, DeviceError> {
        Err(DeviceError::Lost {
            reason: "it never was".to_owned(),
        })
    }

    fn last_state(&mut self) -> Option<sinew::dynamics::State> {
        None
    }
}

#[test]
fn non_finite_states_restart_as_on_the_cpu() {
    let subject = subject("cylinder");
    let mut actor = on_cpu(&subject);
    actor.set_device(Some(AnyDevice::Flesh(Box::new(Broken(0, None)))));
    let pose = bent(&subject, 0.1);
    // In motion: what rests makes no steps.
    let told: Vec<bool> = (0..6)
        .map(|k| {
            let frame = Frame {
                world_from_joint: &bent(&subject, 0.1 + 0.02 * f64::from(k)),
                dt_secs: DT,
            };
            actor.advance(&frame) == Err(SkinError::Diverged)
        })
        .collect();
    assert!(told.contains(&true) && told.contains(&false), "{told:?}");
    // The device that takes all it knew with it: settled in the pose.
    actor.set_device(None);
    assert!(actor.take_fault().is_some());
    let mut calm = on_cpu(&subject);
    advance(&mut calm, &pose, 0.0);
    advance(&mut actor, &pose, DT);
    let error = worst(actor.positions(), calm.positions()) / subject.size;
    assert!(error < 1e-4, "{error} of the size");
}
