//! One drag, from button press to release.

mod limb;

use std::collections::BTreeSet;

use self::limb::follow;
use super::IkRig;
use super::figure::Figure;
use super::minimise::{DegreeOfFreedom, Goal, Minimisation, SolverSettings};
use super::plan::{DragPlan, DragUnit};
use crate::math::{Point64, Quat};
use crate::rig::limits::{LimitMap, clamp_joint};
use crate::rig::{Pose, Skeleton};

/// The dragged point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DraggedPoint {
    /// The joint that carries the point.
    pub joint: usize,
    /// The point, in the joint's frame; the origin is the joint itself.
    pub point: Point64,
}

impl DraggedPoint {
    /// A grip at the joint itself.
    #[must_use]
    pub fn of_joint(joint: usize) -> Self {
        Self {
            joint,
            point: Point64::origin(),
        }
    }
}

/// Rotation of a dragged hand or foot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndRotation {
    /// Rotates with the forearm or shin.
    #[default]
    Follows,
    /// Keeps its world rotation, as a foot on the ground.
    Stays,
}

/// Constraints on a body during a drag.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DragConstraints {
    /// Pinned joints, which keep position and rotation.
    pub pins: BTreeSet<usize>,
    /// Joint limits.
    pub limits: LimitMap,
    /// Rotation of a dragged hand or foot.
    pub end: EndRotation,
}

/// A drag in progress.
#[derive(Debug, Clone)]
pub struct IkDrag {
    start: Pose,
    current: Pose,
    grip: DraggedPoint,
    limits: LimitMap,
    plan: DragPlan,
}

/// First towards the pose at the start, then exactly to it.
const SOFT: SolverSettings = SolverSettings {
    pull: 1e-4,
    iterations: 40,
};
const EXACT: SolverSettings = SolverSettings {
    pull: 0.0,
    iterations: 8,
};
const PINS: SolverSettings = SolverSettings {
    pull: 0.0,
    iterations: 20,
};
/// Weight of pins relative to the dragged point.
const PIN_WEIGHT: f64 = 30.0;
/// Remaining error of a pin, in sizes, above which another iteration is made.
const PIN_HOLDS: f64 = 1e-7;
/// Chains are not stretched beyond this fraction: a collinear chain can only fold by rotating back,
/// where the search converges slowly.
const ALMOST: f64 = 0.98;

impl IkDrag {
    /// Starts a drag from a pose. `None` if the skeleton lacks the joint, or has zero size.
    #[must_use]
    pub fn begin(
        skeleton: &Skeleton,
        rig: &IkRig,
        start: &Pose,
        grip: DraggedPoint,
        held: &DragConstraints,
    ) -> Option<Self> {
        if start.locals.len() != skeleton.len() || !grip.point.coords.iter().all(|c| c.is_finite())
        {
            return None;
        }
        let figure = Figure::new(skeleton, start.clone());
        let plan = DragPlan::of(&figure, rig, grip, held)?;
        Some(Self {
            start: start.clone(),
            current: start.clone(),
            grip,
            limits: held.limits.clone(),
            plan,
        })
    }

    /// The dragged point.
    #[must_use]
    pub fn grip(&self) -> DraggedPoint {
        self.grip
    }

    /// The pose at the drag's start.
    #[cfg(test)]
    pub(crate) fn start(&self) -> &Pose {
        &self.start
    }

    /// The current pose.
    #[cfg(test)]
    pub(crate) fn pose(&self) -> &Pose {
        &self.current
    }

    /// Moves the dragged point to a target in world space, or as near as possible.
    pub fn reach(&mut self, skeleton: &Skeleton, target: &Point64) -> &Pose {
        if skeleton.len() != self.start.locals.len() || !target.coords.iter().all(|c| c.is_finite())
        {
            return &self.current;
        }
        let start = Figure::new(skeleton, self.start.clone());
        let held = start.point(self.grip.joint, &self.grip.point);
        if (target - held).norm() < 1e-12 * self.plan.size {
            self.current.clone_from(&self.start);
            return &self.current;
        }
        // Targets farther away give the same result, apart from rounding.
        let far = (target - held).cap_magnitude(100.0 * self.plan.size);
        let mut figure = Figure::new(skeleton, self.current.clone());
        self.solve(&start, &mut figure, &held, &(held + far));
        if figure.is_finite() {
            self.current = figure.pose;
        }
        &self.current
    }

    fn solve(
        &mut self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        held: &Point64,
        target: &Point64,
    ) {
        let mut unit = std::mem::replace(&mut self.plan.unit, DragUnit::Whole { joint: 0 });
        match &mut unit {
            DragUnit::Whole { joint } => self.shift_whole(start, figure, *joint, &(target - held)),
            DragUnit::Swivel { bones, wrist, turn } => {
                let elbow = bones.elbow_to_swivel(start, wrist);
                bones.swivel_towards(figure, wrist, &(elbow + (target - held)));
                figure.refresh(&self.plan.joints);
                self.turn_to(figure, bones.limb.end, *turn);
                self.keep_pins(start, figure);
            }
            DragUnit::Body { joint } => {
                let local = start.world[*joint]
                    .try_inverse()
                    .map_or_else(Point64::origin, |inverse| inverse * held);
                let goal = Goal {
                    joint: *joint,
                    local,
                    target: *target,
                    ring: None,
                    weight: 1.0,
                };
                self.move_body(start, figure, Some(goal));
            }
            DragUnit::Limb { bones, stays: None } => {
                self.move_limb(start, figure, bones, &(*held, *target));
            }
            DragUnit::Limb {
                bones,
                stays: Some((place, turn)),
            } => {
                // The whole hand is translated, including the wrist.
                self.move_limb(start, figure, bones, &(*place, *place + (target - held)));
                self.turn_to(figure, bones.limb.end, *turn);
            }
            DragUnit::Beyond {
                bones,
                wrist,
                chain,
                reach,
            } => {
                let away = target - *wrist;
                let near = follow(away.norm(), *reach, (held - *wrist).norm());
                let part = if away.norm() > near {
                    1.0 - near / away.norm()
                } else {
                    0.0
                };
                self.move_limb(start, figure, bones, &(*wrist, *wrist + away * part));
                let goal = Goal {
                    joint: self.grip.joint,
                    local: self.grip.point,
                    target: *target,
                    ring: None,
                    weight: 1.0,
                };
                let problem = self.problem(start, chain, std::slice::from_ref(&goal));
                problem.solve(figure, SOFT);
                problem.solve(figure, EXACT);
                self.help(start, figure, bones, chain, goal);
            }
            DragUnit::Toes {
                bones,
                ankle,
                chain,
                toes,
            } => {
                self.move_limb(
                    start,
                    figure,
                    bones,
                    &(*ankle, *ankle + toes.shift(&(target - held))),
                );
                self.turn_to(figure, bones.limb.end, toes.turn);
                let goal = Goal {
                    joint: self.grip.joint,
                    local: self.grip.point,
                    target: *target,
                    ring: None,
                    weight: 1.0,
                };
                // The foot comes last: it rotates only where nothing else helps.
                let problem = self.problem(
                    start,
                    &chain[..chain.len().saturating_sub(1)],
                    std::slice::from_ref(&goal),
                );
                problem.solve(figure, SOFT);
                problem.solve(figure, EXACT);
                self.help(start, figure, bones, chain, goal);
            }
        }
        self.plan.unit = unit;
        figure.refresh_all();
    }

    /// Moves a root or the hips to the target, as far as pins allow.
    fn shift_whole(
        &self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        joint: usize,
        by: &crate::math::Vec64,
    ) {
        figure.pose.clone_from(&start.pose);
        figure.refresh_all();
        let base = crate::math::linear_part(&figure.base(joint));
        if let Some(inverse) = base.try_inverse() {
            figure.pose.locals[joint].translation += inverse * by;
        }
        figure.refresh_all();
        self.keep_pins(start, figure);
    }

    fn problem<'a>(
        &'a self,
        start: &'a Figure<'a>,
        movers: &'a [DegreeOfFreedom],
        goals: &'a [Goal],
    ) -> Minimisation<'a> {
        Minimisation {
            start,
            movers,
            goals,
            joints: &self.plan.joints,
            limits: &self.limits,
            size: self.plan.size,
        }
    }

    /// Rotates joints of the body towards a goal, subject to the pins.
    fn move_body(&self, start: &Figure<'_>, figure: &mut Figure<'_>, goal: Option<Goal>) {
        let mut goals = self.pin_goals();
        goals.extend(goal);
        if self.plan.movers.is_empty() || goals.is_empty() {
            return;
        }
        let tethered = |within: &dyn Fn(f64) -> f64| {
            let mut goals = goals.clone();
            if let (Some(last), Some(goal), Some((from, reach))) =
                (goals.last_mut(), goal, self.plan.reach_from_last)
            {
                let away = goal.target - from;
                last.target = from + away.cap_magnitude(reach * within(away.norm() / reach));
            }
            goals
        };
        let soft = tethered(&|_| ALMOST);
        self.problem(start, &self.plan.movers, &soft)
            .solve(figure, SOFT);
        let exact =
            tethered(&|stretch| 1.0 - (1.0 - ALMOST) * ((stretch - 1.0) * 10.0).clamp(0.0, 1.0));
        self.problem(start, &self.plan.movers, &exact)
            .solve(figure, EXACT);
        self.keep_pins(start, figure);
    }

    fn keep_pins(&self, start: &Figure<'_>, figure: &mut Figure<'_>) {
        let goals = self.pin_goals();
        let problem = self.problem(start, &self.plan.movers, &goals);
        if problem.worst(figure) > PIN_HOLDS {
            problem.solve(figure, PINS);
        }
        let mut pins = self.plan.pins.clone();
        for pin in &mut pins {
            let Some(bones) = &mut pin.bones else {
                continue;
            };
            let Some(foot) = pin.foot else {
                bones.solve(figure, &pin.place);
                continue;
            };
            let hip = figure.place(bones.limb.upper);
            let (ankle, turn) = foot.follow(&hip, bones.range()[1]);
            bones.solve(figure, &ankle);
            self.turn_to(figure, foot.joint, turn);
        }
        for pin in &pins {
            self.turn_to(figure, pin.joint, pin.turn);
        }
    }

    /// Gives a joint a rotation in world space, within its limits.
    fn turn_to(&self, figure: &mut Figure<'_>, joint: usize, turn: Quat) {
        figure.pose.locals[joint].rotation = figure.base_turn(joint).inverse() * turn;
        clamp_joint(figure.skeleton, &self.limits, &mut figure.pose, joint);
        figure.refresh(&self.plan.joints);
    }

    fn pin_goals(&self) -> Vec<Goal> {
        let goal = |pin: &super::plan::Pin| {
            let (joint, ring) = match &pin.bones {
                Some(bones) => {
                    let [least, most] = bones.range();
                    let beyond = pin.foot.map_or(0.0, |foot| foot.length());
                    (
                        bones.limb.upper,
                        Some([(least - beyond).max(0.0), most + beyond]),
                    )
                }
                None => (pin.joint, None),
            };
            Goal {
                joint,
                local: Point64::origin(),
                target: pin.place,
                ring,
                weight: PIN_WEIGHT,
            }
        };
        self.plan.pins.iter().map(goal).collect()
    }
}
