//! Detects weights in a file that were computed from its joints when it was written.
//!
//! If they equal what would be computed now, they are dropped when the file is opened, so that the flesh is the same as
//! before writing, and weights are computed again when joints move. Weights that were edited since are kept.

use std::sync::Arc;

use super::body::weights_of_file;
use crate::character::{Attachment, Character};
use crate::mesh::SkinMesh;
use crate::weights::{SkinWeights, by_distance};

/// Tolerance of equal weights: files may store them as bytes.
const SAME: f32 = 0.01;
/// Fraction of the vertices that may differ by more: those that a reader has merged.
const FEW: f64 = 0.002;

/// The character without the file's weights if those are computed ones.
pub(super) fn forget_computed(character: Arc<Character>, skin: &SkinMesh) -> Arc<Character> {
    if !character.computed_weights {
        return character;
    }
    let stand = character.meshes.iter().all(|mesh| match &mesh.attachment {
        Attachment::Skinned { .. } => mesh
            .bind_positions(&character.skeleton)
            .iter()
            .zip(&mesh.positions)
            .all(|(bind, as_read)| {
                let rounding = 1e-5 * (1.0 + as_read.coords.amax());
                (bind - as_read).amax() <= rounding
            }),
        _ => true,
    });
    let computed = || by_distance(&skin.mesh, &character.skeleton);
    if !stand
        || !weights_of_file(&character, skin)
            .is_some_and(|weights| are_alike(&weights, &computed()))
    {
        return character;
    }
    let mut made = (*character).clone();
    for mesh in made
        .meshes
        .iter_mut()
        .filter(|mesh| matches!(mesh.attachment, Attachment::Skinned { .. }))
    {
        mesh.attachment = Attachment::Unweighted;
    }
    Arc::new(made)
}

fn are_alike(a: &SkinWeights, b: &SkinWeights) -> bool {
    let differs = |vertex: &usize| {
        let apart = |(joint, weight): (usize, f32), other: &SkinWeights| {
            let there = other
                .of(*vertex)
                .find(|&(j, _)| j == joint)
                .map_or(0.0, |(_, weight)| weight);
            (weight - there).abs() > SAME
        };
        a.of(*vertex).any(|entry| apart(entry, b)) || b.of(*vertex).any(|entry| apart(entry, a))
    };
    a.len() == b.len() && (0..a.len()).filter(differs).count() as f64 <= FEW * a.len() as f64
}
