//! Weights from distances through the inside of the skin.
//!
//! Dionne, de Lasa, "Geodesic Voxel Binding for Production Character Meshes", SCA 2013. The distance from a bone is the length of the
//! shortest path through solid cells, 26 neighbours each, section 4.2; their weights, equation 1, are with d in parts of the diagonal
//!
//! ```text
//! w ∝ 1 / ((1 − α) d + α d²)²           α from 0, sharp, to 1, smooth
//! ```
//!
//! [`GeodesicField`] keeps the distances, so that α can change without computing them again.
//!
//! # Departures
//! - One pass finds the nearest [`NEAREST`] joints of every cell at once, instead of one pass per joint.
//! - The default formula is w ∝ (`d_min` / d)^p: the paper's falls off by the size of the whole character, so that bones far away count
//!   far too much.
//! - Bones are volumes, not lines: with a radius of half the distance to the skin all formulas come nearer to artists' weights.
//! - Distances are between corners of cells, which share the cell, instead of between centres.
//! - Vertices of parts without any bone take the distances of the nearest part with one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::common_params::{INFLUENCES, RESOLUTION, SMOOTHING, resolution};
use super::voxel::{BoneNodes, Lookup, NodeTree, VoxelBinding, VoxelDomain};
use super::{
    ComputedWeights, SkinWeights, WeightDescriptor, WeightError, WeightInput, WeightReport,
    by_distance,
};
use crate::mesh::TriMesh;
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;

/// Whether weights follow from distances as in the paper.
const PUBLISHED: ParamSpec = ParamSpec {
    key: "published",
    label: "As published",
    unit: "",
    kind: ParamKind::Switch,
    range: [0.0, 1.0],
    default: 0.0,
    doc: "Weights by the paper's formula with its smoothness, which reach far; otherwise by distances relative to the nearest bone.",
};

/// α of the paper's formula.
const SMOOTHNESS: ParamSpec = ParamSpec {
    key: "smoothness",
    label: "Smoothness",
    unit: "",
    kind: ParamKind::Real,
    range: [0.0, 1.0],
    default: 0.2,
    doc: "From 0, sharp, to 1, smooth: the paper's alpha.",
};

/// Power of relative distances.
const POWER: ParamSpec = ParamSpec {
    key: "power",
    label: "Fall-off",
    unit: "",
    kind: ParamKind::Real,
    range: [1.0, 12.0],
    default: 5.0,
    doc: "Power of the distance relative to the nearest bone's: larger is sharper.",
};

/// Geodesic voxel binding.
pub(super) const DESCRIPTOR: WeightDescriptor = WeightDescriptor {
    id: "geodesic",
    label: "Geodesic voxels",
    doc: "From distances through the inside of the skin: weights never cross a gap.",
    cost: "0.5 s",
    source: "Dionne, de Lasa, Geodesic Voxel Binding for Production Character Meshes, SCA 2013",
    departures: &[
        "One pass finds the nearest joints of every cell at once.",
        "By default weights fall off with the distance relative to that of the nearest bone.",
    ],
    params: &[
        INFLUENCES, SMOOTHING, RESOLUTION, PUBLISHED, SMOOTHNESS, POWER,
    ],
    version: 2,
    compute: Some(geodesic),
};

fn formula(values: &ParamValues) -> GeodesicFormula {
    if values.get(&PUBLISHED) > 0.0 {
        GeodesicFormula::Paper(values.get(&SMOOTHNESS))
    } else {
        GeodesicFormula::Relative(values.get(&POWER))
    }
}

/// How many joints are kept for every cell.
pub const NEAREST: usize = 8;
/// Least distance, in parts of the diagonal.
const LEAST: f64 = 1e-4;
/// A vertex within this part of a cell from a face of the grid lies on it.
const ON_FACE: f64 = 1e-4;
/// Cells that are settled between two looks at the cancel flag.
const CHECKED: usize = 20_000;

/// How weights follow from distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeodesicFormula {
    /// The paper's, with its smoothness α from 0 to 1.
    Paper(f64),
    /// (`d_min` / d)^p with this power p.
    Relative(f64),
}

impl Default for GeodesicFormula {
    fn default() -> Self {
        Self::Relative(6.0)
    }
}

/// For every vertex the nearest joints and their distances through the inside of the skin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeodesicField {
    /// `offsets[v]..offsets[v + 1]` are the entries of vertex v; one longer than there are vertices.
    pub offsets: Vec<u32>,
    /// Joint and distance in the unit of the mesh, the nearest first; at most `NEAREST` a vertex, none if no bone is within the skin.
    pub entries: Vec<(u32, f32)>,
    /// Diagonal of the bounding box, in the unit of the mesh.
    pub diagonal: f64,
    /// Vertices in parts without any bone, or outside of all cells.
    pub unreached: usize,
}

/// Geodesic weights of a skin.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn geodesic(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let WeightInput { mesh, skeleton, .. } = *input;
    let cells = resolution(input.values);
    let binding = VoxelBinding::shared(input, cells, &progress.part(0.0, 0.5))?;
    let (domain, bones) = (&binding.domain, &binding.bones);
    let distances = || GeodesicField::of(mesh, domain, bones, &progress.part(0.5, 1.0));
    let field = input.memo.get_or_make(cells, distances)?;
    Ok(field.finish(formula(input.values), mesh, skeleton, bones, domain))
}

impl GeodesicField {
    /// The distances from bones to vertices. Bone nodes of radius 0 are the cells on the segments, as in the paper.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(
        mesh: &TriMesh,
        domain: &VoxelDomain,
        bones: &BoneNodes,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        progress.report(0.0, "Finding distances");
        let nearest = nearest_joints(domain, bones, progress)?;
        let lookup = Lookup::of(&domain.nodes);
        let is_reached = |node: &u32| !nearest.of(*node as usize).is_empty();
        let nodes = 0..domain.nodes.len() as u32;
        let tree = NodeTree::of(domain, nodes.filter(is_reached));
        let edge = domain.grid.edge;
        let of_vertex = |position: &crate::math::Point| {
            let at = domain.grid.coordinates(&position.cast());
            // On a face of the grid the corners on both sides of it count, so that a mirror image has the same.
            let lowest = at.map(|at| (at - ON_FACE).floor());
            let highest = at.map(|at| (at + ON_FACE).floor() + 1.0);
            let around = (0..27).filter_map(|k| {
                let corner = [0, 1, 2].map(|axis| {
                    let step = k / 3_i32.pow(axis as u32) % 3;
                    lowest[axis] + f64::from(step)
                });
                if (0..3).any(|axis| corner[axis] > highest[axis]) {
                    return None;
                }
                let valid = corner.iter().all(|&c| (0.0..1e6).contains(&c));
                valid
                    .then(|| lookup.find(corner.map(|c| c as u32)))
                    .flatten()
            });
            let mut nodes: Vec<u32> = around.filter(is_reached).collect();
            let reached = !nodes.is_empty();
            if !reached {
                nodes = tree.nearest(at);
            }
            let mut row: Vec<(u32, f32)> = Vec::new();
            for node in nodes {
                let place = domain.nodes[node as usize].map(f64::from);
                let away = (0..3)
                    .map(|k| (place[k] - at[k]).powi(2))
                    .sum::<f64>()
                    .sqrt();
                let away = if reached { away as f32 } else { 0.0 };
                for &(joint, distance) in nearest.of(node as usize) {
                    keep_least(&mut row, joint, distance + away);
                }
            }
            row.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
            row.truncate(NEAREST);
            for (_, distance) in &mut row {
                *distance *= edge as f32;
            }
            (row, reached)
        };
        let rows: Vec<(Vec<(u32, f32)>, bool)> = mesh.positions.par_iter().map(of_vertex).collect();
        let mut field = Self {
            offsets: vec![0],
            diagonal: f64::from(mesh.bounds().size()),
            unreached: rows.iter().filter(|(_, reached)| !reached).count(),
            ..Self::default()
        };
        for (row, _) in rows {
            field.entries.extend(row);
            field.offsets.push(field.entries.len() as u32);
        }
        Ok(field)
    }

    /// The nearest joints of a vertex and their distances.
    #[must_use]
    pub fn of_vertex(&self, vertex: usize) -> &[(u32, f32)] {
        &self.entries[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// Weights by a formula. Rows are empty where there is no joint.
    #[must_use]
    pub fn weights(&self, formula: GeodesicFormula) -> SkinWeights {
        let least = LEAST * self.diagonal.max(f64::MIN_POSITIVE);
        let rows = (0..self.offsets.len().saturating_sub(1)).map(|vertex| {
            let own = self.of_vertex(vertex);
            let nearest = own.first().map_or(least, |&(_, d)| f64::from(d).max(least));
            let weight = move |distance: f32| {
                let d = f64::from(distance).max(least);
                match formula {
                    // Times the nearest distance squared: the same after division by the sum, and finite for any size.
                    GeodesicFormula::Paper(alpha) => {
                        let alpha = alpha.clamp(0.0, 1.0);
                        let at = |d: f64| {
                            (1.0 - alpha) * d / self.diagonal + alpha * (d / self.diagonal).powi(2)
                        };
                        (at(nearest) / at(d)).powi(2)
                    }
                    GeodesicFormula::Relative(power) => (nearest / d).powf(power),
                }
            };
            own.iter()
                .map(move |&(joint, distance)| (joint, weight(distance) as f32))
        });
        SkinWeights::from_rows(rows).0
    }

    /// Weights by a formula with a report; by distance in space if no bone is within the skin.
    fn finish(
        &self,
        formula: GeodesicFormula,
        mesh: &TriMesh,
        skeleton: &Skeleton,
        bones: &BoneNodes,
        domain: &VoxelDomain,
    ) -> ComputedWeights {
        let report = WeightReport {
            unseeded: bones.unseeded.clone(),
            unreached: self.unreached,
            unknowns: domain.nodes.len(),
        };
        let weights = if bones.nodes.is_empty() {
            by_distance(mesh, skeleton)
        } else {
            let weights = self.weights(formula);
            if weights.is_complete() {
                weights
            } else {
                completed(&weights)
            }
        };
        ComputedWeights { weights, report }
    }
}

/// Gives vertices without weights, whose positions are not finite, to the first joint.
fn completed(weights: &SkinWeights) -> SkinWeights {
    let rows = (0..weights.len()).map(|vertex| {
        let row = weights.row(vertex);
        if row.is_empty() { vec![(0, 1.0)] } else { row }
    });
    SkinWeights::from_rows(rows.collect::<Vec<_>>()).0
}

/// Adds a joint to a row, or lowers its distance.
fn keep_least(row: &mut Vec<(u32, f32)>, joint: u32, distance: f32) {
    match row.iter_mut().find(|(known, _)| *known == joint) {
        Some((_, least)) => *least = least.min(distance),
        None => row.push((joint, distance)),
    }
}

/// For every node up to [`NEAREST`] joints with their distances in cells, the nearest first.
struct Nearest {
    counts: Vec<u8>,
    entries: Vec<(u32, f32)>,
}

impl Nearest {
    fn of(&self, node: usize) -> &[(u32, f32)] {
        &self.entries[node * NEAREST..node * NEAREST + usize::from(self.counts[node])]
    }

    /// Adds a joint that is farther than those known; whether it is new and one of the nearest.
    fn add(&mut self, node: usize, joint: u32, distance: f32) -> bool {
        let count = usize::from(self.counts[node]);
        if count == NEAREST || self.of(node).iter().any(|&(known, _)| known == joint) {
            return false;
        }
        self.entries[node * NEAREST + count] = (joint, distance);
        self.counts[node] += 1;
        true
    }
}

/// Dijkstra's algorithm from all bones at once. A node passes on the first [`NEAREST`] joints that arrive: those that come later cannot
/// be among the nearest behind it.
fn nearest_joints(
    domain: &VoxelDomain,
    bones: &BoneNodes,
    progress: &Progress,
) -> Result<Nearest, Cancelled> {
    let count = domain.nodes.len();
    let (starts, neighbours) = neighbours(domain);
    let mut nearest = Nearest {
        counts: vec![0; count],
        entries: vec![(0, 0.0); count * NEAREST],
    };
    // Distances are not negative: their bits are in their order.
    let mut heap: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::new();
    for (&node, joints) in bones.nodes.iter().zip(&bones.joints) {
        heap.extend(joints.iter().map(|&joint| Reverse((0, joint, node))));
    }
    let mut settled = 0;
    while let Some(Reverse((bits, joint, node))) = heap.pop() {
        let distance = f32::from_bits(bits);
        if !nearest.add(node as usize, joint, distance) {
            continue;
        }
        settled += 1;
        if settled % CHECKED == 0 {
            progress.check()?;
            progress.set_fraction(settled as f32 / (count * NEAREST) as f32);
        }
        let range = starts[node as usize] as usize..starts[node as usize + 1] as usize;
        for &(next, length) in &neighbours[range] {
            let known = nearest.of(next as usize);
            if known.len() < NEAREST && known.iter().all(|&(other, _)| other != joint) {
                heap.push(Reverse(((distance + length).to_bits(), joint, next)));
            }
        }
    }
    Ok(nearest)
}

/// Nodes that share a solid cell, with their distances in cells.
fn neighbours(domain: &VoxelDomain) -> (Vec<u32>, Vec<(u32, f32)>) {
    let mut pairs: Vec<(u32, u32, u8)> = domain
        .corners
        .par_iter()
        .flat_map_iter(|corners| {
            (0..64_u8).filter(|k| k >> 3 != k & 7).map(|k| {
                let axes = ((k >> 3) ^ (k & 7)).count_ones() as u8;
                (
                    corners[usize::from(k >> 3)],
                    corners[usize::from(k & 7)],
                    axes,
                )
            })
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let mut starts = vec![0_u32; domain.nodes.len() + 1];
    for &(from, _, _) in &pairs {
        starts[from as usize + 1] += 1;
    }
    for node in 0..domain.nodes.len() {
        starts[node + 1] += starts[node];
    }
    // Multiples of 2⁻¹⁰: sums are then exact, and do not depend on the order of the steps of a path.
    let length = |axes: u8| (f32::from(axes).sqrt() * 1024.0).round() / 1024.0;
    (
        starts,
        pairs
            .into_iter()
            .map(|(_, to, axes)| (to, length(axes)))
            .collect(),
    )
}
