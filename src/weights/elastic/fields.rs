//! The fields of all joints of a skeleton, and skin weights made of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::vertices::{ElasticFields, NodeFields, SparseFields, at_vertices, by_nodes};
use super::{frame, partition, region::Region, rounds};
use crate::mesh::TriMesh;
use crate::param::ParamValues;
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::common_params::{INFLUENCES, RESOLUTION, SMOOTHING, resolution};
use crate::weights::voxel::{NodeWeights, VoxelBinding};
use crate::weights::{
    ComputedWeights, Memo, WeightDescriptor, WeightError, WeightInput, harmonic_weights,
};

/// Values of nodes below this are dropped.
const LEAST_AT_NODE: f64 = 1e-5;
/// A joint whose bones end within this distance, in cells, keeps the harmonic field.
const LEVER: f64 = 2.0;

/// The version of the fields in a cache.
pub const VERSION: u32 = 2;

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
    version: VERSION,
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
    let compute = || computed(input, resolution, progress);
    input.memo.get_or_make(resolution, compute)
}

/// Computes the elastic fields of a skin in the bind pose with `resolution` cells along its longest side. `memo` belongs to this skin and
/// this skeleton.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn computed_fields(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    resolution: u32,
    memo: &Memo,
    progress: &Progress,
) -> Result<ElasticFields, WeightError> {
    let input = WeightInput {
        mesh,
        skeleton,
        values: &ParamValues::default(),
        memo,
    };
    computed(&input, resolution, progress)
}

fn computed(
    input: &WeightInput<'_>,
    resolution: u32,
    progress: &Progress,
) -> Result<ElasticFields, WeightError> {
    let binding = VoxelBinding::shared(input, resolution, &progress.part(0.0, 0.1))?;
    let last = progress.part(0.1, 1.0);
    fields_of(&binding, input.mesh, input.skeleton, &last)
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
