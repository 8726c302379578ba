//! Source of a character.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::character::{FleshBase, SimVertices};
use crate::io::Reach;

/// The user's input: the files that make up one character, or one `builtin:NAME`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// As typed or dropped, in order.
    pub files: Vec<PathBuf>,
    /// Bone radii set by the user, by joint name, in the file's units.
    pub bone_radii: Vec<(String, f64)>,
    /// Settings of joints' bones, by name, in the syntax of [`crate::character::BoneSettings::edit`].
    pub bones: Vec<(String, String)>,
    /// Muscles, in the syntax of [`crate::character::MuscleText::parse`]; each replaces one of the same name.
    pub muscles: Vec<String>,
    /// How parts of the skin move, by name, in the syntax of [`crate::character::Place::parse`].
    pub parts: Vec<(String, String)>,
    /// Length of one unit of the file in metres, if the user set it.
    pub metres_per_unit: Option<f64>,
    /// Resolution of the simulation mesh.
    pub sim_vertices: SimVertices,
    /// What the base of the flesh follows, if the user set it.
    pub flesh_base: Option<FleshBase>,
    /// File of the joint mapping of a motion.
    pub mapping: Option<PathBuf>,
    /// Joints of all motions of other skeletons that drive joints, by the joint's name; `None`: nothing drives it.
    pub map: Vec<(String, Option<String>)>,
    /// How far names in the files lead; into their own folder unless the user asks for more.
    pub reach: Reach,
}

/// The default character.
pub const DEFAULT_BUILTIN: &str = "mannequin";

impl Source {
    /// Whether both would be saved alike: a project does not save how far names in its files lead, and the files of a packed one were
    /// put there together.
    #[must_use]
    pub fn same_content_as(&self, other: &Self) -> bool {
        let Self {
            files,
            bone_radii,
            bones,
            muscles,
            parts,
            metres_per_unit,
            sim_vertices,
            flesh_base,
            mapping,
            map,
            reach: _,
        } = self;
        *files == other.files
            && *bone_radii == other.bone_radii
            && *bones == other.bones
            && *muscles == other.muscles
            && *parts == other.parts
            && *metres_per_unit == other.metres_per_unit
            && *sim_vertices == other.sim_vertices
            && *flesh_base == other.flesh_base
            && *mapping == other.mapping
            && *map == other.map
    }

    /// A built-in character.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        Self {
            files: vec![PathBuf::from(format!("builtin:{name}"))],
            ..Self::default()
        }
    }

    /// The given files, or the default built-in character for none. That character also plays motions given alone.
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

    /// Display name: the first file without its folders.
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
