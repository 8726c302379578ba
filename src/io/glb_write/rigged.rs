//! Writes a character with skin weights for game engines.
//!
//! If the character's document contains the skeleton, only weights, inverse bind matrices (as
//! repaired by the reader) and normals that are not unit length are rewritten, and clips from
//! further files are appended. If the skeleton comes from another file, joints and skin are added
//! to the document and its meshes are bound in place ([`in_document`]). Without a document the file
//! is made by [`fresh`](super::fresh).

mod in_document;

use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject};
use super::fresh;
use super::{GlbWriteError, in_memory};
use crate::character::{Attachment, Character, SourceDocument, SpringJoint, common_placement};
use crate::io::gltf::bones::KEY;
use crate::math::Affine;
use crate::weights::decomposition::DriverRecord;
use crate::weights::{RefitReport, SkinWeights, refit_influences};

/// Maximum number of influences per vertex in the output: the maximum of the reader.
pub const MOST_INFLUENCES: usize = 64;

/// A character with its skeleton, skin weights and clips as the bytes of a `.glb` file. Meshes
/// that a skeleton moves get the weights of `chosen` (one entry per mesh, in order) where there are
/// any, in place of their own. Of each vertex the `influences` largest weights are kept and normalised.
/// Lengths are metres ([`Character::export_metres_per_unit`]), except in a kept document, which is in
/// metres by the standard.
///
/// # Errors
/// [`GlbWriteError`].
pub fn write_rigged_glb(
    character: &Character,
    chosen: &[Option<SkinWeights>],
    influences: usize,
) -> Result<Vec<u8>, GlbWriteError> {
    write_refitted_glb(character, chosen, influences, &[]).map(|(bytes, _)| bytes)
}

/// As [`write_rigged_glb`], with the drivers of its helper joints and correctives in the extras of the document: `sinew.drivers`, whose
/// translations are in units of `sinew.metres_per_unit`; and with its springs as `VRMC_springBone`.
///
/// # Errors
/// [`GlbWriteError`].
pub fn write_driven_glb(
    character: &Character,
    influences: usize,
    drivers: &[DriverRecord],
    springs: &[SpringJoint],
) -> Result<Vec<u8>, GlbWriteError> {
    let (mut draft, _) = draft_of(character, &[], influences, &[])?;
    let metres = match kept_document(character) {
        Some(_) => 1.0,
        None => character.export_metres_per_unit(),
    };
    let mut extras = match draft.tree.get("extras") {
        Some(Value::Object(extras)) => extras.clone(),
        _ => JsonObject::new(),
    };
    let own = json!({"metres_per_unit": metres, "drivers": drivers});
    extras.insert(KEY.to_owned(), own);
    draft
        .tree
        .insert("extras".to_owned(), Value::Object(extras));
    draft.write_springs(character, springs, metres);
    in_memory(&draft.seal()?)
}

/// As [`write_rigged_glb`], but vertices that lose influences get the weights that are nearest to all of them in the given poses, each
/// the transforms of all joints; also says what is lost, in the character's units.
///
/// # Errors
/// [`GlbWriteError`].
pub fn write_refitted_glb(
    character: &Character,
    chosen: &[Option<SkinWeights>],
    influences: usize,
    world_from_joint: &[Vec<Affine>],
) -> Result<(Vec<u8>, RefitReport), GlbWriteError> {
    let (draft, report) = draft_of(character, chosen, influences, world_from_joint)?;
    Ok((in_memory(&draft.seal()?)?, report))
}

/// The document, not yet sealed, and what is lost by the limit of influences.
fn draft_of(
    character: &Character,
    chosen: &[Option<SkinWeights>],
    influences: usize,
    world_from_joint: &[Vec<Affine>],
) -> Result<(GlbDraft, RefitReport), GlbWriteError> {
    if character.skeleton.is_empty() {
        return Err(GlbWriteError::NoSkeleton);
    }
    let (bound, report) = bound_and_limited(character, chosen, influences, world_from_joint)?;
    let mut draft = match kept_document(character) {
        None => {
            let metres = character.export_metres_per_unit();
            if metres == 1.0 {
                fresh::whole(&bound)?
            } else {
                fresh::whole(&bound.scaled(metres))?
            }
        }
        Some(document) => {
            let mut draft = GlbDraft::of(document)?;
            draft.repair();
            if document.joint_nodes.is_empty() || document.rig_replaced {
                draft.add_rig(&bound, document);
            } else {
                draft.keep_rig(&bound, document);
            }
            draft
        }
    };
    draft.write_weight_source(character);
    draft.subdivide_rotations();
    Ok((draft, report))
}

/// The character with its final weights, of at most `influences` joints a vertex, and what is lost by that.
pub(in crate::io) fn bound_and_limited(
    character: &Character,
    chosen: &[Option<SkinWeights>],
    influences: usize,
    world_from_joint: &[Vec<Affine>],
) -> Result<(Character, RefitReport), GlbWriteError> {
    let mut bound = bound(character, chosen)?;
    let most = influences.clamp(1, MOST_INFLUENCES);
    let report = limit(&mut bound, most, world_from_joint);
    Ok((bound, report))
}

/// Limits the influences of all vertices.
fn limit(
    bound: &mut Character,
    influences: usize,
    world_from_joint: &[Vec<Affine>],
) -> RefitReport {
    let mut whole = RefitReport::default();
    for mesh in &mut bound.meshes {
        let Attachment::Skinned {
            weights,
            joint_from_mesh,
        } = &mut mesh.attachment
        else {
            continue;
        };
        let of_mesh = |world: &Vec<Affine>| {
            let joints = world.iter().zip(&*joint_from_mesh);
            joints.map(|(world, joint)| world * joint).collect()
        };
        let poses: Vec<Vec<Affine>> = world_from_joint.iter().map(of_mesh).collect();
        let (fewer, report) = refit_influences(weights, &mesh.positions, &poses, influences);
        *weights = fewer;
        whole = whole.with(&report);
    }
    whole
}

/// Whether [`write_rigged_glb`] omits cameras, extras, and material properties other than colour,
/// texture and transparency. This is the case on an edited skeleton with rigid props: the joints
/// that placed the props no longer exist, so the document is made from scratch.
#[must_use]
pub fn loses_materials(character: &Character) -> bool {
    character.document.is_some() && kept_document(character).is_none()
}

/// The document into which the rig can be written.
fn kept_document(character: &Character) -> Option<&Arc<SourceDocument>> {
    let document = character
        .document
        .as_ref()
        .filter(|document| document.meshes.len() == character.meshes.len());
    document.filter(|document| !(document.rig_replaced && has_props(character)))
}

fn has_props(character: &Character) -> bool {
    character.meshes.iter().any(|mesh| {
        matches!(
            mesh.attachment,
            Attachment::Rigid { .. } | Attachment::Static { .. }
        )
    })
}

/// The character with its final weights, of any number of influences.
fn bound(
    character: &Character,
    chosen: &[Option<SkinWeights>],
) -> Result<Character, GlbWriteError> {
    let mut bound = character.clone();
    let from_bind = |joint: &crate::rig::Joint| {
        joint
            .world_from_bind
            .try_inverse()
            .unwrap_or_else(Affine::identity)
    };
    let joint_from_world: Vec<Affine> = character.skeleton.joints().iter().map(from_bind).collect();
    for (index, mesh) in bound.meshes.iter_mut().enumerate() {
        let chosen = chosen.get(index).and_then(Option::as_ref);
        match (&mut mesh.attachment, chosen) {
            (
                Attachment::Skinned {
                    weights,
                    joint_from_mesh,
                },
                Some(chosen),
            ) => {
                // Joints that the file's skin does not use have no matrix of their own for this mesh.
                let world_from_mesh = common_placement(&character.skeleton, weights, joint_from_mesh)
                    .ok_or_else(|| GlbWriteError::Inconsistent {
                        mesh: mesh.name.clone(),
                        what: "its inverse bind matrices disagree, so that only the weights of the file fit it",
                    })?;
                for (matrix, joint_from_world) in joint_from_mesh.iter_mut().zip(&joint_from_world)
                {
                    *matrix = joint_from_world * world_from_mesh;
                }
                weights.clone_from(chosen);
            }
            (attachment @ Attachment::Unweighted, Some(chosen)) => {
                *attachment = Attachment::Skinned {
                    weights: chosen.clone(),
                    joint_from_mesh: joint_from_world.clone(),
                };
            }
            _ => {}
        }
    }
    Ok(bound)
}

#[cfg(test)]
mod tests;
