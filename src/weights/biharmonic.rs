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
//! - Bones are volumes, not lines. That makes transitions narrower than artists paint them, so that the one solve is followed by
//!   diffusion over the skin ([`spread`]). The exact minimum is left as it is.
//!
//! [`VoxelDomain::laplacian`]: super::voxel::VoxelDomain::laplacian

use super::bounded::{BoundedSettings, bounded_weights};
use super::common_params::{INFLUENCES, RESOLUTION, SMOOTHING, resolution};
use super::spread::spread;
use super::voxel::VoxelBinding;
use super::{ComputedWeights, WeightDescriptor, WeightError, WeightInput};
use crate::param::{ParamKind, ParamSpec};
use crate::progress::Progress;

const PAPER: &str = "Jacobson, Baran, Popović, Sorkine, Bounded Biharmonic Weights for Real-Time Deformation, SIGGRAPH 2011, equation 2";

/// Biharmonic weights.
pub(super) const DESCRIPTOR: WeightDescriptor = WeightDescriptor {
    id: "biharmonic",
    label: "Biharmonic",
    doc: "Smooth weights through the inside of the skin, from one linear solve on voxels. The best for nearly any mesh.",
    cost: "1 s",
    source: PAPER,
    departures: &[
        "On voxels instead of tetrahedra, so that any mesh will do.",
        "The bounds are met by projection instead of by quadratic programming.",
        "Bones are volumes instead of lines.",
        "Spread over the skin afterwards, in limb radii, so that transitions are as wide as artists paint them.",
    ],
    params: &[INFLUENCES, SMOOTHING, RESOLUTION, SPREAD],
    version: 3,
    compute: Some(biharmonic),
};

/// How far weights spread after the solve.
const SPREAD: ParamSpec = ParamSpec {
    key: "spread",
    label: "Spread",
    unit: "radii",
    kind: ParamKind::Real,
    range: [0.0, 1.0],
    default: 0.5,
    doc: "How far weights are spread over the skin, in radii of the limb: transitions become wider, on fine and coarse meshes alike.",
};

/// Steps towards the exact minimum.
const STEPS: ParamSpec = ParamSpec {
    key: "steps",
    label: "Steps",
    unit: "",
    kind: ParamKind::Integer,
    range: [0.0, 200.0],
    default: 10.0,
    doc: "Most steps from the projected solution towards the exact minimum; it stops earlier where little changes.",
};

/// Bounded biharmonic weights.
pub(super) const BOUNDED: WeightDescriptor = WeightDescriptor {
    id: "bbw",
    label: "Bounded biharmonic",
    doc: "The smoothest weights that are not negative and sum to 1: biharmonic ones, refined to the exact minimum.",
    cost: "3 s",
    source: PAPER,
    departures: &[
        "On voxels instead of tetrahedra, so that any mesh will do.",
        "Weights sum to 1 as part of the problem instead of by division afterwards.",
        "Solved by the alternating direction method of multipliers with one factorisation.",
        "Bones are volumes instead of lines.",
    ],
    params: &[INFLUENCES, SMOOTHING, RESOLUTION, STEPS],
    version: 2,
    compute: Some(bounded_biharmonic),
};

/// Biharmonic weights of a skin, projected to the simplex and spread, full rows.
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
    let computed = weights_of(input, &settings, &progress.part(0.0, 0.9))?;
    let reach = input.values.get(&SPREAD);
    let last = progress.part(0.9, 1.0);
    spread(computed, input.mesh, input.skeleton, reach, &last)
}

/// Bounded biharmonic weights of a skin, full rows: some steps from [`biharmonic`] to the minimum.
///
/// # Errors
/// [`WeightError::Cancelled`].
pub fn bounded_biharmonic(
    input: &WeightInput<'_>,
    progress: &Progress,
) -> Result<ComputedWeights, WeightError> {
    let settings = BoundedSettings {
        steps: input.values.get(&STEPS) as usize,
        ..BoundedSettings::default()
    };
    weights_of(input, &settings, progress)
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
    let cells = resolution(input.values);
    let binding = VoxelBinding::shared(input, cells, &progress.part(0.0, 0.3))?;
    progress.report(0.3, "Solving for weights");
    let Some(weights) = bounded_weights(&binding, settings, &progress.part(0.3, 1.0))? else {
        return Ok(binding.unsolved(mesh, skeleton));
    };
    Ok(binding.finish(&weights, mesh, skeleton))
}
