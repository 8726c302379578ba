//! The user's folders for this program.

use std::path::PathBuf;

use directories::BaseDirs;

/// A folder in which the program keeps files between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserFolder {
    /// Files that can be computed again.
    Cache,
    /// The user's settings.
    Config,
    /// Unsaved work and logs.
    State,
}

impl UserFolder {
    /// The folder, which may not exist yet: `sinew` under `$XDG_CACHE_HOME`, `$XDG_CONFIG_HOME` or `$XDG_STATE_HOME`, or under the
    /// system's equivalent. `None` if there is no home directory.
    #[must_use]
    pub fn path(self) -> Option<PathBuf> {
        let folders = BaseDirs::new()?;
        let parent = match self {
            Self::Cache => folders.cache_dir(),
            Self::Config => folders.config_dir(),
            // Only Linux has a folder for state.
            Self::State => folders
                .state_dir()
                .unwrap_or_else(|| folders.data_local_dir()),
        };
        Some(parent.join("sinew"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_absolute_and_ends_with_our_name() {
        for folder in [UserFolder::Cache, UserFolder::Config, UserFolder::State] {
            assert!(
                folder
                    .path()
                    .is_none_or(|path| path.is_absolute() && path.ends_with("sinew")),
                "{folder:?}"
            );
        }
    }
}
