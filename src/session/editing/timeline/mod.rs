//! The timeline: keys, takes that are recorded, and the library of poses.
//!
//! | file        | what                                                                                       |
//! |-------------|--------------------------------------------------------------------------------------------|
//! | [`command`] | what can be asked for                                                                        |
//! | [`edit`]    | clips and their keys                                                                         |
//! | [`record`]  | a take of what the hand does                                                                 |
//! | [`carry`]   | clips on an edited skeleton                                                                  |
//! | [`library`] | poses under names                                                                            |
//!
//! Clips made by the user are [`KeyedClip`]s in [`Document::takes`]; they are listed after the character's own
//! ([`crate::session::Clips`]). Turning a joint while one of them is shown sets a key if auto-key is on; otherwise the pose is taken over by
//! hand, and [`crate::session::PoseChannel::edited_clip`] remembers where, so that it can be keyed there.

mod carry;
mod command;
mod edit;
mod library;
mod record;

use crate::rig::KeyedClip;
use crate::session::Document;
use crate::session::job::{Job, JobView};

pub(in crate::session) use carry::take_on;
pub use command::KeysCommand;

use record::Recording;

/// What belongs to the timeline and not to the document.
#[derive(Default)]
pub struct Keying {
    /// Whether turning a joint sets a key.
    auto_key: bool,
    recording: Option<Recording>,
    /// The document before the recording that has just ended: its undo step begins there.
    recorded_from: Option<Document>,
    /// An editable copy of a clip under way.
    copying: Option<Job<KeyedClip>>,
}

impl Keying {
    /// Whether turning a joint sets a key in the editable clip shown.
    #[must_use]
    pub fn auto_key(&self) -> bool {
        self.auto_key
    }

    /// How long a take has been recorded, seconds; none while none is.
    #[must_use]
    pub fn recording_secs(&self) -> Option<f64> {
        self.recording.as_ref().map(Recording::secs)
    }

    pub(in crate::session) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Where the undo step of what was just done begins, if not right before it.
    pub(in crate::session) fn take_recorded_from(&mut self) -> Option<Document> {
        self.recorded_from.take()
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.recording.is_some() || self.copying.is_some()
    }

    /// What runs now.
    pub(in crate::session) fn list(&self) -> impl Iterator<Item = JobView> {
        self.copying.iter().map(Job::view)
    }

    /// Gives up the copy under way.
    pub(in crate::session) fn cancel(&mut self) {
        self.copying = None;
    }

    /// Another character has come.
    pub(in crate::session) fn start_over(&mut self) {
        *self = Self {
            auto_key: self.auto_key,
            ..Self::default()
        };
    }
}
