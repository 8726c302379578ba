//! Transfer of weights from one skinned mesh to another: clothes, a new topology, a level of detail, an edited body.
//!
//! Abdrashitov, Raichstat, Monsen, Hill, "Robust Skin Weights Transfer via Weight Inpainting", SIGGRAPH Asia 2023 technical
//! communications:
//!
//! 1. Every vertex of the target takes the weights of the closest point of the source. It is a *match* if that point is near
//!    ([`MATCH_DISTANCE`]) and faces the same way ([`MATCH_ANGLE_COS`]).
//! 2. The weights w of the others minimise wᵀ Q w with Q = −L + L M⁻¹ L, matches fixed.
//! 3. The others, and what is near them, are smoothed: ten passes w ← 0.8 w + 0.2 · mean of the neighbours.
//!
//! | paper | here                       | shape        | unit    | note                                          |
//! |-------|----------------------------|--------------|---------|-----------------------------------------------|
//! | −L    | `cotangent_laplacian`      | n × n        | –       | positive semi-definite; cotangents clamped    |
//! | M     | `vertex_areas` / size²     | n (diagonal) | –       | at least a thousandth of the mean             |
//! | Q     | rows of `Inpainting`       | n × n        | –       | only rows of vertices without match           |
//! | w     | [`Transferred::weights`]   | n × joints   | –       | rows on the simplex                           |
//!
//! # Departures
//! - M is divided by the square of the target's size (the diagonal of its bounding box): Q does not depend on the unit of length.
//! - A connected part of the target counts as turned inside out if more of its vertices near the source face it from behind than from
//!   the front; its normals are then reversed. The paper's code reverses them one by one, which lets the inner side of one leg match
//!   the other leg.
//! - A part without any match has no fixed vertex. Each of its vertices is linked by a spring to the weights of the closest point of the
//!   source, so weak that differences are smoothed over about [`MATCH_DISTANCE`]. All other vertices without match have a spring
//!   1e-9 times as strong as their row of Q, which decides where clamped cotangents leave a vertex without neighbours.
//! - What is near is measured along edges, not by distances in space: the other leg is not near.
//! - Rows are projected onto the simplex. Minimisers of Q are not bounded by 0 and 1.

mod inpaint;
mod joints;
mod matching;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use joints::{JointMap, JointMatch};

use super::finish::MOST_KEPT;
use super::rows::{self, Row};
use super::{ComputedWeights, SkinWeights, WeightError, WeightInput, WeightReport, by_distance};
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::Skeleton;
use inpaint::Inpainting;
use matching::Matches;

/// Largest distance of a match, relative to the target's size.
pub const MATCH_DISTANCE: f64 = 0.05;
/// Least cosine of the angle between the normals of a match: 30°.
pub const MATCH_ANGLE_COS: f64 = 0.866_025_403_784_438_6;
/// Number of smoothing passes, and the part of the mean in each.
const SMOOTHING: (usize, f64) = (10, 0.2);
/// Weights below this are dropped from the result.
const NEGLIGIBLE: f64 = 1e-5;
/// Least number of influences that the weight method keeps, and the threshold.
const KEPT: (usize, f64) = (4, 0.01);

/// A skinned mesh whose weights are transferred to others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransferSource {
    /// The skin in the bind pose, world space.
    pub mesh: TriMesh,
    /// Its weights, one row per vertex; triangles with a corner without influence are not used.
    pub weights: SkinWeights,
    /// The skeleton that the weights refer to, in the bind pose.
    pub skeleton: Skeleton,
}

/// Weights of another mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Transferred {
    /// One row per vertex of the target, not negative, summing to 1; of any number of influences.
    pub weights: SkinWeights,
    /// What was found.
    pub report: TransferReport,
}

/// Counts of [`transfer`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TransferReport {
    /// Vertices of the target.
    pub vertices: usize,
    /// Those that matched a point of the source.
    pub matched: usize,
    /// Connected parts of the target without any match.
    pub parts_without_match: usize,
    /// Connected parts whose normals are reversed with respect to the source.
    pub reversed_parts: usize,
    /// Connected parts whose equations could not be solved; they have the weights of the closest points.
    pub unsolved_parts: usize,
    /// Vertices with a position that is not finite; they move with the first joint.
    pub without_position: usize,
}

impl TransferSource {
    /// Whether there is a triangle to transfer weights from.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        let vertices = self.mesh.positions.len();
        let has_weights = |&vertex: &u32| {
            let vertex = vertex as usize;
            vertex < vertices
                && vertex < self.weights.len()
                && self.weights.strongest(vertex).is_some()
                && self.mesh.positions[vertex].iter().all(|c| c.is_finite())
        };
        let mut triangles = self.mesh.triangles.iter();
        triangles.any(|triangle| triangle.iter().all(has_weights))
    }
}

/// Transfers the weights of a source to a target mesh in the bind pose, in the same space. `joints` says which joint of the target's
/// skeleton stands for each joint of the source's. Rows are empty only if the source cannot be used ([`TransferSource::is_usable`]) or
/// no joint has a partner.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn transfer(
    source: &TransferSource,
    target: &TriMesh,
    joints: &JointMap,
    progress: &Progress,
) -> Result<Transferred, WeightError> {
    progress.report(0.0, "Matching to the source");
    let size = f64::from(target.bounds().size());
    let topology = Topology::of(target);
    let matches = Matches::find(source, target, &topology, joints, &progress.part(0.0, 0.4))?;
    transfer_matched(target, &topology, size, joints, &matches, progress)
}

/// The transfer after its first step.
fn transfer_matched(
    target: &TriMesh,
    topology: &Topology,
    size: f64,
    joints: &JointMap,
    matches: &Matches,
    progress: &Progress,
) -> Result<Transferred, WeightError> {
    let mut report = TransferReport {
        vertices: target.positions.len(),
        matched: matches
            .is_matched
            .iter()
            .filter(|matched| **matched)
            .count(),
        reversed_parts: matches.reversed_parts,
        without_position: matches.without_position,
        ..TransferReport::default()
    };
    let mut rows = matches.rows.clone();
    if report.matched < report.vertices && rows.iter().any(|row| !row.is_empty()) {
        progress.report(0.4, "Filling in weights");
        let inpainting = Inpainting::new(target, topology, size, matches);
        progress.check()?;
        let filled = inpainting.solve(&progress.part(0.5, 0.9))?;
        report.parts_without_match = filled.parts_without_match;
        report.unsolved_parts = filled.unsolved_parts;
        for (vertex, row) in filled.rows {
            rows[vertex as usize] = row;
        }
        progress.report(0.9, "Smoothing weights");
        let free: Vec<bool> = matches.is_matched.iter().map(|matched| !matched).collect();
        let reach = MATCH_DISTANCE * size;
        let near = inpaint::within(target, topology, &free, reach, progress)?;
        let (passes, strength) = SMOOTHING;
        for _ in 0..passes {
            let strength = |vertex: usize| near[vertex].then_some(strength);
            rows = rows::smoothed(&rows, topology, joints.targets, strength, progress)?;
        }
    }
    for row in &mut rows {
        row.retain(|(_, weight)| *weight > NEGLIGIBLE);
    }
    Ok(Transferred {
        weights: rows::weights_of(&rows),
        report,
    })
}

/// The weights of a skin by transfer, limited to as many influences as the source has, four at least; those by distance if the source
/// cannot be used.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn transferred(
    source: &TransferSource,
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let joints = JointMap::between(&source.skeleton, input.skeleton);
    let Transferred {
        weights: found,
        report,
    } = transfer(source, input.mesh, &joints, progress)?;
    let report = WeightReport {
        unreached: report.vertices - report.matched,
        ..WeightReport::default()
    };
    if !found.is_complete() {
        let weights = by_distance(input.mesh, input.skeleton);
        return Ok(ComputedWeights { weights, report });
    }
    let ends = source.weights.offsets.windows(2);
    let most = ends.map(|pair| pair[1].saturating_sub(pair[0])).max();
    let most = most.map_or(0, |most| most as usize);
    let (least_kept, threshold) = KEPT;
    let limited = |row: &Row| rows::limited(row, most.clamp(least_kept, MOST_KEPT), threshold);
    let rows: Vec<Row> = rows::rows_of(&found, found.len())
        .iter()
        .map(limited)
        .collect();
    Ok(ComputedWeights {
        weights: rows::weights_of(&rows),
        report,
    })
}
