//! How much memory a subject takes beside its character.

use super::Subject;

/// Bytes of the flesh per tetrahedron: rest matrices, rows of the system, and its part of the factor.
const PER_TET: u64 = 1000;

impl Subject {
    /// Identifies what [`Self::bytes`] counts: subjects with the same key share it.
    #[must_use]
    pub fn bytes_key(&self) -> usize {
        std::sync::Arc::as_ptr(&self.stages.flesh) as usize
    }

    /// Bytes of what was made of the character so far, approximately; without the character itself
    /// ([`Character::bytes`](crate::character::Character::bytes)) and the subject it is based on.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let skin = &self.skin.mesh;
        let lists = size_of_val(&self.bind_positions[..])
            + size_of_val(&skin.positions[..])
            + size_of_val(&skin.triangles[..]);
        let tets = match self.flesh_if_made() {
            Some(Ok(flesh)) => flesh
                .tissue
                .layers
                .iter()
                .map(|layer| layer.tets.len())
                .sum(),
            _ => 0_usize,
        };
        lists as u64 + tets as u64 * PER_TET
    }
}
