//! Jobs: everything that is made in the background for the document, and the threads that follow the channels.
//!
//! | file         | what                                                                     |
//! |--------------|--------------------------------------------------------------------------|
//! | [`stages`]   | reading characters, making flesh, binding methods; the bound methods      |
//! | [`devices`]  | which device computes what is shown                                       |
//! | [`crowd`]    | many of the character in a view                                           |
//! | [`ranges`]   | the simulation of the range that is scrubbed, frame by frame              |
//! | [`pictures`] | small pictures of the poses of the library                                |
//!
//! Each is a struct of its own. None of them changes the document or knows the session: what they need of the other parts is handed to
//! them as [`Around`], and what they have made is taken over by the [`Session`](super::Session).

pub(super) mod crowd;
pub(super) mod devices;
pub(super) mod pictures;
pub(super) mod ranges;
pub(super) mod stages;

use super::message::Messages;
use super::{Channels, Document, Level, Views, Waker};
use crowd::Crowds;
use devices::Devices;
use pictures::Pictures;
use ranges::Ranges;
use stages::Stages;

/// All that is under way or was made for what is shown.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) stages: Stages,
    pub(super) devices: Devices,
    pub(super) crowds: Crowds,
    pub(super) ranges: Ranges,
    pub(super) pictures: Pictures,
}

/// The other parts of the session, as far as jobs need them.
pub(super) struct Around<'a> {
    /// What is made follows it.
    pub(super) document: &'a Document,
    /// Whether the user is dragging: what comes of it is not worth long work yet.
    pub(super) dragging: bool,
    pub(super) views: &'a mut Views,
    pub(super) channels: &'a mut Channels,
    pub(super) messages: &'a mut Messages,
    pub(super) waker: Option<&'a Waker>,
}

impl Around<'_> {
    /// Tells the user something.
    pub(super) fn tell(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }
}

impl Jobs {
    /// Whether something is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.stages.is_busy()
            || self.devices.is_busy()
            || self.pictures.is_busy()
            || self.ranges.is_busy()
    }

    /// How much of `dt_secs` the clocks may let pass: the slowest simulation says.
    pub(super) fn accept(&self, dt_secs: f64) -> f64 {
        self.crowds.accept(self.stages.accept(dt_secs))
    }

    /// Gives up what the user waits for.
    pub(super) fn cancel(&mut self, views: &mut Views) {
        self.stages.cancel();
        self.ranges.cancel();
        self.crowds.cancel(views);
    }
}
