//! Choice of the device that simulates or skins a character, with the reason.

use std::fmt::Display;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::GpuDevice;
use crate::gpu::GpuContext;
use crate::math::{Affine, Quat};
use crate::methods::{Actor, Capability, Frame, MethodId, Subject};

/// Warm-up frames before measuring.
const WARM_UP: usize = 3;
/// Maximum number of measured frames.
const FRAMES: usize = 20;
/// Maximum duration of measuring.
const LONGEST: Duration = Duration::from_millis(300);
/// Another device must be faster by this factor to be chosen.
const MIN_SPEEDUP: f64 = 1.2;
/// Frame interval of methods without simulation, s.
const FRAME_SECS: f64 = 1.0 / 60.0;

/// The device that simulates and skins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// The fastest device for this character.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The graphics processor.
    Gpu,
}

impl DeviceChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Gpu];

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }

    /// The choice with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.id() == id)
    }

    /// Label in the user interface.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "Automatic",
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }
}

/// Times of a frame with the surface and, for methods that simulate, one step; without readback.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// On the CPU, ms.
    pub cpu_ms: f64,
    /// On the graphics device, ms.
    pub gpu_ms: f64,
}

/// A decision.
pub struct DeviceDecision {
    /// The graphics device to use; `None` for the CPU.
    pub device: Option<GpuDevice>,
    /// The measurement that decided, if there was one.
    pub measured: Option<Measured>,
    /// The reason in one sentence.
    pub why: String,
}

impl DeviceDecision {
    fn cpu(why: String) -> Self {
        Self {
            device: None,
            measured: None,
            why,
        }
    }
}

/// The work that a device does for this method.
fn does(method: MethodId) -> &'static str {
    if method.has(Capability::Physics) {
        "simulates"
    } else {
        "moves the skin"
    }
}

/// A sentence that says why the CPU is used.
#[must_use]
pub fn because(processor: &str, method: MethodId, why: &dyn Display) -> String {
    format!("The {processor} {}: {why}.", does(method))
}

/// Why the CPU is used for this method whatever the character, if it is.
#[must_use]
pub fn without_measuring(
    choice: DeviceChoice,
    gpu: Result<&GpuContext, &str>,
    method: MethodId,
) -> Option<String> {
    if choice == DeviceChoice::Cpu {
        return Some(format!("The CPU {}, as you chose.", does(method)));
    }
    if !method.has(Capability::Device) {
        let why = format_args!("{} has no form on the GPU", method.label());
        return Some(because("CPU", method, &why));
    }
    let gpu = match gpu {
        Ok(gpu) => gpu,
        Err(why) => return Some(because("CPU", method, &why)),
    };
    (choice == DeviceChoice::Auto && gpu.is_software()).then(|| {
        let name = gpu.adapter.get_info().name;
        because(
            "CPU",
            method,
            &format_args!("the graphics adapter here ({name}) is software, and would be slower"),
        )
    })
}

/// Decides for an actor as it is bound now. Measuring moves the actor: reset or drop it afterwards. `gpu` is the available
/// device, or why there is none.
#[must_use]
pub fn decide_device(
    choice: DeviceChoice,
    gpu: Result<&GpuContext, &str>,
    actor: &mut Actor,
) -> DeviceDecision {
    let method = actor.method();
    let gpu = match (without_measuring(choice, gpu, method), gpu) {
        (None, Ok(gpu)) => gpu,
        (why, _) => return DeviceDecision::cpu(why.unwrap_or_default()),
    };
    let name = gpu.adapter.get_info().name;
    let device = match GpuDevice::new(gpu, actor) {
        Ok(device) => device,
        Err(error) => return DeviceDecision::cpu(because("CPU", method, &error)),
    };
    if choice == DeviceChoice::Gpu {
        let why = format!(
            "The GPU {} ({name}), as you chose.{}",
            does(method),
            solver(&device)
        );
        return DeviceDecision {
            device: Some(device),
            measured: None,
            why,
        };
    }
    decide(actor, device, &name)
}

/// A sentence about the global solver.
fn solver(device: &GpuDevice) -> String {
    device
        .solver_reason()
        .map_or_else(String::new, |reason| format!(" {reason}"))
}

fn decide(actor: &mut Actor, device: GpuDevice, name: &str) -> DeviceDecision {
    let method = actor.method();
    // Measuring has changed the device's state: create another.
    let fresh = match device.another() {
        Ok(fresh) => fresh,
        Err(error) => return DeviceDecision::cpu(because("CPU", method, &error)),
    };
    let before = actor.save();
    let cpu_ms = frame_ms(actor);
    device.give_to(actor);
    let gpu_ms = frame_ms(actor);
    let fault = actor.take_fault();
    actor.set_device(None);
    // Measuring leaves no trace in the actor.
    if actor.restore(&before).is_err() {
        actor.reset();
    }
    let (Some(cpu_ms), Some(gpu_ms), None) = (cpu_ms, gpu_ms, fault) else {
        return DeviceDecision::cpu(because(
            "CPU",
            method,
            &format_args!("{name} failed when it was measured"),
        ));
    };
    let measured = Some(Measured { cpu_ms, gpu_ms });
    let times = format!(
        "a frame of this character takes {gpu_ms:.2} ms on the GPU ({name}) and {cpu_ms:.2} ms on the CPU"
    );
    if gpu_ms * MIN_SPEEDUP > cpu_ms {
        return DeviceDecision {
            device: None,
            measured,
            why: because("CPU", method, &times),
        };
    }
    let why = because("GPU", method, &times) + &solver(&fresh);
    DeviceDecision {
        device: Some(fresh),
        measured,
        why,
    }
}

/// Mean time of a frame while the character moves; `None` if it could not be moved.
fn frame_ms(actor: &mut Actor) -> Option<f64> {
    let subject = actor.subject().clone();
    let dt_secs = actor.projective().map_or(FRAME_SECS, |flesh| {
        flesh.simulation().params().time_step_secs
    });
    actor.set_reads_back(false);
    actor.reset();
    let mut start = Instant::now();
    let mut frames = 0;
    for frame in 0..WARM_UP + FRAMES {
        if frame == WARM_UP {
            actor.read_back();
            start = Instant::now();
        }
        let world_from_joint = swayed(&subject, frame as f64 * dt_secs);
        let dt_secs = if frame == 0 { 0.0 } else { dt_secs };
        actor
            .advance(&Frame {
                world_from_joint: &world_from_joint,
                dt_secs,
            })
            .ok()?;
        frames = (frame + 1).saturating_sub(WARM_UP);
        if frames > 0 && start.elapsed() > LONGEST {
            break;
        }
    }
    actor.read_back();
    actor.set_reads_back(true);
    Some(start.elapsed().as_secs_f64() * 1e3 / frames.max(1) as f64)
}

/// Sways all joints slightly, each with its own phase.
fn swayed(subject: &Subject, time_secs: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = std::f64::consts::TAU * time_secs + joint as f64 * 0.37;
        local.rotation *= Quat::from_euler_angles(
            0.1 * phase.sin(),
            0.1 * (0.7 * phase).cos(),
            0.1 * (1.3 * phase).sin(),
        );
    }
    skeleton.world_from_joint(&pose)
}
