//! Persistent cache of derived data: results for equal inputs are read back instead of being
//! recomputed.
//!
//! ```
//! # use sinew::cache::{Cache, CacheKey};
//! # fn slow_to_make(positions: &[f32]) -> Result<Vec<f64>, std::fmt::Error> { Ok(positions.iter().map(|&x| f64::from(x)).collect()) }
//! # let (cache, positions) = (Cache::none(), [1.0, 2.0]);
//! // Everything that the result depends on goes into the key; the number is raised when the meaning of the result changes.
//! let key = || CacheKey::of("squares", 1, &positions);
//! let fits = |made: &Vec<f64>| made.len() == positions.len();
//! let made = cache.derive(key, fits, || slow_to_make(&positions))?;
//! # Ok::<(), std::fmt::Error>(())
//! ```
//! - A [`CacheKey`] is a hash of the inputs themselves, not of the files they came from: a stage is
//!   recomputed exactly when one of its inputs changed. Another build of the program uses other
//!   keys.
//! - An entry contains its key, lengths and a checksum (`container.rs`). An invalid entry is
//!   ignored: the data is recomputed and written again. `fits` additionally checks whether the data
//!   matches the inputs.
//! - Entries are written to a temporary file and renamed, so they are complete or absent. Several
//!   processes may share a folder.
//! - The folder has a size limit (`folder.rs`); the least recently used entries are evicted. Only
//!   files named like an entry are ever removed.
//! - A cache never fails. A folder that cannot be written or read acts as an empty one.

mod container;
mod folder;
mod key;
mod user;

pub use container::Sections;
pub use folder::DEFAULT_LIMIT_BYTES;
pub use key::CacheKey;
pub use user::{UserFolder, WritableFolder};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use folder::EntryFolder;

/// A cache of derived data; cheap to clone. The default stores nothing.
#[derive(Debug, Clone, Default)]
pub struct Cache(Option<Arc<EntryFolder>>);

impl Cache {
    /// A cache that stores nothing.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// A cache of up to [`DEFAULT_LIMIT_BYTES`] in a folder, which is created on first use.
    #[must_use]
    pub fn in_folder(path: impl Into<PathBuf>) -> Self {
        Self::with_limit(path, DEFAULT_LIMIT_BYTES)
    }

    /// A cache of up to the given size in a folder.
    #[must_use]
    pub fn with_limit(path: impl Into<PathBuf>, limit_bytes: u64) -> Self {
        Self(Some(Arc::new(EntryFolder::new(path.into(), limit_bytes))))
    }

    /// The cache in the user's cache folder: `$XDG_CACHE_HOME/sinew` or the system's equivalent; in
    /// a temporary folder where that cannot be written to. Stores nothing if there is neither.
    #[must_use]
    pub fn of_user() -> Self {
        let (cache, notice) = Self::of_user_with_notice();
        if let Some(notice) = notice {
            log::info!("{notice}");
        }
        cache
    }

    /// As [`Cache::of_user`], with sentences for the user if it is not in the user's folder.
    #[must_use]
    pub fn of_user_with_notice() -> (Self, Option<String>) {
        match UserFolder::Cache.writable() {
            Ok(folder) => (Self::in_folder(folder.path), folder.notice),
            Err(reason) => (Self::none(), Some(reason)),
        }
    }

    /// The folder, if any.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref().map(EntryFolder::path)
    }

    /// The data stored under a key; `None` if there is none, or it is invalid.
    #[must_use]
    pub fn get(&self, key: &CacheKey) -> Option<Sections> {
        self.0.as_ref()?.get(key)
    }

    /// Stores data under a key.
    ///
    /// # Errors
    /// File system errors. No partial entry is left.
    pub fn put(&self, key: &CacheKey, sections: &[&[u8]]) -> io::Result<()> {
        self.0
            .as_ref()
            .map_or(Ok(()), |folder| folder.put(key, sections))
    }

    /// Reads the result for equal inputs, or computes and stores it. `fits` checks whether the read
    /// data matches the inputs.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn derive<T, E>(
        &self,
        key: impl FnOnce() -> Option<CacheKey>,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(key) = self.0.as_ref().and_then(|_| key()) else {
            return make();
        };
        // The stored bytes do not record the type.
        let name = std::any::type_name::<T>().as_bytes();
        let read = |sections: Sections| -> Option<T> {
            let (known, rest) = postcard::take_from_bytes(
                sections.get(1).filter(|_| sections.get(0) == Some(name))?,
            )
            .ok()?;
            rest.is_empty().then_some(known)
        };
        if let Some(known) = self.get(&key).and_then(read).filter(fits) {
            return Ok(known);
        }
        let made = make()?;
        let kept = postcard::to_stdvec(&made)
            .map_err(io::Error::other)
            .and_then(|bytes| self.put(&key, &[name, &bytes]));
        if let Err(error) = kept {
            log::info!("the cache could not be written: {error}");
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests;
