//! File references of a project and how they are resolved.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::file::FileRef;
use super::{Answer, Found, MissingSource, ProjectError};
use crate::files::without_parents;
use crate::io::{FileRead, read_file};

/// Largest number of files in a folder that are searched for a moved file.
const MOST_LOOKED_AT: usize = 2000;

/// Makes the reference to a file.
pub(super) type Refer<'a> = &'a dyn Fn(&Path) -> Result<FileRef, ProjectError>;

/// Whether a path names a built-in character.
pub(super) fn is_builtin(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|path| path.starts_with("builtin:"))
}

/// A reference to a file, for a project in a folder, or in no fixed folder.
pub(super) fn refer(
    path: &Path,
    read: &[FileRead],
    folder: Option<&Path>,
) -> Result<FileRef, ProjectError> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(ProjectError::Name {
            file: path.display().to_string(),
        }),
    };
    if is_builtin(path) {
        return Ok(FileRef {
            path: text(path)?,
            path_bytes: None,
            absolute: None,
            blake3: None,
            bytes: None,
        });
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = read.iter().find(|file| file.path == absolute);
    let (blake3, bytes) = (
        known.map(|file| file.hash.to_hex().to_string()),
        known.map(|file| file.bytes),
    );
    let relative = folder
        .and_then(|folder| relative(&absolute, folder))
        .and_then(|path| slashed(&path));
    let (path, absolute) = match relative {
        // A folder whose name is not Unicode does not matter to a project in it.
        Some(relative) => (relative, absolute.to_str().map(str::to_owned)),
        None => (text(&absolute)?, None),
    };
    Ok(FileRef {
        path,
        path_bytes: None,
        absolute,
        blake3,
        bytes,
    })
}

/// As [`refer`] in no fixed folder, for unsaved work: it must not be lost for a name that is not Unicode.
pub(super) fn refer_in_draft(path: &Path, read: &[FileRead]) -> Result<FileRef, ProjectError> {
    let refused = match refer(path, read, None) {
        Err(refused) => refused,
        reference => return reference,
    };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = read.iter().find(|file| file.path == absolute);
    Ok(FileRef {
        path: absolute.to_string_lossy().into_owned(),
        path_bytes: Some(hex_of(&absolute).ok_or(refused)?),
        absolute: None,
        blake3: known.map(|file| file.hash.to_hex().to_string()),
        bytes: known.map(|file| file.bytes),
    })
}

/// The bytes of a path in hexadecimal digits; `None` on systems whose paths are not bytes.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such bytes")]
fn hex_of(path: &Path) -> Option<String> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes().iter();
    let digits = bytes.flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    Some(digits.collect())
}

#[cfg(unix)]
fn path_of_hex(hex: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    Some(std::ffi::OsString::from_vec(bytes?).into())
}

#[cfg(not(unix))]
fn hex_of(_: &Path) -> Option<String> {
    None
}

#[cfg(not(unix))]
fn path_of_hex(_: &str) -> Option<PathBuf> {
    None
}

/// The relative path from a folder to a file; `None` if they are on different drives.
fn relative(file: &Path, folder: &Path) -> Option<PathBuf> {
    // Symbolic links are resolved: `..` is the parent of their target.
    let parent = file.parent()?;
    let file = parent.canonicalize().map_or_else(
        |_| file.to_owned(),
        |parent| parent.join(file.file_name().unwrap_or_default()),
    );
    let folder = folder
        .canonicalize()
        .or_else(|_| std::path::absolute(folder))
        .ok()?;
    let (mut to, mut from) = (file.components().peekable(), folder.components().peekable());
    if to.peek() != from.peek() {
        return None;
    }
    while to.peek().is_some() && to.peek() == from.peek() {
        to.next();
        from.next();
    }
    let up = from.map(|_| Component::ParentDir);
    Some(up.chain(to).collect())
}

/// A relative path with `/` between its names, on every system.
pub(super) fn slashed(path: &Path) -> Option<String> {
    let names: Option<Vec<&str>> = path
        .components()
        .map(|component| component.as_os_str().to_str())
        .collect();
    names.map(|names| names.join("/"))
}

/// Without `a/..`, if that names the same file.
fn without_parent_steps(path: &Path) -> PathBuf {
    let short = without_parents(path);
    let same = path
        .canonicalize()
        .is_ok_and(|whole| short.canonicalize().is_ok_and(|short| short == whole));
    if same || !path.exists() {
        short
    } else {
        path.to_owned()
    }
}

/// State of a file at its expected path.
enum FoundFile {
    Same(PathBuf),
    Moved(PathBuf),
    Changed(PathBuf),
    Missing(PathBuf),
}

/// The paths of a project's sources, with notes; or the files that the user has to answer about.
pub(super) fn resolve(
    references: &[FileRef],
    folder: Option<&Path>,
    answers: &BTreeMap<usize, Answer>,
) -> Result<(Vec<PathBuf>, Vec<String>), Vec<MissingSource>> {
    let (mut files, mut notes, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (index, reference) in references.iter().enumerate() {
        let missing_source = |path: PathBuf, found: Found| MissingSource {
            index,
            path,
            expected: reference.blake3.clone(),
            found,
        };
        let place = match answers.get(&index) {
            Some(Answer::Located(path)) => FoundFile::Same(path.clone()),
            answer => match (find(reference, folder), answer) {
                (FoundFile::Changed(path), Some(Answer::AsItIs)) => FoundFile::Same(path),
                (place, _) => place,
            },
        };
        match place {
            FoundFile::Same(path) => files.push(path),
            FoundFile::Moved(path) => {
                notes.push(format!(
                    "{} was moved; it is read from {}.",
                    name_of(reference),
                    path.display()
                ));
                files.push(path);
            }
            FoundFile::Changed(path) => missing.push(missing_source(path, Found::Changed)),
            FoundFile::Missing(path) => missing.push(missing_source(path, Found::Nothing)),
        }
    }
    if missing.is_empty() {
        Ok((files, notes))
    } else {
        Err(missing)
    }
}

fn name_of(reference: &FileRef) -> &str {
    reference.path.rsplit('/').next().unwrap_or(&reference.path)
}

fn find(reference: &FileRef, folder: Option<&Path>) -> FoundFile {
    if is_builtin(Path::new(&reference.path)) {
        return FoundFile::Same(PathBuf::from(&reference.path));
    }
    let path = reference.path_bytes.as_deref().and_then(path_of_hex);
    let path = path.unwrap_or_else(|| PathBuf::from(&reference.path));
    let here = folder.map_or_else(
        || path.clone(),
        |folder| without_parent_steps(&folder.join(&path)),
    );
    let candidates: Vec<PathBuf> = std::iter::once(here.clone())
        .chain(reference.absolute.as_ref().map(PathBuf::from))
        .collect();
    let mut changed = None;
    for candidate in &candidates {
        if candidate.is_file() {
            if is_same(candidate, reference) {
                return FoundFile::Same(candidate.clone());
            }
            changed.get_or_insert_with(|| candidate.clone());
        }
    }
    if let Some(changed) = changed {
        return FoundFile::Changed(changed);
    }
    let folders = folder
        .into_iter()
        .chain(candidates.iter().filter_map(|candidate| candidate.parent()));
    match folders
        .into_iter()
        .find_map(|folder| by_hash(folder, reference))
    {
        Some(moved) => FoundFile::Moved(moved),
        None => FoundFile::Missing(here),
    }
}

/// Whether the file is unchanged; without a stored hash it counts as unchanged.
pub(super) fn is_same(path: &Path, reference: &FileRef) -> bool {
    let Some(expected) = &reference.blake3 else {
        return true;
    };
    let length = std::fs::metadata(path).map(|about| about.len());
    if let (Ok(length), Some(bytes)) = (length, reference.bytes)
        && length != bytes
    {
        return false;
    }
    // The reader reports files that cannot be read.
    read_file(path).map_or(true, |bytes| {
        blake3::hash(&bytes).to_hex().as_str() == expected
    })
}

/// A file of the folder with the same content.
fn by_hash(folder: &Path, reference: &FileRef) -> Option<PathBuf> {
    let bytes = reference.bytes.filter(|_| reference.blake3.is_some())?;
    let ending = Path::new(&reference.path)
        .extension()
        .map(std::ffi::OsStr::to_ascii_lowercase);
    let likely = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let length = entry
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)?
            .len();
        let alike =
            length == bytes && path.extension().map(std::ffi::OsStr::to_ascii_lowercase) == ending;
        (alike && is_same(&path, reference)).then_some(path)
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .take(MOST_LOOKED_AT)
        .filter_map(likely)
        .collect();
    found.sort();
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_between_folders() {
        let way = |file: &str, folder: &str| {
            slashed(&relative(Path::new(file), Path::new(folder)).unwrap()).unwrap()
        };
        assert_eq!(way("/none/a/b/fox.glb", "/none/a/b"), "fox.glb");
        assert_eq!(way("/none/a/fox.glb", "/none/a/b/c"), "../../fox.glb");
        assert_eq!(way("/none/x/y/fox.glb", "/none/a"), "../x/y/fox.glb");
        assert_eq!(
            without_parent_steps(Path::new("/none/a/../b/./fox.glb")),
            Path::new("/none/b/fox.glb")
        );
    }
}
