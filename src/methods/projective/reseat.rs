//! Takes flesh in a held pose to the equilibrium that belongs to the pose.
//!
//! Contacts can balance in several ways: a fold that was entered by a jump may come to rest elsewhere than one that was entered
//! slowly, and what a tangle left behind may stay. [`Projective::settle`] depends on the pose alone. So when flesh with pressing
//! contacts has come to rest in a held pose, that equilibrium is computed, in parts of some milliseconds each. The simulation then
//! continues from there at once; the skin that is shown gets there smoothly, by an offset that fades out ([`Fading`]). The same pose
//! then looks the same, whatever was before.

use super::fading::Fading;
use super::quasistatic::Settling;
use super::saved_state::SavedState;
use super::{Projective, STEPS_TO_SLEEP};
use crate::dynamics::FactorError;
use crate::math::{Affine, Point};
use crate::rig::Trs;

/// Flesh is calm if neither it nor its base moves by more than this fraction of the size in a step…
pub(super) const CALM_TOLERANCE: f32 = 2e-6;
/// …for this many consecutive steps.
const STEPS_TO_CALM: u32 = 8;
/// Joints that turn by less than this (rad), and move or scale by less than this fraction of the size, hold their pose.
const POSE_TOLERANCE: f64 = 1e-6;

/// A solve for the equilibrium. Meanwhile the flesh is shown where it came to rest.
pub(super) struct Reseat {
    held: Box<SavedState>,
    /// Positions of the solve; the simulation shows those of `held`.
    hidden: Vec<Point>,
    settling: Settling,
}

impl Projective {
    /// Whether the flesh is on the way to its equilibrium.
    pub(super) fn is_reseating(&self) -> bool {
        self.reseat.is_some() || self.fading.is_some()
    }

    /// The state to save instead of the current one, while an equilibrium is being computed.
    pub(super) fn held_state(&self) -> Option<SavedState> {
        let mut held = SavedState::clone(&self.reseat.as_ref()?.held);
        held.pending_secs = self.pending_secs;
        Some(held)
    }

    /// Counts a calm step, or begins anew.
    pub(super) fn count_calm_step(&mut self, is_calm: bool) {
        self.calm_steps = if is_calm { self.calm_steps + 1 } else { 0 };
    }

    /// Begins to compute the equilibrium if the flesh is calm, and contacts press.
    pub(super) fn reseat_if_calm(&mut self) {
        if self.seated || self.calm_steps < STEPS_TO_CALM || self.is_on_device() {
            return;
        }
        let contacts = self.simulation.contacts();
        let pressing = contacts.map_or(0, |contacts| contacts.report().pressing);
        if pressing == 0 || self.guided.is_none() {
            // Without contacts there is one equilibrium, and the steps converge to it.
            return;
        }
        self.still_steps = 0;
        self.reseat = Some(Reseat {
            held: Box::new(self.save()),
            hidden: self.simulation.positions().to_vec(),
            settling: Settling::default(),
        });
    }

    /// Makes the next part of the solve, instead of a time step, or advances the fading. Returns whether a time step is to be
    /// skipped.
    pub(super) fn step_reseat(&mut self, target: &[Affine]) -> Result<bool, FactorError> {
        self.fading = self.fading.take().and_then(Fading::after_a_step);
        let Some(mut reseat) = self.reseat.take() else {
            return Ok(false);
        };
        self.swap_positions(&mut reseat.hidden);
        let finished = self.settle_part(target, &mut reseat.settling)?;
        if !finished {
            self.swap_positions(&mut reseat.hidden);
            self.reseat = Some(reseat);
            return Ok(true);
        }
        self.seated = true;
        let settled = self.simulation.positions();
        if settled.iter().all(|p| (p.x + p.y + p.z).is_finite()) {
            self.fading = Some(Fading::new(&reseat.hidden, settled));
            self.still_steps = STEPS_TO_SLEEP;
        } else {
            self.restore_held(&reseat.held);
            self.seated = true;
        }
        Ok(true)
    }

    fn swap_positions(&mut self, hidden: &mut [Point]) {
        let shown = self.simulation.visible_positions_mut();
        shown.swap_with_slice(hidden);
    }

    /// Gives up the solve if the pose is no longer held.
    pub(super) fn end_reseat_if_moved(&mut self) {
        let most = POSE_TOLERANCE * f64::from(self.subject.size);
        let moved = |a: &Trs, b: &Trs| {
            a.rotation.angle_to(&b.rotation) > POSE_TOLERANCE
                || (a.translation - b.translation).amax() > most
                || (a.scale - b.scale).amax() > POSE_TOLERANCE
        };
        let mut joints = self.base_pose.iter().zip(&self.target_pose);
        if self.reseat.is_some() && joints.any(|(a, b)| moved(a, b)) {
            self.end_reseat();
        }
    }

    /// Gives up the solve: the flesh goes on from where it is seen.
    pub(super) fn end_reseat(&mut self) {
        if let Some(reseat) = self.reseat.take() {
            self.restore_held(&reseat.held);
        }
        self.calm_steps = 0;
    }

    /// Restores a state of this flesh, but not the target and the time of the frame.
    fn restore_held(&mut self, held: &SavedState) {
        let (target, pending_secs) = (self.target_pose.clone(), self.pending_secs);
        // A saved state of the same flesh always fits.
        let _ = self.restore(held);
        (self.target_pose, self.pending_secs) = (target, pending_secs);
    }
}
