//! Determines the joints and the common bind pose of all skins.
//!
//! Joints are the nodes listed by skins, and animated nodes with a joint or a mesh at or below
//! them. The inverse bind matrices of a skin give its joints' transforms relative to its mesh. The
//! first (largest) skin is placed in the world where its joints are closest to their rest
//! transforms; every further skin is placed so that a joint shared with earlier ones agrees.

mod bind;

use gltf::json::Root;
use gltf::json::animation::Property;
use gltf::json::validation::Checked;

pub(crate) use self::bind::bind_others;
use self::bind::{bind_matrices, common_bind};
use super::accessor::Accessors;
use super::scene::{NodeTree, trs_of};
use crate::character::Character;
use crate::io::error::Parsed;
use crate::io::hierarchy::AboveNodes;
use crate::math::{Affine, linear_part};
use crate::rig::{Joint, Skeleton, Trs, check_joint_count};

/// The joints of a document.
pub struct GltfJoints {
    /// The skeleton.
    pub skeleton: Skeleton,
    /// Joint of every node.
    pub joint_of_node: Vec<Option<usize>>,
    /// The way from every node up to a joint.
    pub(in crate::io) above: AboveNodes,
    /// Every skin of the document, mapped to that skeleton.
    pub skins: Vec<BoundSkin>,
}

/// One skin, mapped to the skeleton.
pub struct BoundSkin {
    /// Joint of the skeleton for every joint of the skin.
    pub joints: Vec<usize>,
    /// Inverse bind matrix of every joint of the skin.
    pub joint_from_mesh: Vec<Affine>,
    /// Places the skin's meshes in the common bind pose.
    pub world_from_mesh: Affine,
}

impl GltfJoints {
    /// Finds the joints and the bind pose. `vertices[s]` is the number of vertices of skin `s`.
    pub fn of(
        root: &Root,
        scene: &NodeTree,
        accessors: &Accessors<'_>,
        vertices: &[usize],
        character: &mut Character,
    ) -> Parsed<Self> {
        let deforming = deforming_nodes(root);
        let is_joint = joint_nodes(root, scene, &deforming);
        let joint_nodes: Vec<usize> = scene
            .all
            .iter()
            .copied()
            .filter(|&node| is_joint[node])
            .collect();
        let mut joint_of_node = vec![None; root.nodes.len()];
        for (joint, &node) in joint_nodes.iter().enumerate() {
            joint_of_node[node] = Some(joint);
        }
        check_joint_count(joint_nodes.len())?;
        let above = AboveNodes::of(&scene.downwards, &scene.parent, &joint_of_node, |node| {
            scene.local[node]
        });
        let parents: Vec<Option<usize>> =
            joint_nodes.iter().map(|&node| above.joint[node]).collect();
        let mut skins = bind_matrices(root, scene, accessors, &joint_of_node, character)?;
        let binds = common_bind(root, scene, &mut skins, &joint_nodes, &parents, vertices);
        let joints = joint_nodes.iter().zip(&parents).zip(&binds).map(
            |((&node, &parent), &world_from_bind)| {
                let (rest, parent_from_base) = split_rest(root, scene, &above, node);
                let name = root.nodes[node].name.clone().unwrap_or_default();
                Joint {
                    name,
                    parent,
                    parent_from_base,
                    rest,
                    world_from_bind,
                    deforms: deforming[node],
                    tail: None,
                }
            },
        );
        let skeleton = Skeleton::new(joints.collect())?;
        Ok(Self {
            skeleton,
            joint_of_node,
            above,
            skins,
        })
    }
}

fn deforming_nodes(root: &Root) -> Vec<bool> {
    let mut deforming = vec![false; root.nodes.len()];
    for joint in root.skins.iter().flat_map(|skin| &skin.joints) {
        deforming[joint.value()] = true;
    }
    deforming
}

/// Nodes of skins, and animated nodes with such a node or a mesh at or below them.
fn joint_nodes(root: &Root, scene: &NodeTree, deforming: &[bool]) -> Vec<bool> {
    let mut is_joint = deforming.to_vec();
    let mut carries: Vec<bool> = root
        .nodes
        .iter()
        .zip(deforming)
        .map(|(node, &deforms)| deforms || node.mesh.is_some())
        .collect();
    for &node in scene.all.iter().rev() {
        if let (true, Some(parent)) = (carries[node], scene.parent[node]) {
            carries[parent] = true;
        }
    }
    let moves = |path: &Checked<Property>| {
        matches!(
            path,
            Checked::Valid(Property::Translation | Property::Rotation | Property::Scale)
        )
    };
    for channel in root
        .animations
        .iter()
        .flat_map(|animation| &animation.channels)
    {
        let node = channel.target.node.value();
        if moves(&channel.target.path) && carries.get(node) == Some(&true) {
            is_joint[node] = true;
        }
    }
    is_joint
}

/// The rest transform of a joint and the constant transform before it. The part of a matrix that
/// `Trs` cannot represent (shear) goes into the constant.
fn split_rest(root: &Root, scene: &NodeTree, above: &AboveNodes, node: usize) -> (Trs, Affine) {
    let above = above.between[node];
    if root.nodes[node].matrix.is_none() {
        return (trs_of(&root.nodes[node]), above);
    }
    let rest = Trs::from_affine(&scene.local[node]);
    let remainder = rest
        .to_affine()
        .try_inverse()
        .map(|inverse| scene.local[node] * inverse);
    match remainder {
        // Matrices have f32 precision: shear below its rounding is ignored.
        Some(remainder)
            if (linear_part(&remainder) - nalgebra::Matrix3::identity()).norm() > 1e-6 =>
        {
            (rest, above * remainder)
        }
        _ => (rest, above),
    }
}

pub(crate) fn is_invertible(transform: &Affine) -> bool {
    transform.matrix().iter().all(|c| c.is_finite())
        && transform
            .try_inverse()
            .is_some_and(|i| i.matrix().iter().all(|c| c.is_finite()))
}

pub(crate) fn without_scale(transform: &Affine) -> Affine {
    let trs = Trs::from_affine(transform);
    let upright = Trs {
        scale: nalgebra::Vector3::repeat(1.0),
        ..trs
    }
    .to_affine();
    if is_invertible(&upright) {
        upright
    } else {
        Trs::at(trs.translation).to_affine()
    }
}
