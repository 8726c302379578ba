//! Editing: the document, its history, and the tools that change it by hand.
//!
//! | file           | what                                                                   |
//! |----------------|------------------------------------------------------------------------|
//! | [`posing`]     | the pose made by hand, and settings of single bones                     |
//! | [`pose_tools`] | turning several joints, dragging bodies, pins, limits, mirror, clipboard |
//! | [`timeline`]   | keys, recorded takes, the library of poses                              |
//!
//! [`Editor`] owns what is edited. What an edit touches beside that (clocks and poses shown, messages) is handed to it as [`Beside`].

pub(super) mod pose_tools;
mod posing;
pub(super) mod timeline;

use super::channels::Cut;
use super::history::History;
use super::message::Messages;
use super::{Channels, Document, Gesture, Level, Selection, Waker};
use pose_tools::PoseTools;
use timeline::Keying;

/// The document with its history and the state of the tools that edit it.
#[derive(Default)]
pub(super) struct Editor {
    pub(super) document: Document,
    pub(super) history: History,
    pub(super) selection: Selection,
    pub(super) pose_tools: PoseTools,
    pub(super) keying: Keying,
    /// Of the command that is being applied.
    pub(super) gesture: Gesture,
}

/// What an edit touches beside the document.
pub(super) struct Beside<'a> {
    pub(super) channels: &'a mut Channels,
    pub(super) messages: &'a mut Messages,
    pub(super) waker: Option<&'a Waker>,
    /// Set by an edit after which the active channel shows another motion: the flesh has to settle there.
    pub(super) cut: Option<Cut>,
}

impl Beside<'_> {
    /// Tells the user something.
    pub(super) fn tell(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }
}

impl Editor {
    /// A command turned `before` into the present document. What is done while a take is recorded is a part of it.
    pub(super) fn record_step(&mut self, before: Document, label: &'static str, gesture: Gesture) {
        if !self.keying.is_recording() {
            let before = self.keying.take_recorded_from().unwrap_or(before);
            self.history.record(before, &self.document, label, gesture);
        }
    }
}
