//! Scores of weights: against reference weights (an artist's, say), and on their own.
//!
//! | score         | definition                                                                                                    |
//! |---------------|---------------------------------------------------------------------------------------------------------------|
//! | L1            | mean over vertices of Σⱼ abs(wⱼ − rⱼ), 0 to 2                                                                 |
//! | pose rms, max | distance of the vertices under linear blend skinning with w and with r, over 20 random poses                   |
//! | smoothness    | mean over edges (u, v) of ‖`w_u` − `w_v`‖²                                                                    |
//! | bleed         | share of the weights above 0.01 that are of joints not among the nearest of their vertex                      |
//!
//! In a pose every joint turns about its bind position by a rotation vector whose components along the world's axes are normally
//! distributed, σ = 20°; children follow. w counts with its four largest influences of each vertex, r with all. Distances are scaled to a
//! character whose bounding box is 1.75 m along its longest side. The poses are the same for equal numbers of joints, on every machine.

#[cfg(test)]
mod tests;

use nalgebra::{Matrix3, Rotation3};
use rayon::prelude::*;

use super::rows::{self, Row, RowSum};
use super::{Segment, SkinWeights, WeightError};
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::Skeleton;

/// Number of random poses.
pub const POSES: usize = 20;
/// Standard deviation of each component of a joint's rotation vector, radians: 20°.
pub const SIGMA: f64 = 20.0 * std::f64::consts::PI / 180.0;
/// Longest side of the bounding box to which distances are scaled, mm.
pub const HEIGHT_MM: f64 = 1750.0;
/// Influences that count in a pose.
const POSED_INFLUENCES: usize = 4;
/// Weights above this bleed.
const BLEEDS: f32 = 0.01;

/// How weights differ from a reference. Vertices that have no influence in one of them do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ReferenceScore {
    /// Vertices that count.
    pub vertices: usize,
    /// Mean L1 distance of the rows, 0 to 2.
    pub l1: f64,
    /// Root mean square of the distances over vertices and poses, mm at 1.75 m.
    pub pose_rms_mm: f64,
    /// Largest distance, mm at 1.75 m.
    pub pose_max_mm: f64,
}

/// The rigid motion of a joint from the bind pose.
#[derive(Debug, Clone, Copy)]
struct Motion {
    rotation: Matrix3<f64>,
    translation: Vec64,
}

/// Compares weights with reference weights of the same mesh in the bind pose.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn score_against(
    reference: &SkinWeights,
    weights: &SkinWeights,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    progress: &Progress,
) -> Result<ReferenceScore, WeightError> {
    let longest = f64::from(mesh.bounds().extent().max());
    let joints = skeleton.len();
    let usable = |row: &Row| !row.is_empty() && row.iter().all(|(j, _)| (*j as usize) < joints);
    let count = mesh.positions.len();
    let pairs: Vec<(Point64, Row, Row)> = (rows::rows_of(weights, count).into_iter())
        .zip(rows::rows_of(reference, count))
        .zip(&mesh.positions)
        .filter(|((row, known), at)| {
            usable(row) && usable(known) && at.iter().all(|c| c.is_finite())
        })
        .map(|((row, known), at)| (at.cast(), row, known))
        .collect();
    if pairs.is_empty() || longest.is_nan() || longest <= 0.0 {
        return Ok(ReferenceScore::default());
    }
    let l1: f64 = pairs.iter().map(|(_, row, known)| l1(row, known)).sum();
    // What moves a vertex differently: the same sum of motions with the differences of the weights.
    let differences: Vec<(Point64, Row)> = pairs
        .iter()
        .map(|(at, row, known)| (*at, difference(&largest(row), known, joints)))
        .collect();
    let mut squares = 0.0;
    let mut largest = 0.0_f64;
    for pose in 0..POSES {
        progress.check()?;
        progress.report(pose as f32 / POSES as f32, "Comparing weights");
        let motions = motions(skeleton, pose as u64);
        let squared: Vec<f64> = differences
            .par_iter()
            .map(|(at, row)| displacement(at, row, &motions).norm_squared())
            .collect();
        squares += squared.iter().sum::<f64>();
        largest = squared.iter().copied().fold(largest, f64::max);
    }
    let scale = HEIGHT_MM / longest;
    Ok(ReferenceScore {
        vertices: pairs.len(),
        l1: l1 / pairs.len() as f64,
        pose_rms_mm: scale * (squares / (pairs.len() * POSES) as f64).sqrt(),
        pose_max_mm: scale * largest.sqrt(),
    })
}

/// Mean over the edges of the mesh of the squared difference of the weights at their ends; 0 without edge.
#[must_use]
pub fn smoothness(weights: &SkinWeights, mesh: &TriMesh) -> f64 {
    let rows = rows::rows_of(weights, mesh.positions.len());
    let edges = Topology::of(mesh).edges;
    let squared = |[u, v]: &[u32; 2]| {
        merged(&rows[*u as usize], &rows[*v as usize])
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
    };
    edges.iter().map(squared).sum::<f64>() / edges.len().max(1) as f64
}

/// Share of the weights above 0.01 that are of joints that `nearest` does not list for their vertex; 0 without weights.
pub fn bleed<'a>(weights: &SkinWeights, nearest: impl Fn(usize) -> &'a [u32]) -> f64 {
    let (mut all, mut far) = (0_usize, 0_usize);
    for vertex in 0..weights.len() {
        let near = nearest(vertex);
        for (joint, _) in weights.of(vertex).filter(|(_, weight)| *weight > BLEEDS) {
            all += 1;
            far += usize::from(!near.contains(&(joint as u32)));
        }
    }
    far as f64 / all.max(1) as f64
}

/// For every vertex the `count` joints whose bones are nearest in a straight line, the nearest first; for [`bleed`] where no distance
/// through the body is at hand.
#[must_use]
pub fn nearest_joints(mesh: &TriMesh, skeleton: &Skeleton, count: usize) -> Vec<Vec<u32>> {
    let segments = Segment::of(skeleton);
    let nearest = |position: &crate::math::Point| -> Vec<u32> {
        let point: Point64 = position.cast();
        let mut distances = vec![f64::INFINITY; skeleton.len()];
        for segment in &segments {
            let distance = (segment.nearest_to(&point) - point).norm_squared();
            let known = &mut distances[segment.joint as usize];
            *known = known.min(distance);
        }
        let mut order: Vec<u32> = (0..skeleton.len() as u32).collect();
        let key = |joint: &u32| distances[*joint as usize];
        order.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        order.truncate(count);
        order
    };
    mesh.positions.par_iter().map(nearest).collect()
}

/// The weights of two rows for every joint that one of them has; joints ascending in both.
fn merged<'a>(one: &'a [(u32, f64)], other: &'a [(u32, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let mut one = one.iter().copied().peekable();
    let mut other = other.iter().copied().peekable();
    std::iter::from_fn(move || {
        let joint = match (one.peek(), other.peek()) {
            (Some(&(a, _)), Some(&(b, _))) => a.min(b),
            (Some(&(joint, _)), None) | (None, Some(&(joint, _))) => joint,
            (None, None) => return None,
        };
        let a = one.next_if(|&(own, _)| own == joint);
        let b = other.next_if(|&(own, _)| own == joint);
        Some((
            a.map_or(0.0, |(_, weight)| weight),
            b.map_or(0.0, |(_, weight)| weight),
        ))
    })
}

fn l1(one: &Row, other: &Row) -> f64 {
    merged(one, other).map(|(a, b)| (a - b).abs()).sum()
}

/// The largest weights of a row, made to sum to 1.
fn largest(row: &Row) -> Row {
    let mut order = row.clone();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(POSED_INFLUENCES);
    order.sort_by_key(|&(joint, _)| joint);
    rows::normalise(&mut order);
    order
}

/// Weights minus reference, joints ascending.
fn difference(row: &Row, known: &Row, joints: usize) -> Row {
    let mut known = known.clone();
    rows::normalise(&mut known);
    let mut sum = RowSum::new(joints);
    sum.add(row, 1.0);
    sum.add(&known, 1.0);
    let of = |row: &Row, joint: u32| {
        row.binary_search_by_key(&joint, |&(joint, _)| joint)
            .map_or(0.0, |place| row[place].1)
    };
    let all = sum.take().into_iter().map(|(joint, _)| joint);
    all.map(|joint| (joint, of(row, joint) - of(&known, joint)))
        .collect()
}

fn displacement(at: &Point64, differences: &Row, motions: &[Motion]) -> Vec64 {
    let moved = |&(joint, weight): &(u32, f64)| {
        let motion = &motions[joint as usize];
        (motion.rotation * at.coords + motion.translation) * weight
    };
    differences.iter().map(moved).sum()
}

/// The motion of every joint in a random pose.
fn motions(skeleton: &Skeleton, pose: u64) -> Vec<Motion> {
    let mut random = Normal(pose);
    let mut motions: Vec<Motion> = Vec::with_capacity(skeleton.len());
    for joint in 0..skeleton.len() {
        let turn = Vec64::from_fn(|_, _| SIGMA * random.draw());
        let rotation = Rotation3::new(turn).into_inner();
        let center = skeleton.bind_position(joint).coords;
        let own = Motion {
            rotation,
            translation: center - rotation * center,
        };
        // Parents come first.
        motions.push(match skeleton.joints()[joint].parent {
            Some(parent) => {
                let parent = motions[parent];
                Motion {
                    rotation: parent.rotation * own.rotation,
                    translation: parent.rotation * own.translation + parent.translation,
                }
            }
            None => own,
        });
    }
    motions
}

/// Normally distributed numbers: splitmix64 and the transform of Box and Muller.
struct Normal(u64);

impl Normal {
    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}
