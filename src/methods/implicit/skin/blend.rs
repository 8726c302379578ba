//! Where dual quaternions put the skin.

use rayon::prelude::*;

use super::{CHUNK, Skin, Step};
use crate::math::{Point, SplitTransform};
use crate::methods::implicit::motions::Motions;
use crate::methods::implicit::spot::at_rest;
use crate::numerics::lanes::Padded;

impl Skin {
    /// Puts the skin where dual quaternions put it.
    pub(in super::super) fn blend(&mut self, step: &Step<'_>) {
        self.is_shown = false;
        self.posed.forget_swelling();
        self.split(step.motions);
        let splits = &self.splits;
        let spots = self.spots.par_iter_mut().with_min_len(CHUNK).enumerate();
        spots.for_each(|(vertex, spot)| *spot = at_rest(blended_point(step, splits, vertex)));
    }

    /// Takes the motions of the joints as dual quaternions.
    pub(super) fn split(&mut self, motions: &Motions) {
        for (split, motion) in self.splits.iter_mut().zip(&motions.now_from_bind) {
            *split = SplitTransform::of(motion);
        }
    }
}

/// Where dual quaternions put a vertex.
pub(super) fn blended_point(step: &Step<'_>, splits: &[SplitTransform], vertex: usize) -> Padded {
    let [x, y, z, _] = step.model.rest[vertex];
    let weights = step.weights.of(vertex);
    let weighted = weights.map(|(joint, weight)| (&splits[joint], weight));
    let point = Point::new(x, y, z);
    let moved = SplitTransform::blend(weighted).map_or(point, |blend| blend.apply(&point));
    [moved.x, moved.y, moved.z, 0.0]
}
