//! Reads a character from files that are not projects.

use super::SourceError;
use crate::character::{
    Character, FleshSettings, MOST_MUSCLES, MuscleEditError, MuscleText, Place, SimVertices,
};
use crate::io::{self, IoError};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::session::Source;

/// Reads the character from its files, without settings of the flesh that the source gives.
pub(super) fn load_files(source: &Source, progress: &Progress) -> Result<Character, SourceError> {
    let failed = |error| match error {
        IoError::Cancelled(cancelled) => SourceError::Cancelled(cancelled),
        error => SourceError::Load(error),
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
        character.declared_metres_per_unit = None;
    }
    Ok(character)
}

/// Lets settings of the flesh in the source override those of the character.
pub(super) fn apply_flesh_settings(
    source: &Source,
    skeleton: &Skeleton,
    flesh: &mut FleshSettings,
) -> Result<(), SourceError> {
    if source.sim_vertices != SimVertices::default() {
        flesh.sim_vertices = source.sim_vertices;
    }
    flesh.base = source.flesh_base.unwrap_or(flesh.base);
    let joint_of = |name: &str| {
        skeleton
            .find_or_suggest(name)
            .map_err(|error| SourceError::Joint {
                file: source.to_string(),
                error,
            })
    };
    for (name, radius) in &source.bone_radii {
        flesh.radii.insert(joint_of(name)?, *radius);
    }
    for (name, edit) in &source.bones {
        let edited = flesh.bones.entry(joint_of(name)?).or_default().edit(edit);
        edited.map_err(|error| SourceError::Bone {
            file: source.to_string(),
            joint: name.clone(),
            error,
        })?;
    }
    add_muscles(source, skeleton, flesh).map_err(|error| SourceError::Muscle {
        file: source.to_string(),
        error,
    })?;
    for (name, text) in &source.parts {
        let place = Place::parse(text, skeleton).map_err(|error| SourceError::Part {
            file: source.to_string(),
            error,
        })?;
        flesh.parts.insert(name.clone(), place);
    }
    Ok(())
}

/// Adds the muscles of the source; one of the same name is replaced.
fn add_muscles(
    source: &Source,
    skeleton: &Skeleton,
    flesh: &mut FleshSettings,
) -> Result<(), MuscleEditError> {
    for text in &source.muscles {
        let muscle = MuscleText::parse(text)?.on(skeleton)?;
        match flesh.muscles.iter_mut().find(|of| of.name == muscle.name) {
            Some(of) => *of = muscle,
            None => flesh.muscles.push(muscle),
        }
    }
    let (count, most) = (flesh.muscles.len(), MOST_MUSCLES);
    if count > most {
        return Err(MuscleEditError::TooMany { count, most });
    }
    Ok(())
}
