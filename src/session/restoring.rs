//! Records steps with what is seen beside the document, and restores it with undo and redo.

use std::sync::Arc;

use super::seen::{ClipShown, Seen, SeenParts};
use super::views::ArrangeEffect;
use super::{ChannelId, Command, Document, Gesture, Session, WindowState};
use crate::math::Affine;

impl Session {
    /// What is seen now; the flesh is not kept for it.
    pub(super) fn seen(&self) -> Seen {
        Seen {
            views: self.views.list().to_vec(),
            clips: self
                .channels
                .iter()
                .map(|channel| (channel.id(), ClipShown::of(channel.playback())))
                .collect(),
            window: self.window_seen.clone(),
            flesh: None,
        }
    }

    /// Says how the window is arranged, before a command that moves through the history.
    pub fn set_window_seen(&mut self, window: WindowState) {
        self.window_seen = Some(Arc::new(window));
    }

    /// The arrangement of the window that undo or redo has restored.
    pub fn take_window_seen(&mut self) -> Option<Arc<WindowState>> {
        self.window_restored.take()
    }

    /// Applies commands that arrange the views, as one undo step; `windows` are the window's arrangements before and after.
    pub fn arrange(
        &mut self,
        label: &'static str,
        windows: [WindowState; 2],
        commands: impl IntoIterator<Item = Command>,
    ) {
        let before = self.editor.document.clone();
        let [window_before, window_after] = windows;
        let seen = Seen {
            window: Some(Arc::new(window_before)),
            ..self.seen()
        };
        for command in commands {
            self.apply_unrecorded(command);
        }
        self.window_seen = Some(Arc::new(window_after));
        self.record(before, seen, label, Gesture::Once);
        self.window_seen = None;
    }

    /// Records that a command turned `before` and `seen` into what there is now.
    pub(super) fn record(
        &mut self,
        before: Document,
        seen: Seen,
        label: &'static str,
        gesture: Gesture,
    ) {
        let mut parts = SeenParts::changed(seen, &self.seen());
        let moves = parts.clips.is_some() || !before.poses_alike(&self.editor.document);
        if moves && !self.editor.history.continues(label, gesture) {
            parts.flesh = Some(self.keep_flesh());
        }
        self.editor.record_step(before, parts, label, gesture);
    }

    /// Keeps the flesh as it is now. Returns the key.
    pub(super) fn keep_flesh(&mut self) -> u64 {
        self.flesh_kept += 1;
        for worker in self.jobs.stages.simulating_workers() {
            worker.1.keep(self.flesh_kept);
        }
        self.flesh_kept
    }

    /// Shows the views and the window that undo or redo has restored. `before`: what was seen.
    pub(super) fn restore_views(&mut self, before: &Seen, seen: &Seen) {
        if seen.views != before.views {
            self.views.restore(seen.views.clone());
        }
        let _ = self.views.follow(&self.editor.document.free_poses);
        self.follow_arrangement(ArrangeEffect::all());
        if seen.window != before.window {
            self.window_restored.clone_from(&seen.window);
        }
    }

    /// Shows the clips that undo or redo has restored.
    pub(super) fn restore_clips(&mut self, seen: &Seen) {
        for (id, clip) in &seen.clips {
            if let Some(channel) = self.channels.get_mut(*id) {
                clip.put(&mut channel.playback);
                channel.forget_moment();
            }
        }
    }

    /// Restores the flesh of the channels whose joints have moved from `joints`: exactly if it was kept, else settled.
    pub(super) fn restore_flesh(&mut self, joints: &[(ChannelId, Vec<Affine>)], key: Option<u64>) {
        self.channels.refresh(&self.editor.document);
        for (id, worker) in self.jobs.stages.simulating_workers() {
            let now = self.channels.joints_in(id);
            if joints
                .iter()
                .any(|(of, before)| *of == id && before.as_slice() != now)
            {
                worker.recall(key, now, &self.channels.morphs_in(id));
            }
        }
    }

    /// The joints of all channels.
    pub(super) fn all_joints(&self) -> Vec<(ChannelId, Vec<Affine>)> {
        self.channels
            .iter()
            .map(|channel| (channel.id(), channel.world_from_joint().to_vec()))
            .collect()
    }
}
