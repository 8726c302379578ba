//! The user's folders for this program.

use std::io;
use std::path::PathBuf;

use directories::BaseDirs;

use crate::files::{make_writable, temporary_folder};

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

    /// The folder, or a temporary one where it cannot be written to.
    ///
    /// # Errors
    /// A sentence, if neither can be written to.
    pub fn writable(self) -> Result<WritableFolder, String> {
        self.writable_or(self.path(), temporary_folder)
    }

    fn writable_or(
        self,
        own: Option<PathBuf>,
        temporary: impl FnOnce() -> io::Result<PathBuf>,
    ) -> Result<WritableFolder, String> {
        let reason = match &own {
            None => "There is no home folder".to_owned(),
            Some(own) => match make_writable(own) {
                Ok(()) => {
                    return Ok(WritableFolder {
                        path: own.clone(),
                        own: Some(own.clone()),
                        notice: None,
                    });
                }
                Err(error) => format!("{} can't be written to ({error})", own.display()),
            },
        };
        let (name, content) = match self {
            Self::Cache => ("cache", "Computed data"),
            Self::Config => ("config", "Settings"),
            Self::State => ("state", "The log and unsaved work"),
        };
        let path = temporary().map(|folder| folder.join(name));
        let path = path.and_then(|path| make_writable(&path).map(|()| path));
        let path = path.map_err(|error| {
            format!(
                "{reason}, nor can the system's temporary folder ({error}). {content} are not kept."
            )
        })?;
        let notice = format!(
            "{reason}. {content} are kept in {}, which the system may clear.",
            path.display()
        );
        Ok(WritableFolder {
            path,
            own,
            notice: Some(notice),
        })
    }
}

/// A folder that can be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritableFolder {
    /// The folder.
    pub path: PathBuf,
    /// The user's own folder, if there is one; it may be readable.
    pub own: Option<PathBuf>,
    /// Sentences for the user, if it is not the own folder.
    pub notice: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::random_digits;

    #[test]
    fn a_folder_that_can_not_be_written_to_is_replaced_with_a_notice() {
        let all = std::env::temp_dir().join(format!("sinew-user-{}", random_digits()));
        std::fs::create_dir(&all).unwrap();
        let own = all.join("home/sinew");
        let temporary = || Ok(all.join("temporary"));
        let kept = UserFolder::Config.writable_or(Some(own.clone()), temporary);
        let kept = kept.unwrap();
        assert_eq!((&kept.path, &kept.notice), (&own, &None));
        // No folder can be made below a file, not even by the administrator.
        let below = all.join("file");
        std::fs::write(&below, "").unwrap();
        let own = below.join("sinew");
        let moved = UserFolder::Config.writable_or(Some(own.clone()), temporary);
        let moved = moved.unwrap();
        assert_eq!(moved.path, all.join("temporary/config"));
        assert!(moved.path.is_dir() && moved.own.as_ref() == Some(&own));
        let notice = moved.notice.unwrap();
        assert!(notice.contains(&own.display().to_string()), "{notice}");
        assert!(notice.contains("temporary"), "{notice}");
        let homeless = UserFolder::State.writable_or(None, temporary).unwrap();
        assert!(homeless.notice.unwrap().contains("no home folder"));
        let nowhere = || Ok(below.join("temporary"));
        let error = UserFolder::Cache.writable_or(None, nowhere).unwrap_err();
        assert!(error.contains("not kept"), "{error}");
        std::fs::remove_dir_all(all).unwrap();
    }

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
