//! Smooth weights from distances alone, for skins that come without any.
//!
//! A vertex belongs to its closest bone and to the bones next to that; a bone at distance d gets (`d_min` / d)⁴. A few passes of
//! averaging over the mesh smooth the remaining creases.

use rayon::prelude::*;

use super::{Descriptor, SkinWeights};
use crate::math::{Point, Point64};
use crate::mesh::{Topology, TriMesh, closest_on_segment};
use crate::rig::Skeleton;

/// Weights by distance.
pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    id: "distance",
    label: "By distance",
    doc: "From distances to the nearest bones, smoothed over the skin. Quick, and works on any mesh.",
    version: 1,
    compute: Some(|input, progress| {
        progress.check()?;
        Ok(by_distance(input.mesh, input.skeleton))
    }),
};

const FALLOFF: i32 = 4;
const SMOOTHING_PASSES: usize = 8;
/// Influences kept of every vertex.
const INFLUENCES: usize = 4;

/// A bone line and the joint that carries it.
struct Line {
    joint: u32,
    ends: [Point64; 2],
    /// Joints at its ends, to know which lines are next to each other.
    joints: [usize; 2],
}

/// Weights of every vertex of a mesh given in the bind pose, at most four each, summing to 1. Empty rows only if the skeleton is
/// empty.
#[must_use]
pub fn by_distance(mesh: &TriMesh, skeleton: &Skeleton) -> SkinWeights {
    let lines = lines(skeleton);
    let rows: Vec<Vec<(u32, f32)>> = mesh
        .positions
        .par_iter()
        .map(|position| row(position, &lines))
        .collect();
    let topology = Topology::of(mesh);
    let mut rows = rows;
    for _ in 0..SMOOTHING_PASSES {
        rows = (0..rows.len())
            .into_par_iter()
            .map(|vertex| averaged(vertex, &rows, &topology))
            .collect();
    }
    for row in &mut rows {
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(INFLUENCES);
    }
    SkinWeights::from_rows(rows).0
}

fn lines(skeleton: &Skeleton) -> Vec<Line> {
    let mut lines = Vec::new();
    for joint in 0..skeleton.len() {
        let here = skeleton.bind_position(joint);
        for &child in skeleton.children(joint) {
            lines.push(Line {
                joint: joint as u32,
                ends: [here, skeleton.bind_position(child)],
                joints: [joint, child],
            });
        }
        if skeleton.children(joint).is_empty() {
            let end = skeleton.joints()[joint].tail.unwrap_or(here);
            lines.push(Line {
                joint: joint as u32,
                ends: [here, end],
                joints: [joint, joint],
            });
        }
    }
    lines
}

fn row(position: &Point, lines: &[Line]) -> Vec<(u32, f32)> {
    let point = position.cast::<f64>();
    let distance = |line: &Line| {
        let [a, b] = line.ends;
        (a + (b - a) * closest_on_segment(&point, &a, &b) - point)
            .norm()
            .max(1e-12)
    };
    let Some((closest, nearest)) = lines
        .iter()
        .map(|line| (line, distance(line)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
    else {
        return Vec::new();
    };
    let near = |line: &&Line| {
        line.joints
            .iter()
            .any(|joint| closest.joints.contains(joint))
    };
    let mut row: Vec<(u32, f32)> = Vec::new();
    for line in lines.iter().filter(near) {
        let weight = (nearest / distance(line)).powi(FALLOFF) as f32;
        match row.iter_mut().find(|(joint, _)| *joint == line.joint) {
            Some((_, sum)) => *sum = sum.max(weight),
            None => row.push((line.joint, weight)),
        }
    }
    let sum: f32 = row.iter().map(|&(_, weight)| weight).sum();
    for (_, weight) in &mut row {
        *weight /= sum;
    }
    row
}

fn averaged(vertex: usize, rows: &[Vec<(u32, f32)>], topology: &Topology) -> Vec<(u32, f32)> {
    let neighbors = topology.neighbors(vertex);
    let mut sum = rows[vertex].clone();
    if neighbors.is_empty() {
        return sum;
    }
    for (_, weight) in &mut sum {
        *weight *= 0.5;
    }
    let share = 0.5 / neighbors.len() as f32;
    for &next in neighbors {
        for &(joint, weight) in &rows[next as usize] {
            match sum.iter_mut().find(|(own, _)| *own == joint) {
                Some((_, total)) => *total += weight * share,
                None => sum.push((joint, weight * share)),
            }
        }
    }
    sum
}
