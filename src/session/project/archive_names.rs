//! Names of the files in a packed project.
//!
//! One rule, [`ArchiveNames::add`], checks names when a project is packed and when it is unpacked, so
//! a packed project that was saved opens, on every system. A name that breaks the rule is changed
//! when packing, if no other file refers to it; otherwise packing is refused.
//!
//! A file refers only to files in its own folder and in folders within it. So each file that the user
//! gave keeps its folder's content together, and nothing else of its path is in the archive.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::files::without_parents;

/// Folder of the character's files in the archive.
pub(super) const FILES: &str = "files";

/// Longest part of a name, and longest name, bytes. File systems allow parts of 255 bytes; the whole
/// path with the folder it is unpacked into must stay below 4096.
const LONGEST_PART: usize = 255;
const LONGEST: usize = 1024;

/// Characters that some file systems do not allow, beside control characters.
const FORBIDDEN: [char; 8] = ['\\', ':', '*', '?', '"', '<', '>', '|'];

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Why a name can't be in an archive; completes "a name that …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveNameProblem {
    /// Empty, absolute, or with `.` or `..`.
    #[error("would be written outside its folder")]
    Outside,
    /// Not Unicode.
    #[error("is not Unicode")]
    Encoding,
    /// A control character or one of `\ : * ? " < > |`.
    #[error("contains a character that not every system allows in names")]
    Character,
    /// A part ends in a dot or a space, which Windows removes.
    #[error("has a part that ends in a dot or a space, which not every system keeps")]
    Ending,
    /// The name of a device.
    #[error("has a part that is the name of a device on Windows")]
    Device,
    /// Longer than file systems allow.
    #[error("is longer than file systems allow")]
    Long,
    /// Equal to another one, except for the case of letters.
    #[error("differs from another one only in the case of its letters, or not at all")]
    Twice,
    /// One file is named like the folder of another.
    #[error("is a file here and a folder there")]
    FileAndFolder,
}

/// The names in one archive.
#[derive(Debug, Default)]
pub(super) struct ArchiveNames {
    /// In lower case.
    files: HashSet<String>,
    /// In lower case, with the spelling that was first.
    folders: HashMap<String, String>,
}

impl ArchiveNames {
    /// Adds the name of a file, relative to the archive, with `/` between its parts.
    pub(super) fn add(&mut self, name: &str) -> Result<(), ArchiveNameProblem> {
        check_name(name)?;
        let lower = name.to_lowercase();
        if self.files.contains(&lower) {
            return Err(ArchiveNameProblem::Twice);
        }
        // Every folder of the name, the outermost first.
        let ends = name.match_indices('/').map(|(at, _)| &name[..at]);
        let folders: Vec<(String, &str)> = ends.map(|end| (end.to_lowercase(), end)).collect();
        let is_file = |(lower, _): &(String, &str)| self.files.contains(lower);
        if self.folders.contains_key(&lower) || folders.iter().any(is_file) {
            return Err(ArchiveNameProblem::FileAndFolder);
        }
        for (lower, end) in &folders {
            if self.folders.get(lower).is_some_and(|first| first != end) {
                return Err(ArchiveNameProblem::Twice);
            }
        }
        let folders = folders.into_iter();
        self.folders
            .extend(folders.map(|(lower, end)| (lower, end.to_owned())));
        self.files.insert(lower);
        Ok(())
    }
}

/// Checks a name by itself.
fn check_name(name: &str) -> Result<(), ArchiveNameProblem> {
    use ArchiveNameProblem::{Character, Device, Ending, Long, Outside};
    let parts = || name.split('/');
    if parts().any(|part| matches!(part, "" | "." | "..")) {
        return Err(Outside);
    }
    if name.contains(|c: char| c.is_control() || FORBIDDEN.contains(&c)) {
        return Err(Character);
    }
    if parts().any(|part| part.ends_with(['.', ' '])) {
        return Err(Ending);
    }
    if parts().any(is_device) {
        return Err(Device);
    }
    if name.len() > LONGEST || parts().any(|part| part.len() > LONGEST_PART) {
        return Err(Long);
    }
    Ok(())
}

fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end();
    let stem = stem.to_lowercase();
    let numbered = ["com", "lpt"].iter().any(|port| {
        stem.strip_prefix(port).is_some_and(|number| {
            number.chars().count() == 1 && number.contains(|c| "0123456789¹²³".contains(c))
        })
    });
    numbered || DEVICES.contains(&&*stem)
}

/// A file to pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether the user gave it, as opposed to one that another file refers to.
    pub given: bool,
}

/// Names in the archive for files at any paths. `Err` is the first file that can't have one.
pub(super) fn names_of(sources: &[SourceFile]) -> Result<Vec<String>, (usize, ArchiveNameProblem)> {
    let clean = |source: &SourceFile| without_parents(&source.path);
    let paths: Vec<PathBuf> = sources.iter().map(clean).collect();
    let given = sources
        .iter()
        .zip(&paths)
        .filter(|(source, _)| source.given);
    let roots = roots_of(&paths, given.map(|(_, path)| path.as_path()));
    // Files of demos refer to the files that were given beside them.
    let is_listing = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("ini"))
    };
    let mut names = ArchiveNames::default();
    let mut found = Vec::with_capacity(sources.len());
    for (at, (source, path)) in sources.iter().zip(&paths).enumerate() {
        let others = paths.iter().enumerate().filter(|(other, _)| *other != at);
        let may_change = source.given && !others.into_iter().any(|(_, path)| is_listing(path));
        let name = name_below(&roots, path).and_then(|(folder, last)| {
            let whole = format!("{folder}/{last}");
            match names.add(&whole) {
                Err(_) if may_change => add_changed(&mut names, &folder, &last),
                added => added.map(|()| whole),
            }
        });
        found.push(name.map_err(|problem| (at, problem))?);
    }
    Ok(found)
}

/// Folders that contain all files, none within another: those of the given files if they do, those one
/// level above if they do, or the one folder that all are in.
fn roots_of<'a>(paths: &[PathBuf], given: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let folders: Vec<&Path> = given.filter_map(Path::parent).collect();
    let above = folders
        .iter()
        .map(|folder| folder.parent().unwrap_or(folder));
    let candidates = [outermost(folders.iter().copied()), outermost(above)];
    let all_below = |roots: &Vec<PathBuf>| {
        let is_below = |path: &PathBuf| roots.iter().any(|root| path.starts_with(root));
        !roots.is_empty() && paths.iter().all(is_below)
    };
    candidates
        .into_iter()
        .find(all_below)
        .unwrap_or_else(|| common_folder(paths).into_iter().collect())
}

/// The folders that are not within another one, each once, in their order.
fn outermost<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut outer: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if outer.iter().any(|known| folder.starts_with(known)) {
            continue;
        }
        match outer.iter().position(|known| known.starts_with(folder)) {
            Some(first) => folder.clone_into(&mut outer[first]),
            None => outer.push(folder.to_owned()),
        }
        let mut kept: Vec<PathBuf> = Vec::new();
        for known in outer.drain(..) {
            if kept.iter().all(|kept| !known.starts_with(kept)) {
                kept.push(known);
            }
        }
        outer = kept;
    }
    outer
}

fn common_folder(paths: &[PathBuf]) -> Option<PathBuf> {
    let mut common = paths.first()?.parent()?;
    while !paths.iter().all(|path| path.starts_with(common)) {
        common = common.parent()?;
    }
    Some(common.to_owned())
}

/// Folder and name in the archive of a file below one of the roots.
fn name_below(roots: &[PathBuf], path: &Path) -> Result<(String, String), ArchiveNameProblem> {
    let root = roots.iter().position(|root| path.starts_with(root));
    let at = root.ok_or(ArchiveNameProblem::Outside)?;
    let below = path.strip_prefix(&roots[at]).unwrap_or(path);
    let mut folder = FILES.to_owned();
    if roots.len() > 1 {
        folder = format!("{folder}/{}", at + 1);
    }
    for part in below.parent().into_iter().flat_map(Path::components) {
        let part = part.as_os_str().to_str();
        folder = format!("{folder}/{}", part.ok_or(ArchiveNameProblem::Encoding)?);
    }
    // The file's own name may be changed, if it is a given one.
    let last = below.file_name().ok_or(ArchiveNameProblem::Outside)?;
    let Some(name) = last.to_str() else {
        let lossy = last
            .to_string_lossy()
            .replace(char::REPLACEMENT_CHARACTER, "?");
        return Ok((folder, lossy));
    };
    Ok((folder, name.to_owned()))
}

/// Adds a file under a name that is allowed and not taken, with the same extension.
fn add_changed(
    names: &mut ArchiveNames,
    folder: &str,
    last: &str,
) -> Result<String, ArchiveNameProblem> {
    let mut last = last.replace(|c: char| c.is_control() || FORBIDDEN.contains(&c), "_");
    last.truncate(last.trim_end_matches(['.', ' ']).len());
    if is_device(&last) || last.is_empty() {
        last.insert(0, '_');
    }
    let (stem, extension) = match last.rsplit_once('.') {
        Some((stem, extension)) => (stem, format!(".{extension}")),
        None => (&*last, String::new()),
    };
    let mut problem = ArchiveNameProblem::Twice;
    for number in 1..=1000 {
        let name = match number {
            1 => format!("{folder}/{last}"),
            number => format!("{folder}/{stem}-{number}{extension}"),
        };
        match names.add(&name) {
            Ok(()) => return Ok(name),
            Err(again) => problem = again,
        }
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ArchiveNameProblem::{Character, Device, Ending, FileAndFolder, Long, Outside, Twice};

    /// Those that begin with `+` are given by the user.
    fn named(paths: &[&str]) -> Result<Vec<String>, (usize, ArchiveNameProblem)> {
        let source = |text: &&str| SourceFile {
            path: text.trim_start_matches('+').into(),
            given: text.starts_with('+'),
        };
        names_of(&paths.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn files_keep_their_places_relative_to_those_they_refer_to() {
        assert_eq!(named(&["+/a/b/fox.glb"]).unwrap(), ["files/fox.glb"]);
        assert_eq!(
            named(&["+/a/b/fox.gltf", "/a/b/tex/fur.png"]).unwrap(),
            ["files/fox.gltf", "files/tex/fur.png"]
        );
        // A folder above was allowed.
        assert_eq!(
            named(&["+/a/b/fox.gltf", "/a/b/../tex/fur.png"]).unwrap(),
            ["files/b/fox.gltf", "files/tex/fur.png"]
        );
        // Folders far away from each other.
        let far = [
            "+/a/b/fox.gltf",
            "/a/b/fur.png",
            "+/x/y:z/fox.gltf",
            "/x/y:z/t/fur.png",
        ];
        let names = [
            "files/1/fox.gltf",
            "files/1/fur.png",
            "files/2/fox.gltf",
            "files/2/t/fur.png",
        ];
        assert_eq!(named(&far).unwrap(), names);
        // Packed again, from where it was unpacked, the names are the same.
        let unpacked: Vec<String> = names.iter().map(|name| format!("/u/{name}")).collect();
        let mut again: Vec<&str> = unpacked.iter().map(String::as_str).collect();
        let given = ["+/u/files/1/fox.gltf", "+/u/files/2/fox.gltf"];
        (again[0], again[2]) = (given[0], given[1]);
        assert_eq!(named(&again).unwrap(), names);
        assert_eq!(
            named(&["+/a/b/c/run.bvh", "+/a/b/fox.glb", "+/a/b/c/d/x.bvh"]).unwrap(),
            ["files/c/run.bvh", "files/fox.glb", "files/c/d/x.bvh"]
        );
        assert_eq!(named(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn given_files_get_names_that_every_system_has() {
        for (given, name) in [
            ("+/n/a:b.glb", "files/a_b.glb"),
            ("+/n/a\\b.glb", "files/a_b.glb"),
            ("+/n/a\nb.glb", "files/a_b.glb"),
            ("+/n/what?.glb", "files/what_.glb"),
            ("+/n/a.glb. .", "files/a.glb"),
            ("+/n/AUX.glb", "files/_AUX.glb"),
            ("+/n/com1.glb", "files/_com1.glb"),
            ("+/n/...", "files/_"),
            ("+/n/комета 彗星.glb", "files/комета 彗星.glb"),
        ] {
            assert_eq!(named(&[given]), Ok(vec![name.to_owned()]), "{given}");
        }
        assert_eq!(
            named(&["+/n/Fox.glb", "+/n/fox.glb", "+/n/FOX.GLB"]).unwrap(),
            ["files/Fox.glb", "files/fox-2.glb", "files/FOX-3.GLB"]
        );
        // A folder has the name already.
        assert_eq!(
            named(&["+/n/a_b/x.glb", "+/n/y.glb", "+/n/a:b"]).unwrap(),
            ["files/a_b/x.glb", "files/y.glb", "files/a_b-2"]
        );
    }

    #[test]
    fn names_that_other_files_refer_to_are_not_changed() {
        for (also, problem) in [
            ("/n/a:b.png", Character),
            ("/n/t:/b.png", Character),
            ("/n/t./b.png", Ending),
            ("/n/nul.png", Device),
            ("/n/FOX.gltf", Twice),
        ] {
            assert_eq!(named(&["+/n/fox.gltf", also]), Err((1, problem)), "{also}");
        }
        let cases = ["+/n/fox.gltf", "/n/Tex/a.png", "/n/tex/b.png"];
        assert_eq!(named(&cases), Err((2, Twice)));
        assert_eq!(named(&["+/n/demo.ini", "+/n/a:b.obj"]), Err((1, Character)));
        let deep = format!("/n{}/a.png", "/folder".repeat(200));
        assert_eq!(named(&["+/n/fox.gltf", &deep]), Err((1, Long)));
    }

    #[test]
    fn one_rule_for_packing_and_unpacking() {
        let mut names = ArchiveNames::default();
        for name in ["", "/a", "a/", "a//b", "./a", "a/../b"] {
            assert_eq!(names.add(name), Err(Outside), "{name}");
        }
        assert_eq!(names.add(&"x".repeat(256)), Err(Long));
        assert_eq!(names.add("a/b"), Ok(()));
        assert_eq!(names.add("A/c"), Err(Twice));
        assert_eq!(names.add("a"), Err(FileAndFolder));
        assert_eq!(names.add("a/B/c"), Err(FileAndFolder));
        assert_eq!(names.add("a/c"), Ok(()));
    }
}
