//! What is done to weights after every method: smoothing, mirroring, the threshold and the number of influences, with a report.
//!
//! In this order, for vertices that are not locked:
//!
//! 1. smoothing passes, w ← (1 − μ) w + μ · mean of the neighbours; locked vertices are boundary values;
//! 2. mirroring: with S the exchange of joints with their partners and v′ the mirror image of v, w(v) ← ½ (w(v) + S w(v′)), or the
//!    weights of one side are copied to the other;
//! 3. weights below the threshold fade out, the K largest are kept with a soft edge (the K + 1st is subtracted from all of them), and
//!    each row is made to sum to 1.
//!
//! # Departures
//! - Engines drop the smallest weights, which makes them jump where two joints change places in the order. The soft edge is ours.
//! - Neighbours count equally in smoothing, whatever their distances: weights then do not depend on the sign of a cotangent.

mod mirror;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub use mirror::{MirrorFrom, MirrorMap};

use super::rows::{self, Row};
use super::{SkinWeights, WeightError};
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::Skeleton;

/// Largest number of influences that can be asked for.
pub const MOST_KEPT: usize = 8;
/// Weights that differ by no more than this are the same in the report.
const SAME: f64 = 1e-6;
/// Vertices between two looks at the progress.
const CHUNK: usize = 8192;

/// How weights are finished.
#[derive(Debug, Clone, Copy)]
pub struct FinishSettings<'a> {
    /// Weights below this become 0, and those up to twice of it smaller; 0 keeps all.
    pub least: f64,
    /// Influences kept of every vertex, 1 to [`MOST_KEPT`].
    pub influences: usize,
    /// Number of smoothing passes.
    pub smoothing_passes: usize,
    /// μ of a pass, 0 to 1.
    pub smoothing_strength: f64,
    /// For every vertex whether its weights stay as they are; vertices beyond the end are free.
    pub locked: &'a [bool],
    /// Which side is mirrored onto which.
    pub mirror: Option<MirrorFrom>,
}

impl Default for FinishSettings<'_> {
    /// Threshold 0.01, four influences, no smoothing, no mirror.
    fn default() -> Self {
        Self {
            least: 0.01,
            influences: 4,
            smoothing_passes: 0,
            smoothing_strength: 0.5,
            locked: &[],
            mirror: None,
        }
    }
}

/// Weights after [`finish`].
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// One row per vertex of the mesh.
    pub weights: SkinWeights,
    /// What was done.
    pub report: FinishReport,
}

/// Counts of [`finish`].
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct FinishReport {
    /// Number of vertices by their number of influences, from 0.
    pub histogram: Vec<usize>,
    /// Vertices of which a weight changed.
    pub changed: usize,
    /// Vertices without influence.
    pub without: usize,
    /// Largest change of a weight.
    pub largest_change: f64,
    /// Vertices that were mirrored; 0 if that was not asked for, or the character has no plane of symmetry.
    pub mirrored: usize,
    /// Joints that move no vertex.
    #[serde(skip)]
    pub unused_joints: Vec<u32>,
}

/// Finishes the weights of a mesh in the bind pose. `weights` has a row per vertex, of any number of influences; rows that are missing
/// count as empty. Empty rows stay so unless smoothing or the mirror fills them. Influences of joints that the skeleton does not have
/// are dropped.
///
/// A weight w from the threshold t to 2 t becomes 2 (w − t), below it 0, and above it stays, before rows are made to sum to 1.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn finish(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    weights: &SkinWeights,
    settings: &FinishSettings<'_>,
    progress: &Progress,
) -> Result<Finished, WeightError> {
    progress.report(0.0, "Finishing weights");
    let joints = skeleton.len();
    let mut before = rows::rows_of(weights, mesh.positions.len());
    for row in &mut before {
        row.retain(|&(joint, _)| (joint as usize) < joints);
    }
    let is_locked = |vertex: usize| settings.locked.get(vertex).copied().unwrap_or(false);
    let mut after = before.clone();
    if settings.smoothing_passes > 0 {
        let topology = Topology::of(mesh);
        progress.check()?;
        let strength = settings.smoothing_strength.clamp(0.0, 1.0);
        for _ in 0..settings.smoothing_passes {
            let strength = |vertex: usize| (!is_locked(vertex)).then_some(strength);
            after = rows::smoothed(&after, &topology, joints, strength, progress)?;
        }
    }
    let mut mirrored = 0;
    if let Some(from) = settings.mirror
        && let Some(map) = MirrorMap::find(mesh, skeleton, progress)?
    {
        (after, mirrored) = map.mirrored(&after, from, is_locked, progress)?;
    }
    let influences = settings.influences.clamp(1, MOST_KEPT);
    let least = if settings.least.is_finite() {
        settings.least.clamp(0.0, 0.5)
    } else {
        0.0
    };
    for (chunk, rows) in after.chunks_mut(CHUNK).enumerate() {
        progress.check()?;
        rows.par_iter_mut().enumerate().for_each(|(place, row)| {
            if !is_locked(chunk * CHUNK + place) {
                *row = rows::limited(row, influences, least);
            }
        });
    }
    let mut report = report_of(&before, &after, joints);
    report.mirrored = mirrored;
    Ok(Finished {
        weights: rows::weights_of(&after),
        report,
    })
}

fn report_of(before: &[Row], after: &[Row], joints: usize) -> FinishReport {
    let mut report = FinishReport::default();
    let mut used = vec![false; joints];
    for (old, new) in before.iter().zip(after) {
        let count = new.len();
        if report.histogram.len() <= count {
            report.histogram.resize(count + 1, 0);
        }
        report.histogram[count] += 1;
        report.without += usize::from(count == 0);
        for &(joint, _) in new {
            used[joint as usize] = true;
        }
        let change = largest_change(old, new);
        report.changed += usize::from(change > SAME);
        report.largest_change = report.largest_change.max(change);
    }
    let unused = (0..joints as u32).filter(|&joint| !used[joint as usize]);
    report.unused_joints = unused.collect();
    report
}

/// The largest difference between two rows, joints ascending in both.
fn largest_change(one: &[(u32, f64)], other: &[(u32, f64)]) -> f64 {
    let of = |row: &[(u32, f64)], joint: u32| {
        row.binary_search_by_key(&joint, |&(joint, _)| joint)
            .map_or(0.0, |place| row[place].1)
    };
    let joints = one.iter().chain(other).map(|&(joint, _)| joint);
    joints
        .map(|joint| (of(one, joint) - of(other, joint)).abs())
        .fold(0.0, f64::max)
}
