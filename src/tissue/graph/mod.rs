//! Volumetric skeleton: joints become nodes, parent–child pairs become bone segments.
//!
//! A bone moves with the frame of the joint at its start. Leaf joints with skin get a tail that ends inside that skin.
//! Joints at the same position share a node. Joints without skin and bones outside the flesh are left out and reported.

mod tails;

use std::collections::BTreeMap;

use super::TissueError;
use crate::character::{Note, Severity};
use crate::math::Point64;
use crate::mesh::{TriMesh, closest_on_segment};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;
use tails::Tails;

/// Bones shorter than this fraction of the size count as points.
const MIN_LENGTH: f64 = 1e-3;
/// Samples along a bone that are tested for lying inside the skin.
const SAMPLES: usize = 5;

/// A joint sphere, or the end of a leaf bone.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Node {
    /// World position in the bind pose.
    pub position: Point64,
    /// Radius of the joint sphere, world units; 0 at the end of a leaf, which has no sphere.
    pub radius: f64,
    /// The bones that meet in it.
    pub bones: Vec<usize>,
}

/// A bone segment with a cylinder around it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bone {
    /// The joint whose frame moves the bone.
    pub joint: usize,
    /// The joint at its end; `None` for a tail.
    pub end_joint: Option<usize>,
    /// Start and end, indices into [`BoneGraph::nodes`].
    pub nodes: [usize; 2],
    /// Radius of the cylinder and its round caps, world units.
    pub radius: f64,
    /// Whether it is virtual: it shapes the flesh, but its joint does not move it directly.
    pub is_virtual: bool,
    /// Whether it twists along its length with the joint at its end.
    pub twists: bool,
}

/// The volumetric skeleton in the bind pose.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BoneGraph {
    /// Joint spheres and leaf ends.
    pub nodes: Vec<Node>,
    /// Bones.
    pub bones: Vec<Bone>,
}

impl BoneGraph {
    /// Start and end of a bone.
    #[must_use]
    pub fn segment(&self, bone: usize) -> [Point64; 2] {
        self.bones[bone].nodes.map(|node| self.nodes[node].position)
    }

    /// Length of a bone.
    #[must_use]
    pub fn length(&self, bone: usize) -> f64 {
        let [a, b] = self.segment(bone);
        (b - a).norm()
    }

    /// The other end of `bone`.
    #[must_use]
    pub fn other_end(&self, bone: usize, node: usize) -> usize {
        let [a, b] = self.bones[bone].nodes;
        if a == node { b } else { a }
    }

    /// The candidate bone whose segment is closest to `point`, with the parameter 0..=1 on it and the distance.
    pub fn closest(
        &self,
        point: &Point64,
        candidates: impl IntoIterator<Item = usize>,
    ) -> Option<(usize, f64, f64)> {
        let mut best: Option<(usize, f64, f64)> = None;
        for bone in candidates {
            let [a, b] = self.segment(bone);
            let t = closest_on_segment(point, &a, &b);
            let distance = (a + (b - a) * t - point).norm();
            if best.is_none_or(|(_, _, d)| distance < d) {
                best = Some((bone, t, distance));
            }
        }
        best
    }

    fn add_node(&mut self, position: Point64) -> usize {
        self.nodes.push(Node {
            position,
            radius: 0.0,
            bones: Vec::new(),
        });
        self.nodes.len() - 1
    }

    fn add_bone(&mut self, joint: usize, end_joint: Option<usize>, [from, to]: [usize; 2]) {
        let bone = self.bones.len();
        self.bones.push(Bone {
            joint,
            end_joint,
            nodes: [from, to],
            radius: 0.0,
            is_virtual: false,
            twists: false,
        });
        self.nodes[from].bones.push(bone);
        self.nodes[to].bones.push(bone);
    }
}

/// Total weight of each joint, alone and with all joints below it, in vertices.
struct JointInfluence {
    own: Vec<f64>,
    subtree: Vec<f64>,
}

impl JointInfluence {
    fn of(skeleton: &Skeleton, weights: Option<&SkinWeights>) -> Option<Self> {
        let weights = weights?;
        let mut own = vec![0.0; skeleton.len()];
        for (&joint, &value) in weights.joints.iter().zip(&weights.values) {
            own[joint as usize] += f64::from(value);
        }
        let mut subtree = own.clone();
        for joint in (0..skeleton.len()).rev() {
            if let Some(parent) = skeleton.joints()[joint].parent {
                subtree[parent] += subtree[joint];
            }
        }
        Some(Self { own, subtree })
    }
}

/// Builds the graph around the bind pose.
pub(crate) fn build(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
) -> Result<(BoneGraph, Vec<Note>), TissueError> {
    let size = f64::from(mesh.bounds().size());
    let mut notes = Vec::new();
    let influence = JointInfluence::of(skeleton, weights);
    let pairs = candidate_pairs(skeleton, size);
    let needed: Vec<f64> = pairs
        .iter()
        .map(|&pair| required_inside_fraction(pair, influence.as_ref()))
        .collect();
    let undecided: Vec<(usize, usize)> = pairs
        .iter()
        .zip(&needed)
        .filter(|(_, n)| (1e-9..1.0).contains(*n))
        .map(|(pair, _)| *pair)
        .collect();
    let mut inside = inside_fractions(mesh, skeleton, &undecided).into_iter();
    let mut kept = Vec::new();
    let mut dropped = Vec::new();
    for (&pair, needed) in pairs.iter().zip(needed) {
        let keep = match needed {
            0.0 => true,
            f64::INFINITY => false,
            needed => inside.next().is_some_and(|fraction| fraction > needed),
        };
        if keep {
            kept.push(pair);
        } else {
            dropped.push(skeleton.joints()[pair.0].name.as_str());
        }
    }
    report(
        &mut notes,
        "bone outside the skin or without skin left out of the flesh",
        "bones outside the skin or without skin left out of the flesh",
        &dropped,
    );

    let node_of_joint = merged_nodes(skeleton, size);
    let on_parent = |&joint: &usize| node_of_joint[joint] != joint;
    let doubled: Vec<&str> = (0..skeleton.len())
        .filter(on_parent)
        .map(|joint| skeleton.joints()[joint].name.as_str())
        .collect();
    report(
        &mut notes,
        "joint at the place of its parent shares its joint sphere",
        "joints at the place of their parents share their joint spheres",
        &doubled,
    );
    let mut graph = BoneGraph::default();
    let mut node_index = BTreeMap::new();
    let mut node = |graph: &mut BoneGraph, joint: usize| {
        let representative = node_of_joint[joint];
        *node_index
            .entry(representative)
            .or_insert_with(|| graph.add_node(skeleton.bind_position(representative)))
    };
    for &(from, to) in &kept {
        let (a, b) = (node(&mut graph, from), node(&mut graph, to));
        if a != b {
            graph.add_bone(from, Some(to), [a, b]);
        }
    }
    let tails = Tails {
        mesh,
        skeleton,
        weights,
        size,
    };
    for (joint, &place) in node_of_joint.iter().enumerate() {
        let starts_bone = kept.iter().any(|&(from, _)| from == joint);
        let wanted = match &influence {
            Some(influence) => influence.own[joint] > 0.5 && !starts_bone,
            None if skeleton.joints()[joint].tail.is_some() => {
                !starts_bone && skeleton.children(joint).is_empty()
            }
            None => {
                skeleton.joints()[joint].deforms
                    && !starts_bone
                    && (skeleton.len() == 1 || node_index.contains_key(&place))
            }
        };
        if !wanted {
            continue;
        }
        let start = node_index.get(&place).copied();
        if let Some(tip) = tails.find(joint, &graph, start) {
            let a = start.unwrap_or_else(|| graph.add_node(skeleton.bind_position(joint)));
            node_index.insert(place, a);
            let b = graph.add_node(tip);
            graph.add_bone(joint, None, [a, b]);
        }
    }
    if graph.bones.is_empty() {
        return Err(TissueError::OutsideSkin {
            joints: skeleton.len(),
        });
    }
    Ok((graph, notes))
}

/// Every joint with each child at another position.
fn candidate_pairs(skeleton: &Skeleton, size: f64) -> Vec<(usize, usize)> {
    (0..skeleton.len())
        .flat_map(|joint| {
            skeleton
                .children(joint)
                .iter()
                .map(move |&child| (joint, child))
        })
        .filter(|&(a, b)| {
            (skeleton.bind_position(a) - skeleton.bind_position(b)).norm() > MIN_LENGTH * size
        })
        .collect()
}

/// For every pair the fraction of its segment inside the skin.
fn inside_fractions(mesh: &TriMesh, skeleton: &Skeleton, pairs: &[(usize, usize)]) -> Vec<f64> {
    let points: Vec<Point64> = pairs
        .iter()
        .flat_map(|&(a, b)| {
            let (a, b) = (skeleton.bind_position(a), skeleton.bind_position(b));
            (0..SAMPLES).map(move |k| a + (b - a) * ((k as f64 + 0.5) / SAMPLES as f64))
        })
        .collect();
    let numbers = mesh.winding_numbers(&points);
    numbers
        .chunks(SAMPLES)
        .map(|chunk| chunk.iter().filter(|n| n.abs() > 0.4).count() as f64 / SAMPLES as f64)
        .collect()
}

/// The fraction of a bone that must lie inside the skin for the bone to be part of the body.
fn required_inside_fraction((from, to): (usize, usize), influence: Option<&JointInfluence>) -> f64 {
    match influence {
        // Weights tell which joints move skin. A bone to a joint without skin (a grip, a target) is kept only if it
        // lies inside the skin, as an end joint in a finger tip does. The same holds for a bone from a joint without
        // skin (a root on the ground).
        Some(influence) if influence.own[from] > 0.5 && influence.subtree[to] > 0.5 => 0.0,
        Some(influence) if influence.own[from] > 0.5 => 0.7,
        Some(influence) if influence.subtree[to] > 0.5 => 0.9,
        Some(_) => f64::INFINITY,
        None => 0.3,
    }
}

/// For every joint the first joint at its position.
fn merged_nodes(skeleton: &Skeleton, size: f64) -> Vec<usize> {
    let mut representative: Vec<usize> = (0..skeleton.len()).collect();
    for joint in 0..skeleton.len() {
        if let Some(parent) = skeleton.joints()[joint].parent
            && (skeleton.bind_position(parent) - skeleton.bind_position(joint)).norm()
                <= MIN_LENGTH * size
        {
            representative[joint] = representative[parent];
        }
    }
    representative
}

fn report(notes: &mut Vec<Note>, one: &str, many: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let mut shown: Vec<&str> = names.to_vec();
    shown.dedup();
    let more = shown.len().saturating_sub(6);
    shown.truncate(6);
    let tail = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let text = format!(
        "{} {}: {}{tail}",
        names.len(),
        if names.len() == 1 { one } else { many },
        shown.join(", ")
    );
    notes.push(Note {
        severity: Severity::Info,
        text,
        count: names.len(),
    });
}
