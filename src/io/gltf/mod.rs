//! glTF 2.0: `.gltf`, `.glb` and `.vrm`, following the standard strictly.
//!
//! Container and buffers ([`container`]) → JSON, adapted to the `gltf` crate ([`clean`]), parsed by
//! it and checked ([`document`]) → hierarchy ([`scene`]) → joints and bind pose ([`skeleton`]) →
//! meshes with weights ([`mesh`], [`weights`]), clips ([`clips`]), materials ([`material`]); data
//! of extensions is read first ([`extensions`]). The `gltf` crate provides the structures; the
//! binary data is read by [`accessor`], which checks all bounds.
//!
//! # Departures
//! - Vertices with no usable weight follow the nearest bone; weights are normalised.
//! - Non-finite or singular inverse bind matrices are replaced by the inverse of the joint's rest transform.
//! - Triangles of mirrored meshes are reversed, so that they face outwards.
//! - Shear of a node's matrix below 1e-6 is treated as rounding.
//! - Positions include the morph targets at their weights at rest ([`morphs`]).
//! - Cameras and lights are not read.
//!
//! # Extensions
//! `KHR_mesh_quantization`, `EXT_meshopt_compression`, `KHR_draco_mesh_compression` ([`draco`]), `KHR_texture_transform` (of the base colour)
//! and `KHR_materials_pbrSpecularGlossiness` are read; of VRM 0 and 1 the humanoid bones, the
//! springs and the expressions ([`expressions`]). Other required extensions that change the shape are rejected by name; other optional
//! ones are listed in a note.

pub(super) mod accessor;
pub(super) mod bones;
mod clean;
mod clips;
pub(crate) mod container;
mod declared_morphs;
pub(super) mod document;
mod draco;
mod expressions;
mod extensions;
mod material;
mod mesh;
mod meshopt;
mod morphs;
pub(super) mod scene;
mod skeleton;
mod vrm;
mod weights;

use std::path::Path;
use std::sync::Arc;

pub(super) use skeleton::{bind_others, is_invertible};
pub(super) use weights::give_to_nearest_bone;

use accessor::Accessors;
use container::UriBase;
use document::{GltfDocument, number, size};
use extensions::Extensions;
use gltf::json::{Root, mesh::Semantic};

use super::error::{IoError, Parsed};
use crate::character::{Character, Severity, SourceDocument};
use crate::progress::Progress;

/// Reads a glTF or GLB from memory; external files are not available. The character may lack meshes
/// or joints.
///
/// # Errors
/// [`IoError::Malformed`] with the given name.
pub fn read_gltf_bytes(name: &str, bytes: &[u8]) -> Result<Character, IoError> {
    let mut character = read(bytes, &UriBase { folder: None }, &Progress::new())
        .map_err(|problem| problem.in_file(name))?;
    name.clone_into(&mut character.name);
    super::finish::finish(&mut character, super::finish::LengthUnit::Metres)
        .map_err(|problem| problem.in_file(name))?;
    Ok(character)
}

/// Reads a document with its external files in a folder. Final checks follow in [`super::finish`].
pub(super) fn read_document(
    folder: Option<&Path>,
    bytes: &[u8],
    progress: &Progress,
) -> Parsed<Character> {
    read(
        bytes,
        &UriBase {
            folder: folder.map(Path::to_owned),
        },
        progress,
    )
}

fn read(bytes: &[u8], place: &UriBase, progress: &Progress) -> Parsed<Character> {
    let (mut json, binary) = container::split(bytes)?;
    let mut document = GltfDocument::parse(&json)?;
    place.protect(&document.root);
    let mut buffers = container::buffers(&document.root, binary.as_deref(), place)?;
    if let Some(inflated) = draco::inflate(&json, &mut buffers)? {
        document = GltfDocument::parse(&inflated)?;
        json = inflated.into();
    }
    let GltfDocument {
        root,
        damaged_materials,
        extensions,
    } = document;
    let decoded = container::decompress(&extensions.compressed, &buffers)?;
    let accessors = Accessors::new(&root, &buffers, &decoded);
    let scene = scene::NodeTree::of(&root)?;
    progress.set_fraction(0.3);
    let mut character = Character {
        metres_per_unit: 1.0,
        declared_metres_per_unit: Some(1.0),
        ..Character::default()
    };
    let vertices = skinned_vertices(&root, &scene);
    let rig = skeleton::GltfJoints::of(&root, &scene, &accessors, &vertices, &mut character)?;
    character.clips = clips::read(&root, &accessors, &rig.joint_of_node, &mut character)?;
    progress.set_fraction(0.5);
    let materials = material::read(&root, &extensions, &accessors, place, &mut character);
    if damaged_materials > 0 {
        let text = format!("invalid materials, replaced by default ones: {damaged_materials}");
        character.note(Severity::Warning, damaged_materials, text);
    }
    progress.set_fraction(0.8);
    let context = mesh::MeshReader {
        root: &root,
        scene: &scene,
        accessors: &accessors,
        rig: &rig,
        materials: &materials,
    };
    let (meshes, places) = context.meshes(&mut character, progress)?;
    let joint_nodes = joint_nodes(&rig);
    let of_meshes = (meshes.as_slice(), places.as_slice());
    let read = morphs::read(
        &extensions.morphs,
        &root,
        &accessors,
        of_meshes,
        &mut character,
    );
    morphs::read_tracks(&root, &accessors, &read, &mut character);
    let expressions = expressions::read(&extensions.vrm, &read, &mut character);
    character.meshes = meshes;
    character.finish_morphs(read.morphs, expressions);
    vrm::read(&extensions.vrm, &root, &rig.joint_of_node, &mut character);
    character.skeleton = rig.skeleton;
    bones::read(&json, &rig.joint_of_node, &mut character);
    character.materials = materials.all;
    note_extensions(&extensions, &mut character);
    let (json, folder, clips) = (
        json.into_owned(),
        place.folder.clone(),
        character.clips.len(),
    );
    character.document = Some(Arc::new(SourceDocument {
        json,
        buffers,
        folder,
        meshes: places,
        joint_nodes,
        clips,
        rig_replaced: false,
    }));
    Ok(character)
}

/// Adds notes on ignored data.
fn note_extensions(extensions: &Extensions, character: &mut Character) {
    let unknown = document::unknown_extensions(&extensions.used);
    if !unknown.is_empty() {
        let text = format!(
            "glTF extensions of the file that are not read: {}",
            unknown.join(", ")
        );
        character.note(Severity::Info, unknown.len(), text);
    }
    let mut pictures = extensions.other_pictures.clone();
    pictures.sort_unstable();
    pictures.dedup();
    if !pictures.is_empty() {
        let text = format!(
            "textures omitted because only {} has their images, which is not read; export them as PNG, JPEG or WebP: {}",
            pictures.join(", "),
            extensions.other_pictures.len()
        );
        character.note(Severity::Warning, extensions.other_pictures.len(), text);
    }
}

/// The node of every joint.
fn joint_nodes(rig: &skeleton::GltfJoints) -> Vec<usize> {
    let mut nodes = vec![0; rig.skeleton.len()];
    for (node, joint) in rig.joint_of_node.iter().enumerate() {
        if let Some(joint) = joint {
            nodes[*joint] = node;
        }
    }
    nodes
}

/// Number of vertices bound to every skin in the scene.
fn skinned_vertices(root: &Root, scene: &scene::NodeTree) -> Vec<usize> {
    let mut vertices = vec![0_usize; root.skins.len()];
    for &node in &scene.visible {
        let node = &root.nodes[node];
        if let (Some(mesh), Some(skin)) = (number(node.mesh), number(node.skin)) {
            let positions = root.meshes[mesh]
                .primitives
                .iter()
                .filter_map(|p| document::attribute(p, Semantic::Positions));
            let count: usize = positions
                .map(|a| size(root.accessors[a].count))
                .fold(0, usize::saturating_add);
            vertices[skin] = vertices[skin].saturating_add(count);
        }
    }
    vertices
}
