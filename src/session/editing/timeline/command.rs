//! What can be asked of the timeline.

use std::path::PathBuf;
use std::sync::Arc;

use crate::rig::{Ease, KeyRef, KeyedClip, Pose};
use crate::session::Scrubbing;

/// One request. Clips are named by their index in [`crate::session::Document::clips`]; only takes can be changed.
#[derive(Debug, Clone, PartialEq)]
pub enum KeysCommand {
    /// Makes a clip of that length with the pose shown as its first key, and shows it (undoable).
    NewClip {
        /// Seconds.
        duration_secs: f64,
    },
    /// Makes an editable copy of a clip, in the background, and shows it (undoable). Motion capture gets few keys.
    Duplicate {
        /// Which.
        clip: usize,
    },
    /// Gives a take another name (undoable).
    Rename {
        /// Which.
        clip: usize,
        /// Its name.
        name: String,
    },
    /// Takes a take away (undoable).
    Delete {
        /// Which.
        clip: usize,
    },
    /// Keys the pose shown (undoable): the joints given, all if none are, and whatever was turned by hand since the clip was left.
    /// The clip is shown at that time.
    SetKeys {
        /// Which clip.
        clip: usize,
        /// Which joints.
        joints: Vec<usize>,
        /// When, seconds.
        time_secs: f64,
    },
    /// Moves keys in time (undoable).
    MoveKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// By how much, seconds.
        by_secs: f64,
        /// In a drag: the clip as it was when the drag began, which `keys` and `by_secs` are for.
        from: Option<Arc<KeyedClip>>,
    },
    /// Spreads keys from a time, or draws them together (undoable).
    ScaleKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// What stays, seconds.
        pivot_secs: f64,
        /// Above 1 spreads.
        factor: f64,
        /// As for [`Self::MoveKeys`].
        from: Option<Arc<KeyedClip>>,
    },
    /// Takes keys away (undoable).
    DeleteKeys {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
    },
    /// Changes how keys go on to the next one (undoable).
    SetInterpolation {
        /// Which clip.
        clip: usize,
        /// Which keys.
        keys: Vec<KeyRef>,
        /// How.
        ease: Ease,
    },
    /// Changes how long a take is played (undoable).
    SetDuration {
        /// Which.
        clip: usize,
        /// Seconds.
        duration_secs: f64,
    },
    /// Whether turning a joint sets a key in the take shown.
    SetAutoKey(bool),
    /// What is seen while scrubbing.
    SetScrubbing(Scrubbing),
    /// Records what the hand does from now on.
    StartRecording,
    /// Makes a take of what was recorded, with few keys, and shows it (undoable, the recording as a whole).
    StopRecording,
    /// Puts the pose shown into the library (undoable).
    AddPose,
    /// Goes a part of the way to a pose of the library (undoable).
    ApplyPose {
        /// Which, by index.
        pose: usize,
        /// From 0, not at all, to 1.
        blend: f64,
        /// In a drag: the pose that was shown when it began.
        from: Option<Arc<Pose>>,
    },
    /// Gives a pose of the library another name (undoable).
    RenamePose {
        /// Which, by index.
        pose: usize,
        /// Its name.
        name: String,
    },
    /// Takes a pose out of the library (undoable).
    DeletePose {
        /// Which, by index.
        pose: usize,
    },
    /// Reads pose files into the library, each under its file's name (undoable).
    LoadPoses(Vec<PathBuf>),
    /// Writes the library as pose files, one a pose, into a folder.
    SavePoses(PathBuf),
}

impl KeysCommand {
    /// What the command is called in the undo menu.
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
            Self::SetDuration { .. } => "Change length",
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
