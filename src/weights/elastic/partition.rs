//! A smooth partition of the domain among the joints: squared harmonic fields that are 1 near their joints.

use rayon::prelude::*;

use crate::numerics::Cholesky;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::WeightError;
use crate::weights::fields::{FieldSystem, GivenNodes, solve};
use crate::weights::voxel::{NodeTree, VoxelDomain};

/// Radius of the ball round a joint in which its field is 1, as a part of the distance to the nearest joint that a bone connects it with.
const BALL: f64 = 0.35;
/// A joint outside of the domain takes the nearest node up to this far away, in cells.
const SNAP: f64 = 4.5;
/// Distances that differ by less than this, in cells, are equal: the joints share the node.
const TIE: f64 = 1e-6;
/// Values below this are dropped.
const LEAST: f32 = 1e-4;

/// For every node the joints and the squares of their harmonic fields, joints ascending. Empty in parts of the domain without joint, and
/// everywhere if the system cannot be solved.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn squared_fields(
    domain: &VoxelDomain,
    skeleton: &Skeleton,
    progress: &Progress,
) -> Result<Vec<Vec<(u32, f32)>>, WeightError> {
    let mut rows = vec![Vec::new(); domain.nodes.len()];
    let given = balls(domain, skeleton);
    let parts = domain.part_of_node.iter().max().map_or(0, |&last| last + 1);
    let (mut is_given, mut has_ball) = (vec![false; rows.len()], vec![false; parts as usize]);
    for (&node, own) in given.nodes.iter().zip(&given.rows) {
        is_given[node as usize] = true;
        has_ball[domain.part_of_node[node as usize] as usize] = true;
        rows[node as usize] = own
            .iter()
            .map(|&(joint, value)| (joint, (value * value) as f32))
            .collect();
    }
    let is_free = |&node: &u32| {
        !is_given[node as usize] && has_ball[domain.part_of_node[node as usize] as usize]
    };
    let free: Vec<u32> = (0..rows.len() as u32).filter(is_free).collect();
    progress.check()?;
    let joints = skeleton.len();
    let system = FieldSystem::harmonic(&domain.laplacian(), &free, &given, joints);
    progress.check()?;
    let Ok(factor): Result<Cholesky<f32>, _> = system.factor() else {
        return Ok(rows);
    };
    let mut solution: Vec<f32> = system.right.iter().map(|&value| value as f32).collect();
    solve(&factor, &mut solution, progress)?;
    let solved: Vec<Vec<(u32, f32)>> = (0..free.len())
        .into_par_iter()
        .map(|place| {
            (0..joints)
                .map(|joint| (joint as u32, solution[joint * free.len() + place]))
                .filter(|(_, value)| *value > LEAST)
                .map(|(joint, value)| (joint, value * value))
                .collect()
        })
        .collect();
    for (&node, row) in free.iter().zip(solved) {
        rows[node as usize] = row;
    }
    Ok(rows)
}

/// The nodes in the balls of joints, and whose they are.
fn balls(domain: &VoxelDomain, skeleton: &Skeleton) -> GivenNodes {
    let tree = NodeTree::of(domain, 0..domain.nodes.len() as u32);
    let of_joint = |joint: usize| -> Vec<(u32, u32, f64)> {
        let center = domain.grid.coordinates(&skeleton.bind_position(joint));
        let radius = radius(skeleton, joint) / domain.grid.edge;
        let distance = |node: u32| {
            let at = domain.nodes[node as usize].map(f64::from);
            (0..3)
                .map(|k| (at[k] - center[k]).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        let mut own: Vec<(u32, u32, f64)> = (0..domain.nodes.len() as u32)
            .map(|node| (node, joint as u32, distance(node)))
            .filter(|&(_, _, distance)| distance <= radius)
            .collect();
        if own.is_empty() {
            let nearest = tree.nearest(center);
            own.extend(
                nearest
                    .into_iter()
                    .map(|node| (node, joint as u32, distance(node))),
            );
            own.retain(|&(_, _, distance)| distance <= SNAP);
        }
        own
    };
    let found: Vec<_> = (0..skeleton.len()).into_par_iter().map(of_joint).collect();
    let mut claims: Vec<(u32, u32, f64)> = found.into_iter().flatten().collect();
    claims.sort_by_key(|&(node, joint, _)| (node, joint));
    let mut given = GivenNodes::default();
    for own in claims.chunk_by(|a, b| a.0 == b.0) {
        let nearest = own
            .iter()
            .map(|claim| claim.2)
            .fold(f64::INFINITY, f64::min);
        let tied = || own.iter().filter(|claim| claim.2 <= nearest + TIE);
        let share = 1.0 / tied().count() as f64;
        given.nodes.push(own[0].0);
        given
            .rows
            .push(tied().map(|claim| (claim.1, share)).collect());
    }
    given
}

/// The radius of the ball of a joint, in the units of the mesh; 0 for a joint that no bone connects with a joint elsewhere.
fn radius(skeleton: &Skeleton, joint: usize) -> f64 {
    let here = skeleton.bind_position(joint);
    let parent = skeleton.joints()[joint].parent;
    let connected = parent.iter().chain(skeleton.children(joint));
    let distances = connected.map(|&other| (skeleton.bind_position(other) - here).norm());
    let nearest = distances
        .filter(|&distance| distance > 1e-9)
        .fold(f64::INFINITY, f64::min);
    if nearest.is_finite() {
        BALL * nearest
    } else {
        0.0
    }
}
