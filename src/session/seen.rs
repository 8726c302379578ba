//! What is seen beside the document: views, the clips that clocks show, the window's layout, and the flesh.
//!
//! Undo restores what a step has changed of it: the method of a view, the clip that an edited pose was taken from, at its
//! frame, the layout before a split. Moving a clock or a camera is not a step, so that undoing an older step does not move
//! them. Flesh that the workers have kept is restored exactly; other flesh settles in the pose.

use std::sync::Arc;

use super::channels::Playback;
use super::{ChannelId, View, WindowState};

/// The clip that a clock shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClipShown {
    clip: Option<usize>,
    range_secs: Option<[f64; 2]>,
    time_secs: f64,
    resume: (usize, f64),
}

impl ClipShown {
    pub(super) fn of(playback: &Playback) -> Self {
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

    pub(super) fn put(self, playback: &mut Playback) {
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
    pub(super) views: Vec<View>,
    pub(super) clips: Vec<(ChannelId, ClipShown)>,
    /// If the caller has a window and has said how it is arranged.
    pub(super) window: Option<Arc<WindowState>>,
    /// Key of the flesh that was kept.
    pub(super) flesh: Option<u64>,
}

/// The parts that a step has changed, as they were before it or after it.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenParts {
    views: Option<Vec<View>>,
    pub(super) clips: Option<Vec<(ChannelId, ClipShown)>>,
    window: Option<Arc<WindowState>>,
    pub(super) flesh: Option<u64>,
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
        Self {
            views: self
                .views
                .map(|views| std::mem::replace(&mut seen.views, views)),
            clips: self
                .clips
                .map(|clips| std::mem::replace(&mut seen.clips, clips)),
            window: self.window.and_then(|window| seen.window.replace(window)),
            flesh: self.flesh.and_then(|flesh| seen.flesh.replace(flesh)),
        }
    }
}

impl Seen {
    /// Whether the clips differ.
    pub(super) fn shows_other_clips(&self, other: &Self) -> bool {
        self.clips != other.clips
    }
}
