//! How far the skin of a rig is from simulated positions.

use rayon::prelude::*;

use super::SkinWeights;
use super::frames::{deltas_of, moved};
use crate::math::{Point, Vec64};
use crate::rig::{Pose, Skeleton};

/// Distances over vertices and frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Residual {
    /// Root mean square.
    pub rms: f64,
    /// Largest.
    pub max: f64,
    /// Number of distances.
    #[serde(skip)]
    samples: usize,
}

impl Residual {
    /// Distances in one frame between simulated positions and those by linear blending, in units of the positions.
    #[must_use]
    pub fn of_frame(
        skeleton: &Skeleton,
        weights: &SkinWeights,
        bind: &[Point],
        pose: &Pose,
        positions: &[Point],
    ) -> Self {
        let deltas = deltas_of(skeleton, &skeleton.world_from_joint(pose));
        let square = |vertex: usize| {
            let place: Vec64 = bind[vertex].coords.cast();
            let parts = weights.of(vertex);
            let blended: Vec64 = parts
                .map(|(bone, w)| moved(&deltas[bone], &place) * f64::from(w))
                .sum();
            (blended - positions[vertex].coords.cast::<f64>()).norm_squared()
        };
        // In order, so that the sum does not depend on the threads.
        let squares: Vec<f64> = (0..bind.len()).into_par_iter().map(square).collect();
        let max = squares.iter().copied().fold(0.0, f64::max);
        Self {
            rms: (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt(),
            max: max.sqrt(),
            samples: squares.len(),
        }
    }

    /// That of two sets of frames together.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let squares = |one: &Self| one.rms * one.rms * one.samples as f64;
        let samples = self.samples + other.samples;
        Self {
            rms: ((squares(self) + squares(other)) / samples.max(1) as f64).sqrt(),
            max: self.max.max(other.max),
            samples,
        }
    }

    /// The same over so many distances, if it was read from a file, which does not keep their number.
    #[must_use]
    pub fn over(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    /// The same in another unit.
    #[must_use]
    pub fn in_units(self, factor: f64) -> Self {
        Self {
            rms: self.rms * factor,
            max: self.max * factor,
            ..self
        }
    }
}
