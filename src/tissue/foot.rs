//! Foot points: for every skin vertex a point on the bone lines (PS 3.2, FPS 3.2.1 "Skin Shrinking").
//!
//! They start as the closest points. Then, on the stretched graph, sᵢ ← sᵢ + λ/|N(i)| Σⱼ (sⱼ − sᵢ) with projection back
//! onto the bone lines is iterated until nothing moves. Points at the ends of leaf bones are fixed.

use super::BoneGraph;
use super::stretched_graph::stretched_nodes;
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh, closest_on_segment};
use crate::progress::{Cancelled, Progress};
use crate::weights::SkinWeights;

/// Sweeps stop when no point moves by more than this fraction of the size. A smaller value would not remove jumps
/// between neighbours: what is left is a slow drift that moves foot points away from their skin, towards coarser
/// regions of the mesh.
const TOLERANCE: f64 = 2e-4;
/// Maximum number of sweeps, more than any mesh has needed.
const MAX_SWEEPS: usize = 300;
/// λ of PS equation 2.
const RELAXATION: f64 = 0.5;
/// Minimum weight of a joint whose bones are candidates for a vertex.
const CANDIDATE_WEIGHT: f32 = 0.1;

/// Foot points of all skin vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct FootPoints {
    /// The bone each foot point lies on.
    pub bones: Vec<u32>,
    /// Parameter on the bone, 0 at its start, 1 at its end.
    pub parameters: Vec<f64>,
    /// World positions in the bind pose.
    pub points: Vec<Point64>,
}

/// Finds and smooths the foot points.
pub(super) fn find(
    mesh: &TriMesh,
    topology: &Topology,
    graph: &BoneGraph,
    weights: Option<&SkinWeights>,
    progress: &Progress,
) -> Result<FootPoints, Cancelled> {
    let mut smoothing = FootSmoothing::start(mesh, topology, graph, weights);
    let size = f64::from(mesh.bounds().size());
    for sweep in 0..MAX_SWEEPS {
        progress.check()?;
        progress.set_fraction(0.4 + 0.4 * sweep as f32 / MAX_SWEEPS as f32);
        if smoothing.sweep() < TOLERANCE * size {
            break;
        }
    }
    let points = smoothing
        .bones
        .iter()
        .zip(&smoothing.parameters)
        .map(|(&bone, &t)| {
            let [a, b] = graph.segment(bone as usize);
            a + (b - a) * t
        })
        .collect();
    Ok(FootPoints {
        bones: smoothing.bones,
        parameters: smoothing.parameters,
        points,
    })
}

struct FootSmoothing<'a> {
    topology: &'a Topology,
    /// Bone segments of the stretched graph.
    segments: Vec<[Point64; 2]>,
    bones: Vec<u32>,
    parameters: Vec<f64>,
    /// Foot points on the stretched graph.
    points: Vec<Point64>,
    fixed: Vec<bool>,
    candidates: Vec<u32>,
}

impl<'a> FootSmoothing<'a> {
    fn start(
        mesh: &TriMesh,
        topology: &'a Topology,
        graph: &BoneGraph,
        weights: Option<&SkinWeights>,
    ) -> Self {
        let nodes = stretched_nodes(graph);
        let segments: Vec<[Point64; 2]> = graph
            .bones
            .iter()
            .map(|bone| bone.nodes.map(|node| nodes[node]))
            .collect();
        let bones_of_joint = BonesOfJoints::of(graph);
        let found: Vec<(u32, f64)> = mesh
            .positions
            .iter()
            .enumerate()
            .map(|(vertex, position)| {
                let point = position.cast::<f64>();
                let own = weights
                    .map(|weights| bones_of_joint.candidates(weights, vertex))
                    .unwrap_or_default();
                let closest = graph
                    .closest(&point, own.iter().copied())
                    .or_else(|| graph.closest(&point, 0..graph.bones.len()));
                closest.map_or((0, 0.0), |(bone, t, _)| (bone as u32, t))
            })
            .collect();
        let fixed = found
            .iter()
            .map(|&(bone, t)| {
                let end = graph.bones[bone as usize].nodes[usize::from(t >= 0.5)];
                (t <= 0.0 || t >= 1.0) && graph.nodes[end].bones.len() == 1
            })
            .collect();
        let points = found
            .iter()
            .map(|&(bone, t)| {
                let [a, b] = segments[bone as usize];
                a + (b - a) * t
            })
            .collect();
        let (bones, parameters) = found.into_iter().unzip();
        Self {
            topology,
            segments,
            bones,
            parameters,
            points,
            fixed,
            candidates: Vec::new(),
        }
    }

    /// One Gauss–Seidel pass over all vertices; returns the largest displacement.
    fn sweep(&mut self) -> f64 {
        let mut farthest = 0.0_f64;
        for vertex in 0..self.points.len() {
            let neighbors = self.topology.neighbors(vertex);
            if self.fixed[vertex] || neighbors.is_empty() {
                continue;
            }
            let here = self.points[vertex];
            let mut mean = Vec64::zeros();
            self.candidates.clear();
            self.candidates.push(self.bones[vertex]);
            for &next in neighbors {
                mean += self.points[next as usize] - here;
                let bone = self.bones[next as usize];
                if !self.candidates.contains(&bone) {
                    self.candidates.push(bone);
                }
            }
            let target = here + mean * (RELAXATION / neighbors.len() as f64);
            farthest = farthest.max(self.project(vertex, &target));
        }
        farthest
    }

    /// Moves a foot point to the closest point to `target` on the candidates' bone lines; returns its displacement.
    fn project(&mut self, vertex: usize, target: &Point64) -> f64 {
        let mut best = (
            f64::INFINITY,
            self.bones[vertex],
            self.parameters[vertex],
            self.points[vertex],
        );
        for &bone in &self.candidates {
            let [a, b] = self.segments[bone as usize];
            let t = closest_on_segment(target, &a, &b);
            let point = a + (b - a) * t;
            let distance = (point - target).norm_squared();
            if distance < best.0 {
                best = (distance, bone, t, point);
            }
        }
        let moved = (best.3 - self.points[vertex]).norm();
        (
            self.bones[vertex],
            self.parameters[vertex],
            self.points[vertex],
        ) = (best.1, best.2, best.3);
        moved
    }
}

/// For every joint its bones: the candidates of a vertex on which it has weight.
struct BonesOfJoints(std::collections::HashMap<usize, Vec<usize>>);

impl BonesOfJoints {
    fn of(graph: &BoneGraph) -> Self {
        let mut carried: std::collections::HashMap<usize, Vec<usize>> =
            std::collections::HashMap::new();
        for (index, bone) in graph.bones.iter().enumerate() {
            carried.entry(bone.joint).or_default().push(index);
        }
        Self(carried)
    }

    fn candidates(&self, weights: &SkinWeights, vertex: usize) -> Vec<usize> {
        let mut found: Vec<usize> = weights
            .of(vertex)
            .filter(|&(_, weight)| weight >= CANDIDATE_WEIGHT)
            .filter_map(|(joint, _)| self.0.get(&joint))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
