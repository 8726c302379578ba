//! Commands of the timeline.

use std::path::PathBuf;
use std::sync::Arc;

use crate::rig::{Ease, FeetRules, JointNumber, KeyRef, KeyedClip, Pose, Side, Travel};
use crate::session::Scrubbing;

/// A command. Clips are named by their index in [`crate::session::Document::clips`]; only takes can be changed.
#[derive(Debug, Clone, PartialEq)]
pub enum KeysCommand {
    /// Creates a clip of that length with the shown pose as its first key, and shows it (undoable).
    NewClip {
        /// Seconds.
        duration_secs: f64,
    },
    /// Creates an editable copy of a clip, in the background, and shows it (undoable). Motion capture is reduced to few keys.
    Duplicate {
        /// The clip, by index.
        clip: usize,
    },
    /// Renames a take (undoable).
    Rename {
        /// The clip, by index.
        clip: usize,
        /// Its name.
        name: String,
    },
    /// Removes a take (undoable).
    Delete {
        /// The clip, by index.
        clip: usize,
    },
    /// Sets keys from the shown pose (undoable): for the given joints, or all if none are given, and for joints edited since the clip was left.
    /// Then shows the clip at that time.
    SetKeys {
        /// Which clip.
        clip: usize,
        /// Which joints.
        joints: Vec<usize>,
        /// Time, seconds.
        time_secs: f64,
    },
    /// Moves keys in time (undoable).
    MoveKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// Offset, seconds.
        by_secs: f64,
        /// During a drag: the clip at its start, to which `keys` and `by_secs` refer.
        from: Option<Arc<KeyedClip>>,
    },
    /// Scales the times of keys about a fixed time (undoable).
    ScaleKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// The fixed time, seconds.
        pivot_secs: f64,
        /// Factor; above 1 spreads the keys.
        factor: f64,
        /// As for [`Self::MoveKeys`].
        from: Option<Arc<KeyedClip>>,
    },
    /// Removes keys (undoable).
    DeleteKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
    },
    /// Sets the interpolation from keys to the next key (undoable).
    SetInterpolation {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// The interpolation.
        ease: Ease,
    },
    /// Changes curves of a take (undoable).
    Curve {
        /// The clip, by index.
        clip: usize,
        /// The change.
        edit: CurveEdit,
        /// As for [`Self::MoveKeys`].
        from: Option<Arc<KeyedClip>>,
    },
    /// Sets the length of a take (undoable).
    SetDuration {
        /// The clip, by index.
        clip: usize,
        /// Seconds.
        duration_secs: f64,
    },
    /// Sets what holds for the feet of a take (undoable).
    SetFeet {
        /// The clip, by index.
        clip: usize,
        /// The rules.
        rules: FeetRules,
        /// As for [`Self::MoveKeys`].
        from: Option<Arc<KeyedClip>>,
    },
    /// Plants the feet of a take wherever they stand nearly still (undoable).
    PlantStanding {
        /// The clip, by index.
        clip: usize,
    },
    /// Auto-key: whether rotating a joint sets a key in the shown take.
    SetAutoKey(bool),
    /// What scrubbing shows.
    SetScrubbing(Scrubbing),
    /// Starts recording the edits of the pose.
    StartRecording,
    /// Ends recording: creates a take with few keys and shows it (undoable as one step).
    StopRecording,
    /// Adds the shown pose to the library (undoable).
    AddPose,
    /// Blends the shown pose towards a pose of the library (undoable).
    ApplyPose {
        /// Which, by index.
        pose: usize,
        /// Blend weight, 0 to 1.
        blend: f64,
        /// During a drag: the pose at its start.
        from: Option<Arc<Pose>>,
    },
    /// Renames a pose of the library (undoable).
    RenamePose {
        /// Which, by index.
        pose: usize,
        /// Its name.
        name: String,
    },
    /// Removes a pose from the library (undoable).
    DeletePose {
        /// Which, by index.
        pose: usize,
    },
    /// Reads pose files into the library, each named by its file (undoable).
    LoadPoses(Vec<PathBuf>),
    /// Writes the library into a folder, one pose file per pose.
    SavePoses(PathBuf),
}

impl KeysCommand {
    /// Label in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::NewClip { .. } => "New clip",
            Self::Duplicate { .. } => "Copy clip",
            Self::Rename { .. } => "Rename clip",
            Self::Delete { .. } => "Delete clip",
            Self::SetKeys { .. } => "Set key",
            Self::MoveKeys { .. } => "Move keys",
            Self::ScaleKeys { .. } => "Stretch keys",
            Self::DeleteKeys { .. } => "Delete keys",
            Self::SetInterpolation { .. } => "Change interpolation",
            Self::Curve { edit, .. } => edit.label(),
            Self::SetDuration { .. } => "Change length",
            Self::SetFeet { .. } | Self::PlantStanding { .. } => "Plant feet",
            Self::SetAutoKey(_) => "Auto-key",
            Self::SetScrubbing(_) => "Scrubbing",
            Self::StartRecording | Self::StopRecording => "Record take",
            Self::AddPose => "Add pose",
            Self::ApplyPose { .. } => "Apply pose",
            Self::RenamePose { .. } => "Rename pose",
            Self::DeletePose { .. } => "Delete pose",
            Self::LoadPoses(_) => "Load poses",
            Self::SavePoses(_) => "Save poses",
        }
    }
}

/// A change of the curves of a take.
#[derive(Debug, Clone, PartialEq)]
pub enum CurveEdit {
    /// Adds an amount to a number of keys.
    Shift {
        /// Which keys.
        keys: Vec<KeyRef>,
        /// Which number of their joints.
        number: JointNumber,
        /// Degrees, or the file's units.
        by: f64,
    },
    /// Sets the slope of a number at a key.
    Rate {
        /// Which key.
        key: KeyRef,
        /// Which number of its joint.
        number: JointNumber,
        /// The side of the key; both if not given.
        side: Option<Side>,
        /// Degrees, or the file's units, per second.
        rate: f64,
    },
    /// Makes curves level at keys.
    Flatten(Vec<KeyRef>),
    /// Takes jitter off keys: three or more in a row of a joint.
    Smooth(Vec<KeyRef>),
    /// Makes the end of the clip meet its start.
    CloseLoop(Travel),
    /// Repeats the clip, going on where it ends.
    Repeat {
        /// How many times in all.
        times: usize,
    },
}

impl CurveEdit {
    const fn label(&self) -> &'static str {
        match self {
            Self::Shift { .. } => "Change keys",
            Self::Rate { .. } => "Turn curve",
            Self::Flatten(_) => "Level curve",
            Self::Smooth(_) => "Smooth keys",
            Self::CloseLoop(_) => "Close loop",
            Self::Repeat { .. } => "Repeat clip",
        }
    }
}
