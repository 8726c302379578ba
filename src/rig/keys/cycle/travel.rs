//! Travel over the ground, and what it does to the transforms of the joints that carry a body.

use nalgebra::{Isometry3, Unit};

use crate::math::{Affine, Quat, Vec64, linear_part, origin_of};
use crate::rig::Trs;
use crate::rig::keys::{Slope, canonical};

/// Displacements below this part of the size, and turns below this angle, are errors of a cycle, not travel.
const LEAST_TRAVEL: f64 = 0.05;
const LEAST_TURN: f64 = 20.0 / 180.0 * std::f64::consts::PI;

/// A turn about the vertical and a horizontal displacement, in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Planar {
    pub(super) up: Unit<Vec64>,
    angle: f64,
    displacement: Vec64,
}

impl Planar {
    pub(super) const fn none(up: Unit<Vec64>) -> Self {
        Self {
            up,
            angle: 0.0,
            displacement: Vec64::new(0.0, 0.0, 0.0),
        }
    }

    /// The travel between two placements of a joint.
    pub(super) fn between(start: &Affine, end: &Affine, up: Unit<Vec64>, size: f64) -> Self {
        let turn = Trs::from_affine(end).rotation * Trs::from_affine(start).rotation.inverse();
        // The twist of a rotation about an axis: its quaternion projected onto the axis.
        let angle = 2.0 * turn.imag().dot(&up).atan2(turn.w);
        let angle = angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round();
        let angle = if angle.abs() < LEAST_TURN { 0.0 } else { angle };
        let (from, to) = (origin_of(start).coords, origin_of(end).coords);
        let rotation = Quat::from_axis_angle(&up, angle);
        let horizontal = |v: Vec64| v - up.into_inner() * v.dot(&up);
        let moved = horizontal(to - from);
        if angle == 0.0 && moved.norm() < LEAST_TRAVEL * size {
            return Self::none(up);
        }
        Self {
            up,
            angle,
            displacement: horizontal(to - rotation * from),
        }
    }

    /// The part `t` of the motion, along an arc of constant speed; −1 is its inverse, 2 twice the motion.
    pub(super) fn part(&self, t: f64) -> Isometry3<f64> {
        let rotation = Quat::from_axis_angle(&self.up, t * self.angle);
        if self.angle == 0.0 {
            return Isometry3::from_parts((self.displacement * t).into(), rotation);
        }
        // The centre that the motion keeps: c = R c + d, in the plane.
        let half = 0.5 * self.angle;
        let across = self.up.cross(&self.displacement);
        let centre = (self.displacement + across * (half.cos() / half.sin())) * 0.5;
        Isometry3::from_parts((centre - rotation * centre).into(), rotation)
    }
}

/// How a joint's local transforms change when the world around its parent is moved.
pub(super) struct Carried {
    pub(super) world_from_parent: Affine,
    parent_from_world: Affine,
}

impl Carried {
    /// A joint below a parent frame; `None` if the frame has no inverse.
    pub(super) fn by(world_from_parent: Affine) -> Option<Self> {
        Some(Self {
            world_from_parent,
            parent_from_world: world_from_parent.try_inverse()?,
        })
    }

    pub(super) fn moved(&self, value: &Trs, by: &Isometry3<f64>) -> Trs {
        let place = self.matrix(by) * value.to_affine();
        let moved = Trs::from_affine(&place);
        Trs {
            translation: moved.translation,
            rotation: canonical(&(self.turn(by) * value.rotation)),
            scale: value.scale,
        }
    }

    fn matrix(&self, by: &Isometry3<f64>) -> Affine {
        let by = Affine::from_matrix_unchecked(by.to_homogeneous());
        self.parent_from_world * by * self.world_from_parent
    }

    /// The rotation of `by` in the parent's axes.
    fn turn(&self, by: &Isometry3<f64>) -> Quat {
        let parent = Trs::from_affine(&self.world_from_parent).rotation;
        parent.inverse() * by.rotation * parent
    }

    /// A slope at a key that is moved; `value` is the key's value before.
    pub(super) fn slope(&self, slope: &Slope, value: &Trs, by: &Isometry3<f64>) -> Slope {
        let turn = self.turn(by);
        let rotation = turn.into_inner() * slope.rotation;
        let whole = turn.into_inner() * value.rotation.into_inner();
        let moved = canonical(&Quat::new_unchecked(whole));
        let sign = moved.coords.dot(&whole.coords).signum();
        Slope {
            translation: linear_part(&self.matrix(by)) * slope.translation,
            rotation: rotation * sign,
            scale: slope.scale,
        }
    }
}
