//! The derived stages: subject and bound methods, and the jobs that make them.
//!
//! The files of a character are read (`opening`), flesh is made again when its settings change (`flesh`), methods are bound to it
//! (`binding`), motions are transferred again when other joints are chosen for them (`motions`), voxel domains and compared weights are computed for views that show them (`overlays`), and cuts
//! through fields (`fields`), and each view shows the requested method or the best
//! available stand-in (`showing`). Views of one channel present the same frame (`together`).

mod binding;
mod fields;
mod flesh;
mod idle;
pub(in crate::session) mod making;
mod motions;
pub(in crate::session) mod opening;
mod overlays;
mod showing;
mod together;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::cache::Cache;
use crate::character::FleshSettings;
use crate::methods::{Actor, BindError, Capability, MethodId, Subject};
use crate::progress::Cancelled;
use crate::session::job::{Job, JobView};
use crate::session::views::Need;
use crate::session::{
    Answer, ChannelId, Channels, Document, PoseChannel, SimWorker, Snapshot, SnapshotContent,
    Source, SourceError, ViewId,
};
use fields::FieldJob;
use idle::IdleWorkers;
use making::{Opened, Rebuilt};
use motions::MotionsJob;
use overlays::OverlayJob;
use together::ChannelFrame;

/// A method bound to the document's subject. It is kept when another one is shown: a sleeping worker costs only memory.
struct Bound {
    need: Need,
    worker: SimWorker,
    /// Whether a view shows it: only then poses are posted to it.
    live: bool,
}

/// The bound methods and the running jobs.
#[derive(Default)]
pub(in crate::session) struct DerivedStages {
    /// The subject of `bound`.
    subject: Option<Arc<Subject>>,
    bound: Vec<Bound>,
    /// Bound methods of subjects shown earlier.
    idle: IdleWorkers,
    /// Index into `bound` for each view.
    shown: Vec<(ViewId, Need)>,
    /// What the views of each channel present.
    frames: Vec<ChannelFrame>,
    /// Methods that could not be bound to the subject; they are not retried automatically.
    refused: Vec<MethodId>,
    opening: Option<Job<Result<Opened, SourceError>>>,
    /// The last opening request, to be repeated with the user's answers about files.
    asked: Option<(Source, BTreeMap<usize, Answer>)>,
    binding: Option<(Need, Job<Result<Actor, BindError>>)>,
    /// The job that makes new flesh, and its settings.
    rebuilding: Option<(FleshSettings, Job<Result<Rebuilt, BindError>>)>,
    /// Settings whose flesh was cancelled or failed; not retried automatically.
    refused_flesh: Option<FleshSettings>,
    /// The job that computes the subject's flesh for views of it when no method has requested it.
    flesh_job: Option<Job<Result<(), Cancelled>>>,
    /// The user cancelled that job: it is not restarted automatically.
    flesh_cancelled: bool,
    /// The job that transfers motions with other joints.
    motions: MotionsJob,
    /// The voxel domains and compared weights that views show.
    pub(in crate::session) overlays: OverlayJob,
    /// The cuts through fields that views show.
    pub(in crate::session) fields: FieldJob,
    /// Optional content of snapshots.
    wants: SnapshotContent,
    /// Sequence counter of the states of all workers.
    sequences: Arc<AtomicU64>,
    /// Folder of derived data that is kept between runs.
    cache: Cache,
}

impl DerivedStages {
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

    /// The bound methods that some view shows.
    pub(in crate::session) fn live_needs(&self) -> impl Iterator<Item = Need> {
        self.bound
            .iter()
            .filter(|bound| bound.live)
            .map(|bound| bound.need)
    }

    /// Wakes all simulations.
    pub(in crate::session) fn wake(&self) {
        self.bound.iter().for_each(|bound| bound.worker.wake());
    }

    /// The simulations whose device was lost since the last call, with the reason.
    pub(in crate::session) fn faulty_devices(&self) -> Vec<(Need, String)> {
        self.bound
            .iter()
            .filter_map(|bound| Some((bound.need, bound.worker.take_device_fault()?)))
            .collect()
    }

    /// The sequence counter of all states.
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

    /// The workers with a state that some view shows, with the channel that each follows.
    pub(in crate::session) fn simulating_workers(
        &self,
    ) -> impl Iterator<Item = (ChannelId, &SimWorker)> {
        self.live_needs()
            .filter(|need| need.method.has(Capability::State))
            .filter_map(|need| Some((need.channel, self.bound_worker(need)?)))
    }

    /// Shares the memory for recorded frames among the simulations that some view shows; others drop theirs.
    pub(in crate::session) fn share_recording(&self, channels: &Channels, budget_bytes: u64) {
        let count = self.simulating_workers().count().max(1) as u64;
        for bound in &self.bound {
            let records = bound.live && bound.need.method.has(Capability::State);
            let content = channels
                .get(bound.need.channel)
                .map_or(0, PoseChannel::content);
            let own = if records { budget_bytes / count } else { 0 };
            bound.worker.trace().follow(content, own);
        }
    }

    /// Sends changed values of the methods' own parameters to the workers.
    pub(in crate::session) fn send_values(
        &self,
        document: &Document,
        is_changed: impl Fn(Need) -> bool,
    ) {
        for Bound { need, worker, .. } in self.bound.iter().filter(|bound| is_changed(bound.need)) {
            let values = document.method_values_of(need.variant);
            worker.set_values(values.of(need.method));
        }
    }

    /// Sends changed physical parameters to the workers.
    pub(in crate::session) fn send_params(
        &self,
        document: &Document,
        is_changed: impl Fn(Need) -> bool,
    ) {
        for Bound { need, worker, .. } in self.bound.iter().filter(|bound| is_changed(bound.need)) {
            worker.set_params(*document.params_of(need.variant));
        }
    }

    /// The states that can be shown.
    pub(in crate::session) fn live_sequences(&self) -> Vec<u64> {
        self.live_needs()
            .filter_map(|need| Some(self.state_of(need)?.sequence))
            .collect()
    }

    /// The state of a bound method that views present.
    pub(in crate::session) fn state_of(&self, need: Need) -> Option<Arc<Snapshot>> {
        let presented = self.presented(need).cloned();
        presented.or_else(|| self.bound_worker(need).map(SimWorker::snapshot))
    }

    /// What a view shows now.
    pub(in crate::session) fn shown_need(&self, view: ViewId) -> Option<Need> {
        let shown = self.shown.iter().find(|(id, _)| *id == view);
        shown.map(|(_, need)| *need)
    }

    /// How much of `dt_secs` the clock may advance, limited by the slowest simulation.
    pub(in crate::session) fn accept(&self, dt_secs: f64) -> f64 {
        let dt_secs = self.accept_together(dt_secs);
        self.live_workers()
            .fold(dt_secs, |dt, (_, worker)| worker.accept(dt))
    }

    /// Drops workers of channels that no longer exist.
    pub(in crate::session) fn keep_channels(&mut self, channels: &[ChannelId]) {
        self.bound
            .retain(|bound| channels.contains(&bound.need.channel));
        self.shown
            .retain(|(_, need)| channels.contains(&need.channel));
    }

    pub(in crate::session) fn workers(&self) -> impl Iterator<Item = &SimWorker> {
        self.bound.iter().map(|b| &b.worker)
    }

    /// Optional content of snapshots.
    pub(in crate::session) fn wants(&self) -> SnapshotContent {
        self.wants
    }

    pub(in crate::session) fn set_wants(&mut self, wants: SnapshotContent) {
        if wants != self.wants {
            self.wants = wants;
            self.workers().for_each(|worker| worker.set_wants(wants));
        }
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.opening.is_some()
            || self.binding.is_some()
            || self.rebuilding.is_some()
            || self.flesh_job.is_some()
            || self.motions.view().is_some()
            || self.overlays.running.is_some()
    }

    /// The running jobs.
    pub(in crate::session) fn list(&self) -> Vec<JobView> {
        let binding = self.binding.iter().map(|(_, job)| job.view());
        let rebuilding = self.rebuilding.iter().map(|(_, job)| job.view());
        self.opening
            .iter()
            .map(Job::view)
            .chain(binding)
            .chain(rebuilding)
            .chain(self.flesh_job.iter().map(Job::view))
            .chain(self.motions.view())
            .chain(self.overlays.running.iter().map(Job::view))
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
        self.motions.cancel();
        self.flesh_cancelled |= self.flesh_job.take().is_some();
        self.overlays.cancel();
    }

    /// Allows failed bindings and cancelled flesh to be tried again.
    pub(in crate::session) fn allow_retry(&mut self) {
        self.refused.clear();
        self.refused_flesh = None;
        self.motions.allow_retry();
        self.flesh_cancelled = false;
        self.overlays.allow_retry();
    }

    /// Sets the folder of derived data for characters that are opened from now on.
    pub(in crate::session) fn set_cache(&mut self, cache: Cache) {
        self.cache = cache;
    }

    /// Whether the bound methods belong to this subject.
    pub(in crate::session) fn is_of(&self, subject: &Arc<Subject>) -> bool {
        self.subject
            .as_ref()
            .is_some_and(|mine| Arc::ptr_eq(mine, subject))
    }

    /// Binds a method anew wherever it is shown; the views show what was bound until then, or another method.
    pub(in crate::session) fn bind_again(&mut self, method: MethodId) {
        self.bound.retain(|bound| bound.need.method != method);
        self.shown.retain(|(_, shown)| shown.method != method);
        self.refused.retain(|refused| *refused != method);
        if self
            .binding
            .as_ref()
            .is_some_and(|(need, _)| need.method == method)
        {
            self.binding = None;
        }
    }

    fn forget(&mut self, need: Need) {
        self.bound.retain(|bound| bound.need != need);
        self.shown.retain(|(_, shown)| *shown != need);
    }

    /// Sets what a view shows. Returns whether it changed.
    fn show(&mut self, view: ViewId, need: Need) -> bool {
        if let Some((_, shown)) = self.shown.iter_mut().find(|(id, _)| *id == view) {
            std::mem::replace(shown, need) != need
        } else {
            self.shown.push((view, need));
            true
        }
    }
}
