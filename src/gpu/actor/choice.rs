//! Which device simulates a character, and why.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{GpuFlesh, GpuModel};
use crate::gpu::GpuContext;
use crate::math::{Affine, Quat};
use crate::skin::{Actor, Frame, Projective, Subject};

/// Frames before measuring begins.
const WARM_UP: usize = 3;
/// Frames that are measured at most…
const FRAMES: usize = 20;
/// …and for how long.
const LONGEST: Duration = Duration::from_millis(300);
/// Another device must be faster by this factor to be worth it.
const WORTH: f64 = 1.2;

/// Where to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceChoice {
    /// What is fastest here for this character.
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

    /// The one with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.id() == id)
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "Automatic",
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }
}

/// Times of a frame with one step, surface and all; nothing is read back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// On the processor, ms.
    pub cpu_ms: f64,
    /// On the graphics device, ms.
    pub gpu_ms: f64,
}

/// What was decided.
pub struct Verdict {
    /// What makes the steps; nothing for the processor.
    pub device: Option<Box<GpuFlesh>>,
    /// What was measured to decide.
    pub measured: Option<Measured>,
    /// Why: one sentence.
    pub why: String,
}

impl Verdict {
    fn cpu(why: impl Into<String>) -> Self {
        Self { device: None, measured: None, why: why.into() }
    }
}

/// Why the processor simulates whatever the character, if it does: one sentence. `collides` says whether parts do.
#[must_use]
pub fn without_measuring(choice: DeviceChoice, gpu: Result<&GpuContext, &str>, collides: bool) -> Option<String> {
    if choice == DeviceChoice::Cpu {
        return Some("The CPU simulates, as you chose.".to_owned());
    }
    let gpu = match gpu {
        Ok(gpu) => gpu,
        Err(why) => return Some(format!("The CPU simulates: {why}.")),
    };
    if choice == DeviceChoice::Auto && gpu.is_software() {
        let name = gpu.adapter.get_info().name;
        return Some(format!("The CPU simulates: the graphics adapter here ({name}) is software, and would be slower."));
    }
    let why = "The CPU simulates parts that collide; switch collisions off to simulate on the GPU.";
    (collides && !GpuFlesh::TAKES_CONTACTS).then(|| why.to_owned())
}

/// Decides for a character as it is bound now. To measure, the actor is moved about: reset it, or throw it away. `gpu` is the device
/// there is, or why there is none.
#[must_use]
pub fn verdict(choice: DeviceChoice, gpu: Result<&GpuContext, &str>, actor: &mut Actor) -> Verdict {
    let Some(projective) = actor.projective() else { return Verdict::cpu("Nothing is simulated by this method.") };
    let collides = projective.simulation().contacts().is_some();
    if let Some(why) = without_measuring(choice, gpu, collides) {
        return Verdict::cpu(why);
    }
    let Ok(gpu) = gpu else { return Verdict::cpu("The CPU simulates.") };
    let name = gpu.adapter.get_info().name;
    let model = match GpuModel::new(gpu, actor) {
        Ok(model) => Arc::new(model),
        Err(error) => return Verdict::cpu(format!("The CPU simulates: {error}.")),
    };
    let solver = model.solver_reason().to_owned();
    let device = |model: &Arc<GpuModel>| GpuFlesh::new(model.clone()).map(Box::new);
    let made = match device(&model) {
        Ok(made) => made,
        Err(error) => return Verdict::cpu(format!("The CPU simulates: {error}.")),
    };
    if choice == DeviceChoice::Gpu {
        return Verdict { device: Some(made), measured: None, why: format!("The GPU simulates ({name}), as you chose. {solver}") };
    }
    decide(actor, made, &name, &solver)
}

fn decide(actor: &mut Actor, device: Box<GpuFlesh>, name: &str, solver: &str) -> Verdict {
    let model = device.model.clone();
    let cpu_ms = frame_ms(actor);
    actor.set_device(Some(device));
    let gpu_ms = frame_ms(actor);
    let fell = actor.take_fault();
    actor.set_device(None);
    actor.reset();
    let (Some(cpu_ms), Some(gpu_ms), None) = (cpu_ms, gpu_ms, fell) else {
        return Verdict::cpu(format!("The CPU simulates: {name} failed when it was measured."));
    };
    let measured = Some(Measured { cpu_ms, gpu_ms });
    let times = format!("a frame of this character takes {gpu_ms:.2} ms on the GPU ({name}) and {cpu_ms:.2} ms on the CPU");
    if gpu_ms * WORTH > cpu_ms {
        return Verdict { device: None, measured, why: format!("The CPU simulates: {times}.") };
    }
    match GpuFlesh::new(model) {
        Ok(device) => Verdict { device: Some(Box::new(device)), measured, why: format!("The GPU simulates: {times}. {solver}") },
        Err(error) => Verdict { device: None, measured, why: format!("The CPU simulates: {error}.") },
    }
}

/// Mean time of a frame of a character that keeps moving; `None` if it could not be moved.
fn frame_ms(actor: &mut Actor) -> Option<f64> {
    let subject = actor.subject().clone();
    let dt_secs = actor.projective().map(Projective::simulation)?.params().time_step_secs;
    actor.set_reads_back(false);
    actor.reset();
    let mut start = Instant::now();
    let mut frames = 0;
    for frame in 0..WARM_UP + FRAMES {
        if frame == WARM_UP {
            actor.read_back();
            start = Instant::now();
        }
        let world_from_joint = swaying(&subject, frame as f64 * dt_secs);
        let dt_secs = if frame == 0 { 0.0 } else { dt_secs };
        actor.advance(&Frame { world_from_joint: &world_from_joint, dt_secs }).ok()?;
        frames = (frame + 1).saturating_sub(WARM_UP);
        if frames > 0 && start.elapsed() > LONGEST {
            break;
        }
    }
    actor.read_back();
    actor.set_reads_back(true);
    Some(start.elapsed().as_secs_f64() * 1e3 / frames.max(1) as f64)
}

/// All joints sway a little, each at its own phase.
fn swaying(subject: &Subject, time_secs: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = std::f64::consts::TAU * time_secs + joint as f64 * 0.37;
        local.rotation *= Quat::from_euler_angles(0.1 * phase.sin(), 0.1 * (0.7 * phase).cos(), 0.1 * (1.3 * phase).sin());
    }
    skeleton.world_from_joint(&pose)
}
