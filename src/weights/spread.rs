//! Diffusion of weights over the skin, as far as the limb is thick.
//!
//! ```text
//! w_i ← (1 − μ_i) w_i + μ_i · mean of the neighbours, K times,      μ_i = min( ½, 2 (c r_i)² / (K h_i²) )
//! ```
//!
//! | symbol | here     | unit   | note                                                                                     |
//! |--------|----------|--------|------------------------------------------------------------------------------------------|
//! | r      | `radius` | length | distance to the nearest bone                                                             |
//! | c      | `reach`  | –      | standard deviation of the diffusion along a direction, in radii                          |
//! | h      | `squares`| length | root mean square of the edges of a vertex: a pass of strength μ has the variance μ h² / 2 |
//! | K      | [`PASSES`] | –    |                                                                                          |
//!
//! On meshes whose edges are longer than c r / √(K / 4) the reach does not depend on the resolution; on finer ones it is shorter. Along the
//! skin, unlike through the body, nothing spreads from finger to finger, and none from shell to shell.

use rayon::prelude::*;

use super::rows::{rows_of, smoothed, weights_of};
use super::{ComputedWeights, Segment, WeightError};
use crate::math::Point64;
use crate::mesh::{Topology, TriMesh};
use crate::progress::Progress;
use crate::rig::Skeleton;

/// Passes.
const PASSES: usize = 8;
/// Most of a vertex' weights that a pass takes from its neighbours.
const MOST: f64 = 0.5;
/// Bones further away than this part of the longest side count as that far.
const FAR: f64 = 0.12;

/// Spreads weights over a mesh in the bind pose. Reaches that are not positive leave them as they are.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub(super) fn spread(
    computed: ComputedWeights,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    reach: f64,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    if reach.is_nan() || reach <= 0.0 {
        return Ok(computed);
    }
    progress.report(0.0, "Spreading weights");
    let topology = Topology::of(mesh);
    progress.check()?;
    let bones = Segment::of(skeleton);
    let far = FAR * f64::from(mesh.bounds().extent().max());
    let strength_of = |vertex: usize| {
        let at = |vertex: usize| -> Point64 { mesh.positions[vertex].cast() };
        let here = at(vertex);
        let distances = bones
            .iter()
            .map(|bone| (bone.nearest_to(&here) - here).norm());
        let radius = distances.fold(far, f64::min);
        let neighbors = topology.neighbors(vertex);
        let edges = neighbors
            .iter()
            .map(|&next| (at(next as usize) - here).norm_squared());
        let square = edges.sum::<f64>() / neighbors.len().max(1) as f64;
        let strength = 2.0 * (reach * radius).powi(2) / (PASSES as f64 * square);
        // Not for NaN: positions that are not finite, and vertices without an edge.
        (strength > 0.0).then(|| strength.min(MOST))
    };
    let vertices = 0..mesh.positions.len();
    let strengths: Vec<Option<f64>> = vertices.into_par_iter().map(strength_of).collect();
    let mut rows = rows_of(&computed.weights, mesh.positions.len());
    for pass in 0..PASSES {
        progress.set_fraction(pass as f32 / PASSES as f32);
        let strength = |vertex: usize| strengths[vertex];
        rows = smoothed(&rows, &topology, skeleton.len(), strength, progress)?;
    }
    Ok(ComputedWeights {
        weights: weights_of(&rows),
        ..computed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::shapes::{joined, moved, tube};
    use crate::weights::SkinWeights;

    /// A tube along y from 0 to 10 whose upper half follows the second joint, and the weights of that after spreading.
    fn of_upper(rings: u32, sectors: u32, reach: f64) -> Vec<(f64, f64)> {
        let one = tube(1.0, 10.0, rings, sectors, false);
        // A shell beside it that follows the first joint alone.
        let mesh = joined(&[
            one.clone(),
            moved(one.clone(), crate::math::Vec3::x() * 2.1),
        ]);
        let joints = [
            ("a".to_owned(), None, Point64::new(0.0, 0.0, 0.0)),
            ("b".to_owned(), Some(0), Point64::new(0.0, 5.0, 0.0)),
            ("c".to_owned(), Some(1), Point64::new(0.0, 10.0, 0.0)),
        ];
        let skeleton = Skeleton::from_positions(&joints).expect("a chain");
        let first = one.positions.len();
        let row = |(vertex, p): (usize, &crate::math::Point)| {
            [(u32::from(vertex < first && p.y > 5.0), 1.0)]
        };
        let rows = mesh.positions.iter().enumerate().map(row);
        let computed = ComputedWeights {
            weights: SkinWeights::from_rows(rows).0,
            ..ComputedWeights::default()
        };
        let spread = spread(computed, &mesh, &skeleton, reach, &Progress::new());
        let weights = spread.expect("nobody cancels").weights;
        let upper = |vertex: usize| weights.of(vertex).find(|(joint, _)| *joint == 1);
        for vertex in 0..mesh.positions.len() {
            let sum: f32 = weights.of(vertex).map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5);
            assert!(vertex < first || upper(vertex).is_none(), "another shell");
        }
        let value = |vertex| upper(vertex).map_or(0.0, |(_, weight)| f64::from(weight));
        (0..=rings as usize)
            .map(|ring| ring * sectors as usize)
            .map(|vertex| (f64::from(mesh.positions[vertex].y), value(vertex)))
            .collect()
    }

    /// Variance of the step of a profile.
    fn variance(profile: &[(f64, f64)]) -> f64 {
        let steps = profile.windows(2).map(|pair| {
            let middle = 0.5 * (pair[0].0 + pair[1].0);
            (pair[1].1 - pair[0].1, middle)
        });
        let steps: Vec<(f64, f64)> = steps.collect();
        let mean: f64 = steps.iter().map(|(rise, at)| rise * at).sum();
        steps
            .iter()
            .map(|(rise, at)| rise * (at - mean).powi(2))
            .sum()
    }

    #[test]
    fn a_step_becomes_as_wide_as_asked_on_any_mesh() {
        for (rings, sectors) in [(31, 18), (45, 28)] {
            for reach in [0.2, 0.35] {
                let width = variance(&of_upper(rings, sectors, reach)).sqrt();
                assert!(
                    (width - reach).abs() < 0.12 * reach,
                    "{rings}: {width} of {reach}"
                );
            }
        }
        assert!(variance(&of_upper(31, 18, 0.0)) < 1e-9);
    }
}
