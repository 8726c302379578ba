//! Writes the document to a file, in the background.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::convert::file_of;
use super::file::{ReachPart, RecoveryPart};
use super::packing::Packed;
use super::text::{TextError, from_text, to_text};
use super::{Contents, ProjectError, Projects, Unsaved, pack, packing, paths};
use crate::io::{refuse_input, write_atomically};
use crate::progress::Progress;
use crate::session::job::{Job, JobState};
use crate::session::message::Messages;
use crate::session::{Level, Waker};

/// Request of a save.
#[derive(Clone)]
pub(in crate::session) struct SaveRequest {
    contents: Contents,
    path: PathBuf,
    packed: bool,
}

/// Result of a save.
pub(in crate::session) struct CompletedSave {
    request: SaveRequest,
    notes: Vec<String>,
}

/// Text of a recovery file, with absolute paths.
pub(in crate::session) fn draft_text(
    contents: &Contents,
    unsaved: &Unsaved,
) -> Result<String, ProjectError> {
    let read = &contents.document.files_read;
    let mut file = file_of(contents, &|path| paths::refer_in_draft(path, read))?;
    let project = unsaved
        .project
        .as_deref()
        .and_then(Path::to_str)
        .map(str::to_owned);
    let unix_secs = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    file.recovery = Some(RecoveryPart {
        project,
        packed: unsaved.packed,
        title: unsaved.title.clone(),
        unix_secs,
        reach: ReachPart::of(&unsaved.reach),
    });
    Ok(to_text(&file)?)
}

/// Why unsaved work can't be offered; completes "Unsaved work of an earlier run can't be read: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::session) enum DraftProblem {
    /// A newer version can read it.
    #[error("{0}")]
    Newer(String),
    /// No version can.
    #[error("{0}")]
    Damaged(String),
}

/// Owner of the unsaved work in a text.
pub(in crate::session) fn unsaved_of(text: &str) -> Result<Unsaved, DraftProblem> {
    let (file, _) = from_text(text).map_err(|error| match error {
        TextError::Version(_) => DraftProblem::Newer(error.to_string()),
        error => DraftProblem::Damaged(error.to_string()),
    })?;
    let unsaved = file.recovery.as_ref().map(Unsaved::from);
    unsaved.ok_or_else(|| DraftProblem::Damaged("it has no owner entry".to_owned()))
}

impl SaveRequest {
    /// Writes the file.
    fn run(self, progress: &Progress) -> Result<CompletedSave, ProjectError> {
        progress.report(0.0, "Writing");
        self.check_target()?;
        let notes = if self.packed {
            self.write_packed(progress)?
        } else {
            self.write_plain()?
        };
        Ok(CompletedSave {
            request: self,
            notes,
        })
    }

    /// Refuses to overwrite source files.
    fn check_target(&self) -> Result<(), ProjectError> {
        let document = &self.contents.document;
        Ok(refuse_input(&self.path, document.inputs())?)
    }

    fn write_plain(&self) -> Result<Vec<String>, ProjectError> {
        let absolute = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let read = &self.contents.document.files_read;
        let refer = |path: &Path| paths::refer(path, read, absolute.parent());
        let file = file_of(&self.contents, &refer)?;
        let text = to_text(&file)?;
        write_atomically(&self.path, |out| out.write_all(text.as_bytes()))?;
        Ok(Vec::new())
    }

    fn write_packed(&self, progress: &Progress) -> Result<Vec<String>, ProjectError> {
        let Packed { text, files, notes } = packing::collect(&self.contents, progress)?;
        pack::check_sizes(&text, &files).map_err(|reason| ProjectError::Content {
            file: self.path.display().to_string(),
            reason,
        })?;
        write_atomically(&self.path, |out| pack::pack(out, &text, &files, progress))?;
        Ok(notes)
    }
}

impl Projects {
    /// Starts writing the project to its file, or to another one.
    pub(in crate::session) fn save(
        &mut self,
        to: Option<(PathBuf, bool)>,
        contents: Contents,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        if contents.document.subject.is_none() {
            return messages.push(
                Level::Warning,
                "There is nothing to save yet: open a character first.",
            );
        }
        let own = || {
            self.file_of(&contents.document)
                .and_then(|work| Some((work.file.clone()?, work.packed)))
        };
        let Some((path, packed)) = to.or_else(own) else {
            return messages.push(
                Level::Error,
                "The project has no file yet; save it as a new one.",
            );
        };
        let path = if path.extension().is_none() {
            path.with_extension("sinew")
        } else {
            path
        };
        let request = SaveRequest {
            contents,
            path,
            packed,
        };
        if self.saving.is_some() {
            // One save at a time: otherwise the older one could finish last.
            self.next = Some(request);
        } else {
            self.start_saving(request, messages, waker);
        }
    }

    fn start_saving(
        &mut self,
        request: SaveRequest,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        let name = request
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let work = move |progress: &Progress| request.run(progress);
        match Job::start(format!("Saving {name}"), waker.cloned(), work) {
            Ok(job) => self.saving = Some(job),
            Err(error) => messages.push(
                Level::Error,
                format!("No thread could be started to save the project: {error}."),
            ),
        }
    }

    /// Takes over the result of a save. Returns whether there was one.
    pub(in crate::session) fn take_saved(
        &mut self,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) -> bool {
        let outcome = match self.saving.as_ref().map(Job::poll) {
            None | Some(JobState::Running) => return false,
            Some(outcome) => outcome,
        };
        self.saving = None;
        match outcome {
            JobState::Done(Ok(saved)) => self.note_saved(saved, messages),
            JobState::Done(Err(error)) => messages.push(Level::Error, format!("{error}.")),
            JobState::Lost => messages.push(
                Level::Error,
                "Saving stopped unexpectedly; the project was not saved.",
            ),
            JobState::Running => {}
        }
        if let Some(next) = self.next.take() {
            self.start_saving(next, messages, waker);
        }
        true
    }

    fn note_saved(&mut self, saved: CompletedSave, messages: &mut Messages) {
        let CompletedSave {
            request:
                SaveRequest {
                    contents: Contents { document, rig, .. },
                    path,
                    packed,
                },
            notes,
        } = saved;
        for note in notes {
            messages.push(Level::Warning, note);
        }
        messages.push(Level::Info, format!("Saved {}.", path.display()));
        let file = self.files.entry(document.work).or_default();
        *file = super::DocumentFile {
            file: Some(path),
            packed,
            clean_rig: rig,
            clean: Some(document),
            title: None,
        };
    }
}
