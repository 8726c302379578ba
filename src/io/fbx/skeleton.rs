//! Determines the joints and their bind pose.
//!
//! Joints are the bones of skin clusters, nodes marked as bones, and animated nodes with a joint or
//! a mesh at or below them. Every cluster stores the bone's transform at binding; if several skins
//! disagree, the largest skin decides.

use super::{FbxNodes, affine_of, number, usable};
use crate::io::error::Parsed;
use crate::io::gltf::bind_others;
use crate::io::hierarchy::AboveNodes;
use crate::math::Affine;
use crate::rig::{Joint, Skeleton, check_joint_count};

/// The joints of a scene.
pub(super) struct FbxJoints {
    pub skeleton: Skeleton,
    /// Joint of every node.
    pub joint_of_node: Vec<Option<usize>>,
    /// The way from every node up to a joint.
    pub above: AboveNodes,
}

impl FbxJoints {
    pub(super) fn of(scene: &ufbx::Scene, tree: &FbxNodes, moved: &[usize]) -> Parsed<Self> {
        let mut deforms = vec![false; scene.nodes.len()];
        for bone in scene
            .skin_clusters
            .iter()
            .filter_map(|cluster| cluster.bone_node.as_ref())
        {
            deforms[number(&bone.element)] = true;
        }
        if scene.skin_clusters.is_empty() {
            scene
                .nodes
                .iter()
                .filter(|node| node.bone.is_some())
                .for_each(|node| deforms[number(&node.element)] = true);
        }
        let is_joint = joints(scene, tree, &deforms, moved);
        let nodes: Vec<usize> = tree
            .order
            .iter()
            .copied()
            .filter(|&node| is_joint[node])
            .collect();
        let mut joint_of_node = vec![None; scene.nodes.len()];
        nodes
            .iter()
            .enumerate()
            .for_each(|(joint, &node)| joint_of_node[node] = Some(joint));
        check_joint_count(nodes.len())?;
        let above = AboveNodes::of(&tree.order, &tree.parent, &joint_of_node, |node| {
            tree.local[node].to_affine()
        });
        let parents: Vec<Option<usize>> = nodes.iter().map(|&node| above.joint[node]).collect();
        let binds = binds(scene, tree, &joint_of_node, &nodes, &parents);
        let made =
            nodes
                .iter()
                .zip(&parents)
                .zip(binds)
                .map(|((&node, &parent), world_from_bind)| Joint {
                    name: scene.nodes[node].element.name.to_string(),
                    parent,
                    parent_from_base: above.between[node],
                    rest: tree.local[node],
                    world_from_bind,
                    deforms: deforms[node],
                    tail: None,
                });
        let skeleton = Skeleton::new(made.collect())?;
        Ok(Self {
            skeleton,
            joint_of_node,
            above,
        })
    }
}

fn joints(scene: &ufbx::Scene, tree: &FbxNodes, deforms: &[bool], moved: &[usize]) -> Vec<bool> {
    let mut is_joint: Vec<bool> = scene
        .nodes
        .iter()
        .zip(deforms)
        .map(|(node, &deforms)| deforms || node.bone.is_some())
        .collect();
    let mut carries: Vec<bool> = scene
        .nodes
        .iter()
        .zip(&is_joint)
        .map(|(node, &joint)| joint || node.mesh.is_some())
        .collect();
    for &node in tree.order.iter().rev() {
        if let (true, Some(parent)) = (carries[node], tree.parent[node]) {
            carries[parent] = true;
        }
    }
    for &node in moved {
        is_joint[node] |= carries[node] && !scene.nodes[node].is_root;
    }
    is_joint
}

/// `world_from_bind` of every joint.
fn binds(
    scene: &ufbx::Scene,
    tree: &FbxNodes,
    joint_of_node: &[Option<usize>],
    nodes: &[usize],
    parents: &[Option<usize>],
) -> Vec<Affine> {
    let mut bind: Vec<Option<Affine>> = vec![None; nodes.len()];
    let mut skins: Vec<&ufbx::SkinDeformer> =
        scene.skin_deformers.iter().map(AsRef::as_ref).collect();
    skins.sort_by_key(|skin| std::cmp::Reverse(skin.vertices.len()));
    for cluster in skins.iter().flat_map(|skin| &skin.clusters) {
        let joint = cluster
            .bone_node
            .as_ref()
            .and_then(|bone| joint_of_node[number(&bone.element)]);
        let place = affine_of(&cluster.bind_to_world);
        if let Some(joint) = joint.filter(|_| usable(&place)) {
            bind[joint].get_or_insert(place);
        }
    }
    let rest = |joint: usize| tree.world[nodes[joint]];
    bind_others(&mut bind, parents, &rest);
    bind.into_iter()
        .enumerate()
        .map(|(joint, bind)| bind.filter(usable).unwrap_or_else(|| upright(&rest(joint))))
        .collect()
}

/// A joint scaled to zero keeps its position.
fn upright(rest: &Affine) -> Affine {
    if usable(rest) {
        *rest
    } else {
        crate::rig::Trs::at(crate::math::origin_of(rest).coords).to_affine()
    }
}
