//! Joint angles as people read and type them.
//!
//! A joint's angles are degrees about the world's X, then Y, then Z axis through the joint, on top of the rest pose, with the
//! joint's parents at rest; what the parents do comes on top. So the angles of different joints don't depend on each other, and
//! the window shows the same numbers that `--rotate JOINT=X,Y,Z` takes.

use std::path::{Path, PathBuf};

use super::output::{WriteError, write_file};
use crate::math::{Affine, Quat};
use crate::rig::{Pose, PoseError, PoseFile, Skeleton, Trs};

/// The rotation that turns by the angles about X, then Y, then Z.
#[must_use]
pub fn rotation_of_angles_deg(degrees: [f64; 3]) -> Quat {
    let [x, y, z] = degrees.map(f64::to_radians);
    Quat::from_euler_angles(x, y, z)
}

/// Rotation of the frame that a joint's local transform is given in, with everything at rest.
fn rest_world_from_base(skeleton: &Skeleton, joint: usize) -> Quat {
    let mut base = skeleton.joints()[joint].parent_from_base;
    let mut parent = skeleton.joints()[joint].parent;
    while let Some(index) = parent {
        let above = &skeleton.joints()[index];
        base = Affine::from_matrix_unchecked((above.parent_from_base * above.rest.to_affine() * base).into_inner());
        parent = above.parent;
    }
    Trs::from_affine(&base).rotation
}

/// How far a joint is turned from rest, about the world's axes of the rest pose.
#[must_use]
pub fn rotation_from_rest(skeleton: &Skeleton, pose: &Pose, joint: usize) -> Quat {
    let world_from_base = rest_world_from_base(skeleton, joint);
    let turn = pose.locals[joint].rotation * skeleton.joints()[joint].rest.rotation.inverse();
    world_from_base * turn * world_from_base.inverse()
}

/// Turns a joint from rest, about the world's axes of the rest pose; its translation and scale stay.
pub fn set_rotation_from_rest(skeleton: &Skeleton, pose: &mut Pose, joint: usize, rotation: &Quat) {
    let world_from_base = rest_world_from_base(skeleton, joint);
    let turn = world_from_base.inverse() * rotation * world_from_base;
    pose.locals[joint].rotation = turn * skeleton.joints()[joint].rest.rotation;
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

/// Why a pose file can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoseFileError {
    /// The file can't be read.
    #[error("{}: the pose file can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no pose.
    #[error("{}: this is no pose file: {source}; expected {{\"joints\": {{\"NAME\": {{\"rotation\": [x, y, z, w]}}}}}}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where it goes wrong.
        source: serde_json::Error,
    },
    /// The pose is of another skeleton, or has numbers that are none.
    #[error("{}: {source}", path.display())]
    Pose {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        source: PoseError,
    },
    /// The file can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A pose file larger than this is something else.
const MAX_POSE_BYTES: u64 = 16 << 20;

/// Reads a pose of a skeleton.
///
/// # Errors
/// [`PoseFileError`].
pub fn read_pose(path: &Path, skeleton: &Skeleton) -> Result<Pose, PoseFileError> {
    let read = || {
        if std::fs::metadata(path)?.len() > MAX_POSE_BYTES {
            return Err(std::io::Error::other("it is too large to be one"));
        }
        std::fs::read_to_string(path)
    };
    let text = read().map_err(|source| PoseFileError::Read { path: path.into(), source })?;
    let file: PoseFile = serde_json::from_str(&text).map_err(|source| PoseFileError::Syntax { path: path.into(), source })?;
    Pose::from_file(&file, skeleton).map_err(|source| PoseFileError::Pose { path: path.into(), source })
}

/// Writes a pose.
///
/// # Errors
/// [`PoseFileError::Write`]; nothing half-written is left.
pub fn write_pose(path: &Path, file: &PoseFile) -> Result<(), PoseFileError> {
    let text = serde_json::to_string_pretty(file).map_err(|source| PoseFileError::Syntax { path: path.into(), source })?;
    Ok(write_file(path, |out| writeln!(out, "{text}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Point64, Vec64, origin_of};

    fn chain() -> Skeleton {
        let p = |y: f64| Point64::new(0.0, y, 0.0);
        Skeleton::from_positions(&[("a".into(), None, p(0.0)), ("b".into(), Some(0), p(1.0)), ("c".into(), Some(1), p(2.0))]).unwrap()
    }

    #[test]
    fn angles_come_back_and_turn_x_first() {
        let skeleton = chain();
        let mut pose = skeleton.rest_pose();
        set_joint_angles_deg(&skeleton, &mut pose, 0, [90.0, 90.0, 0.0]);
        let angles = joint_angles_deg(&skeleton, &pose, 1);
        assert!(angles.iter().all(|a| a.abs() < 1e-9), "the child has angles of its own: {angles:?}");
        // +Y goes to +Z by X first, then to +X by Y.
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
