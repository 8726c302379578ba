//! Commands about projects.

use std::fmt;
use std::path::PathBuf;

use super::Export;

/// A command about the project. None is an undo step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ProjectCommand {
    /// Writes the project to its file, in the background.
    Save,
    /// Writes the project to another file, which becomes its file.
    SaveAs {
        /// Path of the file.
        path: PathBuf,
        /// Whether to include all files of the character (packed project).
        packed: bool,
    },
    /// Exports for other programs, in the background.
    Export {
        /// Kind of export.
        export: Export,
        /// Path of the file.
        path: PathBuf,
    },
    /// Writes the distilled rig ([`crate::session::Distilling`]), in the background.
    SaveDistilled(PathBuf),
    /// Moves to the document after this number of steps of [`super::super::Session::history`].
    JumpTo(usize),
    /// Answers what to do about a file that [`super::ProjectView::missing_sources`] lists. The last answer opens the project.
    Answer {
        /// [`MissingSource::index`].
        index: usize,
        /// The answer.
        answer: Answer,
    },
    /// Opens unsaved work that [`crate::session::Recoveries::offers`] lists.
    Recover(PathBuf),
    /// Deletes unsaved work.
    Discard(PathBuf),
    /// Offers the unsaved work again at the next start.
    KeepForLater,
    /// Cancels opening the project that has missing or changed files.
    CancelOpening,
}

impl ProjectCommand {
    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Save => "Save",
            Self::SaveAs { packed: false, .. } => "Save as",
            Self::SaveAs { packed: true, .. } => "Save packed copy",
            Self::Export { .. } => "Export",
            Self::SaveDistilled(_) => "Save distilled rig",
            Self::JumpTo(_) => "Go to step",
            Self::Answer { .. } => "Find file",
            Self::Recover(_) => "Recover",
            Self::Discard(_) => "Discard",
            Self::KeepForLater => "Keep for later",
            Self::CancelOpening => "Cancel opening",
        }
    }
}

/// Answer about a missing or changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The file is at this path.
    Located(PathBuf),
    /// Use the present file.
    AsItIs,
}

/// State of a referenced file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Missing.
    Nothing,
    /// Present with different content.
    Changed,
}

/// A referenced file that is missing or changed since the project was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSource {
    /// Index of the file in the project.
    pub index: usize,
    /// Expected path.
    pub path: PathBuf,
    /// BLAKE3 hash of the expected content, in hexadecimal digits.
    pub expected: Option<String>,
    /// Its state.
    pub found: Found,
}

/// All missing or changed files of a project.
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
