//! Steps between two poses.

use crate::math::Affine;
use crate::methods::projective::poses::{compose, relative_into};
use crate::rig::{Skeleton, Trs};

/// Smallest and largest turn of a joint in a step, rad.
const TURN: [f64; 2] = [4.0 * DEGREE, 15.0 * DEGREE];
const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// Largest shift of a joint in a step, as a part of the size, and largest change of a scale.
const SHIFT: f64 = 0.05;
const SCALE: f64 = 0.2;
/// Differences that are rounding: rad, parts of the size.
const NOTHING: f64 = 1e-7;
/// Most steps to a pose.
const MOST_STEPS: usize = 48;
/// Most steps on the way to a pose that are taken again with half of their length.
const MOST_HALVED: usize = 16;
/// A step with a smaller turn than this is not halved, rad.
const HALVED: f64 = 4.0 * DEGREE;
/// The smallest turn in a step, and that of a step that is halved, of walks that must be quick.
const QUICK_TURN: f64 = 8.0 * DEGREE;
const QUICK_HALVED: f64 = 10.0 * DEGREE;

/// The way from one pose to another, as transforms relative to the parent joints.
pub(super) struct Walk {
    rest: Vec<Trs>,
    /// Where the walk is.
    pub(super) pose: Vec<Trs>,
    goal: Vec<Trs>,
    /// The pose before the last step.
    before: Vec<Trs>,
    /// Transforms of the joints where the walk is.
    pub(super) world: Vec<Affine>,
    size: f64,
    /// Whether it must be quick.
    is_quick: bool,
    steps: usize,
    halved: usize,
    /// Whether there is only one joint without parent, whose motion does not deform anything.
    has_one_root: bool,
}

impl Walk {
    pub(super) fn new(skeleton: &Skeleton, size: f64) -> Self {
        let bind = skeleton.bind_transforms();
        let mut rest = Vec::new();
        relative_into(skeleton, &bind, &mut rest);
        let roots = skeleton.joints().iter().filter(|j| j.parent.is_none());
        Self {
            pose: rest.clone(),
            goal: rest.clone(),
            before: rest.clone(),
            world: bind,
            has_one_root: roots.count() == 1,
            rest,
            size,
            is_quick: false,
            steps: 0,
            halved: 0,
        }
    }

    /// Goes back to the bind pose.
    pub(super) fn restart(&mut self) {
        self.pose.clone_from(&self.rest);
    }

    /// Sets the pose to walk to, and whether the walk must be quick.
    pub(super) fn set_goal(&mut self, skeleton: &Skeleton, world: &[Affine], is_quick: bool) {
        relative_into(skeleton, world, &mut self.goal);
        self.is_quick = is_quick;
        (self.steps, self.halved) = (0, 0);
        if let Some((pose, goal)) = self.pose.first_mut().zip(self.goal.first())
            && self.has_one_root
        {
            *pose = *goal;
        }
    }

    /// Takes the next step; false if the goal has been reached before. `exact` are the transforms of the goal.
    pub(super) fn step(&mut self, skeleton: &Skeleton, exact: &[Affine]) -> bool {
        let share = self.share();
        if share <= 0.0 {
            return false;
        }
        self.steps += 1;
        self.before.clone_from(&self.pose);
        if share >= 1.0 {
            self.pose.clone_from(&self.goal);
            self.world.clear();
            self.world.extend_from_slice(exact);
        } else {
            for (pose, goal) in self.pose.iter_mut().zip(&self.goal) {
                *pose = pose.lerp(goal, share);
            }
            compose(skeleton, &self.pose, &mut self.world);
        }
        true
    }

    /// Whether the last step was long enough to be halved.
    pub(super) fn can_halve(&self) -> bool {
        let joints = self.before.iter().zip(&self.pose);
        let least = if self.is_quick { QUICK_HALVED } else { HALVED };
        let turns = joints.map(|(before, pose)| before.rotation.angle_to(&pose.rotation));
        self.halved < MOST_HALVED && turns.fold(0.0, f64::max) >= least
    }

    /// Goes half of the last step back.
    pub(super) fn halve(&mut self, skeleton: &Skeleton) {
        self.halved += 1;
        for (pose, before) in self.pose.iter_mut().zip(&self.before) {
            *pose = before.lerp(pose, 0.5);
        }
        compose(skeleton, &self.pose, &mut self.world);
    }

    /// Goes from the bind pose to the goal in one step.
    pub(super) fn jump(&mut self, exact: &[Affine]) {
        self.before.clone_from(&self.rest);
        if let Some((before, goal)) = self.before.first_mut().zip(self.goal.first())
            && self.has_one_root
        {
            *before = *goal;
        }
        self.pose.clone_from(&self.goal);
        self.world.clear();
        self.world.extend_from_slice(exact);
    }

    /// For every joint the nearest ancestor (or itself) that has moved relative to its parent in the last step: joints with the same one
    /// have moved alike. Joints that moved with the root have that.
    pub(super) fn classes_into(&self, skeleton: &Skeleton, classes: &mut Vec<u32>) {
        classes.clear();
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let moved = difference(&self.before[index], &self.pose[index], self.size) > NOTHING;
            let class = match joint.parent {
                Some(parent) if !moved => classes[parent],
                None if !moved => u32::MAX,
                _ => index as u32,
            };
            classes.push(class);
        }
    }

    /// Whether the walk is in the bind pose; where the only root is does not matter.
    pub(super) fn is_at_rest(&self) -> bool {
        let joints = self.pose.iter().zip(&self.rest);
        joints
            .skip(usize::from(self.has_one_root))
            .all(|(pose, rest)| difference(pose, rest, self.size) <= NOTHING)
    }

    /// Whether the goal has been reached.
    pub(super) fn is_there(&self) -> bool {
        self.share() <= 0.0
    }

    /// How much of what is left the next step covers; 0 at the goal.
    fn share(&self) -> f64 {
        let mut share = f64::INFINITY;
        let least = if self.is_quick { QUICK_TURN } else { TURN[0] };
        for ((pose, goal), rest) in self.pose.iter().zip(&self.goal).zip(&self.rest) {
            if difference(pose, goal, self.size) <= NOTHING {
                continue;
            }
            let turn = pose.rotation.angle_to(&goal.rotation);
            let bend = pose.rotation.angle_to(&rest.rotation);
            let allowed = (bend / 3.0).clamp(least, TURN[1]);
            let shift = (goal.translation - pose.translation).norm() / self.size;
            let scale = (goal.scale - pose.scale).amax();
            share = share
                .min(1.0)
                .min(allowed / turn.max(NOTHING))
                .min(SHIFT / shift.max(NOTHING))
                .min(SCALE / scale.max(NOTHING));
        }
        if share.is_infinite() {
            return 0.0;
        }
        // Long ways have longer steps in the end.
        let left = MOST_STEPS.saturating_sub(self.steps).max(1);
        share.max(1.0 / left as f64)
    }
}

/// How far two transforms differ: rad, parts of the size, and factors.
fn difference(a: &Trs, b: &Trs, size: f64) -> f64 {
    let turn = a.rotation.angle_to(&b.rotation);
    let shift = (a.translation - b.translation).norm() / size;
    turn.max(shift).max((a.scale - b.scale).amax())
}
