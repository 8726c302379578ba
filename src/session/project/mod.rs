//! Projects: everything that the user did, in one file.
//!
//! A project (`.sinew`) is JSON that people can read: which files make up the character, with a hash of what was in them, and all of the
//! [`Document`](super::Document), joints by name. The files themselves are only referred to, never written; a *packed* project is a zip
//! with `project.json` and all of them. Steps of undo are not saved.
//!
//! | file | what |
//! |---|---|
//! | `file` | the types of the format |
//! | `error` | why a character or a project can't be opened, or a project saved |
//! | `files` | from files that are no projects to a character |
//! | `load` | from a source to a character, for those who need no session |
//! | `text` | between these and JSON: version, damage, what is unknown |
//! | `convert` | between these and the document |
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
mod save;
mod text;

pub use command::{Answer, Found, MissingSource, MissingSources, ProjectCommand};
pub(super) use convert::Restored;
pub use error::{OpenError, ProjectError};
pub use export::{Export, ExportAs};
pub use load::load;
pub(super) use read::{Loaded, ReadProject, Unsaved, load_all};
pub use read::{ProjectState, is_project, project_state};
pub(super) use save::{SaveRequest, Saved, draft_text, unsaved_of};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::jobs::Job;
use super::{Document, JobView, Level, Session, Source, Views, WindowState};

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
pub(super) struct Projects {
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
    pub(super) fn views(&self) -> impl Iterator<Item = JobView> {
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
}

impl Session {
    /// Whether something was changed that no project file has.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.document.subject.is_some()
            && !self.work().is_some_and(|work| {
                work.clean
                    .as_ref()
                    .is_some_and(|clean| clean.same_content_as(&self.document))
            })
    }

    /// The project file that the document is saved to.
    #[must_use]
    pub fn project_file(&self) -> Option<&Path> {
        self.work()?.file.as_deref()
    }

    /// Whether the project file is one with all sources in it.
    #[must_use]
    pub fn project_is_packed(&self) -> bool {
        self.work().is_some_and(|work| work.packed)
    }

    /// What the document is called: the project's name without its ending, or the character's.
    #[must_use]
    pub fn document_title(&self) -> Option<String> {
        let work = self.work();
        let stem = work
            .and_then(|work| work.file.as_deref())
            .and_then(Path::file_stem)
            .map(|stem| stem.to_string_lossy().into_owned());
        let recovered = work.and_then(|work| work.title.clone());
        stem.or(recovered)
            .or_else(|| self.subject().map(|subject| subject.character.name.clone()))
    }

    /// Whether the project is being written.
    #[must_use]
    pub fn is_saving(&self) -> bool {
        self.projects.saving.is_some()
    }

    /// The files that the user must be asked about before the project can be opened.
    #[must_use]
    pub fn missing_sources(&self) -> Option<&MissingSources> {
        self.projects
            .question
            .as_ref()
            .map(|question| &question.sources)
    }

    /// Sets what the window looks like, to be saved with the project.
    pub fn set_window(&mut self, window: WindowState) {
        self.projects.window = Some(window);
    }

    /// What the window looked like when the project was saved that has just been opened; once.
    pub fn take_window(&mut self) -> Option<WindowState> {
        self.projects.window_to_restore.take()
    }

    /// What is to be saved now.
    pub(super) fn contents(&self) -> Contents {
        Contents {
            document: self.document.clone(),
            views: self.views.clone(),
            window: self.projects.window.clone(),
        }
    }

    fn work(&self) -> Option<&Work> {
        self.projects.works.get(&self.document.work)
    }

    /// Carries out a command of this area. None of them is an undo step.
    pub(super) fn apply_project(&mut self, command: ProjectCommand) {
        match command {
            ProjectCommand::Save => self.save(None),
            ProjectCommand::SaveAs { path, packed } => self.save(Some((path, packed))),
            ProjectCommand::Export { export, path } => self.export(export, path),
            ProjectCommand::JumpTo(position) => {
                self.travel(|history, document| history.jump(document, position));
            }
            ProjectCommand::Answer { index, answer } => self.answer(index, answer),
            ProjectCommand::Recover(file) => self.recover(&file),
            ProjectCommand::Discard(file) => self.discard(&file),
            ProjectCommand::KeepForLater => self.keep_for_later(),
            ProjectCommand::CancelOpening => self.projects.question = None,
        }
    }

    /// A character was opened: what it is now is what needs no saving.
    pub(super) fn enter_work(&mut self, project: Option<ReadProject>) {
        self.projects.newest += 1;
        self.document.work = self.projects.newest;
        let clean = Some(self.document.clone());
        let work = match project {
            None => Work {
                clean,
                ..Work::default()
            },
            Some(project) => {
                for note in project.notes {
                    self.tell(Level::Warning, note);
                }
                self.projects.window_to_restore = project.window;
                match project.recovered {
                    None => Work {
                        file: Some(project.path),
                        packed: project.packed,
                        clean,
                        title: None,
                    },
                    Some(unsaved) => {
                        self.adopt(&project.path);
                        Work {
                            file: unsaved.project,
                            packed: unsaved.packed,
                            clean: None,
                            title: Some(unsaved.title),
                        }
                    }
                }
            }
        };
        self.projects.works.insert(self.document.work, work);
    }

    /// More was read for the document that is open.
    pub(super) fn forget_old_works(&mut self) {
        let kept: Vec<u64> = self
            .history
            .documents()
            .map(|document| document.work)
            .chain([self.document.work])
            .collect();
        self.projects.works.retain(|work, _| kept.contains(work));
    }

    /// A project can't be opened before the user has said what to do about some files.
    pub(super) fn ask_about_sources(
        &mut self,
        source: Source,
        answers: BTreeMap<usize, Answer>,
        sources: MissingSources,
    ) {
        self.projects.question = Some(Question {
            source,
            sources,
            answers,
        });
    }

    fn answer(&mut self, index: usize, answer: Answer) {
        let Some(question) = &mut self.projects.question else {
            return;
        };
        question.answers.insert(index, answer);
        question.sources.list.retain(|source| source.index != index);
        if question.sources.list.is_empty()
            && let Some(Question {
                source, answers, ..
            }) = self.projects.question.take()
        {
            self.start_opening_with(source, answers);
        }
    }
}

#[cfg(test)]
mod tests;
