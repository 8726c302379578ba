//! The session: the complete workbench without its window. The window and the command line both drive it.
//!
//! # For callers that draw
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
//! - Draw a view with a crowd from [`Session::crowd_of`] once that returns one.
//! - **Panels read** [`Session::document`] (params, source, clips), [`Session::subject`] (character, check-up notes, skeleton),
//!   [`Session::channels`] (clock, pose, joints), [`Session::joint_angles_deg`], [`Session::selection`],
//!   [`Session::rigging`], [`Session::project`], [`Session::jobs`], [`Session::messages`], [`Session::history`] …
//! - **Panels write** only by [`Command`]s. A drag sends [`Gesture::Dragging`] and, when the button goes up,
//!   [`Gesture::Released`] (or [`Session::end_gesture`]): it is one undo step.
//! - **Gizmos** sit at [`PoseChannel::world_from_joint`] (the joints asked for, without the simulation's delay) and send
//!   [`PoseCommand::Turn`] with the rotation since the drag began.
//! - Add motion files to the open character with [`Command::AddMotions`].
//! - Rotating a joint while a clip is shown copies the clip's present pose to the document and stops the clip.
//!
//! # Parts
//! The session owns parts with different lifetimes. It routes commands, ticks the parts, and holds what connects several of
//! them; everything else is a method of a part, which gets what it needs of the others as arguments.
//!
//! | part         | content                                                                    | lifetime                                 |
//! |--------------|----------------------------------------------------------------------------|------------------------------------------|
//! | `editing`    | the [`Document`], its history, selection, posing tools, keys                | undo restores the document, and what was seen with it |
//! | [`Channels`] | clocks and poses of the views                                                | undo restores which clip is shown, and its frame, where a step has changed it |
//! | [`Views`]    | the views, their ghosts and scores                                            | stored in the project, covered by undo |
//! | `jobs`       | bound methods on [`SimWorker`]s, stages being computed, devices, crowds, ranges, the [`Board`] | derived: kept until their replacement is ready |
//! | [`Rigging`]  | editing of the skeleton, and rebuilding the flesh for it                       | one character                            |
//! | [`Projects`], [`Recoveries`] | project files, unsaved work                                    | the whole run                            |

mod apply;
mod bake;
mod channels;
mod checkup;
mod clips;
mod command;
mod distill;
mod document;
mod editing;
mod gesture;
mod history;
mod job;
mod jobs;
mod message;
mod mode;
mod moment;
mod posing;
mod project;
mod recorded;
mod recovery;
mod restoring;
mod rigging;
mod seen;
mod selection;
mod source;
mod taking;
mod tick;
mod together;
mod variants;
mod varying;
mod viewing;
mod views;
mod window;
mod worker;

pub use crate::gpu::actor::DeviceChoice;
pub use crate::studio::{
    ClipPlay, Compare, CrowdFrame, CrowdMotion, DEFAULT_BLEND_SECS, DEFAULT_FPS, GhostMaker,
    GhostPose, GhostSkin, GhostSkins, HOLD_SECS, Moments, Motion, PlayError, RAMP_SECS, Shape,
    Snapshot, SnapshotContent, Take,
};
pub use bake::{
    BakeFormat, BakeSettings, Baked, ContactSummary, MATERIALS_LOST, RigReport, Seam, SeamError,
    Seams, WrittenRig, bake, measure_seams, write_last_pose, write_motion, write_rig,
};
pub use channels::{Channels, Playback, PoseChannel};
pub use checkup::{
    Checkup, ClipSummary, Finding, FindingKind, FindingPlace, JointSummary, MeshSummary,
    MotionSummary, PartSummary, UpAxis, all_notes,
};
pub use clips::{Clips, with_takes};
pub use command::{Command, CommandQueue, VariantCommand};
pub use distill::{
    ClipResidual, DistillError, DistillReport, DistillSettings, Distilled, KeptRig, RestoreError,
    distill,
};
pub use document::Document;
pub use editing::motions::MotionCommand;
pub use editing::muscles::MuscleCommand;
pub use editing::painting::PaintCommand;
pub use editing::pose_tools::{PoseCommand, PoseTools, TurnAxes};
pub use editing::timeline::{CurveEdit, Keying, KeysCommand};
pub use gesture::Gesture;
pub use history::HistoryView;
pub use job::JobView;
pub use jobs::board::{Board, BoardLine, BoardRequest, Peak};
pub use jobs::devices::{DeviceStatus, Devices};
pub use jobs::distilling::{DistillRequest, Distilling};
pub use jobs::pictures::Pictures;
pub use jobs::ranges::{Ranges, Scrubbing, SimulatedFrames};
pub use jobs::stages::making::{open, open_with};
pub use jobs::worst::WorstSearch;
pub use message::{Level, Message, MessageId};
pub use mode::Mode;
pub use posing::{
    PoseFileError, joint_angles_deg, read_pose, rotation_from_rest, rotation_of_angles_deg,
    set_joint_angles_deg, set_rotation_from_rest,
};
pub use project::{
    Answer, ArchiveNameProblem, Export, ExportAs, Found, MissingSource, MissingSources,
    ProjectCommand, ProjectError, ProjectState, ProjectView, Projects, ScoreFormat, SourceError,
    is_project, load, project_state,
};
pub use recorded::{RECORDING_BYTES, RecordedFrame, RecordedFrames};
pub use recovery::{Recoveries, Recovery, WriteDelays};
pub use rigging::{RigCommand, RigQuality, RigRating, RigView, Rigging};
pub use selection::{SelectHow, Selection};
pub use source::{DEFAULT_BUILTIN, Source};
pub use tick::Tick;
pub use together::{Interpreted, is_companion};
pub use variants::{SettingsVariant, VariantId};
pub use views::ghosts::GhostWorker;
pub use views::scores::ViewScore;
pub use views::{ChannelId, MAX_CROWD, MAX_VIEWS, View, ViewCommand, ViewId, Views};
pub use window::{BoardState, PaneState, WindowState};
pub use worker::{SimWorker, Waker};

use std::path::Path;
use std::sync::Arc;

use crate::cache::Cache;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::methods::{FieldSlice, MethodId, Subject};
use crate::studio::FieldCutting;
use crate::weights::WeightMethod;
use editing::Editor;
use jobs::Jobs;
use message::Messages;
use recorded::Recorder;
use views::scores::Scores;

/// One open character with its history, clocks, jobs and simulations.
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
    recorder: Recorder,
    messages: Messages,
    waker: Option<Waker>,
    /// The states at the last check: of the workers, and of the active view.
    last_sequences: Vec<u64>,
    last_shown: Option<u64>,
    /// The window's arrangement, if the caller has said it for the present command.
    window_seen: Option<Arc<WindowState>>,
    /// The arrangement that undo or redo has restored.
    window_restored: Option<Arc<WindowState>>,
    /// Key of the flesh kept last.
    flesh_kept: u64,
}

impl Session {
    /// An empty session: send [`Command::Open`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Session::new`], with other initial physical parameters.
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

    /// Sets the function that other threads call when there is something new to show.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// Sets the optional content of snapshots. Cheap to call with every frame.
    pub fn set_wants(&mut self, wants: SnapshotContent) {
        self.jobs.stages.set_wants(wants);
    }

    /// Sets whether a view shows the voxel domain of automatic weights, and the weight methods that views compare with. All of these are
    /// then computed in the background. Cheap to call with every frame.
    pub fn show_of_weights(&mut self, voxels: bool, compared: &[WeightMethod]) {
        self.jobs.stages.overlays.set_wanted(voxels, compared);
    }

    /// Sets the cuts through composed fields that views show. They are computed in the background. Returns whether the next
    /// [`Session::tick`] starts with one. Cheap to call with every frame.
    pub fn show_fields(&mut self, cuttings: Vec<(ViewId, FieldCutting)>) -> bool {
        self.jobs.stages.fields.set_wanted(cuttings)
    }

    /// The newest cut through the field of a view; `None` if it shows none, or until the first is computed.
    #[must_use]
    pub fn field_slice_of(&self, view: ViewId) -> Option<&Arc<FieldSlice>> {
        self.jobs.stages.fields.of(view)
    }

    /// Whether the user has cancelled the computation of voxel domains and compared weights. [`Session::show_of_weights`] without what was
    /// cancelled, and then with it, allows it again.
    #[must_use]
    pub fn are_overlays_cancelled(&self) -> bool {
        self.jobs.stages.overlays.is_cancelled()
    }

    /// Sets the graphics device, which the caller also draws with. Cheap to call with every frame.
    pub fn set_gpu(&mut self, gpu: Option<&GpuContext>) {
        if self.jobs.devices.set_gpu(gpu) {
            // Workers asleep on a lost device would not notice the loss, and would have nothing to show.
            self.jobs.stages.wake();
        }
    }

    /// The document: what undo covers.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.editor.document
    }

    /// The open character with its derived stages.
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

    /// Data of the pose tools, and the copied pose.
    #[must_use]
    pub fn pose_tools(&self) -> &PoseTools {
        &self.editor.pose_tools
    }

    /// Auto-key and recording.
    #[must_use]
    pub fn keying(&self) -> &Keying {
        &self.editor.keying
    }

    /// The undo and redo steps.
    #[must_use]
    pub fn history(&self) -> HistoryView {
        self.editor.history.view()
    }

    /// Label of the step that [`Command::Undo`] would undo.
    #[must_use]
    pub fn undo_label(&self) -> Option<&'static str> {
        self.editor.history.undo_label()
    }

    /// Label of the step that [`Command::Redo`] would redo.
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

    /// Project files, to exchange the window's state with.
    pub fn projects_mut(&mut self) -> &mut Projects {
        &mut self.projects
    }

    /// The choice of the device for each view.
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.jobs.devices
    }

    /// As [`Session::devices`], mutable.
    pub fn devices_mut(&mut self) -> &mut Devices {
        &mut self.jobs.devices
    }

    /// The simulations of the scrubbed range.
    #[must_use]
    pub fn ranges(&self) -> &Ranges {
        &self.jobs.ranges
    }

    /// The live scoreboard.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.jobs.board
    }

    /// As [`Session::board`], mutable: to say what is wanted, to cancel and to go on.
    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.jobs.board
    }

    /// Whether a motion is being transferred with other joints.
    #[must_use]
    pub fn is_mapping(&self) -> bool {
        self.jobs.stages.is_mapping()
    }

    /// The search for the worst poses.
    #[must_use]
    pub fn worst(&self) -> &WorstSearch {
        &self.jobs.worst
    }

    /// As [`Session::worst`], mutable: to cancel it.
    pub fn worst_mut(&mut self) -> &mut WorstSearch {
        &mut self.jobs.worst
    }

    /// Starts a search for the poses in which the method of a view is worst by a quantity, given by its id. A running search ends.
    pub fn search_worst(&mut self, view: ViewId, quantity: &str) {
        if let Some(view) = self.views.get(view) {
            let (need, waker) = (view.need(), self.waker.clone());
            let worst = &mut self.jobs.worst;
            worst.start(&self.editor.document, need, quantity, waker);
        }
    }

    /// The fit of a rig for game engines.
    #[must_use]
    pub fn distilling(&self) -> &Distilling {
        &self.jobs.distilling
    }

    /// As [`Session::distilling`], mutable: to cancel it.
    pub fn distilling_mut(&mut self) -> &mut Distilling {
        &mut self.jobs.distilling
    }

    /// Starts to fit a rig to simulated clips, from the weights of the active view. A running fit ends.
    pub fn distill(&mut self, request: DistillRequest) {
        let (weights, waker) = (self.views.active().weights, self.waker.clone());
        let (distilling, document) = (&mut self.jobs.distilling, &self.editor.document);
        distilling.start(request, document, weights, waker);
    }

    /// Thumbnails of the pose library.
    #[must_use]
    pub fn pictures(&self) -> &Pictures {
        &self.jobs.pictures
    }

    /// Unsaved work of other programs that are no longer running.
    #[must_use]
    pub fn recoveries(&self) -> &Recoveries {
        &self.recoveries
    }

    /// A joint's angles in the shown pose, degrees about X, then Y, then Z (see [`joint_angles_deg`]); zero for an unknown joint.
    #[must_use]
    pub fn joint_angles_deg(&self, joint: usize) -> [f64; 3] {
        match self.editor.document.skeleton() {
            Some(skeleton) if joint < skeleton.len() => {
                joint_angles_deg(skeleton, self.channels.active().pose(), joint)
            }
            _ => [0.0; 3],
        }
    }

    /// The method that the active view shows now. It differs from the requested one while that is being bound, or if binding failed.
    #[must_use]
    pub fn shown_method(&self) -> Option<MethodId> {
        self.jobs.stages.shown_method(self.views.active().id)
    }

    /// The running jobs.
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
            .chain(self.jobs.distilling.list())
            .chain(self.jobs.crowds.list())
            .collect()
    }

    /// Messages for the user, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.messages.list()
    }

    /// Adds a message for the user.
    pub fn add_message(&mut self, level: Level, text: impl Into<String>) {
        self.messages.push(level, text);
    }

    /// Keeps unsaved work in this folder from now on, and searches it in the background for unsaved work of other programs.
    pub fn set_recovery_folder(&mut self, folder: &Path, delays: WriteDelays) {
        let waker = self.waker.as_ref();
        self.recoveries
            .keep_in(folder, delays, &mut self.messages, waker);
    }

    /// Ends without keeping unsaved work.
    pub fn close(&mut self) {
        self.recoveries.close();
    }

    /// Ends when the user cannot be asked: unsaved work is written now and offered at the next start. Without unsaved work
    /// this equals [`Session::close`].
    pub fn leave(&mut self) {
        if !self.project().is_dirty() {
            return self.close();
        }
        self.update_recovery_file();
        self.recoveries.leave();
    }

    /// Updates the recovery file.
    fn update_recovery_file(&mut self) {
        let document = &self.editor.document;
        self.recoveries.update_draft(
            self.projects.view(document),
            document,
            || {
                let distilled = self.jobs.distilling.to_keep(document);
                self.projects.contents(document, &self.views, distilled)
            },
            &mut self.messages,
        );
    }
}

#[cfg(test)]
mod tests;
