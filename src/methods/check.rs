//! Validation of a pose before a frame.

use super::SkinError;
use crate::math::Affine;

/// Entries of joint transforms from this on are rejected: their squares, times the size of a character, overflow `f32`.
const LARGEST: f64 = 1e15;

/// Checks a pose against the bound skeleton.
pub(super) fn check_joints(expected: usize, world_from_joint: &[Affine]) -> Result<(), SkinError> {
    let actual = world_from_joint.len();
    if actual != expected {
        return Err(SkinError::JointCount { expected, actual });
    }
    let sane = world_from_joint
        .iter()
        .all(|world| world.matrix().iter().all(|c| c.abs() < LARGEST));
    if sane {
        Ok(())
    } else {
        Err(SkinError::BadPose)
    }
}
