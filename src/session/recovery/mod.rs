//! Unsaved work is kept in a file while there is some, so that whatever kills the program takes at most a few seconds of it.
//!
//! - While the document differs from what was saved, a *recovery file* is written within [`Pace::longest`] after each change, by a thread
//!   of its own (`keeper`); a frame never waits. It is a project file with absolute paths. It goes when the work is saved, or undone, and
//!   on a clean exit ([`super::Session::close`]); [`super::Session::leave`] keeps it when the system wants the program to end.
//! - It is written beside its place, synchronised and renamed: a power cut leaves the old file or the new.
//! - Beside it lies a file that the living program holds a lock on (`slot`). The system frees the lock however the program ends; so files
//!   without a living owner are those to offer (`scan`), and a second instance neither takes nor offers the first one's.
//! - What can't be read is told and kept aside.

mod keeper;
mod scan;
mod slot;

use std::path::{Path, PathBuf};

use super::jobs::{Job, Outcome};
use super::project::{Unsaved, is_project};
use super::{Document, Level, Session, Source};
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
pub(super) struct Recoveries {
    keeper: Option<Keeper>,
    scan: Option<Job<Scan>>,
    offers: Vec<Offer>,
    /// The document as it was looked at last, and whether it was dirty.
    seen: Option<(Document, bool)>,
}

impl Session {
    /// Keeps unsaved work in this folder from now on, and looks in the background for work that other programs left there.
    pub fn keep_work_in(&mut self, folder: &Path, pace: Pace) {
        match Keeper::start(folder.to_owned(), pace) {
            Ok(keeper) => self.recoveries.keeper = Some(keeper),
            Err(error) => self.tell(
                Level::Warning,
                format!("Unsaved work can't be kept: no thread could be started: {error}."),
            ),
        }
        let folder = folder.to_owned();
        let work =
            move |progress: &crate::progress::Progress| scan::scan_patiently(&folder, progress);
        self.recoveries.scan = Job::start(
            "Looking for unsaved work".to_owned(),
            self.waker.clone(),
            work,
        )
        .ok();
    }

    /// Changes when unsaved work is written.
    pub fn set_pace(&self, pace: Pace) {
        if let Some(keeper) = &self.recoveries.keeper {
            keeper.set_pace(pace);
        }
    }

    /// Unsaved work of programs that are not running any more, the newest first.
    #[must_use]
    pub fn recoveries(&self) -> Vec<Recovery> {
        self.recoveries.offers.iter().map(Offer::view).collect()
    }

    /// Whether it is not known yet what there is to recover.
    #[must_use]
    pub fn is_looking_for_work(&self) -> bool {
        self.recoveries.scan.is_some()
    }

    /// The user leaves and wants nothing kept that isn't saved: there will be nothing to recover.
    pub fn close(&mut self) {
        self.recoveries.seen = None;
        if let Some(keeper) = self.recoveries.keeper.take() {
            keeper.close();
        }
        self.recoveries.offers.clear();
    }

    /// The program has to end and the user can't be asked: what isn't saved is written now and offered next time. Without unsaved work
    /// there is nothing to recover, as after [`Session::close`].
    pub fn leave(&mut self) {
        if !self.is_dirty() {
            return self.close();
        }
        self.watch_work();
        // Dropped, it writes what waits and leaves it.
        self.recoveries.keeper = None;
        self.recoveries.seen = None;
        self.recoveries.offers.clear();
    }

    /// Opens unsaved work. It is offered until it is open.
    pub(super) fn recover(&mut self, file: &Path) {
        if self
            .recoveries
            .offers
            .iter()
            .any(|offer| offer.slot.work() == file)
            && is_project(file)
        {
            self.start_opening(Source {
                files: vec![file.to_owned()],
                ..Source::default()
            });
        }
    }

    /// The user doesn't want this work any more.
    pub(super) fn discard(&mut self, file: &Path) {
        if let Some(at) = self
            .recoveries
            .offers
            .iter()
            .position(|offer| offer.slot.work() == file)
        {
            self.recoveries.offers.remove(at).slot.remove();
        }
    }

    /// Work that is not wanted now is offered again next time.
    pub(super) fn keep_for_later(&mut self) {
        self.recoveries.offers.clear();
    }

    /// Unsaved work has been opened: its file is this program's own from now on.
    pub(super) fn adopt(&mut self, file: &Path) {
        if let Some(at) = self
            .recoveries
            .offers
            .iter()
            .position(|offer| offer.slot.work() == file)
        {
            let offer = self.recoveries.offers.remove(at);
            if let Some(keeper) = &self.recoveries.keeper {
                keeper.adopt(offer.slot);
            }
        }
    }

    /// Sees to it that unsaved work is kept, and nothing else. Cheap; called after every change.
    pub(super) fn watch_work(&mut self) {
        let Some(keeper) = &self.recoveries.keeper else {
            return;
        };
        if let Some(fault) = keeper.take_fault() {
            self.tell(
                Level::Warning,
                format!("Unsaved work can't be kept at the moment; save it. {fault}."),
            );
        }
        self.take_scan();
        let dirty = self.is_dirty();
        let same = |(document, was_dirty): &(Document, bool)| {
            *was_dirty == dirty
                && document.work == self.document.work
                && document.same_content_as(&self.document)
        };
        if self.recoveries.seen.as_ref().is_some_and(same) {
            return;
        }
        self.recoveries.seen = Some((self.document.clone(), dirty));
        let unsaved = self.unsaved();
        let draft = dirty.then(|| Draft {
            contents: self.contents(),
            unsaved,
        });
        let Some(keeper) = &self.recoveries.keeper else {
            return;
        };
        match draft {
            Some(draft) => keeper.keep(draft),
            None => keeper.forget(),
        }
    }

    fn take_scan(&mut self) {
        let scan = match self.recoveries.scan.as_ref().map(Job::poll) {
            None | Some(Outcome::Running) => return,
            Some(Outcome::Done(scan)) => scan,
            Some(Outcome::Lost) => Scan::default(),
        };
        self.recoveries.scan = None;
        self.recoveries.offers = scan.offers;
        for sentence in scan.damaged {
            self.messages.push_lasting(Level::Warning, sentence);
        }
    }
}

#[cfg(test)]
mod tests;
