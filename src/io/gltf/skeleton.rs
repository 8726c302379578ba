//! Determines the joints and the common bind pose of all skins.
//!
//! Joints are the nodes listed by skins, and animated nodes with a joint or a mesh at or below
//! them. The inverse bind matrices of a skin give its joints' transforms relative to its mesh. The
//! first (largest) skin is placed in the world where its joints are closest to their rest
//! transforms; every further skin is placed so that a joint shared with earlier ones agrees.

use gltf::json::validation::Checked;
use gltf::json::{Index, Root, animation::Property};

use super::accessor::Accessors;
use super::document::number;
use super::scene::{NodeTree, affine_of, trs_of};
use crate::character::{Character, Severity};
use crate::io::error::Parsed;
use crate::math::{Affine, Point64, linear_part, origin_of};
use crate::rig::{Joint, Skeleton, Trs};

/// The joints of a document.
pub struct GltfJoints {
    /// The skeleton.
    pub skeleton: Skeleton,
    /// Joint of every node.
    pub joint_of_node: Vec<Option<usize>>,
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
        let parents: Vec<Option<usize>> = joint_nodes
            .iter()
            .map(|&node| parent_joint(scene, &joint_of_node, node))
            .collect();
        let mut skins = bind_matrices(root, scene, accessors, &joint_of_node, character)?;
        let binds = common_bind(root, scene, &mut skins, &joint_nodes, &parents, vertices);
        let joints = joint_nodes.iter().zip(&parents).zip(&binds).map(
            |((&node, &parent), &world_from_bind)| {
                let (rest, parent_from_base) = split_rest(root, scene, &joint_of_node, node);
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

fn parent_joint(scene: &NodeTree, joint_of_node: &[Option<usize>], node: usize) -> Option<usize> {
    std::iter::successors(scene.parent[node], |&above| scene.parent[above])
        .find_map(|above| joint_of_node[above])
}

/// Product of the transforms of the nodes strictly between a node and the nearest joint above it
/// (or the world).
pub fn between(scene: &NodeTree, joint_of_node: &[Option<usize>], node: usize) -> Affine {
    let mut product = Affine::identity();
    let mut above = scene.parent[node];
    while let Some(current) = above.filter(|&n| joint_of_node[n].is_none()) {
        product = scene.local[current] * product;
        above = scene.parent[current];
    }
    product
}

/// The rest transform of a joint and the constant transform before it. The part of a matrix that
/// `Trs` cannot represent (shear) goes into the constant.
fn split_rest(
    root: &Root,
    scene: &NodeTree,
    joint_of_node: &[Option<usize>],
    node: usize,
) -> (Trs, Affine) {
    let above = between(scene, joint_of_node, node);
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

/// Inverse bind matrices of all skins: identity where the file has none, replaced where they are
/// singular.
fn bind_matrices(
    root: &Root,
    scene: &NodeTree,
    accessors: &Accessors<'_>,
    joint_of_node: &[Option<usize>],
    character: &mut Character,
) -> Parsed<Vec<BoundSkin>> {
    let mut replaced = 0;
    let mut skins = Vec::with_capacity(root.skins.len());
    for skin in &root.skins {
        let read = match number(skin.inverse_bind_matrices) {
            Some(accessor) => accessors.reals::<16>(accessor)?,
            None => Vec::new(),
        };
        let mut joints = Vec::with_capacity(skin.joints.len());
        let mut joint_from_mesh = Vec::with_capacity(skin.joints.len());
        for (i, node) in skin.joints.iter().map(Index::value).enumerate() {
            let matrix = match read.get(i) {
                None => Affine::identity(),
                Some(values) => usable(values).unwrap_or_else(|| {
                    replaced += 1;
                    scene.world[node]
                        .try_inverse()
                        .unwrap_or_else(Affine::identity)
                }),
            };
            joints.push(joint_of_node[node].unwrap_or(0));
            joint_from_mesh.push(matrix);
        }
        skins.push(BoundSkin {
            joints,
            joint_from_mesh,
            world_from_mesh: Affine::identity(),
        });
    }
    if replaced > 0 {
        let text = format!(
            "singular or non-finite inverse bind matrices, replaced by the inverse of the joint's rest transform: {replaced}"
        );
        character.note(Severity::Mended, replaced, text);
    }
    Ok(skins)
}

/// A matrix as an affine transform, if it is finite, affine and invertible.
fn usable(values: &[f32; 16]) -> Option<Affine> {
    let matrix = nalgebra::Matrix4::from_iterator(values.iter().map(|&v| f64::from(v)));
    if !matrix.iter().all(|c| c.abs() < 1e12) {
        return None;
    }
    let affine = affine_of(&matrix)?;
    let linear = linear_part(&affine);
    let scale = linear.norm();
    // Relative to its scale: a file in kilometres is not singular.
    if scale < 1e-12 || (linear / scale).determinant().abs() < 1e-9 {
        return None;
    }
    affine.try_inverse().map(|_| affine)
}

/// `world_from_bind` of every joint; sets `world_from_mesh` of every skin.
fn common_bind(
    root: &Root,
    scene: &NodeTree,
    skins: &mut [BoundSkin],
    joint_nodes: &[usize],
    parents: &[Option<usize>],
    vertices: &[usize],
) -> Vec<Affine> {
    let rest = |joint: usize| scene.world[joint_nodes[joint]];
    let mut bind: Vec<Option<Affine>> = vec![None; joint_nodes.len()];
    let mut order: Vec<usize> = (0..skins.len()).collect();
    order.sort_by_key(|&s| std::cmp::Reverse(vertices[s]));
    for s in order {
        let skin = &mut skins[s];
        let shared = (0..skin.joints.len())
            .filter(|&i| bind[skin.joints[i]].is_some())
            .min_by_key(|&i| skin.joints[i]);
        skin.world_from_mesh = match shared.and_then(|i| Some((i, bind[skin.joints[i]]?))) {
            Some((i, bound)) => bound * skin.joint_from_mesh[i],
            None => likely_place(
                skin,
                top_joint(skin, parents),
                &nodes_above(root, scene, s, joint_nodes, skin),
                &rest,
            ),
        };
        // Without inverse bind matrices all joints would be bound at one point, where no tissue can
        // be built; the rest pose is used instead.
        let unbound = root.skins[s].inverse_bind_matrices.is_none() && skin.joints.len() > 1;
        for (i, &joint) in skin.joints.iter().enumerate() {
            let inverse = skin.joint_from_mesh[i].try_inverse();
            let own = if unbound {
                None
            } else {
                inverse.map(|inverse| skin.world_from_mesh * inverse)
            };
            bind[joint]
                .get_or_insert_with(|| own.filter(is_invertible).unwrap_or_else(|| rest(joint)));
        }
    }
    bind_others(&mut bind, parents, &rest);
    bind.into_iter()
        .enumerate()
        .map(|(joint, b)| {
            b.filter(is_invertible)
                .unwrap_or_else(|| without_scale(&rest(joint)))
        })
        .collect()
}

/// Candidate world transforms of the bind pose: those of the nodes that hold the skin's meshes, and
/// those above its joints.
fn nodes_above(
    root: &Root,
    scene: &NodeTree,
    skin: usize,
    joint_nodes: &[usize],
    bound: &BoundSkin,
) -> Vec<Affine> {
    let holders = scene
        .visible
        .iter()
        .copied()
        .filter(|&n| number(root.nodes[n].skin) == Some(skin) && root.nodes[n].mesh.is_some());
    let top = bound
        .joints
        .iter()
        .min()
        .and_then(|&joint| joint_nodes.get(joint));
    let above = top.and_then(|&node| scene.parent[node]);
    let mut places: Vec<Affine> = holders
        .take(1)
        .chain(above)
        .map(|node| scene.world[node])
        .collect();
    places.push(Affine::identity());
    places
}

/// World transform of the bind pose, which the file does not specify. Candidates are the transforms
/// that put one of the skin's joints at its rest transform (the topmost joint first), and those
/// given; the one with the smallest distance of all joints from their rest transforms is chosen. A
/// hip that is rotated in the rest pose must not rotate the whole figure.
fn likely_place(
    skin: &BoundSkin,
    top: usize,
    others: &[Affine],
    rest: &impl Fn(usize) -> Affine,
) -> Affine {
    let bound: Vec<(Point64, Point64)> = skin
        .joints
        .iter()
        .zip(&skin.joint_from_mesh)
        .filter_map(|(&joint, matrix)| {
            Some((origin_of(&matrix.try_inverse()?), origin_of(&rest(joint))))
        })
        .collect();
    let distance = |place: &Affine| {
        bound
            .iter()
            .map(|(in_mesh, at_rest)| (place * in_mesh - at_rest).norm())
            .sum::<f64>()
    };
    let by_joint = |i: usize| rest(skin.joints[i]) * skin.joint_from_mesh[i];
    let mut best = by_joint(top);
    let mut least = distance(&best);
    // Compare all pairs of joints is quadratic; a few hundred suffice.
    let candidates = others
        .iter()
        .copied()
        .chain((0..skin.joints.len().min(300)).map(by_joint));
    for place in candidates.filter(is_invertible) {
        let sum = distance(&place);
        // Only a clear improvement counts: rounding must not choose between equal candidates.
        if sum < least * 0.95 {
            (best, least) = (place, sum);
        }
    }
    best
}

/// Joints without a skin keep, from rest to bind, their transform relative to their parent, or to a
/// bound joint below them.
pub(crate) fn bind_others(
    bind: &mut [Option<Affine>],
    parents: &[Option<usize>],
    rest: &impl Fn(usize) -> Affine,
) {
    for joint in (0..bind.len()).rev() {
        // A joint with a bound ancestor follows that ancestor; only joints above all bound ones use
        // descendants.
        if let (Some(below), Some(parent)) = (bind[joint], parents[joint])
            && bind[parent].is_none()
            && parents[parent].is_none_or(|above| bind[above].is_none())
        {
            bind[parent] = rest(joint)
                .try_inverse()
                .map(|inverse| below * inverse * rest(parent))
                .filter(is_invertible);
        }
    }
    for joint in 0..bind.len() {
        if bind[joint].is_none() {
            let carried =
                parents[joint].and_then(|p| Some(bind[p]? * rest(p).try_inverse()? * rest(joint)));
            bind[joint] = carried.or_else(|| Some(rest(joint))).map(|b| {
                if is_invertible(&b) {
                    b
                } else {
                    without_scale(&b)
                }
            });
        }
    }
}

/// Among the skin's joints without a parent in the skin, the one with the most descendants; the
/// first if equal.
fn top_joint(skin: &BoundSkin, parents: &[Option<usize>]) -> usize {
    let in_skin: std::collections::HashSet<usize> = skin.joints.iter().copied().collect();
    let top_of = |joint: usize| {
        std::iter::successors(Some(joint), |&j| parents[j])
            .filter(|j| in_skin.contains(j))
            .last()
    };
    let mut below = std::collections::HashMap::new();
    for &joint in &skin.joints {
        *below
            .entry(top_of(joint).unwrap_or(joint))
            .or_insert(0_usize) += 1;
    }
    let best = (0..skin.joints.len()).max_by_key(|&i| {
        let count = below.get(&skin.joints[i]).copied().unwrap_or(0);
        (
            count,
            std::cmp::Reverse(skin.joints[i]),
            std::cmp::Reverse(i),
        )
    });
    best.unwrap_or(0)
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
