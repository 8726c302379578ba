//! What the views show, and commands that change it.

use std::sync::Arc;

use super::views::{ArrangeEffect, Need};
use super::{
    ChannelId, CrowdFrame, Mode, PoseChannel, Session, SimWorker, Snapshot, ViewCommand, ViewId,
    ViewScore,
};
use crate::mesh::Bounds;

impl Session {
    /// The channel that a view follows; `None` for an unknown view.
    #[must_use]
    pub fn channel_of(&self, view: ViewId) -> Option<&PoseChannel> {
        self.channels.get(self.views.get(view)?.channel())
    }

    /// The latest state of the active view; `None` until the first character is ready.
    #[must_use]
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot_of(self.views.active().id)
    }

    /// The state that a view presents; `None` until the first character is ready. While its method is being bound, the state
    /// of another method or view is returned. In edit mode it is the bind pose. All views that share a clock present the same frame.
    #[must_use]
    pub fn snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let presented = || {
            let need = self.jobs.stages.shown_need(view)?;
            self.jobs.stages.presented(need).cloned()
        };
        let scrubbed = || self.scrubbed(self.views.get(view)?.need());
        let worker = || self.jobs.stages.worker_of(view).map(SimWorker::snapshot);
        self.rigging
            .bind_pose(&self.editor.document)
            .or_else(presented)
            .or_else(scrubbed)
            .or_else(worker)
    }

    /// The latest state of a view's comparison method; `None` while that is not ready, or without comparison.
    #[must_use]
    pub fn compared_snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let need = self.views.get(view)?.compared_need()?;
        self.jobs.stages.bound_worker(need)?;
        let presented = self.jobs.stages.presented(need).cloned();
        presented
            .or_else(|| self.scrubbed(need))
            .or_else(|| self.jobs.stages.state_of(need))
    }

    /// The state of a simulated range at the present time.
    fn scrubbed(&self, need: Need) -> Option<Arc<Snapshot>> {
        let records = self.editor.keying.is_recording();
        self.jobs.ranges.snapshot_of(need, &self.channels, records)
    }

    /// The present frame of a view's crowd; `None` while it is being made, and in views of one character.
    #[must_use]
    pub fn crowd_of(&self, view: ViewId) -> Option<Arc<CrowdFrame>> {
        self.jobs.crowds.of(view)
    }

    /// Bounding box of what a view shows: its crowd, or the posed character.
    #[must_use]
    pub fn bounds_of(&self, view: ViewId) -> Option<Bounds> {
        let crowd = self.crowd_of(view).map(|crowd| crowd.bounds());
        crowd.or_else(|| {
            self.snapshot_of(view)
                .map(|snapshot| snapshot.subject.bounds_of_surface(snapshot.positions()))
        })
    }

    /// The latest score for a caller; `key` identifies the caller (a view, or the other half of a comparison). `None`
    /// until the first one has been measured. The score may be of an earlier snapshot of the same character: see
    /// [`ViewScore::sequence`]. Never waits. [`Session::measure_scores`] starts measuring.
    #[must_use]
    pub fn score_of(&self, key: u64, snapshot: &Arc<Snapshot>) -> Option<ViewScore> {
        self.scores.of(key, snapshot)
    }

    /// Measures the states for which [`Session::score_of`] was called since the last call, all together: scores of views that
    /// present the same frame are of the same frame. Never waits; wakes the owner when the scores are known.
    pub fn measure_scores(&self) {
        self.scores.measure(self.waker.as_ref());
    }

    pub(super) fn apply_view(&mut self, command: ViewCommand) {
        let document = &mut self.editor.document;
        let arranged = self
            .views
            .apply(command, &document.pose, &mut document.free_poses);
        if arranged.methods {
            self.jobs.stages.allow_retry();
        }
        self.follow_arrangement(arranged);
    }

    /// Updates channels and bound methods from the views.
    pub(super) fn follow_arrangement(&mut self, arranged: ArrangeEffect) {
        if !arranged.channels {
            return;
        }
        let free = self.views.list().iter().filter(|view| view.free);
        self.channels
            .keep(free.map(|view| view.id), self.views.active().channel());
        let channels: Vec<ChannelId> = self.views.channels().collect();
        self.jobs.stages.keep_channels(&channels);
    }

    /// Resets the flesh of the active channel to rest in its pose.
    pub(super) fn settle(&mut self) {
        self.settle_channel(self.channels.active_id());
    }

    /// Resets the flesh of a channel to rest in its pose.
    pub(super) fn settle_channel(&mut self, id: ChannelId) {
        let Some(channel) = self.channels.get_mut(id) else {
            return;
        };
        channel.refresh(&self.editor.document);
        for (_, worker) in self
            .jobs
            .stages
            .live_workers()
            .filter(|(followed, _)| *followed == id)
        {
            worker.settle(channel.world_from_joint(), &channel.pose().morphs);
        }
    }

    /// After the clock was moved by hand: the state there does not depend on what was shown before.
    pub(super) fn settle_scrubbed(&mut self) {
        self.with_jobs(|jobs, around| jobs.ranges.drop_stale(&jobs.stages, around));
        let records = self.editor.keying.is_recording();
        let active = self.channels.active_id();
        let needs = self.views.simulating();
        let mut kept = needs
            .into_iter()
            .filter(|need| need.channel == active)
            .map(|need| {
                let kept = self.jobs.ranges.snapshot_of(need, &self.channels, records);
                kept.is_some()
            });
        let all_kept = kept
            .next()
            .is_some_and(|first| first && kept.all(|kept| kept));
        if !all_kept && !records && !self.show_recorded() {
            self.settle();
        }
    }

    /// Updates the crowds from views, document and clocks. Returns whether there is something new to draw.
    pub(super) fn follow_crowds(&mut self, elapsed: super::jobs::crowd::Elapsed) -> bool {
        // There is no flesh for a skeleton that is being edited.
        let poses = self.rigging().mode() != Mode::Edit;
        let views: Vec<_> = self
            .views
            .list()
            .iter()
            .copied()
            .filter(|view| view.crowd > 1 && poses)
            .collect();
        self.with_jobs(|jobs, around| {
            let (gpu, sequences) = (jobs.devices.gpu(), jobs.stages.sequences());
            jobs.crowds.follow(&views, gpu, &sequences, elapsed, around)
        })
    }
}
