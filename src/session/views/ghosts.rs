//! Ghosts: skins at other times of a clip, computed on a separate thread.
//!
//! ```text
//! owner ─request(poses)→ inbox (the latest wins) → thread: one method that depends on the pose alone → cell → owner
//! ```
//! [`method_of_ghosts`] chooses the method.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::dynamics::Params;
use crate::methods::{Actor, MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::session::Waker;
use crate::session::worker::lock;
use crate::studio::{GhostPose, GhostSkins, ghost_skins, method_of_ghosts};

/// The thread's task.
#[derive(Clone)]
struct GhostTask {
    subject: Arc<Subject>,
    method: MethodId,
    values: ParamValues,
    poses: Vec<GhostPose>,
}

impl PartialEq for GhostTask {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.subject, &other.subject)
            && self.method == other.method
            && self.values == other.values
            && self.poses == other.poses
    }
}

#[derive(Default)]
struct GhostInbox {
    wanted: Option<GhostTask>,
    stop: bool,
}

#[derive(Default)]
struct GhostShared {
    inbox: Mutex<GhostInbox>,
    wake: Condvar,
    ready: Mutex<Option<Arc<GhostSkins>>>,
}

/// Computes ghosts for one view. The thread starts with the first request; dropping the worker ends it.
pub struct GhostWorker {
    shared: Arc<GhostShared>,
    last_task: Option<GhostTask>,
    runs: bool,
    waker: Option<Waker>,
}

impl GhostWorker {
    /// A worker that calls `waker` when there is something new to show.
    #[must_use]
    pub fn new(waker: Option<Waker>) -> Self {
        Self {
            shared: Arc::default(),
            last_task: None,
            runs: false,
            waker,
        }
    }

    /// Requests the skins of these poses, by a method with these values of its own parameters. Does nothing if the request equals the last
    /// one. If no thread can be started there are no ghosts; nothing else is affected.
    pub fn request(
        &mut self,
        subject: &Arc<Subject>,
        method: MethodId,
        values: &ParamValues,
        poses: Vec<GhostPose>,
    ) {
        let (method, values) = match method_of_ghosts(method) {
            same if same == method => (same, values.clone()),
            other => (other, ParamValues::default()),
        };
        let wanted = GhostTask {
            subject: subject.clone(),
            method,
            values,
            poses,
        };
        if self.last_task.as_ref() == Some(&wanted) {
            return;
        }
        self.last_task = Some(wanted.clone());
        lock(&self.shared.inbox).wanted = Some(wanted);
        self.shared.wake.notify_one();
        if !self.runs {
            let (shared, waker) = (self.shared.clone(), self.waker.clone());
            let started = std::thread::Builder::new()
                .name("ghosts".to_owned())
                .spawn(move || run(&shared, waker.as_ref()));
            self.runs = started.is_ok();
        }
    }

    /// The latest skins; while new ones are being computed, those of the previous request.
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

fn run(shared: &GhostShared, waker: Option<&Waker>) {
    let mut bound: Option<(Actor, ParamValues)> = None;
    while let Some(wanted) = next(shared) {
        if bound.as_ref().is_none_or(|(actor, values)| {
            !Arc::ptr_eq(actor.subject(), &wanted.subject)
                || actor.method() != wanted.method
                || *values != wanted.values
        }) {
            let actor = Actor::bind_with(
                &wanted.subject,
                wanted.method,
                &Params::default(),
                &wanted.values,
                &Progress::new(),
            );
            bound = actor.ok().map(|actor| (actor, wanted.values));
        }
        let Some((actor, _)) = &mut bound else {
            continue;
        };
        let skins = ghost_skins(actor, &wanted.poses);
        *lock(&shared.ready) = Some(Arc::new(GhostSkins::new(wanted.subject, skins)));
        if let Some(waker) = waker {
            waker();
        }
    }
}

/// Waits for a request; `None` ends the thread.
fn next(shared: &GhostShared) -> Option<GhostTask> {
    let mut inbox = lock(&shared.inbox);
    loop {
        if inbox.stop {
            return None;
        }
        if let Some(wanted) = inbox.wanted.take() {
            return Some(wanted);
        }
        inbox = shared
            .wake
            .wait(inbox)
            .unwrap_or_else(PoisonError::into_inner);
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
        let poses = vec![GhostPose {
            offset_secs: -0.5,
            world_from_joint: rest.clone(),
            morphs: crate::rig::MorphWeights::default(),
        }];
        let values = ParamValues::default();
        worker.request(&subject, MethodId::PD, &values, poses.clone());
        receiver.recv().unwrap();
        let first = worker.skins().expect("ghosts");
        assert_eq!(first.skins.len(), 1);
        let off = first.skins[0]
            .positions
            .iter()
            .zip(&*subject.bind_positions)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f32::max);
        assert!(
            off < 1e-5 * subject.size,
            "the ghost of the bind pose is off by {off}"
        );
        worker.request(&subject, MethodId::PD, &values, poses);
        worker.request(&subject, MethodId::LBS, &values, Vec::new());
        receiver.recv().unwrap();
        let second = worker.skins().expect("no ghosts are ghosts, too");
        assert!(second.skins.is_empty() && second.sequence > first.sequence);
    }
}
