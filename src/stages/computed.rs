//! Detects weights in a file that Sinew computed from the joints when it wrote the file.
//!
//! If they equal the weights that would be computed now, they are dropped when the file is opened. The flesh is then
//! the same as before writing, and weights are recomputed when joints move. Weights that were edited since are kept.

use std::sync::Arc;

use super::body::weights_of_file;
use super::source_weights::on_bind_pose;
use crate::cache::Cache;
use crate::character::{Attachment, Character};
use crate::mesh::SkinMesh;
use crate::progress::{Cancelled, Progress};
use crate::weights::{Memo, SkinWeights, WeightMethod, by_distance};

/// Tolerance for equal weights: files may store them as bytes.
const WEIGHT_TOLERANCE: f32 = 0.01;
/// Maximum share of vertices that may differ by more: those that a reader has merged.
const MAX_DIFFERING_SHARE: f64 = 0.002;

/// The automatic weights of earlier versions, which did not spread them.
const EARLIER: &str = "biharmonic:spread=0";

/// Drops the file's weights if they are computed ones: automatic ones, or those that earlier versions computed.
///
/// # Errors
/// [`Cancelled`].
pub(super) fn drop_computed_weights(
    character: Arc<Character>,
    skin: &SkinMesh,
    cache: &Cache,
    progress: &Progress,
) -> Result<Arc<Character>, Cancelled> {
    if !character.computed_weights {
        return Ok(character);
    }
    let is_in_bind_pose = character.meshes.iter().all(|mesh| match &mesh.attachment {
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
    let Some(of_file) = weights_of_file(&character, skin).filter(|_| is_in_bind_pose) else {
        return Ok(character);
    };
    let (mesh, skeleton) = (&skin.mesh, &character.skeleton);
    let memo = Memo::default();
    let automatic = [
        Some(WeightMethod::AUTOMATIC),
        WeightMethod::from_id(EARLIER).ok(),
    ];
    let mut is_computed = are_equal(&of_file, &by_distance(mesh, skeleton));
    for method in automatic.into_iter().flatten() {
        if !is_computed {
            let computed = on_bind_pose((mesh, skeleton), method, &memo, cache, progress)?;
            is_computed = are_equal(&of_file, &computed.weights);
        }
    }
    if !is_computed {
        return Ok(character);
    }
    let mut made = (*character).clone();
    for mesh in made
        .meshes
        .iter_mut()
        .filter(|mesh| matches!(mesh.attachment, Attachment::Skinned { .. }))
    {
        mesh.attachment = Attachment::Unweighted;
    }
    Ok(Arc::new(made))
}

fn are_equal(a: &SkinWeights, b: &SkinWeights) -> bool {
    let differs = |vertex: &usize| {
        let differ = |(joint, weight): (usize, f32), other: &SkinWeights| {
            let there = other
                .of(*vertex)
                .find(|&(j, _)| j == joint)
                .map_or(0.0, |(_, weight)| weight);
            (weight - there).abs() > WEIGHT_TOLERANCE
        };
        a.of(*vertex).any(|entry| differ(entry, b)) || b.of(*vertex).any(|entry| differ(entry, a))
    };
    a.len() == b.len()
        && (0..a.len()).filter(differs).count() as f64 <= MAX_DIFFERING_SHARE * a.len() as f64
}
