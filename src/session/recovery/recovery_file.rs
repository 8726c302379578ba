//! Slot for the unsaved work of one program: the work file and a lock file that is held while the program runs.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::files::random_digits;
use crate::io::{IoError, write_atomically};

/// Prefix of the file names, and the extensions of work and lock.
pub(super) const PREFIX: &str = "work-";
pub(super) const WORK: &str = "sinew";
pub(super) const LOCK: &str = "lock";

/// A work file with its held lock.
#[derive(Debug)]
pub(super) struct RecoveryFile {
    work: PathBuf,
    /// Held until dropped. `None` where the file system does not support locks.
    lock: Option<File>,
}

impl RecoveryFile {
    /// Creates a recovery file in the folder, and the folder if it does not exist.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let secs = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let work = folder.join(format!("{PREFIX}{secs}-{}.{WORK}", random_digits()));
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(work.with_extension(LOCK))?;
        let lock = file.try_lock().is_ok().then_some(file);
        Ok(Self { work, lock })
    }

    /// Takes over a file whose owner is no longer running.
    pub(super) fn adopt(work: &Path) -> Option<Self> {
        let lock_path = work.with_extension(LOCK);
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock_path)
            .ok();
        let lock = match file.as_ref().map(File::try_lock) {
            Some(Err(TryLockError::WouldBlock)) => return None,
            Some(Ok(())) => file,
            // Offering it twice is better than not at all.
            None | Some(Err(TryLockError::Error(_))) => None,
        };
        // Its owner may have renamed it just before it ended.
        work.is_file().then(|| Self {
            work: work.to_owned(),
            lock,
        })
    }

    /// The work file.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// Replaces the work file atomically.
    pub(super) fn write(&self, text: &str) -> Result<(), IoError> {
        write_atomically(&self.work, |out| out.write_all(text.as_bytes()))
    }

    /// Removes the work and keeps the recovery file.
    pub(super) fn clear(&self) {
        remove(&self.work);
    }

    /// Removes work and lock.
    pub(super) fn remove(self) {
        self.clear();
    }
}

impl Drop for RecoveryFile {
    fn drop(&mut self) {
        if !self.work.exists() {
            // Deletes the lock file before releasing the lock, so that no program can lock a file that is being removed.
            remove(&self.work.with_extension(LOCK));
        }
        drop(self.lock.take());
    }
}

/// A file that cannot be removed is offered again; nothing else can be done.
pub(super) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
