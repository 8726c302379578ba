//! Foot points: for every skin vertex a point on the bone lines (PS 3.2, FPS 3.2.1 "Skin Shrinking").
//!
//! They start as the closest points. Then, on the stretched graph, sᵢ ← sᵢ + λ/|N(i)| Σⱼ (sⱼ − sᵢ) with projection back
//! onto the bone lines is iterated until nothing moves. Points at the ends of leaf bones are fixed.

use rayon::prelude::*;

use super::BoneGraph;
use super::graph::Bone;
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
/// Bones whose distances differ by less than this part are equally near.
const TIE: f64 = 1e-6;
/// Largest number of bones that are equally near and counted.
const TIED: usize = 4;

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
    let feet = &smoothing.feet;
    let at_rest = |foot: &Foot| {
        let [a, b] = graph.segment(foot.bone as usize);
        a + (b - a) * foot.parameter
    };
    Ok(FootPoints {
        bones: feet.iter().map(|foot| foot.bone).collect(),
        parameters: feet.iter().map(|foot| foot.parameter).collect(),
        points: feet.iter().map(at_rest).collect(),
    })
}

/// A point on the bone lines.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Foot {
    bone: u32,
    /// Parameter on the bone.
    parameter: f64,
    /// Its position on the stretched graph. Between two bones that are equally near it is the mean of the points on both.
    point: Point64,
}

/// Bone segments.
struct Lines {
    /// Of the stretched graph.
    stretched: Vec<[Point64; 2]>,
    /// As they are.
    at_rest: Vec<[Point64; 2]>,
}

struct FootSmoothing<'a> {
    topology: &'a Topology,
    lines: Lines,
    /// The foot points now.
    feet: Vec<Foot>,
    /// Those after the sweep.
    next: Vec<Foot>,
    fixed: Vec<bool>,
}

impl<'a> FootSmoothing<'a> {
    fn start(
        mesh: &TriMesh,
        topology: &'a Topology,
        graph: &BoneGraph,
        weights: Option<&SkinWeights>,
    ) -> Self {
        let nodes = stretched_nodes(graph);
        let stretched = |bone: &Bone| bone.nodes.map(|node| nodes[node]);
        let lines = Lines {
            stretched: graph.bones.iter().map(stretched).collect(),
            at_rest: (0..graph.bones.len())
                .map(|bone| graph.segment(bone))
                .collect(),
        };
        let bones_of_joint = BonesOfJoints::of(graph);
        let feet: Vec<Foot> = mesh
            .positions
            .iter()
            .enumerate()
            .map(|(vertex, position)| {
                let point = position.cast::<f64>();
                let own = weights
                    .map(|weights| bones_of_joint.candidates(weights, vertex))
                    .unwrap_or_default();
                let all = 0..graph.bones.len() as u32;
                let start = Foot {
                    bone: 0,
                    parameter: 0.0,
                    point,
                };
                lines
                    .closest(&lines.at_rest, &point, own.iter().copied())
                    .or_else(|| lines.closest(&lines.at_rest, &point, all))
                    .unwrap_or(start)
            })
            .collect();
        let is_fixed = |foot: &Foot| {
            let (bone, t) = (foot.bone as usize, foot.parameter);
            let end = graph.bones[bone].nodes[usize::from(t >= 0.5)];
            (t <= 0.0 || t >= 1.0) && graph.nodes[end].bones.len() == 1
        };
        Self {
            topology,
            lines,
            fixed: feet.iter().map(is_fixed).collect(),
            next: feet.clone(),
            feet,
        }
    }

    /// Moves all foot points at once; returns the largest displacement. One after another, the order of the vertices would decide on
    /// which of two bones a foot point at a branching ends.
    fn sweep(&mut self) -> f64 {
        let (topology, lines, feet, fixed) = (self.topology, &self.lines, &self.feet, &self.fixed);
        let moved = |(vertex, next): (usize, &mut Foot)| {
            let neighbors = topology.neighbors(vertex);
            if fixed[vertex] || neighbors.is_empty() {
                return 0.0;
            }
            let here = feet[vertex];
            let mean = neighbors.iter().fold(Vec64::zeros(), |sum, &other| {
                sum + (feet[other as usize].point - here.point)
            });
            let target = here.point + mean * (RELAXATION / neighbors.len() as f64);
            let bones = neighbors.iter().map(|&other| feet[other as usize].bone);
            let candidates = std::iter::once(here.bone).chain(bones);
            let found = lines.closest(&lines.stretched, &target, candidates);
            *next = found.unwrap_or(here);
            (next.point - here.point).norm()
        };
        let farthest = self
            .next
            .par_iter_mut()
            .with_min_len(512)
            .enumerate()
            .map(moved)
            .reduce(|| 0.0, f64::max);
        std::mem::swap(&mut self.feet, &mut self.next);
        farthest
    }
}

impl Lines {
    /// The point of the candidates' segments that is closest to `target`, measured on one of the two sets of segments. Among bones that
    /// are equally near the one with the lowest number is named, and the point is the mean of those on all of them.
    fn closest(
        &self,
        measured: &[[Point64; 2]],
        target: &Point64,
        candidates: impl Iterator<Item = u32> + Clone,
    ) -> Option<Foot> {
        let on = |bone: u32| {
            let [a, b] = measured[bone as usize];
            let t = closest_on_segment(target, &a, &b);
            (t, (a + (b - a) * t - target).norm())
        };
        let least = candidates.clone().map(|bone| on(bone).1);
        let least = least.fold(f64::INFINITY, f64::min);
        let mut tied: [Option<Foot>; TIED] = [None; TIED];
        let mut count = 0;
        for bone in candidates {
            let (parameter, distance) = on(bone);
            let is_known = tied.iter().flatten().any(|foot| foot.bone == bone);
            if distance <= least * (1.0 + TIE) && !is_known && count < TIED {
                let [a, b] = self.stretched[bone as usize];
                tied[count] = Some(Foot {
                    bone,
                    parameter,
                    point: a + (b - a) * parameter,
                });
                count += 1;
            }
        }
        let first = *tied.iter().flatten().min_by_key(|foot| foot.bone)?;
        let sum = tied
            .iter()
            .flatten()
            .fold(Vec64::zeros(), |sum, foot| sum + (foot.point - first.point));
        Some(Foot {
            point: first.point + sum / count as f64,
            ..first
        })
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

    fn candidates(&self, weights: &SkinWeights, vertex: usize) -> Vec<u32> {
        let mut found: Vec<u32> = weights
            .of(vertex)
            .filter(|&(_, weight)| weight >= CANDIDATE_WEIGHT)
            .filter_map(|(joint, _)| self.0.get(&joint))
            .flatten()
            .map(|&bone| bone as u32)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
