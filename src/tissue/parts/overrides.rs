//! Look-up of the user's overrides.

use super::{PartError, PartMap, Parts, Place};

impl Parts {
    /// The user's override for part `index`: by the part's name, else by its number, else by its source mesh.
    pub(super) fn override_for(&self, overrides: &PartMap, index: usize) -> Option<Place> {
        let part = &self.parts[index];
        [part.name.as_str(), &index.to_string(), &part.mesh]
            .into_iter()
            .find_map(|key| overrides.get(key))
            .copied()
    }

    /// Checks that a part, a source mesh or a number with this name exists.
    ///
    /// # Errors
    /// [`PartError::UnknownPart`].
    pub fn check_name(&self, name: &str) -> Result<(), PartError> {
        let by_number = name
            .parse::<usize>()
            .is_ok_and(|index| index < self.parts.len());
        if by_number
            || self
                .parts
                .iter()
                .any(|part| part.name == name || part.mesh == name)
        {
            return Ok(());
        }
        let lower = name.to_lowercase();
        let alike =
            |part: &&super::SkinComponent| strsim::jaro_winkler(&part.name.to_lowercase(), &lower);
        let nearest = self
            .parts
            .iter()
            .max_by(|a, b| alike(a).total_cmp(&alike(b)))
            .filter(|part| alike(part) > 0.6);
        Err(PartError::UnknownPart {
            name: name.to_owned(),
            nearest: nearest.map(|part| part.name.clone()),
        })
    }
}
