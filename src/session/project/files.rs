//! The character of files that are no projects.

use super::OpenError;
use crate::character::{Character, FleshSettings, Place, SimVertices};
use crate::io::{self, IoError};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::session::Source;

/// Reads the character of files that are no projects, without what is said of its flesh.
pub(super) fn load_files(source: &Source, progress: &Progress) -> Result<Character, OpenError> {
    let failed = |error| match error {
        IoError::Cancelled(cancelled) => OpenError::Cancelled(cancelled),
        error => OpenError::Load(error),
    };
    let mapping = source
        .mapping
        .as_deref()
        .map(io::read_mapping)
        .transpose()
        .map_err(failed)?;
    let mut character = io::load_with(&source.files, mapping.as_ref(), progress).map_err(failed)?;
    if let Some(metres_per_unit) = source.metres_per_unit {
        character.metres_per_unit = metres_per_unit;
    }
    Ok(character)
}

/// Puts what is said of the flesh beside the files in place of what is said there already.
pub(super) fn say(
    source: &Source,
    skeleton: &Skeleton,
    flesh: &mut FleshSettings,
) -> Result<(), OpenError> {
    if source.sim_vertices != SimVertices::default() {
        flesh.sim_vertices = source.sim_vertices;
    }
    flesh.base = source.flesh_base.unwrap_or(flesh.base);
    let joint_of = |name: &str| {
        skeleton
            .find_or_suggest(name)
            .map_err(|error| OpenError::Joint {
                file: source.to_string(),
                error,
            })
    };
    for (name, radius) in &source.bone_radii {
        flesh.radii.insert(joint_of(name)?, *radius);
    }
    for (name, edit) in &source.bones {
        let edited = flesh.bones.entry(joint_of(name)?).or_default().edit(edit);
        edited.map_err(|error| OpenError::Bone {
            file: source.to_string(),
            joint: name.clone(),
            error,
        })?;
    }
    for (name, text) in &source.parts {
        let place = Place::parse(text, skeleton).map_err(|error| OpenError::Part {
            file: source.to_string(),
            error,
        })?;
        flesh.parts.insert(name.clone(), place);
    }
    Ok(())
}
