//! Files that an opened file refers to: material libraries, textures, buffers, meshes.
//!
//! Whoever made the opened file chose these names, so they lead only into its own folder
//! ([`inside`]). Otherwise a packed project or a bake would carry away any file of this computer.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::bytes::read_file;
use super::error::{ParseProblem, Parsed, bad};
use super::reads;
use crate::files::inside;

/// Longest part of a name that is shown, characters.
const SHOWN: usize = 120;

/// Reads a referenced file: at its path in the folder, otherwise by its file name alone in the same
/// folder, because paths from another computer are common. The problem completes "the file NAME …".
pub(super) fn read_referenced(folder: Option<&Path>, name: &str) -> Parsed<Vec<u8>> {
    let Some(folder) = folder else {
        return bad("cannot be read: the opened file is in memory and has no folder");
    };
    let first = read_at(folder, name);
    let bare = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if first.is_ok() || bare == name {
        return first;
    }
    read_at(folder, bare).or(first)
}

/// Reads a referenced file at its path in the folder. The problem completes "the file NAME …".
pub(super) fn read_at(folder: &Path, name: &str) -> Parsed<Vec<u8>> {
    read_file(&path_of(folder, name)?)
        .map_err(|error| ParseProblem::new(format!("cannot be read: {error}")))
}

/// Path of a referenced file. The problem completes "the file NAME …".
pub(super) fn path_of(folder: &Path, name: &str) -> Parsed<PathBuf> {
    let root = REACH.with_borrow(|reach| match reach {
        Reach::OwnFolder => folder.to_owned(),
        Reach::Within(root) => root.clone(),
        Reach::ParentFolder => {
            let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            absolute.parent().unwrap_or(&absolute).to_owned()
        }
    });
    // The root of a relative path is absolute only where it is above it.
    let absolute = root.is_absolute().then(|| std::path::absolute(folder).ok());
    let folder = absolute.flatten().unwrap_or_else(|| folder.to_owned());
    inside(&root, &folder, name).map_err(|problem| ParseProblem::new(problem.to_string()))
}

/// How far names in opened files lead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Reach {
    /// Into the folder of the opened file and folders within it.
    #[default]
    OwnFolder,
    /// Also into the folder above, which the user has to ask for.
    ParentFolder,
    /// Into this folder, for files that were put there together.
    Within(PathBuf),
}

thread_local! {
    /// Readers read on the thread that called them.
    static REACH: RefCell<Reach> = const { RefCell::new(Reach::OwnFolder) };
}

/// Runs work in which names in opened files lead this far.
pub fn with_reach<T>(reach: Reach, work: impl FnOnce() -> T) -> T {
    let outer = REACH.replace(reach);
    let result = work();
    REACH.set(outer);
    result
}

/// Protects a referenced file from being overwritten, although it is not read.
pub(super) fn protect(folder: Option<&Path>, name: &str) {
    if let Some(Ok(path)) = folder.map(|folder| path_of(folder, name)) {
        reads::protect(&path);
    }
}

/// A name from a file, cut to a length that can be shown.
pub(super) fn abridged(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::random_digits;

    #[test]
    fn names_of_other_computers_are_found_in_the_own_folder_only() {
        let all = std::env::temp_dir().join(format!("sinew-referenced-{}", random_digits()));
        let folder = all.join("own");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(all.join("secret"), "secret").unwrap();
        std::fs::write(folder.join("fur.png"), "fur").unwrap();
        let read = |name: &str| read_referenced(Some(&folder), name);
        let absolute = all.join("secret").display().to_string();
        for name in [
            "fur.png",
            "C:\\art\\fur.png",
            "/home/x/fur.png",
            "../tex/fur.png",
        ] {
            assert_eq!(read(name).unwrap(), b"fur", "{name}");
        }
        for (name, words) in [
            ("../secret", "outside of the folder"),
            (&*absolute, "absolute path"),
            ("file:///etc/passwd", "address"),
            ("other.png", "cannot be read"),
        ] {
            let refused = read(name).unwrap_err().to_string();
            assert!(refused.contains(words), "{name}: {refused}");
        }
        let up = || read_referenced(Some(&folder), "../secret");
        assert_eq!(with_reach(Reach::ParentFolder, up).unwrap(), b"secret");
        assert_eq!(
            with_reach(Reach::Within(all.clone()), up).unwrap(),
            b"secret"
        );
        assert!(up().is_err());
        std::fs::remove_dir_all(all).unwrap();
    }
}
