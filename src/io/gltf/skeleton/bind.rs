//! Bind poses of skins.

use gltf::json::{Index, Root};

use super::{BoundSkin, is_invertible, without_scale};
use crate::character::{Character, Severity};
use crate::io::error::Parsed;
use crate::io::gltf::accessor::Accessors;
use crate::io::gltf::document::number;
use crate::io::gltf::scene::{NodeTree, affine_of};
use crate::math::{Affine, Point64, linear_part, origin_of};

/// Inverse bind matrices of all skins: identity where the file has none, replaced where they are
/// singular.
pub(super) fn bind_matrices(
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
pub(super) fn common_bind(
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
