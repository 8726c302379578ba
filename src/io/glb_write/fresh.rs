//! Documents made from a character alone, without a source document.
//!
//! One node per joint (and one more above it where the character has a constant transform there),
//! one node per source mesh, one skin for all meshes with equal inverse bind matrices. Positions
//! and weights are written as `f32` without loss, in as many sets of four influences as needed, so
//! that a character round-trips.
//!
//! Readers visit meshes depth-first from the roots. To keep the mesh order, meshes before the first
//! rigid prop become roots before the skeleton, props become children of their joints, and later
//! meshes become roots after it.

use std::io::Cursor;

use serde_json::{Value, json};

use super::GlbWriteError;
use super::blocks::{ElementShape, matrix};
use super::draft::{GlbDraft, JsonObject, ViewUse};
use super::targets::TargetNode;
use crate::character::{Attachment, Character, Image, Material, SourceMesh};
use crate::math::{Affine, Point, Quat, Vec3, Vec64};
use crate::mesh::{Bounds, NormalGroups};
use crate::rig::{Skeleton, Trs};

/// The whole character.
pub(super) fn whole(character: &Character) -> Result<GlbDraft, GlbWriteError> {
    let mut writer = CharacterWriter {
        draft: GlbDraft::new(),
        first: Vec::new(),
        top: Vec::new(),
        had_prop: false,
        skins: Vec::new(),
    };
    let joint_nodes = writer.draft.skeleton(&character.skeleton, &mut writer.top);
    writer.draft.write_bone_settings(character, &joint_nodes);
    materials(character, &mut writer.draft)?;
    let mut targets = Vec::new();
    for (index, mesh) in character.meshes.iter().enumerate() {
        if is_empty_mesh(mesh) {
            continue;
        }
        check(mesh, &character.skeleton)?;
        targets.extend(writer.mesh(character, index, &joint_nodes));
    }
    for clip in &character.clips {
        writer.draft.clip(character, clip, &joint_nodes, &targets);
    }
    writer.first.append(&mut writer.top);
    Ok(with_scene(writer.draft, &character.name, &writer.first))
}

/// The meshes only, each on a root node, without skeleton and clips.
pub(super) fn meshes_alone(character: &Character) -> Result<GlbDraft, GlbWriteError> {
    let mut writer = CharacterWriter {
        draft: GlbDraft::new(),
        first: Vec::new(),
        top: Vec::new(),
        had_prop: false,
        skins: Vec::new(),
    };
    materials(character, &mut writer.draft)?;
    for mesh in character.meshes.iter().filter(|mesh| !is_empty_mesh(mesh)) {
        check(mesh, &character.skeleton)?;
        let attributes = writer.attributes(mesh, &mesh.positions);
        writer.mesh_node(mesh, &attributes, json!({"name": mesh.name}), None);
    }
    Ok(with_scene(writer.draft, &character.name, &writer.first))
}

fn materials(character: &Character, draft: &mut GlbDraft) -> Result<(), GlbWriteError> {
    character
        .materials
        .iter()
        .try_for_each(|material| write_material(material, draft))
}

fn with_scene(mut draft: GlbDraft, name: &str, nodes: &[usize]) -> GlbDraft {
    let scene = draft.push(
        "scenes",
        if nodes.is_empty() {
            json!({"name": name})
        } else {
            json!({"name": name, "nodes": nodes})
        },
    );
    draft.tree.insert("scene".to_owned(), json!(scene));
    draft
}

struct CharacterWriter<'a> {
    draft: GlbDraft,
    /// Roots before the skeleton.
    first: Vec<usize>,
    top: Vec<usize>,
    had_prop: bool,
    /// Skins, keyed by their inverse bind matrices.
    skins: Vec<(&'a [Affine], usize)>,
}

impl<'a> CharacterWriter<'a> {
    /// Writes a mesh, with its morphs.
    fn mesh(
        &mut self,
        character: &'a Character,
        index: usize,
        joint_nodes: &[usize],
    ) -> Option<TargetNode> {
        let (mesh, joints) = (&character.meshes[index], character.skeleton.len());
        let mut attributes = self.attributes(mesh, &character.positions_without_morphs(index));
        let mut node = json!({"name": mesh.name});
        let mut parent = None;
        match &mesh.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } => {
                self.draft
                    .weights(weights, joints, |joint| joint as u16, &mut attributes);
                node["skin"] = json!(self.skin(joint_from_mesh, joint_nodes));
            }
            Attachment::Rigid {
                joint,
                joint_from_mesh,
            } => {
                parent = Some(joint_nodes[*joint]);
                place(&mut node, joint_from_mesh);
            }
            Attachment::Static { world_from_mesh } => place(&mut node, world_from_mesh),
            Attachment::Unweighted => {}
        }
        let (node, written) = self.mesh_node(mesh, &attributes, node, parent);
        let primitives: Vec<(usize, usize)> = (0..mesh.sections().count())
            .map(|primitive| (index, primitive))
            .collect();
        self.draft
            .write_targets(character, (node, written), &primitives)
    }

    fn attributes(&mut self, mesh: &SourceMesh, positions: &[Point]) -> JsonObject {
        let mut attributes = JsonObject::new();
        attributes.insert(
            "POSITION".to_owned(),
            json!(self.draft.positions(positions)),
        );
        if let Some(normals) = normals_of(mesh) {
            let written = self.draft.vectors(&normals);
            attributes.insert("NORMAL".to_owned(), json!(written));
        }
        if let Some(tex_coords) = &mesh.tex_coords {
            let written = self.draft.floats(
                tex_coords.as_flattened(),
                ViewUse::Attribute,
                ElementShape::Vec2,
            );
            attributes.insert("TEXCOORD_0".to_owned(), json!(written));
        }
        attributes
    }

    /// Returns the node and its mesh.
    fn mesh_node(
        &mut self,
        mesh: &SourceMesh,
        attributes: &JsonObject,
        mut node: Value,
        parent: Option<usize>,
    ) -> (usize, usize) {
        // The primitives of several materials share the vertices.
        let mut primitives = Vec::new();
        for (triangles, material) in mesh.sections() {
            let mut primitive = json!({"attributes": attributes});
            if mesh.triangles.is_empty() {
                // Vertices without triangles are written as points.
                primitive["mode"] = json!(0);
            } else {
                let corners = &mesh.triangles[triangles];
                primitive["indices"] = json!(self.draft.corners(corners, mesh.positions.len()));
            }
            if let Some(material) = material {
                primitive["material"] = json!(material);
            }
            primitives.push(primitive);
        }
        let written = self.draft.push(
            "meshes",
            json!({"name": mesh.name, "primitives": primitives}),
        );
        node["mesh"] = json!(written);
        self.had_prop |= parent.is_some();
        let mut top = Vec::new();
        let node = self.draft.node(node, parent, &mut top);
        if self.had_prop {
            self.top.append(&mut top);
        } else {
            self.first.append(&mut top);
        }
        (node, written)
    }

    fn skin(&mut self, joint_from_mesh: &'a [Affine], joint_nodes: &[usize]) -> usize {
        if let Some((_, skin)) = self
            .skins
            .iter()
            .find(|(known, _)| *known == joint_from_mesh)
        {
            return *skin;
        }
        let skin = self.draft.skin(joint_from_mesh, joint_nodes);
        self.skins.push((joint_from_mesh, skin));
        skin
    }
}

impl GlbDraft {
    /// Appends a node below its parent, or to the roots.
    fn node(&mut self, node: Value, parent: Option<usize>, roots: &mut Vec<usize>) -> usize {
        let index = self.push("nodes", node);
        match parent {
            Some(parent) => {
                let parent = &mut self.list_mut("nodes")[parent];
                match parent.get_mut("children").and_then(Value::as_array_mut) {
                    Some(children) => children.push(json!(index)),
                    None => parent["children"] = json!([index]),
                }
            }
            None => roots.push(index),
        }
        index
    }

    /// Writes the joints; returns the node of each.
    pub(super) fn skeleton(&mut self, skeleton: &Skeleton, roots: &mut Vec<usize>) -> Vec<usize> {
        let mut nodes: Vec<usize> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let mut parent = joint.parent.map(|p| nodes[p]);
            if joint.parent_from_base != Affine::identity() {
                let mut base = json!({"name": format!("{} base", joint.name)});
                place(&mut base, &joint.parent_from_base);
                parent = Some(self.node(base, parent, roots));
            }
            nodes.push(self.node(joint_node(&joint.name, &joint.rest), parent, roots));
        }
        self.joint_nodes.clone_from(&nodes);
        nodes
    }

    /// Appends a skin over all joints.
    pub(super) fn skin(&mut self, joint_from_mesh: &[Affine], joint_nodes: &[usize]) -> usize {
        let matrices = self.matrices(joint_from_mesh);
        self.push(
            "skins",
            json!({"joints": joint_nodes, "inverseBindMatrices": matrices}),
        )
    }
}

fn write_material(material: &Material, draft: &mut GlbDraft) -> Result<(), GlbWriteError> {
    let mut surface = json!({"baseColorFactor": material.base_color, "metallicFactor": 0.0, "roughnessFactor": 0.8_f32});
    if let Some(image) = &material.base_color_image {
        surface["baseColorTexture"] = json!({"index": write_texture(image, material, draft)?});
    }
    let mut written = json!({"name": material.name, "pbrMetallicRoughness": surface});
    if let Some(map) = &material.normal_map {
        let index = write_texture(&map.image, material, draft)?;
        written["normalTexture"] = json!({"index": index, "scale": map.scale});
    }
    match material.alpha_cutoff {
        Some(cutoff) => {
            written["alphaMode"] = json!("MASK");
            written["alphaCutoff"] = json!(cutoff);
        }
        None if material.base_color[3] < 1.0 => written["alphaMode"] = json!("BLEND"),
        None => {}
    }
    if material.double_sided {
        written["doubleSided"] = json!(true);
    }
    draft.push("materials", written);
    Ok(())
}

/// Writes an image as a texture; returns its index.
fn write_texture(
    image: &Image,
    material: &Material,
    draft: &mut GlbDraft,
) -> Result<usize, GlbWriteError> {
    let png = encode_png(image).map_err(|source| GlbWriteError::Texture {
        material: material.name.clone(),
        source,
    })?;
    let view = draft.view(&png, ViewUse::Other);
    let image = json!({"bufferView": view, "mimeType": "image/png"});
    let image = draft.push("images", image);
    Ok(draft.push("textures", json!({"source": image})))
}

/// Adds a constant transform above a node, if needed.
fn place(node: &mut Value, transform: &Affine) {
    if *transform != Affine::identity() {
        node["matrix"] = json!(matrix(transform));
    }
}

/// The rest transform of a joint, omitting identity components.
fn joint_node(name: &str, rest: &Trs) -> Value {
    let vector = |v: &Vec64| json!([v.x as f32, v.y as f32, v.z as f32]);
    let mut node = json!({"name": name});
    if rest.translation != Vec64::zeros() {
        node["translation"] = vector(&rest.translation);
    }
    if rest.rotation != Quat::identity() {
        let q = rest.rotation.coords;
        node["rotation"] = json!([q.x, q.y, q.z, q.w].map(|c| c as f32));
    }
    if rest.scale != Vec64::repeat(1.0) {
        node["scale"] = vector(&rest.scale);
    }
    node
}

/// Whether nothing is to be written.
pub(super) fn is_empty_mesh(mesh: &SourceMesh) -> bool {
    mesh.positions.is_empty() && mesh.triangles.is_empty()
}

/// The standard requires unit normals (3.7.2.1); normals of unit length within rounding are kept
/// exactly.
pub(super) fn unit(normals: &[Vec3]) -> Vec<Vec3> {
    let one = |normal: &Vec3| {
        if is_unit(normal) {
            *normal
        } else {
            normal.try_normalize(1e-12).unwrap_or_else(Vec3::y)
        }
    };
    normals.iter().map(one).collect()
}

/// Vertices closer than this part of a mesh's size share a smooth normal.
const SAME_PLACE: f32 = 1e-6;

/// The unit normals of a mesh: the file's, or else smooth ones. `None` without triangles.
pub(in crate::io) fn normals_of(mesh: &SourceMesh) -> Option<Vec<Vec3>> {
    if let Some(normals) = &mesh.normals {
        return Some(unit(normals));
    }
    if mesh.triangles.is_empty() {
        return None;
    }
    let mut normals = vec![Vec3::zeros(); mesh.positions.len()];
    let tolerance = SAME_PLACE * Bounds::of(&mesh.positions).size();
    let mut groups = NormalGroups::new(&mesh.positions, &mesh.triangles, &normals, tolerance);
    groups.normals_into(&mesh.positions, &mut normals);
    Some(unit(&normals))
}

/// Whether a normal has unit length within rounding.
pub(super) fn is_unit(normal: &Vec3) -> bool {
    (normal.norm() - 1.0).abs() < 1e-4
}

fn check(mesh: &SourceMesh, skeleton: &Skeleton) -> Result<(), GlbWriteError> {
    let n = mesh.positions.len();
    let wrong = |what| {
        Err(GlbWriteError::Inconsistent {
            mesh: mesh.name.clone(),
            what,
        })
    };
    if mesh.triangles.iter().flatten().any(|&v| v as usize >= n) {
        return wrong("a triangle refers to a missing vertex");
    }
    let of_sections: usize = (mesh.faces.sections.iter()).map(|s| s.triangles).sum();
    if of_sections > mesh.triangles.len() {
        return wrong("its materials have more triangles than it has");
    }
    if mesh.normals.as_ref().is_some_and(|list| list.len() != n)
        || mesh.tex_coords.as_ref().is_some_and(|list| list.len() != n)
    {
        return wrong("it needs one normal and one texture coordinate per vertex");
    }
    match &mesh.attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            if weights.len() != n
                || weights
                    .joints
                    .iter()
                    .any(|&joint| joint as usize >= skeleton.len())
            {
                return wrong("its weights belong to another mesh or skeleton");
            }
            if joint_from_mesh.len() != skeleton.len() || skeleton.len() > usize::from(u16::MAX) {
                return wrong(
                    "it needs one inverse bind matrix per joint, and at most 65535 joints",
                );
            }
        }
        Attachment::Rigid { joint, .. } if *joint >= skeleton.len() => {
            return wrong("it is attached to a missing joint");
        }
        Attachment::Rigid { .. } | Attachment::Static { .. } | Attachment::Unweighted => {}
    }
    Ok(())
}

pub(in crate::io) fn encode_png(image: &Image) -> Result<Vec<u8>, image::ImageError> {
    use image::ImageEncoder;
    let mut png = Cursor::new(Vec::new());
    image::codecs::png::PngEncoder::new(&mut png).write_image(
        &image.rgba,
        image.width,
        image.height,
        image::ExtendedColorType::Rgba8,
    )?;
    Ok(png.into_inner())
}
