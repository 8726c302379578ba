//! Names in files of unknown origin.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Why a name in a file is not followed; completes "the file NAME …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Nothing, or with characters that no file name has.
    #[error("is not a file name")]
    Unusable,
    /// `http:`, `file:` and alike.
    #[error("is an address, so it is not read: only files in the folder of the opened file are")]
    Address,
    /// An absolute path, with a drive or of a network.
    #[error(
        "is an absolute path, so it is not read: only files in the folder of the opened file are"
    )]
    Absolute,
    /// Above the folder.
    #[error(
        "is outside of the folder of the opened file, so it is not read; copy it into the folder, or allow the folder above by --parent-folder"
    )]
    Above,
    /// Through a symbolic link.
    #[error("leads out of the folder of the opened file by a symbolic link, so it is not read")]
    Link,
}

/// The path of the file that a file in `folder` refers to by `name`, with `/` or `\` between its
/// parts. The file may be missing. Only files in `root` and in folders within it have a path;
/// symbolic links count as what they lead to. The root is the folder itself, or one above it.
///
/// # Errors
/// [`NameProblem`]; nothing was opened.
pub fn inside(root: &Path, folder: &Path, name: &str) -> Result<PathBuf, NameProblem> {
    let name = name.trim().replace('\\', "/");
    if name.is_empty() || name.contains(char::is_control) {
        return Err(NameProblem::Unusable);
    }
    if let Some((before, after)) = name.split_once(':') {
        let is_word = before
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if is_word && before.chars().count() == 1 {
            return Err(NameProblem::Absolute);
        }
        if is_word && (after.starts_with('/') || before.eq_ignore_ascii_case("file")) {
            return Err(NameProblem::Address);
        }
    }
    if name.starts_with('/') || Path::new(&name).has_root() {
        return Err(NameProblem::Absolute);
    }
    let (root, below) = match folder.strip_prefix(root) {
        Ok(below) => (root, below),
        Err(_) => (folder, Path::new("")),
    };
    let mut parts: Vec<&OsStr> = below.iter().collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Err(NameProblem::Above),
            ".." => {}
            part => parts.push(part.as_ref()),
        }
    }
    let path = root.join(parts.iter().collect::<PathBuf>());
    if path == folder || path == root {
        return Err(NameProblem::Unusable);
    }
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(file), Ok(root)) if !file.starts_with(&root) => Err(NameProblem::Link),
        // A missing file is reported by its reader.
        _ => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::random_digits;

    #[test]
    fn names_lead_only_into_the_folder() {
        let folder = Path::new("no/such");
        for (name, path) in [
            ("a.bin", "no/such/a.bin"),
            ("./a//b.png", "no/such/a/b.png"),
            ("tex\\b.png", "no/such/tex/b.png"),
            ("tex/../b.png", "no/such/b.png"),
            ("a:1.png", ""),
            ("tex:1.png", "no/such/tex:1.png"),
        ] {
            let found = inside(folder, folder, name);
            assert_eq!(
                found.ok(),
                (!path.is_empty()).then(|| path.into()),
                "{name}"
            );
        }
        for (name, problem) in [
            ("", NameProblem::Unusable),
            (" ", NameProblem::Unusable),
            (".", NameProblem::Unusable),
            ("a/..", NameProblem::Unusable),
            ("a\0b", NameProblem::Unusable),
            ("/etc/passwd", NameProblem::Absolute),
            ("\\windows\\x", NameProblem::Absolute),
            ("//host/share/x", NameProblem::Absolute),
            ("\\\\host\\share\\x", NameProblem::Absolute),
            ("C:\\x", NameProblem::Absolute),
            ("c:x", NameProblem::Absolute),
            ("../x", NameProblem::Above),
            ("a/../../x", NameProblem::Above),
            ("..\\..\\x", NameProblem::Above),
            ("http://host/x", NameProblem::Address),
            ("FILE:///etc/passwd", NameProblem::Address),
            ("file:etc/passwd", NameProblem::Address),
        ] {
            assert_eq!(inside(folder, folder, name), Err(problem), "{name:?}");
        }
        let inner = folder.join("inner");
        let wider = |name| inside(folder, &inner, name);
        assert_eq!(wider("../x"), Ok(folder.join("x")));
        assert_eq!(wider("x"), Ok(inner.join("x")));
        assert_eq!(wider("../../x"), Err(NameProblem::Above));
        assert_eq!(wider("../inner"), Err(NameProblem::Unusable));
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_do_not_lead_out() {
        use std::os::unix::fs::symlink;
        let all = std::env::temp_dir().join(format!("sinew-inside-{}", random_digits()));
        let folder = all.join("own");
        std::fs::create_dir_all(folder.join("tex")).unwrap();
        std::fs::write(all.join("secret"), "x").unwrap();
        std::fs::write(folder.join("tex/a"), "x").unwrap();
        symlink(all.join("secret"), folder.join("b")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        symlink("tex/a", folder.join("c")).unwrap();
        for name in ["b", "up/secret"] {
            assert_eq!(
                inside(&folder, &folder, name),
                Err(NameProblem::Link),
                "{name}"
            );
        }
        for name in ["c", "tex/a", "missing"] {
            assert_eq!(inside(&folder, &folder, name), Ok(folder.join(name)));
        }
        // The folder itself may be a link.
        let link = all.join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(inside(&link, &link, "c"), Ok(link.join("c")));
        std::fs::remove_dir_all(all).unwrap();
    }
}
