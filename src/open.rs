//! From a file to a character that methods can be bound to.

use std::path::Path;
use std::sync::Arc;

use crate::io::{self, IoError};
use crate::progress::Progress;
use crate::stages::{BindError, Subject};

/// Why a character could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be read.
    #[error(transparent)]
    Load(#[from] IoError),
    /// What was read cannot be skinned.
    #[error(transparent)]
    Build(#[from] BindError),
}

/// Reads one character from a file, or from `builtin:NAME`. The stages that a method needs are computed when it is bound.
///
/// For several files (a mesh and a skeleton, say), a cache, progress or cancellation, call [`io::load`] and [`Subject::build_with`],
/// of which this is the short form.
///
/// # Errors
/// [`OpenError`] if the file cannot be read or has no triangles.
pub fn open(path: impl AsRef<Path>) -> Result<Arc<Subject>, OpenError> {
    let progress = Progress::new();
    let character = io::load(&[path.as_ref().to_owned()], &progress)?;
    Ok(Arc::new(Subject::build(Arc::new(character), &progress)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_character_opens_and_a_missing_file_is_named() {
        let subject = open("builtin:cylinder").unwrap();
        assert!(!subject.character.meshes.is_empty());
        let error = open("no-such-file.glb").err().unwrap();
        assert!(
            matches!(error, OpenError::Load(_)) && error.to_string().contains("no-such-file.glb"),
            "{error}"
        );
    }
}
