//! Springs that swing while frames are shown, one after another.

use super::super::Decomposition;
use super::search::turned;
use super::{STEP_SECS, Spring, Tail};
use crate::math::{Affine, Point64, Vec64, affine, linear_part};

/// Longer pauses are played as this many steps.
const MOST_STEPS: f64 = 60.0;
/// Part of a step that rounding may take away.
const ROUNDING: f64 = 1e-6;
/// A spring rests if its tail moves no more than this part of its length in a step.
const REST: f64 = 1e-5;

/// Springs in a motion whose frames may have any length. Between frames their helpers move on straight lines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Swinging {
    springs: Vec<State>,
    /// Time since the last step.
    late_secs: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct State {
    tail: Tail,
    /// Places of the joint and of the tail at rest, in the last frame.
    ends: [Vec64; 2],
    /// From the joint to the tail.
    direction: Vec64,
    rests: bool,
}

impl Swinging {
    /// Adds the joint and the tail of each spring to the transforms of joints and helpers, as [`Decomposition::sprung`] orders them, so
    /// many seconds after the last frame. They rest after 0 s and in the first frame. Allocates in the first frame only.
    pub fn add(
        &mut self,
        found: &Decomposition,
        springs: &[Spring],
        dt_secs: f64,
        world_from_joint: &mut Vec<Affine>,
    ) {
        let first = found.skeleton.len() - found.drivers.len();
        let begins = dt_secs <= 0.0 || self.springs.len() != springs.len();
        if begins {
            self.springs.clear();
            self.late_secs = 0.0;
        }
        let late = (self.late_secs + dt_secs).min(MOST_STEPS * STEP_SECS);
        let steps = if begins {
            0.0
        } else {
            (late / STEP_SECS + ROUNDING).floor()
        };
        for (place, spring) in springs.iter().enumerate() {
            let world = world_from_joint[first + spring.helper];
            let ends = [spring.pivot, spring.tail]
                .map(|local| world.transform_point(&Point64::from(local)).coords);
            let bone = ends[1] - ends[0];
            let axis = bone.try_normalize(f64::MIN_POSITIVE);
            let axis = axis.unwrap_or_else(Vec64::x);
            if begins {
                self.springs.push(State {
                    tail: Tail::still(ends[1]),
                    ends,
                    direction: axis,
                    rests: true,
                });
            }
            let state = &mut self.springs[place];
            let before = state.ends;
            for step in 1..=steps as usize {
                let ago = late - step as f64 * STEP_SECS;
                let part = (1.0 - ago / dt_secs).clamp(0.0, 1.0);
                let [pivot, rest] = [0, 1].map(|end| before[end].lerp(&ends[end], part));
                state.direction = state.tail.step(&spring.rule, &pivot, &rest);
                state.rests = state.tail.moved() <= REST * bone.norm();
            }
            state.rests &= before == ends;
            state.ends = ends;
            let linear = turned(&axis, &state.direction) * linear_part(&world);
            let joint = affine(&linear, &ends[0]);
            let tail = joint.transform_point(&Point64::from(spring.tail - spring.pivot));
            world_from_joint.extend([joint, affine(&linear, &tail.coords)]);
        }
        if !begins {
            self.late_secs = (late - steps * STEP_SECS).max(0.0);
        }
    }

    /// Forgets all motion: springs rest in the next frame.
    pub fn reset(&mut self) {
        self.springs.clear();
    }

    /// Whether nothing moves until the pose changes.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.springs.iter().all(|state| state.rests)
    }

    /// Approximate memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.springs.len() * size_of::<State>()
    }
}
