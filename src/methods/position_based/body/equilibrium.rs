//! Steps without inertia, to the equilibrium over a base.

use super::{Body, Constraints, GUARD_PASSES, Substep};
use crate::methods::position_based::base_motion::BaseMotion;
use crate::methods::position_based::points::add;

/// Sweeps of a step to an equilibrium.
const STATIC_SWEEPS: u32 = 3;
/// The skin does not calm down if so many steps did not move it less than any before; then they become shorter by [`SHORTENING`].
const PATIENCE: usize = 25;
const SHORTENING: f64 = 0.5;
/// Steps of the length of the motion's at the end.
const FINISHING_STEPS: usize = 15;
/// Passes of the guard at the end.
const FINISHING_PASSES: usize = 40;

impl Body {
    /// Moves to the base of `motion` with the references, then towards the equilibrium there, in steps without inertia until nothing moves
    /// more than `tolerance` (world units), at most `steps`. Velocities become zero.
    ///
    /// The steps of constraints with compliance are long at first, and shorter where they do not calm down. Plain constraints that
    /// contradict each other never do; then the steps end.
    pub(in crate::methods::position_based) fn relax(
        &mut self,
        motion: &mut BaseMotion,
        steps: usize,
        tolerance: f32,
    ) {
        self.carry(motion);
        for (unknown, carry) in (0..).zip(&self.carry) {
            self.points
                .set(unknown, add(self.points.get(unknown), *carry));
        }
        self.move_base(&motion.base, 1.0);
        self.arrive(motion);
        self.velocity.fill([0.0; 3]);
        let is_plain = matches!(self.constraints, Constraints::Plain(_));
        let (mut secs, sweeps) = if is_plain {
            (self.physics.step_secs, self.sweeps)
        } else {
            (self.physics.static_step_secs, STATIC_SWEEPS)
        };
        let (mut least, mut since) = (f32::INFINITY, 0);
        for step in 0..steps {
            let moved = self.step_still(motion, secs, sweeps, step == 0);
            if moved <= tolerance || !moved.is_finite() {
                break;
            }
            since = if moved < least { 0 } else { since + 1 };
            least = least.min(moved);
            if since == PATIENCE && is_plain {
                break;
            }
            if since == PATIENCE {
                (secs, least, since) = (secs * SHORTENING, f32::INFINITY, 0);
            }
        }
    }

    /// As [`Body::relax`], where the base already is, with the time steps and sweeps of the motion: their errors are then in the
    /// equilibrium, and nothing moves when the motion goes on.
    pub(in crate::methods::position_based) fn finish(
        &mut self,
        motion: &mut BaseMotion,
        tolerance: f32,
    ) {
        if matches!(self.constraints, Constraints::Plain(_)) {
            return;
        }
        let secs = self.physics.step_secs / f64::from(self.options.substeps());
        for _ in 0..FINISHING_STEPS {
            let moved = self.step_still(motion, secs, self.sweeps, false);
            if moved <= tolerance || !moved.is_finite() {
                break;
            }
        }
        self.guard(FINISHING_PASSES);
    }

    /// A step without inertia over a base that is still. Returns the largest displacement, world units.
    fn step_still(&mut self, motion: &mut BaseMotion, secs: f64, sweeps: u32, anew: bool) -> f32 {
        let still = Substep {
            secs: secs as f32,
            t: 1.0,
            part: 0.0,
        };
        self.prepare(secs);
        self.predict(still);
        self.begin(motion, anew);
        for _ in 0..sweeps {
            self.sweep(motion, 1.0, sweeps);
        }
        self.guard(GUARD_PASSES);
        let moved = self.update_velocities(still);
        self.velocity.fill([0.0; 3]);
        moved
    }
}
