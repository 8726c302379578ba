//! Characters with skeleton, weights, morphs and clips, as `UsdSkel` defines them: a `SkelRoot` with a `Skeleton`, meshes bound to it with
//! their blend shapes ([`super::shapes_write`]), and a `SkelAnimation` for each clip, of which the first is bound.
//!
//! # Departures
//! - A joint's constant transform above its rest transform is multiplied into it where it is rigid with one scale; otherwise it becomes a
//!   joint `NAME base`.
//! - Meshes whose bind matrices disagree are written in the bind pose.
//! - Scales of animations have half precision, by the schema.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use super::binary::BinaryWriter;
use super::clips_write::animation;
use super::frames::{add_range, stage_meta};
use super::joints_write::{FPS, WrittenJoints, rows_of};
use super::layer::{Layer, Prim, Property, Value};
use super::look_write::Looks;
use super::mesh_write::{add_normals, apply_schema, extent, mesh_prim, vectors};
use super::names::{SiblingNames, identifier};
use super::shapes_write::BlendShapes;
use super::{UsdFormat, text_write};
use crate::character::{Attachment, Character, SourceMesh, common_placement};
use crate::io::GlbWriteError;
use crate::io::error::{IoError, shown};
use crate::io::glb_write::{bound_and_limited, normals_of};
use crate::io::write::write_atomically;
use crate::math::Affine;
use crate::weights::{RefitReport, SkinWeights};

/// Writes a character with skin weights, of at most `influences` joints a vertex, and its textures beside it. Arguments and the
/// result are those of [`write_refitted_glb`](crate::io::write_refitted_glb); also returns the files.
///
/// # Errors
/// [`IoError`].
pub fn write_refitted_usd(
    path: &Path,
    format: UsdFormat,
    character: &Character,
    chosen: &[Option<SkinWeights>],
    influences: usize,
    world_from_joint: &[Vec<Affine>],
) -> Result<(Vec<PathBuf>, RefitReport), IoError> {
    let refused = |error| IoError::Write {
        file: shown(path),
        source: std::io::Error::other(error),
    };
    if character.skeleton.is_empty() {
        return Err(refused(GlbWriteError::NoSkeleton));
    }
    let bound = bound_and_limited(character, chosen, influences, world_from_joint);
    let (bound, report) = bound.map_err(refused)?;
    let (layer, looks) = layer_of(&bound, path)?;
    looks.write(&bound)?;
    let bytes = bytes_of(&layer, format).map_err(|source| IoError::Write {
        file: shown(path),
        source,
    })?;
    write_atomically(path, |out| out.write_all(&bytes))?;
    let files = std::iter::once(path.to_owned()).chain(looks.files().cloned());
    Ok((files.collect(), report))
}

/// The character as it is, as the bytes of a file; textures are left out.
///
/// # Errors
/// [`IoError::Write`].
pub fn usd_bytes(character: &Character, format: UsdFormat) -> Result<Vec<u8>, IoError> {
    let mut bare = character.clone();
    for material in &mut bare.materials {
        material.base_color_image = None;
        material.normal_map = None;
    }
    let path = Path::new("character.usda");
    let (layer, _) = layer_of(&bare, path)?;
    bytes_of(&layer, format).map_err(|source| IoError::Write {
        file: shown(path),
        source,
    })
}

fn bytes_of(layer: &Layer, format: UsdFormat) -> std::io::Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    match format {
        UsdFormat::Text => text_write::write(layer, &mut out, &mut Cursor::new(Vec::new()))?,
        UsdFormat::Binary => {
            BinaryWriter::start(&mut out)?;
            BinaryWriter::write(layer, &mut out)?;
        }
    }
    Ok(out.into_inner())
}

fn layer_of(character: &Character, path: &Path) -> Result<(Layer, Looks), IoError> {
    let root = identifier(&character.name);
    let mut layer = Layer {
        meta: stage_meta(character, &root, FPS),
        roots: Vec::new(),
    };
    let looks = Looks::of(character, &format!("/{root}"), path)?;
    let mut top = Prim::new("SkelRoot", root.clone());
    top.children.extend(looks.prim(character));
    let mut names = SiblingNames::default();
    for taken in ["Materials", "Skeleton", "Animations"] {
        names.unique(taken);
    }
    let joints = WrittenJoints::of(&character.skeleton);
    let shapes = BlendShapes::of(character);
    let mut skeleton = joints.prim();
    let mut animations = Prim::new("Scope", "Animations");
    let mut clip_names = SiblingNames::default();
    let mut last: Option<f64> = None;
    for clip in &character.clips {
        let made = animation(clip, character, (&joints, &shapes), &mut clip_names);
        let end = clip.duration_secs * FPS;
        last = Some(last.map_or(end, |last| last.max(end)));
        animations.children.push(made);
    }
    add_range(&mut layer, last.map(|last| [0.0, last]));
    if let Some(first) = animations.children.first() {
        let target = format!("/{root}/Animations/{}", first.name);
        apply_schema(&mut skeleton, "SkelBindingAPI");
        skeleton
            .properties
            .push(Property::relationship("skel:animationSource", target));
    }
    top.children.push(skeleton);
    if !animations.children.is_empty() {
        top.children.push(animations);
    }
    for (index, mesh) in character.meshes.iter().enumerate() {
        if mesh.triangles.is_empty() {
            continue;
        }
        let prim = mesh_prim(character, mesh, &looks, &mut names);
        let skeleton = format!("/{root}/Skeleton");
        let (mut prim, is_moved) = bound_mesh(prim, character, mesh, &joints, &skeleton);
        shapes.add_to(&mut prim, &root, character, (index, is_moved));
        top.children.push(prim);
    }
    layer.roots.push(top);
    Ok((layer, looks))
}

/// Adds points, normals and the binding to the skeleton; also returns whether the points are in the bind pose.
fn bound_mesh(
    mut prim: Prim,
    character: &Character,
    mesh: &SourceMesh,
    joints: &WrittenJoints,
    skeleton: &str,
) -> (Prim, bool) {
    let joint_list = character.skeleton.joints();
    let mut placed = std::borrow::Cow::Borrowed(mesh);
    let (mut bind_matrix, mut is_moved) = (None, false);
    match &mesh.attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            let place = common_placement(&character.skeleton, weights, joint_from_mesh);
            bind_matrix = Some(place.unwrap_or_else(|| {
                // No single transform places the mesh: it is written in the bind pose.
                is_moved = true;
                let owned = placed.to_mut();
                owned.positions = mesh.bind_positions(&character.skeleton);
                owned.normals = None;
                Affine::identity()
            }));
            add_weights(&mut prim, mesh, weights, joints);
        }
        Attachment::Rigid {
            joint,
            joint_from_mesh,
        } => {
            bind_matrix = Some(joint_list[*joint].world_from_bind * joint_from_mesh);
            let joint = joints.of_joint[*joint] as f64;
            add_influences(&mut prim, vec![joint], vec![1.0], 1, "constant");
        }
        Attachment::Static { world_from_mesh } => {
            let matrix = Value::Numbers(rows_of(world_from_mesh).to_vec());
            let order = Value::text("xformOp:transform");
            prim.properties.extend([
                Property::of("matrix4d", "xformOp:transform", matrix),
                Property::uniform("token[]", "xformOpOrder", order),
            ]);
        }
        Attachment::Unweighted => {}
    }
    if let Some(matrix) = bind_matrix {
        apply_schema(&mut prim, "SkelBindingAPI");
        let matrix = Value::Numbers(rows_of(&matrix).to_vec());
        let name = "primvars:skel:geomBindTransform";
        prim.properties.extend([
            Property::of("matrix4d", name, matrix),
            Property::relationship("skel:skeleton", skeleton),
        ]);
    }
    let points = &placed.positions[..mesh.file_vertices()];
    let coords = vectors(points.iter().map(|point| &point.coords));
    prim.properties.extend([
        Property::of("point3f[]", "points", coords),
        Property::of("float3[]", "extent", extent(points)),
    ]);
    if let Some(normals) = normals_of(&placed) {
        add_normals(&mut prim, mesh, Property::of("", "", vectors(&normals)));
    }
    (prim, is_moved)
}

/// Weights with the same number of joints for every vertex of the file.
fn add_weights(prim: &mut Prim, mesh: &SourceMesh, weights: &SkinWeights, joints: &WrittenJoints) {
    let vertices = 0..mesh.file_vertices();
    let most = vertices.clone().map(|v| weights.of(v).count()).max();
    let most = most.unwrap_or(1).max(1);
    let mut indices = Vec::with_capacity(most * mesh.file_vertices());
    let mut values = Vec::with_capacity(indices.capacity());
    for vertex in vertices {
        for (joint, weight) in weights.of(vertex) {
            indices.push(joints.of_joint[joint] as f64);
            values.push(f64::from(weight));
        }
        indices.resize(most * (vertex + 1), 0.0);
        values.resize(indices.len(), 0.0);
    }
    add_influences(prim, indices, values, most, "vertex");
}

fn add_influences(
    prim: &mut Prim,
    indices: Vec<f64>,
    values: Vec<f64>,
    size: usize,
    interpolation: &str,
) {
    let described = |property: Property| {
        property
            .with("elementSize", Value::number(size as f64))
            .with("interpolation", Value::text(interpolation))
    };
    let indices = Value::Numbers(indices);
    let weights = Value::Numbers(values);
    prim.properties.extend([
        described(Property::of("int[]", "primvars:skel:jointIndices", indices)),
        described(Property::of(
            "float[]",
            "primvars:skel:jointWeights",
            weights,
        )),
    ]);
}
