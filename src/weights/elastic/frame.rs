//! The frame of a joint in which swing and twist are told apart.

use nalgebra::Matrix3;

use crate::math::{Point64, Vec64};
use crate::rig::Skeleton;

/// Directions shorter than this part of what they are the sum of are no directions.
const NO_DIRECTION: f64 = 0.2;
/// Coordinates that differ by less are equally small.
const TIE: f64 = 1e-6;

/// The bone direction of a joint in the bind pose, of length 1: to the children, weighted by the lengths of their bones; if these cancel
/// each other, to the farthest of them; without child to the tail, or else on in the parent's direction. y where all of this is undefined.
#[must_use]
pub fn bone_direction(skeleton: &Skeleton, joint: usize) -> Vec64 {
    let mut at = joint;
    // Every joint is farther up than the one before it, so that this ends.
    loop {
        if let Some(direction) = own_direction(skeleton, at) {
            return direction;
        }
        let Some(parent) = skeleton.joints()[at].parent else {
            return Vec64::y();
        };
        let along = skeleton.bind_position(at) - skeleton.bind_position(parent);
        if let Some(direction) = unit(&along) {
            return direction;
        }
        at = parent;
    }
}

fn own_direction(skeleton: &Skeleton, joint: usize) -> Option<Vec64> {
    let here = skeleton.bind_position(joint);
    let children = skeleton.children(joint);
    if children.is_empty() {
        let tail = skeleton.joints()[joint].tail?;
        return unit(&(tail - here));
    }
    let to = |&child: &usize| skeleton.bind_position(child) - here;
    let sum: Vec64 = children.iter().map(to).sum();
    let lengths: f64 = children.iter().map(|child| to(child).norm()).sum();
    if sum.norm() > NO_DIRECTION * lengths {
        return unit(&sum);
    }
    let longest = children
        .iter()
        .map(|child| to(child).norm())
        .fold(0.0, f64::max);
    // Equally long bones count alike, so that mirror images have mirrored directions.
    let sum: Vec64 = children
        .iter()
        .map(to)
        .filter(|bone| bone.norm() >= longest * (1.0 - TIE))
        .sum();
    if sum.norm() > NO_DIRECTION * longest {
        return unit(&sum);
    }
    children.iter().map(to).find_map(|bone| unit(&bone))
}

/// The vector at length 1; `None` if it is 0 or not finite.
#[must_use]
pub fn unit(vector: &Vec64) -> Option<Vec64> {
    let length = vector.norm();
    (length.is_finite() && length > 1e-12).then(|| vector / length)
}

/// The rotation that takes the direction z, of length 1, to the third axis. The first axis is as parallel as possible to that axis of the
/// world that is least parallel to z. So the frame of a mirror image is the mirrored frame up to the signs of the first two axes, which
/// quarter turns of both signs do not depend on.
#[must_use]
pub fn frame_of(z: &Vec64) -> Matrix3<f64> {
    let least = z.iter().map(|c| c.abs()).fold(f64::INFINITY, f64::min);
    let axis = (0..3)
        .find(|&axis| z[axis].abs() <= least + TIE)
        .unwrap_or(0);
    let mut first = Vec64::zeros();
    first[axis] = 1.0;
    let x = unit(&(first - z * z[axis])).unwrap_or_else(Vec64::x);
    let y = z.cross(&x);
    Matrix3::from_rows(&[x.transpose(), y.transpose(), z.transpose()])
}

/// The position of a joint and `joint_from_world` of its frame.
pub(super) fn of_joint(skeleton: &Skeleton, joint: usize) -> (Point64, Matrix3<f64>) {
    let z = bone_direction(skeleton, joint);
    (skeleton.bind_position(joint), frame_of(&z))
}
