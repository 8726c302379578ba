//! Parameters that several weight methods have.

use super::finish::MOST_KEPT;
use crate::param::{ParamKind, ParamSpec, ParamValues};

/// Number of influences that are kept of every vertex.
pub(super) const INFLUENCES: ParamSpec = ParamSpec {
    key: "influences",
    label: "Influences",
    unit: "",
    kind: ParamKind::Integer,
    range: [1.0, MOST_KEPT as f64],
    default: 4.0,
    doc: "Most joints that move one vertex. The next largest weight is subtracted from those kept, so that none jumps.",
};

/// Smoothing after the weights are computed.
pub(super) const SMOOTHING: ParamSpec = ParamSpec {
    key: "smoothing",
    label: "Smoothing",
    unit: "passes",
    kind: ParamKind::Integer,
    range: [0.0, 50.0],
    default: 0.0,
    doc: "Passes in which every vertex takes half of its weights from its neighbours.",
};

/// Resolution of the voxel domain.
pub(super) const RESOLUTION: ParamSpec = ParamSpec {
    key: "resolution",
    label: "Resolution",
    unit: "cells",
    kind: ParamKind::Integer,
    range: [16.0, 256.0],
    default: super::voxel::RESOLUTION as f64,
    doc: "Cells along the longest side of the character. More separate fingers better and take longer.",
};

/// The number of cells that values ask for.
pub(super) fn resolution(values: &ParamValues) -> u32 {
    RESOLUTION.sanitized(values.get(&RESOLUTION)) as u32
}
