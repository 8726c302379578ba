//! Which paths name the same file.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `a/..`, ignoring symbolic links.
#[must_use]
pub fn without_parents(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir
                if matches!(short.components().next_back(), Some(Component::Normal(_))) =>
            {
                short.pop();
            }
            Component::CurDir => {}
            other => short.push(other),
        }
    }
    short
}

/// What a path leads to, however it is spelled: links are followed, and the case of letters is
/// ignored, because many file systems ignore it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity {
    /// Without links and `..`, in lower case.
    path: String,
    /// Device and number of the file; equal for hard links. `None` if there is no such file, or on
    /// systems without such numbers.
    number: Option<(u64, u64)>,
}

impl FileIdentity {
    /// The identity of a file, which may be missing.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let path = canonical(path);
        Self {
            number: number_of(&path),
            path: path.to_string_lossy().to_lowercase(),
        }
    }

    /// Whether writing to one would change the other.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.path == other.path || (self.number.is_some() && self.number == other.number)
    }
}

/// The canonical path; for a missing file that of its folder with the name.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (
        absolute.parent().map(Path::canonicalize),
        absolute.file_name(),
    ) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

#[cfg(unix)]
fn number_of(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn number_of(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::random_digits;

    #[test]
    fn one_file_is_recognised_in_every_spelling() {
        let folder = std::env::temp_dir().join(format!("sinew-same-{}", random_digits()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let file = folder.join("Fox.glb");
        std::fs::write(&file, "x").unwrap();
        std::fs::write(folder.join("other.glb"), "x").unwrap();
        let same =
            |name: &str| FileIdentity::of(&folder.join(name)).is_same_as(&FileIdentity::of(&file));
        assert!(same("Fox.glb") && same("sub/../Fox.glb") && same("./Fox.glb"));
        assert!(same("FOX.GLB"), "the case of letters is ignored");
        assert!(!same("other.glb") && !same("sub/Fox.glb") && !same("Fox2.glb"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("Fox.glb", folder.join("soft")).unwrap();
            std::fs::hard_link(&file, folder.join("hard")).unwrap();
            assert!(same("soft") && same("hard"));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
