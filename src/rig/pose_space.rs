//! All poses between rest and the ends of the range of motion, as points of a box.
//!
//! Each movement of [`motion_range`](super::motion_range()) is one coordinate from −1 to 1: 0 is rest, −1 its first pose and 1 its last
//! one. Movements combine: their rotations are applied one after the other to the same joint, and then clamped to the limits of a human
//! body where one is recognised.

use super::limit_presets::human_limits;
use super::limits::{LimitMap, clamp_pose};
use super::motion_range::RangePose;
use super::{Pose, Skeleton};
use crate::math::Quat;

/// A limit that changes a pose by more than this, radians, does not keep it.
const TOLERANCE: f64 = 0.02;
/// Rotations smaller than this, radians, are none.
const NO_TURN: f64 = 1e-4;

/// The poses that combinations of movements reach.
#[derive(Debug, Clone)]
pub struct PoseSpace {
    skeleton: Skeleton,
    limits: LimitMap,
    rest: Pose,
    movements: Vec<Movement>,
}

/// One coordinate.
#[derive(Debug, Clone)]
struct Movement {
    name: String,
    /// Joints and their rotations from rest, in the joint's base frame, at −1 and at 1; empty where the movement has no such end.
    ends: [Vec<(usize, Quat)>; 2],
}

impl PoseSpace {
    /// The space of a range of motion.
    #[must_use]
    pub fn of(skeleton: &Skeleton, range: &[RangePose]) -> Self {
        let rest = skeleton.rest_pose();
        let mut movements: Vec<Movement> = Vec::new();
        for poses in range.chunk_by(|a, b| a.movement == b.movement) {
            let turns = |pose: &RangePose| turns(&rest, &pose.pose);
            let [first, last] = [&poses[0], &poses[poses.len() - 1]];
            // A movement that starts at rest has one end.
            let opposite = poses.len() > 1 && poses.iter().any(|pose| pose.angle_deg < 0.0);
            let ends = if opposite {
                [turns(first), turns(last)]
            } else {
                [Vec::new(), turns(last)]
            };
            movements.push(Movement {
                name: poses[0].movement.clone(),
                ends,
            });
        }
        movements.retain(|movement| movement.ends.iter().any(|end| !end.is_empty()));
        Self {
            skeleton: skeleton.clone(),
            limits: widened(skeleton, range),
            rest,
            movements,
        }
    }

    /// Number of coordinates.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.movements.len()
    }

    /// Name of a coordinate's movement, for people.
    ///
    /// # Panics
    /// If there is no such coordinate.
    #[must_use]
    pub fn name(&self, coordinate: usize) -> &str {
        &self.movements[coordinate].name
    }

    /// The nearest point that the space contains: every coordinate between the ends of its movement.
    pub fn clamp(&self, point: &mut [f64]) {
        for (value, movement) in point.iter_mut().zip(&self.movements) {
            let [least, most] = movement.range();
            *value = value.clamp(least, most);
        }
    }

    /// The pose at a point; coordinates that are missing are 0.
    #[must_use]
    pub fn pose(&self, point: &[f64]) -> Pose {
        let mut pose = self.rest.clone();
        for (value, movement) in point.iter().zip(&self.movements) {
            let [least, most] = movement.range();
            let value = value.clamp(least, most);
            for (joint, turn) in &movement.ends[usize::from(value > 0.0)] {
                let local = &mut pose.locals[*joint].rotation;
                *local = turn.powf(value.abs()) * *local;
            }
        }
        clamp_pose(&self.skeleton, &self.limits, &mut pose);
        pose
    }
}

/// The limits of joints that keep every pose of the range of motion. A joint whose limit does not keep one, because the range goes
/// further or because its rest pose is another, is free.
fn widened(skeleton: &Skeleton, range: &[RangePose]) -> LimitMap {
    let limits = human_limits(skeleton);
    let mut kept = limits.clone();
    for pose in range {
        let mut clamped = pose.pose.clone();
        clamp_pose(skeleton, &limits, &mut clamped);
        let pairs = clamped.locals.iter().zip(&pose.pose.locals).enumerate();
        for (joint, (clamped, asked)) in pairs {
            if clamped.rotation.angle_to(&asked.rotation) > TOLERANCE {
                kept.remove(&joint);
            }
        }
    }
    kept
}

impl Movement {
    fn range(&self) -> [f64; 2] {
        let [first, last] = self.ends.each_ref().map(Vec::is_empty);
        [if first { 0.0 } else { -1.0 }, if last { 0.0 } else { 1.0 }]
    }
}

/// The joints that a pose turns from rest, in their base frames.
fn turns(rest: &Pose, pose: &Pose) -> Vec<(usize, Quat)> {
    let pairs = rest.locals.iter().zip(&pose.locals).enumerate();
    pairs
        .map(|(joint, (rest, posed))| (joint, posed.rotation * rest.rotation.inverse()))
        .filter(|(_, turn)| turn.angle() > NO_TURN)
        .collect()
}
