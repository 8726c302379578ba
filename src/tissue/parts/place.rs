//! What the user says about parts, looked up.

use super::{PartError, PartMap, Parts, Place};

impl Parts {
    /// What the user said about part `index`: about the part itself before its number before its source mesh.
    pub(super) fn said(&self, overrides: &PartMap, index: usize) -> Option<Place> {
        let part = &self.parts[index];
        [part.name.as_str(), &index.to_string(), &part.mesh]
            .into_iter()
            .find_map(|key| overrides.get(key))
            .copied()
    }

    /// Checks that there is something of that name: a part, a source mesh or a number.
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
