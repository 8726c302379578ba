//! What is seen beside the document: views, the clips that clocks show, the window's layout, and the flesh.
//!
//! Undo restores what a step has changed of it: the method of a view, the clip that an edited pose was taken from, at its
//! frame, the layout before a split. Moving a clock or a camera is not a step, so that undoing an older step does not move
//! them. Flesh that the workers have kept is restored exactly; other flesh settles in the pose.

use std::sync::Arc;

use super::channels::Playback;
use super::{ChannelId, Document, Gesture, Session, View, WindowState};
use crate::math::Affine;

/// The clip that a clock shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClipShown {
    clip: Option<usize>,
    range_secs: Option<[f64; 2]>,
    time_secs: f64,
    resume: (usize, f64),
}

impl ClipShown {
    fn of(playback: &Playback) -> Self {
        Self {
            clip: playback.clip,
            range_secs: playback.range_secs,
            time_secs: playback.time_secs,
            resume: playback.resume,
        }
    }

    /// Whether both show the same part of the same clip, at any time.
    fn is_like(&self, other: &Self) -> bool {
        (self.clip, self.range_secs) == (other.clip, other.range_secs)
    }

    fn put(self, playback: &mut Playback) {
        if self.clip != playback.clip || self.clip.is_some() {
            playback.fading = None;
        }
        playback.clip = self.clip;
        playback.range_secs = self.range_secs;
        playback.time_secs = self.time_secs;
        playback.resume = self.resume;
        playback.playing &= self.clip.is_some();
    }
}

/// What is seen now.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    views: Vec<View>,
    clips: Vec<(ChannelId, ClipShown)>,
    /// If the caller has a window and has said how it is arranged.
    window: Option<Arc<WindowState>>,
    /// Key of the flesh that was kept.
    flesh: Option<u64>,
}

/// The parts that a step has changed, as they were before it or after it.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenParts {
    views: Option<Vec<View>>,
    clips: Option<Vec<(ChannelId, ClipShown)>>,
    window: Option<Arc<WindowState>>,
    flesh: Option<u64>,
}

impl SeenParts {
    /// The parts of `before` that differ.
    pub(super) fn changed(before: Seen, now: &Seen) -> Self {
        let same_clips = before.clips.len() == now.clips.len()
            && before
                .clips
                .iter()
                .zip(&now.clips)
                .all(|((a, before), (b, now))| a == b && before.is_like(now));
        Self {
            views: (before.views != now.views).then_some(before.views),
            clips: (!same_clips).then_some(before.clips),
            window: before
                .window
                .filter(|window| now.window.as_ref() != Some(window)),
            flesh: None,
        }
    }

    /// Whether nothing has changed that is a step of its own.
    pub(super) fn is_empty(&self) -> bool {
        self.views.is_none() && self.clips.is_none() && self.window.is_none()
    }

    /// Puts the parts in place, and returns what was there.
    pub(super) fn exchange(self, seen: &mut Seen) -> Self {
        let replace = |part: Option<Vec<View>>, now: &mut Vec<View>| {
            part.map(|part| std::mem::replace(now, part))
        };
        Self {
            views: replace(self.views, &mut seen.views),
            clips: self
                .clips
                .map(|clips| std::mem::replace(&mut seen.clips, clips)),
            window: self.window.and_then(|window| seen.window.replace(window)),
            flesh: self.flesh.and_then(|flesh| seen.flesh.replace(flesh)),
        }
    }
}

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
        commands: impl IntoIterator<Item = super::Command>,
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
        self.follow_arrangement(super::views::ArrangeEffect::all());
        if seen.window != before.window {
            self.window_restored.clone_from(&seen.window);
        }
    }

    /// Shows the clips that undo or redo has restored.
    pub(super) fn restore_clips(&mut self, seen: &Seen) {
        for (id, clip) in &seen.clips {
            if let Some(channel) = self.channels.get_mut(*id) {
                clip.put(&mut channel.playback);
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
                worker.recall(key, now);
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

impl Seen {
    /// The key of its flesh.
    pub(super) fn flesh(&self) -> Option<u64> {
        self.flesh
    }

    /// With the key of the flesh that was kept.
    pub(super) fn with_flesh(self, key: u64) -> Self {
        Self {
            flesh: Some(key),
            ..self
        }
    }

    /// Whether the clips differ.
    pub(super) fn shows_other_clips(&self, other: &Self) -> bool {
        self.clips != other.clips
    }
}
