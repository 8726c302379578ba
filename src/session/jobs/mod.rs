//! Jobs: background work on data derived from the document, and the threads that follow the channels.
//!
//! | file         | what                                                                     |
//! |--------------|--------------------------------------------------------------------------|
//! | [`stages`]   | reading characters, making flesh, binding methods; the bound methods      |
//! | [`devices`]  | the choice of the device for each view                                    |
//! | [`crowd`]    | crowds: many instances of the character in a view                         |
//! | [`ranges`]   | the simulation of the scrubbed range, frame by frame                      |
//! | [`board`]    | the live scoreboard: metrics of the shown methods over a clip             |
//! | [`worst`]    | the search for the worst poses of a shown method                          |
//! | [`distilling`] | the fit of a rig for game engines, and its file                      |
//! | [`basis`]    | all that a method's frames in a clip depend on                            |
//! | [`pictures`] | thumbnails of the pose library                                            |
//!
//! Each is a struct of its own. None of them changes the document or depends on the session: they get what they need of other parts as
//! [`JobContext`], and the [`Session`](super::Session) takes over their results.

pub(super) mod basis;
pub(super) mod board;
pub(super) mod crowd;
pub(super) mod devices;
pub(super) mod distilling;
pub(super) mod pictures;
pub(super) mod ranges;
pub(super) mod stages;
pub(super) mod worst;

use super::message::Messages;
use super::{Channels, Document, Level, Views, Waker};
use crate::methods::MethodId;
use board::Board;
use crowd::Crowds;
use devices::Devices;
use distilling::{Distilling, News};
use pictures::Pictures;
use ranges::Ranges;
use stages::DerivedStages;
use worst::WorstSearch;

/// All jobs and their results.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) stages: DerivedStages,
    pub(super) devices: Devices,
    pub(super) crowds: Crowds,
    pub(super) ranges: Ranges,
    pub(super) board: Board,
    pub(super) pictures: Pictures,
    pub(super) worst: WorstSearch,
    pub(super) distilling: Distilling,
}

/// Other parts of the session, as far as jobs need them.
pub(super) struct JobContext<'a> {
    /// The document that results are derived from.
    pub(super) document: &'a Document,
    /// Whether the document's state is a passing one, because something is dragged or the skeleton's change is being followed: long
    /// work on it is avoided.
    pub(super) passing: bool,
    pub(super) views: &'a mut Views,
    pub(super) channels: &'a mut Channels,
    pub(super) messages: &'a mut Messages,
    pub(super) waker: Option<&'a Waker>,
}

impl JobContext<'_> {
    /// Adds a message for the user.
    pub(super) fn add_message(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }
}

impl Jobs {
    /// Whether a job is running.
    pub(super) fn is_busy(&self) -> bool {
        self.stages.is_busy()
            || self.devices.is_busy()
            || self.pictures.is_busy()
            || self.ranges.is_busy()
            || self.board.is_busy()
            || self.worst.is_busy()
            || self.distilling.is_busy()
    }

    /// How much of `dt_secs` the clocks may advance, limited by the slowest simulation.
    pub(super) fn accept(&self, dt_secs: f64) -> f64 {
        self.crowds.accept(self.stages.accept(dt_secs))
    }

    /// Takes over what was distilled. Returns whether there was something new.
    pub(super) fn follow_distilling(&mut self, context: &mut JobContext<'_>) -> bool {
        let news = self.distilling.follow(context);
        if news == News::Rig {
            self.stages.bind_again(MethodId::DISTILLED);
        }
        news != News::Nothing
    }

    /// Cancels all running jobs.
    pub(super) fn cancel(&mut self, views: &mut Views) {
        self.stages.cancel();
        self.ranges.cancel();
        self.board.cancel();
        self.worst.stop();
        self.distilling.stop();
        self.crowds.cancel(views);
    }
}
