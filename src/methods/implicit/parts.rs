//! Parts of the skin: which joint's field a vertex belongs to.

use crate::mesh::{Topology, TriMesh};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// A part with fewer triangles goes to the part of its parent joint.
const LEAST_TRIANGLES: usize = 8;
/// A patch with less than this share of the vertices of its part goes to the parts around it.
const ROGUE: f64 = 0.04;

/// The joint of the part that every vertex belongs to; `None` for vertices without weights or without a finite position.
pub(super) fn joints_of_vertices(
    mesh: &TriMesh,
    topology: &Topology,
    skeleton: &Skeleton,
    weights: &SkinWeights,
) -> Vec<Option<u32>> {
    let mut joint_of: Vec<Option<u32>> = (0..mesh.positions.len())
        .map(|vertex| {
            let finite = mesh.positions[vertex].iter().all(|c| c.is_finite());
            let strongest = weights.strongest(vertex).filter(|_| finite)?;
            (strongest < skeleton.len()).then_some(strongest as u32)
        })
        .collect();
    reassign_rogues(topology, skeleton.len(), &mut joint_of);
    merge_small(mesh, skeleton, &mut joint_of);
    joint_of
}

/// The joint that at least two corners of a triangle belong to.
pub(super) fn joint_of_triangle(triangle: [u32; 3], joint_of: &[Option<u32>]) -> Option<u32> {
    let [a, b, c] = triangle.map(|v| joint_of[v as usize]);
    if a == b || a == c {
        a
    } else if b == c {
        b
    } else {
        None
    }
}

/// Small patches take the joint of most of the vertices around them.
fn reassign_rogues(topology: &Topology, joints: usize, joint_of: &mut [Option<u32>]) {
    let mut sizes = vec![0_usize; joints];
    for joint in joint_of.iter().flatten() {
        sizes[*joint as usize] += 1;
    }
    let mut seen = vec![false; joint_of.len()];
    let mut patch: Vec<u32> = Vec::new();
    for first in 0..joint_of.len() {
        let Some(joint) = joint_of[first].filter(|_| !seen[first]) else {
            continue;
        };
        patch.clear();
        patch.push(first as u32);
        seen[first] = true;
        let mut next = 0;
        let mut around: Vec<u32> = Vec::new();
        while next < patch.len() {
            for &neighbor in topology.neighbors(patch[next] as usize) {
                match joint_of[neighbor as usize] {
                    Some(other) if other != joint => around.push(other),
                    Some(_) if !seen[neighbor as usize] => {
                        seen[neighbor as usize] = true;
                        patch.push(neighbor);
                    }
                    _ => {}
                }
            }
            next += 1;
        }
        if patch.len() as f64 >= ROGUE * sizes[joint as usize] as f64 {
            continue;
        }
        if let Some(other) = most_frequent(&mut around) {
            for &vertex in &patch {
                joint_of[vertex as usize] = Some(other);
            }
        }
    }
}

fn most_frequent(values: &mut [u32]) -> Option<u32> {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    // The first of the longest runs.
    runs.rev()
        .max_by_key(|run| run.len())
        .and_then(|run| run.first().copied())
}

/// Parts with few triangles go to the nearest ancestor.
fn merge_small(mesh: &TriMesh, skeleton: &Skeleton, joint_of: &mut [Option<u32>]) {
    let mut triangles = vec![0_usize; skeleton.len()];
    for &triangle in &mesh.triangles {
        if let Some(joint) = joint_of_triangle(triangle, joint_of) {
            triangles[joint as usize] += 1;
        }
    }
    let mut goes_to: Vec<u32> = (0..skeleton.len() as u32).collect();
    for (index, joint) in skeleton.joints().iter().enumerate().rev() {
        if let Some(parent) = joint.parent.filter(|_| triangles[index] < LEAST_TRIANGLES) {
            goes_to[index] = parent as u32;
            triangles[parent] += triangles[index];
        }
    }
    // Parents come first, so that what they were merged into is known.
    for joint in 0..goes_to.len() {
        goes_to[joint] = goes_to[goes_to[joint] as usize];
    }
    for joint in joint_of.iter_mut().flatten() {
        *joint = goes_to[*joint as usize];
    }
}
