//! A folder of cache entries: one file per entry, named by its key.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::container::{Sections, pack, unpack};
use super::key::CacheKey;
use crate::files::{open_regular, random_digits};

/// Default size limit, bytes.
pub const DEFAULT_LIMIT_BYTES: u64 = 1 << 30;

/// File extensions of entries, and of unfinished ones.
const ENTRY: &str = "sinewkept";
const UNFINISHED: &str = "sinewnew";
/// Eviction continues down to this fraction of the limit, so that not every new entry causes an
/// eviction.
const ROOM: f64 = 0.9;
/// Unfinished entries older than this are considered abandoned.
const ABANDONED: Duration = Duration::from_hours(1);

/// A folder and its size limit.
#[derive(Debug)]
pub(super) struct EntryFolder {
    path: PathBuf,
    limit_bytes: u64,
}

impl EntryFolder {
    pub(super) fn new(path: PathBuf, limit_bytes: u64) -> Self {
        Self { path, limit_bytes }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn place(&self, key: &CacheKey) -> PathBuf {
        self.path.join(format!("{key}.{ENTRY}"))
    }

    pub(super) fn get(&self, key: &CacheKey) -> Option<Sections> {
        let (file, about) = open_regular(&self.place(key)).ok()?;
        let length = about.len();
        if length > self.limit_bytes {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).ok()?);
        // A file that grew in the meantime is not an entry.
        Read::take(&file, length).read_to_end(&mut bytes).ok()?;
        let sections = unpack(key, bytes)?;
        // Records the time of last use; where it cannot be set, entries are ordered by creation.
        let _ = file.set_modified(SystemTime::now()).or_else(|_| {
            File::options()
                .append(true)
                .open(self.place(key))
                .and_then(|file| file.set_modified(SystemTime::now()))
        });
        Some(sections)
    }

    pub(super) fn put(&self, key: &CacheKey, sections: &[&[u8]]) -> io::Result<()> {
        let bytes = pack(key, sections);
        if bytes.len() as u64 > self.limit_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "larger than all of the cache may be",
            ));
        }
        fs::create_dir_all(&self.path)?;
        let beside = self
            .path
            .join(format!("{key}.{}.{UNFINISHED}", random_digits()));
        let written =
            write_new(&beside, &bytes).and_then(|()| fs::rename(&beside, self.place(key)));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        self.make_room();
        written
    }

    /// Evicts least recently used entries until the limit is met, and removes abandoned unfinished
    /// ones.
    fn make_room(&self) {
        let Ok(listing) = fs::read_dir(&self.path) else {
            return;
        };
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for item in listing.flatten() {
            let path = item.path();
            let ending = path.extension().and_then(OsStr::to_str);
            let Some(about) = item
                .metadata()
                .ok()
                .filter(|about| about.is_file() && is_ours(&path))
            else {
                continue;
            };
            let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if ending == Some(ENTRY) {
                entries.push((used, about.len(), path));
            } else if used.elapsed().is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(path);
            }
        }
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if total <= self.limit_bytes {
            return;
        }
        entries.sort();
        let goal = (self.limit_bytes as f64 * ROOM) as u64;
        // Never the newest, which was just written.
        entries.pop();
        for (_, bytes, path) in entries {
            if total <= goal {
                break;
            }
            // Another process may have removed it already.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
}

/// Whether a file has the name of an entry, finished or not: a key and one of the extensions.
fn is_ours(path: &Path) -> bool {
    let (name, ending) = (
        path.file_name().and_then(OsStr::to_str),
        path.extension().and_then(OsStr::to_str),
    );
    let starts_with_key = |name: &str| {
        name.split_once('.')
            .is_some_and(|(key, _)| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    name.is_some_and(starts_with_key) && [Some(ENTRY), Some(UNFINISHED)].contains(&ending)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::options()
        .write(true)
        .create_new(true)
        .open(path)?
        .write_all(bytes)
}
