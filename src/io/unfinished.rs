//! Temporary files during writing, so that none remains when the program ends.
//!
//! - Names are random ([`random_digits`]), so a file that a killed program left never blocks another
//!   one. Process numbers would: they repeat in containers.
//! - While a file is written, it is locked. The system releases the lock however the program ends, so
//!   an unlocked file has no owner: it is removed when the next file is written in that folder.
//! - When a program is told to end by a signal, it removes its own files ([`remove_unfinished`]).

use std::collections::HashSet;
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::files::random_digits;

/// Name of a temporary file: `.sinew-` 16 hexadecimal digits `.part`.
const START: &str = ".sinew-";
const END: &str = ".part";

/// Where the file system has no locks, a file without changes for this long has no owner.
const ABANDONED: Duration = Duration::from_hours(24);

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 100_000;

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Folders that this process has cleared already.
static CLEARED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a locked temporary file in a folder, which counts as unfinished until [`finished`].
pub(super) fn create_in(folder: &Path) -> std::io::Result<(File, PathBuf)> {
    clear_once(folder);
    let mut paths = unfinished();
    for _ in 0..100 {
        let path = folder.join(format!("{START}{}{END}", random_digits()));
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        let file = match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        // Another program may have taken it for abandoned before it was locked.
        if file.lock().is_err() || path.exists() {
            paths.push(path.clone());
            return Ok((file, path));
        }
    }
    Err(Error::new(
        ErrorKind::AlreadyExists,
        "no temporary file could be made beside it",
    ))
}

/// Marks a file as renamed or removed.
pub(super) fn finished(path: &Path) {
    unfinished().retain(|unfinished| unfinished != path);
}

/// The name of a file in the system's temporary folder that is removed when this is dropped, or when the program is told to end.
#[derive(Debug)]
pub struct UnkeptFile(PathBuf);

impl UnkeptFile {
    /// A name that no file has yet, with this extension.
    #[must_use]
    pub fn new(extension: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-{}.{extension}", random_digits()));
        unfinished().push(path.clone());
        Self(path)
    }

    /// Where the file may be written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for UnkeptFile {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.0);
        finished(&self.0);
    }
}

/// Removes all unfinished files, for a program that is about to exit. The lock is kept: later
/// attempts to write a file block.
pub fn remove_unfinished() {
    let paths = unfinished();
    for path in &*paths {
        // A file that cannot be removed is ignored: the program is exiting.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(paths);
}

/// Removes the temporary files of dead programs from a folder, once per process.
fn clear_once(folder: &Path) {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut cleared = CLEARED.lock().unwrap_or_else(PoisonError::into_inner);
    if cleared.insert(absolute) {
        clear_unfinished(folder);
    }
}

/// Removes the temporary files of dead programs from a folder.
pub(crate) fn clear_unfinished(folder: &Path) {
    let Ok(listing) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in listing.take(MOST_ENTRIES).flatten() {
        if entry.file_name().to_str().is_some_and(is_temporary)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            remove_if_abandoned(&entry.path());
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let digits = name
        .strip_prefix(START)
        .and_then(|rest| rest.strip_suffix(END));
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn remove_if_abandoned(path: &Path) {
    let Ok(file) = File::options().write(true).open(path) else {
        return;
    };
    let age = file.metadata().and_then(|about| about.modified());
    let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED));
    match file.try_lock() {
        Err(std::fs::TryLockError::WouldBlock) => {}
        Err(std::fs::TryLockError::Error(_)) if !is_old => {}
        // A file that cannot be removed stays; it blocks nobody. The lock is held meanwhile.
        _ => drop(std::fs::remove_file(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_of_dead_programs_are_removed_and_living_ones_kept() {
        let folder = std::env::temp_dir().join(format!("sinew-unfinished-{}", random_digits()));
        std::fs::create_dir(&folder).unwrap();
        let (file, living) = create_in(&folder).unwrap();
        let dead = folder.join(".sinew-0123456789abcdef.part");
        let other = folder.join(".sinew-0123456789abcdef.parts");
        std::fs::write(&dead, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        clear_unfinished(&folder);
        assert!(living.exists() && other.exists() && !dead.exists());
        drop(file);
        clear_unfinished(&folder);
        assert!(!living.exists(), "its lock was released");
        finished(&living);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
