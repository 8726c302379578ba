//! Finds the vertices that can touch around a joint: one bone is rotated towards the other until they almost coincide.

use std::ops::Range;

use rayon::prelude::*;

use super::CollisionBody;
use super::bend::Bend;
use crate::math::{Point, Quat, Vec3, Vec64};
use crate::tissue::{BoneGraph, Tissue};

/// Number of sweep directions around the first bone.
pub(super) const DIRECTIONS: usize = 8;
/// Angle between the bones at the end of the sweep: a bend of 150°.
const MIN_ANGLE_RAD: f64 = 30.0 * std::f64::consts::PI / 180.0;
/// Bones with a smaller angle at rest, such as those of adjacent fingers, are not paired.
const MIN_REST_ANGLE_RAD: f64 = 45.0 * std::f64::consts::PI / 180.0;
/// A vertex belongs to a patch if it reaches the plane between the bones up to this distance, local edge lengths.
const PATCH_DISTANCE_EDGES: f32 = 1.0;
/// Largest distance between the vertices of a pair, projected to the plane, in the swept pose, local edge lengths.
const MAX_OFFSET_EDGES: f32 = 2.5;
/// Smallest distance between the vertices of a pair at rest, local edge lengths.
const MIN_REST_DISTANCE_EDGES: f32 = 2.5;
/// Largest cosine between the outward directions of the two vertices of a pair.
const MAX_FACING_COSINE: f32 = 0.5;

/// Two vertices that may touch: one of the first bone and one of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VertexPair {
    pub(super) vertices: [u32; 2],
    /// Mean of their local edge lengths at rest, world units.
    pub(super) edge: f32,
}

/// Two bones of a joint, and the pairs between their skins.
#[derive(Debug, Clone)]
pub(super) struct BonePair {
    pub(super) bones: [u32; 2],
    /// Bind position of the joint.
    pub(super) joint: Point,
    /// Unit vectors from the joint along both bones, in the bind pose.
    pub(super) along: [Vec3; 2],
    /// Unit vectors perpendicular to the first bone, in the bind pose: the sweep directions.
    pub(super) directions: [Vec3; DIRECTIONS],
    /// Per direction, the range of its pairs.
    pub(super) ranges: [Range<u32>; DIRECTIONS],
}

/// Result of one joint.
type SweptPairs = (BonePair, Vec<VertexPair>);

/// Sweeps all joints. Each is independent of the others, so that the result does not depend on the number of threads.
pub(super) fn sweep(body: &CollisionBody, tissue: &Tissue) -> (Vec<BonePair>, Vec<VertexPair>) {
    let graph = &tissue.graph;
    let mut by_bone: Vec<Vec<u32>> = vec![Vec::new(); graph.bones.len()];
    for (vertex, &bone) in tissue.foot_bones.iter().enumerate() {
        by_bone[bone as usize].push(vertex as u32);
    }
    let found: Vec<SweptPairs> = bone_pairs_at_nodes(graph)
        .into_par_iter()
        .filter_map(|(node, bones)| {
            let skins = bones.map(|bone| by_bone[bone].as_slice());
            sweep_joint(body, graph, node, bones, skins)
        })
        .collect();
    let (mut bone_pairs, mut pairs) = (Vec::new(), Vec::new());
    for (mut bone_pair, own) in found {
        let before = pairs.len() as u32;
        for range in &mut bone_pair.ranges {
            *range = range.start + before..range.end + before;
        }
        bone_pairs.push(bone_pair);
        pairs.extend(own);
    }
    (bone_pairs, pairs)
}

/// All pairs of bones that share a node, with the node. A bone that ends there comes first.
fn bone_pairs_at_nodes(graph: &BoneGraph) -> Vec<(usize, [usize; 2])> {
    let mut found = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        for (k, &a) in node.bones.iter().enumerate() {
            for &b in &node.bones[k + 1..] {
                let second_ends =
                    graph.bones[b].nodes[1] == index && graph.bones[a].nodes[1] != index;
                found.push((index, if second_ends { [b, a] } else { [a, b] }));
            }
        }
    }
    found
}

fn sweep_joint(
    body: &CollisionBody,
    graph: &BoneGraph,
    node: usize,
    bones: [usize; 2],
    skins: [&[u32]; 2],
) -> Option<SweptPairs> {
    let center = graph.nodes[node].position;
    let offset = |bone: usize| {
        (graph.nodes[graph.other_end(bone, node)].position - center).try_normalize(1e-30)
    };
    let (first, second) = (offset(bones[0])?, offset(bones[1])?);
    if first.angle(&second) < MIN_REST_ANGLE_RAD {
        return None;
    }
    let joint = center.cast::<f32>();
    let along = [first, second].map(nalgebra::Matrix::cast::<f32>);
    let helper = if first.x.abs() < 0.7 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let u = first.cross(&helper).normalize();
    let v = first.cross(&u);
    let at_rest = Bend::of(joint, along);
    let (mut pairs, mut directions) = (Vec::new(), [Vec3::zeros(); DIRECTIONS]);
    let mut ranges = [const { 0..0 }; DIRECTIONS];
    for (k, (direction, range)) in directions.iter_mut().zip(&mut ranges).enumerate() {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / DIRECTIONS as f64).sin_cos();
        let across = u * cos + v * sin;
        let target = first * MIN_ANGLE_RAD.cos() + across * MIN_ANGLE_RAD.sin();
        *direction = across.cast::<f32>();
        let before = pairs.len();
        // For opposite directions the shortest rotation is not unique: skip this sweep direction.
        if let (Some(turn), Some(bend)) = (
            Quat::rotation_between(&second, &target),
            Bend::of(joint, [along[0], target.cast::<f32>()]),
        ) {
            let turns = [nalgebra::UnitQuaternion::identity(), turn.cast::<f32>()];
            let patches =
                [0, 1].map(|side| patch(body, skins[side], &joint, &turns[side], &bend, side));
            pair_up(body, &patches, &mut pairs);
            let rest = |pair: &VertexPair| pair.vertices.map(|v| body.rest[v as usize]);
            let mut index = 0;
            pairs.retain(|pair| {
                index += 1;
                let [a, b] = rest(pair);
                let crossed = at_rest
                    .as_ref()
                    .is_some_and(|bend| bend.has_crossed(&a, &b));
                index <= before
                    || (!crossed && (a - b).norm() > MIN_REST_DISTANCE_EDGES * pair.edge)
            });
        }
        *range = before as u32..pairs.len() as u32;
    }
    if pairs.is_empty() {
        return None;
    }
    Some((
        BonePair {
            bones: bones.map(|bone| bone as u32),
            joint,
            along,
            directions,
            ranges,
        },
        pairs,
    ))
}

/// A vertex of a patch in the swept pose.
#[derive(Debug, Clone, Copy)]
struct SweptVertex {
    vertex: u32,
    /// Coordinates on the plane between the bones: distance from the joint along the bisector, and along the hinge axis.
    coordinates: [f32; 2],
    outward: Vec3,
}

/// The vertices of one bone that reach or cross the plane between the bones, sorted by distance from the joint.
fn patch(
    body: &CollisionBody,
    skin: &[u32],
    joint: &Point,
    turn: &nalgebra::UnitQuaternion<f32>,
    bend: &Bend,
    side: usize,
) -> Vec<SweptVertex> {
    let hinge_axis = bend.plane_normal.cross(&bend.bisector);
    let own_side = if side == 0 { 1.0 } else { -1.0 };
    let swept = |&vertex: &u32| {
        let offset = turn * (body.rest[vertex as usize] - joint);
        let near = own_side * bend.plane_normal.dot(&offset)
            < PATCH_DISTANCE_EDGES * body.edge_at[vertex as usize];
        let coordinates = [bend.bisector.dot(&offset), hinge_axis.dot(&offset)];
        (near && coordinates[0] > 0.0).then(|| SweptVertex {
            vertex,
            coordinates,
            outward: turn * body.outward[vertex as usize],
        })
    };
    let mut patch: Vec<SweptVertex> = skin.iter().filter_map(swept).collect();
    patch.sort_by(|a, b| {
        a.coordinates[0]
            .total_cmp(&b.coordinates[0])
            .then(a.vertex.cmp(&b.vertex))
    });
    patch
}

/// Pairs each vertex of the larger patch with the closest vertex of the other.
fn pair_up(body: &CollisionBody, patches: &[Vec<SweptVertex>; 2], pairs: &mut Vec<VertexPair>) {
    let [first, second] = patches;
    let swapped = second.len() > first.len();
    let (from, to) = if swapped {
        (second, first)
    } else {
        (first, second)
    };
    for own in from {
        let edge_of = |v: u32| body.edge_at[v as usize];
        let reach = MAX_OFFSET_EDGES * edge_of(own.vertex);
        let start = to.partition_point(|other| other.coordinates[0] < own.coordinates[0] - reach);
        let mut best: Option<(f32, u32)> = None;
        for other in to[start..]
            .iter()
            .take_while(|other| other.coordinates[0] <= own.coordinates[0] + reach)
        {
            let (x, y) = (
                other.coordinates[0] - own.coordinates[0],
                other.coordinates[1] - own.coordinates[1],
            );
            let distance = x * x + y * y;
            if best.is_none_or(|(least, _)| distance < least)
                && own.outward.dot(&other.outward) < MAX_FACING_COSINE
            {
                best = Some((distance, other.vertex));
            }
        }
        if let Some((distance, other)) = best
            && distance <= reach * reach
        {
            let vertices = if swapped {
                [other, own.vertex]
            } else {
                [own.vertex, other]
            };
            pairs.push(VertexPair {
                vertices,
                edge: 0.5 * (edge_of(own.vertex) + edge_of(other)),
            });
        }
    }
}
