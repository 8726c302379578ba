//! Initial guesses: free nodes follow the prescribed ones with weights from steady-state heat conduction.
//!
//! The guess does not change the minimum of the energy. It only changes the number of steps and, in poses with several
//! equilibria, which of them is found.

use super::elastic::Elastic;
use crate::math::{Affine, Point64, Vec64};
use crate::numerics::{Cholesky, Ordering};

/// Weights below this are left out.
const LEAST: f64 = 1e-3;

/// Weights of joints on the free nodes.
pub(super) struct Blend {
    starts: Vec<u32>,
    weights: Vec<(u32, f64)>,
}

impl Blend {
    /// `joint_of_node` gives the joint of every prescribed node. `None` if some nodes are not connected to any
    /// prescribed one.
    pub fn of(elastic: &Elastic, joint_of_node: &[Option<u32>]) -> Option<Self> {
        let mut joints: Vec<u32> = joint_of_node.iter().copied().flatten().collect();
        joints.sort_unstable();
        joints.dedup();
        let kind = |node: u32| {
            let joint = joint_of_node[node as usize]?;
            joints.binary_search(&joint).ok()
        };
        let (matrix, mut columns) = elastic.conduction(kind, joints.len());
        Cholesky::<f64>::factor(&matrix, Ordering::Natural)
            .ok()?
            .solve(&mut columns);
        let count = elastic.free_nodes().len();
        let (mut starts, mut weights) = (vec![0], Vec::new());
        for free in 0..count {
            let first = weights.len();
            let of = |k: usize| (joints[k], columns[k * count + free]);
            weights.extend(
                (0..joints.len())
                    .map(of)
                    .filter(|&(_, weight)| weight > LEAST),
            );
            let sum: f64 = weights[first..].iter().map(|(_, weight)| weight).sum();
            for (_, weight) in &mut weights[first..] {
                *weight /= sum;
            }
            starts.push(weights.len() as u32);
        }
        Some(Self { starts, weights })
    }

    /// Moves free nodes by the weighted mean of their joints' motions.
    pub fn follow(&self, elastic: &Elastic, motions: &[Affine], nodes: &mut [Point64]) {
        for (free, &node) in elastic.free_nodes().iter().enumerate() {
            let range = self.starts[free] as usize..self.starts[free + 1] as usize;
            let at = nodes[node as usize];
            let moved: Vec64 = self.weights[range]
                .iter()
                .map(|&(joint, weight)| (motions[joint as usize] * at).coords * weight)
                .sum();
            nodes[node as usize] = moved.into();
        }
    }
}
