//! The timeline: keys, recorded takes, and the pose library.
//!
//! | file        | what                                                                                       |
//! |-------------|--------------------------------------------------------------------------------------------|
//! | [`command`] | the commands                                                                                 |
//! | [`edit`]    | clips and their keys                                                                         |
//! | [`curves`]  | curves, smoothing, cycles                                                                    |
//! | [`feet`]    | planted feet                                                                                  |
//! | [`record`]  | recording of edits as a take                                                                 |
//! | [`carry`]   | transfer of clips to an edited skeleton                                                      |
//! | [`library`] | named poses                                                                                  |
//!
//! Clips made by the user are [`KeyedClip`]s in [`Document::takes`]; they are listed after the character's own
//! ([`crate::session::Clips`]). With auto-key on, rotating a joint while a take is shown sets a key. Otherwise the pose is copied to the
//! document, and [`crate::session::PoseChannel::edited_clip`] remembers clip and time, so that it can be keyed there.

mod carry;
mod command;
mod curves;
mod edit;
mod feet;
mod library;
mod record;

use crate::rig::KeyedClip;
use crate::session::Document;
use crate::session::job::{Job, JobView};

pub(in crate::session) use carry::transfer_clip;
pub use command::{CurveEdit, KeysCommand};
pub(super) use feet::NO_FEET;

use record::Recording;

/// Timeline state that is not part of the document.
#[derive(Default)]
pub struct Keying {
    /// Auto-key: whether rotating a joint sets a key.
    auto_key: bool,
    recording: Option<Recording>,
    /// The document before the recording that has just ended: start of its undo step.
    recorded_from: Option<Document>,
    /// The job that makes an editable copy of a clip.
    copying: Option<Job<KeyedClip>>,
}

impl Keying {
    /// Auto-key: whether rotating a joint sets a key in the shown take.
    #[must_use]
    pub fn auto_key(&self) -> bool {
        self.auto_key
    }

    /// Duration of the recording in progress, seconds; `None` without one.
    #[must_use]
    pub fn recording_secs(&self) -> Option<f64> {
        self.recording.as_ref().map(Recording::secs)
    }

    pub(in crate::session) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Start of the undo step of the last edit, if it is not the document right before it.
    pub(in crate::session) fn take_recorded_from(&mut self) -> Option<Document> {
        self.recorded_from.take()
    }

    pub(in crate::session) fn is_busy(&self) -> bool {
        self.recording.is_some() || self.copying.is_some()
    }

    /// The running job.
    pub(in crate::session) fn list(&self) -> impl Iterator<Item = JobView> {
        self.copying.iter().map(Job::view)
    }

    /// Cancels the copy in progress.
    pub(in crate::session) fn cancel(&mut self) {
        self.copying = None;
    }

    /// Resets it for another character.
    pub(in crate::session) fn start_over(&mut self) {
        *self = Self {
            auto_key: self.auto_key,
            ..Self::default()
        };
    }
}
