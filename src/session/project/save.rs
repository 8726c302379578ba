//! Writes the document to a file, in the background.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::convert::file_of;
use super::file::{FileRef, RecoveryPart};
use super::text::to_text;
use super::{Contents, ProjectError, Projects, Unsaved, pack, paths};
use crate::io::{FileRead, read_file, refuse_input, write_atomically};
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
    let mut file = file_of(contents, None)?;
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
    });
    Ok(to_text(&file)?)
}

/// Owner of the unsaved work in a text; the error is a sentence.
pub(in crate::session) fn unsaved_of(text: &str) -> Result<Unsaved, String> {
    let (file, _) = super::text::from_text(text).map_err(|error| error.to_string())?;
    file.recovery
        .as_ref()
        .map(Unsaved::from)
        .ok_or_else(|| "it has no owner entry".to_owned())
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
        let file = file_of(&self.contents, absolute.parent())?;
        let text = to_text(&file)?;
        write_atomically(&self.path, |out| out.write_all(text.as_bytes()))?;
        Ok(Vec::new())
    }

    fn write_packed(&self, progress: &Progress) -> Result<Vec<String>, ProjectError> {
        let mut file = file_of(&self.contents, None)?;
        let read = &self.contents.document.files_read;
        let sources: Vec<PathBuf> = read.iter().map(|file| file.path.clone()).collect();
        let mut names = pack::names_of(&sources);
        let given = &self.contents.document.source.files;
        // Other files refer to the files that were not given by the user.
        pack::make_plain(&mut names, |at| {
            given
                .iter()
                .any(|file| std::path::absolute(file).is_ok_and(|file| file == sources[at]))
        })
        .map_err(|at| ProjectError::NotPackable {
            file: sources[at].display().to_string(),
        })?;
        let (mut files, mut notes) = (Vec::with_capacity(read.len()), Vec::new());
        for (FileRead { path, hash, .. }, name) in read.iter().zip(&names) {
            let bytes = read_file(path).map_err(|source| ProjectError::Read {
                file: path.display().to_string(),
                source,
            })?;
            if blake3::hash(&bytes) != *hash {
                notes.push(format!(
                    "{} has changed since it was opened; it was packed with its present content.",
                    path.display()
                ));
            }
            files.push((name.clone(), bytes));
        }
        let part = &mut file.character;
        for reference in part
            .files
            .iter_mut()
            .chain(&mut part.also_read)
            .chain(&mut part.mapping)
        {
            inside(reference, &sources, &files);
        }
        let text = to_text(&file)?;
        // A file that is referenced twice is packed once.
        let mut seen = std::collections::HashSet::new();
        files.retain(|(name, _)| seen.insert(name.clone()));
        pack::check_sizes(&text, &files).map_err(|reason| ProjectError::Content {
            file: self.path.display().to_string(),
            reason,
        })?;
        write_atomically(&self.path, |out| pack::pack(out, &text, &files, progress))?;
        Ok(notes)
    }
}

/// Refers to the copy in the archive.
fn inside(reference: &mut FileRef, sources: &[PathBuf], files: &[(String, Vec<u8>)]) {
    if paths::is_builtin(Path::new(&reference.path)) {
        return;
    }
    if let Some(number) = sources
        .iter()
        .position(|source| source.as_path() == Path::new(&reference.path))
    {
        let (name, bytes) = &files[number];
        let hash = blake3::hash(bytes).to_hex().to_string();
        *reference = FileRef {
            path: name.clone(),
            absolute: None,
            blake3: Some(hash),
            bytes: Some(bytes.len() as u64),
        };
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
                    contents: Contents { document, .. },
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
            clean: Some(document),
            title: None,
        };
    }
}
