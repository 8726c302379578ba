//! The contents of a folder, read on a thread because network drives may be slow, and the completion of typed names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use egui::Context;

/// Maximum number of entries that are shown of a folder.
const MOST_ENTRIES: usize = 20_000;

/// A file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: OsString,
    /// The name as text.
    pub(super) text: String,
    pub(super) is_folder: bool,
    pub(super) bytes: u64,
}

impl Entry {
    pub(super) fn is_hidden(&self) -> bool {
        self.text.starts_with('.')
    }
}

/// A folder that is shown.
#[derive(Debug)]
pub(super) struct Listing {
    folder: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading(Receiver<Result<Vec<Entry>, String>>),
    Read(Vec<Entry>),
    Failed(String),
}

impl Listing {
    /// Starts to read a folder.
    pub(super) fn of(ctx: &Context, folder: &Path) -> Self {
        let (sender, receiver) = channel();
        let (ctx, read) = (ctx.clone(), folder.to_path_buf());
        let started = std::thread::Builder::new()
            .name("folder".into())
            .spawn(move || {
                // Sending fails if another folder is shown meanwhile.
                drop(sender.send(entries_of(&read)));
                ctx.request_repaint();
            });
        let state = match started {
            Ok(_) => State::Reading(receiver),
            Err(error) => State::Failed(format!("The folder can't be read: {error}.")),
        };
        Self {
            folder: folder.to_path_buf(),
            state,
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Takes what was read meanwhile.
    pub(super) fn poll(&mut self) {
        if let State::Reading(receiver) = &self.state {
            let state = match receiver.try_recv() {
                Ok(Ok(entries)) => State::Read(entries),
                Ok(Err(reason)) => State::Failed(reason),
                Err(TryRecvError::Disconnected) => {
                    State::Failed("The folder can't be read.".to_owned())
                }
                Err(TryRecvError::Empty) => return,
            };
            self.state = state;
        }
    }

    /// Folders first, then files, by name; a sentence if they can't be read or are not read yet.
    pub(super) fn entries(&self) -> Result<&[Entry], &str> {
        match &self.state {
            State::Reading(_) => Err("Reading…"),
            State::Read(entries) => Ok(entries),
            State::Failed(reason) => Err(reason),
        }
    }
}

fn entries_of(folder: &Path) -> Result<Vec<Entry>, String> {
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("There is no folder {}.", folder.display()),
        std::io::ErrorKind::NotADirectory => format!("{} is no folder.", folder.display()),
        std::io::ErrorKind::PermissionDenied => {
            format!("You may not read the folder {}.", folder.display())
        }
        _ => format!("The folder {} can't be read: {error}.", folder.display()),
    };
    let mut entries: Vec<Entry> = std::fs::read_dir(folder)
        .map_err(cannot)?
        .filter_map(Result::ok)
        .take(MOST_ENTRIES)
        .map(|entry| {
            // That of the target of a link; a broken link is a file.
            let about = std::fs::metadata(entry.path()).ok();
            let name = entry.file_name();
            Entry {
                text: name.to_string_lossy().into_owned(),
                name,
                is_folder: about.as_ref().is_some_and(std::fs::Metadata::is_dir),
                bytes: about.map_or(0, |about| about.len()),
            }
        })
        .collect();
    entries.sort_by_cached_key(|entry| (!entry.is_folder, entry.text.to_lowercase()));
    Ok(entries)
}

/// Whether a name begins as it was typed, in any case of letters.
pub(super) fn begins(name: &str, typed: &str) -> bool {
    name.to_lowercase().starts_with(&typed.to_lowercase())
}

/// What a typed beginning becomes: the longest that all names that begin so have in common, with a separator after the name of the only
/// folder. `None` if no name begins so.
pub(super) fn completed<'a>(
    typed: &str,
    entries: impl Iterator<Item = &'a Entry>,
) -> Option<String> {
    let fitting: Vec<&Entry> = entries.filter(|entry| begins(&entry.text, typed)).collect();
    let exact: Vec<&Entry> = fitting
        .iter()
        .copied()
        .filter(|entry| entry.text.starts_with(typed))
        .collect();
    let fitting = if exact.is_empty() { fitting } else { exact };
    let (first, others) = fitting.split_first()?;
    let mut common: &str = &first.text;
    for other in others {
        let shared = common
            .char_indices()
            .zip(other.text.chars())
            .find(|((_, a), b)| a != b)
            .map_or(common.len().min(other.text.len()), |((at, _), _)| at);
        common = &common[..shared];
    }
    let mut text = common.to_owned();
    if others.is_empty() && first.is_folder {
        text.push(std::path::MAIN_SEPARATOR);
    }
    // Names that differ in the case of letters may have less in common than was typed.
    Some(if text.len() < typed.len() {
        typed.to_owned()
    } else {
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, is_folder: bool) -> Entry {
        Entry {
            name: name.into(),
            text: name.to_owned(),
            is_folder,
            bytes: 0,
        }
    }

    #[test]
    fn a_beginning_is_completed_as_far_as_it_is_clear() {
        let entries = [
            entry("models", true),
            entry("Fox.glb", false),
            entry("fox walk.bvh", false),
            entry("fox run.bvh", false),
            entry("größe.obj", false),
            entry("große.obj", false),
        ];
        let done = |typed: &str| completed(typed, entries.iter());
        let folder = format!("models{}", std::path::MAIN_SEPARATOR);
        assert_eq!(done("m"), Some(folder.clone()));
        assert_eq!(done("MO"), Some(folder));
        assert_eq!(done("fox"), Some("fox ".to_owned()));
        assert_eq!(done("fox r"), Some("fox run.bvh".to_owned()));
        assert_eq!(done("F"), Some("Fox.glb".to_owned()));
        assert_eq!(done("gr"), Some("gr".to_owned()));
        assert_eq!(done("xyzzy"), None);
    }

    #[test]
    fn folders_come_first_and_a_missing_one_is_told() {
        let folder = std::env::temp_dir().join(format!("sinew listing {}", std::process::id()));
        std::fs::create_dir_all(folder.join("z folder")).unwrap();
        std::fs::write(folder.join("B.obj"), "12").unwrap();
        std::fs::write(folder.join("a.obj"), "").unwrap();
        let entries = entries_of(&folder).unwrap();
        let names: Vec<&str> = entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(names, ["z folder", "a.obj", "B.obj"]);
        assert_eq!(entries[2].bytes, 2);
        let missing = entries_of(&folder.join("none")).unwrap_err();
        assert!(missing.starts_with("There is no folder"), "{missing}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
