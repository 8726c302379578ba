//! Derived data, kept between runs: what was made once from the same inputs is read back instead of being made again.
//!
//! ```
//! # use sinew::cache::{Cache, Key};
//! # fn slow_to_make(positions: &[f32]) -> Result<Vec<f64>, std::fmt::Error> { Ok(positions.iter().map(|&x| f64::from(x)).collect()) }
//! # let (cache, positions) = (Cache::none(), [1.0, 2.0]);
//! // Everything that the result depends on goes into the key; the number is raised when the meaning of the result changes.
//! let key = || Key::of("squares", 1, &positions);
//! let fits = |made: &Vec<f64>| made.len() == positions.len();
//! let made = cache.derive(key, fits, || slow_to_make(&positions))?;
//! # Ok::<(), std::fmt::Error>(())
//! ```
//! - A [`Key`] is a hash of the inputs themselves, not of the files they came from: a stage is made anew when something that it depends on
//!   has changed, and only then. Another build of the program has other keys.
//! - An entry carries its key, lengths and a checksum over all of it (`container.rs`). Whatever does not agree is no entry: the data is made
//!   again and written anew. What was read is asked, by `fits`, whether it belongs to the inputs.
//! - Entries appear whole or not at all: they are written beside their place and renamed. Any number of programs may share a folder.
//! - The folder has a limit (`folder.rs`); what was not used for the longest time goes first. Only files that bear the name of an entry are
//!   ever removed.
//! - A cache never fails. A folder that can't be written to, or read, is a folder without entries.

mod container;
mod folder;
mod key;
mod user;

pub use container::Sections;
pub use folder::DEFAULT_LIMIT_BYTES;
pub use key::Key;
pub use user::UserFolder;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use folder::Folder;

/// Where derived data is kept; cheap to clone. The default keeps nothing.
#[derive(Debug, Clone, Default)]
pub struct Cache(Option<Arc<Folder>>);

impl Cache {
    /// Keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Keeps up to [`DEFAULT_LIMIT_BYTES`] in a folder, which is made when something is to be kept.
    #[must_use]
    pub fn in_folder(path: impl Into<PathBuf>) -> Self {
        Self::with_limit(path, DEFAULT_LIMIT_BYTES)
    }

    /// Keeps up to so many bytes in a folder.
    #[must_use]
    pub fn with_limit(path: impl Into<PathBuf>, limit_bytes: u64) -> Self {
        Self(Some(Arc::new(Folder::new(path.into(), limit_bytes))))
    }

    /// The cache in the user's own folder of caches: `$XDG_CACHE_HOME/sinew` or what the system has in its place. Keeps nothing if there
    /// is no such folder.
    #[must_use]
    pub fn of_user() -> Self {
        UserFolder::Cache.path().map_or_else(Self::none, Self::in_folder)
    }

    /// Where the data is kept, if it is.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref().map(Folder::path)
    }

    /// What was kept under a key; `None` if there is nothing, or nothing that can be trusted.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Sections> {
        self.0.as_ref()?.get(key)
    }

    /// Keeps data under a key.
    ///
    /// # Errors
    /// Whatever keeps the files from being written. Nothing is half kept then.
    pub fn put(&self, key: &Key, sections: &[&[u8]]) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |folder| folder.put(key, sections))
    }

    /// Reads back what was made from the same inputs, or makes and keeps it. `fits` says whether what was read belongs to the inputs.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn derive<T, E>(
        &self,
        key: impl FnOnce() -> Option<Key>,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(key) = self.0.as_ref().and_then(|_| key()) else { return make() };
        // What is written does not say of what type it is.
        let name = std::any::type_name::<T>().as_bytes();
        let read = |sections: Sections| -> Option<T> {
            let (known, rest) = postcard::take_from_bytes(sections.get(1).filter(|_| sections.get(0) == Some(name))?).ok()?;
            rest.is_empty().then_some(known)
        };
        if let Some(known) = self.get(&key).and_then(read).filter(fits) {
            return Ok(known);
        }
        let made = make()?;
        let kept = postcard::to_stdvec(&made).map_err(io::Error::other).and_then(|bytes| self.put(&key, &[name, &bytes]));
        if let Err(error) = kept {
            log::info!("nothing could be kept in the cache: {error}");
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests;
