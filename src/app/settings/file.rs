//! The settings file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Settings;
use crate::cache::{UserFolder, WritableFolder};
use crate::files::{open_regular, read_limited};
use crate::io::write_atomically;

const NAME: &str = "settings.json";
/// Maximum size of a settings file, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    path: PathBuf,
}

/// The settings read, and a message if some could not be read.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedSettings {
    /// The settings; defaults for what could not be read.
    pub settings: Settings,
    /// Message for the user.
    pub warning: Option<String>,
}

impl SettingsFile {
    /// A file of this path.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// `settings.json` in the user's configuration folder, or in a temporary one where that cannot be
    /// written to, which begins with a copy of the user's. The second value is a notice about that.
    #[must_use]
    pub fn of_user() -> (Option<Self>, Option<String>) {
        match UserFolder::Config.writable() {
            Ok(folder) => Self::in_folder(&folder),
            Err(reason) => (None, Some(reason)),
        }
    }

    fn in_folder(folder: &WritableFolder) -> (Option<Self>, Option<String>) {
        let file = Self::at(folder.path.join(NAME));
        let own = folder.own.as_ref().map(|own| own.join(NAME));
        if let Some(own) = own.filter(|own| *own != file.path)
            && !file.path.exists()
            && let Ok(text) = read_limited(&own, MOST_BYTES)
        {
            // Without the copy there are defaults.
            let _ = write_atomically(&file.path, |out| out.write_all(&text));
        }
        (Some(file), folder.notice.clone())
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the settings. A missing file is not an error; a damaged one is kept under another
    /// name.
    #[must_use]
    pub fn load(&self) -> LoadedSettings {
        let text = match read_limited(&self.path, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return LoadedSettings {
                    settings: Settings::default(),
                    warning: None,
                };
            }
            Ok(bytes) => String::from_utf8(bytes).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (settings, damage) = match text.map(|text| parse(&text)) {
            Ok(understood) => understood,
            Err(reason) => (Settings::default(), Some(reason)),
        };
        LoadedSettings {
            settings: settings.sanitized(),
            warning: damage.map(|reason| self.keep_damaged_copy(&reason)),
        }
    }

    /// Keeps a copy of the damaged file, and returns a message.
    fn keep_damaged_copy(&self, reason: &str) -> String {
        let beside = self.path.with_extension("damaged.json");
        // Nothing that can't be read is copied: it may be a pipe or without end.
        let copied = open_regular(&self.path).and_then(|_| fs::copy(&self.path, &beside));
        let kept = match copied {
            Ok(_) => format!("the file as it was is kept as {}", beside.display()),
            Err(_) => "the file is left as it is until a setting is changed".to_owned(),
        };
        format!(
            "The settings in {} could not be read in full ({reason}), so defaults are used for these; {kept}.",
            self.path.display()
        )
    }

    /// Writes the settings atomically.
    ///
    /// # Errors
    /// If the folder or the file cannot be written.
    pub fn save(&self, settings: &Settings) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut text = serde_json::to_string_pretty(settings)?;
        text.push('\n');
        write_atomically(&self.path, |out| out.write_all(text.as_bytes())).map_err(io::Error::other)
    }
}

/// Every value is parsed separately, so that an invalid one does not affect the others.
fn parse(text: &str) -> (Settings, Option<String>) {
    let given: Map<String, Value> = match serde_json::from_str(text) {
        Ok(Value::Object(given)) => given,
        Ok(_) => {
            return (
                Settings::default(),
                Some("it is no list of names and values".to_owned()),
            );
        }
        Err(error) => return (Settings::default(), Some(error.to_string())),
    };
    if let Ok(settings) = serde_json::from_value(Value::Object(given.clone())) {
        return (settings, None);
    }
    let (mut settings, mut accepted, mut wrong) = (Settings::default(), Map::new(), Vec::new());
    for (name, value) in given {
        let mut tried = accepted.clone();
        tried.insert(name.clone(), value);
        match serde_json::from_value(Value::Object(tried.clone())) {
            Ok(understood) => (settings, accepted) = (understood, tried),
            Err(_) => wrong.push(name),
        }
    }
    (
        settings,
        Some(format!("it has no good value for {}", wrong.join(", "))),
    )
}

#[cfg(test)]
mod tests {
    use super::super::ThemeChoice;
    use super::*;
    use crate::app::navigation::NavigationPreset;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("sinew settings {} {name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn settings_round_trip_and_unknown_entries_are_kept() {
        let folder = folder("round trip");
        let file = SettingsFile::at(folder.join("deep").join("settings.json"));
        assert_eq!(
            file.load(),
            LoadedSettings {
                settings: Settings::default(),
                warning: None
            }
        );
        let mut settings = Settings {
            theme: ThemeChoice::Light,
            ui_scale: 1.25,
            ..Settings::default()
        };
        settings.remember(&[folder.join("a.glb"), folder.join("b.bvh")]);
        settings
            .unknown
            .insert("colour of the bikeshed".into(), "green".into());
        file.save(&settings).unwrap();
        assert_eq!(
            file.load(),
            LoadedSettings {
                settings,
                warning: None
            }
        );
        assert_eq!(
            fs::read_dir(folder.join("deep")).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn settings_of_a_folder_that_can_not_be_written_to_are_copied() {
        let folder = folder("read-only");
        let own = folder.join("own");
        let light = Settings {
            theme: ThemeChoice::Light,
            ..Settings::default()
        };
        SettingsFile::at(own.join(NAME)).save(&light).unwrap();
        let writable = WritableFolder {
            path: folder.join("temporary"),
            own: Some(own.clone()),
            notice: Some("moved".to_owned()),
        };
        fs::create_dir_all(&writable.path).unwrap();
        let (file, notice) = SettingsFile::in_folder(&writable);
        let file = file.unwrap();
        assert_eq!(
            (file.load().settings, notice),
            (light, writable.notice.clone())
        );
        // What is changed later stays.
        file.save(&Settings::default()).unwrap();
        let (file, _) = SettingsFile::in_folder(&writable);
        assert_eq!(file.unwrap().load().settings, Settings::default());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn only_damaged_values_are_lost_and_the_file_is_kept() {
        let folder = folder("damaged");
        fs::create_dir_all(&folder).unwrap();
        let file = SettingsFile::at(folder.join("settings.json"));
        let damaged =
            r#"{ "theme": "light", "ui_scale": "large", "navigation": "maya", "recent": 5 }"#;
        fs::write(file.path(), damaged).unwrap();
        let LoadedSettings { settings, warning } = file.load();
        assert_eq!(
            (settings.theme, settings.navigation, settings.ui_scale),
            (ThemeChoice::Light, NavigationPreset::Maya, 1.0)
        );
        let warning = warning.expect("it is told");
        assert!(
            warning.contains("recent, ui_scale") || warning.contains("ui_scale, recent"),
            "{warning}"
        );
        assert_eq!(
            fs::read_to_string(folder.join("settings.damaged.json")).unwrap(),
            damaged
        );

        for garbage in ["", "[]", "{", "\u{0}\u{1}", "null", &"[".repeat(100_000)] {
            fs::write(file.path(), garbage).unwrap();
            let LoadedSettings { settings, warning } = file.load();
            assert_eq!(settings, Settings::default());
            assert!(warning.is_some(), "{garbage:.20}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
