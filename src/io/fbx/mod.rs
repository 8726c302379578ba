//! Autodesk FBX, text and binary, read by the `ufbx` library: nodes with their pivots, skins of several clusters, animation in layers.
//!
//! Nodes → tree ([`FbxNodes`]) → joints and bind pose ([`skeleton`]) → meshes with weights ([`mesh`]), clips ([`clips`]).
//!
//! # Departures
//! - The world is rotated so that +Y is up; lengths stay in the file's unit.
//! - A mesh keeps its control points in order, so that a baked point cache fits the imports of
//!   other programs. Copies of a control point follow for corners with other texture coordinates or
//!   normals ([`corners`]).
//! - Clips have the file's values at its own keys, and between them to rounding ([`curves`]).
//! - Positions include the blend shapes at their weights at rest ([`morphs`]).
//! - Caches, constraints and NURBS are not read.

mod clips;
mod corners;
mod curves;
mod mesh;
mod morphs;
mod skeleton;
mod stacks;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::error::{Parsed, bad};
use super::finish::static_to_unweighted;
use crate::character::{Attachment, Character, Severity};
use crate::math::{Affine, Quat, Vec64};
use crate::progress::Progress;
use crate::rig::Trs;

/// Memory limit of the library, bytes: for the scene, and during reading.
const MEMORY: usize = 384 << 20;

/// Limits of node depth and node count.
const DEEPEST: u32 = 4000;
const MOST_NODES: usize = 200_000;

/// Numbers above this are treated as damage.
const LARGEST: f64 = 1e15;

/// The nodes of a scene, by their index in it.
struct FbxNodes {
    parent: Vec<Option<usize>>,
    /// Depth-first from the root, children in file order.
    order: Vec<usize>,
    local: Vec<Trs>,
    world: Vec<Affine>,
}

/// Reads a scene; images that it refers to are searched in `folder`. The character may lack meshes
/// or joints.
pub(crate) fn read(bytes: &[u8], folder: Option<&Path>, progress: &Progress) -> Parsed<Character> {
    let scene = parse(bytes, progress)?;
    progress.set_fraction(0.5);
    let tree = FbxNodes::of(&scene)?;
    let mut character = Character {
        metres_per_unit: scene.settings.unit_meters,
        declared_metres_per_unit: Some(scene.settings.unit_meters),
        ..Character::default()
    };
    let baked = stacks::bake(&scene, &mut character);
    let rig = skeleton::FbxJoints::of(&scene, &tree, &clips::moved_nodes(&baked))?;
    progress.set_fraction(0.7);
    let morphs = mesh::read(&scene, &tree, &rig, folder, &mut character)?;
    character.clips = clips::read(&scene, &baked, &tree, &rig, &morphs);
    character.finish_morphs(morphs.morphs, Vec::new());
    let deforms = rig.skeleton.joints().iter().any(|joint| joint.deforms);
    character.skeleton = rig.skeleton;
    // Bones and an unskinned mesh: the mesh is left without weights, for a weight method.
    let unskinned = character
        .meshes
        .iter()
        .all(|mesh| matches!(mesh.attachment, Attachment::Static { .. }));
    if scene.skin_clusters.is_empty() && deforms && unskinned && !character.meshes.is_empty() {
        static_to_unweighted(&mut character);
        character.note(
            Severity::Info,
            0,
            "the file has bones and a mesh, but no skin weights",
        );
    }
    Ok(character)
}

fn parse(bytes: &[u8], progress: &Progress) -> Parsed<ufbx::SceneRoot> {
    let memory = || ufbx::AllocatorOpts {
        memory_limit: MEMORY,
        ..Default::default()
    };
    let go_on = |_: &ufbx::Progress| {
        if progress.is_cancelled() {
            ufbx::ProgressResult::Cancel
        } else {
            ufbx::ProgressResult::Continue
        }
    };
    let options = ufbx::LoadOpts {
        temp_allocator: memory(),
        result_allocator: memory(),
        file_format: ufbx::FileFormat::Fbx,
        node_depth_limit: DEEPEST,
        target_axes: ufbx::CoordinateAxes::right_handed_y_up(),
        inherit_mode_handling: ufbx::InheritModeHandling::HelperNodes,
        index_error_handling: ufbx::IndexErrorHandling::AbortLoading,
        progress_cb: ufbx::ProgressCb::Ref(&go_on),
        ..Default::default()
    };
    match ufbx::load_memory(bytes, options) {
        Ok(scene) if scene.nodes.len() > MOST_NODES => bad(format!(
            "has {} nodes, more than the maximum for a character",
            scene.nodes.len()
        )),
        Ok(scene) => Ok(scene),
        Err(error) => {
            let what: &str = &error.description;
            bad(format!(
                "not a readable FBX file: {what}; export it as FBX 7.4 or as .glb"
            ))
        }
    }
}

impl FbxNodes {
    fn of(scene: &ufbx::Scene) -> Parsed<Self> {
        let count = scene.nodes.len();
        let mut tree = Self {
            parent: vec![None; count],
            order: Vec::with_capacity(count),
            local: scene
                .nodes
                .iter()
                .map(|node| trs_of(&node.local_transform))
                .collect(),
            world: vec![Affine::identity(); count],
        };
        let mut stack = vec![number(&scene.root_node.element)];
        let mut seen = vec![false; count];
        while let Some(node) = stack.pop() {
            if node >= count || std::mem::replace(&mut seen[node], true) {
                return bad(format!("node {node} is reached twice"));
            }
            let local = tree.local[node].to_affine();
            tree.world[node] = tree.parent[node].map_or(local, |parent| tree.world[parent] * local);
            if !tree.world[node].matrix().iter().all(|c| c.abs() < LARGEST) {
                return bad(format!(
                    "the transform of node \"{}\" is not finite",
                    &*scene.nodes[node].element.name
                ));
            }
            tree.order.push(node);
            for child in scene.nodes[node]
                .children
                .iter()
                .rev()
                .map(|child| number(&child.element))
            {
                if let Some(parent) = tree.parent.get_mut(child) {
                    *parent = Some(node);
                }
                stack.push(child);
            }
        }
        Ok(tree)
    }
}

/// The index of an element among those of its kind.
fn number(element: &ufbx::Element) -> usize {
    element.typed_id as usize
}

fn vec_of(v: &ufbx::Vec3) -> Vec64 {
    Vec64::new(v.x, v.y, v.z)
}

fn quat_of(q: &ufbx::Quat) -> nalgebra::Quaternion<f64> {
    nalgebra::Quaternion::new(q.w, q.x, q.y, q.z)
}

fn trs_of(transform: &ufbx::Transform) -> Trs {
    let rotation =
        Quat::try_new(quat_of(&transform.rotation), 1e-12).unwrap_or_else(Quat::identity);
    Trs {
        translation: vec_of(&transform.translation),
        rotation,
        scale: vec_of(&transform.scale),
    }
}

fn affine_of(m: &ufbx::Matrix) -> Affine {
    Affine::from_matrix_unchecked(nalgebra::Matrix4::new(
        m.m00, m.m01, m.m02, m.m03, m.m10, m.m11, m.m12, m.m13, m.m20, m.m21, m.m22, m.m23, 0.0,
        0.0, 0.0, 1.0,
    ))
}

/// A transform that is invertible and within the size limit.
fn usable(transform: &Affine) -> bool {
    transform.matrix().iter().all(|c| c.abs() < LARGEST) && super::gltf::is_invertible(transform)
}
