//! Files that are there whole or not at all: written beside, then renamed.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file being written. Nothing is seen at its path before [`AtomicFile::commit`]; without it nothing remains.
pub struct AtomicFile {
    path: PathBuf,
    partial: PathBuf,
    /// `None` once committed.
    writer: Option<BufWriter<File>>,
}

/// A file that can't be written.
#[derive(Debug, thiserror::Error)]
#[error("{} can't be written: {source}", path.display())]
pub struct WriteError {
    /// Where it should have gone.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl AtomicFile {
    /// Opens a file beside `path`.
    ///
    /// # Errors
    /// [`WriteError`] if the folder does not exist or is not writable, or `path` is a folder.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |source| WriteError { path: path.to_path_buf(), source };
        let Some(name) = path.file_name() else { return Err(failed(io::Error::other("this is no file name"))) };
        if path.is_dir() {
            return Err(failed(io::Error::other("it is a folder")));
        }
        let mut hidden = OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(hidden);
        let file = File::create(&partial).map_err(failed)?;
        Ok(Self { path: path.to_path_buf(), partial, writer: Some(BufWriter::with_capacity(1 << 16, file)) })
    }

    /// Writes with a function.
    ///
    /// # Errors
    /// [`WriteError`] with what the system said.
    pub fn write_with(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
        let result = match &mut self.writer {
            Some(writer) => write(writer),
            None => Err(io::Error::other("the file is finished")),
        };
        result.map_err(|source| WriteError { path: self.path.clone(), source })
    }

    /// Puts the file in its place, over one that is there.
    ///
    /// # Errors
    /// [`WriteError`] with what the system said; nothing remains then.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        let done = writer.flush().and_then(|()| {
            drop(writer);
            std::fs::rename(&self.partial, &self.path)
        });
        done.map_err(|source| {
            let _ = std::fs::remove_file(&self.partial);
            WriteError { path: self.path.clone(), source }
        })
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// Writes a whole file at once.
///
/// # Errors
/// [`WriteError`].
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    let mut file = AtomicFile::create(path)?;
    file.write_with(write)?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_half_written_remains() {
        let folder = std::env::temp_dir().join(format!("sinew-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.txt");
        let failed = write_file(&path, |out| out.write_all(b"half").and(Err(io::Error::other("disk full"))));
        assert!(failed.unwrap_err().to_string().contains("disk full"));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        write_file(&path, |out| out.write_all(b"whole")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert!(write_file(&folder.join("no/such/folder.txt"), |_| Ok(())).is_err());
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
