//! Searches for unsaved work of programs that are no longer running.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::recovery_file::{LOCK, PREFIX, RecoveryFile, WORK, remove};
use super::{Recovery, Unsaved};
use crate::io::{Reach, clear_unfinished, read_file, text_of};
use crate::progress::Progress;
use crate::session::project::{DraftProblem, unsaved_of};

/// After this time, a lock without a work file is removed unless it is held.
const ABANDONED: Duration = Duration::from_hours(24);

/// How often, and after what pause, to check again whether an owner is still running.
const LOOKS: usize = 3;
const PAUSE: Duration = Duration::from_millis(700);

/// Work to offer; its lock is held, so that no other instance offers it too.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) recovery_file: RecoveryFile,
    unsaved: Unsaved,
}

impl Offer {
    /// How far names in its files lead.
    pub(super) fn reach(&self) -> Reach {
        self.unsaved.reach.clone()
    }

    pub(super) fn view(&self) -> Recovery {
        let Unsaved {
            project,
            title,
            unix_secs,
            ..
        } = self.unsaved.clone();
        Recovery {
            file: self.recovery_file.work().to_owned(),
            title,
            project,
            unix_secs,
        }
    }
}

/// Result of the search.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Newest first.
    pub(super) offers: Vec<Offer>,
    /// Sentences about unreadable files: damaged ones were renamed, those of a newer version are kept as they are.
    pub(super) damaged: Vec<String>,
    /// Number of work files whose owner is running.
    living: usize,
}

/// Searches the folder, and repeats it for a while if some work has a running owner: a program that was just killed holds its lock until
/// the system releases it.
pub(super) fn scan_with_retries(folder: &Path, progress: &Progress) -> Scan {
    let mut found = scan(folder);
    for _ in 0..LOOKS {
        if found.living == 0 || progress.is_cancelled() {
            break;
        }
        std::thread::sleep(PAUSE);
        let again = scan(folder);
        found.living = again.living.saturating_sub(found.offers.len());
        found.offers.extend(again.offers);
        found.damaged.extend(again.damaged);
    }
    found
        .offers
        .sort_by_key(|offer| std::cmp::Reverse(offer.unsaved.unix_secs));
    found
}

/// Searches the folder once.
fn scan(folder: &Path) -> Scan {
    let mut found = Scan::default();
    clear_unfinished(folder);
    let Ok(listing) = std::fs::read_dir(folder) else {
        return found;
    };
    let names: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    let is_ours = |path: &&PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(PREFIX))
    };
    for path in names.iter().filter(is_ours) {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some(WORK) => look_at(path, &mut found),
            Some(LOCK) if !path.with_extension(WORK).exists() => sweep(path),
            _ => {}
        }
    }
    found
}

fn look_at(path: &Path, found: &mut Scan) {
    let Some(recovery_file) = RecoveryFile::adopt(path) else {
        found.living += usize::from(path.is_file());
        return;
    };
    let read = read_file(path)
        .map_err(|error| DraftProblem::Damaged(error.to_string()))
        .and_then(|bytes| unsaved_of(&text_of(&bytes)));
    match read {
        Ok(unsaved) => found.offers.push(Offer {
            recovery_file,
            unsaved,
        }),
        // It keeps its name, under which the newer version finds it.
        Err(DraftProblem::Newer(reason)) => found.damaged.push(format!(
            "Unsaved work of an earlier run is kept in {}: {reason}.",
            path.display()
        )),
        Err(DraftProblem::Damaged(reason)) => {
            let aside = path.with_extension("damaged");
            let place = if std::fs::rename(path, &aside).is_ok() {
                &aside
            } else {
                path
            };
            let place = place.display();
            found.damaged.push(format!(
                "Unsaved work of an earlier run can't be read: {reason}. It is kept as {place}."
            ));
        }
    }
}

/// Removes a lock file that is not held and has no work file.
fn sweep(lock: &Path) {
    let age = std::fs::metadata(lock)
        .and_then(|about| about.modified())
        .ok()
        .and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age > ABANDONED)
        && std::fs::File::open(lock).is_ok_and(|file| file.try_lock().is_ok())
    {
        remove(lock);
    }
}
