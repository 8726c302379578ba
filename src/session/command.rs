//! What can be asked of a session.

use std::path::PathBuf;

use super::{
    Gesture, KeysCommand, MessageId, PoseCommand, ProjectCommand, RigCommand, Source, ViewCommand,
};
use crate::character::{BoneSettings, FleshBase, Place, SimVertices};
use crate::dynamics::Params;
use crate::methods::MethodId;
use crate::param::ParamValues;

/// One request. [`super::Session::apply`] is the only place that carries them out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Reads a character in the background; the present one stays until the new one is ready.
    Open(Source),
    /// Adds files to the open character, in the background (undoable): motions (`.bvh`), which are put on it and shown, or whatever else belongs
    /// to it (`.skel`, `.tgf`, `.dmat`, `.anim`).
    AddMotions(Vec<PathBuf>),
    /// Changes the method of the active view; the present one stays until the new one is bound.
    SetMethod(MethodId),
    /// Changes what views there are and what they show.
    View(ViewCommand),
    /// Clips and their keys, takes, the library of poses.
    Keys(KeysCommand),
    /// Poses by hand: turns, drags, pins, limits, mirror, clipboard.
    Pose(PoseCommand),
    /// Edits the skeleton.
    Rig(RigCommand),
    /// Changes physical parameters (undoable).
    SetParams(Params),
    /// Changes a method's own parameters (undoable), in all views that show it.
    SetMethodValues {
        /// Which method.
        method: MethodId,
        /// All of its values; those that it does not declare are left out.
        values: ParamValues,
    },
    /// Changes the settings of a joint's bones (undoable); what is no factor takes effect when the flesh has been rebuilt.
    SetBone {
        /// Which.
        joint: usize,
        /// All of its settings.
        settings: BoneSettings,
    },
    /// Changes how fine the simulation mesh is (undoable); takes effect when the flesh has been rebuilt.
    SetSimVertices(SimVertices),
    /// Changes what the base of the flesh follows (undoable); takes effect when the flesh has been rebuilt.
    SetFleshBase(FleshBase),
    /// Says how a part of the skin moves, or leaves it to the check-up (undoable); takes effect when the flesh has been rebuilt.
    SetPart {
        /// [`crate::tissue::SkinComponent::name`].
        name: String,
        /// How; `None` takes back what was said.
        place: Option<Place>,
    },
    /// Selects a joint, or nothing.
    SelectJoint(Option<usize>),
    /// Sets a joint's angles as [`super::Session::joint_angles_deg`] gives them (undoable).
    SetJointAngles {
        /// Which.
        joint: usize,
        /// About X, then Y, then Z, degrees.
        degrees: [f64; 3],
    },
    /// Puts one joint back to rest (undoable).
    ResetJoint(usize),
    /// Puts all joints back to rest (undoable).
    ResetPose,
    /// Reads a pose file (undoable).
    LoadPose(PathBuf),
    /// Writes the pose shown to a pose file.
    SavePose(PathBuf),
    /// Shows a clip from its start, or the pose made by hand. Leaves playing or paused as it was.
    SelectClip(Option<usize>),
    /// Lets the clock run (on the last clip, if none is selected) or stops it. Physics goes on either way.
    SetPlaying(bool),
    /// Play ↔ pause.
    TogglePlaying,
    /// How fast the clip's clock runs; 1 is real time.
    SetSpeed(f64),
    /// Whether the clip starts over at its end.
    SetLooping(bool),
    /// Which part of the clip is played, seconds; all of it for none.
    SetRange(Option<[f64; 2]>),
    /// Within how many seconds one motion goes over into another; 0 jumps.
    SetBlend(f64),
    /// Moves the clip's clock.
    Scrub {
        /// Seconds from the clip's start.
        time_secs: f64,
    },
    /// Forgets velocities: the flesh is at rest in the pose shown.
    ResetSimulation,
    /// Takes back the last undoable command.
    Undo,
    /// Does it again.
    Redo,
    /// Stops all jobs that run.
    CancelJobs,
    /// Removes a message.
    DismissMessage(MessageId),
    /// Saves, goes through the history, and answers what a project asks.
    Project(ProjectCommand),
}

impl Command {
    /// What the command is called in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Open(_) => "Open",
            Self::AddMotions(_) => "Add motion",
            Self::SetMethod(_) => "Change method",
            Self::View(command) => command.label(),
            Self::Keys(command) => command.label(),
            Self::Pose(command) => command.label(),
            Self::Rig(command) => command.label(),
            Self::SetParams(_) => "Change dynamics",
            Self::SetMethodValues { .. } => "Change method settings",
            Self::SetBone { .. } => "Change bone",
            Self::SetSimVertices(_) => "Change simulation mesh",
            Self::SetFleshBase(_) => "Change base of the flesh",
            Self::SetPart { .. } => "Change part",
            Self::SelectJoint(_) => "Select joint",
            Self::SetJointAngles { .. } => "Set joint angles",
            Self::ResetJoint(_) => "Reset joint",
            Self::ResetPose => "Reset pose",
            Self::LoadPose(_) => "Load pose",
            Self::SavePose(_) => "Save pose",
            Self::SelectClip(_) => "Select clip",
            Self::SetPlaying(true) => "Play",
            Self::SetPlaying(false) => "Pause",
            Self::TogglePlaying => "Play or pause",
            Self::SetSpeed(_) => "Set speed",
            Self::SetLooping(_) => "Loop",
            Self::SetRange(_) => "Set range",
            Self::SetBlend(_) => "Set blending",
            Self::Scrub { .. } => "Scrub",
            Self::ResetSimulation => "Reset simulation",
            Self::Undo => "Undo",
            Self::Redo => "Redo",
            Self::CancelJobs => "Cancel",
            Self::DismissMessage(_) => "Dismiss",
            Self::Project(command) => command.label(),
        }
    }
}

impl From<KeysCommand> for Command {
    fn from(command: KeysCommand) -> Self {
        Self::Keys(command)
    }
}

impl From<PoseCommand> for Command {
    fn from(command: PoseCommand) -> Self {
        Self::Pose(command)
    }
}

impl From<ProjectCommand> for Command {
    fn from(command: ProjectCommand) -> Self {
        Self::Project(command)
    }
}

/// What the user interface collects during a frame.
#[derive(Debug, Default)]
pub struct CommandQueue {
    queue: Vec<(Command, Gesture)>,
}

impl CommandQueue {
    /// Adds a request.
    pub fn send(&mut self, command: Command, gesture: Gesture) {
        self.queue.push((command, gesture));
    }

    /// Adds a request that is an undo step of its own.
    pub fn once(&mut self, command: Command) {
        self.send(command, Gesture::Once);
    }

    /// What was collected, in order.
    #[must_use]
    pub fn commands(&self) -> &[(Command, Gesture)] {
        &self.queue
    }

    /// Whether nothing was collected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> impl Iterator<Item = (Command, Gesture)> + '_ {
        self.queue.drain(..)
    }
}
