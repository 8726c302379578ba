//! A place for the unsaved work of one program: the file, and a lock that only the living hold.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::io::{IoError, write_atomically};

/// Beginning of the names of our files in the folder, and the endings of work and lock.
pub(super) const PREFIX: &str = "work-";
pub(super) const WORK: &str = "sinew";
pub(super) const LOCK: &str = "lock";

/// A work file with the lock on it.
#[derive(Debug)]
pub(super) struct Slot {
    work: PathBuf,
    /// Held as long as this lives. `None` where the file system knows no locks.
    lock: Option<File>,
}

impl Slot {
    /// A new place in the folder, which is made if it is not there.
    pub(super) fn claim(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        std::fs::create_dir_all(folder)?;
        let secs = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let work = folder.join(format!(
            "{PREFIX}{secs}-{}-{number}.{WORK}",
            std::process::id()
        ));
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(work.with_extension(LOCK))?;
        let lock = file.try_lock().is_ok().then_some(file);
        Ok(Self { work, lock })
    }

    /// Takes over a file whose owner lives no more.
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
            // Better offered twice than never.
            None | Some(Err(TryLockError::Error(_))) => None,
        };
        // Its owner may have put it away just before it left.
        work.is_file().then(|| Self {
            work: work.to_owned(),
            lock,
        })
    }

    /// The file.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// Writes the file; the one before is there until the new one is whole.
    pub(super) fn write(&self, text: &str) -> Result<(), IoError> {
        write_atomically(&self.work, |out| out.write_all(text.as_bytes()))
    }

    /// Removes the work, but stays.
    pub(super) fn clear(&self) {
        remove(&self.work);
    }

    /// Removes everything.
    pub(super) fn remove(self) {
        self.clear();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.work.exists() {
            // First the lock's name, then the lock: nobody can get hold of what is going.
            remove(&self.work.with_extension(LOCK));
        }
        drop(self.lock.take());
    }
}

/// Nothing better can be done about a file that cannot be removed: it is offered again.
pub(super) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
