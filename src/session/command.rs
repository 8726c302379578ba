//! Commands of a session.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    Gesture, KeysCommand, MessageId, MotionCommand, MuscleCommand, PaintCommand, PoseCommand,
    ProjectCommand, RigCommand, Source, VariantId, ViewCommand, ViewId,
};
use crate::character::{BoneSettings, FleshBase, Place, SimVertices};
use crate::dynamics::Params;
use crate::methods::MethodId;
use crate::param::ParamValues;
use crate::rig::Pose;

/// Commands about variants. All are undoable.
#[derive(Debug, Clone, PartialEq)]
pub enum VariantCommand {
    /// Copies the settings of a view under a name, which the view then has.
    Add {
        /// The view.
        view: ViewId,
        /// The name; an empty one is replaced.
        name: String,
    },
    /// Renames a variant.
    Rename {
        /// Which.
        id: VariantId,
        /// The new name; an empty one is ignored.
        name: String,
    },
    /// Removes a variant; its views have the shared settings again.
    Remove(VariantId),
}

impl VariantCommand {
    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Add { .. } => "Add variant",
            Self::Rename { .. } => "Rename variant",
            Self::Remove(_) => "Remove variant",
        }
    }
}

/// One request. [`super::Session::apply`] is the only place that carries them out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Reads a character in the background; the present one is kept until the new one is ready.
    Open(Source),
    /// Adds files to the open character, in the background (undoable): motions (`.bvh`), which are retargeted and shown, or other files of the
    /// character (`.skel`, `.tgf`, `.dmat`, `.anim`).
    AddMotions(Vec<PathBuf>),
    /// Changes the method of the active view; the present one is shown until the new one is bound.
    SetMethod(MethodId),
    /// Adds, removes or changes views.
    View(ViewCommand),
    /// Adds, names or removes variants of the settings.
    Variant(VariantCommand),
    /// Edits clips and keys, takes and the pose library.
    Keys(KeysCommand),
    /// Edits the pose: rotations, drags, pins, limits, mirror, clipboard.
    Pose(PoseCommand),
    /// Chooses joints of motions by hand.
    Motion(MotionCommand),
    /// Paints materials onto the skin.
    Paint(PaintCommand),
    /// Edits muscles of implicit skinning.
    Muscle(MuscleCommand),
    /// Edits the skeleton.
    Rig(RigCommand),
    /// Changes physical parameters (undoable): the shared ones, or those of the active view's variant.
    SetParams(Params),
    /// Changes a method's own parameters (undoable), in all views that show it with the active view's settings.
    SetMethodValues {
        /// Which method.
        method: MethodId,
        /// All of its values; undeclared ones are ignored.
        values: ParamValues,
    },
    /// Changes the settings of a joint's bones (undoable); settings other than factors take effect when the flesh has been rebuilt.
    SetBone {
        /// The joint, by index.
        joint: usize,
        /// All of its settings.
        settings: BoneSettings,
    },
    /// Changes the resolution of the simulation mesh (undoable); takes effect when the flesh has been rebuilt.
    SetSimVertices(SimVertices),
    /// Changes what the base of the flesh follows (undoable); takes effect when the flesh has been rebuilt.
    SetFleshBase(FleshBase),
    /// Sets the length of one unit of the file in metres, or uses that of the file (undoable); takes effect when the flesh has been
    /// rebuilt.
    SetUnit(Option<f64>),
    /// Sets how a part of the skin moves, or lets the check-up decide (undoable); takes effect when the flesh has been rebuilt.
    SetPart {
        /// [`crate::tissue::SkinComponent::name`].
        name: String,
        /// How; `None` removes the setting.
        place: Option<Place>,
    },
    /// Selects a joint, or none.
    SelectJoint(Option<usize>),
    /// Sets a joint's angles, as returned by [`super::Session::joint_angles_deg`] (undoable).
    SetJointAngles {
        /// The joint, by index.
        joint: usize,
        /// About X, then Y, then Z, degrees.
        degrees: [f64; 3],
    },
    /// Resets one joint to rest (undoable).
    ResetJoint(usize),
    /// Resets all joints and morphs to rest (undoable).
    ResetPose,
    /// Sets weights of morphs and expressions, by control and relative to rest (undoable).
    SetMorphs(Vec<(usize, f64)>),
    /// Sets all joints (undoable); ignored if their number is not that of the skeleton.
    SetPose(Arc<Pose>),
    /// Reads a pose file (undoable).
    LoadPose(PathBuf),
    /// Writes the shown pose to a pose file.
    SavePose(PathBuf),
    /// Shows a clip from its start, or the pose made by hand. Playback continues or stays paused.
    SelectClip(Option<usize>),
    /// Starts the clock (on the last clip, if none is selected) or stops it. Physics runs in both cases.
    SetPlaying(bool),
    /// Toggles play and pause.
    TogglePlaying,
    /// Playback speed; 1 is real time.
    SetSpeed(f64),
    /// Whether the clip repeats.
    SetLooping(bool),
    /// The played range, seconds; `None` is the whole clip.
    SetRange(Option<[f64; 2]>),
    /// Blend duration between motions, seconds; 0 cuts.
    SetBlend(f64),
    /// Sets the clip's time.
    Scrub {
        /// Seconds from the clip's start.
        time_secs: f64,
    },
    /// Resets the simulation: zero velocities, at rest in the shown pose.
    ResetSimulation,
    /// Undoes the last step.
    Undo,
    /// Redoes the last undone step.
    Redo,
    /// Cancels all running jobs.
    CancelJobs,
    /// Removes a message.
    DismissMessage(MessageId),
    /// Saves, moves through the history, and answers the questions of a project.
    Project(ProjectCommand),
}

impl Command {
    /// Label in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Open(_) => "Open",
            Self::AddMotions(_) => "Add motion",
            Self::SetMethod(_) => "Change method",
            Self::View(command) => command.label(),
            Self::Variant(command) => command.label(),
            Self::Keys(command) => command.label(),
            Self::Pose(command) => command.label(),
            Self::Motion(command) => command.label(),
            Self::Paint(command) => command.label(),
            Self::Muscle(command) => command.label(),
            Self::Rig(command) => command.label(),
            Self::SetParams(_) => "Change dynamics",
            Self::SetMethodValues { .. } => "Change method settings",
            Self::SetBone { .. } => "Change bone",
            Self::SetSimVertices(_) => "Change simulation mesh",
            Self::SetFleshBase(_) => "Change flesh base",
            Self::SetUnit(_) => "Change unit",
            Self::SetPart { .. } => "Change part",
            Self::SelectJoint(_) => "Select joint",
            Self::SetJointAngles { .. } => "Set joint angles",
            Self::ResetJoint(_) => "Reset joint",
            Self::ResetPose => "Reset pose",
            Self::SetMorphs(_) => "Set morph",
            Self::SetPose(_) => "Set pose",
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

impl From<MotionCommand> for Command {
    fn from(command: MotionCommand) -> Self {
        Self::Motion(command)
    }
}

impl From<MuscleCommand> for Command {
    fn from(command: MuscleCommand) -> Self {
        Self::Muscle(command)
    }
}

impl From<PaintCommand> for Command {
    fn from(command: PaintCommand) -> Self {
        Self::Paint(command)
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

/// Commands that the user interface collects during a frame.
#[derive(Debug, Default)]
pub struct CommandQueue {
    queue: Vec<(Command, Gesture)>,
}

impl CommandQueue {
    /// Adds a command.
    pub fn send(&mut self, command: Command, gesture: Gesture) {
        self.queue.push((command, gesture));
    }

    /// Adds a command that is its own undo step.
    pub fn once(&mut self, command: Command) {
        self.send(command, Gesture::Once);
    }

    /// The collected commands, in order.
    #[must_use]
    pub fn commands(&self) -> &[(Command, Gesture)] {
        &self.queue
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Removes and returns all commands.
    pub fn drain(&mut self) -> impl Iterator<Item = (Command, Gesture)> + '_ {
        self.queue.drain(..)
    }
}
