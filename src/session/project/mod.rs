//! Projects: all of the user's work in one file.
//!
//! A project (`.sinew`) is readable JSON: references to the character's files, each with a hash of its content, and the complete
//! [`Document`] with joints by name. The referenced files are never written; a *packed* project is a zip
//! of `project.json` and all of them. Undo steps are not saved.
//!
//! | file | what |
//! |---|---|
//! | `file` | the types of the format |
//! | `error` | why a character or a project cannot be opened, or a project saved |
//! | `files` | reads a character from files that are not projects |
//! | `export`, `report`, `scores` | files for other programs, in the background |
//! | `load` | loads a character from a source, without a session |
//! | `text` | JSON of the file types: version, errors, unknown entries |
//! | `convert` | document → file types |
//! | `restore` | file types → document |
//! | `distilled` | the distilled rig ↔ the file's entry |
//! | `motions` | joints of motions chosen by hand ↔ the file's entries |
//! | `painting` | painted materials ↔ the file's entries |
//! | `paths` | file references and how to resolve them |
//! | `packing`, `archive_names`, `pack` | what is packed, under which names, and the zip |
//! | `draft` | unsaved work of a packed project whose unpacked files are gone |
//! | `read` | path → character with all settings of the project |
//! | `save` | document → path, in the background |
//!
//! Every file is written to a temporary name and renamed: after a full disk, a power cut or a crash either the old or the new file is complete.

mod archive_names;
mod command;
mod convert;
mod distilled;
mod draft;
mod error;
mod export;
mod file;
mod files;
mod load;
mod morphs;
mod motions;
mod pack;
mod packing;
mod painting;
mod paths;
mod read;
mod report;
mod restore;
mod save;
mod scores;
mod text;
mod transfers;

pub use archive_names::ArchiveNameProblem;
pub use command::{Answer, Found, MissingSource, MissingSources, ProjectCommand};
pub use error::{ProjectError, SourceError};
pub use export::{Export, ExportAs};
pub use load::load;
pub(super) use motions::{chosen, chosen_or_noted};
pub(super) use read::{Loaded, ReadProject, Unsaved, load_all};
pub use read::{ProjectState, is_project, project_state};
pub(super) use restore::Restored;
pub(super) use save::{CompletedSave, DraftProblem, SaveRequest, draft_text, unsaved_of};
pub use scores::ScoreFormat;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::distill::RigToKeep;
use super::history::UndoHistory;
use super::job::{Job, JobView};
use super::message::Messages;
use super::{Document, Level, Source, Views, WindowState};
use crate::character::HelperRig;

/// State of the project.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) document: Document,
    pub(super) views: Views,
    pub(super) window: Option<WindowState>,
    /// The distilled rig.
    pub(super) distilled: Option<RigToKeep>,
    /// The character's rig then.
    rig: Option<Arc<HelperRig>>,
}

/// The file of a document, and the document at its last save.
#[derive(Debug, Clone, Default)]
struct DocumentFile {
    file: Option<PathBuf>,
    packed: bool,
    /// `None` for work that was recovered but never saved.
    clean: Option<Document>,
    /// The distilled rig at the last save.
    clean_rig: Option<Arc<HelperRig>>,
    /// Display name of a document without project file.
    title: Option<String>,
}

/// Projects of the open document and of those in the history, and running jobs.
#[derive(Default)]
pub struct Projects {
    files: BTreeMap<u64, DocumentFile>,
    newest: u64,
    saving: Option<Job<Result<CompletedSave, ProjectError>>>,
    exporting: Option<export::Exporting>,
    /// Save request to start after the present one.
    next: Option<SaveRequest>,
    question: Option<Question>,
    window: Option<WindowState>,
    window_to_restore: Option<WindowState>,
}

/// A project that waits for the user's answers.
struct Question {
    source: Source,
    sources: MissingSources,
    answers: BTreeMap<usize, Answer>,
}

impl Projects {
    /// The running job.
    pub(super) fn list(&self) -> impl Iterator<Item = JobView> {
        self.saving
            .iter()
            .map(Job::view)
            .chain(self.exporting.iter().map(Job::view))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.saving.is_some() || self.exporting.is_some()
    }

    /// Cancels packing; a file that is nearly written is completed.
    pub(super) fn cancel(&mut self) {
        self.next = None;
        self.saving.iter().for_each(Job::cancel);
        self.exporting = None;
    }

    fn file_of(&self, document: &Document) -> Option<&DocumentFile> {
        self.files.get(&document.work)
    }

    /// Read-only access for the open document.
    pub(super) fn view<'a>(&'a self, document: &'a Document) -> ProjectView<'a> {
        ProjectView {
            projects: self,
            document,
        }
    }

    /// Sets the window's state, to be saved with the project.
    pub fn set_window(&mut self, window: WindowState) {
        self.window = Some(window);
    }

    /// Takes the window's state of the project that has just been opened.
    pub fn take_window(&mut self) -> Option<WindowState> {
        self.window_to_restore.take()
    }

    /// The document to save now.
    pub(super) fn contents(
        &self,
        document: &Document,
        views: &Views,
        distilled: Option<RigToKeep>,
    ) -> Contents {
        Contents {
            document: document.clone(),
            views: views.clone(),
            window: self.window.clone(),
            distilled,
            rig: rig_of(document),
        }
    }

    /// The distilled rig of the project that has just been opened is the character's again.
    pub(super) fn note_restored(&mut self, document: &Document, rig: Arc<HelperRig>) {
        if let Some(file) = self.files.get_mut(&document.work) {
            file.clean_rig = Some(rig);
        }
    }

    /// After a character was opened: its present state counts as saved. Returns the recovery file that was opened, which
    /// this session then owns.
    pub(super) fn enter(
        &mut self,
        document: &mut Document,
        project: Option<ReadProject>,
        messages: &mut Messages,
    ) -> Option<PathBuf> {
        self.newest += 1;
        document.work = self.newest;
        let mut file = DocumentFile {
            clean: Some(document.clone()),
            ..DocumentFile::default()
        };
        let mut adopted = None;
        if let Some(project) = project {
            for note in project.notes {
                messages.push(Level::Warning, note);
            }
            self.window_to_restore = project.window;
            file = match project.recovered {
                None => DocumentFile {
                    file: Some(project.path),
                    packed: project.packed,
                    ..file
                },
                Some(unsaved) => {
                    adopted = Some(project.path);
                    DocumentFile {
                        file: unsaved.project,
                        packed: unsaved.packed,
                        clean: None,
                        clean_rig: None,
                        title: Some(unsaved.title),
                    }
                }
            };
        }
        self.files.insert(document.work, file);
        adopted
    }

    /// Drops projects of documents that can no longer be restored.
    pub(super) fn forget_old(&mut self, document: &Document, history: &UndoHistory) {
        let kept: Vec<u64> = history
            .documents()
            .map(|document| document.work)
            .chain([document.work])
            .collect();
        self.files.retain(|work, _| kept.contains(work));
    }

    /// A project cannot be opened until the user has answered about some files.
    pub(super) fn ask_about_sources(
        &mut self,
        source: Source,
        answers: BTreeMap<usize, Answer>,
        sources: MissingSources,
    ) {
        self.question = Some(Question {
            source,
            sources,
            answers,
        });
    }

    /// Stores the user's answer about a file. After the last one, returns what to open.
    pub(super) fn answer(
        &mut self,
        index: usize,
        answer: Answer,
    ) -> Option<(Source, BTreeMap<usize, Answer>)> {
        let question = self.question.as_mut()?;
        question.answers.insert(index, answer);
        question.sources.list.retain(|source| source.index != index);
        if !question.sources.list.is_empty() {
            return None;
        }
        self.question
            .take()
            .map(|question| (question.source, question.answers))
    }

    /// Cancels opening the project that waits for answers.
    pub(super) fn cancel_opening(&mut self) {
        self.question = None;
    }
}

/// The distilled rig of a document's character.
fn rig_of(document: &Document) -> Option<Arc<HelperRig>> {
    document.subject.as_ref()?.helper_rig()
}

/// The project of the open document, read-only.
#[derive(Clone, Copy)]
pub struct ProjectView<'a> {
    projects: &'a Projects,
    document: &'a Document,
}

impl<'a> ProjectView<'a> {
    fn document_file(self) -> Option<&'a DocumentFile> {
        self.projects.file_of(self.document)
    }

    /// Whether there are unsaved changes.
    #[must_use]
    pub fn is_dirty(self) -> bool {
        self.document.subject.is_some()
            && !self.document_file().is_some_and(|file| {
                file.clean
                    .as_ref()
                    .is_some_and(|clean| clean.same_content_as(self.document))
                    && self.has_saved_rig(file)
            })
    }

    /// Whether the character's distilled rig is the one in the file.
    fn has_saved_rig(self, file: &DocumentFile) -> bool {
        let rig = rig_of(self.document);
        rig.as_ref().map(Arc::as_ptr) == file.clean_rig.as_ref().map(Arc::as_ptr)
    }

    /// The document's project file.
    #[must_use]
    pub fn file(self) -> Option<&'a Path> {
        self.document_file()?.file.as_deref()
    }

    /// Whether the project file is packed.
    #[must_use]
    pub fn is_packed(self) -> bool {
        self.document_file().is_some_and(|file| file.packed)
    }

    /// Display name of the document: the project's name without extension, or the character's.
    #[must_use]
    pub fn title(self) -> Option<String> {
        let file = self.document_file();
        let stem = file
            .and_then(|file| file.file.as_deref())
            .and_then(Path::file_stem)
            .map(|stem| stem.to_string_lossy().into_owned());
        let recovered = file.and_then(|file| file.title.clone());
        let subject = self.document.subject.as_ref();
        stem.or(recovered)
            .or_else(|| subject.map(|subject| subject.character.name.clone()))
    }

    /// Whether the project is being written.
    #[must_use]
    pub fn is_saving(self) -> bool {
        self.projects.saving.is_some()
    }

    /// Files that the user has to answer about before the project can be opened.
    #[must_use]
    pub fn missing_sources(self) -> Option<&'a MissingSources> {
        self.projects
            .question
            .as_ref()
            .map(|question| &question.sources)
    }

    /// Owner of the present work.
    pub(super) fn unsaved(self) -> Unsaved {
        Unsaved {
            project: self
                .file()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            packed: self.is_packed(),
            title: self.title().unwrap_or_default(),
            unix_secs: 0,
            reach: self.document.source.reach.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
