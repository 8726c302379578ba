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
//! - **Panels read** [`Session::document`] (method, params, source), [`Session::subject`] (character, check-up notes, skeleton),
//!   [`Session::shown_pose`], [`Session::joint_angles_deg`], [`Session::playback`], [`Session::selected_joint`],
//!   [`Session::jobs`], [`Session::messages`], [`Session::undo_label`] …
//! - **Panels write** only by [`Command`]s. A drag sends [`Gesture::Dragging`] and, when the button goes up,
//!   [`Gesture::Released`] (or [`Session::end_gesture`]): it is one undo step.
//! - **Gizmos** sit at [`Session::world_from_joint`] (the joints asked for, without the simulation's delay) and send
//!   [`Command::RotateJoint`] with the rotation since the last event, about world axes.
//! - Files of motions go onto the open character by [`Command::AddMotions`].
//! - Turning a joint while a clip is shown takes the clip's pose of that moment over into the document and stops the clip.
//!
//! # What is where
//! [`Document`] is what undo covers. [`Playback`] and the selected joint belong to the view. Subject and actors are derived: they
//! are made by jobs in the background, the old ones stay until the new ones are ready. Each bound method lives on a [`SimWorker`].

mod apply;
mod bake;
mod checkup;
mod clip_play;
mod clips;
mod command;
mod crowd;
mod device;
mod document;
mod ghosts;
mod history;
mod jobs;
mod message;
mod motion;
mod playback;
mod pose_tools;
mod posing;
mod project;
mod recovery;
mod resting;
mod rigging;
mod scores;
mod selection;
mod snapshot;
mod source;
mod stages;
mod timeline;
mod together;
mod views;
mod worker;

pub use crate::gpu::actor::DeviceChoice;
pub use bake::{BakeFormat, BakeSettings, Baked, ContactSummary, bake, write_last_pose, write_motion, write_rig};
pub use checkup::{
    Checkup, ClipSummary, Finding, FindingKind, JointSummary, MeshSummary, MotionSummary, PartSummary, Spot, UpAxis, all_notes, up_axis,
};
pub use clip_play::{ClipPlay, DEFAULT_BLEND_SECS};
pub use clips::{Clips, with_takes};
pub use command::{Command, CommandQueue, Gesture};
pub use crowd::{CrowdFrame, CrowdMotion, MAX_CROWD};
pub use device::DeviceStatus;
pub use document::Document;
pub use ghosts::{GhostMaker, GhostPose, GhostSkin, GhostSkins, GhostWorker};
pub use history::HistoryView;
pub use jobs::{JobView, open, open_with};
pub use message::{Level, Message, MessageId};
pub use motion::{DEFAULT_FPS, HOLD_SECS, Moments, Motion, PlayError, RAMP_SECS, Take};
pub use playback::Playback;
pub use pose_tools::{PoseCommand, TurnAxes};
pub use posing::{
    PoseFileError, joint_angles_deg, read_pose, rotation_from_rest, rotation_of_angles_deg, set_joint_angles_deg, set_rotation_from_rest,
};
pub use project::{
    Answer, Export, ExportAs, Found, MissingSource, MissingSources, ProjectCommand, ProjectError, ProjectState, is_project, project_state,
};
pub use recovery::{Pace, Recovery};
pub use rigging::{Mode, RigCommand, RigQuality, Verdict};
pub use scores::ViewScore;
pub use selection::{SelectHow, Selection};
pub use snapshot::{Shape, Snapshot, Wants};
pub use source::{DEFAULT_BUILTIN, OpenError, Source, load};
pub use timeline::{KeysCommand, Scrubbing, SimulatedFrames};
pub use together::Understood;
pub use views::{MAX_VIEWS, View, ViewCommand, ViewId, Views};
pub use worker::{SimWorker, Waker};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cache::Cache;
use crate::character::Character;
use crate::dynamics::Params;
use crate::math::{Affine, origin_of};
use crate::rig::Pose;
use crate::skin::{Method, Subject};
use history::History;
use message::Messages;
use pose_tools::PoseTools;
use project::Projects;
use recovery::Recoveries;
use stages::Stages;
use timeline::Timeline;
use views::Channel;

/// One open character with its history, clock, jobs and simulation.
#[derive(Default)]
pub struct Session {
    document: Document,
    history: History,
    views: Views,
    /// Whose clock and pose the next two are: those of the active view.
    channel: Channel,
    playback: Playback,
    /// The pose shown and its joints; follows the document or the clip.
    shown: Shown,
    /// Clock and pose of all other channels.
    parked: BTreeMap<Channel, (Playback, Shown)>,
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

/// The pose that the flesh shall follow.
#[derive(Debug, Clone, Default)]
struct Shown {
    pose: Pose,
    world_from_joint: Vec<Affine>,
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

/// Motions whose joints all lie farther apart than this, relative to the character's size, are not blended.
const CUT: f64 = 0.25;

impl Session {
    /// An empty session: send [`Command::Open`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Session::new`], with other physical parameters from the start.
    #[must_use]
    pub fn with_params(params: &Params) -> Self {
        let document = Document { params: params.sanitized(), ..Document::default() };
        Self { document, ..Self::default() }
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

    /// The clips of the open character, and after them those made by the user.
    #[must_use]
    pub fn clips(&self) -> Clips<'_> {
        self.subject().map_or_else(Clips::default, |subject| Clips::new(&subject.character.clips, &self.document.takes))
    }

    /// Which clip is shown and when in it.
    #[must_use]
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// Length of the clip shown, 0 without one.
    #[must_use]
    pub fn clip_duration_secs(&self) -> f64 {
        self.playback.clip.and_then(|clip| self.clips().get(clip)).map_or(0.0, |clip| clip.duration_secs)
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

    /// The pose that the flesh shall follow: the clip's at its time, or the one made by hand.
    #[must_use]
    pub fn shown_pose(&self) -> &Pose {
        &self.shown.pose
    }

    /// The joints of the pose shown.
    #[must_use]
    pub fn world_from_joint(&self) -> &[Affine] {
        &self.shown.world_from_joint
    }

    /// A joint's angles in the pose shown, degrees about X, then Y, then Z (see [`joint_angles_deg`]); zero for an unknown joint.
    #[must_use]
    pub fn joint_angles_deg(&self, joint: usize) -> [f64; 3] {
        match self.document.skeleton() {
            Some(skeleton) if joint < skeleton.len() => joint_angles_deg(skeleton, &self.shown.pose, joint),
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
    pub fn shown_method(&self) -> Option<Method> {
        self.stages.shown_method(self.views.active().id)
    }

    /// Long work that runs now.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobView> {
        let jobs = self.stages.views().into_iter().chain(self.rigging.views()).chain(self.timeline.views());
        jobs.chain(self.projects.views()).chain(self.crowds.views()).collect()
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
        let dt_secs = if dt_secs.is_finite() { dt_secs.clamp(0.0, MAX_TICK_SECS) } else { 0.0 };
        let real_secs = dt_secs;
        let dt_secs = self.crowds.accept(self.stages.accept(dt_secs));
        self.pass_time(dt_secs);
        let mut playing = self.playback.playing || self.playback.is_blending();
        for channel in self.parked_channels() {
            playing |= self.in_channel(channel, |session| {
                session.pass_time(dt_secs);
                session.playback.playing || session.playback.is_blending()
            });
        }
        let mut moving = false;
        for (channel, worker) in self.stages.live_workers() {
            worker.post(self.joints_in(channel), dt_secs);
            moving |= !worker.is_asleep();
        }
        let sequences: Vec<u64> = self.stages.live_workers().map(|(_, worker)| worker.snapshot().sequence).collect();
        changed |= sequences != self.last_sequences;
        self.last_sequences = sequences;
        self.watch_workers();
        self.follow_devices();
        changed |= self.follow_crowds(real_secs, dt_secs);
        changed |= self.tick_timeline(real_secs);
        self.watch_work();
        let works =
            self.stages.is_busy() || self.devices.is_busy() || self.rigging.is_busy() || self.timeline.is_busy() || self.projects.is_busy();
        Tick { changed, active: moving || playing || works || self.crowds.is_active() }
    }

    /// Moves the clock of the channel and brings its pose up to date.
    fn pass_time(&mut self, dt_secs: f64) {
        if self.playback.advance(dt_secs, self.clip_duration_secs()) {
            self.pass_seam();
        }
        self.refresh_shown();
    }

    /// The clip has started over, or another one was chosen: what was shown goes over into what is to come. Where that is far away
    /// (the end of a walk from its beginning) it is a cut: the flesh is put there at rest instead of being thrown.
    fn pass_seam(&mut self) {
        let Some(subject) = self.document.subject.clone() else { return };
        let character = &subject.character;
        let wanted = wanted_pose(character, &self.playback, &self.document, self.channel);
        if wanted.locals.len() != self.shown.pose.locals.len() {
            return;
        }
        let before = character.skeleton.world_from_joint(&self.shown.pose);
        let after = character.skeleton.world_from_joint(&wanted);
        let step = |(a, b): (&Affine, &Affine)| (origin_of(a) - origin_of(b)).norm();
        let nearest = before.iter().zip(&after).map(step).fold(f64::INFINITY, f64::min);
        if nearest > CUT * f64::from(subject.size) {
            self.playback.fading = None;
            self.settle();
        } else {
            self.playback.fade(&self.shown.pose, &wanted);
        }
    }

    /// Brings the pose shown up to date with clip, clock and document.
    fn refresh_shown(&mut self) {
        let Some(subject) = self.document.subject.as_deref() else { return };
        let character = &subject.character;
        let skeleton = &character.skeleton;
        self.shown.pose = wanted_pose(character, &self.playback, &self.document, self.channel);
        self.playback.add_fading(&mut self.shown.pose);
        skeleton.world_from_joint_into(&self.shown.pose, &mut self.shown.world_from_joint);
    }
}

/// The pose that clip, clock and document ask for.
fn wanted_pose(character: &Character, playback: &Playback, document: &Document, channel: Channel) -> Pose {
    let clips = Clips::new(&character.clips, &document.takes);
    match playback.clip.and_then(|clip| clips.get(clip)) {
        Some(clip) => clip.sample(&character.skeleton, playback.time_secs),
        None => document.pose_in(channel).clone(),
    }
}

#[cfg(test)]
mod tests;
