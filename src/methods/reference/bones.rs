//! Volumetric bones: the nodes that are prescribed by each joint.

use std::collections::BTreeMap;

use super::inside::Inside;
use super::lattice::Lattice;
use super::pieces;
use crate::character::BoneMap;
use crate::math::{Point64, Vec64};
use crate::mesh::closest_on_segment;
use crate::tissue::BoneGraph;

/// Points along a bone at which its distance from the skin is measured.
const PROFILE: usize = 9;
/// Where bones of different joints meet, a rod ends before the joint by this fraction of the joint's distance to the
/// skin…
const GAP: f64 = 0.5;
/// …but by no more than this fraction of its length.
const LONGEST_GAP: f64 = 0.3;

/// Minimum radius of a rod in cell edges: flesh could rotate freely about a single line of nodes.
const MIN_RADIUS: f64 = 1.0;

/// The rod of a bone: a cone with round ends, with a smaller radius where the skin is closer.
struct TaperedCapsule {
    joint: u32,
    ends: [Point64; 2],
    /// Radii at equally spaced points from the first end to the second.
    radii: [f64; PROFILE],
}

impl TaperedCapsule {
    /// The nearest point of the axis, the distance from it, and the radius there.
    fn nearest(&self, point: &Point64) -> (Point64, f64, f64) {
        let [a, b] = &self.ends;
        let t = closest_on_segment(point, a, b);
        let on = a + (b - a) * t;
        let at = t * (PROFILE - 1) as f64;
        let below = (at.floor() as usize).min(PROFILE - 2);
        let part = at - below as f64;
        let radius = self.radii[below] * (1.0 - part) + self.radii[below + 1] * part;
        (on, (point - on).norm(), radius)
    }
}

/// For every node the joint that prescribes it, if any.
pub(super) type JointOfNode = Vec<Option<u32>>;

/// Input for the construction of bones.
pub(super) struct Bones<'a> {
    pub graph: &'a BoneGraph,
    pub settings: &'a BoneMap,
    /// Radius of a rod as a fraction of the distance from its axis to the skin.
    pub fraction: f64,
}

impl Bones<'_> {
    fn rods(&self, inside: &Inside<'_>) -> Vec<TaperedCapsule> {
        let to_skin = |point: &Point64| {
            if inside.winding(point) == 0 {
                return 0.0;
            }
            let closest = inside.tree.closest(point, f64::INFINITY, |_| true);
            closest.map_or(0.0, |closest| closest.distance)
        };
        let graph = self.graph;
        let mut rods = Vec::new();
        for (index, bone) in graph.bones.iter().enumerate() {
            if self.is(bone.joint, |settings| settings.is_virtual) {
                continue;
            }
            let [mut a, mut b] = graph.segment(index);
            let length = (b - a).norm();
            let along = (b - a) / length.max(f64::MIN_POSITIVE);
            let gap = |node: usize| {
                let meets_another = graph.nodes[node]
                    .bones
                    .iter()
                    .any(|&other| graph.bones[other].joint != bone.joint);
                if meets_another {
                    (GAP * to_skin(&graph.nodes[node].position)).min(LONGEST_GAP * length)
                } else {
                    0.0
                }
            };
            let gaps = bone.nodes.map(gap);
            a += along * gaps[0];
            b -= along * gaps[1];
            let radii = std::array::from_fn(|k| {
                let t = k as f64 / (PROFILE - 1) as f64;
                self.fraction * to_skin(&(a + (b - a) * t))
            });
            rods.push(TaperedCapsule {
                joint: bone.joint as u32,
                ends: [a, b],
                radii,
            });
        }
        rods
    }

    fn is(&self, joint: usize, what: impl Fn(&crate::character::BoneSettings) -> bool) -> bool {
        self.settings.get(&joint).is_some_and(what)
    }

    /// For every node the joint that prescribes it. Prescribed are the nodes in a rod, at least one node in every
    /// element that its axis runs through, and all nodes of flesh that a bone holds rigidly.
    pub fn joint_of_node(&self, lattice: &Lattice, inside: &Inside<'_>) -> JointOfNode {
        let mut prescribed: JointOfNode = vec![None; lattice.nodes.len()];
        let elements_of_node = elements_of_node(lattice);
        let rods = self.rods(inside);
        for (node, point) in lattice.nodes.iter().enumerate() {
            let sides = (elements_of_node[node].iter())
                .map(|&element| lattice.elements[element as usize].side);
            let thinnest = MIN_RADIUS * sides.fold(0.0, f64::max);
            let mut best: Option<(f64, u32)> = None;
            for rod in &rods {
                let (on, distance, radius) = rod.nearest(point);
                let radius = radius.max(thinnest);
                if distance > radius || best.is_some_and(|(least, _)| least <= distance / radius) {
                    continue;
                }
                if is_joined_with_axis(lattice, inside, &elements_of_node[node], &on) {
                    best = Some((distance / radius, rod.joint));
                }
            }
            prescribed[node] = best.map(|(_, joint)| joint);
        }
        for rod in &rods {
            prescribe_axis(rod, lattice, inside, &mut prescribed);
        }
        self.prescribe_rigid_flesh(lattice, &mut prescribed);
        prescribed
    }

    /// Prescribes the nodes of the flesh around bones that the user set to hold it rigidly.
    fn prescribe_rigid_flesh(&self, lattice: &Lattice, prescribed: &mut JointOfNode) {
        if !self.settings.values().any(|settings| settings.held) {
            return;
        }
        for (point, prescribed) in lattice.nodes.iter().zip(prescribed) {
            let closest = self.graph.closest(point, 0..self.graph.bones.len());
            let joint = closest.map(|(bone, _, _)| self.graph.bones[bone].joint);
            if let Some(joint) = joint.filter(|&joint| self.is(joint, |bone| bone.held)) {
                *prescribed = Some(joint as u32);
            }
        }
    }
}

fn elements_of_node(lattice: &Lattice) -> Vec<Vec<u32>> {
    let mut elements = vec![Vec::new(); lattice.nodes.len()];
    for (index, element) in lattice.elements.iter().enumerate() {
        for &node in &element.nodes {
            elements[node as usize].push(index as u32);
        }
    }
    elements
}

/// Whether one of these elements contains a piece of the body that is joined with a point on the axis of a rod.
fn is_joined_with_axis(
    lattice: &Lattice,
    inside: &Inside<'_>,
    elements: &[u32],
    on: &Point64,
) -> bool {
    let winding = inside.winding(on);
    winding > 0
        && elements.iter().any(|&index| {
            let element = &lattice.elements[index as usize];
            let cell = lattice.octree.cells[element.cell as usize];
            let nearest = lattice.pieces[element.cell as usize]
                .samples(element.piece)
                .map(|sample| pieces::position(&lattice.octree, cell, sample))
                .min_by(|a, b| (a - on).norm().total_cmp(&(b - on).norm()));
            nearest.is_some_and(|sample| inside.joined(on, winding, &sample))
        })
}

/// In every element on the axis without a node of this joint, prescribes the nearest node.
fn prescribe_axis(
    rod: &TaperedCapsule,
    lattice: &Lattice,
    inside: &Inside<'_>,
    prescribed: &mut JointOfNode,
) {
    let [a, b] = rod.ends;
    let steps = ((b - a).norm() / (0.5 * lattice.octree.spacing))
        .ceil()
        .max(1.0) as usize;
    for step in 0..=steps {
        let point = a + (b - a) * (step as f64 / steps as f64);
        if inside.winding(&point) == 0 {
            continue;
        }
        let Some(index) = lattice.element_near(inside, &point, |_| true) else {
            continue;
        };
        let element = &lattice.elements[index as usize];
        let local: Vec64 = element.local(&point);
        if local.iter().any(|c| !(-0.01..1.01).contains(c)) {
            continue;
        }
        let is_held = |node: &&u32| prescribed[**node as usize] == Some(rod.joint);
        if element.nodes.iter().any(|node| is_held(&node)) {
            continue;
        }
        let distance = |node: u32| (lattice.nodes[node as usize] - point).norm();
        let free = element.nodes.iter().copied();
        let nearest = free
            .filter(|&node| prescribed[node as usize].is_none())
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        if let Some(node) = nearest {
            prescribed[node as usize] = Some(rod.joint);
        }
    }
}

/// For every connected body the joint with the largest sum of weights over the points embedded in it.
pub(super) fn strongest_joints(
    lattice: &Lattice,
    points: impl Iterator<Item = (u32, Vec<(u32, f32)>)>,
) -> Vec<Option<u32>> {
    let mut sums: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); lattice.components];
    for (element, row) in points {
        let component = lattice.elements[element as usize].component;
        for (joint, weight) in row {
            *sums[component as usize].entry(joint).or_default() += f64::from(weight);
        }
    }
    let strongest = |sums: BTreeMap<u32, f64>| {
        let mut best: Option<(u32, f64)> = None;
        for (joint, sum) in sums {
            if best.is_none_or(|(_, most)| sum > most) {
                best = Some((joint, sum));
            }
        }
        best.map(|(joint, _)| joint)
    };
    sums.into_iter().map(strongest).collect()
}
