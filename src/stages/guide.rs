//! The guide of the flesh: the skin's weights, by vertex of any mesh made of it.

use super::subject::Subject;
use crate::character::Attachment;
use crate::tissue::Guide;
use crate::weights::{SkinWeights, by_distance};

impl Subject {
    /// The weights of every vertex of the welded skin; nobody goes without. Waits until they are computed.
    #[must_use]
    pub fn skin_weights(&self) -> SkinWeights {
        let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.skin.mesh.positions.len()];
        let mut source = 0;
        for (index, mesh) in self.character.meshes.iter().enumerate() {
            let weights = self.weights_of_mesh(index);
            for vertex in 0..mesh.positions.len() {
                let skin = self.skin.skin_from_source[source];
                source += 1;
                let Some(row) = skin.map(|skin| &mut rows[skin as usize]) else {
                    continue;
                };
                if !row.is_empty() {
                    continue;
                }
                *row = match (&mesh.attachment, weights) {
                    (_, Some(weights)) => weights.row(vertex),
                    (Attachment::Rigid { joint, .. }, _) => vec![(*joint as u32, 1.0)],
                    _ => Vec::new(),
                };
            }
        }
        let (weights, without) = SkinWeights::from_rows(rows);
        if without.is_empty() {
            return weights;
        }
        let by_distance = by_distance(&self.skin.mesh, &self.character.skeleton);
        let rows = (0..weights.len()).map(|vertex| match weights.strongest(vertex) {
            Some(_) => weights.row(vertex),
            None => by_distance.row(vertex),
        });
        SkinWeights::from_rows(rows).0
    }

    /// The guide of these vertices of the welded skin; `None` if there is no flesh, or its base follows the bones. Waits until flesh and
    /// weights are made.
    #[must_use]
    pub fn guide_of(&self, vertices: &[u32]) -> Option<Guide> {
        self.flesh().ok()?.tissue.bending.as_ref()?;
        let weights = self.skin_weights().of_some(vertices);
        Some(Guide::new(weights, &self.character.skeleton))
    }
}
