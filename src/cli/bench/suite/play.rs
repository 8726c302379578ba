//! An actor in motion, frame by frame on the device.

use std::time::Instant;

use super::Scale;
use super::record::Missed;
use crate::cli::bench::crowd::medians;
use crate::cli::bench::moving_pose;
use crate::gpu::GpuContext;
use crate::math::Affine;
use crate::methods::{Actor, DeviceTimes, Frame, Projective, Subject};

/// Interval of frames of methods that do not simulate, s.
const FRAME_SECS: f64 = 1.0 / 60.0;

/// Frames that are played at least: the first ones report nothing yet.
const LEAST: u32 = 6;

/// World transforms of the joints in a frame: from rest in the first frames into the first clip, played there and back, so that no frame
/// is a jump; without clips all joints sway.
pub(super) fn joints(subject: &Subject, frame: u32, step_secs: f64, scale: Scale) -> Vec<Affine> {
    let character = &subject.character;
    let skeleton = &character.skeleton;
    let time_secs = f64::from(frame) * step_secs * scale.pace();
    let clip = character.clips.iter().find(|clip| clip.duration_secs > 0.0);
    let pose = clip.map_or_else(
        || moving_pose(subject, time_secs),
        |clip| {
            let there = time_secs % (2.0 * clip.duration_secs);
            let back = 2.0 * clip.duration_secs - there;
            clip.sample(skeleton, there.min(back))
        },
    );
    let part = f64::from(frame.min(scale.ramp())) / f64::from(scale.ramp());
    skeleton.world_from_joint(&skeleton.rest_pose().lerp(&pose, part))
}

/// Time of a step of the actor; of methods that do not simulate, of a frame.
pub(super) fn step_secs(actor: &Actor) -> f64 {
    actor.projective().map_or(FRAME_SECS, |flesh| {
        flesh.simulation().params().time_step_secs
    })
}

/// Number of contacts that press now.
pub(super) fn pressing(actor: &Actor) -> usize {
    let contacts = actor
        .projective()
        .and_then(|flesh| flesh.simulation().contacts());
    contacts.map_or(0, |contacts| contacts.report().pressing)
}

/// An actor whose frames are left on the device.
pub(super) struct Player<'a> {
    pub(super) actor: &'a mut Actor,
    /// The next frame.
    frame: u32,
    scale: Scale,
}

/// How frames went.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) frames: u32,
    /// Wall-clock time of a frame, with the wait for the last one.
    pub(super) frame_ms: f64,
    /// CPU time of a frame, median: uploads, encoding, submission.
    pub(super) host_ms: f64,
    /// Medians by the device's clock, if it was asked for and has one.
    pub(super) stages_ms: Option<DeviceTimes>,
    pub(super) contacts_mean: f64,
    pub(super) contacts_most: usize,
    /// Detecting contacts in a step, on the CPU, mean.
    pub(super) detection_ms: f64,
}

impl<'a> Player<'a> {
    /// The next frame settles at rest.
    pub(super) fn new(actor: &'a mut Actor, scale: Scale) -> Self {
        actor.set_reads_back(false);
        actor.reset();
        Self {
            actor,
            frame: 0,
            scale,
        }
    }

    fn advance(&mut self) -> Result<(), Missed> {
        let step_secs = step_secs(self.actor);
        let subject = self.actor.subject().clone();
        let world_from_joint = joints(&subject, self.frame, step_secs, self.scale);
        let dt_secs = if self.frame == 0 { 0.0 } else { step_secs };
        self.actor.advance(&Frame {
            world_from_joint: &world_from_joint,
            dt_secs,
        })?;
        self.frame += 1;
        Ok(())
    }

    /// Plays at most so many frames, fewer if that takes long; then waits for the last one.
    pub(super) fn play(&mut self, gpu: &GpuContext, frames: u32) -> Result<Played, Missed> {
        let longest = self.scale.longest();
        gpu.finish()?;
        let (mut hosts, mut stages) = (Vec::new(), Vec::new());
        let mut played = Played::default();
        let (mut contacts, mut detection_ms) = (0, 0.0);
        let start = Instant::now();
        while played.frames < LEAST || (played.frames < frames && start.elapsed() < longest) {
            self.advance()?;
            played.frames += 1;
            let times = self.actor.times();
            hosts.push(times.host_ms);
            // The first reports may be those of another device.
            if times.device.total_ms > 0.0 && played.frames >= LEAST - 1 {
                stages.push(times.device);
            }
            let now = pressing(self.actor);
            contacts += now;
            played.contacts_most = played.contacts_most.max(now);
            detection_ms += self
                .actor
                .projective()
                .and_then(|flesh| flesh.simulation().contacts())
                .map_or(0.0, |contacts| contacts.report().detection_ms);
        }
        gpu.finish()?;
        let per_frame = |sum: f64| sum / f64::from(played.frames);
        played.frame_ms = per_frame(start.elapsed().as_secs_f64() * 1e3);
        played.contacts_mean = per_frame(contacts as f64);
        played.detection_ms = per_frame(detection_ms);
        hosts.sort_by(f64::total_cmp);
        played.host_ms = hosts[hosts.len() / 2];
        played.stages_ms = medians(&stages);
        self.check()?;
        Ok(played)
    }

    /// An error if the device gave up.
    fn check(&mut self) -> Result<(), Missed> {
        if let Some(fault) = self.actor.take_fault() {
            return Err(Missed::Failed(fault.to_string()));
        }
        let steps_there = |flesh: &Projective| flesh.is_on_device();
        let is_there = self.actor.is_on_device() && self.actor.projective().is_none_or(steps_there);
        if is_there {
            Ok(())
        } else {
            Err(Missed::Failed("the CPU has taken over".to_owned()))
        }
    }
}
