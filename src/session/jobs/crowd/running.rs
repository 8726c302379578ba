//! The thread's side of a crowd.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::input::{CrowdInput, Playing};
use super::shared::{LongTask, Order, Shared};
use crate::gpu::actor::{CrowdError, GpuCrowd};
use crate::math::Affine;
use crate::methods::{Actor, BindError, Capability, Subject};
use crate::progress::{Cancelled, Progress};
use crate::session::worker::lock;
use crate::studio::{ClipPlay, CrowdFrame, CrowdMotion, Motion};

/// Largest time step between two frames.
const SLICE_SECS: f64 = 1.0 / 30.0;
/// Flesh is considered at rest this long after the last movement of its joints.
const REST_SECS: f64 = 1.5;
/// Progress of making a crowd when the device data is ready.
const READY: f32 = 0.4;
/// A longer interval between frames is not used to measure the speed.
const PAUSE: Duration = Duration::from_secs(5);
/// Weight of a new frame in the running mean.
const NEWEST: f64 = 0.1;

/// Reason for the end of the thread.
pub(super) enum EndReason {
    Cancelled,
    Fault(String),
}

impl From<Cancelled> for EndReason {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<CrowdError> for EndReason {
    fn from(error: CrowdError) -> Self {
        if matches!(error, CrowdError::Cancelled(_)) {
            Self::Cancelled
        } else {
            Self::Fault(error.to_string())
        }
    }
}

impl From<BindError> for EndReason {
    fn from(error: BindError) -> Self {
        if matches!(error, BindError::Cancelled(_)) {
            Self::Cancelled
        } else {
            Self::Fault(error.to_string())
        }
    }
}

/// Work for one frame.
struct Task {
    input: CrowdInput,
    anew: bool,
    dt_secs: f64,
}

/// A crowd and its motion.
pub(super) struct Running {
    shared: Arc<Shared>,
    crowd: GpuCrowd,
    order: Order,
    /// The motion, with the clip it was prepared for; `None` until a clip is played.
    motion: CrowdMotion,
    staged: Option<(Arc<Playing>, Arc<Subject>)>,
    poses: Vec<Vec<Affine>>,
    still_secs: f64,
    sequences: Arc<AtomicU64>,
    title: String,
    frame_ms: Option<f64>,
    interval_secs: Option<f64>,
    last: Option<Instant>,
}

impl Running {
    pub(super) fn make(
        order: Order,
        shared: &Arc<Shared>,
        sequences: Arc<AtomicU64>,
        title: String,
    ) -> Result<Self, EndReason> {
        let progress = shared.progress();
        let mut actor = Actor::bind_with(
            &order.subject,
            order.method,
            &order.params,
            &order.values,
            &progress.part(0.0, READY / 2.0),
        )?;
        actor.set_factors(&order.factors)?;
        progress.check()?;
        progress.report(READY / 2.0, "Preparing the graphics device");
        let motion = CrowdMotion::new(&order.subject, Motion::Rest, order.count);
        let crowd = GpuCrowd::new(&order.gpu, actor, motion.places())?;
        progress.check()?;
        Ok(Self {
            shared: shared.clone(),
            crowd,
            motion,
            staged: None,
            poses: Vec::new(),
            still_secs: 0.0,
            sequences,
            title,
            frame_ms: None,
            interval_secs: None,
            last: None,
            order,
        })
    }

    pub(super) fn run(&mut self) -> Result<(), EndReason> {
        while let Some(task) = self.next_task() {
            match self.step_task(&task) {
                // The settling in progress is replaced or cancelled.
                Err(EndReason::Cancelled) => {}
                result => result?,
            }
            self.shared.wake_owner();
        }
        Ok(())
    }

    /// Waits for work; `None` ends the thread.
    fn next_task(&self) -> Option<Task> {
        let mut inbox = lock(&self.shared.inbox);
        loop {
            if inbox.stop {
                return None;
            }
            if let Some(input) = inbox.input.clone().filter(|_| inbox.posted) {
                // Advances in slices: each is shown, and submissions stay short.
                let dt_secs = inbox.pending_secs.min(SLICE_SECS);
                inbox.pending_secs -= dt_secs;
                inbox.posted = inbox.pending_secs > 1e-6;
                let anew = std::mem::take(&mut inbox.anew);
                return Some(Task {
                    input: input.before(inbox.pending_secs),
                    anew,
                    dt_secs,
                });
            }
            inbox = self
                .shared
                .wake
                .wait(inbox)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn step_task(&mut self, task: &Task) -> Result<(), EndReason> {
        let simulated = self.order.method.has(Capability::State);
        if simulated && !task.anew && task.dt_secs <= 0.0 {
            // No time has passed; a frame of 0 s would settle.
            return Ok(());
        }
        let start = Instant::now();
        let poses = self.poses_of(&task.input);
        let moved = poses != self.poses;
        self.poses = poses;
        if task.anew {
            self.crowd.set_places(self.motion.places());
            let progress = self.begin_settling();
            self.crowd.settle(&self.poses, &progress)?;
        } else {
            self.crowd.advance(&self.poses, task.dt_secs)?;
        }
        self.crowd.present_aside()?;
        self.measure(start, task.anew);
        self.publish();
        self.still_secs = if task.anew || moved {
            0.0
        } else {
            self.still_secs + task.dt_secs
        };
        let rests = if simulated {
            self.still_secs >= REST_SECS
        } else {
            !moved || task.anew
        };
        // Under the inbox's lock, so that nothing posted meanwhile is missed.
        let inbox = lock(&self.shared.inbox);
        if rests && !inbox.anew && inbox.input.as_ref() == Some(&task.input) {
            self.shared.asleep.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Settling after a reset takes long enough to show its progress.
    fn begin_settling(&self) -> Progress {
        let progress = Progress::new();
        if self.order.method.has(Capability::State) {
            let first = self.last.is_none();
            let title = if first {
                self.title.clone()
            } else {
                "Settling the crowd".to_owned()
            };
            *lock(&self.shared.long) = Some(LongTask {
                title,
                progress: progress.clone(),
                settles: true,
            });
            if lock(&self.shared.inbox).stop {
                progress.cancel();
            }
            return if first {
                progress.part(READY, 1.0)
            } else {
                progress
            };
        }
        progress
    }

    fn poses_of(&mut self, input: &CrowdInput) -> Vec<Vec<Affine>> {
        match input {
            CrowdInput::Pose(joints) => vec![joints.clone(); self.order.count],
            CrowdInput::Clip {
                play, time_secs, ..
            } => {
                let subject = self.stage(play);
                self.motion.poses_at(&subject.character, *time_secs)
            }
        }
    }

    /// Prepares a clip, unless it is the present one.
    fn stage(&mut self, play: &Arc<Playing>) -> Arc<Subject> {
        if let Some((_, subject)) = self.staged.as_ref().filter(|(staged, _)| staged == play) {
            return subject.clone();
        }
        let subject = match &play.take {
            None => self.order.subject.clone(),
            Some(take) => {
                let mut character = (*self.order.subject.character).clone();
                character.clips = vec![take.clip().clone()];
                Arc::new(self.order.subject.with_clips(Arc::new(character)))
            }
        };
        let clip = if play.take.is_some() { 0 } else { play.clip };
        let clip = ClipPlay {
            range_secs: Some(play.range_secs),
            seam_secs: play.blend_secs,
            ..ClipPlay::once(clip)
        };
        self.motion = CrowdMotion::new(&subject, Motion::Play(clip), self.order.count);
        self.staged = Some((play.clone(), subject.clone()));
        subject
    }

    /// Measures the time per frame and the frame rate; frames that settle do not count.
    fn measure(&mut self, start: Instant, anew: bool) {
        let mean = |before: Option<f64>, now: f64| {
            Some(before.map_or(now, |before| before + (now - before) * NEWEST))
        };
        let before = self.last.replace(Instant::now());
        if anew {
            self.interval_secs = None;
            return;
        }
        self.frame_ms = mean(self.frame_ms, start.elapsed().as_secs_f64() * 1e3);
        if let Some(interval) = before
            .map(|before| before.elapsed())
            .filter(|interval| *interval < PAUSE)
        {
            self.interval_secs = mean(self.interval_secs, interval.as_secs_f64());
        }
    }

    fn publish(&self) {
        let frame = CrowdFrame {
            sequence: self.sequences.fetch_add(1, Ordering::Relaxed) + 1,
            subject: self.order.subject.clone(),
            method: self.order.method,
            skin: self.crowd.skin(),
            frame_ms: self.frame_ms,
            frames_per_s: self
                .interval_secs
                .filter(|secs| *secs > 0.0)
                .map(|secs| 1.0 / secs),
        };
        *lock(&self.shared.latest) = Some(Arc::new(frame));
        *lock(&self.shared.long) = None;
    }
}
