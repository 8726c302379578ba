//! Ends of leaf bones.

use super::{BoneGraph, MIN_LENGTH};
use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Computes the ends of leaf bones.
pub(super) struct Tails<'a> {
    pub(super) mesh: &'a TriMesh,
    pub(super) skeleton: &'a Skeleton,
    pub(super) weights: Option<&'a SkinWeights>,
    pub(super) size: f64,
}

impl Tails<'_> {
    /// The tip of the bone that a leaf joint needs to reach into its skin; `None` if it would be too short.
    pub(super) fn find(
        &self,
        joint: usize,
        graph: &BoneGraph,
        node: Option<usize>,
    ) -> Option<Point64> {
        let start = self.skeleton.bind_position(joint);
        if let Some(tail) = self.skeleton.joints()[joint].tail {
            return ((tail - start).norm() > MIN_LENGTH * self.size).then_some(tail);
        }
        let incoming = self.skeleton.joints()[joint]
            .parent
            .map(|parent| start - self.skeleton.bind_position(parent));
        let incoming = incoming.and_then(|d| d.try_normalize(MIN_LENGTH * self.size));
        let vertices = self.controlled(joint, graph, node);
        if vertices.is_empty() {
            return None;
        }
        let mean = vertices.iter().map(|p| p - start).sum::<Vec64>() / vertices.len() as f64;
        let reach = |direction: &Vec64| {
            vertices
                .iter()
                .map(|p| (p - start).dot(direction))
                .fold(0.0, f64::max)
        };
        let largest = vertices
            .iter()
            .map(|p| (p - start).norm())
            .fold(0.0, f64::max);
        let direction = match mean.try_normalize(0.15 * largest) {
            // In a skeleton file without weights leaves are meant as tips: the tail continues the incoming bone.
            Some(_) if self.weights.is_none() && incoming.is_some() => incoming?,
            Some(direction) => direction,
            None => incoming.unwrap_or_else(|| longest_axis(&vertices, &start)),
        };
        let length = if self.weights.is_none() && incoming.is_some() {
            // Only if much flesh lies beyond: a tip just below its cap is meant as an end.
            let beyond = reach(&direction);
            let around = self
                .mesh
                .positions
                .iter()
                .map(|p| (p.cast::<f64>() - start).norm())
                .fold(f64::INFINITY, f64::min);
            if beyond > 2.5 * around {
                beyond - around
            } else {
                0.0
            }
        } else {
            0.8 * reach(&direction)
        };
        (length > 3.0 * MIN_LENGTH * self.size).then(|| start + direction * length)
    }

    /// Positions of the skin vertices that a leaf joint moves.
    fn controlled(&self, joint: usize, graph: &BoneGraph, node: Option<usize>) -> Vec<Point64> {
        let all = self.mesh.positions.iter().map(|p| p.cast::<f64>());
        match (self.weights, node) {
            (Some(weights), _) => all
                .enumerate()
                .filter(|&(vertex, _)| weights.strongest(vertex) == Some(joint))
                .map(|(_, p)| p)
                .collect(),
            (None, Some(node)) => {
                let own = &graph.nodes[node].bones;
                all.filter(|p| {
                    graph
                        .closest(p, 0..graph.bones.len())
                        .is_some_and(|(bone, t, _)| {
                            let at_end = if graph.bones[bone].nodes[0] == node {
                                t <= 0.0
                            } else {
                                t >= 1.0
                            };
                            own.contains(&bone) && at_end
                        })
                })
                .collect()
            }
            (None, None) => all.collect(),
        }
    }
}

/// World axis, with sign, along which the points extend farthest from `start`.
fn longest_axis(points: &[Point64], start: &Point64) -> Vec64 {
    [
        Vec64::x(),
        -Vec64::x(),
        Vec64::y(),
        -Vec64::y(),
        Vec64::z(),
        -Vec64::z(),
    ]
    .into_iter()
    .map(|axis| {
        (
            points
                .iter()
                .map(|p| (p - start).dot(&axis))
                .fold(0.0, f64::max),
            axis,
        )
    })
    .max_by(|a, b| a.0.total_cmp(&b.0))
    .map_or_else(Vec64::y, |(_, axis)| axis)
}
