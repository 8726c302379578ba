//! Views of the character: what each shows, and whose pose and clock it follows.
//!
//! Linked views share one pose and one clock, the *shared channel*. A free view has a channel of its own, so that it can hold another
//! pose or another moment. Commands that pose or play act on the channel of the active view. How many views there are and what they
//! show is no part of the document: undo does not touch it, the project file keeps it.

use std::sync::Arc;

use super::stages::Need;
use super::{MAX_CROWD, Playback, Session, Snapshot};
use crate::math::Affine;
use crate::skin::Method;

/// Identifies a view; never used twice in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct ViewId(pub u32);

/// Most views at a time.
pub const MAX_VIEWS: usize = 6;

/// Whose pose and clock: the shared ones, or those of a free view.
pub(super) type Channel = Option<ViewId>;

/// One view of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct View {
    /// Which.
    pub id: ViewId,
    /// The method shown.
    pub method: Method,
    /// The method it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<Method>,
    /// Whether it has a pose and a clock of its own.
    #[serde(default)]
    pub free: bool,
    /// How many of the character it shows: 1 to [`MAX_CROWD`]. More than one are not compared with anything.
    #[serde(default = "alone", skip_serializing_if = "is_alone")]
    pub crowd: usize,
}

pub(super) fn alone() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
pub(super) fn is_alone(crowd: &usize) -> bool {
    *crowd == 1
}

impl View {
    /// A view of one character, by itself.
    #[must_use]
    pub fn new(id: ViewId, method: Method) -> Self {
        Self { id, method, compare: None, free: false, crowd: 1 }
    }

    /// The same with numbers in their bounds: a file may say anything.
    #[must_use]
    pub(super) fn sanitized(self) -> Self {
        let crowd = self.crowd.clamp(1, MAX_CROWD);
        Self { crowd, compare: self.compare.filter(|_| crowd == 1), ..self }
    }

    pub(super) fn channel(self) -> Channel {
        self.free.then_some(self.id)
    }

    /// What it shows.
    pub(super) fn need(self) -> Need {
        Need { channel: self.channel(), method: self.method }
    }

    /// What it compares that with.
    pub(super) fn compared_need(self) -> Option<Need> {
        self.compare.map(|method| Need { channel: self.channel(), method })
    }
}

/// The views, in the order they were made.
#[derive(Debug, Clone)]
pub struct Views {
    list: Vec<View>,
    active: ViewId,
    next: u32,
}

impl Default for Views {
    fn default() -> Self {
        let first = View::new(ViewId(0), Method::default());
        Self { list: vec![first], active: first.id, next: 1 }
    }
}

impl Views {
    /// All views; never none.
    #[must_use]
    pub fn list(&self) -> &[View] {
        &self.list
    }

    /// The view that commands act on.
    #[must_use]
    pub fn active(&self) -> &View {
        self.get(self.active).unwrap_or(&self.list[0])
    }

    /// A view.
    #[must_use]
    pub fn get(&self, id: ViewId) -> Option<&View> {
        self.list.iter().find(|view| view.id == id)
    }

    /// The identity that a new view may take.
    #[must_use]
    pub fn next_id(&self) -> ViewId {
        ViewId(self.next)
    }

    fn get_mut(&mut self, id: ViewId) -> Option<&mut View> {
        self.list.iter_mut().find(|view| view.id == id)
    }

    /// All bindings that some view needs, the active view's first.
    pub(super) fn needs(&self) -> Vec<Need> {
        let active_first = std::iter::once(self.active()).chain(self.list.iter().filter(|view| view.id != self.active().id));
        let mut needs: Vec<Need> = Vec::new();
        for need in active_first.flat_map(|view| std::iter::once(view.need()).chain(view.compared_need())) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// All channels, the shared one first.
    pub(super) fn channels(&self) -> impl Iterator<Item = Channel> + '_ {
        std::iter::once(None).chain(self.list.iter().filter(|view| view.free).map(|view| Some(view.id)))
    }
}

/// What can be asked of the views. None of it is undone, except that a free view's pose is part of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewCommand {
    /// Adds a view that shows the same as another one; [`Views::next_id`] says what may be its identity.
    Add {
        /// The new one.
        id: ViewId,
        /// The one it begins as.
        like: ViewId,
    },
    /// Takes a view away; the last one stays.
    Remove(ViewId),
    /// Commands act on this one from now on.
    Activate(ViewId),
    /// Changes the method of a view; the present one stays until the new one is bound.
    SetMethod {
        /// Which.
        view: ViewId,
        /// Its method.
        method: Method,
    },
    /// Compares a view with another method, or with none.
    SetCompare {
        /// Which.
        view: ViewId,
        /// The other method.
        method: Option<Method>,
    },
    /// Shows many of the character in a view, or one. Many are not compared.
    SetCrowd {
        /// Which.
        view: ViewId,
        /// How many, 1 to [`MAX_CROWD`].
        count: usize,
    },
    /// Gives a view a pose and a clock of its own, which begin as the shared ones, or links it again.
    SetFree {
        /// Which.
        view: ViewId,
        /// Whether it is free.
        free: bool,
    },
    /// Replaces all views, as a preset or a project does. The first is the active one.
    SetAll(Vec<View>),
}

impl ViewCommand {
    /// What the command is called in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Add { .. } => "Add view",
            Self::Remove(_) => "Close view",
            Self::Activate(_) => "Choose view",
            Self::SetMethod { .. } => "Change method",
            Self::SetCompare { .. } => "Compare",
            Self::SetCrowd { .. } => "Change crowd",
            Self::SetFree { free: true, .. } => "Unlink view",
            Self::SetFree { free: false, .. } => "Link view",
            Self::SetAll(_) => "Arrange views",
        }
    }
}

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

    /// The latest state of what a view shows; `None` until the first character is ready. While its method is being bound, that of
    /// another method or view stands in. In edit mode it is the bind pose.
    #[must_use]
    pub fn snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let scrubbed = || self.views.get(view).and_then(|view| self.scrubbed_snapshot(view.need()));
        let worker = || self.stages.worker_of(view).map(super::SimWorker::snapshot);
        self.still().or_else(scrubbed).or_else(worker)
    }

    /// The latest state of what a view is compared with; `None` while that is not ready, or if there is nothing to compare.
    #[must_use]
    pub fn compared_snapshot_of(&self, view: ViewId) -> Option<Arc<Snapshot>> {
        let need = self.views.get(view)?.compared_need()?;
        self.scrubbed_snapshot(need).or_else(|| self.stages.bound_worker(need).map(super::SimWorker::snapshot))
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
            ViewCommand::SetCompare { view, method } => {
                self.stages.forgive();
                if let Some(view) = self.views.get_mut(view) {
                    *view = View { compare: method, ..*view }.sanitized();
                }
            }
            ViewCommand::SetCrowd { view, count } => {
                if let Some(view) = self.views.get_mut(view) {
                    *view = View { crowd: count, ..*view }.sanitized();
                }
            }
            ViewCommand::SetFree { view, free } => self.set_free(view, free),
            ViewCommand::SetAll(list) => self.set_views(list),
        }
    }

    fn add_view(&mut self, id: ViewId, like: ViewId) {
        let Some(&like) = self.views.get(like) else { return };
        if self.views.list.len() < MAX_VIEWS && self.views.get(id).is_none() {
            self.stages.forgive();
            self.document.free_poses.remove(&id);
            self.views.list.push(View { id, free: false, ..like });
            self.views.next = self.views.next.max(id.0.saturating_add(1));
        }
    }

    fn remove_view(&mut self, id: ViewId) {
        let Some(at) = self.views.list.iter().position(|view| view.id == id) else { return };
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
            self.document.free_poses.insert(id, self.document.pose.clone());
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
        let Some(first) = list.first().map(|view| view.id) else { return };
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
            views.next = list.iter().map(|view| view.id.0.saturating_add(1)).fold(views.next, u32::max);
            (views.list, views.active) = (list, first);
        });
    }

    fn enter_view(&mut self, id: ViewId) {
        self.change_channels(|views| views.active = id);
    }

    /// Makes the views follow the document: a view that has a pose there is free.
    pub(super) fn sync_channels(&mut self) {
        let poses = &self.document.free_poses;
        if self.views.list.iter().all(|view| view.free == poses.contains_key(&view.id)) {
            return;
        }
        let free: Vec<ViewId> = poses.keys().copied().collect();
        self.change_channels(|views| views.list.iter_mut().for_each(|view| view.free = free.contains(&view.id)));
    }

    /// Parks the clock and the pose shown of the active channel, and takes out those of the one that is active after the change.
    /// A new channel goes on as the shared one.
    fn change_channels(&mut self, change: impl FnOnce(&mut Views)) {
        self.parked.insert(self.channel, (std::mem::take(&mut self.playback), std::mem::take(&mut self.shown)));
        change(&mut self.views);
        let shared = self.parked.get(&None).cloned().unwrap_or_default();
        let channels: Vec<Channel> = self.views.channels().collect();
        for channel in &channels {
            self.parked.entry(*channel).or_insert_with(|| shared.clone());
        }
        self.channel = self.views.active().channel();
        (self.playback, self.shown) = self.parked.remove(&self.channel).unwrap_or(shared);
        self.parked.retain(|channel, _| channels.contains(channel));
        self.stages.keep_channels(&channels);
    }

    /// Does something in another channel than the active one.
    pub(super) fn in_channel<T>(&mut self, channel: Channel, work: impl FnOnce(&mut Self) -> T) -> T {
        if channel == self.channel {
            return work(self);
        }
        let swap = |session: &mut Self, from: Channel, to: Channel| {
            session.parked.insert(from, (std::mem::take(&mut session.playback), std::mem::take(&mut session.shown)));
            (session.playback, session.shown) = session.parked.remove(&to).unwrap_or_default();
            session.channel = to;
        };
        let active = self.channel;
        swap(self, active, channel);
        let result = work(self);
        swap(self, channel, active);
        result
    }

    /// The joints that a view asks for, without the simulation's delay.
    #[must_use]
    pub fn world_from_joint_of(&self, view: ViewId) -> &[Affine] {
        self.views.get(view).map_or(&[], |view| self.joints_in(view.channel()))
    }

    /// All channels but the active one.
    pub(super) fn parked_channels(&self) -> Vec<Channel> {
        self.parked.keys().copied().collect()
    }

    /// The clock of a channel.
    pub(super) fn playback_in(&self, channel: Channel) -> Option<&Playback> {
        if channel == self.channel { Some(&self.playback) } else { self.parked.get(&channel).map(|(playback, _)| playback) }
    }

    /// The joints of the pose that a channel shows.
    pub(super) fn joints_in(&self, channel: Channel) -> &[Affine] {
        let shown = if channel == self.channel { Some(&self.shown) } else { self.parked.get(&channel).map(|(_, shown)| shown) };
        shown.map_or(&[], |shown| &shown.world_from_joint)
    }
}
