//! A step of the joints that the skin follows.

use crate::methods::Subject;
use crate::methods::implicit::model::Model;
use crate::methods::implicit::motions::Motions;
use crate::weights::SkinWeights;

/// A move below this part of the size is none; on the way to a pose, where the next step goes on, one below the other.
pub(super) const STILL: f32 = 1e-5;
const PASSING: f32 = 1e-4;
/// After so many rounds those vertices are left out that are still, with all of their neighbours.
pub(super) const SIFT: usize = 3;

/// What a step works with.
#[derive(Clone, Copy)]
pub(in super::super) struct Step<'a> {
    pub(super) model: &'a Model,
    pub(super) weights: &'a SkinWeights,
    pub(super) motions: &'a Motions,
    /// Joints of one class have moved alike.
    pub(super) classes: &'a [u32],
    /// Most rounds of relaxation.
    pub(super) rounds: usize,
    pub(super) care: Care,
}

/// How exact a step must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Care {
    /// Only the sides of contacts must be right: another step of the same frame follows.
    Sides,
    /// A frame that others follow.
    Frame,
    /// A step on the way from the bind pose.
    Way,
    /// The end of that way, or of a motion.
    Still,
}

impl<'a> Step<'a> {
    pub(in super::super) fn new(
        model: &'a Model,
        subject: &'a Subject,
        motions: &'a Motions,
        classes: &'a [u32],
        rounds: usize,
    ) -> Self {
        Self {
            model,
            weights: subject.skin_weights(),
            motions,
            classes,
            rounds,
            care: Care::Still,
        }
    }

    /// The same step, taken with that care.
    pub(in super::super) fn with(self, care: Care) -> Self {
        Self { care, ..self }
    }

    /// How far a vertex that is still moves in a round, at most.
    pub(super) fn limit(&self) -> f32 {
        let part = match self.care {
            Care::Still => STILL,
            _ => PASSING,
        };
        part * self.model.size
    }

    /// Whether vertices are lifted off contacts after this round.
    pub(super) fn lifts_after(&self, round: usize) -> bool {
        let every = match self.care {
            Care::Sides => return false,
            Care::Frame => 2 * SIFT,
            Care::Way | Care::Still => SIFT,
        };
        round % every == every - 1
    }
}
