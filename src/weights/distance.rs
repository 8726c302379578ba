//! Smooth weights from distances alone, for skins that come without any.
//!
//! A vertex belongs to its closest bone and to the bones that meet it; a bone at distance d gets (`d_min` / d)⁴. Bones at the same
//! distance, as those on both sides of a centre line are, count equally: the mirror image of a character has the mirrored weights. A few
//! passes of averaging over the mesh smooth the remaining creases.

use rayon::prelude::*;

use super::{ComputedWeights, Segment, SkinWeights, WeightDescriptor, WeightReport};
use crate::math::Point;
use crate::mesh::{Topology, TriMesh};
use crate::rig::Skeleton;

/// Weights by distance.
pub(super) const DESCRIPTOR: WeightDescriptor = WeightDescriptor {
    id: "distance",
    label: "By distance",
    doc: "From distances to the nearest bones, smoothed over the skin. Quick, and works on any mesh.",
    cost: "20 ms",
    source: "",
    departures: &[],
    params: &[],
    version: 3,
    compute: Some(|input, progress| {
        progress.check()?;
        Ok(ComputedWeights {
            weights: by_distance(input.mesh, input.skeleton),
            report: WeightReport::default(),
        })
    }),
};

const FALLOFF: i32 = 4;
const SMOOTHING_PASSES: usize = 8;
/// Influences kept of every vertex.
const INFLUENCES: usize = 4;

/// Distances and weights that differ by less than this part are equal: positions in files are rounded.
const TIE: f64 = 1e-5;

/// Weights of every vertex of a mesh given in the bind pose, at most four each, summing to 1. Empty rows only if the skeleton is
/// empty.
#[must_use]
pub fn by_distance(mesh: &TriMesh, skeleton: &Skeleton) -> SkinWeights {
    let bones = Segment::of(skeleton);
    let rows: Vec<Vec<(u32, f32)>> = mesh
        .positions
        .par_iter()
        .map(|position| row(position, &bones))
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
        keep_largest(row);
    }
    SkinWeights::from_rows(rows).0
}

/// Weights by distance alone: the mean over all closest bones.
fn row(position: &Point, bones: &[Segment]) -> Vec<(u32, f32)> {
    let point = position.cast::<f64>();
    let distance = |bone: &Segment| (bone.nearest_to(&point) - point).norm().max(1e-12);
    let distances: Vec<f64> = bones.iter().map(distance).collect();
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let at = || bones.iter().zip(distances.iter().copied());
    let is_closest = |&(_, distance): &(&Segment, f64)| distance <= nearest * (1.0 + TIE);
    let share = 1.0 / at().filter(is_closest).count() as f32;
    let mut mean = Vec::new();
    for (closest, _) in at().filter(is_closest) {
        let mut row: Vec<(u32, f32)> = Vec::new();
        for (bone, distance) in at().filter(|(bone, _)| bone.meets(closest)) {
            let weight = (nearest / distance).powi(FALLOFF) as f32;
            match row.iter_mut().find(|(joint, _)| *joint == bone.joint) {
                Some((_, known)) => *known = known.max(weight),
                None => row.push((bone.joint, weight)),
            }
        }
        let sum: f32 = row.iter().map(|&(_, weight)| weight).sum();
        add(
            &mut mean,
            row.iter().map(|&(joint, weight)| (joint, weight / sum)),
            share,
        );
    }
    mean
}

/// Adds the weights of a row, times a factor.
fn add(sum: &mut Vec<(u32, f32)>, row: impl Iterator<Item = (u32, f32)>, factor: f32) {
    for (joint, weight) in row {
        match sum.iter_mut().find(|(own, _)| *own == joint) {
            Some((_, total)) => *total += weight * factor,
            None => sum.push((joint, weight * factor)),
        }
    }
}

/// Sorts by weight and keeps as many as may be; of equal ones all or none, if that leaves any.
fn keep_largest(row: &mut Vec<(u32, f32)>) {
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let Some(&(_, dropped)) = row.get(INFLUENCES) else {
        return;
    };
    row.truncate(INFLUENCES);
    let above = dropped * (1.0 + TIE as f32);
    let kept = row.iter().filter(|(_, weight)| *weight > above).count();
    if kept > 0 {
        row.truncate(kept);
    }
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
        add(&mut sum, rows[next as usize].iter().copied(), share);
    }
    sum
}
