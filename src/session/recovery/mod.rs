//! Unsaved work is kept in a file while there is some, so that whatever kills the program takes at most a few seconds of it.
//!
//! - While the document differs from what was saved, a *recovery file* is written within [`Pace::longest`] after each change, by a thread
//!   of its own (`keeper`); a frame never waits. It is a project file with absolute paths. It goes when the work is saved, or undone, and
//!   on a clean exit ([`super::Session::close`]); [`super::Session::leave`] keeps it when the system wants the program to end.
//! - It is written beside its place, synchronised and renamed: a power cut leaves the old file or the new.
//! - Beside it lies a file that the living program holds a lock on (`slot`). The system frees the lock however the program ends; so files
//!   without a living owner are those to offer (`scan`), and a second instance neither takes nor offers the first one's.
//! - What cannot be read is told and kept aside.

mod keeper;
mod scan;
mod slot;

use std::path::{Path, PathBuf};

use super::job::{Job, Outcome};
use super::message::Messages;
use super::project::{Contents, ProjectView, Unsaved, is_project};
use super::{Document, Level, Source, Waker};
use keeper::{Draft, Keeper};
use scan::{Offer, Scan};

pub use keeper::Pace;

/// Unsaved work of a program that ended without saving it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// For [`super::ProjectCommand::Recover`] and [`super::ProjectCommand::Discard`].
    pub file: PathBuf,
    /// What the user knows it as.
    pub title: String,
    /// The project that it would have been saved to, if it had one.
    pub project: Option<PathBuf>,
    /// When it was written, seconds since 1970.
    pub unix_secs: u64,
}

/// What a session does about unsaved work: nothing, until it has a folder for it.
#[derive(Default)]
pub struct Recoveries {
    keeper: Option<Keeper>,
    scan: Option<Job<Scan>>,
    offers: Vec<Offer>,
    /// The document as it was looked at last, and whether it was dirty.
    seen: Option<(Document, bool)>,
}

impl Recoveries {
    /// Keeps unsaved work in this folder from now on, and looks in the background for work that other programs left there.
    pub(super) fn keep_in(
        &mut self,
        folder: &Path,
        pace: Pace,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        match Keeper::start(folder.to_owned(), pace) {
            Ok(keeper) => self.keeper = Some(keeper),
            Err(error) => messages.push(
                Level::Warning,
                format!("Unsaved work can't be kept: no thread could be started: {error}."),
            ),
        }
        let folder = folder.to_owned();
        let work =
            move |progress: &crate::progress::Progress| scan::scan_patiently(&folder, progress);
        self.scan = Job::start("Looking for unsaved work".to_owned(), waker.cloned(), work).ok();
    }

    /// Changes when unsaved work is written.
    pub fn set_pace(&self, pace: Pace) {
        if let Some(keeper) = &self.keeper {
            keeper.set_pace(pace);
        }
    }

    /// Unsaved work of programs that are not running any more, the newest first.
    #[must_use]
    pub fn offers(&self) -> Vec<Recovery> {
        self.offers.iter().map(Offer::view).collect()
    }

    /// Whether it is not known yet what there is to recover.
    #[must_use]
    pub fn is_looking(&self) -> bool {
        self.scan.is_some()
    }

    /// Nothing is kept that is not saved.
    pub(super) fn close(&mut self) {
        self.seen = None;
        if let Some(keeper) = self.keeper.take() {
            keeper.close();
        }
        self.offers.clear();
    }

    /// What is not saved is written now, and left to be offered next time.
    pub(super) fn leave(&mut self) {
        // Dropped, it writes what waits and leaves it.
        self.keeper = None;
        self.seen = None;
        self.offers.clear();
    }

    fn place_of(&self, file: &Path) -> Option<usize> {
        self.offers
            .iter()
            .position(|offer| offer.slot.work() == file)
    }

    /// What to open for unsaved work that is offered. It is offered until it is open.
    pub(super) fn source_of(&self, file: &Path) -> Option<Source> {
        let offered = self.place_of(file).is_some() && is_project(file);
        offered.then(|| Source {
            files: vec![file.to_owned()],
            ..Source::default()
        })
    }

    /// The user does not want this work any more.
    pub(super) fn discard(&mut self, file: &Path) {
        if let Some(at) = self.place_of(file) {
            self.offers.remove(at).slot.remove();
        }
    }

    /// Work that is not wanted now is offered again next time.
    pub(super) fn keep_for_later(&mut self) {
        self.offers.clear();
    }

    /// Unsaved work has been opened: its file is this program's own from now on.
    pub(super) fn adopt(&mut self, file: &Path) {
        if let Some(at) = self.place_of(file) {
            let offer = self.offers.remove(at);
            if let Some(keeper) = &self.keeper {
                keeper.adopt(offer.slot);
            }
        }
    }

    /// Sees to it that unsaved work is kept, and nothing else. Cheap; called after every change.
    pub(super) fn watch(
        &mut self,
        project: ProjectView<'_>,
        document: &Document,
        contents: impl FnOnce() -> Contents,
        messages: &mut Messages,
    ) {
        let Some(keeper) = &self.keeper else {
            return;
        };
        if let Some(fault) = keeper.take_fault() {
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
                keeper.keep(Draft {
                    contents: contents(),
                    unsaved: project.unsaved(),
                });
            } else {
                keeper.forget();
            }
        }
        self.take_scan(messages);
    }

    fn take_scan(&mut self, messages: &mut Messages) {
        let scan = match self.scan.as_ref().map(Job::poll) {
            None | Some(Outcome::Running) => return,
            Some(Outcome::Done(scan)) => scan,
            Some(Outcome::Lost) => Scan::default(),
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
