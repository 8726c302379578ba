//! Where this system keeps what programs write for their user.

use std::path::PathBuf;

/// A folder of the user's own, for what the program keeps between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserFolder {
    /// What can be made anew at any time.
    Cache,
    /// What the user has set.
    Config,
    /// What the program has to remember: unsaved work, logs.
    State,
}

impl UserFolder {
    /// The folder, which may not be there yet: `$XDG_CACHE_HOME/sinew`, `$XDG_CONFIG_HOME/sinew` and `$XDG_STATE_HOME/sinew`, or what the
    /// system has in their place. `None` if nobody says where the user is at home.
    #[must_use]
    pub fn path(self) -> Option<PathBuf> {
        // The XDG specification: paths that are not absolute are to be ignored.
        let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let at_home = |below: &str| std::env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(below));
        let folder = if cfg!(windows) {
            named(if self == Self::Config { "APPDATA" } else { "LOCALAPPDATA" })
        } else if cfg!(target_os = "macos") {
            at_home(if self == Self::Cache { "Library/Caches" } else { "Library/Application Support" })
        } else {
            let (variable, below) = match self {
                Self::Cache => ("XDG_CACHE_HOME", ".cache"),
                Self::Config => ("XDG_CONFIG_HOME", ".config"),
                Self::State => ("XDG_STATE_HOME", ".local/state"),
            };
            named(variable).or_else(|| at_home(below))
        };
        folder.map(|folder| folder.join("sinew"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_absolute_and_bears_our_name() {
        for folder in [UserFolder::Cache, UserFolder::Config, UserFolder::State] {
            assert!(folder.path().is_none_or(|path| path.is_absolute() && path.ends_with("sinew")), "{folder:?}");
        }
    }
}
