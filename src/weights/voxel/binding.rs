//! All that voxel weights of one skin and skeleton have in common.

use std::sync::Arc;

use rayon::prelude::*;

use super::{BONE_RADIUS, BoneNodes, NodeTree, Transfer, VoxelDomain};
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::fields::{FieldSystem, GivenNodes};
use crate::weights::{ComputedWeights, SkinWeights, WeightInput, WeightReport, by_distance};

/// Weights below this are dropped.
const LEAST: f32 = 1e-4;

/// Weights of nodes below this are dropped.
const LEAST_AT_NODE: f64 = 1e-6;

/// The domain of a skin, the nodes of its bones, and the way to its vertices.
#[derive(Debug, Clone)]
pub struct VoxelBinding {
    /// The inside of the skin.
    pub domain: VoxelDomain,
    /// The nodes with given values.
    pub bones: BoneNodes,
    /// From nodes to vertices.
    pub transfer: Transfer,
    /// For every part of the domain whether it has a bone node.
    pub part_has_bone: Vec<bool>,
    /// The nodes to solve for, ascending: those of parts with a bone that are no bone nodes.
    pub free: Vec<u32>,
    /// The joints with bone nodes, ascending: the columns of the fields that are solved for.
    pub columns: Vec<u32>,
}

/// Weights of every node: a sparse matrix of nodes × joints.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeWeights {
    /// `offsets[n]..offsets[n + 1]` are the entries of node n; one longer than there are nodes.
    pub offsets: Vec<u32>,
    /// Joint and weight of each entry, joints ascending, weights positive.
    pub entries: Vec<(u32, f32)>,
}

impl NodeWeights {
    /// The entries of a node.
    #[must_use]
    pub fn of(&self, node: usize) -> &[(u32, f32)] {
        &self.entries[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

impl VoxelBinding {
    /// Builds the domain with `resolution` cells along its longest side, finds the nodes of bones with the default radius and the rows of
    /// vertices; or takes the one that is known already.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn shared(
        input: &WeightInput<'_>,
        resolution: u32,
        progress: &Progress,
    ) -> Result<Arc<Self>, Cancelled> {
        input.memo.get_or_make(resolution, || {
            Self::of(
                input.mesh,
                input.skeleton,
                resolution,
                BONE_RADIUS,
                progress,
            )
        })
    }

    /// Builds the domain, finds the bone nodes and the rows of vertices. `radius` is that of bones, as a part of their distance to the
    /// skin.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(
        mesh: &TriMesh,
        skeleton: &Skeleton,
        resolution: u32,
        radius: f64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let domain = VoxelDomain::of(mesh, resolution, &progress.part(0.0, 0.6))?;
        progress.check()?;
        progress.report(0.6, "Finding the cells of bones");
        let bones = BoneNodes::of(&domain, skeleton, radius, &progress.part(0.6, 0.9))?;
        progress.check()?;
        let transfer = Transfer::to(&mesh.positions, &domain);
        let parts = domain
            .part_of_node
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut part_has_bone = vec![false; parts];
        let mut is_fixed = vec![false; domain.nodes.len()];
        for &node in &bones.nodes {
            part_has_bone[domain.part_of_node[node as usize] as usize] = true;
            is_fixed[node as usize] = true;
        }
        let is_free = |&node: &u32| {
            !is_fixed[node as usize] && part_has_bone[domain.part_of_node[node as usize] as usize]
        };
        let free = (0..domain.nodes.len() as u32).filter(is_free).collect();
        let mut columns: Vec<u32> = bones.joints.iter().flatten().copied().collect();
        columns.sort_unstable();
        columns.dedup();
        Ok(Self {
            domain,
            bones,
            transfer,
            part_has_bone,
            free,
            columns,
        })
    }

    /// The bone nodes with their values, by columns.
    #[must_use]
    pub fn given(&self) -> GivenNodes {
        let column = |joint: &u32| self.columns.binary_search(joint).unwrap_or(0) as u32;
        let row = |joints: &Vec<u32>| {
            let share = 1.0 / joints.len() as f64;
            joints.iter().map(|joint| (column(joint), share)).collect()
        };
        GivenNodes {
            nodes: self.bones.nodes.clone(),
            rows: self.bones.joints.iter().map(row).collect(),
        }
    }

    /// Mass of every node, in cells: an eighth of each cell around it.
    #[must_use]
    pub fn mass(&self) -> Vec<f64> {
        let mut mass = vec![0.0; self.domain.nodes.len()];
        for &node in self.domain.corners.iter().flatten() {
            mass[node as usize] += 0.125;
        }
        mass
    }

    /// The system of biharmonic weights: Q = L M⁻¹ L with the graph Laplacian and the masses of the domain.
    #[must_use]
    pub fn biharmonic_system(&self) -> FieldSystem {
        let (laplacian, mass) = (self.domain.laplacian(), self.mass());
        FieldSystem::biharmonic(
            &laplacian,
            &mass,
            &self.free,
            &self.given(),
            self.columns.len(),
        )
    }

    /// Weights of all nodes from those of the free ones: free × columns, row by row.
    pub fn weights_of_rows<T: Copy + Into<f64> + Sync>(&self, rows: &[T]) -> NodeWeights {
        let count = self.columns.len();
        self.node_weights(|k, row| {
            let own = rows[k * count..(k + 1) * count]
                .iter()
                .map(|&value| value.into());
            let weights = self
                .columns
                .iter()
                .zip(own)
                .filter(|(_, weight)| *weight > LEAST_AT_NODE);
            row.extend(weights.map(|(&joint, weight)| (joint, weight as f32)));
        })
    }

    /// How many parts of the domain have no bone node.
    #[must_use]
    pub fn parts_without_bones(&self) -> usize {
        self.part_has_bone
            .iter()
            .filter(|has_bone| !**has_bone)
            .count()
    }

    /// Weights of all nodes from those of the free ones: `value(k, row)` adds the joints and weights of the k-th free node. Bone nodes get
    /// theirs, and nodes of parts without bones those of the nearest nodes of parts with some. Rows are empty only if no node has a bone.
    pub fn node_weights(&self, value: impl Fn(usize, &mut Vec<(u32, f32)>) + Sync) -> NodeWeights {
        let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); self.domain.nodes.len()];
        let own: Vec<Vec<(u32, f32)>> = (0..self.free.len())
            .into_par_iter()
            .map(|k| {
                let mut row = Vec::new();
                value(k, &mut row);
                row
            })
            .collect();
        for (&node, row) in self.free.iter().zip(own) {
            rows[node as usize] = row;
        }
        for (&node, joints) in self.bones.nodes.iter().zip(&self.bones.joints) {
            let share = 1.0 / joints.len() as f32;
            rows[node as usize] = joints.iter().map(|&joint| (joint, share)).collect();
        }
        self.fill_parts_without_bones(&mut rows);
        let mut weights = NodeWeights {
            offsets: vec![0],
            entries: Vec::new(),
        };
        for row in rows {
            weights.entries.extend(row);
            weights.offsets.push(weights.entries.len() as u32);
        }
        weights
    }

    fn fill_parts_without_bones(&self, rows: &mut [Vec<(u32, f32)>]) {
        if self.part_has_bone.iter().all(|&has_bone| has_bone) {
            return;
        }
        let part_of = &self.domain.part_of_node;
        let has_bone = |node: &u32| self.part_has_bone[part_of[*node as usize] as usize];
        let nodes = 0..self.domain.nodes.len() as u32;
        let tree = NodeTree::of(&self.domain, nodes.clone().filter(has_bone));
        let blind: Vec<u32> = nodes.filter(|node| !has_bone(node)).collect();
        let taken: Vec<Vec<(u32, f32)>> = blind
            .par_iter()
            .map(|&node| {
                let nearest = tree.nearest(self.domain.nodes[node as usize].map(f64::from));
                mean(
                    nearest
                        .iter()
                        .map(|&near| (&rows[near as usize][..], 1.0 / nearest.len() as f32)),
                )
            })
            .collect();
        for (&node, row) in blind.iter().zip(taken) {
            rows[node as usize] = row;
        }
    }

    /// Weights by distance, for a system that cannot be factored.
    #[must_use]
    pub fn unsolved(&self, mesh: &TriMesh, skeleton: &Skeleton) -> ComputedWeights {
        let report = WeightReport {
            unseeded: self.bones.unseeded.clone(),
            unreached: self.transfer.len(),
            unknowns: self.free.len(),
        };
        ComputedWeights {
            weights: by_distance(mesh, skeleton),
            report,
        }
    }

    /// The weights of the vertices, and a report. Vertices of a domain without any bone node get weights by distance.
    #[must_use]
    pub fn finish(
        &self,
        weights: &NodeWeights,
        mesh: &TriMesh,
        skeleton: &Skeleton,
    ) -> ComputedWeights {
        let part_of = &self.domain.part_of_node;
        let is_reached = |vertex: usize| {
            let strongest = self.transfer.of(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
            strongest.is_some_and(|(node, _)| self.part_has_bone[part_of[node] as usize])
        };
        let count = self.transfer.len();
        let report = WeightReport {
            unseeded: self.bones.unseeded.clone(),
            unreached: (0..count).filter(|&vertex| !is_reached(vertex)).count(),
            unknowns: self.free.len(),
        };
        if self.bones.nodes.is_empty() {
            return ComputedWeights {
                weights: by_distance(mesh, skeleton),
                report,
            };
        }
        let rows: Vec<Vec<(u32, f32)>> = (0..count)
            .into_par_iter()
            .map(|vertex| {
                let at_nodes = self
                    .transfer
                    .of(vertex)
                    .map(|(node, share)| (weights.of(node), share as f32));
                let mut row = mean(at_nodes);
                if row.iter().any(|&(_, weight)| weight >= LEAST) {
                    row.retain(|&(_, weight)| weight >= LEAST);
                }
                row
            })
            .collect();
        ComputedWeights {
            weights: SkinWeights::from_rows(rows).0,
            report,
        }
    }
}

/// The sum of rows times factors.
fn mean<'a>(rows: impl Iterator<Item = (&'a [(u32, f32)], f32)>) -> Vec<(u32, f32)> {
    let mut sum: Vec<(u32, f32)> = Vec::new();
    for (row, factor) in rows {
        for &(joint, weight) in row {
            match sum.iter_mut().find(|(known, _)| *known == joint) {
                Some((_, total)) => *total += weight * factor,
                None => sum.push((joint, weight * factor)),
            }
        }
    }
    sum
}
