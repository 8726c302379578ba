//! Where a character comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::ProjectError;
use crate::cache::Cache;
use crate::character::{BoneEditError, Character, FleshSettings, PartError, Place, SimVertices};
use crate::io::{self, IoError};
use crate::progress::{Cancelled, Progress};
use crate::rig::{PoseError, Skeleton};
use crate::skin::BindError;

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
    /// A file that says which joints of a motion move which joints of the character.
    pub mapping: Option<PathBuf>,
}

/// The character that opens when nothing is named.
pub const DEFAULT_BUILTIN: &str = "mannequin";

impl Source {
    /// A built-in character.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        Self { files: vec![PathBuf::from(format!("builtin:{name}"))], ..Self::default() }
    }

    /// The files given, or the default built-in character for none. Motions alone are shown by that one.
    #[must_use]
    pub fn of_files(mut files: Vec<PathBuf>) -> Self {
        let is_motion = |file: &PathBuf| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"));
        if !files.is_empty() && files.iter().all(is_motion) {
            files.insert(0, PathBuf::from(format!("builtin:{DEFAULT_BUILTIN}")));
        }
        if files.is_empty() { Self::builtin(DEFAULT_BUILTIN) } else { Self { files, ..Self::default() } }
    }

    /// Name for a title: the first file without its folders.
    #[must_use]
    pub fn title(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        self.files.first().map(|path| name(path)).unwrap_or_default()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.files.iter().map(|path| path.to_string_lossy()).collect();
        f.write_str(&names.join(", "))
    }
}

/// Why a character could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The files could not be read.
    #[error(transparent)]
    Load(IoError),
    /// The project could not be read, or its files are not what they were.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Something was asked of the bones of a joint that is not there.
    #[error("{file}: {error}")]
    Joint {
        /// What was opened.
        file: String,
        /// Which joint.
        error: PoseError,
    },
    /// Something was asked of the bones of a joint that bones don't do.
    #[error("{file}: joint \"{joint}\": {error}")]
    Bone {
        /// What was opened.
        file: String,
        /// Which joint.
        joint: String,
        /// What is wrong.
        error: BoneEditError,
    },
    /// Something was asked of a part that isn't there, or that parts don't do.
    #[error("{file}: {error}")]
    Part {
        /// What was opened.
        file: String,
        /// What is wrong.
        error: PartError,
    },
    /// The character was read but can't be worked with.
    #[error("{file}: {error}")]
    Unusable {
        /// What was opened.
        file: String,
        /// Why it is of no use.
        error: BindError,
    },
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Reads the character. A project (`.sinew`) among the files stands for the files that it was saved with, and for what it says of the
/// flesh.
///
/// # Errors
/// [`OpenError`]: one sentence with the file, the place and what to do.
pub fn load(source: &Source, progress: &Progress) -> Result<Character, OpenError> {
    let super::project::Loaded { character, project, .. } = super::project::load_all(source, &Cache::none(), &BTreeMap::new(), progress)?;
    let Some(restored) = project.map(|project| project.restored) else { return Ok(character) };
    let mut character = match &restored.rig {
        Some(rig) => character.with_rig(rig).map_err(|error| OpenError::Unusable { file: source.to_string(), error: error.into() })?,
        None => character,
    };
    character.clips.extend(restored.takes.iter().map(|take| take.clip().clone()));
    Ok(Character { flesh: restored.flesh, ..character })
}

/// Reads the character of files that are no projects, without what is said of its flesh.
pub(super) fn load_files(source: &Source, progress: &Progress) -> Result<Character, OpenError> {
    let failed = |error| match error {
        IoError::Cancelled(cancelled) => OpenError::Cancelled(cancelled),
        error => OpenError::Load(error),
    };
    let mapping = source.mapping.as_deref().map(io::read_mapping).transpose().map_err(failed)?;
    let mut character = io::load_with(&source.files, mapping.as_ref(), progress).map_err(failed)?;
    if let Some(metres_per_unit) = source.metres_per_unit {
        character.metres_per_unit = metres_per_unit;
    }
    Ok(character)
}

/// Puts what is said of the flesh beside the files in place of what is said there already.
pub(super) fn say(source: &Source, skeleton: &Skeleton, flesh: &mut FleshSettings) -> Result<(), OpenError> {
    if source.sim_vertices != SimVertices::default() {
        flesh.sim_vertices = source.sim_vertices;
    }
    let joint_of = |name: &str| skeleton.find_or_suggest(name).map_err(|error| OpenError::Joint { file: source.to_string(), error });
    for (name, radius) in &source.bone_radii {
        flesh.radii.insert(joint_of(name)?, *radius);
    }
    for (name, edit) in &source.bones {
        let edited = flesh.bones.entry(joint_of(name)?).or_default().edit(edit);
        edited.map_err(|error| OpenError::Bone { file: source.to_string(), joint: name.clone(), error })?;
    }
    for (name, text) in &source.parts {
        let place = Place::parse(text, skeleton).map_err(|error| OpenError::Part { file: source.to_string(), error })?;
        flesh.parts.insert(name.clone(), place);
    }
    Ok(())
}
