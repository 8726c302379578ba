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
//!   [`Session::channels`] (clock, pose, joints), [`Session::joint_angles_deg`], [`Session::selection`],
//!   [`Session::rigging`], [`Session::project`], [`Session::jobs`], [`Session::messages`], [`Session::history`] …
//! - **Panels write** only by [`Command`]s. A drag sends [`Gesture::Dragging`] and, when the button goes up,
//!   [`Gesture::Released`] (or [`Session::end_gesture`]): it is one undo step.
//! - **Gizmos** sit at [`PoseChannel::world_from_joint`] (the joints asked for, without the simulation's delay) and send
//!   [`PoseCommand::Turn`] with the rotation since the drag began.
//! - Files of motions go onto the open character by [`Command::AddMotions`].
//! - Turning a joint while a clip is shown takes the clip's pose of that moment over into the document and stops the clip.
//!
//! # What is where
//! The session is the owner of parts that live differently long. It routes commands, ticks the parts, and holds what joins several of
//! them; everything else is a method of a part, which is handed what it needs of the others.
//!
//! | part         | what it holds                                                              | how long it lives                        |
//! |--------------|----------------------------------------------------------------------------|------------------------------------------|
//! | `editing`    | the [`Document`], its history, selection, posing tools, keys                | undo brings the document back            |
//! | [`Channels`] | clocks and poses of the views                                                | undo does not touch clocks               |
//! | [`Views`]    | what views there are, their ghosts and scores                                 | kept by the project, not by undo         |
//! | `jobs`       | bound methods on [`SimWorker`]s, stages in the making, devices, crowds, ranges | derived: the old stay until the new are ready |
//! | [`Rigging`]  | the editing of the skeleton, and the flesh that follows                        | as long as the character                 |
//! | [`Projects`], [`Recoveries`] | project files, unsaved work                                    | as long as the program                   |

mod apply;
mod bake;
mod channels;
mod checkup;
mod clips;
mod command;
mod document;
mod editing;
mod gesture;
mod history;
mod job;
mod jobs;
mod message;
mod mode;
mod posing;
mod project;
mod recovery;
mod rigging;
mod selection;
mod source;
mod taking;
mod tick;
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
pub use document::Document;
pub use editing::pose_tools::{PoseCommand, PoseTools, TurnAxes};
pub use editing::timeline::{Keying, KeysCommand};
pub use gesture::Gesture;
pub use history::HistoryView;
pub use job::JobView;
pub use jobs::devices::{DeviceStatus, Devices};
pub use jobs::pictures::Pictures;
pub use jobs::ranges::{Ranges, Scrubbing, SimulatedFrames};
pub use jobs::stages::making::{open, open_with};
pub use message::{Level, Message, MessageId};
pub use mode::Mode;
pub use posing::{
    PoseFileError, joint_angles_deg, read_pose, rotation_from_rest, rotation_of_angles_deg,
    set_joint_angles_deg, set_rotation_from_rest,
};
pub use project::{
    Answer, Export, ExportAs, Found, MissingSource, MissingSources, OpenError, ProjectCommand,
    ProjectError, ProjectState, ProjectView, Projects, is_project, load, project_state,
};
pub use recovery::{Pace, Recoveries, Recovery};
pub use rigging::{RigCommand, RigQuality, RigView, Rigging, Verdict};
pub use selection::{SelectHow, Selection};
pub use source::{DEFAULT_BUILTIN, Source};
pub use tick::Tick;
pub use together::Understood;
pub use views::ghosts::GhostWorker;
pub use views::scores::ViewScore;
pub use views::{ChannelId, MAX_CROWD, MAX_VIEWS, View, ViewCommand, ViewId, Views};
pub use window::{PaneState, WindowState};
pub use worker::{SimWorker, Waker};

use std::path::Path;
use std::sync::Arc;

use crate::cache::Cache;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::methods::{MethodId, Subject};
use editing::Editor;
use jobs::Jobs;
use message::Messages;
use views::scores::Scores;

/// One open character with its history, clock, jobs and simulation.
#[derive(Default)]
pub struct Session {
    editor: Editor,
    channels: Channels,
    views: Views,
    jobs: Jobs,
    rigging: Rigging,
    projects: Projects,
    recoveries: Recoveries,
    scores: Scores,
    messages: Messages,
    waker: Option<Waker>,
    /// The states that were there to be shown when last looked at: of the workers, and of the active view.
    last_sequences: Vec<u64>,
    last_shown: Option<u64>,
}

impl Session {
    /// An empty session: send [`Command::Open`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Session::new`], with other physical parameters from the start.
    #[must_use]
    pub fn with_params(params: &Params) -> Self {
        let mut session = Self::default();
        session.editor.document.params = params.sanitized();
        session
    }

    /// Sets where derived data of characters that are opened from now on is kept between runs; nothing is kept by default.
    pub fn set_cache(&mut self, cache: Cache) {
        self.jobs.stages.set_cache(cache);
    }

    /// Sets what to call, from other threads, when there is something new to show.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// Says what whoever draws wants snapshots to hold beyond what every view needs. Cheap to call with every frame.
    pub fn set_wants(&mut self, wants: Wants) {
        self.jobs.stages.set_wants(wants);
    }

    /// Tells which graphics device there is: the one that whoever draws uses. Cheap to call with every frame.
    pub fn set_gpu(&mut self, gpu: Option<&GpuContext>) {
        if self.jobs.devices.set_gpu(gpu) {
            // What slept on a device that is gone would not notice, and have nothing to show.
            self.jobs.stages.wake();
        }
    }

    /// What undo covers.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.editor.document
    }

    /// The open character with all that was derived from it.
    #[must_use]
    pub fn subject(&self) -> Option<&Arc<Subject>> {
        self.editor.document.subject.as_ref()
    }

    /// Clocks and poses of the views.
    #[must_use]
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// The views.
    #[must_use]
    pub fn views(&self) -> &Views {
        &self.views
    }

    /// The view that commands act on.
    #[must_use]
    pub fn active_view(&self) -> &View {
        self.views.active()
    }

    /// All selected joints.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.editor.selection
    }

    /// What posing knows of the character, and what was copied.
    #[must_use]
    pub fn pose_tools(&self) -> &PoseTools {
        &self.editor.pose_tools
    }

    /// Auto-key and recording.
    #[must_use]
    pub fn keying(&self) -> &Keying {
        &self.editor.keying
    }

    /// The steps that can be undone and done again.
    #[must_use]
    pub fn history(&self) -> HistoryView {
        self.editor.history.view()
    }

    /// What [`Command::Undo`] would take back.
    #[must_use]
    pub fn undo_label(&self) -> Option<&'static str> {
        self.editor.history.undo_label()
    }

    /// What [`Command::Redo`] would do again.
    #[must_use]
    pub fn redo_label(&self) -> Option<&'static str> {
        self.editor.history.redo_label()
    }

    /// The editing of the skeleton.
    #[must_use]
    pub fn rigging(&self) -> RigView<'_> {
        self.rigging.view(&self.editor.document)
    }

    /// The project of the document.
    #[must_use]
    pub fn project(&self) -> ProjectView<'_> {
        self.projects.view(&self.editor.document)
    }

    /// Project files, to say and ask what the window looks like.
    pub fn projects_mut(&mut self) -> &mut Projects {
        &mut self.projects
    }

    /// Which device computes what is shown.
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.jobs.devices
    }

    /// As [`Session::devices`], to choose among them.
    pub fn devices_mut(&mut self) -> &mut Devices {
        &mut self.jobs.devices
    }

    /// The simulations of the range that is scrubbed.
    #[must_use]
    pub fn ranges(&self) -> &Ranges {
        &self.jobs.ranges
    }

    /// Small pictures of the poses of the library.
    #[must_use]
    pub fn pictures(&self) -> &Pictures {
        &self.jobs.pictures
    }

    /// Unsaved work of programs that are not running any more.
    #[must_use]
    pub fn recoveries(&self) -> &Recoveries {
        &self.recoveries
    }

    /// A joint's angles in the pose shown, degrees about X, then Y, then Z (see [`joint_angles_deg`]); zero for an unknown joint.
    #[must_use]
    pub fn joint_angles_deg(&self, joint: usize) -> [f64; 3] {
        match self.editor.document.skeleton() {
            Some(skeleton) if joint < skeleton.len() => {
                joint_angles_deg(skeleton, self.channels.active().pose(), joint)
            }
            _ => [0.0; 3],
        }
    }

    /// The method that the active view shows now; differs from the one it asks for while that one is being bound, or if it cannot be.
    #[must_use]
    pub fn shown_method(&self) -> Option<MethodId> {
        self.jobs.stages.shown_method(self.views.active().id)
    }

    /// Long work that runs now.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobView> {
        let jobs = self
            .jobs
            .stages
            .list()
            .into_iter()
            .chain(self.rigging.list())
            .chain(self.editor.keying.list());
        jobs.chain(self.projects.list())
            .chain(self.jobs.crowds.list())
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

    /// Keeps unsaved work in this folder from now on, and looks in the background for work that other programs left there.
    pub fn keep_work_in(&mut self, folder: &Path, pace: Pace) {
        let waker = self.waker.as_ref();
        self.recoveries
            .keep_in(folder, pace, &mut self.messages, waker);
    }

    /// The user leaves and wants nothing kept that is not saved: there will be nothing to recover.
    pub fn close(&mut self) {
        self.recoveries.close();
    }

    /// The program has to end and the user cannot be asked: what is not saved is written now and offered next time. Without unsaved work
    /// there is nothing to recover, as after [`Session::close`].
    pub fn leave(&mut self) {
        if !self.project().is_dirty() {
            return self.close();
        }
        self.watch_work();
        self.recoveries.leave();
    }

    /// Sees to it that unsaved work is kept.
    fn watch_work(&mut self) {
        let document = &self.editor.document;
        self.recoveries.watch(
            self.projects.view(document),
            document,
            || self.projects.contents(document, &self.views),
            &mut self.messages,
        );
    }
}

#[cfg(test)]
mod tests;
