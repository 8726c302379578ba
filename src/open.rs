//! From a file to a character that methods can be bound to, or to a weight method that transfers its weights.

use std::path::Path;
use std::sync::Arc;

use crate::io::{self, IoError};
use crate::progress::Progress;
use crate::stages::{BindError, Subject};
use crate::weights::WeightMethod;

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
    /// What was read has no weights to transfer.
    #[error("{file} has no skinning weights that could be transferred; give a skinned character")]
    NoWeights {
        /// The file.
        file: String,
    },
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

/// Reads a skinned character and makes its weights a weight method: other characters get the weights of its closest points. The id of the
/// method is `transfer:` and the absolute path (or `builtin:NAME`); [`WeightMethod::from_id`] knows it from then on. A file that has
/// changed since it was last read gives another method of the same id.
///
/// # Errors
/// [`OpenError`] if the file cannot be read, or has no triangles or no weights.
pub fn transfer_weights(
    path: impl AsRef<Path>,
    progress: &Progress,
) -> Result<WeightMethod, OpenError> {
    let path = path.as_ref();
    let is_builtin = path
        .to_str()
        .is_some_and(|path| path.starts_with("builtin:"));
    let named = std::path::absolute(path).ok().filter(|_| !is_builtin);
    let named = named.as_deref().unwrap_or(path).to_string_lossy();
    let character = io::load(&[path.to_owned()], &progress.part(0.0, 0.5))?;
    let subject = Subject::build(Arc::new(character), &progress.part(0.5, 1.0))?;
    let source = subject
        .transfer_source()
        .ok_or_else(|| OpenError::NoWeights {
            file: path.display().to_string().replace(char::is_control, " "),
        })?;
    Ok(WeightMethod::transfer(&named, source))
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

    #[test]
    fn weights_of_a_file_become_a_method() {
        let progress = Progress::new();
        let method = transfer_weights("builtin:mannequin", &progress).unwrap();
        assert_eq!(method.id(), "transfer:builtin:mannequin");
        assert_eq!(
            transfer_weights("builtin:mannequin", &progress).unwrap(),
            method
        );
        // Onto itself: the same weights, but for the threshold of small ones.
        let subject = open("builtin:mannequin").unwrap().weighted(method);
        let (given, found) = (subject.file_weights().unwrap(), subject.skin_weights());
        let score = crate::weights::score_against(
            given,
            found,
            &subject.skin.mesh,
            &subject.character.skeleton,
            &progress,
        );
        let score = score.unwrap();
        assert!(score.l1 < 0.01 && score.pose_rms_mm < 1.0, "{score:?}");
        let error = transfer_weights("builtin:nobody", &progress).err().unwrap();
        assert!(matches!(error, OpenError::Load(_)), "{error}");
    }
}
