//! Records which files an operation reads, and their content hashes: the external files that a
//! project refers to. Inputs are never overwritten: [`refuse_input`] is the one rule for that.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::{IoError, shown};
use crate::files::FileIdentity;

/// A file at the time of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Absolute path.
    pub path: PathBuf,
    /// Hash of its content.
    pub hash: blake3::Hash,
    /// Its size, bytes.
    pub bytes: u64,
}

thread_local! {
    /// Files read on this thread while recording is active. Readers read on the thread that called
    /// them.
    static READ: RefCell<Option<Vec<FileRead>>> = const { RefCell::new(None) };
}

/// Runs the work and returns the files that the readers of this module read for it on this thread,
/// each once, in order of first reading; includes files referenced by other files. Work that is recorded inside counts, too.
pub fn recorded<T>(work: impl FnOnce() -> T) -> (T, Vec<FileRead>) {
    let outer = READ.with(|read| read.replace(Some(Vec::new())));
    let result = work();
    let files = READ.with(|read| read.replace(outer)).unwrap_or_default();
    READ.with_borrow_mut(|outer| {
        let Some(outer) = outer else { return };
        for file in &files {
            if outer.iter().all(|known| known.path != file.path) {
                outer.push(file.clone());
            }
        }
    });
    (result, files)
}

/// Files that no output may replace; `None` until [`protect_inputs`].
static PROTECTED: Mutex<Option<Vec<(PathBuf, FileIdentity)>>> = Mutex::new(None);

fn protected() -> MutexGuard<'static, Option<Vec<(PathBuf, FileIdentity)>>> {
    PROTECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, no file that this process has read, or that such a file refers to, can be replaced by
/// an output. For programs that work on one character and end, as the command line.
pub fn protect_inputs() {
    protected().get_or_insert_default();
}

/// Adds an input, if inputs are protected.
pub(super) fn protect(path: &Path) {
    let mut protected = protected();
    let Some(files) = protected.as_mut() else {
        return;
    };
    if files.iter().all(|(known, _)| known != path) {
        files.push((path.to_owned(), FileIdentity::of(path)));
    }
}

/// Refuses an output that would overwrite one of the inputs: the same file by its path, by a symbolic
/// or hard link, or by a name that differs only in the case of its letters.
///
/// # Errors
/// [`IoError::OverInput`].
pub fn refuse_input<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), IoError> {
    let identity = FileIdentity::of(output);
    let mut inputs = inputs.into_iter();
    match inputs.find(|input| identity.is_same_as(&FileIdentity::of(input))) {
        Some(input) => Err(over(output, input)),
        None => Ok(()),
    }
}

/// Refuses an output that would overwrite a protected input ([`protect_inputs`]), as [`refuse_input`].
///
/// # Errors
/// [`IoError::OverInput`].
pub fn refuse_protected(output: &Path) -> Result<(), IoError> {
    let protected = protected();
    let Some(inputs) = protected.as_ref().filter(|inputs| !inputs.is_empty()) else {
        return Ok(());
    };
    let identity = FileIdentity::of(output);
    match inputs.iter().find(|(_, input)| identity.is_same_as(input)) {
        Some((input, _)) => Err(over(output, input)),
        None => Ok(()),
    }
}

fn over(output: &Path, input: &Path) -> IoError {
    IoError::OverInput {
        file: shown(output),
        input: shown(input),
    }
}

/// Records that a file was read whole.
pub(super) fn note(path: &Path, bytes: &[u8]) {
    protect(path);
    READ.with(|read| {
        let Ok(mut read) = read.try_borrow_mut() else {
            return;
        };
        let Some(files) = read.as_mut() else { return };
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if files.iter().all(|file| file.path != path) {
            files.push(FileRead {
                path,
                hash: blake3::hash(bytes),
                bytes: bytes.len() as u64,
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;

    #[test]
    fn referenced_files_are_listed_once_with_their_hashes() {
        let folder = std::env::temp_dir().join(format!("sinew-reads-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [mesh, library] = ["a.obj", "a.mtl"].map(|name| folder.join(name));
        std::fs::write(
            &mesh,
            "mtllib a.mtl\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        )
        .unwrap();
        std::fs::write(&library, "newmtl x\n").unwrap();
        let (result, files) =
            recorded(|| crate::io::load(std::slice::from_ref(&mesh), &Progress::new()));
        result.unwrap();
        assert_eq!(
            files
                .iter()
                .map(|file| file.path.clone())
                .collect::<Vec<_>>(),
            [mesh, library]
        );
        assert_eq!(files[1].hash, blake3::hash(b"newmtl x\n"));
        assert_eq!(files[1].bytes, 9);
        let (_, nothing) =
            recorded(|| crate::io::load(&[PathBuf::from("builtin:arm")], &Progress::new()));
        assert_eq!(nothing, []);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
