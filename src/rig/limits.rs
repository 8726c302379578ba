//! Joint limits.
//!
//! A limit is a *swing* and a *twist*, measured from the rest pose in a joint-specific frame: X
//! points along the bone, Y and Z are perpendicular to it. The rotation from rest is split into a
//! twist about the bone, followed by a swing about an axis perpendicular to it:
//!
//! ```text
//!     turn = swing · twist,    swing = exp(0, y, z),    twist = exp(x, 0, 0)
//! ```
//!
//! Twist x has a range. Swing (y, z) stays within an oval made of four quarter ellipses, one for
//! each pair of signs, so that a knee can bend 150° one way and not at all the other. An oval of
//! zero width is a hinge. Unlike three Euler angles this has no gimbal lock within half a turn, and
//! the boundary is smooth, so that a joint dragged along it does not jump.
//!
//! The rest pose is always permitted: every range contains 0.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::{Pose, Skeleton};
use crate::math::{Quat, Vec64};

/// Ranges of one joint, radians. In files: degrees, and the frame as a quaternion x, y, z, w.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LimitFile", into = "LimitFile")]
pub struct Limit {
    /// Maps the limit's axes to those of the joint's local transform: X along the bone, Y and Z
    /// perpendicular to it.
    pub base_from_limit: Quat,
    /// Minimum and maximum twist about the bone.
    pub twist: [f64; 2],
    /// Minimum and maximum swing about Y (flexion, for limbs).
    pub swing_y: [f64; 2],
    /// Minimum and maximum swing about Z (sideways).
    pub swing_z: [f64; 2],
}

/// A limit as stored in files.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitFile {
    axes: [f64; 4],
    twist_deg: [f64; 2],
    flex_deg: [f64; 2],
    side_deg: [f64; 2],
}

/// Why a stored limit is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A non-finite number, or axes that are not a rotation.
    #[error(
        "a joint limit needs finite numbers, and axes that are a rotation x, y, z, w, not all zero"
    )]
    NotFinite,
}

/// An angle in degrees as stored in files.
fn in_file(angle: f64) -> f64 {
    (angle.to_degrees() * 1e6).round() / 1e6
}

impl From<Limit> for LimitFile {
    fn from(limit: Limit) -> Self {
        let q = limit.base_from_limit.coords;
        let degrees = |range: [f64; 2]| range.map(in_file);
        Self {
            axes: [q.x, q.y, q.z, q.w],
            twist_deg: degrees(limit.twist),
            flex_deg: degrees(limit.swing_y),
            side_deg: degrees(limit.swing_z),
        }
    }
}

impl TryFrom<LimitFile> for Limit {
    type Error = LimitError;

    fn try_from(file: LimitFile) -> Result<Self, LimitError> {
        let [x, y, z, w] = file.axes;
        let axes = nalgebra::Quaternion::new(w, x, y, z);
        let ranges = [file.twist_deg, file.flex_deg, file.side_deg];
        if !ranges
            .iter()
            .flatten()
            .chain(&file.axes)
            .all(|number| number.is_finite())
            || axes.norm() < 1e-9
        {
            return Err(LimitError::NotFinite);
        }
        let [twist, swing_y, swing_z] = ranges.map(|range| range.map(f64::to_radians));
        // Written values round-trip bit-exactly.
        let base_from_limit = if (axes.norm() - 1.0).abs() < 1e-9 {
            Quat::new_unchecked(axes)
        } else {
            Quat::new_normalize(axes)
        };
        Ok(Self {
            base_from_limit,
            twist,
            swing_y,
            swing_z,
        }
        .sanitized())
    }
}

impl Limit {
    /// A limit that permits everything within half a turn.
    #[must_use]
    pub fn free(base_from_limit: Quat) -> Self {
        Self {
            base_from_limit,
            twist: [-PI, PI],
            swing_y: [-PI, PI],
            swing_z: [-PI, PI],
        }
    }

    /// The limit axes of a joint: X along its bone, Y perpendicular to it, nearest to `flex` (in
    /// the joint's base frame) if given.
    #[must_use]
    pub(crate) fn axes_for(skeleton: &Skeleton, joint: usize, flex: Option<Vec64>) -> Quat {
        let along = bone_in_base(skeleton, joint);
        let flex = flex.unwrap_or_else(|| least_along(&along));
        let across = (flex - along * flex.dot(&along)).try_normalize(1e-6);
        let y = across.unwrap_or_else(|| {
            let other = least_along(&along);
            (other - along * other.dot(&along)).normalize()
        });
        let columns = nalgebra::Matrix3::from_columns(&[along, y, along.cross(&y)]);
        Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(columns))
    }

    /// Clamps ranges to half a turn, rounds them to millionths of a degree (as in files), and makes
    /// them contain rest.
    #[must_use]
    pub(crate) fn sanitized(&self) -> Self {
        let clean = |[least, most]: [f64; 2]| {
            let finite =
                |angle: f64, otherwise: f64| if angle.is_finite() { angle } else { otherwise };
            [
                finite(least, -PI).clamp(-PI, 0.0),
                finite(most, PI).clamp(0.0, PI),
            ]
            .map(|angle| in_file(angle).to_radians())
        };
        let finite = self.base_from_limit.coords.iter().all(|c| c.is_finite());
        Self {
            base_from_limit: if finite {
                self.base_from_limit
            } else {
                Quat::identity()
            },
            twist: clean(self.twist),
            swing_y: clean(self.swing_y),
            swing_z: clean(self.swing_z),
        }
    }

    /// Twist x, and swing y, z (radians) of a rotation from rest in the joint's base frame.
    #[must_use]
    pub(crate) fn angles_of(&self, turn: &Quat) -> [f64; 3] {
        let turn = self.base_from_limit.inverse() * turn * self.base_from_limit;
        let (swing, twist) = split(&turn);
        let swing = swing.scaled_axis();
        [twist, swing.y, swing.z]
    }

    /// The rotation with these angles, in the joint's base frame.
    #[must_use]
    pub(crate) fn turn_of(&self, [x, y, z]: [f64; 3]) -> Quat {
        let turn = Quat::new(Vec64::new(0.0, y, z)) * Quat::new(Vec64::new(x, 0.0, 0.0));
        self.base_from_limit * turn * self.base_from_limit.inverse()
    }

    /// Whether a rotation is within the limit, to about a hundredth of a degree.
    #[cfg(test)]
    pub(crate) fn allows(&self, turn: &Quat) -> bool {
        self.clamped(turn).angle_to(turn) < 2e-4
    }

    /// The rotation if it is permitted, otherwise one on the boundary.
    #[must_use]
    pub fn clamped(&self, turn: &Quat) -> Quat {
        let [x, y, z] = self.angles_of(turn);
        let clamped_x = x.clamp(self.twist[0], self.twist[1]);
        let (clamped_y, clamped_z) = clamp_swing(y, z, self.swing_y, self.swing_z);
        if (clamped_x - x).abs() + (clamped_y - y).abs() + (clamped_z - z).abs() < 1e-12 {
            return *turn;
        }
        self.turn_of([clamped_x, clamped_y, clamped_z])
    }

    /// The boundary of the swing: unit directions of the bone in the joint's base frame, a closed
    /// curve.
    #[must_use]
    pub fn border(&self, corners: usize) -> Vec<Vec64> {
        (0..=corners)
            .map(|corner| {
                let (sin, cos) = (corner as f64 / corners.max(1) as f64 * 2.0 * PI).sin_cos();
                let radius =
                    |value: f64, [least, most]: [f64; 2]| if value < 0.0 { -least } else { most };
                let (y, z) = (
                    cos * radius(cos, self.swing_y),
                    sin * radius(sin, self.swing_z),
                );
                self.turn_of([0.0, y, z]) * (self.base_from_limit * Vec64::x())
            })
            .collect()
    }
}

/// Swing–twist decomposition: the rotation perpendicular to X, and the angle about X that precedes
/// it.
fn split(turn: &Quat) -> (Quat, f64) {
    let (w, x) = (turn.coords.w, turn.coords.x);
    // For a swing of exactly half a turn the twist is undefined; 0 is used.
    if w.hypot(x) < 1e-9 {
        return (*turn, 0.0);
    }
    let mut twist = 2.0 * x.atan2(w);
    if twist > PI {
        twist -= 2.0 * PI;
    } else if twist < -PI {
        twist += 2.0 * PI;
    }
    (turn * Quat::new(Vec64::new(-twist, 0.0, 0.0)), twist)
}

/// Projects into the oval of four quarter ellipses, radially towards its centre; if it has zero
/// width, onto its axis.
fn clamp_swing(y: f64, z: f64, range_y: [f64; 2], range_z: [f64; 2]) -> (f64, f64) {
    const FLAT: f64 = 1e-6;
    let radius = |value: f64, [least, most]: [f64; 2]| if value < 0.0 { -least } else { most };
    let (a, b) = (radius(y, range_y), radius(z, range_z));
    match (a < FLAT, b < FLAT) {
        (true, true) => (0.0, 0.0),
        (true, false) => (0.0, z.clamp(range_z[0], range_z[1])),
        (false, true) => (y.clamp(range_y[0], range_y[1]), 0.0),
        (false, false) => {
            let beyond = (y / a).hypot(z / b);
            if beyond > 1.0 {
                (y / beyond, z / beyond)
            } else {
                (y, z)
            }
        }
    }
}

/// Unit direction of a joint's bone (to the centre of its children, or extended from its parent) in
/// the frame of its local transform.
fn bone_in_base(skeleton: &Skeleton, joint: usize) -> Vec64 {
    let rest = &skeleton.joints()[joint].rest;
    let children = skeleton.children(joint);
    let longest = children
        .iter()
        .map(|&child| offset_of(skeleton, child))
        .max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let along = match longest {
        Some(offset) => rest.rotation * offset,
        None => rest.translation,
    };
    along.try_normalize(1e-12).unwrap_or_else(Vec64::x)
}

/// Rest position of a joint in its parent's frame.
fn offset_of(skeleton: &Skeleton, joint: usize) -> Vec64 {
    let joint = &skeleton.joints()[joint];
    (joint.parent_from_base * nalgebra::Point3::from(joint.rest.translation)).coords
}

fn least_along(direction: &Vec64) -> Vec64 {
    [Vec64::y(), Vec64::z(), Vec64::x()]
        .into_iter()
        .min_by(|a, b| a.dot(direction).abs().total_cmp(&b.dot(direction).abs()))
        .unwrap_or_else(Vec64::y)
}

/// Limits by joint; joints that are not listed rotate freely.
pub type LimitMap = BTreeMap<usize, Limit>;

/// Clamps one joint of a pose to its limit. Returns whether it changed.
pub fn clamp_joint(skeleton: &Skeleton, limits: &LimitMap, pose: &mut Pose, joint: usize) -> bool {
    let (Some(limit), Some(rest)) = (
        limits.get(&joint),
        skeleton
            .joints()
            .get(joint)
            .map(|joint| joint.rest.rotation),
    ) else {
        return false;
    };
    let local = &mut pose.locals[joint].rotation;
    let turn = *local * rest.inverse();
    let clamped = limit.clamped(&turn);
    let changed = clamped != turn;
    if changed {
        *local = clamped * rest;
    }
    changed
}

/// Clamps all joints of a pose to their limits.
pub fn clamp_pose(skeleton: &Skeleton, limits: &LimitMap, pose: &mut Pose) {
    for &joint in limits.keys() {
        if joint < skeleton.len() {
            clamp_joint(skeleton, limits, pose, joint);
        }
    }
}

#[cfg(test)]
mod tests;
