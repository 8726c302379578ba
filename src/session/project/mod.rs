//! Projects: everything that the user did, in one file.
//!
//! A project (`.sinew`) is JSON that people can read: which files make up the character, with a hash of what was in them, and all of the
//! [`Document`], joints by name. The files themselves are only referred to, never written; a *packed* project is a zip
//! with `project.json` and all of them. Steps of undo are not saved.
//!
//! | file | what |
//! |---|---|
//! | `file` | the types of the format |
//! | `error` | why a character or a project cannot be opened, or a project saved |
//! | `files` | from files that are no projects to a character |
//! | `load` | from a source to a character, for those who need no session |
//! | `text` | between these and JSON: version, damage, what is unknown |
//! | `convert` | from the document to these |
//! | `restore` | from these to the document |
//! | `paths` | how files are referred to and found again |
//! | `pack` | the zip |
//! | `read` | from a path to a character with all that the project says |
//! | `save` | from the document to a path, in the background |
//!
//! Whatever is written is written beside its place and renamed: a full disk, a cut cable or a killed program leave the old file or the new.

mod command;
mod convert;
mod error;
mod export;
mod file;
mod files;
mod load;
mod pack;
mod paths;
mod read;
mod restore;
mod save;
mod text;

pub use command::{Answer, Found, MissingSource, MissingSources, ProjectCommand};
pub use error::{OpenError, ProjectError};
pub use export::{Export, ExportAs};
pub use load::load;
pub(super) use read::{Loaded, ReadProject, Unsaved, load_all};
pub use read::{ProjectState, is_project, project_state};
pub(super) use restore::Restored;
pub(super) use save::{SaveRequest, Saved, draft_text, unsaved_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::history::History;
use super::job::{Job, JobView};
use super::message::Messages;
use super::{Document, Level, Source, Views, WindowState};

/// What is saved.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) document: Document,
    pub(super) views: Views,
    pub(super) window: Option<WindowState>,
}

/// What a document is saved to, and what it was when it was saved.
#[derive(Debug, Clone, Default)]
struct Work {
    file: Option<PathBuf>,
    packed: bool,
    /// Nothing for what was never saved but recovered.
    clean: Option<Document>,
    /// Name for what has no project file and may have no files either.
    title: Option<String>,
}

/// Projects of the documents that are open or can be brought back, and what goes on with them.
#[derive(Default)]
pub struct Projects {
    works: BTreeMap<u64, Work>,
    newest: u64,
    saving: Option<Job<Result<Saved, ProjectError>>>,
    exporting: Option<export::Exporting>,
    /// What to save when the present saving is done.
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
    /// What runs now.
    pub(super) fn list(&self) -> impl Iterator<Item = JobView> {
        self.saving
            .iter()
            .map(Job::view)
            .chain(self.exporting.iter().map(Job::view))
    }

    pub(super) fn is_busy(&self) -> bool {
        self.saving.is_some() || self.exporting.is_some()
    }

    /// Packing is given up; what is nearly written is finished.
    pub(super) fn cancel(&mut self) {
        self.next = None;
        self.saving.iter().for_each(Job::cancel);
        self.exporting = None;
    }

    fn work_of(&self, document: &Document) -> Option<&Work> {
        self.works.get(&document.work)
    }

    /// The same for reading, of the document that is open.
    pub(super) fn view<'a>(&'a self, document: &'a Document) -> ProjectView<'a> {
        ProjectView {
            projects: self,
            document,
        }
    }

    /// Sets what the window looks like, to be saved with the project.
    pub fn set_window(&mut self, window: WindowState) {
        self.window = Some(window);
    }

    /// What the window looked like when the project was saved that has just been opened; once.
    pub fn take_window(&mut self) -> Option<WindowState> {
        self.window_to_restore.take()
    }

    /// What is to be saved now.
    pub(super) fn contents(&self, document: &Document, views: &Views) -> Contents {
        Contents {
            document: document.clone(),
            views: views.clone(),
            window: self.window.clone(),
        }
    }

    /// A character was opened: what it is now is what needs no saving. Returns the file of unsaved work that was opened, which is
    /// this program's own from now on.
    pub(super) fn enter(
        &mut self,
        document: &mut Document,
        project: Option<ReadProject>,
        messages: &mut Messages,
    ) -> Option<PathBuf> {
        self.newest += 1;
        document.work = self.newest;
        let mut work = Work {
            clean: Some(document.clone()),
            ..Work::default()
        };
        let mut adopted = None;
        if let Some(project) = project {
            for note in project.notes {
                messages.push(Level::Warning, note);
            }
            self.window_to_restore = project.window;
            work = match project.recovered {
                None => Work {
                    file: Some(project.path),
                    packed: project.packed,
                    ..work
                },
                Some(unsaved) => {
                    adopted = Some(project.path);
                    Work {
                        file: unsaved.project,
                        packed: unsaved.packed,
                        clean: None,
                        title: Some(unsaved.title),
                    }
                }
            };
        }
        self.works.insert(document.work, work);
        adopted
    }

    /// Forgets what belongs to documents that cannot be brought back any more.
    pub(super) fn forget_old(&mut self, document: &Document, history: &History) {
        let kept: Vec<u64> = history
            .documents()
            .map(|document| document.work)
            .chain([document.work])
            .collect();
        self.works.retain(|work, _| kept.contains(work));
    }

    /// A project cannot be opened before the user has said what to do about some files.
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

    /// The user has said what to do about a file. After the last answer, what is to be opened is returned.
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

    /// The project that asks about its files is not opened.
    pub(super) fn cancel_opening(&mut self) {
        self.question = None;
    }
}

/// The project of the document that is open: reading only.
#[derive(Clone, Copy)]
pub struct ProjectView<'a> {
    projects: &'a Projects,
    document: &'a Document,
}

impl<'a> ProjectView<'a> {
    fn work(self) -> Option<&'a Work> {
        self.projects.work_of(self.document)
    }

    /// Whether something was changed that no project file has.
    #[must_use]
    pub fn is_dirty(self) -> bool {
        self.document.subject.is_some()
            && !self.work().is_some_and(|work| {
                work.clean
                    .as_ref()
                    .is_some_and(|clean| clean.same_content_as(self.document))
            })
    }

    /// The project file that the document is saved to.
    #[must_use]
    pub fn file(self) -> Option<&'a Path> {
        self.work()?.file.as_deref()
    }

    /// Whether the project file is one with all sources in it.
    #[must_use]
    pub fn is_packed(self) -> bool {
        self.work().is_some_and(|work| work.packed)
    }

    /// What the document is called: the project's name without its ending, or the character's.
    #[must_use]
    pub fn title(self) -> Option<String> {
        let work = self.work();
        let stem = work
            .and_then(|work| work.file.as_deref())
            .and_then(Path::file_stem)
            .map(|stem| stem.to_string_lossy().into_owned());
        let recovered = work.and_then(|work| work.title.clone());
        let subject = self.document.subject.as_ref();
        stem.or(recovered)
            .or_else(|| subject.map(|subject| subject.character.name.clone()))
    }

    /// Whether the project is being written.
    #[must_use]
    pub fn is_saving(self) -> bool {
        self.projects.saving.is_some()
    }

    /// The files that the user must be asked about before the project can be opened.
    #[must_use]
    pub fn missing_sources(self) -> Option<&'a MissingSources> {
        self.projects
            .question
            .as_ref()
            .map(|question| &question.sources)
    }

    /// What the present work belongs to.
    pub(super) fn unsaved(self) -> Unsaved {
        Unsaved {
            project: self
                .file()
                .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            packed: self.is_packed(),
            title: self.title().unwrap_or_default(),
            unix_secs: 0,
        }
    }
}

#[cfg(test)]
mod tests;
