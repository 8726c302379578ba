//! Files that are being written, so that none of them stays behind when the program is ended from outside.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a new file that is unfinished until [`finished`].
pub(super) fn create(path: &Path) -> std::io::Result<File> {
    let mut paths = unfinished();
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    paths.push(path.to_owned());
    Ok(file)
}

/// A file is whole under another name, or gone.
pub(super) fn finished(path: &Path) {
    unfinished().retain(|unfinished| unfinished != path);
}

/// Removes what is half-written, for a program that is about to end: whoever wants to write another file afterwards waits for ever.
pub fn remove_unfinished() {
    let paths = unfinished();
    for path in &*paths {
        // Nothing better can be done about a file that can't be removed.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(paths);
}
