//! The fields of all joints of a skeleton, and skin weights made of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{frame, partition, region::Region, rounds};
use crate::mesh::TriMesh;
use crate::param::ParamValues;
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::common_params::{INFLUENCES, RESOLUTION, SMOOTHING, resolution};
use crate::weights::voxel::{self, NodeWeights, VoxelBinding};
use crate::weights::{
    ComputedWeights, Memo, SkinWeights, WeightDescriptor, WeightError, WeightInput, WeightReport,
    by_distance, harmonic_weights,
};

/// Values of nodes below this are dropped.
const LEAST_AT_NODE: f64 = 1e-5;
/// A joint whose bones end within this distance, in cells, keeps the harmonic field.
const LEVER: f64 = 2.0;
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

/// Elastic weights.
pub const DESCRIPTOR: WeightDescriptor = WeightDescriptor {
    id: "elastic",
    label: "Elastic",
    doc: "Weights with which bending and twisting joints change the shape of a solid body least.",
    cost: "5 to 15 s",
    source: "Kavan, Sorkine, Elasticity-Inspired Deformers for Character Articulation, TOG 31(6), 2012, sections 3.1 and 3.2",
    departures: &[
        "Bones have a volume, so that fields are centred on joints at every size of the cells.",
        "Only nodes between what a joint moves and the rest are free.",
        "Weights of a joint are the difference between its field and those of its children.",
    ],
    params: &[INFLUENCES, SMOOTHING, RESOLUTION],
    version: 2,
    compute: Some(elastic_weights),
};

/// Elastic weights of a skin, full rows.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn elastic_weights(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let fields = elastic_fields(input, resolution(input.values), progress)?;
    Ok(ComputedWeights {
        weights: fields.weights.clone(),
        report: fields.report.clone(),
    })
}

/// Swing and twist field of a joint at the nodes where they are not 0: node, s, t; nodes ascending.
type SparseFields = Vec<(u32, f32, f32)>;

/// Computes the elastic fields of a skin in the bind pose, or takes those that are known already. `resolution` is the number of cells along
/// the longest side (see [`VoxelBinding::shared`]).
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn elastic_fields(
    input: &WeightInput<'_>,
    resolution: u32,
    progress: &Progress,
) -> Result<Arc<ElasticFields>, WeightError> {
    input.memo.get_or_make(resolution, || {
        let binding = VoxelBinding::shared(input, resolution, &progress.part(0.0, 0.1))?;
        let last = progress.part(0.1, 1.0);
        fields_of(&binding, input.mesh, input.skeleton, &last)
    })
}

/// The elastic fields at the default resolution. `memo` belongs to this skin and this skeleton.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn default_elastic_fields(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    memo: &Memo,
    progress: &Progress,
) -> Result<Arc<ElasticFields>, WeightError> {
    let input = WeightInput {
        mesh,
        skeleton,
        values: &ParamValues::default(),
        memo,
    };
    elastic_fields(&input, voxel::RESOLUTION, progress)
}

/// As [`elastic_fields`], on a domain and bone nodes that were made before.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn fields_of(
    binding: &VoxelBinding,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    progress: &Progress,
) -> Result<ElasticFields, WeightError> {
    progress.report(0.0, "Solving for harmonic weights");
    let part = progress.part(0.0, 0.1);
    let harmonic = if binding.bones.nodes.is_empty() {
        None
    } else {
        harmonic_weights(binding, 1.0, &part)?
    };
    let Some(harmonic) = harmonic else {
        let unsolved = binding.unsolved(mesh, skeleton);
        return Ok(ElasticFields {
            offsets: vec![0; mesh.positions.len() + 1],
            entries: Vec::new(),
            weights: unsolved.weights,
            report: unsolved.report,
            most_negative: 0.0,
        });
    };
    progress.report(0.1, "Minimising the elastic energy of joints");
    let fields = joint_fields(binding, skeleton, &harmonic, &progress.part(0.1, 0.9))?;
    progress.report(0.9, "Dividing the skin among joints");
    let shares = partition::squared_fields(&binding.domain, skeleton, &progress.part(0.9, 0.95))?;
    progress.check()?;
    let nodes = NodeFields {
        fields: by_nodes(&fields, binding.domain.nodes.len()),
        shares,
    };
    Ok(at_vertices(binding, mesh, skeleton, &nodes))
}

/// The swing and twist fields of every joint at the nodes.
fn joint_fields(
    binding: &VoxelBinding,
    skeleton: &Skeleton,
    harmonic: &NodeWeights,
    progress: &Progress,
) -> Result<Vec<SparseFields>, Cancelled> {
    // All nodes that are not solved for are given, or in parts without bone.
    let mut fixed = vec![true; binding.domain.nodes.len()];
    for &node in &binding.free {
        fixed[node as usize] = false;
    }
    let done = AtomicUsize::new(0);
    let of_joint = |joint: usize| {
        progress.check()?;
        let made = fields_of_joint(binding, skeleton, harmonic, &fixed, joint, progress)?;
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress.set_fraction(count as f32 / skeleton.len() as f32);
        Ok(made)
    };
    (0..skeleton.len())
        .into_par_iter()
        .with_max_len(1)
        .map(of_joint)
        .collect()
}

fn fields_of_joint(
    binding: &VoxelBinding,
    skeleton: &Skeleton,
    harmonic: &NodeWeights,
    fixed: &[bool],
    joint: usize,
    progress: &Progress,
) -> Result<SparseFields, Cancelled> {
    let below = sub_tree(skeleton, joint);
    let start: Vec<f64> = (0..fixed.len())
        .map(|node| {
            let own = harmonic
                .of(node)
                .iter()
                .filter(|(joint, _)| below[*joint as usize]);
            own.map(|&(_, weight)| f64::from(weight)).sum()
        })
        .collect();
    let is_root = skeleton.joints()[joint].parent.is_none();
    let (mut swing, mut twist);
    if is_root || !has_lever(binding, skeleton, &start, joint) {
        (swing, twist) = (start.clone(), start);
    } else {
        let (origin, frame) = frame::of_joint(skeleton, joint);
        let region = Region::new(&binding.domain, fixed, &start, &origin, &frame);
        let [swings, twists] = rounds::fields(&region, &frame, progress)?;
        let outside = |node: usize| {
            if fixed[node] {
                start[node]
            } else {
                start[node].round()
            }
        };
        swing = (0..start.len()).map(outside).collect::<Vec<f64>>();
        twist = swing.clone();
        for (place, &node) in region.nodes[..region.free].iter().enumerate() {
            swing[node as usize] = swings[place];
            twist[node as usize] = twists[place];
        }
    }
    let values = swing.iter().zip(&twist).enumerate();
    let kept = values.filter(|(_, (s, t))| s.max(**t) > LEAST_AT_NODE);
    Ok(kept
        .map(|(node, (&s, &t))| {
            let [s, t] = [s, t].map(|value| value.clamp(0.0, 1.0) as f32);
            (node as u32, s, t)
        })
        .collect())
}

/// Whether bones of the sub-tree reach far enough from the joint to turn anything with them: nodes at the joint do not move when it turns.
fn has_lever(binding: &VoxelBinding, skeleton: &Skeleton, start: &[f64], joint: usize) -> bool {
    let (domain, origin) = (&binding.domain, skeleton.bind_position(joint));
    let turned = binding
        .bones
        .nodes
        .iter()
        .filter(|node| start[**node as usize] > 0.5);
    let mut distances = turned.map(|&node| (domain.position(node as usize) - origin).norm());
    distances.any(|distance| distance >= LEVER * domain.grid.edge)
}

/// For every joint whether it is in the sub-tree of this one.
fn sub_tree(skeleton: &Skeleton, joint: usize) -> Vec<bool> {
    let mut below = vec![false; skeleton.len()];
    below[joint] = true;
    for (index, other) in skeleton.joints().iter().enumerate() {
        if other.parent.is_some_and(|parent| below[parent]) {
            below[index] = true;
        }
    }
    below
}

/// What is interpolated between nodes.
struct NodeFields {
    /// Per node: joint, s, t, joints ascending.
    fields: Vec<Vec<(u32, f32, f32)>>,
    /// Per node: joint and squared harmonic field, joints ascending.
    shares: Vec<Vec<(u32, f32)>>,
}

fn by_nodes(fields: &[SparseFields], nodes: usize) -> Vec<Vec<(u32, f32, f32)>> {
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
fn at_vertices(
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
