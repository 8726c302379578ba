//! Where a character comes from.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::character::{FleshBase, SimVertices};

/// What the user named: the files that make up one character, or one `builtin:NAME`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// As typed or dropped, in order.
    pub files: Vec<PathBuf>,
    /// Radii that the user wants for the bones of joints, by name, in the file's units.
    pub bone_radii: Vec<(String, f64)>,
    /// Changes of the settings of joints' bones, by name, as [`crate::character::BoneSettings::edit`] reads them.
    pub bones: Vec<(String, String)>,
    /// How parts of the skin move, by name, as [`crate::character::Place::parse`] reads it.
    pub parts: Vec<(String, String)>,
    /// Length of one unit of the file in metres, if the user knows better than the guess.
    pub metres_per_unit: Option<f64>,
    /// How fine the simulation mesh is.
    pub sim_vertices: SimVertices,
    /// What the base of the flesh follows, if the user says so.
    pub flesh_base: Option<FleshBase>,
    /// A file that says which joints of a motion move which joints of the character.
    pub mapping: Option<PathBuf>,
}

/// The character that opens when nothing is named.
pub const DEFAULT_BUILTIN: &str = "mannequin";

impl Source {
    /// A built-in character.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        Self {
            files: vec![PathBuf::from(format!("builtin:{name}"))],
            ..Self::default()
        }
    }

    /// The files given, or the default built-in character for none. Motions alone are shown by that one.
    #[must_use]
    pub fn of_files(mut files: Vec<PathBuf>) -> Self {
        let is_motion = |file: &PathBuf| {
            file.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"))
        };
        if !files.is_empty() && files.iter().all(is_motion) {
            files.insert(0, PathBuf::from(format!("builtin:{DEFAULT_BUILTIN}")));
        }
        if files.is_empty() {
            Self::builtin(DEFAULT_BUILTIN)
        } else {
            Self {
                files,
                ..Self::default()
            }
        }
    }

    /// Name for a title: the first file without its folders.
    #[must_use]
    pub fn title(&self) -> String {
        let name = |path: &Path| {
            path.file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned()
        };
        self.files
            .first()
            .map(|path| name(path))
            .unwrap_or_default()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .files
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        f.write_str(&names.join(", "))
    }
}
