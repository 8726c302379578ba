//! Commands about views.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_VIEWS, View, ViewCommand, ViewId, Views};
use crate::rig::Pose;

/// What a change of the views invalidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::session) struct ArrangeEffect {
    /// Methods may have to be bound; failed ones are retried.
    pub(in crate::session) methods: bool,
    /// The set of views, the free ones, or the active one.
    pub(in crate::session) channels: bool,
}

impl ArrangeEffect {
    /// Everything.
    pub(in crate::session) const fn all() -> Self {
        Self {
            methods: true,
            channels: true,
        }
    }

    const METHODS: Self = Self {
        methods: true,
        channels: false,
    };
    const CHANNELS: Self = Self {
        methods: false,
        channels: true,
    };
}

impl Views {
    /// Applies a command. Free views have their own pose in the document; it starts as a copy of the linked views' pose.
    pub(in crate::session) fn apply(
        &mut self,
        command: ViewCommand,
        linked_pose: &Pose,
        free_poses: &mut BTreeMap<ViewId, Pose>,
    ) -> ArrangeEffect {
        match command {
            ViewCommand::Add { id, like } => self.add(id, like, free_poses),
            ViewCommand::Remove(id) => self.remove(id, free_poses),
            ViewCommand::Activate(id) if self.get(id).is_some() => {
                self.active = id;
                ArrangeEffect::CHANNELS
            }
            ViewCommand::Activate(_) => ArrangeEffect::default(),
            ViewCommand::SetMethod { view, method } => {
                self.change(view, |view| View { method, ..view })
            }
            ViewCommand::SetWeights { view, weights } => {
                self.change(view, |view| View { weights, ..view })
            }
            ViewCommand::SetCompare { view, method } => self.change(view, |view| {
                View {
                    compare: method,
                    compare_variant: view.variant,
                    ..view
                }
                .sanitized()
            }),
            ViewCommand::SetVariant { view, variant } => {
                self.change(view, |view| View { variant, ..view })
            }
            ViewCommand::SetCompareVariant {
                view,
                method,
                variant,
            } => self.change(view, |view| {
                View {
                    compare: method,
                    compare_variant: variant,
                    ..view
                }
                .sanitized()
            }),
            ViewCommand::SetCrowd { view, count } => {
                self.set_crowd(view, count);
                ArrangeEffect::default()
            }
            ViewCommand::SetFree { view, free } => {
                if self.get(view).is_none_or(|view| view.free == free) {
                    return ArrangeEffect::default();
                }
                if free {
                    free_poses.insert(view, linked_pose.clone());
                } else {
                    free_poses.remove(&view);
                }
                self.follow(free_poses)
            }
            ViewCommand::SetAll(list) => self.set_all(list, linked_pose, free_poses),
        }
    }

    /// Sets the number of instances in a view.
    pub(in crate::session) fn set_crowd(&mut self, view: ViewId, crowd: usize) {
        if let Some(view) = self.get_mut(view) {
            *view = View { crowd, ..*view }.sanitized();
        }
    }

    /// Makes views free if the document has a pose for them.
    pub(in crate::session) fn follow(
        &mut self,
        free_poses: &BTreeMap<ViewId, Pose>,
    ) -> ArrangeEffect {
        let mut channels = false;
        for view in &mut self.list {
            let free = free_poses.contains_key(&view.id);
            channels |= view.free != free;
            view.free = free;
        }
        ArrangeEffect {
            methods: false,
            channels,
        }
    }

    fn change(&mut self, id: ViewId, change: impl FnOnce(View) -> View) -> ArrangeEffect {
        if let Some(view) = self.get_mut(id) {
            *view = change(*view);
        }
        ArrangeEffect::METHODS
    }

    fn add(
        &mut self,
        id: ViewId,
        like: ViewId,
        free_poses: &mut BTreeMap<ViewId, Pose>,
    ) -> ArrangeEffect {
        let Some(&like) = self.get(like) else {
            return ArrangeEffect::default();
        };
        if self.list.len() >= MAX_VIEWS || self.get(id).is_some() {
            return ArrangeEffect::default();
        }
        free_poses.remove(&id);
        self.list.push(View {
            id,
            free: false,
            ..like
        });
        self.next = self.next.max(id.0.saturating_add(1));
        ArrangeEffect::METHODS
    }

    fn remove(&mut self, id: ViewId, free_poses: &mut BTreeMap<ViewId, Pose>) -> ArrangeEffect {
        let Some(at) = self.list.iter().position(|view| view.id == id) else {
            return ArrangeEffect::default();
        };
        if self.list.len() < 2 {
            return ArrangeEffect::default();
        }
        if self.active().id == id {
            let neighbour = if at > 0 { at - 1 } else { 1 };
            self.active = self.list[neighbour].id;
        }
        free_poses.remove(&id);
        self.list.remove(at);
        ArrangeEffect::CHANNELS
    }

    fn set_all(
        &mut self,
        mut list: Vec<View>,
        linked_pose: &Pose,
        free_poses: &mut BTreeMap<ViewId, Pose>,
    ) -> ArrangeEffect {
        let mut seen = BTreeSet::new();
        list.retain(|view| seen.insert(view.id));
        for view in &mut list {
            *view = view.sanitized();
        }
        list.truncate(MAX_VIEWS);
        let Some(first) = list.first().map(|view| view.id) else {
            return ArrangeEffect::default();
        };
        for view in &list {
            if view.free {
                free_poses
                    .entry(view.id)
                    .or_insert_with(|| linked_pose.clone());
            } else {
                free_poses.remove(&view.id);
            }
        }
        self.next = list
            .iter()
            .map(|view| view.id.0.saturating_add(1))
            .fold(self.next, u32::max);
        (self.list, self.active) = (list, first);
        ArrangeEffect {
            methods: true,
            channels: true,
        }
    }
}
