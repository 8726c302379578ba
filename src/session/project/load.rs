//! From a source to a character, without a session.

use std::collections::BTreeMap;

use super::{Loaded, OpenError, load_all};
use crate::cache::Cache;
use crate::character::Character;
use crate::progress::Progress;
use crate::session::Source;

/// Reads the character. A project (`.sinew`) among the files stands for the files that it was saved with, and for what it says of the
/// flesh.
///
/// # Errors
/// [`OpenError`]: one sentence with the file, the place and what to do.
pub fn load(source: &Source, progress: &Progress) -> Result<Character, OpenError> {
    let Loaded {
        character, project, ..
    } = load_all(source, &Cache::none(), &BTreeMap::new(), progress)?;
    let Some(restored) = project.map(|project| project.restored) else {
        return Ok(character);
    };
    let mut character = match &restored.rig {
        Some(rig) => character
            .with_rig(rig)
            .map_err(|error| OpenError::Unusable {
                file: source.to_string(),
                error: error.into(),
            })?,
        None => character,
    };
    character
        .clips
        .extend(restored.takes.iter().map(|take| take.clip().clone()));
    Ok(Character {
        flesh: restored.flesh,
        ..character
    })
}
