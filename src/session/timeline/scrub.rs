//! What is seen while scrubbing.
//!
//! *Settled*: each moment is its pose, held until still. *Dynamic*: the range is simulated once from its start, in the background and
//! with the steps of a bake, so that every moment shows what a bake of the range writes, bit for bit, in whatever order it is looked
//! at. What was simulated is kept in memory for as long as nothing that it depends on changes: it is compared by value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use crate::character::BoneMap;
use crate::dynamics::{Contacts, Params};
use crate::math::Affine;
use crate::progress::Progress;
use crate::rig::KeyedClip;
use crate::session::jobs::{Job, Outcome};
use crate::session::views::{Channel, View};
use crate::session::{ClipPlay, DEFAULT_FPS, Level, Motion, PlayError, Session, Snapshot, Take, Waker, with_takes};
use crate::skin::{Actor, BindError, Method, Subject};

/// What is seen while scrubbing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scrubbing {
    /// The pose of the moment, held until still.
    #[default]
    Settled,
    /// The moment of a simulation that began with the range.
    Dynamic,
}

/// How far the simulation of the range is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedFrames {
    /// When the first frame is, seconds of the clip.
    pub from_secs: f64,
    /// Frames per second.
    pub fps: f64,
    /// Frames that can be shown.
    pub done: u32,
    /// Frames of the range.
    pub total: u32,
}

/// What may be kept in memory.
const MOST_BYTES: u64 = 512 << 20;
/// What was changed a moment ago will be changed again.
const PAUSE_SECS: f64 = 0.25;

/// Everything that the simulation depends on.
#[derive(Clone)]
struct Basis {
    subject: Arc<Subject>,
    channel: Channel,
    method: Method,
    params: Params,
    bones: BoneMap,
    clip: usize,
    take: Option<Arc<KeyedClip>>,
    range_secs: Option<[f64; 2]>,
}

impl PartialEq for Basis {
    fn eq(&self, other: &Self) -> bool {
        let same_take = match (&self.take, &other.take) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => self.clip == other.clip,
            _ => false,
        };
        same_take
            && Arc::ptr_eq(&self.subject, &other.subject)
            && (self.channel, self.method, self.range_secs) == (other.channel, other.method, other.range_secs)
            && (&self.params, &self.bones) == (&other.params, &other.bones)
    }
}

impl Basis {
    fn fps(&self) -> f64 {
        self.take.as_ref().map_or(DEFAULT_FPS, |take| take.fps())
    }

    fn start_secs(&self) -> f64 {
        self.range_secs.map_or(0.0, |[from, _]| from)
    }
}

/// The frames of a simulation.
pub(super) struct Simulated {
    basis: Basis,
    /// How long the basis has been what it is; the work begins after a pause.
    age_secs: f64,
    job: Option<Job<Result<(), String>>>,
    incoming: Option<Receiver<Arc<Snapshot>>>,
    frames: Vec<Arc<Snapshot>>,
    /// Every how many frames one is kept.
    every: u32,
    total: u32,
    /// It ended, well or not: it is not begun again by itself.
    ended: bool,
    /// Whether all frames are there, and playing goes through them.
    plays: bool,
}

impl Simulated {
    fn of(basis: Basis) -> Self {
        Self { basis, age_secs: 0.0, job: None, incoming: None, frames: Vec::new(), every: 1, total: 0, ended: false, plays: false }
    }

    /// Whether the work is about to begin. While it goes on, every frame wakes the window, and the timeline shows how far it is.
    pub(super) fn is_waiting(&self) -> bool {
        !self.ended && self.job.is_none()
    }

    pub(super) fn stop(&mut self) {
        (self.job, self.incoming, self.ended) = (None, None, true);
    }

    fn is_complete(&self) -> bool {
        self.ended && self.total > 0 && self.shown_frames() >= self.total
    }

    /// Frames that can be shown, from the first.
    fn shown_frames(&self) -> u32 {
        (self.frames.len() as u32).saturating_mul(self.every).min(self.total)
    }

    /// The state at a time of the clip.
    fn at(&self, time_secs: f64) -> Option<&Arc<Snapshot>> {
        let frame = ((time_secs - self.basis.start_secs()) * self.basis.fps() + 1e-6).round();
        if frame < 0.0 || frame >= f64::from(self.total.max(1)) {
            return None;
        }
        self.frames.get(frame as usize / self.every as usize)
    }

    /// Takes in what the job has made. Returns whether there was anything, and what went wrong.
    fn poll(&mut self) -> (bool, Option<String>) {
        let before = self.frames.len();
        self.frames.extend(self.incoming.iter().flat_map(Receiver::try_iter));
        let outcome = self.job.as_ref().map(Job::poll);
        let failed = match outcome {
            None | Some(Outcome::Running) => None,
            Some(Outcome::Done(result)) => {
                self.frames.extend(self.incoming.iter().flat_map(Receiver::try_iter));
                self.stop();
                result.err()
            }
            Some(Outcome::Lost) => {
                self.stop();
                Some("the work stopped unexpectedly".to_owned())
            }
        };
        (self.frames.len() != before, failed)
    }

    /// Begins the work.
    fn start(&mut self, takes: &[Arc<KeyedClip>], sequences: Arc<AtomicU64>, waker: Option<Waker>) -> std::io::Result<()> {
        let basis = self.basis.clone();
        let character = &basis.subject.character;
        let fps = basis.fps();
        let duration = match (basis.range_secs, &basis.take) {
            (Some([from, to]), _) => to - from,
            (None, Some(take)) => take.duration_secs(),
            (None, None) => character.clips.get(basis.clip).map_or(0.0, |clip| clip.duration_secs),
        };
        self.total = (duration * fps + 1e-6).floor() as u32 + 1;
        let vertices = basis.subject.bind_positions.len() + basis.subject.sim().mesh.positions.len();
        let bytes = (vertices * 24 + character.skeleton.len() * 128) as u64;
        self.every = (u64::from(self.total) * bytes).div_ceil(MOST_BYTES).max(1) as u32;
        let (sender, receiver) = channel();
        let (every, takes, wake) = (self.every, takes.to_vec(), waker.clone());
        let title = "Simulating the range".to_owned();
        let work = move |progress: &Progress| {
            let receive = |frame: u32, actor: &Actor, joints: Vec<Affine>| {
                if frame.is_multiple_of(every) {
                    // Nobody waits any more if sending fails; the progress says so, too.
                    let _ = sender.send(Arc::new(snapshot_of(actor, joints, &basis, &sequences)));
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

/// Plays the range as `sinew bake` does.
fn simulate(
    basis: &Basis,
    takes: &[Arc<KeyedClip>],
    fps: f64,
    progress: &Progress,
    mut receive: impl FnMut(u32, &Actor, Vec<Affine>),
) -> Result<(), String> {
    let subject = if basis.take.is_some() { with_takes(&basis.subject, takes) } else { basis.subject.clone() };
    let motion = match basis.range_secs {
        Some(range) => Motion::Play(ClipPlay { range_secs: Some(range), ..ClipPlay::once(basis.clip) }),
        None => Motion::Clip(basis.clip),
    };
    let mut actor = match Actor::bind(&subject, basis.method, &basis.params, &progress.silent()) {
        Ok(actor) => actor,
        Err(BindError::Cancelled(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if subject.settings.bones != basis.bones {
        actor.set_bones(&basis.bones).map_err(|error| error.to_string())?;
    }
    let take = Take::whole(motion, &subject.character, fps);
    let played = take.play(&mut actor, progress, |frame, actor| {
        let pose = take.motion.pose_at(&subject.character, take.time_of(frame));
        receive(frame, actor, subject.character.skeleton.world_from_joint(&pose));
        Ok::<(), std::convert::Infallible>(())
    });
    match played {
        Ok(()) | Err(PlayError::Cancelled(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn snapshot_of(actor: &Actor, world_from_joint: Vec<Affine>, basis: &Basis, sequences: &AtomicU64) -> Snapshot {
    Snapshot {
        sequence: sequences.fetch_add(1, Ordering::Relaxed) + 1,
        subject: basis.subject.clone(),
        method: basis.method,
        positions: actor.positions().to_vec(),
        normals: actor.normals().to_vec(),
        simulated: actor.simulated().to_vec(),
        world_from_joint,
        times: actor.times(),
        contact: actor.projective().and_then(|p| p.simulation().contacts()).map(Contacts::report),
        contacts: Vec::new(),
        velocities: Vec::new(),
    }
}

impl Session {
    /// How far the simulation of the range is, while scrubbing is dynamic and the active view's method simulates.
    #[must_use]
    pub fn simulated_frames(&self) -> Option<SimulatedFrames> {
        let simulated = self.timeline.simulated.as_ref()?;
        let (from_secs, fps) = (simulated.basis.start_secs(), simulated.basis.fps());
        Some(SimulatedFrames { from_secs, fps, done: simulated.shown_frames(), total: simulated.total })
    }

    /// The state that is kept for what a view shows, in place of what its worker made: the one hook of scrubbing.
    #[must_use]
    pub(in crate::session) fn scrubbed_snapshot(&self, view: View) -> Option<Arc<Snapshot>> {
        let simulated = self.timeline.simulated.as_ref()?;
        let Basis { channel, method, clip, .. } = simulated.basis;
        let shown = channel == self.channel && view.channel() == channel && view.method == method && self.playback.clip == Some(clip);
        let may = shown && !self.timeline.is_recording() && (!self.playback.playing || simulated.plays);
        simulated.at(self.playback.time_secs).filter(|_| may).cloned()
    }

    pub(super) fn set_scrubbing(&mut self, scrubbing: Scrubbing) {
        if self.timeline.scrubbing != scrubbing {
            self.timeline.scrubbing = scrubbing;
            self.timeline.simulated = None;
            if !self.playback.playing {
                self.settle();
            }
        }
    }

    /// The clock was moved by hand: what is seen there does not come from what was seen before.
    pub(in crate::session) fn settle_scrubbed(&mut self) {
        self.drop_stale_simulation();
        let kept = self.scrubbed_snapshot(*self.views.active()).is_some();
        if !kept && !self.timeline.is_recording() {
            self.settle();
        }
    }

    /// What the simulation would depend on now; none where there is nothing to simulate.
    fn basis(&self) -> Option<Basis> {
        if self.timeline.scrubbing == Scrubbing::Settled {
            return None;
        }
        let view = self.views.active();
        let (subject, clip) = self.document.subject.clone().zip(self.playback.clip)?;
        let clips = self.clips();
        let simulates = view.method.is_simulated() && self.shown_method() == Some(view.method) && clips.get(clip).is_some();
        simulates.then(|| Basis {
            subject,
            channel: self.channel,
            method: view.method,
            params: self.document.params,
            bones: self.document.flesh.bones.clone(),
            clip,
            take: clips.take(clip).cloned(),
            range_secs: self.playback.range_secs,
        })
    }

    /// Lets go of what no longer fits. While the pose made by hand is shown, or flesh is made, what there is stays.
    pub(in crate::session) fn drop_stale_simulation(&mut self) {
        let Some(simulated) = &mut self.timeline.simulated else { return };
        let known = simulated.basis.clone();
        let settled = self.timeline.scrubbing == Scrubbing::Settled;
        match self.basis() {
            Some(basis) if basis == known => {
                // Clips may have come before it.
                if let Some(simulated) = &mut self.timeline.simulated {
                    simulated.basis.clip = basis.clip;
                }
            }
            None if !settled && self.playback.clip.is_none() => {}
            _ => self.timeline.simulated = None,
        }
    }

    /// Brings the simulation of the range on its way. Returns whether there is more to see.
    pub(super) fn follow_scrubbing(&mut self, dt_secs: f64) -> bool {
        self.drop_stale_simulation();
        if self.timeline.simulated.is_none() {
            self.timeline.simulated = self.basis().map(Simulated::of);
            return false;
        }
        let (takes, sequences, waker) = (self.document.takes.clone(), self.stages.sequences(), self.waker.clone());
        let Some(simulated) = &mut self.timeline.simulated else { return false };
        simulated.age_secs += dt_secs;
        let mut failed = None;
        let mut changed = false;
        if simulated.job.is_some() {
            (changed, failed) = simulated.poll();
        } else if !simulated.ended
            && simulated.age_secs >= PAUSE_SECS
            && let Err(error) = simulated.start(&takes, sequences, waker)
        {
            simulated.ended = true;
            failed = Some(format!("no thread could be started: {error}"));
        }
        if !self.playback.playing {
            simulated.plays = simulated.is_complete();
        }
        if let Some(why) = failed {
            self.tell(Level::Warning, format!("The range could not be simulated: {why}."));
        }
        changed
    }
}
