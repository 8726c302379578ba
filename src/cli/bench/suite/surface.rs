//! Methods that follow joints, at the skin's full resolution.

use std::sync::Arc;

use serde::Serialize;

use super::play::Player;
use super::record::{Missed, Record, Run};
use super::sizes::Bodies;
use crate::cli::CommandResult;
use crate::dynamics::Params;
use crate::gpu::actor::GpuDevice;
use crate::methods::{Actor, Capability, MethodId, Subject, registry};
use crate::progress::Progress;

/// A method's frames.
#[derive(Debug, Serialize)]
struct SurfaceRecord {
    character: String,
    method: MethodId,
    vertices: usize,
    passes: usize,
    constant_bytes: u64,
    frames: u32,
    frames_per_s: f64,
    frame_ms: f64,
    /// CPU time of a frame, median.
    host_ms: f64,
    /// By the device's clock, measured separately; absent if it has none.
    device_ms: Option<f64>,
}

impl Record for SurfaceRecord {
    const KIND: &'static str = "surface";

    fn line(&self) -> String {
        let device = self
            .device_ms
            .map_or_else(String::new, |ms| format!(", device {ms:.4} ms"));
        format!(
            "{:12} {:8.1} frames/s, {:.3} ms a frame, host {:.3} ms{device}; {} vertices, {} passes, {:.1} MB of constants",
            self.method.id(),
            self.frames_per_s,
            self.frame_ms,
            self.host_ms,
            self.vertices,
            self.passes,
            self.constant_bytes as f64 / 1e6
        )
    }
}

/// Every method with a form on the device that does not simulate. (The surface of flesh is a stage of its frames.)
pub(super) fn measure(run: &mut Run<'_>, bodies: &mut Bodies) -> CommandResult {
    let what = "the methods that follow joints";
    let subject = match run.prepare(what, |_| bodies.plain()) {
        Ok(subject) => subject,
        Err(missed) => return run.tell::<SurfaceRecord>(what, Err(missed)),
    };
    for method in registry() {
        if method.has(Capability::Device) && !method.has(Capability::Physics) {
            run.measure(&format!("frames by {}", method.id()), |run| {
                of_method(run, &subject, method)
            })?;
        }
    }
    Ok(())
}

fn of_method(
    run: &Run<'_>,
    subject: &Arc<Subject>,
    method: MethodId,
) -> Result<SurfaceRecord, Missed> {
    let mut actor = Actor::bind(subject, method, &Params::default(), &Progress::new())?;
    let device = GpuDevice::new(run.gpu, &actor)?;
    let mut profiled = device.another()?;
    profiled.set_profiled(true);
    let (passes, constant_bytes) = (device.passes().1, device.constant_bytes());
    device.give_to(&mut actor);
    let mut player = Player::new(&mut actor, run.scale);
    player.play(run.gpu, run.scale.ramp())?;
    let played = player.play(run.gpu, run.scale.frames())?;
    profiled.give_to(player.actor);
    let stages = player.play(run.gpu, run.scale.profiled_frames())?.stages_ms;
    Ok(SurfaceRecord {
        character: subject.character.name.clone(),
        method,
        vertices: subject.bind_positions.len(),
        passes,
        constant_bytes,
        frames: played.frames,
        frames_per_s: 1e3 / played.frame_ms.max(1e-6),
        frame_ms: played.frame_ms,
        host_ms: played.host_ms,
        device_ms: stages.map(|times| times.total_ms),
    })
}
