//! Saving and restoring the state of the flesh.

use super::{Body, Constraints};
use crate::dynamics::Target;
use crate::math::Point;
use crate::methods::position_based::base_motion::BaseMotion;
use crate::methods::position_based::block::Multipliers;
use crate::methods::position_based::points::Vector;

/// Positions and velocities, in world units and simulated seconds.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::methods::position_based) struct BodyState {
    pub(in crate::methods::position_based) position: Vec<Vector>,
    pub(in crate::methods::position_based) velocity: Vec<Vector>,
    pub(in crate::methods::position_based) base: Vec<Point>,
    pub(in crate::methods::position_based) targets: Vec<Target>,
    multipliers: Vec<Multipliers>,
    springs: Vec<Vector>,
}

impl BodyState {
    /// Approximate memory of its vectors.
    pub(in crate::methods::position_based) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.position)
            + size_of_val(&*self.velocity)
            + size_of_val(&*self.base)
            + size_of_val(&*self.targets)
            + size_of_val(&*self.multipliers)
            + size_of_val(&*self.springs)
    }
}

impl Body {
    pub(in crate::methods::position_based) fn save(&self, motion: &BaseMotion) -> BodyState {
        let at = |unknown| self.points.get(unknown);
        BodyState {
            position: (0..self.model.unknowns as u32).map(at).collect(),
            velocity: self.velocity.clone(),
            base: self.base.clone(),
            targets: self.targets.clone(),
            multipliers: match &self.constraints {
                Constraints::Compliant(own) => own.multipliers().to_vec(),
                Constraints::Plain(_) => Vec::new(),
            },
            springs: match &motion.binding {
                Some(binding) => binding.multipliers().to_vec(),
                None => Vec::new(),
            },
        }
    }

    /// Whether a state is of this flesh.
    pub(in crate::methods::position_based) fn fits(&self, state: &BodyState) -> bool {
        state.position.len() == self.model.unknowns
            && state.base.len() == self.base.len()
            && state.targets.len() == self.targets.len()
            && match &self.constraints {
                Constraints::Compliant(own) => state.multipliers.len() == own.multipliers().len(),
                Constraints::Plain(_) => state.multipliers.is_empty(),
            }
    }

    /// Continues from a state that fits.
    pub(in crate::methods::position_based) fn restore(
        &mut self,
        state: &BodyState,
        motion: &mut BaseMotion,
    ) {
        if let Constraints::Compliant(own) = &mut self.constraints {
            own.set_multipliers(&state.multipliers);
        }
        if let Some(binding) = &mut motion.binding {
            binding.set_multipliers(&state.springs);
        }
        for (unknown, at) in (0..).zip(&state.position) {
            self.points.set(unknown, *at);
        }
        self.velocity.clone_from(&state.velocity);
        self.base.clone_from(&state.base);
        self.targets.clone_from(&state.targets);
        self.move_base(&state.base, 1.0);
    }
}
