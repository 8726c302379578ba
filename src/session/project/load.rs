//! Loads a character from a source, without a session.

use std::collections::BTreeMap;

use super::{Loaded, SourceError, load_all};
use crate::cache::Cache;
use crate::character::Character;
use crate::progress::Progress;
use crate::session::Source;

/// Reads the character. A project (`.sinew`) among the files is replaced by the files it refers to and by its settings of the
/// flesh.
///
/// # Errors
/// [`SourceError`]: one sentence with file, position and remedy.
pub fn load(source: &Source, progress: &Progress) -> Result<Character, SourceError> {
    let Loaded {
        character, project, ..
    } = load_all(source, &Cache::none(), &BTreeMap::new(), progress)?;
    let Some(restored) = project.map(|project| project.restored) else {
        return Ok(character);
    };
    let character = match &restored.rig {
        Some(rig) => character
            .with_rig(rig)
            .map_err(|error| SourceError::Unusable {
                file: source.to_string(),
                error: error.into(),
            })?,
        None => character,
    };
    let mut character = super::motions::chosen_or_noted(&character, &restored.motions, progress)?;
    character
        .clips
        .extend(restored.takes.iter().map(|take| take.clip().clone()));
    Ok(Character {
        flesh: restored.flesh,
        ..character
    })
}
