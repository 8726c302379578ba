//! Joint angles for display and input.
//!
//! What the angles of a joint are is said in [`JointAxes`].

use std::path::{Path, PathBuf};

use crate::character::Character;
use crate::io::IoError;
use crate::math::Quat;
use crate::rig::{JointAxes, Pose, PoseError, Skeleton};

/// The rotation that turns by the angles about X, then Y, then Z.
#[must_use]
pub fn rotation_of_angles_deg(degrees: [f64; 3]) -> Quat {
    let [x, y, z] = degrees.map(f64::to_radians);
    Quat::from_euler_angles(x, y, z)
}

/// A joint's rotation from rest, about the world axes of the rest pose.
#[must_use]
pub fn rotation_from_rest(skeleton: &Skeleton, pose: &Pose, joint: usize) -> Quat {
    JointAxes::of(skeleton, joint).turn_of(&pose.locals[joint].rotation)
}

/// Sets a joint's rotation from rest, about the world axes of the rest pose; keeps translation and scale.
pub fn set_rotation_from_rest(skeleton: &Skeleton, pose: &mut Pose, joint: usize, rotation: &Quat) {
    pose.locals[joint].rotation = JointAxes::of(skeleton, joint).local_of(rotation);
}

/// A joint's angles in degrees, X then Y then Z.
#[must_use]
pub fn joint_angles_deg(skeleton: &Skeleton, pose: &Pose, joint: usize) -> [f64; 3] {
    let (x, y, z) = rotation_from_rest(skeleton, pose, joint).euler_angles();
    [x, y, z].map(f64::to_degrees)
}

/// Sets a joint's angles in degrees, X then Y then Z.
pub fn set_joint_angles_deg(skeleton: &Skeleton, pose: &mut Pose, joint: usize, degrees: [f64; 3]) {
    set_rotation_from_rest(skeleton, pose, joint, &rotation_of_angles_deg(degrees));
}

/// Why a pose file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseFileError {
    /// The file cannot be read, or is not a pose.
    #[error(transparent)]
    Io(#[from] IoError),
    /// The pose is of another skeleton, or has non-finite numbers.
    #[error("{}: {source}", path.display())]
    Pose {
        /// The file.
        path: PathBuf,
        /// What does not match.
        source: PoseError,
    },
}

/// Reads a pose of a character.
///
/// # Errors
/// [`PoseFileError`].
pub fn read_pose(path: &Path, character: &Character) -> Result<Pose, PoseFileError> {
    let file = crate::io::read_pose(path)?;
    character
        .pose_from_file(&file)
        .map_err(|source| PoseFileError::Pose {
            path: path.into(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Point64, Vec64, origin_of};

    fn chain() -> Skeleton {
        let p = |y: f64| Point64::new(0.0, y, 0.0);
        Skeleton::from_positions(&[
            ("a".into(), None, p(0.0)),
            ("b".into(), Some(0), p(1.0)),
            ("c".into(), Some(1), p(2.0)),
        ])
        .unwrap()
    }

    #[test]
    fn angles_come_back_and_turn_x_first() {
        let skeleton = chain();
        let mut pose = skeleton.rest_pose();
        set_joint_angles_deg(&skeleton, &mut pose, 0, [90.0, 90.0, 0.0]);
        let angles = joint_angles_deg(&skeleton, &pose, 1);
        assert!(
            angles.iter().all(|a| a.abs() < 1e-9),
            "the child has angles of its own: {angles:?}"
        );
        // X first turns +Y to +Z, then Y turns that to +X.
        let tip = origin_of(&skeleton.world_from_joint(&pose)[2]);
        assert!((tip - Point64::new(2.0, 0.0, 0.0)).norm() < 1e-9);
        set_joint_angles_deg(&skeleton, &mut pose, 1, [10.0, -20.0, 170.0]);
        let angles = joint_angles_deg(&skeleton, &pose, 1);
        assert!((Vec64::from(angles) - Vec64::new(10.0, -20.0, 170.0)).norm() < 1e-9);
    }

    #[test]
    fn with_parents_at_rest_it_is_the_world_axis_rotation_of_the_pose() {
        let skeleton = chain();
        let turn = rotation_of_angles_deg([30.0, 40.0, 50.0]);
        let (mut a, mut b) = (skeleton.rest_pose(), skeleton.rest_pose());
        a.rotate_about_world_axes(&skeleton, 1, &turn);
        set_rotation_from_rest(&skeleton, &mut b, 1, &turn);
        assert!(a.locals[1].rotation.angle_to(&b.locals[1].rotation) < 1e-12);
    }
}
