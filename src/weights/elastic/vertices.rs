//! From fields at nodes to fields and weights at vertices.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::weights::voxel::VoxelBinding;
use crate::weights::{SkinWeights, WeightReport, by_distance};

/// Skin weights below this are dropped.
const LEAST_WEIGHT: f32 = 1e-4;
/// Blends are reduced by this before they are made to sum to 1, so that none jumps to 0.
const LEAST_BLEND: f32 = 0.02;
/// Fields of deformers that are nearer than this to 0 or 1 are 0 or 1, and those between are spread: the rest of a limb is then rigid.
const FLAT: f32 = 0.01;
/// Added to the squared harmonic fields, so that a vertex far from all joints has deformers, too.
const LEAST_PARTITION: f32 = 1e-6;

/// Fields of one joint at a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JointFields {
    /// The joint.
    pub joint: u32,
    /// d: share of the joint's deformer in the position of the vertex, positive; the shares of a vertex sum to 1.
    pub blend: f32,
    /// s: how far the vertex swings with the joint, 0 to 1. 1 for a joint without parent.
    pub swing: f32,
    /// t: how far it twists with the joint, 0 to 1. 1 for a joint without parent.
    pub twist: f32,
}

/// The elastic fields of a skin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ElasticFields {
    /// `offsets[v]..offsets[v + 1]` are the entries of vertex v; one longer than there are vertices.
    pub offsets: Vec<u32>,
    /// Fields of each vertex, joints ascending. None for a skin without solid cells or without bones in them.
    pub entries: Vec<JointFields>,
    /// Elastic skin weights: the swing field of every joint minus those of its children; by distance where there are no fields.
    pub weights: SkinWeights,
    /// What was noticed.
    pub report: WeightReport,
    /// The most negative weight before it was set to 0; 0 if there was none.
    pub most_negative: f32,
}

impl ElasticFields {
    /// The fields of a vertex.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[must_use]
    pub fn of(&self, vertex: usize) -> &[JointFields] {
        &self.entries[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }
}

/// Swing and twist field of a joint at the nodes where they are not 0: node, s, t; nodes ascending.
pub(super) type SparseFields = Vec<(u32, f32, f32)>;

/// What is interpolated between nodes.
pub(super) struct NodeFields {
    /// Per node: joint, s, t, joints ascending.
    pub(super) fields: Vec<Vec<(u32, f32, f32)>>,
    /// Per node: joint and squared harmonic field, joints ascending.
    pub(super) shares: Vec<Vec<(u32, f32)>>,
}

/// The fields of all joints, node by node.
pub(super) fn by_nodes(fields: &[SparseFields], nodes: usize) -> Vec<Vec<(u32, f32, f32)>> {
    let mut rows = vec![Vec::new(); nodes];
    for (joint, field) in fields.iter().enumerate() {
        for &(node, swing, twist) in field {
            rows[node as usize].push((joint as u32, swing, twist));
        }
    }
    rows
}

/// Values of all joints at one vertex.
struct Scratch {
    swing: Vec<f32>,
    twist: Vec<f32>,
    share: Vec<f32>,
    weight: Vec<f32>,
}

impl Scratch {
    fn new(joints: usize) -> Self {
        let zeros = || vec![0.0; joints];
        Self {
            swing: zeros(),
            twist: zeros(),
            share: zeros(),
            weight: zeros(),
        }
    }

    /// Interpolates between the nodes of a vertex.
    fn gather(&mut self, binding: &VoxelBinding, nodes: &NodeFields, vertex: usize) {
        for values in [&mut self.swing, &mut self.twist, &mut self.share] {
            values.fill(0.0);
        }
        for (node, part) in binding.transfer.of(vertex) {
            let part = part as f32;
            for &(joint, swing, twist) in &nodes.fields[node] {
                self.swing[joint as usize] += part * swing;
                self.twist[joint as usize] += part * twist;
            }
            for &(joint, share) in &nodes.shares[node] {
                self.share[joint as usize] += part * share;
            }
        }
    }

    /// The skin weights wⱼ = Sⱼ − Σ of the children, not negative. Returns the most negative one.
    fn telescope(&mut self, skeleton: &Skeleton) -> f32 {
        self.weight.copy_from_slice(&self.swing);
        for (joint, value) in skeleton.joints().iter().zip(&self.swing) {
            if let Some(parent) = joint.parent {
                self.weight[parent] -= value;
            }
        }
        let mut least = 0.0_f32;
        for weight in &mut self.weight {
            least = least.min(*weight);
            *weight = weight.max(0.0);
        }
        least
    }

    /// The entries of the vertex. A deformer counts where the joint or its parent has weight: only there is its result right.
    fn entries(&self, skeleton: &Skeleton) -> Vec<JointFields> {
        let mut entries = Vec::new();
        for (joint, own) in skeleton.joints().iter().enumerate() {
            let above = own.parent.map_or(0.0, |parent| self.weight[parent]);
            let blend = (above + self.weight[joint]) * (self.share[joint] + LEAST_PARTITION);
            if blend > 0.0 {
                let is_root = own.parent.is_none();
                let value = |field: &[f32]| {
                    let spread = (field[joint] - FLAT) / (1.0 - 2.0 * FLAT);
                    if is_root { 1.0 } else { spread.clamp(0.0, 1.0) }
                };
                entries.push(JointFields {
                    joint: joint as u32,
                    blend,
                    swing: value(&self.swing),
                    twist: value(&self.twist),
                });
            }
        }
        normalise(&mut entries, 0.0);
        normalise(&mut entries, LEAST_BLEND);
        entries
    }
}

/// Reduces all blends, drops those that are not positive then, and makes the others sum to 1.
fn normalise(entries: &mut Vec<JointFields>, by: f32) {
    let largest = entries.iter().map(|entry| entry.blend).fold(0.0, f32::max);
    // Many small ones: the largest stays in any case.
    let by = by.min(0.5 * largest);
    for entry in entries.iter_mut() {
        entry.blend -= by;
    }
    entries.retain(|entry| entry.blend > 0.0);
    let sum: f32 = entries.iter().map(|entry| entry.blend).sum();
    for entry in entries.iter_mut() {
        entry.blend /= sum;
    }
}

/// The fields and the weights of all vertices.
pub(super) fn at_vertices(
    binding: &VoxelBinding,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    nodes: &NodeFields,
) -> ElasticFields {
    type Row = (Vec<JointFields>, Vec<(u32, f32)>, f32);
    let row = |scratch: &mut Scratch, vertex: usize| -> Row {
        scratch.gather(binding, nodes, vertex);
        let least = scratch.telescope(skeleton);
        let weights = (0..).zip(scratch.weight.iter().copied());
        let weights = weights
            .filter(|(_, weight)| *weight > LEAST_WEIGHT)
            .collect();
        (scratch.entries(skeleton), weights, least)
    };
    let rows: Vec<Row> = (0..mesh.positions.len())
        .into_par_iter()
        .map_init(|| Scratch::new(skeleton.len()), row)
        .collect();
    let mut fields = ElasticFields {
        offsets: vec![0],
        most_negative: rows.iter().map(|row| row.2).fold(0.0, f32::min),
        ..ElasticFields::default()
    };
    let mut weights = Vec::with_capacity(rows.len());
    for (entries, own, _) in rows {
        fields.entries.extend(entries);
        fields.offsets.push(fields.entries.len() as u32);
        weights.push(own);
    }
    let (weights, empty) = SkinWeights::from_rows(weights);
    fields.weights = weights;
    if !empty.is_empty() {
        let otherwise = by_distance(mesh, skeleton);
        let rows = (0..fields.weights.len()).map(|vertex| match fields.weights.strongest(vertex) {
            Some(_) => fields.weights.row(vertex),
            None => otherwise.row(vertex),
        });
        fields.weights = SkinWeights::from_rows(rows.collect::<Vec<_>>()).0;
    }
    fields.report = report(binding);
    fields
}

/// What was noticed.
fn report(binding: &VoxelBinding) -> WeightReport {
    let part_of = &binding.domain.part_of_node;
    let is_reached = |vertex: usize| {
        let strongest = binding
            .transfer
            .of(vertex)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        strongest.is_some_and(|(node, _)| binding.part_has_bone[part_of[node] as usize])
    };
    let vertices = 0..binding.transfer.len();
    WeightReport {
        unseeded: binding.bones.unseeded.clone(),
        unreached: vertices.filter(|&vertex| !is_reached(vertex)).count(),
        unknowns: binding.free.len(),
    }
}
