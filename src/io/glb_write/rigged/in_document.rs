//! Writes skin weights into the document that a character was read from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::character::{Attachment, Character, SourceDocument, SourceMesh};
use crate::io::glb_write::draft::{GlbDraft, JsonObject, set};
use crate::io::glb_write::fresh::{self, is_unit};
use crate::io::glb_write::targets::TargetNode;
use crate::math::{Affine, Point, Vec3};
use crate::weights::SkinWeights;

/// A node and its mesh, and of each source mesh there its index and its primitive.
type NodePrimitives = ((usize, usize), Vec<(usize, usize)>);

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
    pub(super) fn keep_rig(&mut self, character: &Character, document: &Arc<SourceDocument>) {
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
    pub(super) fn add_rig(&mut self, character: &Character, document: &Arc<SourceDocument>) {
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
    pub(in crate::io::glb_write) fn turn(
        &mut self,
        mesh: usize,
        primitive: usize,
        source: &SourceMesh,
    ) {
        let corners = self.corners(&source.triangles, source.positions.len());
        let Some(written) =
            self.list_mut("meshes")[mesh].pointer_mut(&format!("/primitives/{primitive}"))
        else {
            return;
        };
        set(written, "indices", json!(corners));
        set(written, "mode", json!(4));
    }

    pub(in crate::io::glb_write) fn attributes(
        &self,
        mesh: usize,
        primitive: usize,
    ) -> Option<&JsonObject> {
        self.list("meshes")
            .get(mesh)?
            .pointer(&format!("/primitives/{primitive}/attributes"))?
            .as_object()
    }

    pub(in crate::io::glb_write) fn attributes_mut(
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
