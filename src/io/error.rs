//! Errors of reading and writing files, each a single sentence.

use std::path::Path;

use crate::progress::Cancelled;
use crate::rig::SkeletonError;

/// Valid values of NAME in `builtin:NAME`, the built-in characters.
pub const BUILTIN_NAMES: [&str; 4] = ["mannequin", "gecko", "cylinder", "arm"];

/// Why a character could not be read, or a result not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system reported an error.
    #[error("{file} cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The format is not supported.
    #[error("{file}: {format} files are not supported; {instead}")]
    Unsupported {
        /// The file.
        file: String,
        /// Name of the format.
        format: String,
        /// What to do instead.
        instead: String,
    },
    /// The content violates its format.
    #[error("{file}: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong, where, and what was expected.
        problem: ParseProblem,
    },
    /// The files do not form one character.
    #[error("{0}")]
    Combination(ParseProblem),
    /// No built-in character has that name.
    #[error("there is no built-in character \"{name}\"; there are {}", BUILTIN_NAMES.join(", "))]
    UnknownBuiltin {
        /// The requested name.
        name: String,
    },
    /// The output would overwrite an input.
    #[error(
        "{file} is one of the character's own files ({input}), which Sinew never overwrites; choose another name"
    )]
    OverInput {
        /// The output.
        file: String,
        /// The input.
        input: String,
    },
    /// The output could not be written; no partial file is left.
    #[error("{file} cannot be written: {source}")]
    Write {
        /// The file.
        file: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The caller cancelled the operation.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What is wrong inside one file: a sentence without the file's name, on one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseProblem(String);

impl ParseProblem {
    /// Maximum length of a message, bytes: names from the file may be of any length.
    const LONGEST: usize = 400;

    /// Makes a problem from a sentence; control characters (from names in the file) become spaces.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let mut text: String = text.into();
        text.truncate(text.floor_char_boundary(Self::LONGEST));
        Self(text.replace(char::is_control, " "))
    }

    /// Adds the file's name.
    #[must_use]
    pub(crate) fn in_file(self, file: &str) -> IoError {
        IoError::Malformed {
            file: file.to_owned(),
            problem: self,
        }
    }
}

impl From<SkeletonError> for ParseProblem {
    fn from(error: SkeletonError) -> Self {
        Self::new(error.to_string())
    }
}

/// Result of a parser, which has no access to the file's name.
pub(crate) type Parsed<T> = Result<T, ParseProblem>;

/// `Err` with a sentence.
pub(crate) fn bad<T>(text: impl Into<String>) -> Parsed<T> {
    Err(ParseProblem::new(text))
}

/// A path as it is shown to the user.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string().replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_one_line_of_limited_length() {
        let long = format!("a \u{1}line\nof {}", "é\u{fffd}漢".repeat(300));
        let sentence = ParseProblem::new(long).in_file("x.ply").to_string();
        assert!(
            sentence.starts_with("x.ply: a  line of é")
                && sentence.len() < 420
                && !sentence.contains('\n'),
            "{sentence}"
        );
    }
}
