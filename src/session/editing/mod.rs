//! Editing: the document, its history, and the tools that change it by hand.
//!
//! | file           | what                                                                   |
//! |----------------|------------------------------------------------------------------------|
//! | [`painting`]   | materials painted onto the skin                                         |
//! | [`posing`]     | the pose made by hand, and settings of single bones                     |
//! | [`pose_tools`] | rotating several joints, dragging points of the body, pins, limits, mirror, clipboard |
//! | [`muscles`]    | muscles of implicit skinning                                            |
//! | [`motions`]    | the joint mapping of motions of other skeletons                         |
//! | [`timeline`]   | keys, recorded takes, the pose library                                  |
//!
//! [`Editor`] owns the edited state. Other parts that an edit changes (channels, messages) are passed to it as [`EditContext`].

pub(super) mod motions;
pub(super) mod muscles;
pub(super) mod painting;
pub(super) mod pose_tools;
mod posing;
pub(super) mod timeline;

use super::channels::Cut;
use super::history::UndoHistory;
use super::message::Messages;
use super::seen::SeenParts;
use super::{Channels, Document, Gesture, Level, Selection, Waker};
use painting::PaintTools;
use pose_tools::PoseTools;
use timeline::Keying;

/// The document with its history and the state of the editing tools.
#[derive(Default)]
pub(super) struct Editor {
    pub(super) document: Document,
    pub(super) history: UndoHistory,
    pub(super) selection: Selection,
    pub(super) pose_tools: PoseTools,
    pub(super) keying: Keying,
    pub(super) paint_tools: PaintTools,
    /// Gesture of the command that is being applied.
    pub(super) gesture: Gesture,
}

/// Parts outside the editor that an edit may change.
pub(super) struct EditContext<'a> {
    pub(super) channels: &'a mut Channels,
    pub(super) messages: &'a mut Messages,
    pub(super) waker: Option<&'a Waker>,
    /// Set by an edit that changes the motion of the active channel: the flesh has to settle there.
    pub(super) cut: Option<Cut>,
}

impl EditContext<'_> {
    /// Adds a message for the user.
    pub(super) fn add_message(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }
}

impl Editor {
    /// Records that a command turned `before` into the present document. Edits during a recording belong to the recording's step.
    pub(super) fn record_step(
        &mut self,
        before: Document,
        seen: SeenParts,
        label: &'static str,
        gesture: Gesture,
    ) {
        if !self.keying.is_recording() {
            let before = self.keying.take_recorded_from().unwrap_or(before);
            self.history
                .record(before, seen, &self.document, label, gesture);
        }
    }
}
