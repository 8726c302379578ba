//! Folders that are one click away: bookmarks, those used lately, home.

use std::path::{Path, PathBuf};

use crate::app::settings::Settings;

/// Maximum number of folders used lately that are shown.
const MOST_RECENT: usize = 8;

/// A list of folders with its heading.
#[derive(Debug, PartialEq)]
pub(super) struct Places {
    pub(super) heading: &'static str,
    pub(super) folders: Vec<PathBuf>,
}

/// The user's home folder.
pub(super) fn home() -> Option<PathBuf> {
    ["HOME", "USERPROFILE"]
        .into_iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
        .find(|folder| folder.is_absolute())
}

/// Bookmarks, folders used lately (chosen in dialogs, then those of files opened lately), and the system's. No folder is in two lists.
pub(super) fn places(settings: &Settings, home: Option<&Path>) -> Vec<Places> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut fresh = |folders: &mut dyn Iterator<Item = PathBuf>, most: usize| {
        let mut list = Vec::new();
        for folder in folders {
            if list.len() < most && folder.is_absolute() && !seen.contains(&folder) {
                seen.push(folder.clone());
                list.push(folder);
            }
        }
        list
    };
    let bookmarks = fresh(&mut settings.bookmarks.iter().cloned(), usize::MAX);
    let of_files = settings.recent.iter().flatten();
    let mut recent = (settings.folders.iter().cloned())
        .chain(of_files.filter_map(|file| file.parent().map(Path::to_path_buf)));
    let recent = fresh(&mut recent, MOST_RECENT);
    let root = home.and_then(|home| home.ancestors().last().map(Path::to_path_buf));
    let mut system = home.map(Path::to_path_buf).into_iter().chain(root);
    let system = fresh(&mut system, usize::MAX);
    [
        ("Bookmarks", bookmarks),
        ("Recent", recent),
        ("Computer", system),
    ]
    .into_iter()
    .filter(|(_, folders)| !folders.is_empty())
    .map(|(heading, folders)| Places { heading, folders })
    .collect()
}

/// Name of a folder in a list: its last part, or the whole of a root.
pub(super) fn short_name(folder: &Path) -> String {
    folder.file_name().map_or_else(
        || folder.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_is_listed_twice() {
        let settings = Settings {
            bookmarks: vec!["/models".into()],
            folders: vec!["/models".into(), "/poses".into(), "relative".into()],
            recent: vec![vec!["/scans/a.obj".into(), "/scans/b.obj".into()]],
            ..Settings::default()
        };
        let found = places(&settings, Some(Path::new("/home/ann")));
        let lists: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|places| {
                let folders = places.folders.iter().filter_map(|folder| folder.to_str());
                (places.heading, folders.collect())
            })
            .collect();
        assert_eq!(
            lists,
            [
                ("Bookmarks", vec!["/models"]),
                ("Recent", vec!["/poses", "/scans"]),
                ("Computer", vec!["/home/ann", "/"]),
            ]
        );
        assert_eq!(short_name(Path::new("/home/ann")), "ann");
        assert_eq!(short_name(Path::new("/")), "/");
    }
}
