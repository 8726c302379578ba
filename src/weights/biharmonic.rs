//! Biharmonic weights on voxels: one linear solve, projected to weights.
//!
//! Jacobson, Baran, Popović, Sorkine, "Bounded Biharmonic Weights for Real-Time Deformation", SIGGRAPH 2011, equation 2 without its
//! inequalities:
//!
//! ```text
//! minimise Σⱼ ½ wⱼᵀ Q wⱼ,  Q = L M⁻¹ L,  given W_h = B:     Q_ff W = −Q_fh B,    rows projected to the probability simplex
//! ```
//!
//! | paper | here                           | shape             | unit | note                                          |
//! |-------|--------------------------------|-------------------|------|-----------------------------------------------|
//! | L     | [`VoxelDomain::laplacian`]     | nodes × nodes     | –    | graph Laplacian, edges counted once per cell  |
//! | M     | [`VoxelBinding::mass`]         | nodes (diagonal)  | cells | an eighth of every cell around the node      |
//! | B     | [`VoxelBinding::bones`]        | given × joints    | –    | 1, or 1/k for each of k joints                |
//! | W     | the solution                   | free × joints     | –    | not negative; rows sum to 1                   |
//!
//! # Departures
//! - On voxels instead of tets, so that any mesh will do.
//! - The inequalities are met by projecting the solution instead of by quadratic programming; [`bounded`](super::bounded_biharmonic) goes
//!   on from here to the exact minimum.
//! - Bones are volumes, not lines.
//!
//! [`VoxelDomain::laplacian`]: super::voxel::VoxelDomain::laplacian

use super::bounded::{BoundedSettings, bounded_weights};
use super::voxel::{BONE_RADIUS, RESOLUTION, VoxelBinding};
use super::{ComputedWeights, WeightError, WeightInput};
use crate::progress::Progress;

/// Biharmonic weights of a skin, projected to the simplex, full rows.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn biharmonic(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let settings = BoundedSettings {
        steps: 0,
        ..BoundedSettings::default()
    };
    weights_of(input, &settings, progress)
}

/// Bounded biharmonic weights of a skin, full rows: at most [`BoundedSettings::default`]'s steps from [`biharmonic`] to the minimum.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn bounded_biharmonic(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    weights_of(input, &BoundedSettings::default(), progress)
}

/// Bounded biharmonic weights of a skin by given settings.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn weights_of(
    input: &WeightInput<'_>,
    settings: &BoundedSettings,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let WeightInput { mesh, skeleton, .. } = *input;
    let binding = VoxelBinding::of(
        mesh,
        skeleton,
        RESOLUTION,
        BONE_RADIUS,
        &progress.part(0.0, 0.3),
    )?;
    progress.report(0.3, "Solving for weights");
    let Some(weights) = bounded_weights(&binding, settings, &progress.part(0.3, 1.0))? else {
        return Ok(binding.unsolved(mesh, skeleton));
    };
    Ok(binding.finish(&weights, mesh, skeleton))
}
