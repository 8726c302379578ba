//! Moments: the frames that a channel's clock has shown, by which the recording of the simulation finds them again.

use std::sync::{Arc, Weak};

use super::{Playback, PoseChannel};
use crate::methods::Subject;
use crate::rig::KeyedClip;
use crate::session::Document;
use crate::session::moment::Moment;

/// The content of the clip that a clock shows.
#[derive(Debug, Clone)]
struct ClipContent {
    subject: Weak<Subject>,
    clip: usize,
    take: Option<Arc<KeyedClip>>,
}

impl ClipContent {
    fn of(clip: usize, document: &Document) -> Option<Self> {
        Some(Self {
            subject: Arc::downgrade(document.subject.as_ref()?),
            clip,
            take: document.clips().take(clip).cloned(),
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        let same_clip = match (&self.take, &other.take) {
            // Clips may have been inserted before it.
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => self.clip == other.clip,
            _ => false,
        };
        same_clip && self.subject.ptr_eq(&other.subject)
    }
}

/// The latest moment of a channel.
#[derive(Debug, Clone, Default)]
pub(super) struct Moments {
    latest: Option<Moment>,
    numbers: u64,
    content: u64,
    shown: Option<ClipContent>,
    /// Whether the clock stands at a recorded moment: its blending stands still too.
    pub(super) held: bool,
}

impl Moments {
    /// Notes another clip, or changed keys. The pose made by hand changes nothing.
    pub(super) fn follow(&mut self, playback: &Playback, document: &Document) {
        let Some(now) = playback
            .clip
            .and_then(|clip| ClipContent::of(clip, document))
        else {
            return;
        };
        let same = self.shown.as_ref().is_some_and(|shown| shown.is_like(&now));
        if !same {
            self.content += 1;
            self.latest = None;
        }
        self.shown = Some(now);
    }

    /// Notes that the clock was advanced from a time. `start_secs`: where the range started over, if it did.
    pub(super) fn note(&mut self, playback: &Playback, from_secs: f64, start_secs: Option<f64>) {
        self.numbers += 1;
        self.latest = Some(Moment {
            number: self.numbers,
            time_secs: playback.time_secs,
            from_secs: start_secs.unwrap_or(from_secs),
            starts: start_secs.is_some(),
            content: self.content,
            fading: playback.fading.clone().map(Arc::new),
        });
    }

    /// The clock was moved by hand.
    pub(super) fn leave(&mut self) {
        (self.latest, self.held) = (None, false);
    }
}

impl PoseChannel {
    /// The moment of the present pose, if the clock has advanced to it by itself.
    pub(in crate::session) fn moment(&self) -> Option<&Moment> {
        self.moments.latest.as_ref()
    }

    /// Number of the content of the clip shown last.
    pub(in crate::session) fn content(&self) -> u64 {
        self.moments.content
    }

    /// Forgets the moment of the present pose: the clock was set by hand.
    pub(in crate::session) fn forget_moment(&mut self) {
        self.moments.leave();
    }

    /// Sets the clock to a recorded moment.
    pub(in crate::session) fn show_moment(&mut self, moment: &Moment, document: &Document) {
        self.playback.time_secs = moment.time_secs;
        self.playback.fading = moment.fading.as_deref().cloned();
        self.moments.latest = None;
        self.moments.held = true;
        self.refresh(document);
    }
}
