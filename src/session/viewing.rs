//! What the views show, and the commands that change them.

use std::sync::Arc;

use super::{
    ChannelId, MAX_VIEWS, PoseChannel, Session, Snapshot, View, ViewCommand, ViewId, Views,
};

impl Session {
    /// The views.
    #[must_use]
    pub fn views(&self) -> &Views {
        &self.views
    }

    /// The view that commands act on.
    #[must_use]
    pub fn active_view(&self) -> &View {
        self.views.active()
    }

    /// The channel that a view follows; `None` for an unknown view.
    #[must_use]
    pub fn channel_of(&self, view: ViewId) -> Option<&PoseChannel> {
        self.channels.get(self.views.get(view)?.channel())
    }

    /// The latest state of what a view shows; `None` until the first character is ready. While its method is being bound, that of
    /// another method or view stands in. In edit mode it is the bind pose.
    #[must_use]
    pub fn snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let scrubbed = || {
            self.views
                .get(view)
                .and_then(|view| self.scrubbed_snapshot(view.need()))
        };
        let worker = || self.stages.worker_of(view).map(super::SimWorker::snapshot);
        self.still().or_else(scrubbed).or_else(worker)
    }

    /// The latest state of what a view is compared with; `None` while that is not ready, or if there is nothing to compare.
    #[must_use]
    pub fn compared_snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let need = self.views.get(view)?.compared_need()?;
        self.scrubbed_snapshot(need).or_else(|| {
            self.stages
                .bound_worker(need)
                .map(super::SimWorker::snapshot)
        })
    }

    pub(super) fn apply_view(&mut self, command: ViewCommand) {
        match command {
            ViewCommand::Add { id, like } => self.add_view(id, like),
            ViewCommand::Remove(id) => self.remove_view(id),
            ViewCommand::Activate(id) if self.views.get(id).is_some() => self.enter_view(id),
            ViewCommand::Activate(_) => {}
            ViewCommand::SetMethod { view, method } => {
                self.stages.forgive();
                if let Some(view) = self.views.get_mut(view) {
                    view.method = method;
                }
            }
            ViewCommand::SetWeights { view, weights } => {
                self.stages.forgive();
                if let Some(view) = self.views.get_mut(view) {
                    view.weights = weights;
                }
            }
            ViewCommand::SetCompare { view, method } => {
                self.stages.forgive();
                if let Some(view) = self.views.get_mut(view) {
                    *view = View {
                        compare: method,
                        ..*view
                    }
                    .sanitized();
                }
            }
            ViewCommand::SetCrowd { view, count } => {
                if let Some(view) = self.views.get_mut(view) {
                    *view = View {
                        crowd: count,
                        ..*view
                    }
                    .sanitized();
                }
            }
            ViewCommand::SetFree { view, free } => self.set_free(view, free),
            ViewCommand::SetAll(list) => self.set_views(list),
        }
    }

    fn add_view(&mut self, id: ViewId, like: ViewId) {
        let Some(&like) = self.views.get(like) else {
            return;
        };
        if self.views.list.len() < MAX_VIEWS && self.views.get(id).is_none() {
            self.stages.forgive();
            self.document.free_poses.remove(&id);
            self.views.list.push(View {
                id,
                free: false,
                ..like
            });
            self.views.next = self.views.next.max(id.0.saturating_add(1));
        }
    }

    fn remove_view(&mut self, id: ViewId) {
        let Some(at) = self.views.list.iter().position(|view| view.id == id) else {
            return;
        };
        if self.views.list.len() < 2 {
            return;
        }
        if self.views.active().id == id {
            let neighbour = if at > 0 { at - 1 } else { 1 };
            self.enter_view(self.views.list[neighbour].id);
        }
        self.document.free_poses.remove(&id);
        self.change_channels(|views| {
            views.list.remove(at);
        });
    }

    /// A free view is one that the document has a pose for.
    fn set_free(&mut self, id: ViewId, free: bool) {
        if self.views.get(id).is_none_or(|view| view.free == free) {
            return;
        }
        if free {
            self.document
                .free_poses
                .insert(id, self.document.pose.clone());
        } else {
            self.document.free_poses.remove(&id);
        }
        self.sync_channels();
    }

    fn set_views(&mut self, mut list: Vec<View>) {
        let mut seen = std::collections::BTreeSet::new();
        list.retain(|view| seen.insert(view.id));
        for view in &mut list {
            *view = view.sanitized();
        }
        list.truncate(MAX_VIEWS);
        let Some(first) = list.first().map(|view| view.id) else {
            return;
        };
        self.stages.forgive();
        for view in &list {
            if view.free {
                let pose = self.document.pose.clone();
                self.document.free_poses.entry(view.id).or_insert(pose);
            } else {
                self.document.free_poses.remove(&view.id);
            }
        }
        self.change_channels(|views| {
            views.next = list
                .iter()
                .map(|view| view.id.0.saturating_add(1))
                .fold(views.next, u32::max);
            (views.list, views.active) = (list, first);
        });
    }

    fn enter_view(&mut self, id: ViewId) {
        self.change_channels(|views| views.active = id);
    }

    /// Makes the views follow the document: a view that has a pose there is free.
    pub(super) fn sync_channels(&mut self) {
        let poses = &self.document.free_poses;
        if self
            .views
            .list
            .iter()
            .all(|view| view.free == poses.contains_key(&view.id))
        {
            return;
        }
        let free: Vec<ViewId> = poses.keys().copied().collect();
        self.change_channels(|views| {
            views
                .list
                .iter_mut()
                .for_each(|view| view.free = free.contains(&view.id));
        });
    }

    /// Changes the views; the channels follow.
    fn change_channels(&mut self, change: impl FnOnce(&mut Views)) {
        change(&mut self.views);
        let free = self.views.list.iter().filter(|view| view.free);
        self.channels
            .keep(free.map(|view| view.id), self.views.active().channel());
        let channels: Vec<ChannelId> = self.views.channels().collect();
        self.stages.keep_channels(&channels);
    }
}
