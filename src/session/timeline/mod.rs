//! The timeline: keys, takes that are recorded, what is seen while scrubbing, and the library of poses.
//!
//! | file        | what                                                                                       |
//! |-------------|--------------------------------------------------------------------------------------------|
//! | [`command`] | what can be asked for                                                                        |
//! | [`edit`]    | clips and their keys                                                                         |
//! | [`record`]  | a take of what the hand does                                                                 |
//! | [`carry`]   | clips on an edited skeleton                                                                  |
//! | [`library`] | poses under names                                                                            |
//! | [`pictures`] | small pictures of those                                                                   |
//! | [`scrub`]   | the simulation of a range, kept frame by frame                                               |
//!
//! Clips made by the user are [`KeyedClip`]s in [`super::Document::takes`]; they are listed after the character's own
//! ([`super::Clips`]). Turning a joint while one of them is shown sets a key if auto-key is on; otherwise the pose is taken over by
//! hand, and [`Session::edited_clip`] remembers where, so that it can be keyed there.

mod carry;
mod command;
mod edit;
mod library;
mod pictures;
mod record;
mod scrub;
#[cfg(test)]
mod tests;

use super::jobs::Job;
use super::{Document, JobView, Playback, Session};
use crate::rig::KeyedClip;

pub(super) use carry::take_on;
pub use command::KeysCommand;
pub use scrub::{Scrubbing, SimulatedFrames};

use pictures::Pictures;
use record::Recording;
use scrub::Simulated;

/// What belongs to the view and not to the document.
#[derive(Default)]
pub(super) struct Timeline {
    /// Whether turning a joint sets a key.
    auto_key: bool,
    scrubbing: Scrubbing,
    recording: Option<Recording>,
    /// The document before the recording that has just ended: its undo step begins there.
    recorded_from: Option<Document>,
    /// An editable copy of a clip under way.
    copying: Option<Job<KeyedClip>>,
    /// One for each method that simulates in some view, while scrubbing is dynamic.
    simulated: Vec<Simulated>,
    pictures: Pictures,
    /// The state shown when last looked at.
    last_shown: Option<u64>,
}

impl Timeline {
    pub(super) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Where the undo step of what was just done begins, if not right before it.
    pub(super) fn take_recorded_from(&mut self) -> Option<Document> {
        self.recorded_from.take()
    }

    pub(super) fn is_busy(&self) -> bool {
        let works = self.recording.is_some() || self.copying.is_some() || self.pictures.is_busy();
        let simulates = self
            .simulated
            .iter()
            .any(|simulated| simulated.job.is_some());
        // While a simulation goes on, every frame wakes the window, and the timeline shows how far it is.
        works || (!simulates && self.simulated.iter().any(Simulated::is_waiting))
    }

    pub(super) fn views(&self) -> Vec<JobView> {
        self.copying.iter().map(Job::view).collect()
    }

    pub(super) fn cancel(&mut self) {
        self.copying = None;
        self.simulated.iter_mut().for_each(Simulated::stop);
    }

    /// Another character has come.
    pub(super) fn start_over(&mut self) {
        *self = Self {
            auto_key: self.auto_key,
            scrubbing: self.scrubbing,
            ..Self::default()
        };
    }
}

impl Session {
    /// Whether turning a joint sets a key in the editable clip shown.
    #[must_use]
    pub fn auto_key(&self) -> bool {
        self.timeline.auto_key
    }

    /// What is seen while scrubbing.
    #[must_use]
    pub fn scrubbing(&self) -> Scrubbing {
        self.timeline.scrubbing
    }

    /// How long a take has been recorded, seconds; none while none is.
    #[must_use]
    pub fn recording_secs(&self) -> Option<f64> {
        self.timeline.recording.as_ref().map(Recording::secs)
    }

    /// The clip that keys go into, by index, and the time: the clip shown, or the take whose pose was taken over by hand.
    #[must_use]
    pub fn edited_clip(&self) -> Option<(usize, f64)> {
        let Playback {
            clip,
            time_secs,
            resume,
            ..
        } = self.channels.active().playback();
        match clip {
            Some(clip) => Some((*clip, *time_secs)),
            None => Some(*resume).filter(|(clip, _)| self.document.clips().take(*clip).is_some()),
        }
    }

    /// What belongs to the timeline in a tick. `dt_secs` is real time.
    pub(super) fn tick_timeline(&mut self, dt_secs: f64) -> bool {
        self.record(dt_secs);
        let mut changed = self.take_finished_copy();
        changed |= self.follow_scrubbing(dt_secs) | self.follow_pictures();
        let shown = self.snapshot().map(|snapshot| snapshot.sequence);
        changed | (std::mem::replace(&mut self.timeline.last_shown, shown) != shown)
    }

    /// All playbacks go on showing the clips they show, although clips came, went or moved. `before` are the names by index as they
    /// were.
    pub(super) fn follow_clips(&mut self, before: &[String]) {
        self.channels
            .follow_clips(before, &self.document.clips().names());
    }
}
