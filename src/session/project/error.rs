//! Why a character or a project cannot be opened, or a project saved.

use super::MissingSources;
use super::archive_names::ArchiveNameProblem;
use crate::character::{BoneEditError, MuscleEditError, PartError};
use crate::io::IoError;
use crate::methods::BindError;
use crate::progress::Cancelled;
use crate::rig::PoseError;
use crate::rig::retarget::RetargetError;

/// Why a project cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// Input or output failed.
    #[error("{file} can't be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The content is not a project, is of a newer version, or is damaged.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong and where.
        reason: String,
    },
    /// Files of the character are missing or changed: the user has to answer.
    #[error("{0}")]
    Sources(MissingSources),
    /// More than one project was named.
    #[error("two projects are given, {first} and {second}: open them one after the other")]
    Twice {
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
    /// The name of a file is not valid Unicode.
    #[error("{file}: the file's name is not Unicode, so a project can't refer to it; rename it")]
    Name {
        /// The file.
        file: String,
    },
    /// A file could not be unpacked under its name, on every system.
    #[error(
        "{file} can't be packed: it has a name that {problem}, and other files refer to it; rename it"
    )]
    NotPackable {
        /// The file.
        file: String,
        /// What is wrong with its name in the archive.
        problem: ArchiveNameProblem,
    },
    /// Writing failed; an existing file is unchanged.
    #[error("the project could not be saved: {0}")]
    Write(#[from] IoError),
    /// The content cannot be serialized.
    #[error("the project could not be saved: {0}")]
    Json(#[from] serde_json::Error),
}

/// Why a character could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The files could not be read.
    #[error(transparent)]
    Load(IoError),
    /// The project could not be read, or its files are missing or changed.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A bone setting names a joint that does not exist.
    #[error("{file}: {error}")]
    Joint {
        /// What was opened.
        file: String,
        /// The joint.
        error: PoseError,
    },
    /// A bone setting is invalid.
    #[error("{file}: joint \"{joint}\": {error}")]
    Bone {
        /// What was opened.
        file: String,
        /// The joint.
        joint: String,
        /// What is wrong.
        error: BoneEditError,
    },
    /// A muscle is invalid, or names a joint that does not exist.
    #[error("{file}: {error}")]
    Muscle {
        /// What was opened.
        file: String,
        /// What is wrong.
        error: MuscleEditError,
    },
    /// A part setting names a part that does not exist, or is invalid.
    #[error("{file}: {error}")]
    Part {
        /// What was opened.
        file: String,
        /// What is wrong.
        error: PartError,
    },
    /// A joint that drives another is named that does not exist.
    #[error("{of}: {error}")]
    Map {
        /// What was opened, or the motion.
        of: String,
        /// The joint.
        error: PoseError,
    },
    /// Joints are chosen for motions, and there is none.
    #[error("{file}: no motion of another skeleton was given, for which joints could be chosen")]
    NoMotion {
        /// What was opened.
        file: String,
    },
    /// A motion cannot follow the joints chosen for it.
    #[error("{file}: {error}")]
    Motion {
        /// The motion.
        file: String,
        /// Reason.
        error: RetargetError,
    },
    /// The character was read but cannot be used.
    #[error("{file}: {error}")]
    Unusable {
        /// What was opened.
        file: String,
        /// Reason.
        error: BindError,
    },
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
