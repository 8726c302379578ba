//! What can go wrong with a file, in one clear sentence.

use std::path::Path;

use crate::progress::Cancelled;
use crate::rig::SkeletonError;

/// Why a character could not be read, or a result not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The file system said no.
    #[error("{file} can't be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// A file of a format that Sinew can't read.
    #[error("{file}: {format} files can't be read yet; {instead}")]
    Unsupported {
        /// The file.
        file: String,
        /// Name of the format.
        format: String,
        /// What to do.
        instead: String,
    },
    /// The content is not what its format says.
    #[error("{file}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, where, and what was expected.
        problem: Problem,
    },
    /// Files that can't make up one character.
    #[error("{0}")]
    Combination(Problem),
    /// No built-in character of that name.
    #[error("there is no built-in character \"{name}\"; there are {}", super::builtin::NAMES.join(", "))]
    UnknownBuiltin {
        /// What was asked for.
        name: String,
    },
    /// The output could not be written; nothing half-written is left.
    #[error("{file} can't be written: {source}")]
    Write {
        /// The file.
        file: String,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What is wrong inside one file: a sentence without the file's name, on one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Problem(String);

impl Problem {
    /// Longest message, in bytes: names from the file may be of any length.
    const LONGEST: usize = 400;

    /// Takes a sentence; control characters (of names in the file) become spaces.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        text.truncate(text.floor_char_boundary(Self::LONGEST));
        Self(text.replace(char::is_control, " "))
    }

    /// Names the file.
    #[must_use]
    pub fn in_file(self, file: &str) -> IoError {
        IoError::Malformed { file: file.to_owned(), problem: self }
    }
}

impl From<SkeletonError> for Problem {
    fn from(error: SkeletonError) -> Self {
        Self::new(error.to_string())
    }
}

/// What parsers return: they don't know the file's name.
pub(crate) type Parsed<T> = Result<T, Problem>;

/// `Err` with a sentence.
pub(crate) fn bad<T>(text: impl Into<String>) -> Parsed<T> {
    Err(Problem::new(text))
}

/// How a path is shown to the user.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string().replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_short_line() {
        let long = format!("a \u{1}line\nof {}", "é\u{fffd}漢".repeat(300));
        let sentence = Problem::new(long).in_file("x.ply").to_string();
        assert!(sentence.starts_with("x.ply: a  line of é") && sentence.len() < 420 && !sentence.contains('\n'), "{sentence}");
    }
}
