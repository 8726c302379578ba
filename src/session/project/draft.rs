//! Unsaved work of a packed project: it refers to the unpacked files, which may have been removed
//! since, because they are kept beside the cache or in the system's temporary folder.

use std::path::{Path, PathBuf};

use super::file::{FileRef, ProjectFile};
use super::{pack, paths};
use crate::cache::Cache;
use crate::io::{read_file, recorded};
use crate::progress::Progress;
use crate::weights::WeightMethod;

/// Unpacks the project of unsaved work again if a file is missing that was in it, and lets the
/// references lead there. Returns the folder; `None` if nothing is missing, or the project can't be
/// unpacked: the user is then asked about the missing files.
pub(super) fn unpack_again(
    file: &mut ProjectFile,
    cache: &Cache,
    progress: &Progress,
) -> Option<PathBuf> {
    let recovery = file.recovery.as_ref().filter(|part| part.packed)?;
    let project = PathBuf::from(recovery.project.as_ref()?);
    let part = &file.character;
    let references = part
        .files
        .iter()
        .chain(&part.also_read)
        .chain(&part.mapping);
    let missing = |path: &str| !paths::is_builtin(Path::new(path)) && !Path::new(path).is_file();
    let transfers = file.views.iter().filter_map(|view| view.weights.as_deref());
    let mut transfers = transfers.filter_map(WeightMethod::transfer_file);
    if !references.clone().any(|reference| missing(&reference.path)) && !transfers.any(missing) {
        return None;
    }
    // What is read here is not part of the character.
    let (bytes, _) = recorded(|| read_file(&project));
    let bytes = bytes.ok().filter(|bytes| pack::is_packed(bytes))?;
    let folder = pack::unpack(&bytes, cache, progress)
        .inspect_err(|reason| log::warn!("{}: {reason}", project.display()))
        .ok()?;
    let part = &mut file.character;
    let references = part.files.iter_mut().chain(&mut part.also_read);
    for reference in references.chain(&mut part.mapping) {
        if missing(&reference.path)
            && let Some(path) = again(&folder, &reference.path, Some(reference))
        {
            reference.path = path;
        }
    }
    for view in &mut file.views {
        let named = view
            .weights
            .as_deref()
            .and_then(WeightMethod::transfer_file);
        if let Some(named) = named.filter(|named| missing(named))
            && let Some(path) = again(&folder, named, None)
        {
            view.weights = Some(format!("transfer:{path}"));
        }
    }
    Some(folder)
}

/// The path in the new folder of a file that was in another folder of unpacked files: at the same place,
/// with the same content where that is known.
fn again(folder: &Path, old: &str, content: Option<&FileRef>) -> Option<String> {
    let parts: Vec<&str> = old.split(['/', '\\']).collect();
    if parts.contains(&"..") {
        return None;
    }
    // The name in the archive is an end of the old path.
    let places = (0..parts.len()).map(|from| folder.join(parts[from..].join("/")));
    let is_it = |place: &PathBuf| {
        place.starts_with(folder)
            && place.is_file()
            && content.is_none_or(|content| paths::is_same(place, content))
    };
    places.into_iter().find(is_it)?.to_str().map(str::to_owned)
}
