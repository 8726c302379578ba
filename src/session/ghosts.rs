//! Skins of other moments of a clip, made on a thread of its own.
//!
//! ```text
//! owner ─ask(poses)→ inbox (the latest wins) → thread: one method that depends on the pose alone → cell → owner
//! ```
//! Flesh that is simulated has no other moments until they have been lived through; dual quaternions stand in for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::worker::lock;
use super::{Playback, Session, ViewId, Waker, wanted_pose};
use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::progress::Progress;
use crate::rig::Pose;
use crate::skin::{Actor, BindError, Frame, Method, Subject};

/// A moment of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct GhostPose {
    /// Seconds from now; below 0 is before.
    pub offset_secs: f64,
    /// The joints then.
    pub world_from_joint: Vec<Affine>,
}

/// A skin at another moment.
#[derive(Debug, Clone)]
pub struct GhostSkin {
    /// Seconds from now; below 0 is before.
    pub offset_secs: f64,
    /// World positions of all source vertices.
    pub positions: Vec<Point>,
    /// Their unit normals.
    pub normals: Vec<Vec3>,
}

/// Skins at several moments.
#[derive(Debug, Clone)]
pub struct GhostSkins {
    /// No two have the same.
    pub sequence: u64,
    /// Whose skins.
    pub subject: Arc<Subject>,
    /// The farthest first, those before now before those after.
    pub skins: Vec<GhostSkin>,
}

impl GhostSkins {
    /// Skins under a number of their own.
    #[must_use]
    pub fn new(subject: Arc<Subject>, skins: Vec<GhostSkin>) -> Self {
        static SEQUENCE: AtomicU64 = AtomicU64::new(1);
        Self { sequence: SEQUENCE.fetch_add(1, Ordering::Relaxed), subject, skins }
    }
}

/// What the thread shall make.
#[derive(Clone)]
struct Wanted {
    subject: Arc<Subject>,
    method: Method,
    poses: Vec<GhostPose>,
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.subject, &other.subject) && self.method == other.method && self.poses == other.poses
    }
}

#[derive(Default)]
struct Inbox {
    wanted: Option<Wanted>,
    stop: bool,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    wake: Condvar,
    ready: Mutex<Option<Arc<GhostSkins>>>,
}

/// Makes ghosts for one view. The thread starts with the first that are asked for; dropping the worker ends it.
pub struct GhostWorker {
    shared: Arc<Shared>,
    asked: Option<Wanted>,
    runs: bool,
    waker: Option<Waker>,
}

impl GhostWorker {
    /// A worker that calls `waker` when there is something new to show.
    #[must_use]
    pub fn new(waker: Option<Waker>) -> Self {
        Self { shared: Arc::default(), asked: None, runs: false, waker }
    }

    /// Asks for the skins of these poses; nothing happens if they are what was asked for last. Without a thread there are no ghosts,
    /// and nothing else is the worse for it.
    pub fn ask(&mut self, subject: &Arc<Subject>, method: Method, poses: Vec<GhostPose>) {
        let method = stand_in(method);
        let wanted = Wanted { subject: subject.clone(), method, poses };
        if self.asked.as_ref() == Some(&wanted) {
            return;
        }
        self.asked = Some(wanted.clone());
        lock(&self.shared.inbox).wanted = Some(wanted);
        self.shared.wake.notify_one();
        if !self.runs {
            let (shared, waker) = (self.shared.clone(), self.waker.clone());
            let started = std::thread::Builder::new().name("ghosts".to_owned()).spawn(move || run(&shared, waker.as_ref()));
            self.runs = started.is_ok();
        }
    }

    /// The latest skins; of an earlier moment while those asked for are being made.
    #[must_use]
    pub fn skins(&self) -> Option<Arc<GhostSkins>> {
        lock(&self.shared.ready).clone()
    }
}

impl Drop for GhostWorker {
    fn drop(&mut self) {
        lock(&self.shared.inbox).stop = true;
        self.shared.wake.notify_one();
    }
}

fn run(shared: &Shared, waker: Option<&Waker>) {
    let mut bound: Option<Actor> = None;
    while let Some(wanted) = next(shared) {
        if bound.as_ref().is_none_or(|actor| !Arc::ptr_eq(actor.subject(), &wanted.subject) || actor.method() != wanted.method) {
            bound = Actor::bind(&wanted.subject, wanted.method, &Params::default(), &Progress::new()).ok();
        }
        let Some(actor) = &mut bound else { continue };
        let skins = skins_of(actor, &wanted.poses);
        *lock(&shared.ready) = Some(Arc::new(GhostSkins::new(wanted.subject, skins)));
        if let Some(waker) = waker {
            waker();
        }
    }
}

/// The skins that a method makes of poses; those that it can't make are left out.
fn skins_of(actor: &mut Actor, poses: &[GhostPose]) -> Vec<GhostSkin> {
    let mut skins = Vec::with_capacity(poses.len());
    for pose in poses {
        if actor.advance(&Frame { world_from_joint: &pose.world_from_joint, dt_secs: 0.0 }).is_ok() {
            let (positions, normals) = (actor.positions().to_vec(), actor.normals().to_vec());
            skins.push(GhostSkin { offset_secs: pose.offset_secs, positions, normals });
        }
    }
    skins
}

/// What stands in for a method in other moments: flesh that is simulated has none until they have been lived through.
fn stand_in(method: Method) -> Method {
    if method.is_simulated() { Method::Dqs } else { method }
}

/// Makes ghosts for pictures that are written, at once.
pub struct GhostMaker {
    actor: Actor,
}

impl GhostMaker {
    /// Ghosts of the skins that a method makes.
    ///
    /// # Errors
    /// As [`Actor::bind`].
    pub fn new(subject: &Arc<Subject>, method: Method, progress: &Progress) -> Result<Self, BindError> {
        Ok(Self { actor: Actor::bind(subject, stand_in(method), &Params::default(), progress)? })
    }

    /// The skins of poses at so many seconds from now; `pose_at` has none for moments outside of the motion.
    pub fn skins(&mut self, offsets_secs: impl Iterator<Item = f64>, pose_at: impl Fn(f64) -> Option<Pose>) -> Vec<GhostSkin> {
        let skeleton = &self.actor.subject().character.skeleton;
        let pose = |offset_secs: f64| {
            let pose = pose_at(offset_secs)?;
            Some(GhostPose { offset_secs, world_from_joint: skeleton.world_from_joint(&pose) })
        };
        let poses: Vec<GhostPose> = offsets_secs.filter_map(pose).collect();
        skins_of(&mut self.actor, &poses)
    }
}

/// Waits for something to make; `None` to end.
fn next(shared: &Shared) -> Option<Wanted> {
    let mut inbox = lock(&shared.inbox);
    loop {
        if inbox.stop {
            return None;
        }
        if let Some(wanted) = inbox.wanted.take() {
            return Some(wanted);
        }
        inbox = shared.wake.wait(inbox).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Session {
    /// The poses of the clip that a view shows, so many seconds before and after now; those outside of the part that is played are
    /// left out. None without a clip.
    #[must_use]
    pub fn ghost_poses(&mut self, view: ViewId, offsets_secs: impl Iterator<Item = f64>) -> Vec<GhostPose> {
        let Some(channel) = self.views.get(view).copied().map(super::View::channel) else { return Vec::new() };
        self.in_channel(channel, |session| session.poses_around(offsets_secs))
    }

    fn poses_around(&self, offsets_secs: impl Iterator<Item = f64>) -> Vec<GhostPose> {
        let Some(subject) = self.document.subject.as_deref().filter(|_| self.playback.clip.is_some()) else { return Vec::new() };
        let character = &subject.character;
        let [from, to] = self.playback.range_in(self.clip_duration_secs());
        let at = |offset_secs: f64| {
            let time_secs = self.playback.time_secs + offset_secs;
            (from..=to).contains(&time_secs).then(|| {
                let pose = wanted_pose(character, &Playback { time_secs, ..self.playback.clone() }, &self.document, self.channel);
                GhostPose { offset_secs, world_from_joint: character.skeleton.world_from_joint(&pose) }
            })
        };
        offsets_secs.filter_map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::session::{Source, open};

    #[test]
    fn ghosts_are_the_skins_that_the_method_makes_of_their_poses() {
        let subject = open(&Source::builtin("cylinder"), &Progress::new()).unwrap();
        let (sender, receiver) = channel();
        let sender = Mutex::new(sender);
        let waker: Waker = Arc::new(move || lock(&sender).send(()).unwrap_or(()));
        let mut worker = GhostWorker::new(Some(waker));
        assert!(worker.skins().is_none());
        let rest = subject.character.skeleton.bind_transforms();
        let poses = vec![GhostPose { offset_secs: -0.5, world_from_joint: rest.clone() }];
        worker.ask(&subject, Method::Pd, poses.clone());
        receiver.recv().unwrap();
        let first = worker.skins().expect("ghosts");
        assert_eq!(first.skins.len(), 1);
        let off = first.skins[0].positions.iter().zip(&*subject.bind_positions).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(off < 1e-5 * subject.size, "the ghost of the bind pose is off by {off}");
        worker.ask(&subject, Method::Pd, poses);
        worker.ask(&subject, Method::Lbs, Vec::new());
        receiver.recv().unwrap();
        let second = worker.skins().expect("no ghosts are ghosts, too");
        assert!(second.skins.is_empty() && second.sequence > first.sequence);
    }

    #[test]
    fn moments_outside_of_the_clip_have_no_ghosts() {
        let mut session = Session::new();
        assert!(session.ghost_poses(ViewId(0), [0.1].into_iter()).is_empty(), "nothing is open");
        session.document.subject = Some(open(&Source::builtin("mannequin"), &Progress::new()).unwrap());
        assert!(session.ghost_poses(ViewId(0), [0.1].into_iter()).is_empty(), "no clip is shown");
        session.playback.clip = Some(0);
        session.playback.time_secs = 0.15;
        let offsets: Vec<f64> = session.ghost_poses(ViewId(0), [-0.2, -0.1, 0.1, 1e6].into_iter()).iter().map(|g| g.offset_secs).collect();
        assert_eq!(offsets, [-0.1, 0.1]);
    }
}
