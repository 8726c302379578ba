//! Why a character or a project cannot be opened, or a project saved.

use super::MissingSources;
use crate::character::{BoneEditError, PartError};
use crate::io::IoError;
use crate::methods::BindError;
use crate::progress::Cancelled;
use crate::rig::PoseError;

/// Why a project cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The file system said no.
    #[error("{file} can't be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The content is no project, or of a newer one, or damaged.
    #[error("{file}: {reason}")]
    Content {
        /// The file.
        file: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// Files of the character are not what they were: the user is to be asked.
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
    /// The name of a file has characters that cannot be written down.
    #[error("{file}: the file's name is not Unicode, so a project can't refer to it; rename it")]
    Name {
        /// The file.
        file: String,
    },
    /// The project would overwrite one of the character's own files.
    #[error(
        "{file} is one of the character's own files, which are never written; choose another name"
    )]
    OverSource {
        /// The file.
        file: String,
    },
    /// Writing failed; an older file is untouched.
    #[error("the project could not be saved: {0}")]
    Write(#[from] IoError),
    /// The content cannot be expressed.
    #[error("the project could not be saved: {0}")]
    Json(#[from] serde_json::Error),
}

/// Why a character could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The files could not be read.
    #[error(transparent)]
    Load(IoError),
    /// The project could not be read, or its files are not what they were.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Something was asked of the bones of a joint that is not there.
    #[error("{file}: {error}")]
    Joint {
        /// What was opened.
        file: String,
        /// Which joint.
        error: PoseError,
    },
    /// Something was asked of the bones of a joint that bones do not do.
    #[error("{file}: joint \"{joint}\": {error}")]
    Bone {
        /// What was opened.
        file: String,
        /// Which joint.
        joint: String,
        /// What is wrong.
        error: BoneEditError,
    },
    /// Something was asked of a part that is not there, or that parts do not do.
    #[error("{file}: {error}")]
    Part {
        /// What was opened.
        file: String,
        /// What is wrong.
        error: PartError,
    },
    /// The character was read but cannot be worked with.
    #[error("{file}: {error}")]
    Unusable {
        /// What was opened.
        file: String,
        /// Why it is of no use.
        error: BindError,
    },
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
