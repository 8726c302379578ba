//! Writes results so that no partial file is left.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{IoError, shown};
use super::{reads, unfinished};
use crate::math::Point;

/// A file that appears under its name only when complete: written beside its target, renamed by
/// [`AtomicFile::commit`], removed if dropped before.
///
/// A symbolic link stays, and what it leads to is replaced. The permissions of a replaced file are
/// kept. All outputs of this crate are written this way.
#[derive(Debug)]
pub struct AtomicFile {
    writer: Option<BufWriter<File>>,
    beside: PathBuf,
    target: PathBuf,
}

impl AtomicFile {
    /// Opens a file beside `path`.
    ///
    /// # Errors
    /// [`IoError::Write`] if the folder is missing or cannot be written to, or `path` is a folder, a
    /// device or write-protected; [`IoError::OverInput`] if it is a protected input.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        let fail = |source| IoError::Write {
            file: shown(path),
            source,
        };
        reads::refuse_protected(path)?;
        let target = target_of(path).map_err(fail)?;
        let permissions = check_target(&target).map_err(fail)?;
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let (file, beside) = unfinished::create_in(folder).map_err(fail)?;
        // From the start, so that others never read what they may not. Where permissions cannot be
        // set, those of a new file remain.
        if let Some(permissions) = permissions {
            let _ = file.set_permissions(permissions);
        }
        Ok(Self {
            writer: Some(BufWriter::with_capacity(1 << 16, file)),
            beside,
            target,
        })
    }

    /// Runs `write` on the file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), IoError> {
        let result = match &mut self.writer {
            Some(writer) => write(writer),
            None => Ok(()),
        };
        result.map_err(|source| IoError::Write {
            file: shown(&self.target),
            source,
        })
    }

    /// The path of the unfinished file, for another program that opens and writes it.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub(super) fn path_for_other_program(&mut self) -> Result<&Path, IoError> {
        self.write(|writer| {
            writer.flush()?;
            // There, locks keep other programs from writing.
            if cfg!(windows) {
                writer.get_ref().unlock()?;
            }
            Ok(())
        })?;
        Ok(&self.beside)
    }

    /// The file rewound to its start, for reading what was written.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub(super) fn rewound(&mut self) -> Result<&mut File, IoError> {
        self.write(|writer| writer.flush().and_then(|()| writer.rewind()))?;
        let Self { writer, target, .. } = self;
        match writer {
            Some(writer) => Ok(writer.get_mut()),
            None => Err(IoError::Write {
                file: shown(target),
                source: std::io::Error::other("the file is already closed"),
            }),
        }
    }

    /// Completes the file and renames it, replacing an existing one.
    ///
    /// # Errors
    /// [`IoError::Write`]; an existing file is then left unchanged.
    pub fn commit(mut self) -> Result<(), IoError> {
        self.write(|writer| {
            writer.flush()?;
            writer.get_ref().sync_all()
        })?;
        // The file is closed before the rename: some systems require it.
        drop(self.writer.take());
        let renamed = std::fs::rename(&self.beside, &self.target);
        if renamed.is_err() {
            // A temporary file that cannot be removed is ignored: the first error is returned.
            let _ = std::fs::remove_file(&self.beside);
        }
        unfinished::finished(&self.beside);
        renamed.map_err(|source| IoError::Write {
            file: shown(&self.target),
            source,
        })?;
        // Synchronises the folder, so that the new name survives a power failure; where folders
        // cannot be synchronised (Windows) this is left to the system.
        if let Some(folder) = self.target.parent() {
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            // A temporary file that cannot be removed is ignored.
            let _ = std::fs::remove_file(&self.beside);
            unfinished::finished(&self.beside);
        }
    }
}

/// Longest chain of symbolic links.
const MOST_LINKS: usize = 40;

/// The path that symbolic links lead to; it may be missing.
fn target_of(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|about| about.is_symlink());
        if !is_link {
            return Ok(path);
        }
        let to = std::fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(std::io::Error::other(
        "the path is a circle of symbolic links",
    ))
}

/// Whether a path can be replaced by a file; the permissions of a present file.
fn check_target(target: &Path) -> std::io::Result<Option<std::fs::Permissions>> {
    use std::io::{Error, ErrorKind};
    let refused = |kind, text: &str| Err(Error::new(kind, text));
    let about = match std::fs::metadata(target) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound && target.file_name().is_some() => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if about.is_dir() {
        return refused(ErrorKind::IsADirectory, "the path is a folder");
    }
    if !about.is_file() {
        let text = "it is a pipe or a device, and only files are replaced";
        return refused(ErrorKind::InvalidInput, text);
    }
    if about.permissions().readonly() {
        return refused(ErrorKind::PermissionDenied, "it is write-protected");
    }
    Ok(Some(about.permissions()))
}

/// Writes a whole file beside `path` and renames it.
///
/// # Errors
/// [`IoError::Write`]; an existing file is then left unchanged.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), IoError> {
    let mut file = AtomicFile::create(path)?;
    file.write(write)?;
    file.commit()
}

/// Names of a file sequence: `walk.obj` → `walk.0000.obj`, `walk.0001.obj`, …; `walk##.obj` → `walk00.obj`, …
#[derive(Debug, Clone)]
pub struct FrameNames {
    base: PathBuf,
    digits: usize,
}

impl FrameNames {
    /// Names for frames up to `last`: four digits, more if needed.
    #[must_use]
    pub fn new(base: &Path, last: usize) -> Self {
        Self {
            base: base.to_owned(),
            digits: last.to_string().len().max(4),
        }
    }

    /// Whether a path says where the number of a frame goes.
    #[must_use]
    pub fn has_place(path: &Path) -> bool {
        let stem = path.file_stem().unwrap_or_default();
        stem.to_string_lossy().contains('#')
    }

    /// The file of a frame.
    #[must_use]
    pub fn path(&self, frame: usize) -> PathBuf {
        let stem = self
            .base
            .file_stem()
            .map(|s| s.to_string_lossy().into_owned())
            .unwrap_or_default();
        let extension = self
            .base
            .extension()
            .map(|e| format!(".{}", e.to_string_lossy()))
            .unwrap_or_default();
        let Some(end) = stem.rfind('#').map(|last| last + 1) else {
            let width = self.digits;
            return self
                .base
                .with_file_name(format!("{stem}.{frame:0width$}{extension}"));
        };
        let before = stem[..end].trim_end_matches('#');
        let (width, after) = (end - before.len(), &stem[end..]);
        self.base
            .with_file_name(format!("{before}{frame:0width$}{after}{extension}"))
    }
}

/// A `.pc2` point cache, written frame by frame: version 1, little endian, as 3ds Max wrote and
/// Blender reads it.
#[derive(Debug)]
pub struct PointCache {
    file: AtomicFile,
    points: usize,
    frames: u32,
}

impl PointCache {
    /// Offset of the number of frames in the header, bytes.
    const FRAMES_AT: u64 = 28;

    /// Starts a cache of `points` points per frame; the first frame has the number `start`, and the
    /// frame spacing is `every`.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn create(path: &Path, points: usize, start: f32, every: f32) -> Result<Self, IoError> {
        let mut file = AtomicFile::create(path)?;
        file.write(|out| {
            out.write_all(b"POINTCACHE2\0")?;
            out.write_all(&1_i32.to_le_bytes())?;
            out.write_all(
                &i32::try_from(points)
                    .map_err(std::io::Error::other)?
                    .to_le_bytes(),
            )?;
            out.write_all(&start.to_le_bytes())?;
            out.write_all(&every.to_le_bytes())?;
            out.write_all(&0_i32.to_le_bytes())
        })?;
        Ok(Self {
            file,
            points,
            frames: 0,
        })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// [`IoError::Write`].
    ///
    /// # Panics
    /// If the number of points differs.
    pub fn frame(&mut self, positions: &[Point]) -> Result<(), IoError> {
        assert_eq!(positions.len(), self.points, "the number of points differs");
        self.frames += 1;
        self.file.write(|out| {
            positions
                .iter()
                .flat_map(|p| [p.x, p.y, p.z])
                .try_for_each(|c| out.write_all(&c.to_le_bytes()))
        })
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(mut self) -> Result<(), IoError> {
        let frames = self.frames;
        self.file.write(|out| {
            out.seek(SeekFrom::Start(Self::FRAMES_AT))?;
            out.write_all(&frames.to_le_bytes())
        })?;
        self.file.commit()
    }
}

/// Positions as JSON, `{"frames":[[[x,y,z],…],…]}`, frame by frame.
#[derive(Debug)]
pub struct JsonPositions {
    file: AtomicFile,
    frames: usize,
}

impl JsonPositions {
    /// Starts a file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn create(path: &Path) -> Result<Self, IoError> {
        let mut file = AtomicFile::create(path)?;
        file.write(|out| out.write_all(b"{\"frames\":["))?;
        Ok(Self { file, frames: 0 })
    }

    /// Appends a frame. Positions must be finite.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn frame(&mut self, positions: &[Point]) -> Result<(), IoError> {
        let first = self.frames == 0;
        self.frames += 1;
        self.file.write(|out| {
            out.write_all(if first { b"\n[" } else { b",\n[" })?;
            for (i, p) in positions.iter().enumerate() {
                write!(
                    out,
                    "{}[{},{},{}]",
                    if i == 0 { "" } else { "," },
                    p.x,
                    p.y,
                    p.z
                )?;
            }
            out.write_all(b"]")
        })
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(mut self) -> Result<(), IoError> {
        self.file.write(|out| out.write_all(b"\n]}\n"))?;
        self.file.commit()
    }
}

#[cfg(test)]
mod tests;
