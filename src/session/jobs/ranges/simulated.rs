//! The stored frames of one simulation of a range, and its inputs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use crate::collision::Contact;
use crate::dynamics::Collisions;
use crate::math::{Affine, Point, Vec3};
use crate::methods::{Actor, BindError};
use crate::progress::Progress;
use crate::rig::KeyedClip;
use crate::session::job::{Job, JobState};
use crate::session::jobs::basis::FrameBasis;
use crate::session::views::Need;
use crate::session::{ClipPlay, Motion, PlayError, Snapshot, Take, Waker};

/// Memory limit of all simulations together.
const MOST_BYTES: u64 = 512 << 20;

/// All inputs of the simulation.
#[derive(Clone, PartialEq)]
pub(super) struct Basis {
    pub(super) need: Need,
    pub(super) frames: FrameBasis,
    pub(super) range_secs: Option<[f64; 2]>,
}

impl Basis {
    pub(super) fn fps(&self) -> f64 {
        self.frames.fps()
    }

    pub(super) fn start_secs(&self) -> f64 {
        self.range_secs.map_or(0.0, |[from, _]| from)
    }

    fn duration_secs(&self) -> f64 {
        match self.range_secs {
            Some([from, to]) => to - from,
            None => self.frames.duration_secs(),
        }
    }

    /// Number of frames of the range.
    fn frames(&self) -> u32 {
        (self.duration_secs() * self.fps() + 1e-6).floor() as u32 + 1
    }

    /// Approximate memory per frame.
    fn bytes_per_frame(&self) -> u64 {
        let subject = &self.frames.subject;
        let (skin, inside) = (
            subject.bind_positions.len(),
            subject.sim().mesh.positions.len(),
        );
        let vectors = 3 * skin * size_of::<Vec3>() + inside * size_of::<Point>();
        let contacts = if self.frames.params().collisions == Collisions::Off {
            0
        } else {
            inside * size_of::<Contact>()
        };
        (vectors + contacts + subject.character.skeleton.len() * size_of::<Affine>()) as u64
    }
}

/// The frames of a simulation.
pub(super) struct SimulatedRange {
    pub(super) basis: Basis,
    /// How long the inputs have been unchanged; the work starts after a pause.
    pub(super) age_secs: f64,
    pub(super) job: Option<Job<Result<(), String>>>,
    incoming: Option<Receiver<Arc<Snapshot>>>,
    frames: Vec<Arc<Snapshot>>,
    /// Every n-th frame is stored.
    every: u32,
    pub(super) total: u32,
    /// It has ended, successfully or not, and is not restarted automatically.
    pub(super) ended: bool,
    /// Whether all frames of all views were ready when playing started, so that it shows stored frames.
    pub(super) plays: bool,
}

impl SimulatedRange {
    pub(super) fn of(basis: Basis) -> Self {
        let total = basis.frames();
        Self {
            basis,
            age_secs: 0.0,
            job: None,
            incoming: None,
            frames: Vec::new(),
            every: 1,
            total,
            ended: false,
            plays: false,
        }
    }

    /// Whether the work has not started yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.ended && self.job.is_none()
    }

    pub(super) fn stop(&mut self) {
        (self.job, self.incoming, self.ended) = (None, None, true);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.ended && self.shown_frames() >= self.total
    }

    /// Number of frames that are ready, from the first.
    pub(super) fn shown_frames(&self) -> u32 {
        (self.frames.len() as u32)
            .saturating_mul(self.every)
            .min(self.total)
    }

    /// Memory of all stored frames.
    fn bytes(&self) -> u64 {
        u64::from(self.total.div_ceil(self.every)) * self.basis.bytes_per_frame()
    }

    /// Drops every second stored frame.
    fn halve(&mut self) {
        let mut at = 0;
        self.frames.retain(|_| {
            at += 1;
            at % 2 == 1
        });
        self.every *= 2;
    }

    /// The state at a time of the clip.
    pub(super) fn at(&self, time_secs: f64) -> Option<&Arc<Snapshot>> {
        let frame = ((time_secs - self.basis.start_secs()) * self.basis.fps() + 1e-6).round();
        if frame < 0.0 || frame >= f64::from(self.total) {
            return None;
        }
        self.frames.get(frame as usize / self.every as usize)
    }

    /// Takes over the job's frames. Returns whether there were any, and the error.
    pub(super) fn poll(&mut self) -> (bool, Option<String>) {
        let before = self.frames.len();
        self.frames
            .extend(self.incoming.iter().flat_map(Receiver::try_iter));
        let outcome = self.job.as_ref().map(Job::poll);
        let failed = match outcome {
            None | Some(JobState::Running) => None,
            Some(JobState::Done(result)) => {
                self.frames
                    .extend(self.incoming.iter().flat_map(Receiver::try_iter));
                self.stop();
                result.err()
            }
            Some(JobState::Lost) => {
                self.stop();
                Some("the work stopped unexpectedly".to_owned())
            }
        };
        (self.frames.len() != before, failed)
    }

    /// Starts the work.
    pub(super) fn start(
        &mut self,
        takes: &[Arc<KeyedClip>],
        sequences: Arc<AtomicU64>,
        waker: Option<Waker>,
    ) -> std::io::Result<()> {
        let basis = self.basis.clone();
        let fps = basis.fps();
        let (sender, receiver) = channel();
        let (every, takes, wake) = (self.every, takes.to_vec(), waker.clone());
        let title = "Simulating the range".to_owned();
        let work = move |progress: &Progress| {
            let mut before: Vec<Point> = Vec::new();
            let receive = |frame: u32, actor: &Actor, joints: Vec<Affine>| {
                let velocities = velocities(&before, actor.positions(), fps as f32);
                before.clear();
                before.extend_from_slice(actor.positions());
                if frame.is_multiple_of(every) {
                    let snapshot = Snapshot {
                        velocities,
                        time_secs: Some(basis.start_secs() + f64::from(frame) / fps),
                        ..snapshot_of(actor, joints, &basis, &sequences)
                    };
                    // Sending fails only if the receiver was dropped; the progress is then cancelled too.
                    let _ = sender.send(Arc::new(snapshot));
                    if let Some(wake) = &wake {
                        wake();
                    }
                }
            };
            simulate(&basis, &takes, fps, progress, receive)
        };
        self.job = Some(Job::start(title, waker, work)?);
        self.incoming = Some(receiver);
        Ok(())
    }
}

/// Plays the range with the steps of `sinew bake`.
fn simulate(
    basis: &Basis,
    takes: &[Arc<KeyedClip>],
    fps: f64,
    progress: &Progress,
    mut receive: impl FnMut(u32, &Actor, Vec<Affine>),
) -> Result<(), String> {
    let motion = match basis.range_secs {
        Some(range) => Motion::Play(ClipPlay {
            range_secs: Some(range),
            ..ClipPlay::once(basis.frames.clip)
        }),
        None => Motion::Clip(basis.frames.clip),
    };
    let mut actor = match basis.frames.bind(takes, &progress.silent()) {
        Ok(actor) => actor,
        Err(BindError::Cancelled(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let take = Take::whole(motion, &actor.subject().character, fps);
    let actors = std::slice::from_mut(&mut actor);
    let played = take.play_together(actors, progress, |frame, world, actors| {
        receive(frame, &actors[0], world.to_vec());
        Ok::<(), std::convert::Infallible>(())
    });
    match played {
        Ok(()) | Err(PlayError::Cancelled(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn snapshot_of(
    actor: &Actor,
    world_from_joint: Vec<Affine>,
    basis: &Basis,
    sequences: &AtomicU64,
) -> Snapshot {
    Snapshot {
        sequence: sequences.fetch_add(1, Ordering::Relaxed) + 1,
        subject: basis.frames.subject.clone(),
        ..Snapshot::of_actor(actor, world_from_joint)
    }
}

/// Velocity by finite difference, world units per second; the first frame is at rest.
fn velocities(before: &[Point], now: &[Point], fps: f32) -> Vec<Vec3> {
    if before.len() != now.len() {
        return vec![Vec3::zeros(); now.len()];
    }
    before
        .iter()
        .zip(now)
        .map(|(before, now)| (now - before) * fps)
        .collect()
}

/// Makes room for a new simulation: the largest ones are thinned out until all fit the memory limit.
pub(super) fn make_room(all: &mut [SimulatedRange], next: usize) {
    loop {
        let sizes: Vec<u64> = all
            .iter()
            .enumerate()
            .map(|(index, one)| {
                if index == next || !one.is_waiting() {
                    one.bytes()
                } else {
                    0
                }
            })
            .collect();
        match (0..sizes.len()).max_by_key(|&index| sizes[index]) {
            Some(largest)
                if sizes.iter().sum::<u64>() > MOST_BYTES
                    && all[largest].every < all[largest].total =>
            {
                all[largest].halve();
            }
            _ => return,
        }
    }
}
