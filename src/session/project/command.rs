//! What can be asked of projects.

use std::fmt;
use std::path::PathBuf;

use super::Export;

/// One request about the project. None is an undo step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ProjectCommand {
    /// Writes the project to its file, in the background.
    Save,
    /// Writes the project to another file, which is its file from then on.
    SaveAs {
        /// Where to.
        path: PathBuf,
        /// With all of the character's files in it.
        packed: bool,
    },
    /// Writes what the character does to a file for other programs, in the background.
    Export {
        /// What of it.
        export: Export,
        /// Where to.
        path: PathBuf,
    },
    /// Goes to the document after so many of the steps of [`super::super::Session::history`].
    JumpTo(usize),
    /// Says what to do about a file that [`super::ProjectView::missing_sources`] lists. After the last answer the project is opened.
    Answer {
        /// [`MissingSource::index`].
        index: usize,
        /// What to do.
        answer: Answer,
    },
    /// Opens unsaved work that [`crate::session::Recoveries::offers`] lists.
    Recover(PathBuf),
    /// Removes unsaved work for good.
    Discard(PathBuf),
    /// Offers the unsaved work again at the next start.
    KeepForLater,
    /// Leaves the project that asks about its files unopened.
    CancelOpening,
}

impl ProjectCommand {
    /// What the command is called.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Save => "Save",
            Self::SaveAs { packed: false, .. } => "Save as",
            Self::SaveAs { packed: true, .. } => "Save packed copy",
            Self::Export { .. } => "Export",
            Self::JumpTo(_) => "Go to step",
            Self::Answer { .. } => "Find file",
            Self::Recover(_) => "Recover",
            Self::Discard(_) => "Discard",
            Self::KeepForLater => "Keep for later",
            Self::CancelOpening => "Cancel opening",
        }
    }
}

/// What to do about a file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is here.
    Located(PathBuf),
    /// Use what is there now.
    AsItIs,
}

/// What is where a file should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file with another content.
    Changed,
}

/// A file of the character that is not what it was when the project was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSource {
    /// Which of the project's files.
    pub index: usize,
    /// Where it should be.
    pub path: PathBuf,
    /// The BLAKE3 hash of what should be in it, in hexadecimal digits.
    pub expected: Option<String>,
    /// What is there.
    pub found: Found,
}

/// All such files of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSources {
    /// The project.
    pub project: PathBuf,
    /// The files, at least one.
    pub list: Vec<MissingSource>,
}

impl fmt::Display for MissingSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.list.first() else {
            return Ok(());
        };
        let what = match first.found {
            Found::Nothing => "is missing",
            Found::Changed => "has changed since the project was saved",
        };
        write!(
            f,
            "{}: {}, which the project needs, {what}",
            self.project.display(),
            first.path.display()
        )?;
        match self.list.len() - 1 {
            0 => Ok(()),
            more => write!(f, ", and so with {more} more"),
        }
    }
}
