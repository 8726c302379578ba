//! Tracks files during writing, so that none remains if the program is terminated.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a file that counts as unfinished until [`finished`].
pub(super) fn create(path: &Path) -> std::io::Result<File> {
    let mut paths = unfinished();
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    paths.push(path.to_owned());
    Ok(file)
}

/// Marks a file as renamed or removed.
pub(super) fn finished(path: &Path) {
    unfinished().retain(|unfinished| unfinished != path);
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
