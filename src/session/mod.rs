//! The session: everything the workbench does, without a window. The window and the command line both drive it.
//!
//! # For whoever draws it
//! ```no_run
//! use sinew::session::{Command, CommandQueue, Session, Source};
//! let mut session = Session::new();
//! session.set_waker(std::sync::Arc::new(|| { /* wake the event loop: something new can be shown */ }));
//! session.apply_once(Command::Open(Source::builtin("mannequin")));
//! let mut commands = CommandQueue::default();
//! loop {
//!     // Panels read the session and raise commands; here is the one place that applies them.
//!     session.apply_all(&mut commands);
//!     let tick = session.tick(1.0 / 60.0); // real seconds since the last call; never blocks
//!     if let Some(view) = session.snapshot() {
//!         // draw view.positions(), view.normals(), view.world_from_joint of view.subject.character
//!     }
//!     if !tick.active { break } // sleep until input or the waker; else call again with the next frame
//! }
//! ```
//! - **Draw from [`Session::snapshot`]**: it is consistent in itself (subject, method, positions, joints) and cheap to get. Its
//!   `sequence` tells whether anything changed; compare `Arc::as_ptr(&view.subject)` to see whether the character did.
//! - A view of many is drawn from [`Session::crowd_of`] as soon as that is there.
//! - **Panels read** [`Session::document`] (params, source, clips), [`Session::subject`] (character, check-up notes, skeleton),
//!   [`Session::channels`] (clock, pose, joints), [`Session::joint_angles_deg`], [`Session::selected_joint`],
//!   [`Session::jobs`], [`Session::messages`], [`Session::undo_label`] …
//! - **Panels write** only by [`Command`]s. A drag sends [`Gesture::Dragging`] and, when the button goes up,
//!   [`Gesture::Released`] (or [`Session::end_gesture`]): it is one undo step.
//! - **Gizmos** sit at [`PoseChannel::world_from_joint`] (the joints asked for, without the simulation's delay) and send
//!   [`Command::RotateJoint`] with the rotation since the last event, about world axes.
//! - Files of motions go onto the open character by [`Command::AddMotions`].
//! - Turning a joint while a clip is shown takes the clip's pose of that moment over into the document and stops the clip.
//!
//! # What is where
//! [`Document`] is what undo covers. [`Channels`] hold the clocks and poses of the views; undo does not touch clocks and selection. Subject and actors are derived: they
//! are made by jobs in the background, the old ones stay until the new ones are ready. Each bound method lives on a [`SimWorker`].

mod apply;
mod bake;
mod channels;
mod checkup;
mod clips;
mod command;
mod crowd;
mod device;
mod document;
mod gesture;
mod ghosts;
mod history;
mod jobs;
mod message;
mod mode;
mod pose_tools;
mod posing;
mod project;
mod recovery;
mod rigging;
mod scores;
mod selection;
mod source;
mod stages;
mod timeline;
mod together;
mod viewing;
mod views;
mod window;
mod worker;

pub use crate::gpu::actor::DeviceChoice;
pub use crate::studio::{
    ClipPlay, Compare, CrowdFrame, CrowdMotion, DEFAULT_BLEND_SECS, DEFAULT_FPS, GhostMaker,
    GhostPose, GhostSkin, GhostSkins, HOLD_SECS, Moments, Motion, PlayError, RAMP_SECS, Shape,
    Snapshot, Take, Wants,
};
pub use bake::{
    BakeFormat, BakeSettings, Baked, ContactSummary, bake, write_last_pose, write_motion, write_rig,
};
pub use channels::{Channels, Playback, PoseChannel};
pub use checkup::{
    Checkup, ClipSummary, Finding, FindingKind, JointSummary, MeshSummary, MotionSummary,
    PartSummary, Spot, UpAxis, all_notes,
};
pub use clips::{Clips, with_takes};
pub use command::{Command, CommandQueue};
pub use device::DeviceStatus;
pub use document::Document;
pub use gesture::Gesture;
pub use ghosts::GhostWorker;
pub use history::HistoryView;
pub use jobs::JobView;
pub use message::{Level, Message, MessageId};
pub use mode::Mode;
pub use pose_tools::{PoseCommand, TurnAxes};
pub use posing::{
    PoseFileError, joint_angles_deg, read_pose, rotation_from_rest, rotation_of_angles_deg,
    set_joint_angles_deg, set_rotation_from_rest,
};
pub use project::{
    Answer, Export, ExportAs, Found, MissingSource, MissingSources, OpenError, ProjectCommand,
    ProjectError, ProjectState, is_project, load, project_state,
};
pub use recovery::{Pace, Recovery};
pub use rigging::{RigCommand, RigQuality, Verdict};
pub use scores::ViewScore;
pub use selection::{SelectHow, Selection};
pub use source::{DEFAULT_BUILTIN, Source};
pub use stages::making::{open, open_with};
pub use timeline::{KeysCommand, Scrubbing, SimulatedFrames};
pub use together::Understood;
pub use views::{ChannelId, MAX_CROWD, MAX_VIEWS, View, ViewCommand, ViewId, Views};
pub use window::{PaneState, WindowState};
pub use worker::{SimWorker, Waker};

use std::sync::Arc;

use crate::cache::Cache;
use crate::dynamics::Params;
use crate::methods::{MethodId, Subject};
use history::History;
use message::Messages;
use pose_tools::PoseTools;
use project::Projects;
use recovery::Recoveries;
use stages::Stages;
use timeline::Timeline;

/// One open character with its history, clock, jobs and simulation.
#[derive(Default)]
pub struct Session {
    document: Document,
    history: History,
    views: Views,
    channels: Channels,
    selection: Selection,
    pose_tools: PoseTools,
    rigging: rigging::Rigging,
    messages: Messages,
    stages: Stages,
    devices: device::Devices,
    timeline: Timeline,
    waker: Option<Waker>,
    /// The states that were there to be shown when last looked at.
    last_sequences: Vec<u64>,
    cache: Cache,
    projects: Projects,
    recoveries: Recoveries,
    scores: scores::Scores,
    crowds: crowd::Crowds,
}

/// What a tick found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// There is something new to draw.
    pub changed: bool,
    /// Something moves or a job runs: tick again with the next frame. Otherwise nothing will change by itself.
    pub active: bool,
}

/// A window that slept must not catch up on all of it.
const MAX_TICK_SECS: f64 = 0.1;

impl Session {
    /// An empty session: send [`Command::Open`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Session::new`], with other physical parameters from the start.
    #[must_use]
    pub fn with_params(params: &Params) -> Self {
        let document = Document {
            params: params.sanitized(),
            ..Document::default()
        };
        Self {
            document,
            ..Self::default()
        }
    }

    /// Sets where derived data of characters that are opened from now on is kept between runs; nothing is kept by default.
    pub fn set_cache(&mut self, cache: Cache) {
        self.cache = cache;
    }

    /// Sets what to call, from other threads, when there is something new to show.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// What undo covers.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The open character with all that was derived from it.
    #[must_use]
    pub fn subject(&self) -> Option<&Arc<Subject>> {
        self.document.subject.as_ref()
    }

    /// Clocks and poses of the views.
    #[must_use]
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// The joint that gizmos and angle fields are for.
    #[must_use]
    pub fn selected_joint(&self) -> Option<usize> {
        self.selection.active()
    }

    /// All selected joints.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// A joint's angles in the pose shown, degrees about X, then Y, then Z (see [`joint_angles_deg`]); zero for an unknown joint.
    #[must_use]
    pub fn joint_angles_deg(&self, joint: usize) -> [f64; 3] {
        match self.document.skeleton() {
            Some(skeleton) if joint < skeleton.len() => {
                joint_angles_deg(skeleton, self.channels.active().pose(), joint)
            }
            _ => [0.0; 3],
        }
    }

    /// The latest state of what the active view shows; `None` until the first character is ready.
    #[must_use]
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.snapshot_of(self.views.active().id)
    }

    /// The method that the active view shows now; differs from the one it asks for while that one is being bound, or if it can't be.
    #[must_use]
    pub fn shown_method(&self) -> Option<MethodId> {
        self.stages.shown_method(self.views.active().id)
    }

    /// Long work that runs now.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobView> {
        let jobs = self
            .stages
            .views()
            .into_iter()
            .chain(self.rigging.views())
            .chain(self.timeline.views());
        jobs.chain(self.projects.views())
            .chain(self.crowds.views())
            .collect()
    }

    /// What the user should know, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.messages.list()
    }

    /// Tells the user something.
    pub fn tell(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }

    /// The steps that can be undone and done again.
    #[must_use]
    pub fn history(&self) -> HistoryView {
        self.history.view()
    }

    /// What [`Command::Undo`] would take back.
    #[must_use]
    pub fn undo_label(&self) -> Option<&'static str> {
        self.history.undo_label()
    }

    /// What [`Command::Redo`] would do again.
    #[must_use]
    pub fn redo_label(&self) -> Option<&'static str> {
        self.history.redo_label()
    }

    /// Says what whoever draws wants snapshots to hold beyond what every view needs. Cheap to call with every frame.
    pub fn set_wants(&mut self, wants: Wants) {
        self.stages.set_wants(wants);
    }

    /// Lets real time pass: takes in finished jobs, moves the clip's clock, and hands pose and time to the simulation.
    /// Call it with every frame; it never waits.
    pub fn tick(&mut self, dt_secs: f64) -> Tick {
        let mut changed = self.take_finished_jobs();
        let dt_secs = if dt_secs.is_finite() {
            dt_secs.clamp(0.0, MAX_TICK_SECS)
        } else {
            0.0
        };
        let real_secs = dt_secs;
        let dt_secs = self.crowds.accept(self.stages.accept(dt_secs));
        let mut cuts = Vec::new();
        for channel in self.channels.iter_mut() {
            if channel.advance(&self.document, dt_secs).is_some() {
                cuts.push(channel.id());
            }
        }
        for id in cuts {
            self.settle_channel(id);
        }
        let playing = self.channels.iter().any(PoseChannel::is_moving);
        let mut moving = false;
        for (channel, worker) in self.stages.live_workers() {
            worker.post(self.channels.joints_in(channel), dt_secs);
            moving |= !worker.is_asleep();
        }
        let sequences: Vec<u64> = self
            .stages
            .live_workers()
            .map(|(_, worker)| worker.snapshot().sequence)
            .collect();
        changed |= sequences != self.last_sequences;
        self.last_sequences = sequences;
        self.watch_workers();
        self.follow_devices();
        changed |= self.follow_crowds(real_secs, dt_secs);
        changed |= self.tick_timeline(real_secs);
        self.watch_work();
        let works = self.stages.is_busy()
            || self.devices.is_busy()
            || self.rigging.is_busy()
            || self.timeline.is_busy()
            || self.projects.is_busy();
        Tick {
            changed,
            active: moving || playing || works || self.crowds.is_active(),
        }
    }
}

#[cfg(test)]
mod tests;
