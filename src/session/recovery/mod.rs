//! Recovery files: unsaved work is kept in a file, so that a crash loses at most a few seconds of it.
//!
//! - While the document differs from its last save, a *recovery file* is written within [`WriteDelays::longest`] after each change, by a separate
//!   thread (`writer`); a frame never waits. It is a project file with absolute paths. It is removed when the work is saved or undone, and
//!   on a clean exit ([`super::Session::close`]); [`super::Session::leave`] keeps it when the system ends the program.
//! - It is written to a temporary name, synchronised and renamed: after a power cut either the old or the new file is complete.
//! - Beside it is a file that the running program holds a lock on (`recovery_file`). The system releases the lock however the program ends. Files
//!   without a running owner are offered to the user (`scan`); those of another running instance are not.
//! - Unreadable files are reported and renamed. Those of a newer version of Sinew are reported and left for it.

mod recovery_file;
mod scan;
mod writer;

use std::path::{Path, PathBuf};

use super::job::{Job, JobState};
use super::message::Messages;
use super::project::{Contents, ProjectView, Unsaved, is_project};
use super::{Document, Level, Source, Waker};
use scan::{Offer, Scan};
use writer::{Draft, RecoveryWriter};

pub use writer::WriteDelays;

/// Unsaved work of a program that ended without saving it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// For [`super::ProjectCommand::Recover`] and [`super::ProjectCommand::Discard`].
    pub file: PathBuf,
    /// Display name.
    pub title: String,
    /// Its project file, if it had one.
    pub project: Option<PathBuf>,
    /// Time of writing, seconds since 1970.
    pub unix_secs: u64,
}

/// Recovery of a session: inactive until it has a folder.
#[derive(Default)]
pub struct Recoveries {
    writer: Option<RecoveryWriter>,
    scan: Option<Job<Scan>>,
    offers: Vec<Offer>,
    /// The document at the last update, and whether it had unsaved changes.
    seen: Option<(Document, bool)>,
}

impl Recoveries {
    /// Keeps unsaved work in this folder from now on, and searches it in the background for unsaved work of other programs.
    pub(super) fn keep_in(
        &mut self,
        folder: &Path,
        delays: WriteDelays,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        match RecoveryWriter::start(folder.to_owned(), delays) {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => messages.push(
                Level::Warning,
                format!("Unsaved work can't be kept: no thread could be started: {error}."),
            ),
        }
        let folder = folder.to_owned();
        let work =
            move |progress: &crate::progress::Progress| scan::scan_with_retries(&folder, progress);
        self.scan = Job::start("Looking for unsaved work".to_owned(), waker.cloned(), work).ok();
    }

    /// Changes the delays of writing.
    pub fn set_delays(&self, delays: WriteDelays) {
        if let Some(writer) = &self.writer {
            writer.set_delays(delays);
        }
    }

    /// Unsaved work of programs that are no longer running, newest first.
    #[must_use]
    pub fn offers(&self) -> Vec<Recovery> {
        self.offers.iter().map(Offer::view).collect()
    }

    /// Whether the search for unsaved work is still running.
    #[must_use]
    pub fn is_scanning(&self) -> bool {
        self.scan.is_some()
    }

    /// Ends and removes the recovery file.
    pub(super) fn close(&mut self) {
        self.seen = None;
        if let Some(writer) = self.writer.take() {
            writer.close();
        }
        self.offers.clear();
    }

    /// Writes unsaved work now, to be offered at the next start.
    pub(super) fn leave(&mut self) {
        // Dropping it writes pending work and keeps the file.
        self.writer = None;
        self.seen = None;
        self.offers.clear();
    }

    fn place_of(&self, file: &Path) -> Option<usize> {
        self.offers
            .iter()
            .position(|offer| offer.recovery_file.work() == file)
    }

    /// The source that opens offered unsaved work. The offer remains until it is open.
    pub(super) fn source_of(&self, file: &Path) -> Option<Source> {
        let offer = &self.offers[self.place_of(file)?];
        is_project(file).then(|| Source {
            files: vec![file.to_owned()],
            reach: offer.reach(),
            ..Source::default()
        })
    }

    /// Deletes offered work.
    pub(super) fn discard(&mut self, file: &Path) {
        if let Some(at) = self.place_of(file) {
            self.offers.remove(at).recovery_file.remove();
        }
    }

    /// Removes the offer; the work is offered again at the next start.
    pub(super) fn postpone(&mut self) {
        self.offers.clear();
    }

    /// After unsaved work was opened: this session owns its file from now on.
    pub(super) fn adopt(&mut self, file: &Path) {
        if let Some(at) = self.place_of(file) {
            let offer = self.offers.remove(at);
            if let Some(writer) = &self.writer {
                writer.adopt(offer.recovery_file);
            }
        }
    }

    /// Updates the recovery file from the document. Cheap; called after every change.
    pub(super) fn update_draft(
        &mut self,
        project: ProjectView<'_>,
        document: &Document,
        contents: impl FnOnce() -> Contents,
        messages: &mut Messages,
    ) {
        let Some(writer) = &self.writer else {
            return;
        };
        if let Some(fault) = writer.take_fault() {
            messages.push(
                Level::Warning,
                format!("Unsaved work can't be kept at the moment; save it. {fault}."),
            );
        }
        let dirty = project.is_dirty();
        let same = |(seen, was_dirty): &(Document, bool)| {
            *was_dirty == dirty && seen.work == document.work && seen.same_content_as(document)
        };
        if !self.seen.as_ref().is_some_and(same) {
            self.seen = Some((document.clone(), dirty));
            if dirty {
                writer.keep(Draft {
                    contents: contents(),
                    unsaved: project.unsaved(),
                });
            } else {
                writer.forget();
            }
        }
        self.take_scan(messages);
    }

    fn take_scan(&mut self, messages: &mut Messages) {
        let scan = match self.scan.as_ref().map(Job::poll) {
            None | Some(JobState::Running) => return,
            Some(JobState::Done(scan)) => scan,
            Some(JobState::Lost) => Scan::default(),
        };
        self.scan = None;
        self.offers = scan.offers;
        for sentence in scan.damaged {
            messages.push_lasting(Level::Warning, sentence);
        }
    }
}

#[cfg(test)]
mod tests;
