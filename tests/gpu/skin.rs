//! Characters whose skin a graphics device moves by their joints alone: agreement with the processor, and what happens when the device is
//! lost. Software Vulkan will do.

use std::sync::Arc;

use sinew::gpu::GpuContext;
use sinew::gpu::actor::{DeviceChoice, GpuDevice, decide_device, without_measuring};
use sinew::math::{Affine, Point, Vec3};
use sinew::methods::{
    Actor, AnyDevice, DeviceError, DeviceFrameReport, Frame, MethodId, SkinError, Subject,
    SurfaceDevice, SurfaceMut,
};
use sinew::progress::Progress;

use crate::common::moved::{bent, worst};
use crate::common::{on_device, skip};
use crate::surfaces::{assert_agrees, bound, position_tol};

const METHODS: [MethodId; 6] = [
    MethodId::RIGID,
    MethodId::LBS,
    MethodId::DQS,
    MethodId::COR,
    MethodId::SWING_TWIST,
    MethodId::DDM,
];
/// Largest distance of a vertex, of the size; a normal may turn by what that moves its triangles.
const TOLERANCE: f32 = 1e-5;
/// Files with skins of all kinds: people, an animal on four legs, things that are worn and carried.
const CHARACTERS: [&str; 5] = [
    "CesiumMan/CesiumMan.glb",
    "Fox/Fox.glb",
    "mannequiny/mannequiny-0.3.0.glb",
    "kaykit_Knight/Knight.glb",
    "q_Wolf/Wolf.glb",
];

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn on_cpu(subject: &Arc<Subject>, method: MethodId) -> Actor {
    bound(subject, method)
}

fn on_gpu(subject: &Arc<Subject>, method: MethodId, gpu: &GpuContext) -> Actor {
    let mut actor = on_cpu(subject, method);
    GpuDevice::new(gpu, &actor)
        .expect("fits")
        .give_to(&mut actor);
    assert!(actor.is_on_device());
    actor
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine]) {
    actor
        .advance(&Frame {
            world_from_joint,
            dt_secs: 1.0 / 60.0,
        })
        .expect("moves");
}

/// Strong poses by all methods, after each other.
fn agrees(gpu: &GpuContext, name: &str, subject: &Arc<Subject>) {
    for method in METHODS {
        let (mut cpu, mut device) = (on_cpu(subject, method), on_gpu(subject, method, gpu));
        let recipe = cpu.recipe().expect("has a form on the device");
        let mut moved = 0.0_f32;
        for amount in [0.0, 0.3, -0.7, 1.2, 2.5] {
            let pose = bent(subject, amount);
            advance(&mut cpu, &pose);
            advance(&mut device, &pose);
            assert!(device.is_on_device() && device.is_here() && device.simulated().is_empty());
            let (on_gpu, on_cpu) = (
                (device.positions(), device.normals()),
                (cpu.positions(), cpu.normals()),
            );
            assert_agrees(
                &format!("{name}, {method:?}, {amount}"),
                &recipe,
                subject.size,
                TOLERANCE.max(position_tol(method)),
                on_gpu,
                on_cpu,
            );
            moved = moved.max(worst(cpu.positions(), &subject.bind_positions) / subject.size);
        }
        assert!(
            moved > 0.1,
            "{name}, {method:?}: it must move for this to mean anything: {moved} of the size"
        );
        assert!(device.take_fault().is_none());
    }
}

#[test]
fn skins_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    for name in ["cylinder", "arm", "mannequin", "gecko"] {
        agrees(gpu, name, &subject(name));
    }
}

#[test]
fn real_characters_agree_with_the_cpu() {
    let Some(data) = skip::data() else {
        return;
    };
    let Some(gpu) = on_device::gpu() else { return };
    for name in CHARACTERS {
        let path = data.join("A_rigged").join(name);
        let character = sinew::io::load(&[path], &Progress::new()).expect("loads");
        agrees(
            gpu,
            name,
            &Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds")),
        );
    }
}

/// What was not read back when the device went is made by the processor, and so is all that follows: the same bits as without a device.
#[test]
fn after_a_device_loss_the_cpu_skins() {
    for method in METHODS {
        let Some(gpu) = on_device::own() else { return };
        let subject = subject("arm");
        let (mut cpu, mut device) = (on_cpu(&subject, method), on_gpu(&subject, method, &gpu));
        device.set_reads_back(false);
        for frame in 0..12 {
            let pose = bent(&subject, 0.1 * f64::from(frame));
            advance(&mut cpu, &pose);
            advance(&mut device, &pose);
            if frame == 6 {
                assert!(!device.is_here(), "nobody asked for numbers");
                gpu.simulate_loss();
                device.read_back();
            }
            if frame >= 6 {
                assert!(!device.is_on_device() && device.is_here());
                assert!(
                    device.positions() == cpu.positions() && device.normals() == cpu.normals(),
                    "{method:?}, frame {frame}"
                );
            }
        }
        assert!(matches!(
            device.take_fault(),
            Some(DeviceError::Lost { .. })
        ));
        assert!(device.take_fault().is_none(), "it is said once");
    }
}

/// A device that is lost between two frames is noticed by the next.
#[test]
fn the_frame_after_a_device_loss_is_computed() {
    let Some(gpu) = on_device::own() else { return };
    let subject = subject("cylinder");
    let (mut cpu, mut device) = (
        on_cpu(&subject, MethodId::DQS),
        on_gpu(&subject, MethodId::DQS, &gpu),
    );
    advance(&mut device, &bent(&subject, 0.4));
    gpu.simulate_loss();
    let pose = bent(&subject, 0.9);
    advance(&mut cpu, &pose);
    advance(&mut device, &pose);
    assert!(device.positions() == cpu.positions() && device.normals() == cpu.normals());
    assert!(device.take_fault().is_some() && !device.has_device());
}

/// From device to device and back, frames that nobody has read yet included.
#[test]
fn devices_can_be_set_and_removed() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let (mut cpu, mut device) = (
        on_cpu(&subject, MethodId::LBS),
        on_gpu(&subject, MethodId::LBS, gpu),
    );
    device.set_reads_back(false);
    let pose = bent(&subject, 0.8);
    advance(&mut cpu, &pose);
    for leaves in [true, false] {
        GpuDevice::new(gpu, &device)
            .expect("fits")
            .give_to(&mut device);
        advance(&mut device, &pose);
        if leaves {
            device.set_device(None);
        } else {
            // One that has not shown anything yet.
            GpuDevice::new(gpu, &device)
                .expect("fits")
                .give_to(&mut device);
        }
        device.read_back();
        assert!(
            device.positions() == cpu.positions(),
            "of the processor, to the bit"
        );
        assert!(device.is_on_device() != leaves && device.take_fault().is_none());
    }
}

#[test]
fn joints_without_influence_move_nothing() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let mut device = on_gpu(&subject, MethodId::LBS, gpu);
    let pose = bent(&subject, 0.5);
    advance(&mut device, &pose);
    let before = device.positions().to_vec();
    let told = |device: &mut Actor, pose: &[Affine]| {
        device.advance(&Frame {
            world_from_joint: pose,
            dt_secs: 0.1,
        })
    };
    assert!(matches!(
        told(&mut device, &pose[1..]),
        Err(SkinError::JointCount { .. })
    ));
    let mut broken = pose;
    broken[0] = Affine::from_matrix_unchecked(broken[0].to_homogeneous() * f64::NAN);
    assert_eq!(told(&mut device, &broken), Err(SkinError::BadPose));
    assert!(before == device.positions() && device.is_on_device());
}

#[test]
fn the_device_choice_has_a_reason() {
    let none = without_measuring(
        DeviceChoice::Auto,
        Err("there is no graphics adapter"),
        MethodId::LBS,
    );
    assert_eq!(
        none.as_deref(),
        Some("The CPU moves the skin: there is no graphics adapter.")
    );
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let mut actor = on_cpu(&subject, MethodId::LBS);
    let auto = decide_device(DeviceChoice::Auto, Ok(gpu), &mut actor);
    if gpu.is_software() {
        assert!(
            auto.device.is_none() && auto.measured.is_none() && auto.why.contains("software"),
            "{}",
            auto.why
        );
    } else {
        assert!(
            auto.measured.is_some() && !actor.is_on_device(),
            "{}",
            auto.why
        );
    }
    let forced = decide_device(DeviceChoice::Gpu, Ok(gpu), &mut actor);
    assert!(
        forced.device.is_some() && forced.why.starts_with("The GPU moves the skin ("),
        "{}",
        forced.why
    );
}

/// A device that counts its frames and shows nothing.
struct Counting(u64);

impl SurfaceDevice for Counting {
    fn present(&mut self, _joints: &[Affine], _ahead_secs: f32) -> Result<(), DeviceError> {
        self.0 += 1;
        if self.0 > 3 {
            Err(DeviceError::Lost {
                reason: "three are enough".to_owned(),
            })
        } else {
            Ok(())
        }
    }

    fn watched(&mut self) -> Option<DeviceFrameReport> {
        None
    }

    fn fetch(&mut self, surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        surface.positions.fill(Point::origin());
        surface.normals.fill(Vec3::z());
        Ok(())
    }
}

/// Without any adapter: what a device says is what is shown, until it fails.
#[test]
fn device_reports_are_shown() {
    let subject = subject("cylinder");
    let (mut cpu, mut actor) = (
        on_cpu(&subject, MethodId::LBS),
        on_cpu(&subject, MethodId::LBS),
    );
    actor.set_device(Some(AnyDevice::Surface(Box::new(Counting(0)))));
    let pose = bent(&subject, 0.4);
    advance(&mut cpu, &pose);
    for frame in 0..5 {
        advance(&mut actor, &pose);
        let is_there = actor.positions().iter().all(|p| *p == Point::origin());
        assert_eq!(is_there, frame < 3);
    }
    assert!(actor.positions() == cpu.positions() && actor.normals() == cpu.normals());
    assert_eq!(
        actor.take_fault(),
        Some(DeviceError::Lost {
            reason: "three are enough".to_owned()
        })
    );
}
