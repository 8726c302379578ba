//! Writes a character with skin weights for game engines.
//!
//! If the character's document contains the skeleton, only weights, inverse bind matrices (as
//! repaired by the reader) and normals that are not unit length are rewritten, and clips from
//! further files are appended. If the skeleton comes from another file, joints and skin are added
//! to the document and its meshes are bound in place. Without a document the file is made by
//! [`fresh`](super::fresh).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, set};
use super::fresh::{self, is_unit};
use super::targets::TargetNode;
use super::{GlbWriteError, in_memory};
use crate::character::{
    Attachment, Character, SourceDocument, SourceMesh, SpringJoint, common_placement,
};
use crate::io::gltf::bones::KEY;
use crate::math::{Affine, Point, Vec3};
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

/// A node and its mesh, and of each source mesh there its index and its primitive.
type NodePrimitives = ((usize, usize), Vec<(usize, usize)>);

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

/// Unit normals of a mesh of the document, whose triangles the reader turned over where its place mirrors it.
fn normals_in_mesh(mesh: &SourceMesh, turned: bool) -> Option<Vec<Vec3>> {
    let mut normals = fresh::normals_of(mesh)?;
    if turned && mesh.normals.is_none() {
        for normal in &mut normals {
            *normal = -*normal;
        }
    }
    Some(normals)
}

impl GlbDraft {
    /// Uses the document's own skeleton, skins and meshes, with weights and matrices as the reader
    /// interpreted them.
    fn keep_rig(&mut self, character: &Character, document: &Arc<SourceDocument>) {
        let joint_nodes = &document.joint_nodes;
        self.joint_nodes.clone_from(joint_nodes);
        let (mut done_meshes, mut done_skins) = (HashSet::new(), HashSet::new());
        for (mesh, source) in character.meshes.iter().zip(&document.meshes) {
            let node = &self.list("nodes")[source.node];
            let (Some(at), skin) = (node["mesh"].as_u64(), node["skin"].as_u64()) else {
                continue;
            };
            // A mesh shared by several nodes is the same for all of them.
            if !done_meshes.insert((at, source.primitive)) {
                continue;
            }
            let mut attributes = self
                .attributes(at as usize, source.primitive)
                .cloned()
                .unwrap_or_default();
            let is_kept = attributes.contains_key("NORMAL")
                && (mesh.normals.as_ref()).is_some_and(|normals| normals.iter().all(is_unit));
            if !is_kept {
                // Missing and degenerate normals are replaced: by the standard a viewer would draw flat triangles.
                match normals_in_mesh(mesh, source.turned) {
                    Some(normals) => {
                        attributes.insert("NORMAL".to_owned(), json!(self.vectors(&normals)))
                    }
                    None => attributes.remove("NORMAL"),
                };
            }
            if let (
                Attachment::Skinned {
                    weights,
                    joint_from_mesh,
                },
                Some(skin),
            ) = (&mesh.attachment, skin)
            {
                self.keep_skin(
                    skin as usize,
                    weights,
                    joint_from_mesh,
                    joint_nodes,
                    &mut attributes,
                    &mut done_skins,
                );
            }
            if let Some(written) = self.attributes_mut(at as usize, source.primitive) {
                *written = attributes;
            }
        }
        self.write_bone_settings(character, joint_nodes);
        let targets = self.kept_targets(character, document);
        for clip in character.clips.iter().skip(document.clips) {
            self.clip(character, clip, joint_nodes, &targets);
        }
    }

    fn keep_skin(
        &mut self,
        skin: usize,
        weights: &SkinWeights,
        joint_from_mesh: &[Affine],
        joint_nodes: &[usize],
        attributes: &mut JsonObject,
        done: &mut HashSet<usize>,
    ) {
        let mut listed: Vec<usize> = self.list("skins")[skin]["joints"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .map(|n| n as usize)
            .collect();
        // Weights that are not the file's may need joints that its skin does not list.
        let of_file = listed.len();
        for &joint in &weights.joints {
            let node = joint_nodes[joint as usize];
            if !listed.contains(&node) {
                listed.push(node);
            }
        }
        let is_longer = listed.len() > of_file;
        if is_longer {
            set(&mut self.list_mut("skins")[skin], "joints", json!(listed));
        }
        let mut place_of = vec![0_u16; joint_nodes.len()];
        let mut matrices = vec![Affine::identity(); listed.len()];
        for (joint, node) in joint_nodes.iter().enumerate() {
            for (place, _) in listed
                .iter()
                .enumerate()
                .filter(|(_, listed)| *listed == node)
            {
                place_of[joint] = place as u16;
                matrices[place] = joint_from_mesh[joint];
            }
        }
        attributes.retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
        self.weights(weights, listed.len(), |joint| place_of[joint], attributes);
        let has_matrices = !self.list("skins")[skin]["inverseBindMatrices"].is_null();
        if (done.insert(skin) && has_matrices) || is_longer {
            let matrices = self.matrices(&matrices);
            set(
                &mut self.list_mut("skins")[skin],
                "inverseBindMatrices",
                json!(matrices),
            );
        }
    }

    /// Replaces the document's skeleton by another one, or adds one: its joints become new roots,
    /// and the meshes are bound at their world positions.
    fn add_rig(&mut self, character: &Character, document: &Arc<SourceDocument>) {
        let moved = |mesh: &&SourceMesh| matches!(mesh.attachment, Attachment::Skinned { .. });
        let (sources, meshes): (Vec<_>, Vec<_>) = document
            .meshes
            .iter()
            .zip(character.meshes.iter().enumerate())
            .filter(|(_, (_, mesh))| moved(mesh))
            .map(|(source, mesh)| (*source, mesh))
            .unzip();
        let places = self.relocate(&sources);
        let mut roots = places.iter().map(|place| place.node).collect::<Vec<_>>();
        roots.dedup();
        let joint_nodes = self.skeleton(&character.skeleton, &mut roots);
        if document.rig_replaced {
            let of_meshes = sources.iter().zip(&places);
            let meshes = of_meshes.map(|(source, place)| (source.node, place.node));
            self.follow_nodes(
                &self.successors(character, document, &joint_nodes),
                &meshes.collect(),
            );
            self.drop_joints(&document.joint_nodes);
        }
        self.write_bone_settings(character, &joint_nodes);
        self.roots_first(&roots);
        let mut skins: Vec<(&[Affine], usize)> = Vec::new();
        let mut primitives: Vec<NodePrimitives> = Vec::new();
        for (((index, mesh), source), place) in meshes.into_iter().zip(&sources).zip(places) {
            let Attachment::Skinned {
                weights,
                joint_from_mesh,
            } = &mesh.attachment
            else {
                continue;
            };
            let positions = character.positions_without_morphs(index);
            self.set_base(
                place.mesh,
                place.primitive,
                (mesh, &positions),
                source.turned,
            );
            let (of_node, own) = ((place.node, place.mesh), (index, place.primitive));
            match primitives.last_mut().filter(|(node, _)| *node == of_node) {
                Some((_, all)) => all.push(own),
                None => primitives.push((of_node, vec![own])),
            }
            let mut attributes = self
                .attributes(place.mesh, place.primitive)
                .cloned()
                .unwrap_or_default();
            self.weights(
                weights,
                character.skeleton.len(),
                |joint| joint as u16,
                &mut attributes,
            );
            if let Some(written) = self.attributes_mut(place.mesh, place.primitive) {
                *written = attributes;
            }
            let known = skins
                .iter()
                .find(|(bound, _)| bound == joint_from_mesh)
                .map(|&(_, skin)| skin);
            let skin = known.unwrap_or_else(|| self.skin(joint_from_mesh, &joint_nodes));
            skins.push((joint_from_mesh, skin));
            set(&mut self.list_mut("nodes")[place.node], "skin", json!(skin));
        }
        let targets: Vec<TargetNode> = primitives
            .iter()
            .filter_map(|(node, own)| self.write_targets(character, *node, own))
            .collect();
        for clip in &character.clips {
            self.clip(character, clip, &joint_nodes, &targets);
        }
    }

    /// For each node of a joint of the document, the new node of the joint of that name.
    fn successors(
        &self,
        character: &Character,
        document: &SourceDocument,
        joint_nodes: &[usize],
    ) -> HashMap<usize, usize> {
        let new = |&old: &usize| {
            let name = self.list("nodes").get(old)?["name"].as_str()?;
            Some((old, joint_nodes[character.skeleton.find(name)?]))
        };
        document.joint_nodes.iter().filter_map(new).collect()
    }

    /// World positions and normals of a mesh that has become a root.
    fn set_base(
        &mut self,
        mesh: usize,
        primitive: usize,
        (source, positions): (&SourceMesh, &[Point]),
        turned: bool,
    ) {
        let positions = self.positions(positions);
        let normals = fresh::normals_of(source).map(|normals| self.vectors(&normals));
        if turned {
            self.turn(mesh, primitive, source);
        }
        let Some(attributes) = self.attributes_mut(mesh, primitive) else {
            return;
        };
        attributes.insert("POSITION".to_owned(), json!(positions));
        match normals {
            Some(normals) => attributes.insert("NORMAL".to_owned(), json!(normals)),
            None => attributes.remove("NORMAL"),
        };
    }

    /// Writes the triangles with their orientation in world space.
    pub(super) fn turn(&mut self, mesh: usize, primitive: usize, source: &SourceMesh) {
        let corners = self.corners(&source.triangles, source.positions.len());
        let Some(written) =
            self.list_mut("meshes")[mesh].pointer_mut(&format!("/primitives/{primitive}"))
        else {
            return;
        };
        set(written, "indices", json!(corners));
        set(written, "mode", json!(4));
    }

    pub(super) fn attributes(&self, mesh: usize, primitive: usize) -> Option<&JsonObject> {
        self.list("meshes")
            .get(mesh)?
            .pointer(&format!("/primitives/{primitive}/attributes"))?
            .as_object()
    }

    pub(super) fn attributes_mut(
        &mut self,
        mesh: usize,
        primitive: usize,
    ) -> Option<&mut JsonObject> {
        self.list_mut("meshes")
            .get_mut(mesh)?
            .pointer_mut(&format!("/primitives/{primitive}/attributes"))?
            .as_object_mut()
    }
}

#[cfg(test)]
mod tests;
