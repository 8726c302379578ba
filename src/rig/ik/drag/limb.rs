//! The part of a drag that moves one limb, and the joints beyond it that help.

use super::{EXACT, IkDrag, PIN_HOLDS};
use crate::math::Point64;
use crate::rig::ik::figure::Figure;
use crate::rig::ik::minimise::{DegreeOfFreedom, Goal};
use crate::rig::ik::two_bone::TwoBone;
use crate::rig::limits::clamp_joint;

/// Factor on the body's stiffness where a limb's own joints help.
const STIFF: f64 = 8.0;

/// The body follows when a limb is stretched beyond this fraction of its length.
const FOLLOWS_FROM: f64 = 0.9;

impl IkDrag {
    /// Moves the point `held` (at the start) to a target by a limb; the body helps if the target is
    /// too far or too near.
    pub(super) fn move_limb(
        &self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        bones: &mut TwoBone,
        (held, target): &(Point64, Point64),
    ) {
        let limb = bones.limb;
        let shoulder = start.place(limb.upper);
        let [least, most] = bones.range();
        let far = follow((target - shoulder).norm(), most, (held - shoulder).norm());
        let ring = Some([least, far.max(least)]);
        let body = Goal {
            joint: limb.upper,
            local: Point64::origin(),
            target: *target,
            ring,
            weight: 1.0,
        };
        self.move_body(start, figure, Some(body));
        bones.solve(figure, target);
        let clamped = [limb.upper, limb.lower]
            .map(|joint| clamp_joint(figure.skeleton, &self.limits, &mut figure.pose, joint));
        figure.refresh(&self.plan.joints);
        if clamped.contains(&true)
            && let Some(inverse) = start.world[limb.lower].try_inverse()
        {
            let goal = Goal {
                joint: limb.lower,
                local: inverse * held,
                target: *target,
                ring: None,
                weight: 1.0,
            };
            self.help(start, figure, bones, &[], goal);
        }
    }

    /// For a target that a limb alone cannot reach (joint limits, stiff wrist), all joints share
    /// the motion.
    pub(super) fn help(
        &self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        bones: &TwoBone,
        beyond: &[DegreeOfFreedom],
        goal: Goal,
    ) {
        let limb = bones.limb;
        let stiffness = (bones.range()[1] / self.plan.size).powi(2);
        let mut movers = beyond.to_vec();
        movers.push(DegreeOfFreedom {
            joint: limb.lower,
            shifts: false,
            stiffness,
            hinge: Some(bones.hinge_in_base()),
            most: f64::INFINITY,
        });
        movers.push(DegreeOfFreedom {
            joint: limb.upper,
            shifts: false,
            stiffness,
            hinge: None,
            most: f64::INFINITY,
        });
        movers.extend(self.plan.movers.iter().map(|mover| DegreeOfFreedom {
            stiffness: mover.stiffness * STIFF,
            ..*mover
        }));
        let mut goals = self.pin_goals();
        goals.push(goal);
        let problem = self.problem(start, &movers, &goals);
        if problem.worst(figure) > PIN_HOLDS {
            problem.solve(figure, EXACT);
            self.keep_pins(start, figure);
        }
    }
}

/// Limits the distance of a target from the shoulder, which was `distance` at the start: unchanged
/// within easy reach, and smoothly limited to `reach` beyond. A limb that was stretched at the
/// start may stay so.
pub(super) fn follow(distance: f64, reach: f64, at_start: f64) -> f64 {
    let from = (FOLLOWS_FROM * reach).max(at_start).min(reach);
    let left = reach - from;
    if distance <= from {
        from
    } else if left < 1e-9 * reach {
        reach
    } else {
        reach - left * (-(distance - from) / left).exp()
    }
}
