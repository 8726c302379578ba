//! The derived stages: subject and bound methods, and the jobs that make them.
//!
//! Files are read (`opening`), flesh is made anew when its settings change (`flesh`), methods are bound to it (`binding`), and each
//! view shows what comes nearest to what it asks for (`showing`).

mod binding;
mod flesh;
pub(in crate::session) mod making;
pub(in crate::session) mod opening;
mod resting;
mod showing;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::cache::Cache;
use crate::character::FleshSettings;
use crate::methods::{Actor, BindError, MethodId, MethodValues, Subject};
use crate::progress::Cancelled;
use crate::session::job::{Job, JobView};
use crate::session::views::Need;
use crate::session::{Answer, ChannelId, Channels, OpenError, SimWorker, Source, ViewId, Wants};
use making::{Opened, Rebuilt};
use resting::Resting;

/// A method bound to the subject of the document, kept when another one is shown: a sleeping worker costs only memory.
struct Bound {
    need: Need,
    worker: SimWorker,
    /// Whether a view shows it: it is told every pose.
    live: bool,
}

/// The bound methods and the jobs under way.
#[derive(Default)]
pub(in crate::session) struct Stages {
    /// What `bound` belongs to.
    subject: Option<Arc<Subject>>,
    bound: Vec<Bound>,
    /// What was bound to the subjects shown before.
    resting: Resting,
    /// Which of `bound` each view shows.
    shown: Vec<(ViewId, Need)>,
    /// Methods that could not be bound to the subject: not tried again by themselves.
    refused: Vec<MethodId>,
    opening: Option<Job<Result<Opened, OpenError>>>,
    /// What the last opening was asked for, to ask again when the user has said where files are.
    asked: Option<(Source, BTreeMap<usize, Answer>)>,
    binding: Option<(Need, Job<Result<Actor, BindError>>)>,
    /// New flesh for the document's character, and the settings it is made for.
    rebuilding: Option<(FleshSettings, Job<Result<Rebuilt, BindError>>)>,
    /// Settings whose flesh the user gave up, or that could not be made: not tried again by itself.
    refused_flesh: Option<FleshSettings>,
    /// The flesh of the document's subject, computed for views of it where no method has asked for it.
    growing: Option<Job<Result<(), Cancelled>>>,
    /// The user cancelled that: it does not start again by itself.
    growing_cancelled: bool,
    /// What snapshots hold beyond what every view needs.
    wants: Wants,
    /// Numbers all states of all workers.
    sequences: Arc<AtomicU64>,
    /// Where derived data is kept between runs.
    cache: Cache,
}

impl Stages {
    pub(in crate::session) fn bound_worker(&self, need: Need) -> Option<&SimWorker> {
        self.bound
            .iter()
            .find(|bound| bound.need == need)
            .map(|bound| &bound.worker)
    }

    pub(in crate::session) fn worker_of(&self, view: ViewId) -> Option<&SimWorker> {
        self.shown
            .iter()
            .find(|(id, _)| *id == view)
            .and_then(|(_, need)| self.bound_worker(*need))
    }

    pub(in crate::session) fn shown_method(&self, view: ViewId) -> Option<MethodId> {
        self.shown
            .iter()
            .find(|(id, _)| *id == view)
            .map(|(_, need)| need.method)
    }

    /// What some view shows.
    pub(in crate::session) fn live_needs(&self) -> impl Iterator<Item = Need> {
        self.bound
            .iter()
            .filter(|bound| bound.live)
            .map(|bound| bound.need)
    }

    /// Ends the sleep of all simulations.
    pub(in crate::session) fn wake(&self) {
        self.bound.iter().for_each(|bound| bound.worker.wake());
    }

    /// The simulations that have lost their device since the last call, and why.
    pub(in crate::session) fn faulty_devices(&self) -> Vec<(Need, String)> {
        self.bound
            .iter()
            .filter_map(|bound| Some((bound.need, bound.worker.take_device_fault()?)))
            .collect()
    }

    /// Numbers all states.
    pub(in crate::session) fn sequences(&self) -> Arc<AtomicU64> {
        self.sequences.clone()
    }

    /// The workers that some view shows, with the channel that each follows.
    pub(in crate::session) fn live_workers(&self) -> impl Iterator<Item = (ChannelId, &SimWorker)> {
        self.bound
            .iter()
            .filter(|bound| bound.live)
            .map(|bound| (bound.need.channel, &bound.worker))
    }

    /// The methods' own parameters have changed: each worker gets those of its method.
    pub(in crate::session) fn send_values(&self, values: &MethodValues) {
        for bound in &self.bound {
            bound.worker.set_values(values.of(bound.need.method));
        }
    }

    /// Hands joints and time to the workers that some view shows. Returns whether any of them moves.
    pub(in crate::session) fn post(&self, channels: &Channels, dt_secs: f64) -> bool {
        let mut moving = false;
        for (channel, worker) in self.live_workers() {
            worker.post(channels.joints_in(channel), dt_secs);
            moving |= !worker.is_asleep();
        }
        moving
    }

    /// The states that are there to be shown.
    pub(in crate::session) fn live_sequences(&self) -> Vec<u64> {
        self.live_workers()
            .map(|(_, worker)| worker.snapshot().sequence)
            .collect()
    }

    /// How much of `dt_secs` the clock may let pass: the slowest simulation says.
    pub(in crate::session) fn accept(&self, dt_secs: f64) -> f64 {
        self.live_workers()
            .fold(dt_secs, |dt, (_, worker)| worker.accept(dt))
    }

    /// Lets go of what followed other channels.
    pub(in crate::session) fn keep_channels(&mut self, channels: &[ChannelId]) {
        self.bound
            .retain(|bound| channels.contains(&bound.need.channel));
        self.shown
            .retain(|(_, need)| channels.contains(&need.channel));
    }

    pub(in crate::session) fn workers(&self) -> impl Iterator<Item = &SimWorker> {
        self.bound.iter().map(|b| &b.worker)
    }

    pub(in crate::session) fn set_wants(&mut self, wants: Wants) {
        if wants != self.wants {
            self.wants = wants;
            self.workers().for_each(|worker| worker.set_wants(wants));
        }
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.opening.is_some()
            || self.binding.is_some()
            || self.rebuilding.is_some()
            || self.growing.is_some()
    }

    /// What runs now.
    pub(in crate::session) fn list(&self) -> Vec<JobView> {
        let binding = self.binding.iter().map(|(_, job)| job.view());
        let rebuilding = self.rebuilding.iter().map(|(_, job)| job.view());
        self.opening
            .iter()
            .map(Job::view)
            .chain(binding)
            .chain(rebuilding)
            .chain(self.growing.iter().map(Job::view))
            .collect()
    }

    pub(in crate::session) fn cancel(&mut self) {
        self.opening = None;
        if let Some((need, _)) = self.binding.take() {
            self.refused.push(need.method);
        }
        if let Some((flesh, _)) = self.rebuilding.take() {
            self.refused_flesh = Some(flesh);
        }
        self.growing_cancelled |= self.growing.take().is_some();
    }

    /// What was refused may be tried again.
    pub(in crate::session) fn forgive(&mut self) {
        self.refused.clear();
        self.refused_flesh = None;
        self.growing_cancelled = false;
    }

    /// Sets where derived data of characters that are opened from now on is kept.
    pub(in crate::session) fn set_cache(&mut self, cache: Cache) {
        self.cache = cache;
    }

    /// Whether the bound methods belong to that.
    pub(in crate::session) fn is_of(&self, subject: &Arc<Subject>) -> bool {
        self.subject
            .as_ref()
            .is_some_and(|mine| Arc::ptr_eq(mine, subject))
    }

    fn forget(&mut self, need: Need) {
        self.bound.retain(|bound| bound.need != need);
        self.shown.retain(|(_, shown)| *shown != need);
    }

    /// What a view shows from now on. Returns whether that is something else than before.
    fn show(&mut self, view: ViewId, need: Need) -> bool {
        if let Some((_, shown)) = self.shown.iter_mut().find(|(id, _)| *id == view) {
            std::mem::replace(shown, need) != need
        } else {
            self.shown.push((view, need));
            true
        }
    }
}
